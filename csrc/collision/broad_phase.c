#include "broad_phase_boxes.h"

#include <string.h>

void rs_broad_phase_free(rs_broad_phase *bp) {
    rs_array_free(&bp->sorted);
    rs_array_free(&bp->bounds);
    rs_array_free(&bp->in_strips);
    rs_array_free(&bp->cells);
    rs_array_free(&bp->cells_other);
    rs_array_free(&bp->large);
    rs_array_free(&bp->found);
    rs_array_free(&bp->starts);
    rs_broad_phase_rest_free(&bp->rest);
}

rs_status rs_broad_phase_rebuild(rs_broad_phase *bp, const rs_broad_phase_scene *scene) {
    if (rs_array_reserve(&bp->sorted, scene->collider_count + scene->cluster_count) != RS_OK)
        return RS_OUT_OF_MEMORY;
    int32_t *sorted = bp->sorted.items;
    bp->sorted.count = 0;
    for (int32_t i = 0; i < scene->collider_count; i++)
        if (scene->colliders[i].alive && !scene->colliders[i].clustered)
            sorted[bp->sorted.count++] = i;
    for (int32_t k = 0; k < scene->cluster_count; k++)
        sorted[bp->sorted.count++] = (int32_t)scene->collider_count + k;
    bp->shuffled = true;
    bp->rest.boxes.count = bp->rest.in_tree = 0;
    bp->rest.calm_steps = 0;
    return RS_OK;
}

const rs_aabb *rs_broad_phase_box(const rs_broad_phase_scene *scene, int32_t index) {
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

rs_status rs_broad_phase_emit(RS_ARRAY(rs_pair) *pairs, const rs_broad_phase_scene *scene, int32_t i, int32_t j) {
    rs_pair pair = i < j ? (rs_pair){i, j} : (rs_pair){j, i};
    if (!may_meet(scene, pair.a, pair.b))
        return RS_OK;
    rs_pair *out = rs_array_push(pairs);
    if (out == NULL)
        return RS_OUT_OF_MEMORY;
    *out = pair;
    return RS_OK;
}

/* ---- none: every pair ---- */

static rs_status find_all_pairs(rs_broad_phase *bp, const rs_broad_phase_scene *scene) {
    const rs_box *boxes = bp->bounds.items;
    for (int64_t i = 0; i < bp->bounds.count; i++)
        for (int64_t j = i + 1; j < bp->bounds.count; j++)
            if (rs_boxes_overlap(&boxes[i], &boxes[j]) &&
                rs_broad_phase_emit(&bp->found, scene, boxes[i].collider, boxes[j].collider) != RS_OK)
                return RS_OUT_OF_MEMORY;
    return RS_OK;
}

/* ---- sweep and prune ---- */

/* Axis along which the box centres spread most; infinite boxes say nothing about it. The present axis stays unless
 * another is clearly better: a change costs a full sort. */
static int32_t choose_axis(const RS_ARRAY(rs_box) *bounds, int32_t present) {
    double sum[3] = {0, 0, 0}, square[3] = {0, 0, 0}, spread[3];
    double n = 0.0;
    for (int64_t k = 0; k < bounds->count; k++) {
        const rs_box *box = &bounds->items[k];
        double centre[3], all = 0.0;
        for (int axis = 0; axis < 3; axis++) {
            centre[axis] = 0.5 * (box->min[axis] + box->max[axis]);
            all += centre[axis];
        }
        if (!isfinite(all))
            continue;
        n += 1.0;
        for (int axis = 0; axis < 3; axis++) {
            sum[axis] += centre[axis];
            square[axis] += centre[axis] * centre[axis];
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

/* For boxes nearly in order from the step before: linear then. */
static void insertion_sort(rs_broad_phase *bp) {
    rs_box *boxes = bp->bounds.items;
    const int axis = bp->axis;
    for (int64_t k = 1; k < bp->bounds.count; k++) {
        double key = boxes[k].min[axis];
        if (boxes[k - 1].min[axis] <= key)
            continue;
        rs_box moving = boxes[k];
        int64_t hole = k;
        for (; hole > 0 && boxes[hole - 1].min[axis] > key; hole--)
            boxes[hole] = boxes[hole - 1];
        boxes[hole] = moving;
    }
}

/* Bottom-up, stable. `in_strips` serves as the second buffer. */
static rs_status merge_sort(rs_broad_phase *bp) {
    int64_t n = bp->bounds.count;
    if (rs_array_resize(&bp->in_strips, n) != RS_OK)
        return RS_OUT_OF_MEMORY;
    const int axis = bp->axis;
    for (int64_t width = 1; width < n; width *= 2) {
        const rs_box *from = bp->bounds.items;
        rs_box *to = bp->in_strips.items;
        for (int64_t low = 0; low < n; low += 2 * width) {
            int64_t middle = low + width < n ? low + width : n, high = low + 2 * width < n ? low + 2 * width : n;
            int64_t left = low, right = middle;
            for (int64_t k = low; k < high; k++) {
                bool take_left = left < middle && (right >= high || from[left].min[axis] <= from[right].min[axis]);
                to[k] = take_left ? from[left++] : from[right++];
            }
        }
        rs_array_swap(&bp->bounds, &bp->in_strips);
    }
    return RS_OK;
}

/* Brings `bounds`, and with it `sorted`, into the order of the axis that suits the boxes best. */
static rs_status sort_bounds(rs_broad_phase *bp) {
    int32_t axis = choose_axis(&bp->bounds, bp->axis);
    bp->shuffled = bp->shuffled || axis != bp->axis;
    bp->axis = axis;
    if (!bp->shuffled)
        insertion_sort(bp);
    else if (merge_sort(bp) != RS_OK)
        return RS_OUT_OF_MEMORY;
    bp->shuffled = false;
    for (int64_t k = 0; k < bp->bounds.count; k++)
        bp->sorted.items[k] = bp->bounds.items[k].collider;
    return RS_OK;
}

/* Strips across a second axis: what is far away across is not looked at. A box lies in all strips that it reaches; what
 * lies beyond the range belongs to the strips at its ends. */
typedef struct {
    int axis;
    int32_t count;
    double origin, inverse_width;
} strips;

static int32_t strip_of(const strips *s, double x) {
    return (int32_t)rs_clamp(floor((x - s->origin) * s->inverse_width), 0.0, s->count - 1);
}

enum { SAMPLES = 64 };

static void sort_samples(double *x, int n) {
    for (int k = 1; k < n; k++) {
        double moving = x[k];
        int hole = k;
        for (; hole > 0 && x[hole - 1] > moving; hole--)
            x[hole] = x[hole - 1];
        x[hole] = moving;
    }
}

/* Where most boxes lie along an axis, and how long they are, from a sample: a few that are far away do not count. False
 * when there are too few. */
static bool usual_range(const RS_ARRAY(rs_box) *bounds, int axis, double *low, double *high, double *length) {
    double centres[SAMPLES], lengths[SAMPLES];
    const rs_box *boxes = bounds->items;
    int n = 0;
    for (int k = 0; k < SAMPLES; k++) {
        const rs_box *box = &boxes[bounds->count * k / SAMPLES];
        double centre = 0.5 * (box->min[axis] + box->max[axis]);
        if (!isfinite(centre))
            continue;
        centres[n] = centre;
        lengths[n++] = box->max[axis] - box->min[axis];
    }
    if (n < SAMPLES / 2)
        return false;
    sort_samples(centres, n);
    sort_samples(lengths, n);
    *low = centres[n / 16];
    *high = centres[n - 1 - n / 16];
    *length = lengths[n / 2];
    return true;
}

/* Strips twice as wide as boxes usually are long, of at least 32 boxes each on the average: with fewer the sweep itself is
 * quick enough. */
static strips choose_strips(const rs_broad_phase *bp) {
    strips best = {(bp->axis + 1) % 3, 1, 0.0, 0.0};
    if (bp->bounds.count < 2 * SAMPLES)
        return best;
    for (int k = 1; k < 3; k++) {
        int axis = (bp->axis + k) % 3;
        double low, high, length;
        if (!usual_range(&bp->bounds, axis, &low, &high, &length) || !(high > low))
            continue;
        double count = rs_min((high - low) / (2.0 * rs_max(length, 1e-6 * (high - low))), (double)bp->bounds.count / 32.0);
        if (count >= best.count + 1.0)
            best = (strips){axis, (int32_t)count, low, floor(count) / (high - low)};
    }
    return best;
}

/* The boxes of each strip, in sorted order; starts[k] is the first of strip k. Fewer strips when boxes would lie in many. */
static rs_status fill_strips(rs_broad_phase *bp, strips *s) {
    const rs_box *boxes = bp->bounds.items;
    for (;; s->count /= 2, s->inverse_width *= 0.5) {
        if (rs_array_resize(&bp->starts, s->count + 1) != RS_OK)
            return RS_OUT_OF_MEMORY;
        int32_t *starts = bp->starts.items;
        memset(starts, 0, (size_t)(s->count + 1) * sizeof *starts);
        int64_t total = 0;
        for (int64_t i = 0; i < bp->bounds.count; i++) {
            int32_t first = strip_of(s, boxes[i].min[s->axis]), last = strip_of(s, boxes[i].max[s->axis]);
            total += last - first + 1;
            for (int32_t k = first; k <= last && total <= 3 * bp->bounds.count; k++)
                starts[k + 1]++;
        }
        if (total > 3 * bp->bounds.count)
            continue;
        for (int32_t k = 0; k < s->count; k++)
            starts[k + 1] += starts[k];
        if (rs_array_resize(&bp->in_strips, total) != RS_OK)
            return RS_OUT_OF_MEMORY;
        rs_box *out = bp->in_strips.items;
        for (int64_t i = 0; i < bp->bounds.count; i++) {
            int32_t first = strip_of(s, boxes[i].min[s->axis]), last = strip_of(s, boxes[i].max[s->axis]);
            for (int32_t k = first; k <= last; k++)
                out[starts[k]++] = boxes[i];
        }
        for (int32_t k = s->count; k > 0; k--) /* each start has moved to the next one */
            starts[k] = starts[k - 1];
        starts[0] = 0;
        return RS_OK;
    }
}

/* Pairs of boxes of one strip. Two boxes may meet in several: the one where their overlap begins reports them. */
static rs_status sweep_strip(rs_broad_phase *bp, const rs_broad_phase_scene *scene, const strips *s, int32_t strip,
                             const rs_box *boxes, int64_t count) {
    const int first = bp->axis, second = (bp->axis + 1) % 3, third = (bp->axis + 2) % 3;
    for (int64_t i = 0; i < count; i++) {
        const rs_box *a = &boxes[i];
        double end = a->max[first];
        for (int64_t j = i + 1; j < count && boxes[j].min[first] <= end; j++) {
            const rs_box *b = &boxes[j];
            bool apart = (a->min[second] > b->max[second]) | (b->min[second] > a->max[second]) |
                         (a->min[third] > b->max[third]) | (b->min[third] > a->max[third]);
            if (apart || (s->count > 1 && strip_of(s, rs_max(a->min[s->axis], b->min[s->axis])) != strip))
                continue;
            if (rs_broad_phase_emit(&bp->found, scene, a->collider, b->collider) != RS_OK)
                return RS_OUT_OF_MEMORY;
        }
    }
    return RS_OK;
}

static rs_status sweep(rs_broad_phase *bp, const rs_broad_phase_scene *scene) {
    strips s = choose_strips(bp);
    if (s.count > 1 && fill_strips(bp, &s) != RS_OK)
        return RS_OUT_OF_MEMORY;
    if (s.count == 1)
        return sweep_strip(bp, scene, &s, 0, bp->bounds.items, bp->bounds.count);
    const rs_box *boxes = bp->in_strips.items;
    const int32_t *starts = bp->starts.items;
    for (int32_t k = 0; k < s.count; k++)
        if (sweep_strip(bp, scene, &s, k, &boxes[starts[k]], starts[k + 1] - starts[k]) != RS_OK)
            return RS_OUT_OF_MEMORY;
    return RS_OK;
}

/* ---- driver ---- */

static rs_status copy_bounds(rs_broad_phase *bp, const rs_broad_phase_scene *scene) {
    if (rs_array_resize(&bp->bounds, bp->sorted.count) != RS_OK)
        return RS_OUT_OF_MEMORY;
    rs_box *boxes = bp->bounds.items;
    for (int64_t k = 0; k < bp->sorted.count; k++) {
        int32_t c = bp->sorted.items[k];
        boxes[k] = rs_box_of(rs_broad_phase_box(scene, c), c);
    }
    return RS_OK;
}

static bool comes_later(rs_pair x, rs_pair y) { return x.a > y.a || (x.a == y.a && x.b > y.b); }

/* For pairs nearly in order. */
static void sort_pairs(rs_pair *pairs, int64_t n) {
    for (int64_t k = 1; k < n; k++) {
        rs_pair moving = pairs[k];
        int64_t hole = k;
        for (; hole > 0 && comes_later(pairs[hole - 1], moving); hole--)
            pairs[hole] = pairs[hole - 1];
        pairs[hole] = moving;
    }
}

/* Fewer pairs are sorted at once. */
enum { FEW_PAIRS = 64 };

/* Counting sort by a, then the few partners of each a by b. */
rs_status rs_broad_phase_order(rs_broad_phase *bp, int64_t collider_count, RS_ARRAY(rs_pair) *pairs) {
    int64_t n = bp->found.count;
    if (n <= FEW_PAIRS) {
        sort_pairs(bp->found.items, n);
        return rs_array_copy(pairs, &bp->found);
    }
    if (rs_array_resize(pairs, n) != RS_OK || rs_array_resize(&bp->starts, collider_count + 1) != RS_OK)
        return RS_OUT_OF_MEMORY;
    int32_t *starts = bp->starts.items;
    memset(starts, 0, (size_t)(collider_count + 1) * sizeof *starts);
    const rs_pair *from = bp->found.items;
    rs_pair *to = pairs->items;
    for (int64_t k = 0; k < n; k++)
        starts[from[k].a + 1]++;
    for (int64_t c = 0; c < collider_count; c++)
        starts[c + 1] += starts[c];
    for (int64_t k = 0; k < n; k++)
        to[starts[from[k].a]++] = from[k];
    sort_pairs(to, n);
    return RS_OK;
}

rs_status rs_broad_phase_find(rs_broad_phase *bp, const rs_contact_settings *settings, const rs_broad_phase_scene *scene) {
    bp->found.count = 0;
    if (rs_broad_phase_settle(bp, scene) != RS_OK || copy_bounds(bp, scene) != RS_OK ||
        rs_broad_phase_find_resting(bp, scene) != RS_OK)
        return RS_OUT_OF_MEMORY;
    switch (settings->broadphase) {
    case RS_BROADPHASE_SAP_3_AXIS: return sort_bounds(bp) == RS_OK ? sweep(bp, scene) : RS_OUT_OF_MEMORY;
    case RS_BROADPHASE_MULTI_BOX_PRUNE: return rs_broad_phase_find_in_grid(bp, settings, scene);
    default: return find_all_pairs(bp, scene);
    }
}
