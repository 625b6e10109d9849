/* A sphere against another shape: the closest point of that shape to the centre says it all. */
#include "collide_primitive.h"

void rs_collide_sphere_sphere(const rs_shape *a, const rs_transform *ta, const rs_shape *b, const rs_transform *tb,
                              const rs_collide_settings *settings, rs_manifold *out) {
    rs_vec3 between = rs_sub(ta->pos, tb->pos);
    double distance2 = rs_norm2(between), touch = a->radius + b->radius, limit = touch + settings->margin;
    if (distance2 >= limit * limit) return;
    double distance = sqrt(distance2), gap = distance - touch;
    rs_vec3 normal = distance > 0.0 ? rs_scale(1.0 / distance, between) : rs_v3(0, 0, 1);
    rs_manifold_add(out, rs_madd(tb->pos, b->radius + 0.5 * gap, normal), normal, gap, 0);
}

/* Adds the contact of the sphere with a shape whose surface is nearest to the centre at `nearest`, with the unit
 * normal there (both in the shape's frame) and the centre at the signed distance from it. */
static void add_sphere_contact(double radius, const rs_transform *pose, rs_vec3 nearest, rs_vec3 normal,
                               double distance, rs_manifold *out) {
    double gap = distance - radius;
    rs_vec3 position = rs_madd(nearest, 0.5 * gap, normal);
    rs_manifold_add(out, rs_transform_point(pose, position), rs_m3_mulv(&pose->rot, normal), gap, 0);
}

/* The centre lies inside the box: it leaves through the nearest face. */
static void sphere_inside_box(double radius, rs_vec3 half, rs_vec3 center, const rs_transform *tb, rs_manifold *out) {
    double least = INFINITY;
    int axis = 0;
    for (int i = 0; i < 3; i++) {
        double depth = rs_v3_get(half, i) - fabs(rs_v3_get(center, i));
        if (depth < least) {
            least = depth;
            axis = i;
        }
    }
    rs_vec3 normal = rs_v3_zero(), nearest = center;
    double sign = copysign(1.0, rs_v3_get(center, axis));
    rs_v3_set(&normal, axis, sign);
    rs_v3_set(&nearest, axis, sign * rs_v3_get(half, axis));
    add_sphere_contact(radius, tb, nearest, normal, -least, out);
}

void rs_collide_sphere_box(const rs_shape *a, const rs_transform *ta, const rs_shape *b, const rs_transform *tb,
                           const rs_collide_settings *settings, rs_manifold *out) {
    rs_vec3 center = rs_transform_inv_point(tb, ta->pos), h = b->half;
    rs_vec3 nearest = rs_v3(rs_clamp(center.x, -h.x, h.x), rs_clamp(center.y, -h.y, h.y), rs_clamp(center.z, -h.z, h.z));
    rs_vec3 away = rs_sub(center, nearest);
    double distance2 = rs_norm2(away), limit = a->radius + settings->margin;
    if (distance2 >= limit * limit) return;
    if (distance2 == 0.0) {
        sphere_inside_box(a->radius, h, center, tb, out);
        return;
    }
    double distance = sqrt(distance2);
    add_sphere_contact(a->radius, tb, nearest, rs_scale(1.0 / distance, away), distance, out);
}
