/* Heightmaps: a regular grid of heights, shared and immutable.
 *
 * Frame: sample (ix, iy) stands at x = -x_size/2 + ix * dx, y = -y_size/2 + iy * dy, z = its height. Each cell is two
 * triangles that share the diagonal from (ix, iy) to (ix+1, iy+1): the even one below it (towards +x), the odd one
 * above it (towards +y). Everything under the surface, within the rectangle, is solid; there are no side walls. */
#ifndef RS_MODEL_HEIGHT_GRID_H
#define RS_MODEL_HEIGHT_GRID_H

#include "shape.h"

enum { RS_GRID_TILE = 8 }; /* cells along the side of a tile */

typedef struct rs_height_grid {
    int32_t x_samples, y_samples;
    double x_size, y_size; /* [m] */
    double dx, dy;         /* [m] */
    double *heights;       /* height[iy * x_samples + ix] [m] */
    int32_t x_tiles, y_tiles;
    double *tile_min, *tile_max; /* heights within a tile of RS_GRID_TILE x RS_GRID_TILE cells, [ty * x_tiles + tx] */
    double min_height, max_height;
} rs_height_grid;

/* At least 2 x 2 samples, positive sizes, finite heights. */
rs_status rs_height_grid_create(int32_t x_samples, int32_t y_samples, double x_size, double y_size,
                                const double *heights, rs_height_grid **out);
void rs_height_grid_destroy(rs_height_grid *grid);

/* Bounding box of the solid at the pose: it has no bottom, so the box is infinite on the side that lies below. */
rs_aabb rs_height_grid_aabb(const rs_height_grid *grid, const rs_transform *pose);

/* Height and unit normal of the surface at (x, y) of the grid frame; outside the rectangle those of its border. */
double rs_height_grid_height(const rs_height_grid *grid, double x, double y);
rs_vec3 rs_height_grid_normal(const rs_height_grid *grid, double x, double y);
bool rs_height_grid_covers(const rs_height_grid *grid, double x, double y);

static inline rs_vec3 rs_height_grid_vertex(const rs_height_grid *g, int32_t ix, int32_t iy) {
    return rs_v3(-0.5 * g->x_size + ix * g->dx, -0.5 * g->y_size + iy * g->dy,
                 g->heights[(int64_t)iy * g->x_samples + ix]);
}

/* Walks over the triangles whose boxes touch a box (grid frame), tile by tile, in a fixed order. A triangle's number is
 * 2 * cell + (0 even, 1 odd), cell = iy * (x_samples - 1) + ix. */
typedef struct {
    const rs_height_grid *grid;
    double z_min, z_max;
    int32_t ix_min, ix_max, iy_min, iy_max; /* cells, inclusive */
    int32_t tx, ty, ix, iy, half;
} rs_grid_query;

rs_grid_query rs_height_grid_query(const rs_height_grid *grid, rs_aabb box);
bool rs_height_grid_query_next(rs_grid_query *query, uint32_t *triangle);

#endif
