/* Rays against primitives and convex hulls, in closed form. */
#include "ray_cast.h"

#include "../model/convex.h"

static bool accept(const rs_ray *ray, double distance, rs_vec3 normal, rs_ray_hit *hit) {
    if (!(distance >= 0.0 && distance <= ray->max))
        return false;
    *hit = (rs_ray_hit){distance, normal};
    return true;
}

static rs_vec3 at(const rs_ray *ray, double t) { return rs_madd(ray->origin, t, ray->direction); }

/* Keeps the nearer of two hits. */
static void offer(rs_ray_hit *best, bool *found, const rs_ray *ray, double distance, rs_vec3 normal) {
    rs_ray_hit hit;
    if (accept(ray, distance, normal, &hit) && (!*found || hit.distance < best->distance)) {
        *best = hit;
        *found = true;
    }
}

static bool ray_sphere(const rs_ray *ray, rs_vec3 centre, double radius, rs_ray_hit *hit) {
    rs_vec3 from = rs_sub(ray->origin, centre);
    /* The point nearest to the centre first: far away, |from|^2 - r^2 would lose the radius in rounding. */
    double b = rs_dot(from, ray->direction);
    rs_vec3 nearest = rs_madd(from, -b, ray->direction);
    double half2 = radius * radius - rs_norm2(nearest);
    if (half2 < 0.0)
        return false;
    double half = sqrt(half2);
    double t = -b - half >= 0.0 ? -b - half : -b + half;
    rs_vec3 point = rs_madd(from, t, ray->direction);
    return accept(ray, t, rs_scale(1.0 / radius, point), hit);
}

static bool ray_box(const rs_ray *ray, rs_vec3 half, rs_ray_hit *hit) {
    double enter = -INFINITY, leave = INFINITY;
    int enter_axis = 0, leave_axis = 0;
    for (int axis = 0; axis < 3; axis++) {
        double o = rs_v3_get(ray->origin, axis), d = rs_v3_get(ray->direction, axis), h = rs_v3_get(half, axis);
        if (d == 0.0) {
            if (fabs(o) > h)
                return false;
            continue;
        }
        double t0 = (-copysign(h, d) - o) / d, t1 = (copysign(h, d) - o) / d;
        if (t0 > enter) {
            enter = t0;
            enter_axis = axis;
        }
        if (t1 < leave) {
            leave = t1;
            leave_axis = axis;
        }
    }
    if (enter > leave)
        return false;
    bool outside = enter >= 0.0;
    int axis = outside ? enter_axis : leave_axis;
    rs_vec3 normal = {0, 0, 0};
    double along = rs_v3_get(ray->direction, axis);
    rs_v3_set(&normal, axis, outside ? -copysign(1.0, along) : copysign(1.0, along));
    return accept(ray, outside ? enter : leave, normal, hit);
}

static bool ray_half_space(const rs_ray *ray, rs_ray_hit *hit) {
    if (ray->direction.z == 0.0)
        return false;
    return accept(ray, -ray->origin.z / ray->direction.z, rs_v3(0, 0, 1), hit);
}

/* A horizontal disc at height z, normal up (sign +1) or down. */
static void offer_disc(rs_ray_hit *best, bool *found, const rs_ray *ray, double z, double radius, double sign) {
    if (ray->direction.z == 0.0)
        return;
    double t = (z - ray->origin.z) / ray->direction.z;
    rs_vec3 p = at(ray, t);
    if (p.x * p.x + p.y * p.y <= radius * radius)
        offer(best, found, ray, t, rs_v3(0, 0, sign));
}

/* Both crossings of the round side of an infinite cylinder along z that lie between two heights. */
static void offer_tube(rs_ray_hit *best, bool *found, const rs_ray *ray, double radius, double half_height) {
    double dx = ray->direction.x, dy = ray->direction.y;
    double a = dx * dx + dy * dy;
    if (a == 0.0)
        return;
    double b = (ray->origin.x * dx + ray->origin.y * dy) / a;
    double nx = ray->origin.x - b * dx, ny = ray->origin.y - b * dy;
    double half2 = (radius * radius - nx * nx - ny * ny) / a;
    if (half2 < 0.0)
        return;
    double half = sqrt(half2);
    for (int k = 0; k < 2; k++) {
        double t = k == 0 ? -b - half : -b + half;
        rs_vec3 p = at(ray, t);
        if (fabs(p.z) <= half_height)
            offer(best, found, ray, t, rs_v3(p.x / radius, p.y / radius, 0.0));
    }
}

static bool ray_cylinder(const rs_ray *ray, double radius, double half_height, rs_ray_hit *hit) {
    bool found = false;
    offer_tube(hit, &found, ray, radius, half_height);
    offer_disc(hit, &found, ray, half_height, radius, 1.0);
    offer_disc(hit, &found, ray, -half_height, radius, -1.0);
    return found;
}

/* Both crossings of a sphere that lie on the outer side of a cap plane. */
static void offer_cap(rs_ray_hit *best, bool *found, const rs_ray *ray, double z, double radius, double sign) {
    rs_vec3 from = rs_sub(ray->origin, rs_v3(0, 0, z));
    double b = rs_dot(from, ray->direction);
    rs_vec3 nearest = rs_madd(from, -b, ray->direction);
    double half2 = radius * radius - rs_norm2(nearest);
    if (half2 < 0.0)
        return;
    double half = sqrt(half2);
    for (int k = 0; k < 2; k++) {
        double t = k == 0 ? -b - half : -b + half;
        rs_vec3 p = rs_madd(from, t, ray->direction);
        if (sign * p.z >= 0.0)
            offer(best, found, ray, t, rs_scale(1.0 / radius, p));
    }
}

static bool ray_capsule(const rs_ray *ray, double radius, double half_height, rs_ray_hit *hit) {
    bool found = false;
    offer_tube(hit, &found, ray, radius, half_height);
    offer_cap(hit, &found, ray, half_height, radius, 1.0);
    offer_cap(hit, &found, ray, -half_height, radius, -1.0);
    return found;
}

/* Apex at the origin of (x, y, w) with w = apex_z - z: the side is x^2 + y^2 = (k w)^2, 0 <= w <= height. */
static bool ray_cone(const rs_ray *ray, const rs_shape *cone, rs_ray_hit *hit) {
    bool found = false;
    double apex = rs_cone_apex_z(cone), base = rs_cone_base_z(cone), height = apex - base;
    double k = cone->radius / height, k2 = k * k;
    double ox = ray->origin.x, oy = ray->origin.y, ow = apex - ray->origin.z;
    double dx = ray->direction.x, dy = ray->direction.y, dw = -ray->direction.z;
    double a = dx * dx + dy * dy - k2 * dw * dw, b = ox * dx + oy * dy - k2 * ow * dw,
           c = ox * ox + oy * oy - k2 * ow * ow;
    double roots[2] = {-1.0, -1.0};
    if (fabs(a) < 1e-14) { /* parallel to the side */
        if (b != 0.0)
            roots[0] = -0.5 * c / b;
    } else {
        double discriminant = b * b - a * c;
        if (discriminant >= 0.0) {
            double q = -(b + copysign(sqrt(discriminant), b));
            roots[0] = q / a;
            roots[1] = q != 0.0 ? c / q : -1.0;
        }
    }
    double slant = 1.0 / sqrt(1.0 + k2);
    for (int r = 0; r < 2; r++) {
        double w = ow + roots[r] * dw;
        if (w < 0.0 || w > height)
            continue;
        double x = ox + roots[r] * dx, y = oy + roots[r] * dy, rho = sqrt(x * x + y * y);
        rs_vec3 normal = rho > 0.0 ? rs_v3(slant * x / rho, slant * y / rho, slant * k) : rs_v3(0, 0, 1);
        offer(hit, &found, ray, roots[r], normal);
    }
    offer_disc(hit, &found, ray, base, cone->radius, -1.0);
    return found;
}

/* The part of the ray inside all faces. */
static bool ray_convex(const rs_ray *ray, const rs_convex *convex, rs_ray_hit *hit) {
    double enter = -INFINITY, leave = INFINITY;
    rs_vec3 enter_normal = {0, 0, 1}, leave_normal = {0, 0, 1};
    for (int32_t f = 0; f < convex->face_count; f++) {
        const rs_convex_face *face = &convex->faces[f];
        double along = rs_dot(face->normal, ray->direction);
        double above = rs_dot(face->normal, ray->origin) - face->offset;
        if (along == 0.0) {
            if (above > 0.0)
                return false;
            continue;
        }
        double t = -above / along;
        if (along < 0.0 && t > enter) {
            enter = t;
            enter_normal = face->normal;
        } else if (along > 0.0 && t < leave) {
            leave = t;
            leave_normal = face->normal;
        }
        if (enter > leave)
            return false;
    }
    return enter >= 0.0 ? accept(ray, enter, enter_normal, hit) : accept(ray, leave, leave_normal, hit);
}

bool rs_ray_triangle(const rs_ray *ray, rs_vec3 a, rs_vec3 b, rs_vec3 c, double max, double *distance) {
    rs_vec3 e1 = rs_sub(b, a), e2 = rs_sub(c, a);
    rs_vec3 p = rs_cross(ray->direction, e2);
    double det = rs_dot(e1, p);
    if (det == 0.0)
        return false;
    double inverse = 1.0 / det;
    rs_vec3 from = rs_sub(ray->origin, a);
    /* A sliver of tolerance: a ray exactly along a shared edge must hit one of the two triangles. */
    const double slack = -1e-12;
    double u = rs_dot(from, p) * inverse;
    rs_vec3 q = rs_cross(from, e1);
    double v = rs_dot(ray->direction, q) * inverse;
    double t = rs_dot(e2, q) * inverse;
    if (u < slack || v < slack || u + v > 1.0 - slack || t < 0.0 || t > max)
        return false;
    *distance = t;
    return true;
}

bool rs_ray_shape(const rs_shape *shape, const rs_ray *ray, rs_ray_hit *hit) {
    switch (shape->type) {
    case RS_SHAPE_SPHERE:
        return ray_sphere(ray, rs_v3_zero(), shape->radius, hit);
    case RS_SHAPE_BOX:
        return ray_box(ray, shape->half, hit);
    case RS_SHAPE_CYLINDER:
        return ray_cylinder(ray, shape->radius, shape->half_height, hit);
    case RS_SHAPE_CONE:
        return ray_cone(ray, shape, hit);
    case RS_SHAPE_CAPSULE:
        return ray_capsule(ray, shape->radius, shape->half_height, hit);
    case RS_SHAPE_CONVEX:
        return ray_convex(ray, shape->convex, hit);
    case RS_SHAPE_HALF_SPACE:
        return ray_half_space(ray, hit);
    case RS_SHAPE_MESH:
        return rs_ray_mesh(shape->mesh, ray, hit);
    case RS_SHAPE_HEIGHTMAP:
        return rs_ray_heightmap(shape->grid, ray, hit);
    default:
        return false;
    }
}
