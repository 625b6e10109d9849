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
