/* Geometry that a world alone holds. */
#ifndef ASSET_FIXTURE_H
#define ASSET_FIXTURE_H

#include "../../csrc/include/raisim_engine.h"

/* Adds an asset that was just made, and lets go of it; 0: it was not made. */
static inline rs_asset_id asset_in(rs_world *world, rs_status made, rs_asset **asset) {
    rs_asset_id id = 0;
    if (made != RS_OK || rs_asset_add(world, *asset, &id) != RS_OK)
        return 0;
    rs_asset_destroy(*asset);
    return id;
}

#endif
