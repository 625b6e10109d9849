/* Pairs of colliders whose boxes overlap and which may collide. */
#ifndef RS_COLLISION_BROAD_PHASE_H
#define RS_COLLISION_BROAD_PHASE_H

#include "../base/memory.h"
#include "../model/bvh.h"
#include "collider.h"

typedef struct {
    int32_t a, b; /* collider indices, a < b */
} rs_pair;
RS_ARRAY_OF(rs_pair);

/* What the broad phase looks at: colliders by themselves and clusters of them. In the pairs that it finds cluster k has
 * the index collider_count + k. */
typedef struct {
    const rs_collider *colliders;
    int64_t collider_count;
    const rs_cluster *clusters;
    int64_t cluster_count;
} rs_broad_phase_scene;

typedef struct rs_box rs_box;
typedef struct rs_grid_entry rs_grid_entry;
RS_ARRAY_OF(rs_box);
RS_ARRAY_OF(rs_grid_entry);

/* Boxes that did not move for some time lie in a tree, which those that move ask. */
typedef struct {
    rs_bvh tree;
    RS_ARRAY(rs_box) boxes; /* those in the tree, in its order, then unbounded ones */
    int64_t in_tree;
    RS_ARRAY(uint32_t) order;
    RS_ARRAY(rs_aabb) bounds; /* scratch of the tree's building */
    int32_t calm_steps;       /* since one of them last moved, or may have */
} rs_broad_phase_rest;

/* State that makes the next search cheap, and scratch that is reused. */
typedef struct {
    RS_ARRAY(int32_t) sorted; /* live colliders and clusters that do not rest, by the lower end of their boxes along `axis` */
    int32_t axis;
    bool shuffled;                              /* `sorted` is in no useful order */
    RS_ARRAY(rs_box) bounds;                    /* sweep scratch: boxes in sorted order */
    RS_ARRAY(rs_box) in_strips;                 /* sweep scratch: the same for each strip across another axis */
    RS_ARRAY(rs_grid_entry) cells, cells_other; /* grid scratch: cell keys of boxes */
    RS_ARRAY(int32_t) large;                    /* grid scratch: boxes that span too many cells */
    RS_ARRAY(rs_pair) found;                    /* in the order of discovery */
    RS_ARRAY(int32_t) starts;                   /* counting-sort scratch */
    rs_broad_phase_rest rest;
} rs_broad_phase;

void rs_broad_phase_free(rs_broad_phase *bp);

/* Set of colliders or clusters changed: `sorted` must be rebuilt from the live ones. */
rs_status rs_broad_phase_rebuild(rs_broad_phase *bp, const rs_broad_phase_scene *scene);

/* Something that rested may move: nothing rests any more. */
void rs_broad_phase_rouse(rs_broad_phase *bp);

/* Fills bp->found. What rests must be inactive. */
rs_status rs_broad_phase_find(rs_broad_phase *bp, const rs_contact_settings *settings, const rs_broad_phase_scene *scene);

/* Copies bp->found, in which the clusters have given way to their colliders, to `pairs` (rs_pair): ordered by (a, b)
 * whatever the method, so that results do not depend on it. */
rs_status rs_broad_phase_order(rs_broad_phase *bp, int64_t collider_count, RS_ARRAY(rs_pair) *pairs);

#endif
