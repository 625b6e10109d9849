/* Multi-box pruning (mbp): pairs of boxes that meet in a cell of a grid. */
#include "broad_phase_boxes.h"

typedef struct {
    double origin[3], inverse_cell[3];
    int32_t cells[3];
} grid;

static grid make_grid(const rs_broad_phase *bp, const rs_contact_settings *settings) {
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    const rs_box *boxes = bp->bounds.items;
    for (int64_t i = 0; i < bp->bounds.count; i++)
        for (int axis = 0; axis < 3; axis++) {
            if (isfinite(boxes[i].min[axis]))
                low[axis] = rs_min(low[axis], boxes[i].min[axis]);
            if (isfinite(boxes[i].max[axis]))
                high[axis] = rs_max(high[axis], boxes[i].max[axis]);
        }
    grid g;
    for (int axis = 0; axis < 3; axis++) {
        if (settings->mbp_use_world_bounds) {
            low[axis] = settings->mbp_world_min[axis];
            high[axis] = settings->mbp_world_max[axis];
        }
        if (!(low[axis] < high[axis])) { /* nothing ends along this axis: one cell for all */
            low[axis] = 0.0;
            high[axis] = settings->mbp_cell_size[axis];
        }
        double length = high[axis] - low[axis];
        double cell = settings->mbp_cell_size[axis];
        double wanted = ceil(length / cell);
        if (wanted > settings->mbp_max_cells_per_axis) {
            wanted = settings->mbp_max_cells_per_axis;
            cell = length / wanted;
        }
        g.origin[axis] = low[axis];
        g.inverse_cell[axis] = 1.0 / cell;
        g.cells[axis] = (int32_t)wanted;
    }
    return g;
}

/* Cell of a coordinate; what lies outside belongs to the cells at the border. */
static int32_t cell_of(const grid *g, int axis, double x) {
    double cell = floor((x - g->origin[axis]) * g->inverse_cell[axis]);
    return (int32_t)rs_clamp(cell, 0.0, g->cells[axis] - 1);
}

enum { CELL_BITS = 10, RADIX_BITS = 11, RADIX_PASSES = 3 }; /* settings keep every axis within 2^CELL_BITS cells */

static uint32_t cell_key(int32_t x, int32_t y, int32_t z) {
    return ((uint32_t)x << (2 * CELL_BITS)) | ((uint32_t)y << CELL_BITS) | (uint32_t)z;
}

/* Radix sort by cell; stable, so boxes stay in order within a cell. */
static rs_status sort_cells(rs_broad_phase *bp) {
    int64_t n = bp->cells.count;
    if (rs_array_resize(&bp->cells_other, n) != RS_OK)
        return RS_OUT_OF_MEMORY;
    for (int pass = 0; pass < RADIX_PASSES; pass++) {
        const rs_grid_entry *from = bp->cells.items;
        rs_grid_entry *to = bp->cells_other.items;
        int64_t starts[(1 << RADIX_BITS) + 1] = {0};
        const uint32_t digit_mask = (1U << RADIX_BITS) - 1;
        for (int64_t k = 0; k < n; k++)
            starts[((from[k].cell >> (pass * RADIX_BITS)) & digit_mask) + 1]++;
        for (uint32_t digit = 0; digit < digit_mask; digit++)
            starts[digit + 1] += starts[digit];
        for (int64_t k = 0; k < n; k++)
            to[starts[(from[k].cell >> (pass * RADIX_BITS)) & digit_mask]++] = from[k];
        rs_array_swap(&bp->cells, &bp->cells_other);
    }
    return RS_OK;
}

static rs_status fill_cells(rs_broad_phase *bp, const rs_contact_settings *settings, const grid *g) {
    bp->cells.count = bp->large.count = 0;
    const rs_box *boxes = bp->bounds.items;
    for (int32_t i = 0; i < bp->bounds.count; i++) {
        int32_t low[3], high[3];
        double count = 1.0;
        for (int axis = 0; axis < 3; axis++) {
            low[axis] = cell_of(g, axis, boxes[i].min[axis] - settings->mbp_padding);
            high[axis] = cell_of(g, axis, boxes[i].max[axis] + settings->mbp_padding);
            count *= high[axis] - low[axis] + 1;
        }
        if (count > settings->mbp_max_cells_per_object) {
            int32_t *large = rs_array_push(&bp->large);
            if (large == NULL)
                return RS_OUT_OF_MEMORY;
            *large = i;
            continue;
        }
        for (int32_t x = low[0]; x <= high[0]; x++)
            for (int32_t y = low[1]; y <= high[1]; y++)
                for (int32_t z = low[2]; z <= high[2]; z++) {
                    rs_grid_entry *entry = rs_array_push(&bp->cells);
                    if (entry == NULL)
                        return RS_OUT_OF_MEMORY;
                    *entry = (rs_grid_entry){cell_key(x, y, z), i};
                }
    }
    return sort_cells(bp);
}

/* Two boxes meet in several cells; only the cell that holds the lower corner of their overlap reports them. */
static bool reports_here(const grid *g, const rs_box *a, const rs_box *b, uint32_t cell) {
    int32_t at[3];
    for (int axis = 0; axis < 3; axis++)
        at[axis] = cell_of(g, axis, rs_max(a->min[axis], b->min[axis]));
    return cell_key(at[0], at[1], at[2]) == cell;
}

rs_status rs_broad_phase_find_in_grid(rs_broad_phase *bp, const rs_contact_settings *settings,
                                      const rs_broad_phase_scene *scene) {
    grid g = make_grid(bp, settings);
    if (fill_cells(bp, settings, &g) != RS_OK)
        return RS_OUT_OF_MEMORY;
    const rs_box *boxes = bp->bounds.items;
    const rs_grid_entry *entries = bp->cells.items;
    for (int64_t i = 0; i < bp->cells.count; i++)
        for (int64_t j = i + 1; j < bp->cells.count && entries[j].cell == entries[i].cell; j++) {
            const rs_box *a = &boxes[entries[i].box], *b = &boxes[entries[j].box];
            if (rs_boxes_overlap(a, b) && reports_here(&g, a, b, entries[i].cell) &&
                rs_broad_phase_emit(&bp->found, scene, a->collider, b->collider) != RS_OK)
                return RS_OUT_OF_MEMORY;
        }
    const int32_t *large = bp->large.items;
    for (int64_t k = 0; k < bp->large.count; k++) {
        const rs_box *a = &boxes[large[k]];
        int64_t next_large = 0;
        for (int32_t j = 0; j < bp->bounds.count; j++) {
            while (next_large < bp->large.count && large[next_large] < j)
                next_large++;
            bool j_is_large = next_large < bp->large.count && large[next_large] == j;
            if (j == large[k] || (j_is_large && j < large[k])) /* two large boxes meet once */
                continue;
            if (rs_boxes_overlap(a, &boxes[j]) && rs_broad_phase_emit(&bp->found, scene, a->collider, boxes[j].collider) != RS_OK)
                return RS_OUT_OF_MEMORY;
        }
    }
    return RS_OK;
}
