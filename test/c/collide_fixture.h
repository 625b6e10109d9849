/* Shapes, poses and checks shared by the collision tests. */
#ifndef RAISIM_TEST_COLLIDE_FIXTURE_H
#define RAISIM_TEST_COLLIDE_FIXTURE_H

#include "../../csrc/collision/narrow_phase.h"
#include "check.h"

static inline rs_shape sphere_of(double radius) { return (rs_shape){.type = RS_SHAPE_SPHERE, .radius = radius}; }
static inline rs_shape box_of(double x, double y, double z)
{
    return (rs_shape){.type = RS_SHAPE_BOX, .half = {0.5 * x, 0.5 * y, 0.5 * z}};
}
static inline rs_shape round_of(rs_shape_type type, double radius, double height)
{
    return (rs_shape){.type = type, .radius = radius, .half_height = 0.5 * height};
}
static inline rs_shape half_space(void) { return (rs_shape){.type = RS_SHAPE_HALF_SPACE}; }

static inline rs_transform at(double x, double y, double z)
{
    return rs_transform_make(rs_v3(x, y, z), rs_quat_identity());
}
/* Turned by the rotation vector (rx, ry, rz) [rad]. */
static inline rs_transform turned(rs_transform pose, double rx, double ry, double rz)
{
    return (rs_transform){rs_quat_to_m3(rs_quat_exp(rs_v3(rx, ry, rz))), pose.pos};
}

static inline rs_collide_settings settings_with(double margin)
{
    return (rs_collide_settings){.margin = margin, .max_points = RS_MAX_MANIFOLD, .gjk_max_iterations = 32,
                                 .gjk_tolerance = 1e-6, .epa_max_iterations = 64, .epa_tolerance = 1e-4};
}

static inline rs_manifold collide(const rs_shape *a, rs_transform ta, const rs_shape *b, rs_transform tb, double margin)
{
    rs_collide_settings settings = settings_with(margin);
    rs_manifold m;
    rs_collide(a, &ta, b, &tb, &settings, &m);
    return m;
}

static inline double least_gap(const rs_manifold *m)
{
    double least = INFINITY;
    for (int i = 0; i < m->count; i++)
        least = fmin(least, m->points[i].gap);
    return least;
}

#define CHECK_VECTOR(v, ex, ey, ez, tolerance)   \
    do {                                         \
        CHECK_NEAR((v).x, (ex), (tolerance));    \
        CHECK_NEAR((v).y, (ey), (tolerance));    \
        CHECK_NEAR((v).z, (ez), (tolerance));    \
    } while (0)

/* The order of the shapes only turns the normals. */
static inline void check_swapped(const rs_shape *a, rs_transform ta, const rs_shape *b, rs_transform tb, double margin)
{
    rs_manifold there = collide(a, ta, b, tb, margin), back = collide(b, tb, a, ta, margin);
    if (!CHECK(there.count == back.count))
        return;
    for (int i = 0; i < there.count; i++) {
        rs_vec3 n = back.points[i].normal;
        CHECK_NEAR(there.points[i].gap, back.points[i].gap, 1e-12);
        CHECK_VECTOR(there.points[i].normal, -n.x, -n.y, -n.z, 1e-12);
    }
}

#endif
