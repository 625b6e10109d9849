#include "broad_phase.h"

#include <string.h>

typedef struct {
    double min[3], max[3];
    int32_t collider; /* or cluster */
} sweep_box;

typedef struct {
    uint32_t cell;
    int32_t box; /* index into bounds */
} grid_entry;

rs_broad_phase rs_broad_phase_make(void) {
    return (rs_broad_phase){.sorted = rs_array_of(sizeof(int32_t)),
                            .bounds = rs_array_of(sizeof(sweep_box)),
                            .cells = rs_array_of(sizeof(grid_entry)),
                            .cells_other = rs_array_of(sizeof(grid_entry)),
                            .large = rs_array_of(sizeof(int32_t)),
                            .found = rs_array_of(sizeof(rs_pair)),
                            .starts = rs_array_of(sizeof(int32_t))};
}

void rs_broad_phase_free(rs_broad_phase *bp) {
    rs_array_free(&bp->sorted);
    rs_array_free(&bp->bounds);
    rs_array_free(&bp->cells);
    rs_array_free(&bp->cells_other);
    rs_array_free(&bp->large);
    rs_array_free(&bp->found);
    rs_array_free(&bp->starts);
}

rs_status rs_broad_phase_rebuild(rs_broad_phase *bp, const rs_broad_phase_scene *scene) {
    if (rs_array_reserve(&bp->sorted, scene->collider_count + scene->cluster_count) != RS_OK)
        return RS_OUT_OF_MEMORY;
    int32_t *sorted = RS_ITEMS(int32_t, bp->sorted);
    bp->sorted.count = 0;
    for (int32_t i = 0; i < scene->collider_count; i++)
        if (scene->colliders[i].alive && !scene->colliders[i].clustered)
            sorted[bp->sorted.count++] = i;
    for (int32_t k = 0; k < scene->cluster_count; k++)
        sorted[bp->sorted.count++] = (int32_t)scene->collider_count + k;
    bp->shuffled = true;
    return RS_OK;
}

static const rs_aabb *box_of(const rs_broad_phase_scene *scene, int32_t index) {
    return index < scene->collider_count ? &scene->colliders[index].box
                                         : &scene->clusters[index - scene->collider_count].box;
}

static rs_cluster as_cluster(const rs_broad_phase_scene *scene, int32_t index) {
    if (index >= scene->collider_count)
        return scene->clusters[index - scene->collider_count];
    const rs_collider *c = &scene->colliders[index];
    return (rs_cluster){c->box, c->group, c->mask, c->active};
}

/* i < j; clusters come behind the colliders. */
static bool may_meet(const rs_broad_phase_scene *scene, int32_t i, int32_t j) {
    if (j < scene->collider_count)
        return rs_colliders_may_meet(&scene->colliders[i], &scene->colliders[j]);
    rs_cluster a = as_cluster(scene, i), b = as_cluster(scene, j);
    return (a.active || b.active) && (a.group & b.mask) != 0 && (b.group & a.mask) != 0;
}

static rs_status emit(rs_array *pairs, const rs_broad_phase_scene *scene, int32_t i, int32_t j) {
    rs_pair pair = i < j ? (rs_pair){i, j} : (rs_pair){j, i};
    if (!may_meet(scene, pair.a, pair.b))
        return RS_OK;
    rs_pair *out = rs_array_push(pairs);
    if (out == NULL)
        return RS_OUT_OF_MEMORY;
    *out = pair;
    return RS_OK;
}

static bool overlap(const sweep_box *a, const sweep_box *b) {
    return a->min[0] <= b->max[0] && b->min[0] <= a->max[0] && a->min[1] <= b->max[1] && b->min[1] <= a->max[1] &&
           a->min[2] <= b->max[2] && b->min[2] <= a->max[2];
}

/* ---- none: every pair ---- */

static rs_status find_all_pairs(rs_broad_phase *bp, const rs_broad_phase_scene *scene) {
    const sweep_box *boxes = RS_ITEMS(sweep_box, bp->bounds);
    for (int64_t i = 0; i < bp->bounds.count; i++)
        for (int64_t j = i + 1; j < bp->bounds.count; j++)
            if (overlap(&boxes[i], &boxes[j]) &&
                emit(&bp->found, scene, boxes[i].collider, boxes[j].collider) != RS_OK)
                return RS_OUT_OF_MEMORY;
    return RS_OK;
}

/* ---- sweep and prune ---- */

/* Axis along which the box centres spread most; infinite boxes say nothing about it. The present axis stays unless
 * another is clearly better: a change costs a full sort. */
static int32_t choose_axis(const rs_broad_phase_scene *scene, const rs_array *sorted, int32_t present) {
    double sum[3] = {0, 0, 0}, square[3] = {0, 0, 0}, spread[3];
    double n = 0.0;
    for (int64_t k = 0; k < sorted->count; k++) {
        const rs_aabb *box = box_of(scene, RS_ITEMS(int32_t, *sorted)[k]);
        rs_vec3 centre = rs_scale(0.5, rs_add(box->min, box->max));
        if (!rs_v3_finite(centre))
            continue;
        n += 1.0;
        for (int axis = 0; axis < 3; axis++) {
            double c = rs_v3_get(centre, axis);
            sum[axis] += c;
            square[axis] += c * c;
        }
    }
    if (n == 0.0)
        return present;
    int32_t best = 0;
    for (int32_t axis = 0; axis < 3; axis++) {
        spread[axis] = square[axis] - sum[axis] * sum[axis] / n;
        if (spread[axis] > spread[best])
            best = axis;
    }
    return spread[best] > 2.0 * spread[present] ? best : present;
}

static double lower_end(const rs_broad_phase *bp, const rs_broad_phase_scene *scene, int32_t index) {
    return rs_v3_get(box_of(scene, index)->min, bp->axis);
}

/* For lists nearly in order from the step before: linear then. */
static void insertion_sort(rs_broad_phase *bp, const rs_broad_phase_scene *scene) {
    int32_t *sorted = RS_ITEMS(int32_t, bp->sorted);
    for (int64_t k = 1; k < bp->sorted.count; k++) {
        int32_t moving = sorted[k];
        double key = lower_end(bp, scene, moving);
        int64_t hole = k;
        while (hole > 0 && lower_end(bp, scene, sorted[hole - 1]) > key) {
            sorted[hole] = sorted[hole - 1];
            hole--;
        }
        sorted[hole] = moving;
    }
}

/* Bottom-up, stable. `starts` serves as the second buffer. */
static rs_status merge_sort(rs_broad_phase *bp, const rs_broad_phase_scene *scene) {
    int64_t n = bp->sorted.count;
    if (rs_array_resize(&bp->starts, n) != RS_OK)
        return RS_OUT_OF_MEMORY;
    int32_t *from = RS_ITEMS(int32_t, bp->sorted), *to = RS_ITEMS(int32_t, bp->starts);
    for (int64_t width = 1; width < n; width *= 2) {
        for (int64_t low = 0; low < n; low += 2 * width) {
            int64_t middle = low + width < n ? low + width : n, high = low + 2 * width < n ? low + 2 * width : n;
            int64_t left = low, right = middle;
            for (int64_t k = low; k < high; k++) {
                bool take_left = left < middle && (right >= high || lower_end(bp, scene, from[left]) <=
                                                                        lower_end(bp, scene, from[right]));
                to[k] = take_left ? from[left++] : from[right++];
            }
        }
        int32_t *swap = from;
        from = to;
        to = swap;
    }
    if (n > 0 && from != RS_ITEMS(int32_t, bp->sorted))
        memcpy(bp->sorted.data, from, (size_t)n * sizeof(int32_t));
    return RS_OK;
}

static rs_status sweep(rs_broad_phase *bp, const rs_broad_phase_scene *scene) {
    const sweep_box *boxes = RS_ITEMS(sweep_box, bp->bounds);
    const int first = bp->axis, second = (bp->axis + 1) % 3, third = (bp->axis + 2) % 3;
    for (int64_t i = 0; i < bp->bounds.count; i++) {
        const sweep_box *a = &boxes[i];
        double end = a->max[first];
        for (int64_t j = i + 1; j < bp->bounds.count && boxes[j].min[first] <= end; j++) {
            const sweep_box *b = &boxes[j];
            bool apart = (a->min[second] > b->max[second]) | (b->min[second] > a->max[second]) |
                         (a->min[third] > b->max[third]) | (b->min[third] > a->max[third]);
            if (!apart && emit(&bp->found, scene, a->collider, b->collider) != RS_OK)
                return RS_OUT_OF_MEMORY;
        }
    }
    return RS_OK;
}

/* ---- grid ---- */

typedef struct {
    double origin[3], inverse_cell[3];
    int32_t cells[3];
} grid;

static grid make_grid(const rs_broad_phase *bp, const rs_contact_settings *settings) {
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    const sweep_box *boxes = RS_ITEMS(sweep_box, bp->bounds);
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
        const grid_entry *from = RS_ITEMS(grid_entry, bp->cells);
        grid_entry *to = RS_ITEMS(grid_entry, bp->cells_other);
        int64_t starts[(1 << RADIX_BITS) + 1] = {0};
        const uint32_t digit_mask = (1U << RADIX_BITS) - 1;
        for (int64_t k = 0; k < n; k++)
            starts[((from[k].cell >> (pass * RADIX_BITS)) & digit_mask) + 1]++;
        for (uint32_t digit = 0; digit < digit_mask; digit++)
            starts[digit + 1] += starts[digit];
        for (int64_t k = 0; k < n; k++)
            to[starts[(from[k].cell >> (pass * RADIX_BITS)) & digit_mask]++] = from[k];
        rs_array swap = bp->cells;
        bp->cells = bp->cells_other;
        bp->cells_other = swap;
    }
    return RS_OK;
}

static rs_status fill_cells(rs_broad_phase *bp, const rs_contact_settings *settings, const grid *g) {
    bp->cells.count = bp->large.count = 0;
    const sweep_box *boxes = RS_ITEMS(sweep_box, bp->bounds);
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
                    grid_entry *entry = rs_array_push(&bp->cells);
                    if (entry == NULL)
                        return RS_OUT_OF_MEMORY;
                    *entry = (grid_entry){cell_key(x, y, z), i};
                }
    }
    return sort_cells(bp);
}

/* Two boxes meet in several cells; only the cell that holds the lower corner of their overlap reports them. */
static bool reports_here(const grid *g, const sweep_box *a, const sweep_box *b, uint32_t cell) {
    int32_t at[3];
    for (int axis = 0; axis < 3; axis++)
        at[axis] = cell_of(g, axis, rs_max(a->min[axis], b->min[axis]));
    return cell_key(at[0], at[1], at[2]) == cell;
}

static rs_status find_in_grid(rs_broad_phase *bp, const rs_contact_settings *settings,
                              const rs_broad_phase_scene *scene) {
    grid g = make_grid(bp, settings);
    if (fill_cells(bp, settings, &g) != RS_OK)
        return RS_OUT_OF_MEMORY;
    const sweep_box *boxes = RS_ITEMS(sweep_box, bp->bounds);
    const grid_entry *entries = RS_ITEMS(grid_entry, bp->cells);
    for (int64_t i = 0; i < bp->cells.count; i++)
        for (int64_t j = i + 1; j < bp->cells.count && entries[j].cell == entries[i].cell; j++) {
            const sweep_box *a = &boxes[entries[i].box], *b = &boxes[entries[j].box];
            if (overlap(a, b) && reports_here(&g, a, b, entries[i].cell) &&
                emit(&bp->found, scene, a->collider, b->collider) != RS_OK)
                return RS_OUT_OF_MEMORY;
        }
    const int32_t *large = RS_ITEMS(int32_t, bp->large);
    for (int64_t k = 0; k < bp->large.count; k++) {
        const sweep_box *a = &boxes[large[k]];
        int64_t next_large = 0;
        for (int32_t j = 0; j < bp->bounds.count; j++) {
            while (next_large < bp->large.count && large[next_large] < j)
                next_large++;
            bool j_is_large = next_large < bp->large.count && large[next_large] == j;
            if (j == large[k] || (j_is_large && j < large[k])) /* two large boxes meet once */
                continue;
            if (overlap(a, &boxes[j]) && emit(&bp->found, scene, a->collider, boxes[j].collider) != RS_OK)
                return RS_OUT_OF_MEMORY;
        }
    }
    return RS_OK;
}

/* ---- driver ---- */

static rs_status copy_bounds(rs_broad_phase *bp, const rs_broad_phase_scene *scene) {
    if (rs_array_resize(&bp->bounds, bp->sorted.count) != RS_OK)
        return RS_OUT_OF_MEMORY;
    sweep_box *boxes = RS_ITEMS(sweep_box, bp->bounds);
    for (int64_t k = 0; k < bp->sorted.count; k++) {
        int32_t c = RS_ITEMS(int32_t, bp->sorted)[k];
        const rs_aabb *box = box_of(scene, c);
        rs_v3_store(boxes[k].min, box->min);
        rs_v3_store(boxes[k].max, box->max);
        boxes[k].collider = c;
    }
    return RS_OK;
}

/* Counting sort by a, then the few partners of each a by b. */
rs_status rs_broad_phase_order(rs_broad_phase *bp, int64_t collider_count, rs_array *pairs) {
    int64_t n = bp->found.count;
    if (rs_array_resize(pairs, n) != RS_OK || rs_array_resize(&bp->starts, collider_count + 1) != RS_OK)
        return RS_OUT_OF_MEMORY;
    int32_t *starts = RS_ITEMS(int32_t, bp->starts);
    memset(starts, 0, (size_t)(collider_count + 1) * sizeof *starts);
    const rs_pair *from = RS_ITEMS(rs_pair, bp->found);
    rs_pair *to = RS_ITEMS(rs_pair, *pairs);
    for (int64_t k = 0; k < n; k++)
        starts[from[k].a + 1]++;
    for (int64_t c = 0; c < collider_count; c++)
        starts[c + 1] += starts[c];
    for (int64_t k = 0; k < n; k++)
        to[starts[from[k].a]++] = from[k];
    for (int64_t k = 1; k < n; k++) {
        rs_pair moving = to[k];
        int64_t hole = k;
        for (; hole > 0 && to[hole - 1].a == moving.a && to[hole - 1].b > moving.b; hole--)
            to[hole] = to[hole - 1];
        to[hole] = moving;
    }
    return RS_OK;
}

rs_status rs_broad_phase_find(rs_broad_phase *bp, const rs_contact_settings *settings, const rs_broad_phase_scene *scene) {
    bp->found.count = 0;
    bool sweeping = settings->broadphase == RS_BROADPHASE_SAP_3_AXIS;
    if (sweeping) {
        int32_t axis = choose_axis(scene, &bp->sorted, bp->axis);
        bp->shuffled = bp->shuffled || axis != bp->axis;
        bp->axis = axis;
        if (!bp->shuffled)
            insertion_sort(bp, scene);
        else if (merge_sort(bp, scene) != RS_OK)
            return RS_OUT_OF_MEMORY;
        bp->shuffled = false;
    }
    if (copy_bounds(bp, scene) != RS_OK)
        return RS_OUT_OF_MEMORY;
    return sweeping                                                ? sweep(bp, scene)
           : settings->broadphase == RS_BROADPHASE_MULTI_BOX_PRUNE ? find_in_grid(bp, settings, scene)
                                                                   : find_all_pairs(bp, scene);
}
