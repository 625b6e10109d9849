/* A bundle of rays through a bounding-volume tree, nearest boxes first. */
#ifndef RS_COLLISION_PACKET_BVH_H
#define RS_COLLISION_PACKET_BVH_H

#include "../model/bvh.h"
#include "packet_walk.h"

typedef struct {
    const rs_bvh *bvh;
    rs_packet_walk walk;
    double reach; /* farthest hit */
    bool each;    /* boxes are tested ray by ray: worth it where leaves take long */
    int top;
    struct {
        double enter;
        uint32_t child, count;
    } stack[RS_BVH_STACK];
} rs_packet_bvh;

static inline void rs_packet_bvh_begin(rs_packet_bvh *q, const rs_bvh *bvh, const rs_packet_rays *rays, bool each) {
    q->bvh = bvh;
    rs_packet_walk_begin(&q->walk, rays);
    q->each = each || q->walk.mixed[0] || q->walk.mixed[1] || q->walk.mixed[2];
    q->top = bvh->node_count > 0 ? 1 : 0;
    q->stack[0].enter = 0.0;
    q->stack[0].child = 0;
    q->stack[0].count = 0;
}

static inline void rs_packet_bvh_open(rs_packet_bvh *q, const rs_bvh_node *node, const rs_packet_hits *hits) {
    rs_child_boxes boxes;
    for (int axis = 0; axis < 3; axis++)
        for (int c = 0; c < RS_CHILDREN; c++) {
            boxes.lo[axis][c] = (double)node->lo[axis][c];
            boxes.hi[axis][c] = (double)node->hi[axis][c];
        }
    int order[RS_CHILDREN];
    rs_v4 enter;
    int count = rs_packet_order(&q->walk, &boxes, hits, q->reach, q->each, order, &enter);
    for (int k = 0; k < count; k++) {
        int c = order[k];
        if (node->lo[0][c] > node->hi[0][c]) /* absent */
            continue;
        q->stack[q->top].enter = enter[c];
        q->stack[q->top].child = node->child[c];
        q->stack[q->top].count = node->count[c];
        q->top++;
    }
}

/* The next leaf: items first .. first + count - 1. False when none is left before the present hits. */
static inline bool rs_packet_bvh_next(rs_packet_bvh *q, const rs_packet_hits *hits, uint32_t *first, uint32_t *count) {
    q->reach = rs_packet_reach(hits);
    while (q->top > 0) {
        q->top--;
        if (q->stack[q->top].enter > q->reach)
            continue;
        *first = q->stack[q->top].child;
        *count = q->stack[q->top].count;
        if (*count > 0)
            return true;
        rs_packet_bvh_open(q, &q->bvh->nodes[*first], hits);
    }
    return false;
}

#endif
