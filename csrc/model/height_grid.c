#include "height_grid.h"

#include <string.h>

#include "../base/memory.h"

/* Heights and sizes beyond this would make squared lengths meaningless [m]. */
static const double MAX_LENGTH = 1e9;
enum { MAX_SAMPLES = 46330 }; /* along an axis: the numbers of all triangles fit in 32 bits */

/* ---- creation ---- */

/* Smallest distance of samples [m]: below it slopes are no longer numbers. */
static const double MIN_SPACING = 1e-9;

static rs_status check_input(int32_t x_samples, int32_t y_samples, double x_size, double y_size,
                             const double *heights) {
    if (x_samples < 2 || y_samples < 2 || x_samples > MAX_SAMPLES || y_samples > MAX_SAMPLES)
        return rs_fail(RS_INVALID_VALUE, "heightmap: %d x %d samples, expected 2..%d along each axis", (int)x_samples,
                       (int)y_samples, MAX_SAMPLES);
    if (!(x_size > 0.0 && x_size <= MAX_LENGTH) || !(y_size > 0.0 && y_size <= MAX_LENGTH))
        return rs_fail(RS_INVALID_VALUE, "heightmap: size %g x %g m, expected lengths in (0, %g]", x_size, y_size,
                       MAX_LENGTH);
    if (x_size < MIN_SPACING * (x_samples - 1) || y_size < MIN_SPACING * (y_samples - 1))
        return rs_fail(RS_INVALID_VALUE, "heightmap: size %g x %g m, expected samples at least %g m apart", x_size, y_size,
                       MIN_SPACING);
    if (heights == NULL) return rs_fail(RS_INVALID_VALUE, "heightmap: the heights are missing");
    for (int64_t i = 0; i < (int64_t)x_samples * y_samples; i++)
        if (!(fabs(heights[i]) <= MAX_LENGTH))
            return rs_fail(RS_INVALID_VALUE, "heightmap: height %lld is %g, expected a number within +-%g",
                           (long long)i, heights[i], MAX_LENGTH);
    return RS_OK;
}

/* Number of nodes of each level, up to the first that is one node. */
static void size_pyramid(rs_height_grid *g) {
    g->x_nodes[0] = g->x_samples - 1;
    g->y_nodes[0] = g->y_samples - 1;
    do {
        int32_t below = g->levels++;
        g->x_nodes[g->levels] = (g->x_nodes[below] + 1) / 2;
        g->y_nodes[g->levels] = (g->y_nodes[below] + 1) / 2;
    } while (g->levels < RS_GRID_TILE_LEVEL || g->x_nodes[g->levels] > 1 || g->y_nodes[g->levels] > 1);
}

/* Each node from the four below it. */
static void measure_level(rs_height_grid *g, int32_t level) {
    for (int32_t y = 0; y < g->y_nodes[level]; y++)
        for (int32_t x = 0; x < g->x_nodes[level]; x++) {
            rs_height_range all = {INFINITY, -INFINITY};
            for (int c = 0; c < 4; c++) {
                rs_height_range one;
                if (!rs_height_grid_range(g, level - 1, 2 * x + (c & 1), 2 * y + (c >> 1), &one)) continue;
                all = (rs_height_range){rs_min(all.low, one.low), rs_max(all.high, one.high)};
            }
            g->ranges[level][(int64_t)y * g->x_nodes[level] + x] = all;
        }
}

static rs_status build_pyramid(rs_height_grid *g) {
    size_pyramid(g);
    for (int32_t level = 1; level <= g->levels; level++) {
        g->ranges[level] = rs_alloc((size_t)g->x_nodes[level] * (size_t)g->y_nodes[level] * sizeof(rs_height_range));
        if (g->ranges[level] == NULL) return RS_OUT_OF_MEMORY;
        measure_level(g, level);
    }
    g->min_height = g->ranges[g->levels]->low;
    g->max_height = g->ranges[g->levels]->high;
    return RS_OK;
}

rs_status rs_height_grid_new(int32_t x_samples, int32_t y_samples, double x_size, double y_size,
                                const double *heights, rs_height_grid **out) {
    rs_status status = check_input(x_samples, y_samples, x_size, y_size, heights);
    if (status != RS_OK) return status;
    rs_height_grid *g = rs_alloc(sizeof *g);
    if (g == NULL) return RS_OUT_OF_MEMORY;
    g->x_samples = x_samples;
    g->y_samples = y_samples;
    g->x_size = x_size;
    g->y_size = y_size;
    g->dx = x_size / (x_samples - 1);
    g->dy = y_size / (y_samples - 1);
    g->inverse_dx = 1.0 / g->dx;
    g->inverse_dy = 1.0 / g->dy;
    size_t samples = (size_t)x_samples * (size_t)y_samples;
    g->heights = rs_alloc(samples * sizeof *g->heights);
    if (g->heights != NULL) memcpy(g->heights, heights, samples * sizeof *heights);
    if (g->heights == NULL || build_pyramid(g) != RS_OK) {
        rs_height_grid_free(g);
        return RS_OUT_OF_MEMORY;
    }
    *out = g;
    return RS_OK;
}

void rs_height_grid_free(rs_height_grid *g) {
    if (g == NULL) return;
    rs_free(g->heights);
    for (int32_t level = 1; level <= g->levels; level++) rs_free(g->ranges[level]);
    rs_free(g);
}

rs_aabb rs_height_grid_aabb(const rs_height_grid *g, const rs_transform *pose) {
    rs_vec3 reach = rs_v3(0.5 * g->x_size, 0.5 * g->y_size, 0.5 * (g->max_height - g->min_height));
    rs_vec3 center = rs_transform_point(pose, rs_v3(0, 0, 0.5 * (g->max_height + g->min_height)));
    rs_aabb box;
    for (int i = 0; i < 3; i++) {
        rs_vec3 row = rs_m3_row(&pose->rot, i);
        double c = rs_v3_get(center, i), r = rs_dot(rs_v3_abs(row), reach);
        rs_v3_set(&box.min, i, row.z > 0.0 ? -INFINITY : c - r);
        rs_v3_set(&box.max, i, row.z < 0.0 ? INFINITY : c + r);
    }
    return box;
}

/* ---- the surface over a point ---- */

/* Cell index of a place counted in steps from the border; the last cell holds its far border. */
static int32_t cell_at(double place, int32_t samples) {
    return place > 0.0 ? (int32_t)rs_min(place, samples - 2.0) : 0; /* 0 for NaN as well */
}

/* Coordinates counted in steps from the border. */
static double x_place(const rs_height_grid *g, double x) { return (x + 0.5 * g->x_size) * g->inverse_dx; }
static double y_place(const rs_height_grid *g, double y) { return (y + 0.5 * g->y_size) * g->inverse_dy; }

/* Position within the cell, 0..1 along each axis, clamped to the rectangle; heights of its corners. */
typedef struct {
    int32_t ix, iy;
    double u, v;
    double h00, h10, h01, h11;
} cell_view;

static cell_view view_cell(const rs_height_grid *g, double x, double y) {
    double px = x_place(g, x), py = y_place(g, y);
    int32_t ix = cell_at(px, g->x_samples), iy = cell_at(py, g->y_samples);
    const double *row = &g->heights[(int64_t)iy * g->x_samples + ix];
    return (cell_view){ix, iy, rs_clamp(px - ix, 0.0, 1.0), rs_clamp(py - iy, 0.0, 1.0),
                       row[0], row[1], row[g->x_samples], row[g->x_samples + 1]};
}

double rs_height_grid_height(const rs_height_grid *g, double x, double y) {
    cell_view c = view_cell(g, x, y);
    return c.u >= c.v ? c.h00 + c.u * (c.h10 - c.h00) + c.v * (c.h11 - c.h10)
                      : c.h00 + c.v * (c.h01 - c.h00) + c.u * (c.h11 - c.h01);
}

rs_vec3 rs_height_grid_normal(const rs_height_grid *g, double x, double y) {
    cell_view c = view_cell(g, x, y);
    double slope_x = (c.u >= c.v ? c.h10 - c.h00 : c.h11 - c.h01) / g->dx;
    double slope_y = (c.u >= c.v ? c.h11 - c.h10 : c.h01 - c.h00) / g->dy;
    return rs_normalize_or(rs_v3(-slope_x, -slope_y, 1.0), rs_v3(0, 0, 1));
}

rs_vec3 rs_height_grid_triangle_normal(const rs_height_grid *g, int64_t triangle) {
    int32_t ix = (int32_t)(triangle / 2 % (g->x_samples - 1)), iy = (int32_t)(triangle / 2 / (g->x_samples - 1));
    const double *near = &g->heights[(int64_t)iy * g->x_samples + ix], *far = near + g->x_samples;
    bool even = triangle % 2 == 0;
    double slope_x = (even ? near[1] - near[0] : far[1] - far[0]) / g->dx;
    double slope_y = (even ? far[1] - near[1] : far[0] - near[0]) / g->dy;
    return rs_normalize_or(rs_v3(-slope_x, -slope_y, 1.0), rs_v3(0, 0, 1));
}

bool rs_height_grid_covers(const rs_height_grid *g, double x, double y) {
    return fabs(x) <= 0.5 * g->x_size && fabs(y) <= 0.5 * g->y_size;
}

/* ---- the surface around a point ---- */

/* Cells under a box, inclusive. */
typedef struct {
    int32_t ix_min, ix_max, iy_min, iy_max;
} cell_range;

static cell_range cells_under(const rs_height_grid *g, const rs_aabb *box) {
    return (cell_range){cell_at(x_place(g, box->min.x), g->x_samples), cell_at(x_place(g, box->max.x), g->x_samples),
                        cell_at(y_place(g, box->min.y), g->y_samples), cell_at(y_place(g, box->max.y), g->y_samples)};
}

double rs_height_grid_highest(const rs_height_grid *g, double x, double y, double half_side) {
    rs_aabb square = rs_aabb_around(rs_v3(x, y, 0.0), half_side);
    cell_range c = cells_under(g, &square);
    int32_t level = 0; /* at which two by two nodes cover the square */
    while (level < g->levels && ((c.ix_max - c.ix_min) >> level > 1 || (c.iy_max - c.iy_min) >> level > 1))
        level++;
    double highest = -INFINITY;
    for (int32_t ny = c.iy_min >> level; ny <= c.iy_max >> level; ny++)
        for (int32_t nx = c.ix_min >> level; nx <= c.ix_max >> level; nx++) {
            rs_height_range node;
            rs_height_grid_range(g, level, nx, ny, &node);
            highest = rs_max(highest, node.high);
        }
    return highest;
}

/* The plane of the triangle at some point: its height there, and how much it rises from sample to sample. */
typedef struct {
    cell_view at;
    bool even;
    double height, rise_x, rise_y;
    rs_vec3 normal;
} triangle_plane;

static triangle_plane plane_at(const rs_height_grid *g, double x, double y) {
    triangle_plane p = {.at = view_cell(g, x, y)};
    const cell_view *c = &p.at;
    p.even = c->u >= c->v;
    p.rise_x = p.even ? c->h10 - c->h00 : c->h11 - c->h01;
    p.rise_y = p.even ? c->h11 - c->h10 : c->h01 - c->h00;
    p.height = c->h00 + c->u * p.rise_x + c->v * p.rise_y;
    double slope_x = p.rise_x * g->inverse_dx, slope_y = p.rise_y * g->inverse_dy;
    p.normal = rs_scale(1.0 / sqrt(1.0 + slope_x * slope_x + slope_y * slope_y), rs_v3(-slope_x, -slope_y, 1.0));
    return p;
}

/* How far the samples of some cells rise above a plane, at least 0. */
static double excess_over(const rs_height_grid *g, const triangle_plane *p, cell_range c) {
    double excess = 0.0;
    for (int32_t iy = c.iy_min; iy <= c.iy_max + 1; iy++) {
        const double *row = &g->heights[(int64_t)iy * g->x_samples];
        double base = p->at.h00 + (iy - p->at.iy) * p->rise_y;
        for (int32_t ix = c.ix_min; ix <= c.ix_max + 1; ix++)
            excess = rs_max(excess, row[ix] - (base + (ix - p->at.ix) * p->rise_x));
    }
    return excess;
}

enum { MAX_LID_CELLS = 36 };

static bool covers_few(const rs_height_grid *g, double x, double y, cell_range c) {
    return (c.ix_max - c.ix_min + 1) * (c.iy_max - c.iy_min + 1) <= MAX_LID_CELLS && rs_height_grid_covers(g, x, y);
}

bool rs_height_grid_lid(const rs_height_grid *g, const rs_aabb *box, double x, double y, rs_height_lid *out) {
    cell_range c = cells_under(g, box);
    if (!covers_few(g, x, y, c))
        return false;
    triangle_plane p = plane_at(g, x, y);
    out->normal = p.normal;
    out->offset = rs_dot(p.normal, rs_v3(x, y, p.height + excess_over(g, &p, c)));
    return true;
}

/* Whether the square of half side `reach` around a point of a cell stays on one side of the cell's diagonal. */
static bool keeps_to_half(const rs_height_grid *g, const cell_view *at, bool even, double reach) {
    double width = reach * (g->inverse_dx + g->inverse_dy);
    return even ? at->u - at->v > width : at->v - at->u > width;
}

bool rs_height_grid_face_below(const rs_height_grid *g, rs_vec3 point, double reach, rs_grid_face *out) {
    rs_aabb box = rs_aabb_around(point, reach);
    cell_range c = cells_under(g, &box);
    if (!covers_few(g, point.x, point.y, c))
        return false;
    triangle_plane p = plane_at(g, point.x, point.y);
    bool alone = c.ix_min == c.ix_max && c.iy_min == c.iy_max && keeps_to_half(g, &p.at, p.even, reach);
    if (point.z < p.height || (!alone && excess_over(g, &p, c) > 1e-12 * g->dx))
        return false;
    double distance = (point.z - p.height) * p.normal.z;
    rs_vec3 nearest = rs_madd(point, -distance, p.normal);
    double u = x_place(g, nearest.x) - p.at.ix, v = y_place(g, nearest.y) - p.at.iy;
    bool within = p.even ? v >= 0.0 && v <= u && u <= 1.0 : u >= 0.0 && u <= v && v <= 1.0;
    if (!within && distance < reach)
        return false;
    uint32_t cell = (uint32_t)p.at.iy * (uint32_t)(g->x_samples - 1) + (uint32_t)p.at.ix;
    *out = (rs_grid_face){2 * cell + (p.even ? 0 : 1), p.normal, nearest, distance};
    return true;
}

/* ---- queries ---- */

rs_grid_query rs_height_grid_query(const rs_height_grid *g, rs_aabb box) {
    cell_range c = cells_under(g, &box);
    rs_grid_query q = {.grid = g, .box = box, .ix_min = c.ix_min, .ix_max = c.ix_max, .iy_min = c.iy_min,
                       .iy_max = c.iy_max, .side = -1};
    double half_x = 0.5 * g->x_size, half_y = 0.5 * g->y_size;
    bool outside = box.max.x < -half_x || box.min.x > half_x || box.max.y < -half_y || box.min.y > half_y ||
                   box.min.z > g->max_height;
    bool within = box.min.x > -half_x && box.max.x < half_x && box.min.y > -half_y && box.max.y < half_y;
    if (outside || within) q.side = 4;
    if (outside || box.max.z < g->min_height) q.ix_max = q.ix_min - 1;
    q.tx = q.ix_min / RS_GRID_TILE;
    q.ty = q.iy_min / RS_GRID_TILE;
    q.ix = q.ix_min;
    q.iy = q.iy_min;
    return q;
}

static int32_t larger(int32_t a, int32_t b) { return a > b ? a : b; }
static int32_t smaller(int32_t a, int32_t b) { return a < b ? a : b; }

/* Puts the cursor on the first cell of the next tile whose heights touch the query; false at the end. */
static bool next_tile(rs_grid_query *q) {
    for (;;) {
        q->tx++;
        if (q->tx * RS_GRID_TILE > q->ix_max) {
            q->tx = q->ix_min / RS_GRID_TILE;
            q->ty++;
            if (q->ty * RS_GRID_TILE > q->iy_max) return false;
        }
        rs_height_range tile;
        rs_height_grid_range(q->grid, RS_GRID_TILE_LEVEL, q->tx, q->ty, &tile);
        if (tile.low > q->box.max.z || tile.high < q->box.min.z) continue;
        q->ix = larger(q->ix_min, q->tx * RS_GRID_TILE);
        q->iy = larger(q->iy_min, q->ty * RS_GRID_TILE);
        return true;
    }
}

/* Moves the cursor to the next cell; false at the end. */
static bool next_cell(rs_grid_query *q) {
    q->ix++;
    if (q->ix <= smaller(q->ix_max, (q->tx + 1) * RS_GRID_TILE - 1)) return true;
    q->ix = larger(q->ix_min, q->tx * RS_GRID_TILE);
    q->iy++;
    if (q->iy <= smaller(q->iy_max, (q->ty + 1) * RS_GRID_TILE - 1)) return true;
    return next_tile(q);
}

static bool half_touches(const rs_grid_query *q, int32_t half) {
    const rs_height_grid *g = q->grid;
    const double *row = &g->heights[(int64_t)q->iy * g->x_samples + q->ix];
    double a = row[0], b = row[g->x_samples + 1], c = half == 0 ? row[1] : row[g->x_samples];
    return rs_min(a, rs_min(b, c)) <= q->box.max.z && rs_max(a, rs_max(b, c)) >= q->box.min.z;
}

static bool next_face(rs_grid_query *q, uint32_t *triangle) {
    if (q->ix_max < q->ix_min) return false;
    for (;;) {
        if (q->half == 2) {
            q->half = 0;
            if (!next_cell(q)) {
                q->ix_max = q->ix_min - 1;
                return false;
            }
        }
        int32_t half = q->half++;
        if (!half_touches(q, half)) continue;
        uint32_t cell = (uint32_t)q->iy * (uint32_t)(q->grid->x_samples - 1) + (uint32_t)q->ix;
        *triangle = 2 * cell + (uint32_t)half;
        return true;
    }
}

/* ---- walls ---- */

uint32_t rs_height_grid_border_length(const rs_height_grid *g) {
    return 2 * ((uint32_t)(g->x_samples - 1) + (uint32_t)(g->y_samples - 1));
}

rs_grid_sample rs_height_grid_border(const rs_height_grid *g, uint32_t count) {
    int32_t columns = g->x_samples - 1, rows = g->y_samples - 1;
    int32_t at = (int32_t)(count % rs_height_grid_border_length(g));
    if (at < columns) return (rs_grid_sample){at, 0};
    at -= columns;
    if (at < rows) return (rs_grid_sample){columns, at};
    at -= rows;
    return at < columns ? (rs_grid_sample){columns - at, rows} : (rs_grid_sample){0, rows - (at - columns)};
}

/* The walls of a side that lie beside the cells of the query, when its box reaches that side: those towards -y, +x, +y, -x. */
static void begin_side(rs_grid_query *q) {
    const rs_height_grid *g = q->grid;
    int32_t columns = g->x_samples - 1, rows = g->y_samples - 1;
    double half_x = 0.5 * g->x_size, half_y = 0.5 * g->y_size;
    cell_range c = cells_under(g, &q->box);
    int32_t first = 0, last = -1;
    q->wall = q->wall_end = 0;
    if (q->side == 0 && q->box.min.y <= -half_y) {
        first = c.ix_min;
        last = c.ix_max;
    } else if (q->side == 1 && q->box.max.x >= half_x) {
        first = columns + c.iy_min;
        last = columns + c.iy_max;
    } else if (q->side == 2 && q->box.max.y >= half_y) {
        first = columns + rows + (columns - 1 - c.ix_max);
        last = columns + rows + (columns - 1 - c.ix_min);
    } else if (q->side == 3 && q->box.min.x <= -half_x) {
        first = 2 * columns + rows + (rows - 1 - c.iy_max);
        last = 2 * columns + rows + (rows - 1 - c.iy_min);
    }
    q->wall = 2 * (uint32_t)first;
    q->wall_end = 2 * (uint32_t)(last + 1);
}

static double border_height(const rs_height_grid *g, uint32_t count) {
    rs_grid_sample s = rs_height_grid_border(g, count);
    return g->heights[(int64_t)s.y * g->x_samples + s.x];
}

static bool next_wall(rs_grid_query *q, uint32_t *triangle) {
    const rs_height_grid *g = q->grid;
    while (q->side < 4) {
        if (q->side < 0 || q->wall >= q->wall_end) {
            q->side++;
            begin_side(q);
            continue;
        }
        uint32_t wall = q->wall++;
        if (rs_max(border_height(g, wall / 2), border_height(g, wall / 2 + 1)) < q->box.min.z) continue;
        *triangle = rs_height_grid_face_count(g) + wall;
        return true;
    }
    return false;
}

bool rs_height_grid_query_next(rs_grid_query *q, uint32_t *triangle) { return next_face(q, triangle) || next_wall(q, triangle); }
