#include "ccd.h"

/* Each step of the advance leaves a share of the gap that depends on the angle of approach: this many are enough for
 * all but grazing ones, which then count as a contact. */
enum { MAX_ADVANCES = 40, MAX_LOOKS = 4 };

/* A look ahead may find the shapes this share of the gap too deep. */
static const double OVERSHOOT = 0.1;

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

static void collide_at(const rs_moving_shape *a, const rs_moving_shape *b, double t, const rs_collide_settings *settings,
                       rs_manifold *out) {
    rs_transform pose_a = rs_way_pose(a->way, t, a->pose), pose_b = rs_way_pose(b->way, t, b->pose);
    out->count = 0;
    rs_collide(a->shape, &pose_a, b->shape, &pose_b, settings, out);
}

/* How far a point would get that moves with the shape as it does after the fraction `t` of its way. */
static rs_vec3 way_of_point(const rs_way *way, double t, rs_vec3 point) {
    rs_vec3 arm = rs_sub(rs_madd(point, -t, way->shift), way->centre);
    return rs_add(way->shift, rs_cross(way->turn, arm));
}

/* Most shapes meet where their nearest points meet, at the speed of these: a few looks tell. `out` holds the contacts at
 * the beginning, and those of the meeting when one was found. */
static bool meets_head_on(const rs_moving_shape *a, const rs_moving_shape *b, double near,
                          const rs_collide_settings *settings, rs_manifold *out, double *fraction) {
    rs_manifold now = *out;
    double first = nearest_point(out)->gap, t = 0.0;
    for (int look = 0; look < MAX_LOOKS; look++) {
        const rs_manifold_point *point = nearest_point(&now);
        rs_vec3 way = rs_sub(way_of_point(a->way, t, point->position), way_of_point(b->way, t, point->position));
        double approach = -rs_dot(way, point->normal), open = point->gap - 0.5 * near;
        if (approach * (1.0 - t) < open)
            return false;
        t += open / approach;
        collide_at(a, b, t, settings, &now);
        if (now.count == 0)
            return false;
        double left = nearest_point(&now)->gap;
        if (left < -near - OVERSHOOT * first)
            return false;
        if (left <= near) {
            *out = now;
            *fraction = t;
            return true;
        }
    }
    return false;
}

/* Conservative advancement (Mirtich 1996): the distance of the shapes bounds how far one may go without meeting the
 * other. Between convex shapes only the motion across the gap counts. */
bool rs_sweep(const rs_moving_shape *a, const rs_moving_shape *b, double near, const rs_collide_settings *settings,
              rs_manifold *out, double *fraction) {
    rs_vec3 shift = rs_sub(a->way->shift, b->way->shift);
    double swing = a->swing + b->swing, length = rs_norm(shift), t = 0.0;
    bool convex = is_convex(a->shape) && is_convex(b->shape);
    if (out->count == 0)
        collide_at(a, b, 0.0, settings, out);
    if (out->count > 0 && meets_head_on(a, b, near, settings, out, fraction))
        return true;
    for (int k = 0; out->count > 0; k++) {
        const rs_manifold_point *point = nearest_point(out);
        double approach = swing + (convex ? -rs_dot(shift, point->normal) : length);
        *fraction = t;
        if (point->gap <= near || k == MAX_ADVANCES)
            return true;
        if (approach <= 0.0)
            return false;
        t += (point->gap - 0.5 * near) / approach;
        if (t > 1.0)
            return false;
        collide_at(a, b, t, settings, out);
    }
    return false;
}
