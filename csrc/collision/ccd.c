#include "ccd.h"
#include "gjk.h"
#include "surface.h"

/* Each step of the advance leaves a share of the gap that depends on the angle of approach: this many are enough for
 * all but grazing ones, which then count as a contact. Looks at a triangle cost less. */
enum { MAX_ADVANCES = 40, MAX_TRIANGLE_ADVANCES = 200, MAX_LOOKS = 4 };

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

/* ---- conservative advancement (Mirtich 1996): the distance of two shapes bounds how far one may go without meeting the other.
 * Between convex shapes only the motion across the gap counts. ---- */

static void find_at(const rs_moving_shape *a, const rs_moving_shape *b, double near, bool convex,
                    const rs_collide_settings *settings, rs_manifold *out, double *fraction) {
    rs_vec3 shift = rs_sub(a->way->shift, b->way->shift);
    double swing = a->swing + b->swing, length = rs_norm(shift), t = 0.0;
    for (int k = 0; out->count > 0; k++) {
        const rs_manifold_point *point = nearest_point(out);
        double approach = swing + (convex ? -rs_dot(shift, point->normal) : length);
        *fraction = t;
        if (point->gap <= near || k == MAX_ADVANCES)
            return;
        t = approach > 0.0 ? t + (point->gap - 0.5 * near) / approach : INFINITY;
        *fraction = t;
        if (t > 1.0)
            return;
        collide_at(a, b, t, settings, out);
    }
    *fraction = INFINITY;
}

/* When a convex shape comes closer than `near` to a triangle of a surface: only where that is before `latest`. */
static double find_triangle(const rs_moving_shape *convex, const rs_core *core, const rs_moving_shape *surface,
                            const rs_core *triangle, double near, const rs_collide_settings *settings, double latest) {
    rs_vec3 shift = rs_sub(convex->way->shift, surface->way->shift);
    double swing = convex->swing + surface->swing, farthest = near + core->rounding + (swing + rs_norm(shift)) * latest, t = 0.0;
    for (int k = 0; k < MAX_TRIANGLE_ADVANCES; k++) {
        rs_transform pose = rs_way_pose(convex->way, t, convex->pose), at = rs_way_pose(surface->way, t, surface->pose);
        rs_core_pair pair = rs_core_pair_make(core, &pose, triangle, &at);
        rs_gjk_result found;
        rs_gjk_outcome outcome = rs_gjk(&pair, farthest, settings, &found);
        if (outcome == RS_GJK_FAR)
            return INFINITY;
        double gap = outcome == RS_GJK_APART ? found.distance - core->rounding : 0.0;
        if (gap <= near)
            return t;
        double approach = swing - rs_dot(shift, rs_m3_mulv(&pose.rot, found.normal));
        t = approach > 0.0 ? t + (gap - 0.5 * near) / approach : INFINITY;
        if (t > latest)
            return INFINITY;
    }
    return t;
}

/* Of all triangles that the convex shape may get to: each is convex, the surface is not. */
static double find_in_surface(const rs_moving_shape *convex, const rs_moving_shape *moving, double near,
                              const rs_collide_settings *settings) {
    rs_surface surface = rs_surface_of(moving->shape);
    rs_core core = rs_core_of_shape(convex->shape);
    rs_transform pose = rs_transform_relative(moving->pose, convex->pose);
    rs_vec3 shift = rs_m3_tmulv(&moving->pose->rot, rs_sub(convex->way->shift, moving->way->shift)), none = rs_v3_zero();
    rs_aabb box = rs_shape_aabb(convex->shape, &pose);
    box = (rs_aabb){rs_add(box.min, rs_v3_min(none, shift)), rs_add(box.max, rs_v3_max(none, shift))};
    box = rs_aabb_grown(&box, near + convex->swing + moving->swing);
    double first = INFINITY;
    rs_surface_query query;
    rs_surface_query_begin(&query, &surface, box);
    for (uint32_t id; rs_surface_query_next(&query, &id);) {
        rs_surface_triangle triangle;
        rs_surface_get(&surface, id, none, &triangle);
        rs_core flat = rs_core_of_triangle(triangle.v);
        first = rs_min(first, find_triangle(convex, &core, moving, &flat, near, settings, rs_min(first, 1.0)));
    }
    return first;
}

bool rs_sweep(const rs_moving_shape *a, const rs_moving_shape *b, double near, const rs_collide_settings *settings,
              rs_manifold *out, double *fraction) {
    bool a_convex = is_convex(a->shape), b_convex = is_convex(b->shape);
    bool with_surface = (rs_shape_is_convex(a->shape->type) && !b_convex) || (rs_shape_is_convex(b->shape->type) && !a_convex);
    if (out->count == 0)
        collide_at(a, b, 0.0, settings, out);
    if (out->count == 0)
        return false;
    if (meets_head_on(a, b, near, settings, out, fraction))
        return true;
    if (!with_surface) {
        find_at(a, b, near, a_convex && b_convex, settings, out, fraction);
        return *fraction <= 1.0;
    }
    *fraction = a_convex ? find_in_surface(a, b, near, settings) : find_in_surface(b, a, near, settings);
    if (*fraction <= 1.0)
        collide_at(a, b, *fraction, settings, out);
    return *fraction <= 1.0 && out->count > 0;
}
