#include "ccd.h"

/* Each step of the advance leaves a share of the gap that depends on the angle of approach: this many are enough for
 * all but grazing ones, which then count as a contact. */
enum { MAX_ADVANCES = 40 };

static const rs_manifold_point *nearest_point(const rs_manifold *m) {
    const rs_manifold_point *nearest = &m->points[0];
    for (int i = 1; i < m->count; i++)
        if (m->points[i].gap < nearest->gap)
            nearest = &m->points[i];
    return nearest;
}

static bool is_convex(const rs_shape *shape) {
    return shape->type != RS_SHAPE_MESH && shape->type != RS_SHAPE_HEIGHTMAP;
}

/* Conservative advancement (Mirtich 1996): the distance of the shapes bounds how far one may go without meeting the
 * other. Between convex shapes only the motion across the gap counts. */
bool rs_sweep(const rs_moving_shape *a, const rs_moving_shape *b, double near, const rs_collide_settings *settings,
              rs_manifold *out, double *fraction) {
    rs_vec3 shift = rs_sub(a->way->shift, b->way->shift);
    double swing = a->swing + b->swing, length = rs_norm(shift), t = 0.0;
    bool convex = is_convex(a->shape) && is_convex(b->shape);
    for (int k = 0; k < MAX_ADVANCES; k++) {
        if (k > 0 || out->count == 0) {
            rs_transform pose_a = rs_way_pose(a->way, t, a->pose), pose_b = rs_way_pose(b->way, t, b->pose);
            rs_collide(a->shape, &pose_a, b->shape, &pose_b, settings, out);
        }
        if (out->count == 0)
            return false;
        const rs_manifold_point *point = nearest_point(out);
        double approach = swing + (convex ? -rs_dot(shift, point->normal) : length);
        if (point->gap <= near || k == MAX_ADVANCES - 1) {
            *fraction = t;
            return true;
        }
        if (approach <= 0.0)
            return false;
        t += (point->gap - 0.5 * near) / approach;
        if (t > 1.0)
            return false;
    }
    return false;
}
