#include "height_grid.h"

#include <string.h>

#include "../base/memory.h"

/* Heights and sizes beyond this would make squared lengths meaningless [m]. */
static const double MAX_LENGTH = 1e9;
enum { MAX_SAMPLES = 46340 }; /* along an axis: 2 * cells fits in 32 bits */

/* ---- creation ---- */

static rs_status check_input(int32_t x_samples, int32_t y_samples, double x_size, double y_size,
                             const double *heights) {
    if (x_samples < 2 || y_samples < 2 || x_samples > MAX_SAMPLES || y_samples > MAX_SAMPLES)
        return rs_fail(RS_INVALID_VALUE, "heightmap: %d x %d samples, expected 2..%d along each axis", (int)x_samples,
                       (int)y_samples, MAX_SAMPLES);
    if (!(x_size > 0.0 && x_size <= MAX_LENGTH) || !(y_size > 0.0 && y_size <= MAX_LENGTH))
        return rs_fail(RS_INVALID_VALUE, "heightmap: size %g x %g m, expected lengths in (0, %g]", x_size, y_size,
                       MAX_LENGTH);
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

rs_status rs_height_grid_create(int32_t x_samples, int32_t y_samples, double x_size, double y_size,
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
    size_t samples = (size_t)x_samples * (size_t)y_samples;
    g->heights = rs_alloc(samples * sizeof *g->heights);
    if (g->heights != NULL) memcpy(g->heights, heights, samples * sizeof *heights);
    if (g->heights == NULL || build_pyramid(g) != RS_OK) {
        rs_height_grid_destroy(g);
        return RS_OUT_OF_MEMORY;
    }
    *out = g;
    return RS_OK;
}

void rs_height_grid_destroy(rs_height_grid *g) {
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

/* Cell index of a coordinate; the last cell holds its far border. */
static int32_t cell_at(double coordinate, double size, double step, int32_t samples) {
    double cell = floor((coordinate + 0.5 * size) / step);
    return cell > 0.0 ? (int32_t)fmin(cell, samples - 2.0) : 0; /* 0 for NaN as well */
}

/* Position within the cell, 0..1 along each axis, clamped to the rectangle; heights of its corners. */
typedef struct {
    double u, v;
    double h00, h10, h01, h11;
} cell_view;

static cell_view view_cell(const rs_height_grid *g, double x, double y) {
    int32_t ix = cell_at(x, g->x_size, g->dx, g->x_samples), iy = cell_at(y, g->y_size, g->dy, g->y_samples);
    const double *row = &g->heights[(int64_t)iy * g->x_samples + ix];
    return (cell_view){rs_clamp((x + 0.5 * g->x_size) / g->dx - ix, 0.0, 1.0),
                       rs_clamp((y + 0.5 * g->y_size) / g->dy - iy, 0.0, 1.0),
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

/* ---- queries ---- */

rs_grid_query rs_height_grid_query(const rs_height_grid *g, rs_aabb box) {
    rs_grid_query q = {.grid = g, .z_min = box.min.z, .z_max = box.max.z};
    q.ix_min = cell_at(box.min.x, g->x_size, g->dx, g->x_samples);
    q.ix_max = cell_at(box.max.x, g->x_size, g->dx, g->x_samples);
    q.iy_min = cell_at(box.min.y, g->y_size, g->dy, g->y_samples);
    q.iy_max = cell_at(box.max.y, g->y_size, g->dy, g->y_samples);
    bool outside = box.max.x < -0.5 * g->x_size || box.min.x > 0.5 * g->x_size || box.max.y < -0.5 * g->y_size ||
                   box.min.y > 0.5 * g->y_size || box.max.z < g->min_height || box.min.z > g->max_height;
    if (outside) q.ix_max = q.ix_min - 1;
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
        if (tile.low > q->z_max || tile.high < q->z_min) continue;
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
    return fmin(a, fmin(b, c)) <= q->z_max && fmax(a, fmax(b, c)) >= q->z_min;
}

bool rs_height_grid_query_next(rs_grid_query *q, uint32_t *triangle) {
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
