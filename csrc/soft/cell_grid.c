#include "cell_grid.h"

#include "../base/group_by.h"

/* Most cells per point: beyond that the cells get larger. */
static const double CELLS_PER_POINT = 4.0;
static const int64_t FEW_CELLS = 4096;
/* Points farther from the mean than this many standard deviations do not stretch the grid. */
static const double SPREAD = 4.0;
static const double MOST_CELLS_PER_AXIS = 1e6;

void rs_cell_grid_free(rs_cell_grid *grid) {
    rs_array_free(&grid->starts);
    rs_array_free(&grid->items);
    rs_array_free(&grid->cell_of);
}

/* Where most points are: their box, cut off where few are left. */
static rs_aabb core_box(const rs_quad *points, int64_t count) {
    rs_aabb all = {points[0].xyz, points[0].xyz};
    rs_vec3 sum = rs_v3_zero(), squares = rs_v3_zero();
    for (int64_t i = 0; i < count; i++) {
        rs_vec3 p = points[i].xyz, d = rs_sub(p, points[0].xyz);
        all.min = rs_v3_min(all.min, p);
        all.max = rs_v3_max(all.max, p);
        sum = rs_add(sum, d);
        squares = rs_add(squares, rs_mul(d, d));
    }
    for (int axis = 0; axis < 3; axis++) {
        double mean = rs_v3_get(sum, axis) / (double)count;
        double spread = SPREAD * sqrt(rs_max(0.0, rs_v3_get(squares, axis) / (double)count - mean * mean));
        mean += rs_v3_get(points[0].xyz, axis);
        rs_v3_set(&all.min, axis, rs_max(rs_v3_get(all.min, axis), mean - spread));
        rs_v3_set(&all.max, axis, rs_min(rs_v3_get(all.max, axis), mean + spread));
    }
    return all;
}

static int32_t cells_along(double extent, double size) {
    double cells = floor(extent / size);
    return !(cells >= 1.0) ? 1 : /* also where it is not a number */
           cells > MOST_CELLS_PER_AXIS ? (int32_t)MOST_CELLS_PER_AXIS : (int32_t)cells;
}

/* Number of cells along each axis, as many as there may be. */
static void choose_cells(rs_cell_grid *grid, rs_vec3 extent, int64_t count, double size) {
    double most = rs_max(CELLS_PER_POINT * (double)count, (double)FEW_CELLS), total;
    do {
        total = 1.0;
        for (int axis = 0; axis < 3; axis++) {
            grid->cells[axis] = cells_along(rs_v3_get(extent, axis), size);
            /* two cells of a periodic axis would be neighbours on both sides */
            if (grid->periodic[axis] && grid->cells[axis] < 3)
                grid->cells[axis] = 1;
            total *= grid->cells[axis];
        }
        size *= 1.3;
    } while (total > most);
}

static int32_t cell_along(const rs_cell_grid *grid, int axis, double value) {
    double place = floor((value - rs_v3_get(grid->origin, axis)) * rs_v3_get(grid->inverse_size, axis));
    double last = grid->cells[axis] - 1;
    return (int32_t)(place > 0.0 ? (place < last ? place : last) : 0.0); /* also where place is not a number */
}

static int32_t cell_at(const rs_cell_grid *grid, rs_vec3 p) {
    return rs_cell_index(grid, cell_along(grid, 0, p.x), cell_along(grid, 1, p.y), cell_along(grid, 2, p.z));
}

rs_status rs_cell_grid_build(rs_cell_grid *grid, const rs_quad *points, int64_t count, double size, const rs_domain *domain) {
    if (count == 0) {
        grid->cells[0] = grid->cells[1] = grid->cells[2] = 0;
        return RS_OK;
    }
    rs_aabb box = core_box(points, count);
    for (int axis = 0; axis < 3; axis++) {
        grid->periodic[axis] = domain != NULL && domain->periodic[axis];
        if (!grid->periodic[axis])
            continue;
        rs_v3_set(&box.min, axis, rs_v3_get(domain->min, axis));
        rs_v3_set(&box.max, axis, rs_v3_get(domain->max, axis));
    }
    rs_vec3 extent = rs_sub(box.max, box.min);
    choose_cells(grid, extent, count, size);
    grid->origin = box.min;
    for (int axis = 0; axis < 3; axis++) {
        double wide = rs_v3_get(extent, axis);
        rs_v3_set(&grid->inverse_size, axis, grid->cells[axis] == 1 ? 0.0 : grid->cells[axis] / wide);
    }
    int64_t cells = (int64_t)grid->cells[0] * grid->cells[1] * grid->cells[2];
    if (rs_array_resize(&grid->starts, cells + 1) != RS_OK || rs_array_resize(&grid->items, count) != RS_OK ||
        rs_array_resize(&grid->cell_of, count) != RS_OK)
        return RS_OUT_OF_MEMORY;
    int32_t *cell_of = grid->cell_of.items;
    for (int64_t i = 0; i < count; i++)
        cell_of[i] = cell_at(grid, points[i].xyz);
    rs_group_by(cell_of, count, cells, grid->starts.items, grid->items.items);
    return RS_OK;
}

void rs_cell_grid_range(const rs_cell_grid *grid, const rs_aabb *box, int32_t first[3], int32_t last[3]) {
    for (int axis = 0; axis < 3; axis++) {
        first[axis] = cell_along(grid, axis, rs_v3_get(box->min, axis));
        last[axis] = cell_along(grid, axis, rs_v3_get(box->max, axis));
    }
}

/* The neighbours of place `i` along an axis: at most two ranges of cells, both ends included. */
static int ranges_along(const rs_cell_grid *grid, int axis, int32_t i, int32_t out[2][2]) {
    int32_t n = grid->cells[axis];
    out[0][0] = i > 0 ? i - 1 : 0;
    out[0][1] = i < n - 1 ? i + 1 : n - 1;
    if (!grid->periodic[axis] || n == 1 || (i > 0 && i < n - 1))
        return 1;
    out[1][0] = out[1][1] = i == 0 ? n - 1 : 0;
    return 2;
}

int rs_cell_grid_around(const rs_cell_grid *grid, int32_t cell, rs_cell_run out[RS_MAX_CELL_RUNS]) {
    const int32_t *starts = grid->starts.items;
    int32_t x = cell % grid->cells[0], rest = cell / grid->cells[0];
    int32_t xs[2][2], ys[2][2], zs[2][2];
    int x_count = ranges_along(grid, 0, x, xs), y_count = ranges_along(grid, 1, rest % grid->cells[1], ys);
    int z_count = ranges_along(grid, 2, rest / grid->cells[1], zs), count = 0;
    for (int c = 0; c < z_count; c++)
        for (int32_t z = zs[c][0]; z <= zs[c][1]; z++)
            for (int b = 0; b < y_count; b++)
                for (int32_t y = ys[b][0]; y <= ys[b][1]; y++)
                    for (int a = 0; a < x_count; a++) {
                        int32_t first = starts[rs_cell_index(grid, xs[a][0], y, z)];
                        int32_t last = starts[rs_cell_index(grid, xs[a][1], y, z) + 1];
                        if (first < last)
                            out[count++] = (rs_cell_run){first, last};
                    }
    return count;
}
