/* Walk of a bundle of rays through a tree whose nodes have four children. Inline: the inner loop of every sensor.
 *
 * A child is first tested against the hull of the whole bundle (interval arithmetic, four children at once), then ray
 * by ray. */
#ifndef RS_COLLISION_PACKET_WALK_H
#define RS_COLLISION_PACKET_WALK_H

#include "ray_packet.h"

enum { RS_CHILDREN = 4 };

typedef struct {
    double origin[3];
    double inverse[3][RS_LANES];               /* reciprocal directions, finite */
    double inverse_min[3], inverse_max[3];     /* over the lanes */
    bool mixed[3];                             /* the lanes run both ways along the axis: no hull there */
} rs_packet_walk;

/* Boxes of four children, axis by child. */
typedef struct {
    rs_v4 lo[3], hi[3];
} rs_child_boxes;

static inline void rs_packet_walk_begin(rs_packet_walk *walk, const rs_packet_rays *rays) {
    rs_v3_store(walk->origin, rays->origin);
    const double *directions[3] = {rays->x, rays->y, rays->z};
    for (int axis = 0; axis < 3; axis++) {
        double *inverse = walk->inverse[axis];
        for (int l = 0; l < RS_LANES; l += 4) {
            rs_v4 d = rs_v4_read(&directions[axis][l]), least = rs_v4_all(1e-300);
            rs_v4 signed_least = (rs_v4)((rs_index4)least | ((rs_index4)d & INT64_MIN));
            rs_v4 one = 1.0 / rs_v4_choose(rs_v4_abs(d) > least, d, signed_least);
            memcpy(&inverse[l], &one, sizeof one);
        }
        walk->inverse_min[axis] = rs_lanes_min(inverse);
        walk->inverse_max[axis] = rs_lanes_max(inverse);
        walk->mixed[axis] = walk->inverse_min[axis] < 0.0 && walk->inverse_max[axis] > 0.0;
    }
}

/* Farthest distance that still matters. */
static inline double rs_packet_reach(const rs_packet_hits *hits) { return rs_lanes_max(hits->distance); }

/* The children that the hull of the bundle enters, as bits, and for each a distance before which no ray enters it. */
static inline unsigned rs_packet_hull(const rs_packet_walk *walk, const rs_child_boxes *boxes, double reach, rs_v4 *entered) {
    rs_v4 enter = rs_v4_all(0.0), leave = rs_v4_all(reach);
    for (int axis = 0; axis < 3; axis++) {
        if (walk->mixed[axis])
            continue;
        double low = walk->inverse_min[axis], high = walk->inverse_max[axis];
        rs_v4 near = (low >= 0.0 ? boxes->lo[axis] : boxes->hi[axis]) - walk->origin[axis];
        rs_v4 far = (low >= 0.0 ? boxes->hi[axis] : boxes->lo[axis]) - walk->origin[axis];
        enter = rs_v4_max(enter, rs_v4_min(near * low, near * high));
        leave = rs_v4_min(leave, rs_v4_max(far * low, far * high));
    }
    *entered = enter;
    return rs_bits4(enter <= leave);
}

/* Whether any ray enters the child before its nearest hit; four rays at once, and most often the first four tell. */
static inline bool rs_packet_touches(const rs_packet_walk *walk, const rs_child_boxes *boxes, int child,
                                     const rs_packet_hits *hits) {
    double lo[3], hi[3];
    for (int axis = 0; axis < 3; axis++) {
        lo[axis] = boxes->lo[axis][child] - walk->origin[axis];
        hi[axis] = boxes->hi[axis][child] - walk->origin[axis];
    }
    for (int l = 0; l < RS_LANES; l += 4) {
        rs_v4 enter = rs_v4_all(0.0), leave = rs_v4_read(&hits->distance[l]);
        for (int axis = 0; axis < 3; axis++) {
            rs_v4 inverse = rs_v4_read(&walk->inverse[axis][l]), in = lo[axis] * inverse, out = hi[axis] * inverse;
            enter = rs_v4_max(enter, rs_v4_min(in, out));
            leave = rs_v4_min(leave, rs_v4_max(in, out));
        }
        if (rs_any4(enter <= leave))
            return true;
    }
    return false;
}

/* Children that some ray enters, the farthest first; returns their number. Without `each` the hull alone decides, which
 * lets a few more in. */
static inline int rs_packet_order(const rs_packet_walk *walk, const rs_child_boxes *boxes, const rs_packet_hits *hits,
                                  double reach, bool each, int order[RS_CHILDREN], rs_v4 *entered) {
    int count = 0;
    for (unsigned left = rs_packet_hull(walk, boxes, reach, entered); left != 0; left &= left - 1) {
        int c = __builtin_ctz(left);
        if (each && !rs_packet_touches(walk, boxes, c, hits))
            continue;
        int place = count++;
        for (; place > 0 && (*entered)[order[place - 1]] < (*entered)[c]; place--)
            order[place] = order[place - 1];
        order[place] = c;
    }
    return count;
}

#endif
