#include "shape.h"

#include "../base/memory.h"
#include "convex.h"
#include "height_grid.h"
#include "tri_mesh.h"

static const double PI = 3.14159265358979323846;

bool rs_shape_is_convex(rs_shape_type type) {
    return type >= RS_SHAPE_SPHERE && type <= RS_SHAPE_CONVEX;
}

bool rs_shape_is_smooth(rs_shape_type type) {
    return type == RS_SHAPE_SPHERE || type == RS_SHAPE_CAPSULE || type == RS_SHAPE_HEIGHTMAP;
}

/* ---- dimensions ---- */

/* Largest shape dimension [m]: beyond it double precision no longer resolves a contact. */
static const double MAX_DIMENSION = 1e6;
/* Smallest one [m]: below it directions between its points are lost. */
static const double MIN_DIMENSION = 1e-12;

static rs_status check_dimension(const char *name, double value) {
    if (value >= MIN_DIMENSION && value <= MAX_DIMENSION) return RS_OK;
    return rs_fail(RS_INVALID_VALUE, "%s is %g; expected a number greater than 0 and at most %g%s", name, value,
                   MAX_DIMENSION, value > 0.0 && value < MIN_DIMENSION ? ", not less than 1e-12" : "");
}

/* What the numbers of a primitive are called; a half-space and shapes made of assets have none. */
static const char *const DIMENSIONS[RS_SHAPE_TYPE_COUNT][3] = {
    [RS_SHAPE_SPHERE] = {"radius"},
    [RS_SHAPE_BOX] = {"x length", "y length", "z length"},
    [RS_SHAPE_CYLINDER] = {"radius", "height"},
    [RS_SHAPE_CONE] = {"radius", "height"},
    [RS_SHAPE_CAPSULE] = {"radius", "height"},
};

rs_status rs_shape_check(const rs_shape *shape) {
    bool box = shape->type == RS_SHAPE_BOX;
    const double round[3] = {shape->radius, 2.0 * shape->half_height};
    const double lengths[3] = {2.0 * shape->half.x, 2.0 * shape->half.y, 2.0 * shape->half.z};
    rs_status status = RS_OK;
    for (int k = 0; k < 3 && status == RS_OK && DIMENSIONS[shape->type][k] != NULL; k++)
        status = check_dimension(DIMENSIONS[shape->type][k], box ? lengths[k] : round[k]);
    return status;
}

rs_status rs_shape_make(rs_shape_type type, const double dim[3], rs_shape *out) {
    *out = (rs_shape){.type = type};
    if (type == RS_SHAPE_BOX) {
        out->half = rs_scale(0.5, rs_v3_load(dim));
    } else if (type != RS_SHAPE_HALF_SPACE) {
        out->radius = dim[0];
        out->half_height = type != RS_SHAPE_SPHERE ? 0.5 * dim[1] : 0.0;
    }
    return rs_shape_check(out);
}

/* ---- bounding boxes ---- */

static rs_aabb aabb_around(rs_vec3 center, rs_vec3 reach) {
    return (rs_aabb){rs_sub(center, reach), rs_add(center, reach)};
}

/* Half width of a disc of unit radius along each world axis, when `rot` turns its normal away from z. */
static rs_vec3 disc_reach(const rs_mat3 *rot) {
    const double *m = rot->m;
    return rs_v3(sqrt(m[0] * m[0] + m[1] * m[1]), sqrt(m[3] * m[3] + m[4] * m[4]), sqrt(m[6] * m[6] + m[7] * m[7]));
}

static rs_aabb cone_aabb(const rs_shape *cone, const rs_transform *pose) {
    rs_vec3 axis = rs_m3_col(&pose->rot, 2);
    rs_vec3 apex = rs_madd(pose->pos, rs_cone_apex_z(cone), axis);
    rs_vec3 base = rs_madd(pose->pos, rs_cone_base_z(cone), axis);
    rs_aabb disc = aabb_around(base, rs_scale(cone->radius, disc_reach(&pose->rot)));
    return (rs_aabb){rs_v3_min(disc.min, apex), rs_v3_max(disc.max, apex)};
}

static rs_aabb convex_aabb(const rs_shape *shape, const rs_transform *pose) {
    rs_aabb box;
    for (int i = 0; i < 3; i++) {
        rs_vec3 row = rs_m3_row(&pose->rot, i);
        double offset = rs_v3_get(pose->pos, i);
        rs_v3_set(&box.max, i, offset + rs_dot(row, rs_convex_support(shape->convex, row)));
        rs_v3_set(&box.min, i, offset + rs_dot(row, rs_convex_support(shape->convex, rs_neg(row))));
    }
    return box;
}

/* Bounded on one side only when the surface is exactly perpendicular to a world axis. */
static rs_aabb half_space_aabb(const rs_transform *pose) {
    rs_aabb box = {rs_v3(-INFINITY, -INFINITY, -INFINITY), rs_v3(INFINITY, INFINITY, INFINITY)};
    rs_vec3 normal = rs_m3_col(&pose->rot, 2);
    for (int i = 0; i < 3; i++) {
        if (rs_v3_get(normal, i) == 1.0) rs_v3_set(&box.max, i, rs_v3_get(pose->pos, i));
        if (rs_v3_get(normal, i) == -1.0) rs_v3_set(&box.min, i, rs_v3_get(pose->pos, i));
    }
    return box;
}

static rs_aabb turned_box(rs_vec3 center, const rs_mat3 *rot, rs_vec3 h) {
    const double *m = rot->m;
    return aabb_around(center, rs_v3(fabs(m[0]) * h.x + fabs(m[1]) * h.y + fabs(m[2]) * h.z,
                                     fabs(m[3]) * h.x + fabs(m[4]) * h.y + fabs(m[5]) * h.z,
                                     fabs(m[6]) * h.x + fabs(m[7]) * h.y + fabs(m[8]) * h.z));
}

rs_aabb rs_shape_aabb(const rs_shape *shape, const rs_transform *pose) {
    double r = shape->radius;
    switch (shape->type) {
    case RS_SHAPE_SPHERE:
        return aabb_around(pose->pos, rs_v3(r, r, r));
    case RS_SHAPE_BOX: return turned_box(pose->pos, &pose->rot, shape->half);
    case RS_SHAPE_CAPSULE: {
        rs_vec3 axis = rs_v3_abs(rs_m3_col(&pose->rot, 2));
        return aabb_around(pose->pos, rs_madd(rs_v3(r, r, r), shape->half_height, axis));
    }
    case RS_SHAPE_CYLINDER: {
        rs_vec3 axis = rs_v3_abs(rs_m3_col(&pose->rot, 2));
        return aabb_around(pose->pos, rs_madd(rs_scale(r, disc_reach(&pose->rot)), shape->half_height, axis));
    }
    case RS_SHAPE_CONE: return cone_aabb(shape, pose);
    case RS_SHAPE_CONVEX: return convex_aabb(shape, pose);
    case RS_SHAPE_MESH: return rs_tri_mesh_aabb(shape->mesh, pose);
    case RS_SHAPE_HEIGHTMAP: return rs_height_grid_aabb(shape->grid, pose);
    default: return half_space_aabb(pose);
    }
}

rs_aabb rs_shape_outer_aabb(const rs_shape *shape, const rs_transform *pose) {
    if (shape->type != RS_SHAPE_CONVEX) return rs_shape_aabb(shape, pose);
    return turned_box(rs_transform_point(pose, shape->convex->box_center), &pose->rot, shape->convex->box_half);
}

/* ---- mass ---- */

static rs_sym3 diagonal(double xx, double yy, double zz) { return (rs_sym3){.xx = xx, .yy = yy, .zz = zz}; }

/* A cylinder of length h between two half spheres. */
static void capsule_mass(double r, double h, double *volume, rs_sym3 *unit_inertia) {
    double cylinder = PI * r * r * h, ball = 4.0 / 3.0 * PI * r * r * r;
    double total = cylinder + ball;
    double across = cylinder * (h * h / 12.0 + r * r / 4.0) + ball * (0.4 * r * r + h * h / 4.0 + 0.375 * h * r);
    double along = cylinder * r * r / 2.0 + ball * 0.4 * r * r;
    *volume = total;
    *unit_inertia = diagonal(across / total, across / total, along / total);
}

bool rs_shape_mass_properties(const rs_shape *shape, double *volume, rs_vec3 *centroid, rs_sym3 *unit_inertia) {
    double r = shape->radius, h = 2.0 * shape->half_height;
    *centroid = rs_v3_zero();
    switch (shape->type) {
    case RS_SHAPE_SPHERE:
        *volume = 4.0 / 3.0 * PI * r * r * r;
        *unit_inertia = diagonal(0.4 * r * r, 0.4 * r * r, 0.4 * r * r);
        return true;
    case RS_SHAPE_BOX: {
        double x2 = shape->half.x * shape->half.x, y2 = shape->half.y * shape->half.y, z2 = shape->half.z * shape->half.z;
        *volume = 8.0 * shape->half.x * shape->half.y * shape->half.z;
        *unit_inertia = diagonal((y2 + z2) / 3.0, (x2 + z2) / 3.0, (x2 + y2) / 3.0);
        return true;
    }
    case RS_SHAPE_CYLINDER: {
        double across = r * r / 4.0 + h * h / 12.0;
        *volume = PI * r * r * h;
        *unit_inertia = diagonal(across, across, r * r / 2.0);
        return true;
    }
    case RS_SHAPE_CONE: {
        double across = 3.0 / 20.0 * r * r + 3.0 / 80.0 * h * h;
        *volume = PI * r * r * h / 3.0;
        *unit_inertia = diagonal(across, across, 0.3 * r * r);
        return true;
    }
    case RS_SHAPE_CAPSULE:
        capsule_mass(r, h, volume, unit_inertia);
        return true;
    case RS_SHAPE_CONVEX:
        *volume = shape->convex->volume;
        *centroid = shape->convex->centroid;
        *unit_inertia = shape->convex->unit_inertia;
        return true;
    default:
        return false;
    }
}

/* ---- support points ---- */

/* Point of the circle of radius r about the z axis that lies farthest along d, at height z. */
static rs_vec3 rim_point(double r, double z, rs_vec3 d) {
    double across = sqrt(d.x * d.x + d.y * d.y);
    if (across < 1e-150) return rs_v3(r, 0.0, z);
    return rs_v3(r * d.x / across, r * d.y / across, z);
}

static rs_vec3 cone_support(const rs_shape *cone, rs_vec3 d) {
    rs_vec3 apex = rs_v3(0.0, 0.0, rs_cone_apex_z(cone));
    rs_vec3 rim = rim_point(cone->radius, rs_cone_base_z(cone), d);
    return rs_dot(apex, d) > rs_dot(rim, d) ? apex : rim;
}

rs_vec3 rs_shape_support(const rs_shape *shape, rs_vec3 direction) {
    rs_vec3 d = direction;
    switch (shape->type) {
    case RS_SHAPE_SPHERE: return rs_scale(shape->radius, rs_normalize_or(d, rs_v3(0, 0, 1)));
    case RS_SHAPE_BOX:
        return rs_v3(copysign(shape->half.x, d.x), copysign(shape->half.y, d.y), copysign(shape->half.z, d.z));
    case RS_SHAPE_CYLINDER: return rim_point(shape->radius, copysign(shape->half_height, d.z), d);
    case RS_SHAPE_CONE: return cone_support(shape, d);
    case RS_SHAPE_CAPSULE: {
        rs_vec3 end = rs_v3(0.0, 0.0, copysign(shape->half_height, d.z));
        return rs_madd(end, shape->radius, rs_normalize_or(d, rs_v3(0, 0, 1)));
    }
    case RS_SHAPE_CONVEX: return rs_convex_support(shape->convex, d);
    default: return rs_v3_zero();
    }
}

/* ---- cores ---- */

rs_shape_core rs_shape_core_of(const rs_shape *shape) {
    double r = shape->radius, h = shape->half_height;
    switch (shape->type) {
    case RS_SHAPE_SPHERE: return (rs_shape_core){RS_CORE_POINT, .rounding = r};
    case RS_SHAPE_CAPSULE: return (rs_shape_core){RS_CORE_SEGMENT, .rounding = r, .size = h};
    case RS_SHAPE_BOX: return (rs_shape_core){RS_CORE_BOX, .size = rs_norm(shape->half)};
    case RS_SHAPE_CYLINDER: return (rs_shape_core){RS_CORE_CYLINDER, .size = sqrt(r * r + h * h)};
    case RS_SHAPE_CONE:
        return (rs_shape_core){RS_CORE_CONE, .size = fmax(rs_cone_apex_z(shape), sqrt(r * r + 0.25 * h * h))};
    default: return (rs_shape_core){RS_CORE_HULL, .size = shape->convex->radius, .center = shape->convex->centroid};
    }
}

/* ---- rays, in closed form ---- */

static rs_vec3 at(const rs_ray *ray, double t) { return rs_madd(ray->origin, t, ray->direction); }

/* Keeps the nearer of two hits. */
static void offer(rs_ray_hit *best, bool *found, const rs_ray *ray, double distance, rs_vec3 normal) {
    rs_ray_hit hit;
    if (rs_ray_accept(ray, distance, normal, &hit) && (!*found || hit.distance < best->distance)) {
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
    return rs_ray_accept(ray, t, rs_scale(1.0 / radius, point), hit);
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
    return rs_ray_accept(ray, outside ? enter : leave, normal, hit);
}

static bool ray_half_space(const rs_ray *ray, rs_ray_hit *hit) {
    if (ray->direction.z == 0.0)
        return false;
    return rs_ray_accept(ray, -ray->origin.z / ray->direction.z, rs_v3(0, 0, 1), hit);
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

bool rs_ray_primitive(const rs_shape *shape, const rs_ray *ray, rs_ray_hit *hit) {
    switch (shape->type) {
    case RS_SHAPE_SPHERE: return ray_sphere(ray, rs_v3_zero(), shape->radius, hit);
    case RS_SHAPE_BOX: return ray_box(ray, shape->half, hit);
    case RS_SHAPE_CYLINDER: return ray_cylinder(ray, shape->radius, shape->half_height, hit);
    case RS_SHAPE_CONE: return ray_cone(ray, shape, hit);
    case RS_SHAPE_CAPSULE: return ray_capsule(ray, shape->radius, shape->half_height, hit);
    case RS_SHAPE_HALF_SPACE: return ray_half_space(ray, hit);
    default: return false;
    }
}
