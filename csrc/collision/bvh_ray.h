/* Walk of a ray through a bounding-volume tree, nearest boxes first. Inline: it is the inner loop of every sensor. */
#ifndef RS_COLLISION_BVH_RAY_H
#define RS_COLLISION_BVH_RAY_H

#include "../model/bvh.h"
#include "ray_cast.h"

typedef struct {
    const rs_bvh *bvh;
    double origin[3], inverse[3]; /* reciprocal of the direction, finite */
    double max;                   /* the caller lowers it with every hit */
    int top;
    struct {
        double enter;
        uint32_t child, count;
    } stack[RS_BVH_STACK];
} rs_bvh_ray;

static inline double rs_finite_reciprocal(double d) { return 1.0 / (fabs(d) > 1e-300 ? d : copysign(1e-300, d)); }

static inline void rs_bvh_ray_begin(rs_bvh_ray *q, const rs_bvh *bvh, const rs_ray *ray) {
    q->bvh = bvh;
    rs_v3_store(q->origin, ray->origin);
    q->inverse[0] = rs_finite_reciprocal(ray->direction.x);
    q->inverse[1] = rs_finite_reciprocal(ray->direction.y);
    q->inverse[2] = rs_finite_reciprocal(ray->direction.z);
    q->max = ray->max;
    q->top = bvh->node_count > 0 ? 1 : 0;
    q->stack[0].enter = 0.0;
    q->stack[0].child = 0;
    q->stack[0].count = 0;
}

/* Pushes the children that the ray enters, the nearest on top. */
static inline void rs_bvh_ray_open(rs_bvh_ray *q, const rs_bvh_node *node) {
    double enter[RS_BVH_WIDTH], leave[RS_BVH_WIDTH];
    for (int c = 0; c < RS_BVH_WIDTH; c++) {
        enter[c] = 0.0;
        leave[c] = q->max;
    }
    for (int axis = 0; axis < 3; axis++) {
        double o = q->origin[axis], inverse = q->inverse[axis];
        const float *near = inverse >= 0.0 ? node->lo[axis] : node->hi[axis];
        const float *far = inverse >= 0.0 ? node->hi[axis] : node->lo[axis];
        for (int c = 0; c < RS_BVH_WIDTH; c++) {
            enter[c] = rs_max(enter[c], ((double)near[c] - o) * inverse);
            leave[c] = rs_min(leave[c], ((double)far[c] - o) * inverse);
        }
    }
    int first = q->top;
    for (int c = 0; c < RS_BVH_WIDTH; c++) {
        if (!(enter[c] <= leave[c]) || node->lo[0][c] > node->hi[0][c])
            continue;
        int place = q->top++;
        for (; place > first && q->stack[place - 1].enter < enter[c]; place--)
            q->stack[place] = q->stack[place - 1];
        q->stack[place].enter = enter[c];
        q->stack[place].child = node->child[c];
        q->stack[place].count = node->count[c];
    }
}

/* The next leaf: items first .. first + count - 1. False when none is left within q->max. */
static inline bool rs_bvh_ray_next(rs_bvh_ray *q, uint32_t *first, uint32_t *count) {
    while (q->top > 0) {
        q->top--;
        if (q->stack[q->top].enter > q->max)
            continue;
        *first = q->stack[q->top].child;
        *count = q->stack[q->top].count;
        if (*count > 0)
            return true;
        rs_bvh_ray_open(q, &q->bvh->nodes[*first]);
    }
    return false;
}

#endif
