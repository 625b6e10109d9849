#include "asset.h"

#include "../base/memory.h"

static void destroy_geometry(rs_convex *convex, rs_tri_mesh *mesh, rs_height_grid *grid) {
    if (convex != NULL)
        rs_convex_free(convex);
    if (mesh != NULL)
        rs_tri_mesh_free(mesh);
    if (grid != NULL)
        rs_height_grid_free(grid);
}

rs_asset *rs_asset_new(rs_shape_type type, rs_convex *convex, rs_tri_mesh *mesh, rs_height_grid *grid) {
    rs_asset *asset = rs_alloc(sizeof *asset);
    if (asset == NULL)
        destroy_geometry(convex, mesh, grid);
    else
        *asset = (rs_asset){.type = type, .holders = 1, .convex = convex, .mesh = mesh, .grid = grid};
    return asset;
}

void rs_asset_hold(rs_asset *asset) { atomic_fetch_add(&asset->holders, 1); }

void rs_asset_drop(rs_asset *asset) {
    if (atomic_fetch_sub(&asset->holders, 1) > 1)
        return;
    destroy_geometry(asset->convex, asset->mesh, asset->grid);
    rs_free(asset);
}
