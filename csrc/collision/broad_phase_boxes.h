/* What the methods of the broad phase share. */
#ifndef RS_COLLISION_BROAD_PHASE_BOXES_H
#define RS_COLLISION_BROAD_PHASE_BOXES_H

#include "broad_phase.h"

struct rs_box {
    double min[3], max[3];
    int32_t collider; /* or cluster */
};

static inline rs_box rs_box_of(const rs_aabb *box, int32_t collider) {
    rs_box out = {.collider = collider};
    rs_v3_store(out.min, box->min);
    rs_v3_store(out.max, box->max);
    return out;
}

struct rs_grid_entry {
    uint32_t cell;
    int32_t box; /* index into bounds */
};

static inline bool rs_boxes_overlap(const rs_box *a, const rs_box *b) {
    return a->min[0] <= b->max[0] && b->min[0] <= a->max[0] && a->min[1] <= b->max[1] && b->min[1] <= a->max[1] &&
           a->min[2] <= b->max[2] && b->min[2] <= a->max[2];
}

/* Notes the pair of colliders or clusters i and j, if they may collide. */
rs_status rs_broad_phase_emit(RS_ARRAY(rs_pair) *pairs, const rs_broad_phase_scene *scene, int32_t i, int32_t j);

const rs_aabb *rs_broad_phase_box(const rs_broad_phase_scene *scene, int32_t index);

/* ---- broad_phase_rest.c ---- */

void rs_broad_phase_rest_free(rs_broad_phase_rest *rest);
/* Moves boxes of bp->sorted that do not move to those that rest, when there are enough of them. */
rs_status rs_broad_phase_settle(rs_broad_phase *bp, const rs_broad_phase_scene *scene);
/* Pairs of bp->bounds with boxes that rest. */
rs_status rs_broad_phase_find_resting(rs_broad_phase *bp, const rs_broad_phase_scene *scene);

/* Multi-box pruning: pairs of bp->bounds that meet in a cell of a grid. */
rs_status rs_broad_phase_find_in_grid(rs_broad_phase *bp, const rs_contact_settings *settings,
                                      const rs_broad_phase_scene *scene);

#endif
