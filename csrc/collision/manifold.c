#include "manifold.h"

#include "narrow_phase.h"

/* How much the point adds to those already chosen: distance to one point, area over two, then the distance to the
 * nearest, so that the points stay spread. `nearest`: squared distance to all chosen but the last; brought up to date. */
static double gain(const rs_manifold_point *chosen, int count, rs_vec3 p, double *nearest) {
    *nearest = rs_min(*nearest, rs_norm2(rs_sub(p, chosen[count - 1].position)));
    if (count != 2) return *nearest;
    rs_vec3 edge = rs_sub(chosen[1].position, chosen[0].position);
    return rs_norm2(rs_cross(edge, rs_sub(p, chosen[0].position)));
}

/* How much more points count that were chosen before, in squared distances and areas. */
static const double PREFERENCE = 1.05;

static bool is_one_of(uint32_t feature, const int32_t *before, int count) {
    bool found = false;
    for (int k = 0; k < count; k++) found |= before[k] == (int32_t)feature;
    return found;
}

int rs_points_reduce_again(rs_manifold_point *points, int count, int max_points, const int32_t *before, int before_count) {
    if (count <= max_points) return count;
    double nearest[RS_MAX_CANDIDATES], weight[RS_MAX_CANDIDATES];
    for (int i = 0; i < count; i++) {
        nearest[i] = INFINITY;
        weight[i] = is_one_of(points[i].feature, before, before_count) ? PREFERENCE : 1.0;
    }
    int deepest = 0;
    for (int i = 1; i < count; i++)
        if (points[i].gap < points[deepest].gap) deepest = i;
    for (int chosen = 0; chosen < max_points; chosen++) {
        int best = chosen == 0 ? deepest : chosen;
        double most = -1.0;
        for (int i = chosen; i < count && chosen > 0; i++) {
            double g = weight[i] * gain(points, chosen, points[i].position, &nearest[i]);
            if (g > most) {
                most = g;
                best = i;
            }
        }
        rs_manifold_point swap = points[chosen];
        points[chosen] = points[best];
        points[best] = swap;
        nearest[best] = nearest[chosen];
        weight[best] = weight[chosen];
    }
    return max_points;
}

int rs_points_reduce(rs_manifold_point *points, int count, int max_points) {
    return rs_points_reduce_again(points, count, max_points, NULL, 0);
}

void rs_manifold_reduce(rs_manifold *m, int max_points) {
    m->count = rs_points_reduce(m->points, m->count, max_points);
}
