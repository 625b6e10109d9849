/* Which bodies a step looks at. */
#ifndef RS_WORLD_AWAKE_H
#define RS_WORLD_AWAKE_H

#include "world.h"

/* Lists all bodies, and brings back the contacts that were set aside. */
rs_status rs_world_list_all(rs_world *world);

/* After the narrow phase: sets the contacts aside that it found to rest. */
rs_status rs_world_set_aside(rs_world *world);

static inline rs_island_bodies rs_world_listed(const rs_world *world) {
    return (rs_island_bodies){world->awake.items, world->awake.count};
}

/* At the end of a step: what the next one has no need to look at leaves the list. */
void rs_world_unlist_resting(rs_world *world);
/* Whether the next step has to look at the body. */
bool rs_world_needs_step(const rs_world *world, const rs_body *body);

#endif
