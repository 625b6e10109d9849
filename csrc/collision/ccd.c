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
bool rs_sweep(const rs_shape *a, const rs_transform *ta, const rs_shape *b, const rs_transform *tb, rs_vec3 motion,
              double near, const rs_collide_settings *settings, rs_manifold *out, double *fraction) {
    double length = rs_norm(motion), t = 0.0;
    bool convex = is_convex(a) && is_convex(b);
    for (int k = 0; k < MAX_ADVANCES; k++) {
        rs_transform moved = {ta->rot, rs_madd(ta->pos, t, motion)};
        out->count = 0;
        rs_collide(a, &moved, b, tb, settings, out);
        if (out->count == 0)
            return false;
        const rs_manifold_point *point = nearest_point(out);
        double approach = convex ? -rs_dot(motion, point->normal) : length;
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
