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

/* ---- round shapes: the question is flat, in the plane through the axis and the centre of the sphere ---- */

/* A point in that plane: `out` from the axis, `up` along it. */
typedef struct {
    double out, up;
} axial;

/* Adds the contact where the nearest surface point and the normal are given in the plane of the centre. */
static void add_axial_contact(double radius, const rs_transform *pose, rs_vec3 center, axial nearest, axial normal,
                              double distance, rs_manifold *out) {
    double across = sqrt(center.x * center.x + center.y * center.y);
    double x = across > 0.0 ? center.x / across : 1.0, y = across > 0.0 ? center.y / across : 0.0;
    add_sphere_contact(radius, pose, rs_v3(nearest.out * x, nearest.out * y, nearest.up),
                       rs_v3(normal.out * x, normal.out * y, normal.up), distance, out);
}

/* The same for a centre outside the shape: normal and distance follow from the nearest point. */
static void add_outside_contact(double radius, double margin, const rs_transform *pose, rs_vec3 center, axial point,
                                axial nearest, rs_manifold *out) {
    axial away = {point.out - nearest.out, point.up - nearest.up};
    double distance = sqrt(away.out * away.out + away.up * away.up);
    if (distance - radius >= margin) return;
    add_axial_contact(radius, pose, center, nearest, (axial){away.out / distance, away.up / distance}, distance, out);
}

void rs_collide_sphere_cylinder(const rs_shape *a, const rs_transform *ta, const rs_shape *b, const rs_transform *tb,
                                const rs_collide_settings *settings, rs_manifold *out) {
    rs_vec3 center = rs_transform_inv_point(tb, ta->pos);
    double r = b->radius, h = b->half_height;
    axial p = {sqrt(center.x * center.x + center.y * center.y), center.z};
    axial nearest = {fmin(p.out, r), rs_clamp(p.up, -h, h)};
    if (nearest.out != p.out || nearest.up != p.up) {
        add_outside_contact(a->radius, settings->margin, tb, center, p, nearest, out);
        return;
    }
    double to_side = r - p.out, to_cap = h - fabs(p.up), side = copysign(1.0, p.up);
    if (fmax(-to_side, -to_cap) - a->radius >= settings->margin) return;
    if (to_side < to_cap)
        add_axial_contact(a->radius, tb, center, (axial){r, p.up}, (axial){1.0, 0.0}, -to_side, out);
    else
        add_axial_contact(a->radius, tb, center, (axial){p.out, side * h}, (axial){0.0, side}, -to_cap, out);
}

void rs_collide_sphere_cone(const rs_shape *a, const rs_transform *ta, const rs_shape *b, const rs_transform *tb,
                            const rs_collide_settings *settings, rs_manifold *out) {
    rs_vec3 center = rs_transform_inv_point(tb, ta->pos);
    double r = b->radius, apex = rs_cone_apex_z(b), base = rs_cone_base_z(b), slant = hypot(r, apex - base);
    axial p = {sqrt(center.x * center.x + center.y * center.y), center.z};
    axial down = {r / slant, (base - apex) / slant}, normal = {-down.up, down.out}; /* along the side, and out of it */
    double above_side = normal.out * p.out + normal.up * (p.up - apex), above_base = p.up - base;
    double along = rs_clamp(down.out * p.out + down.up * (p.up - apex), 0.0, slant);
    axial on_side = {along * down.out, apex + along * down.up};
    if (above_base < 0.0 && p.out <= r) {
        add_outside_contact(a->radius, settings->margin, tb, center, p, (axial){p.out, base}, out);
    } else if (above_side > 0.0 || above_base < 0.0) {
        add_outside_contact(a->radius, settings->margin, tb, center, p, on_side, out);
    } else if (fmax(above_side, -above_base) - a->radius < settings->margin) {
        if (-above_side < above_base)
            add_axial_contact(a->radius, tb, center, on_side, normal, above_side, out);
        else
            add_axial_contact(a->radius, tb, center, (axial){p.out, base}, (axial){0.0, -1.0}, -above_base, out);
    }
}
