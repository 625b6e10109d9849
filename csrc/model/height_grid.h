/* Heightmaps: a regular grid of heights, shared and immutable.
 *
 * Frame: sample (ix, iy) stands at x = -x_size/2 + ix * dx, y = -y_size/2 + iy * dy, z = its height. Each cell is two
 * triangles that share the diagonal from (ix, iy) to (ix+1, iy+1): the even one below it (towards +x), the odd one
 * above it (towards +y). Everything under the surface, within the rectangle, is solid, and ends in four vertical sides:
 * the border has walls, which reach farther down than the map is wide. */
#ifndef RS_MODEL_HEIGHT_GRID_H
#define RS_MODEL_HEIGHT_GRID_H

#include "shape.h"

enum {
    RS_GRID_TILE_LEVEL = 3,
    RS_GRID_TILE = 1 << RS_GRID_TILE_LEVEL, /* cells along the side of a tile */
    RS_GRID_MAX_LEVELS = 16
};

/* Lowest and highest height within some cells [m]. */
typedef struct {
    double low, high;
} rs_height_range;

typedef struct rs_height_grid {
    int32_t x_samples, y_samples;
    double x_size, y_size; /* [m] */
    double dx, dy;         /* [m] */
    double inverse_dx, inverse_dy;
    double *heights;       /* height[iy * x_samples + ix] [m] */
    /* Pyramid: a node of level k covers 2^k x 2^k cells, ranges[k][y * x_nodes[k] + x]. Level 0 (the cells) is not
     * stored, the highest level is one node, RS_GRID_TILE_LEVEL always exists. */
    int32_t levels;
    int32_t x_nodes[RS_GRID_MAX_LEVELS + 1], y_nodes[RS_GRID_MAX_LEVELS + 1];
    rs_height_range *ranges[RS_GRID_MAX_LEVELS + 1];
    double min_height, max_height;
} rs_height_grid;

/* At least 2 x 2 samples, positive sizes, finite heights. */
rs_status rs_height_grid_new(int32_t x_samples, int32_t y_samples, double x_size, double y_size,
                                const double *heights, rs_height_grid **out);
void rs_height_grid_free(rs_height_grid *grid);

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

/* Heights within a node of the pyramid, cells included; false outside the map. */
static inline bool rs_height_grid_range(const rs_height_grid *g, int32_t level, int32_t x, int32_t y,
                                        rs_height_range *out) {
    *out = (rs_height_range){INFINITY, -INFINITY};
    if (x >= g->x_nodes[level] || y >= g->y_nodes[level])
        return false;
    if (level > 0) {
        *out = g->ranges[level][(int64_t)y * g->x_nodes[level] + x];
        return true;
    }
    const double *near = &g->heights[(int64_t)y * g->x_samples + x], *far = near + g->x_samples;
    out->low = rs_min(rs_min(near[0], near[1]), rs_min(far[0], far[1]));
    out->high = rs_max(rs_max(near[0], near[1]), rs_max(far[0], far[1]));
    return true;
}

/* Highest height of the surface in a square around (x, y), or more; cheap, whatever its size. */
double rs_height_grid_highest(const rs_height_grid *grid, double x, double y, double half_side);

/* A plane parallel to the triangle at some point: no triangle of the cells that a box touches rises above it. */
typedef struct {
    rs_vec3 normal;
    double offset; /* the plane's points p have normal . p = offset [m] */
} rs_height_lid;
/* False where it would cost more than it is worth: the box touches many cells, or the point lies outside. */
bool rs_height_grid_lid(const rs_height_grid *grid, const rs_aabb *box, double x, double y, rs_height_lid *out);

/* A triangle and the point of it that is nearest to some point above. */
typedef struct {
    uint32_t triangle; /* numbered as below */
    rs_vec3 normal, nearest;
    double distance; /* [m] */
} rs_grid_face;
/* True when nothing but this one triangle can come within `reach` of a point above the surface: no other one in reach rises
 * above its plane, so that whoever leaves this one has left them all. Simple and frequent; false otherwise. */
bool rs_height_grid_face_below(const rs_height_grid *grid, rs_vec3 point, double reach, rs_grid_face *out);

/* Unit normal of a triangle, numbered as below. */
rs_vec3 rs_height_grid_triangle_normal(const rs_height_grid *grid, int64_t triangle);

/* Samples on the border, counted counter-clockwise from (0, 0) seen from above; counts beyond the last begin anew. */
typedef struct {
    int32_t x, y;
} rs_grid_sample;
uint32_t rs_height_grid_border_length(const rs_height_grid *grid);
rs_grid_sample rs_height_grid_border(const rs_height_grid *grid, uint32_t count);
/* Where walls end below [m]. */
static inline double rs_height_grid_bottom(const rs_height_grid *g) { return g->min_height - g->x_size - g->y_size; }

static inline uint32_t rs_height_grid_face_count(const rs_height_grid *g) {
    return 2 * (uint32_t)(g->x_samples - 1) * (uint32_t)(g->y_samples - 1);
}

/* Walks over the triangles whose boxes touch a box (grid frame) in a fixed order: faces tile by tile, then walls. The number
 * of a face is 2 * cell + (0 even, 1 odd), cell = iy * (x_samples - 1) + ix. After all faces come the walls: two triangles,
 * upper and lower, between each sample of the border and the next. */
typedef struct {
    const rs_height_grid *grid;
    rs_aabb box;
    int32_t ix_min, ix_max, iy_min, iy_max; /* cells, inclusive */
    int32_t tx, ty, ix, iy, half;
    int32_t side;                /* whose walls are walked; 4 at the end */
    uint32_t wall, wall_end;     /* triangles of that side */
} rs_grid_query;

rs_grid_query rs_height_grid_query(const rs_height_grid *grid, rs_aabb box);
bool rs_height_grid_query_next(rs_grid_query *query, uint32_t *triangle);

#endif
