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
    double lo[3][RS_CHILDREN], hi[3][RS_CHILDREN];
} rs_child_boxes;

static inline rs_packet_walk rs_packet_walk_make(const rs_packet_rays *rays) {
    rs_packet_walk walk;
    rs_v3_store(walk.origin, rays->origin);
    const double *directions[3] = {rays->x, rays->y, rays->z};
    for (int axis = 0; axis < 3; axis++) {
        double lowest = INFINITY, highest = -INFINITY;
        for (int l = 0; l < RS_LANES; l++) {
            double d = directions[axis][l];
            double inverse = 1.0 / (fabs(d) > 1e-300 ? d : copysign(1e-300, d));
            walk.inverse[axis][l] = inverse;
            lowest = rs_min(lowest, inverse);
            highest = rs_max(highest, inverse);
        }
        walk.inverse_min[axis] = lowest;
        walk.inverse_max[axis] = highest;
        walk.mixed[axis] = lowest < 0.0 && highest > 0.0;
    }
    return walk;
}

/* Farthest distance that still matters. */
static inline double rs_packet_reach(const rs_packet_hits *hits) {
    double reach = -1.0;
    for (int l = 0; l < RS_LANES; l++)
        reach = rs_max(reach, hits->distance[l]);
    return reach;
}

/* For each child a distance before which no ray enters it; infinite when no ray can. */
static inline void rs_packet_hull(const rs_packet_walk *walk, const rs_child_boxes *boxes, double reach,
                                  double enter[RS_CHILDREN]) {
    double leave[RS_CHILDREN];
    for (int c = 0; c < RS_CHILDREN; c++) {
        enter[c] = 0.0;
        leave[c] = reach;
    }
    for (int axis = 0; axis < 3; axis++) {
        if (walk->mixed[axis])
            continue;
        double o = walk->origin[axis], low = walk->inverse_min[axis], high = walk->inverse_max[axis];
        const double *near = low >= 0.0 ? boxes->lo[axis] : boxes->hi[axis];
        const double *far = low >= 0.0 ? boxes->hi[axis] : boxes->lo[axis];
        for (int c = 0; c < RS_CHILDREN; c++) {
            double n = near[c] - o, f = far[c] - o;
            enter[c] = rs_max(enter[c], rs_min(n * low, n * high));
            leave[c] = rs_min(leave[c], rs_max(f * low, f * high));
        }
    }
    for (int c = 0; c < RS_CHILDREN; c++)
        enter[c] = enter[c] <= leave[c] ? enter[c] : INFINITY;
}

/* Whether any ray enters the child before its nearest hit. */
static inline bool rs_packet_touches(const rs_packet_walk *walk, const rs_child_boxes *boxes, int child,
                                     const rs_packet_hits *hits) {
    double lo[3], hi[3];
    for (int axis = 0; axis < 3; axis++) {
        lo[axis] = boxes->lo[axis][child] - walk->origin[axis];
        hi[axis] = boxes->hi[axis][child] - walk->origin[axis];
    }
    int64_t any = 0;
    for (int l = 0; l < RS_LANES; l++) {
        double x0 = lo[0] * walk->inverse[0][l], x1 = hi[0] * walk->inverse[0][l];
        double y0 = lo[1] * walk->inverse[1][l], y1 = hi[1] * walk->inverse[1][l];
        double z0 = lo[2] * walk->inverse[2][l], z1 = hi[2] * walk->inverse[2][l];
        double enter = rs_max(rs_max(rs_min(x0, x1), rs_min(y0, y1)), rs_max(rs_min(z0, z1), 0.0));
        double leave = rs_min(rs_min(rs_max(x0, x1), rs_max(y0, y1)), rs_min(rs_max(z0, z1), hits->distance[l]));
        any |= enter <= leave;
    }
    return any != 0;
}

/* Children that some ray enters, the farthest first; returns their number. */
static inline int rs_packet_order(const rs_packet_walk *walk, const rs_child_boxes *boxes, const rs_packet_hits *hits,
                                  int order[RS_CHILDREN], double enter[RS_CHILDREN]) {
    rs_packet_hull(walk, boxes, rs_packet_reach(hits), enter);
    int count = 0;
    for (int c = 0; c < RS_CHILDREN; c++) {
        if (enter[c] == INFINITY || !rs_packet_touches(walk, boxes, c, hits))
            continue;
        int place = count++;
        for (; place > 0 && enter[order[place - 1]] < enter[c]; place--)
            order[place] = order[place - 1];
        order[place] = c;
    }
    return count;
}

#endif
