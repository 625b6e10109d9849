/* Meshes and heightmaps that shapes share: immutable, counted by the worlds and snapshots that list them, and by
 * whoever made them. */
#ifndef RS_MODEL_ASSET_H
#define RS_MODEL_ASSET_H

#include <stdatomic.h>

#include "convex.h"
#include "height_grid.h"
#include "shape.h"
#include "tri_mesh.h"

struct rs_asset {
    rs_shape_type type; /* RS_SHAPE_CONVEX, RS_SHAPE_MESH or RS_SHAPE_HEIGHTMAP */
    atomic_int holders; /* lists that contain it; snapshots die on any thread */
    rs_convex *convex;
    rs_tri_mesh *mesh;
    rs_height_grid *grid;
};

/* An asset in a world's list. */
typedef struct {
    rs_asset_id id; /* 0: free place */
    rs_asset *asset;
    int32_t users; /* shapes, plus one while its creator holds it */
} rs_asset_entry;
RS_ARRAY_OF(rs_asset_entry);

/* Takes over the one geometry that is not NULL; on failure it is destroyed. */
rs_asset *rs_asset_new(rs_shape_type type, rs_convex *convex, rs_tri_mesh *mesh, rs_height_grid *grid);
void rs_asset_hold(rs_asset *asset);
void rs_asset_drop(rs_asset *asset);

#endif
