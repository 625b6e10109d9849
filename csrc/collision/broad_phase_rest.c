/* Boxes at rest: a world's scenery, and what sleeps. They cost nothing until something that moves comes near. */
#include "broad_phase_boxes.h"

/* A tree is built when nothing that rested has moved for this many steps, for at least this many new boxes at rest, and
 * as many as this share of those that rest already. */
enum { CALM_STEPS = 8, LEAST_BOXES = 64, SHARE = 8 };

void rs_broad_phase_rest_free(rs_broad_phase_rest *rest) {
    rs_bvh_free(&rest->tree);
    rs_array_free(&rest->boxes);
    rs_array_free(&rest->order);
    rs_array_free(&rest->bounds);
}

void rs_broad_phase_rouse(rs_broad_phase *bp) {
    rs_broad_phase_rest *rest = &bp->rest;
    rest->calm_steps = 0;
    if (rest->boxes.count == 0)
        return;
    int32_t *sorted = bp->sorted.items; /* has room for all */
    for (int64_t k = 0; k < rest->boxes.count; k++)
        sorted[bp->sorted.count++] = rest->boxes.items[k].collider;
    rest->boxes.count = rest->in_tree = 0;
    bp->shuffled = true;
}

static bool is_active(const rs_broad_phase_scene *scene, int32_t index) {
    return index < scene->collider_count ? scene->colliders[index].active
                                         : scene->clusters[index - scene->collider_count].active;
}

static bool is_bounded(const rs_box *box) {
    double sum = 0.0;
    for (int k = 0; k < 3; k++)
        sum += box->max[k] - box->min[k];
    return isfinite(sum);
}

/* Bounded boxes to the front; returns their number. */
static int64_t part_bounded(RS_ARRAY(rs_box) *boxes) {
    rs_box *box = boxes->items;
    int64_t bounded = 0;
    for (int64_t k = 0; k < boxes->count; k++)
        if (is_bounded(&box[k])) {
            rs_box kept = box[k];
            box[k] = box[bounded];
            box[bounded++] = kept;
        }
    return bounded;
}

static rs_status build_tree(rs_broad_phase_rest *rest, RS_ARRAY(rs_box) *spare) {
    int64_t n = part_bounded(&rest->boxes);
    rs_bvh_free(&rest->tree);
    rest->tree = (rs_bvh){0};
    rest->in_tree = 0;
    if (rs_array_resize(&rest->order, n) != RS_OK || rs_array_resize(&rest->bounds, n) != RS_OK ||
        rs_array_copy(spare, &rest->boxes) != RS_OK)
        return RS_OUT_OF_MEMORY;
    rs_box *boxes = rest->boxes.items;
    const rs_box *given = spare->items;
    for (int64_t k = 0; k < n; k++)
        rest->bounds.items[k] = (rs_aabb){rs_v3_load(given[k].min), rs_v3_load(given[k].max)};
    if (n == 0)
        return RS_OK;
    if (rs_bvh_build(&rest->tree, rest->bounds.items, (uint32_t)n, rest->order.items) != RS_OK)
        return RS_OUT_OF_MEMORY;
    for (int64_t k = 0; k < n; k++)
        boxes[k] = given[rest->order.items[k]];
    rest->in_tree = n;
    return RS_OK;
}

rs_status rs_broad_phase_settle(rs_broad_phase *bp, const rs_broad_phase_scene *scene) {
    rs_broad_phase_rest *rest = &bp->rest;
    if (++rest->calm_steps < CALM_STEPS)
        return RS_OK;
    int32_t *sorted = bp->sorted.items;
    int64_t still = 0;
    for (int64_t k = 0; k < bp->sorted.count; k++)
        still += !is_active(scene, sorted[k]);
    if (still < LEAST_BOXES || still < bp->sorted.count - still || still < rest->boxes.count / SHARE)
        return RS_OK;
    if (rs_array_reserve(&rest->boxes, rest->boxes.count + still) != RS_OK)
        return RS_OUT_OF_MEMORY;
    int64_t kept = 0;
    for (int64_t k = 0; k < bp->sorted.count; k++)
        if (is_active(scene, sorted[k]))
            sorted[kept++] = sorted[k];
        else
            rest->boxes.items[rest->boxes.count++] = rs_box_of(rs_broad_phase_box(scene, sorted[k]), sorted[k]);
    bp->sorted.count = kept;
    return build_tree(rest, &bp->bounds);
}

static rs_status meet(rs_broad_phase *bp, const rs_broad_phase_scene *scene, const rs_box *box, int64_t other) {
    const rs_box *still = RS_ITEM(bp->rest.boxes, other);
    return rs_boxes_overlap(box, still) ? rs_broad_phase_emit(&bp->found, scene, box->collider, still->collider) : RS_OK;
}

rs_status rs_broad_phase_find_resting(rs_broad_phase *bp, const rs_broad_phase_scene *scene) {
    const rs_broad_phase_rest *rest = &bp->rest;
    for (int64_t k = 0; k < bp->bounds.count && rest->boxes.count > 0; k++) {
        const rs_box *box = &bp->bounds.items[k];
        if (!is_active(scene, box->collider))
            continue;
        for (int64_t other = rest->in_tree; other < rest->boxes.count; other++)
            if (meet(bp, scene, box, other) != RS_OK)
                return RS_OUT_OF_MEMORY;
        if (rest->in_tree == 0)
            continue;
        rs_bvh_query query = rs_bvh_query_box(&rest->tree, (rs_aabb){rs_v3_load(box->min), rs_v3_load(box->max)});
        for (uint32_t item; rs_bvh_query_next(&query, &item);)
            if (meet(bp, scene, box, item) != RS_OK)
                return RS_OUT_OF_MEMORY;
    }
    return RS_OK;
}
