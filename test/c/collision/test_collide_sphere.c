/* A sphere against each primitive: closed forms. */
#include "../collide_fixture.h"

static void check_single(rs_manifold m, rs_vec3 normal, double gap, rs_vec3 position)
{
    if (!CHECK(m.count == 1))
        return;
    CHECK_VECTOR(m.points[0].normal, normal.x, normal.y, normal.z, 1e-12);
    CHECK_NEAR(m.points[0].gap, gap, 1e-12);
    CHECK_VECTOR(m.points[0].position, position.x, position.y, position.z, 1e-12);
}

static void two_spheres(void)
{
    rs_shape a = sphere_of(0.5), b = sphere_of(0.25);
    check_single(collide(&a, at(1.6, 2.8, 1), &b, at(1, 2, 1), 0.5), rs_v3(0.6, 0.8, 0), 0.25, rs_v3(1.225, 2.3, 1));
    check_single(collide(&a, at(0, 0, 0.6), &b, at(0, 0, 0), 0), rs_v3(0, 0, 1), -0.15, rs_v3(0, 0, 0.175));
    CHECK(collide(&a, at(0, 0, 0.75), &b, at(0, 0, 0), 0).count == 0); /* touching is no overlap */
    rs_manifold concentric = collide(&a, at(3, 3, 3), &b, at(3, 3, 3), 0);
    CHECK(concentric.count == 1);
    CHECK_NEAR(concentric.points[0].gap, -0.75, 1e-15);
    CHECK_NEAR(rs_norm(concentric.points[0].normal), 1.0, 1e-15);
}

static void sphere_on_each_part_of_a_box(void)
{
    rs_shape s = sphere_of(0.5), b = box_of(2, 4, 6);
    check_single(collide(&s, at(1.4, 0.3, 0.7), &b, at(0, 0, 0), 0), rs_v3(1, 0, 0), -0.1, rs_v3(0.95, 0.3, 0.7));
    /* edge at (1, 2): the centre 0.3, 0.4 away */
    check_single(collide(&s, at(1.3, 2.4, -1), &b, at(0, 0, 0), 0.1), rs_v3(0.6, 0.8, 0), 0.0, rs_v3(1, 2, -1));
    double c = 1.0 / sqrt(3.0); /* corner */
    check_single(collide(&s, at(1.1, 2.1, 3.1), &b, at(0, 0, 0), 0), rs_v3(c, c, c), 0.1 * sqrt(3.0) - 0.5,
                 rs_v3(1 + c * (0.1 * sqrt(3.0) - 0.5) / 2, 2 + c * (0.1 * sqrt(3.0) - 0.5) / 2,
                       3 + c * (0.1 * sqrt(3.0) - 0.5) / 2));
    /* inside, nearest to the face y = -2 */
    check_single(collide(&s, at(0.2, -1.7, 0.5), &b, at(0, 0, 0), 0), rs_v3(0, -1, 0), -0.8, rs_v3(0.2, -1.6, 0.5));
    /* exactly on the surface */
    check_single(collide(&s, at(0, 0, 3), &b, at(0, 0, 0), 0), rs_v3(0, 0, 1), -0.5, rs_v3(0, 0, 2.75));
}

static void sphere_on_each_part_of_a_cylinder(void)
{
    rs_shape s = sphere_of(0.5), c = round_of(RS_SHAPE_CYLINDER, 1.0, 4.0);
    check_single(collide(&s, at(0.84, 1.12, 0.5), &c, at(0, 0, 0), 0), rs_v3(0.6, 0.8, 0), -0.1, rs_v3(0.57, 0.76, 0.5));
    check_single(collide(&s, at(0.3, 0, -2.4), &c, at(0, 0, 0), 0), rs_v3(0, 0, -1), -0.1, rs_v3(0.3, 0, -1.95));
    check_single(collide(&s, at(1.3, 0, 2.4), &c, at(0, 0, 0), 0.1), rs_v3(0.6, 0, 0.8), 0.0, rs_v3(1, 0, 2));
    check_single(collide(&s, at(0, 0.9, 1.0), &c, at(0, 0, 0), 0), rs_v3(0, 1, 0), -0.6, rs_v3(0, 0.7, 1.0));
    check_single(collide(&s, at(0.1, 0, 1.8), &c, at(0, 0, 0), 0), rs_v3(0, 0, 1), -0.7, rs_v3(0.1, 0, 1.65));
    rs_manifold on_axis = collide(&s, at(0, 0, 0), &c, at(0, 0, 0), 0);
    CHECK_NEAR(on_axis.points[0].gap, -1.5, 1e-15);
    CHECK_NEAR(on_axis.points[0].normal.z, 0.0, 1e-15);
}

/* Radius 3, height 4: the side falls 4 over 3, its normal is (0.8, 0.6). The base lies at z = -1, the apex at 3. */
static void sphere_on_each_part_of_a_cone(void)
{
    rs_shape s = sphere_of(0.5), c = round_of(RS_SHAPE_CONE, 3.0, 4.0);
    rs_vec3 on_side = rs_v3(1.5, 0, 1), n = rs_v3(0.8, 0, 0.6);
    rs_vec3 above = rs_madd(on_side, 0.4, n), inside = rs_madd(on_side, -0.3, n);
    check_single(collide(&s, at(above.x, 0, above.z), &c, at(0, 0, 0), 0), n, -0.1, rs_madd(on_side, -0.05, n));
    check_single(collide(&s, at(inside.x, 0, inside.z), &c, at(0, 0, 0), 0), n, -0.8, rs_madd(on_side, -0.4, n));
    check_single(collide(&s, at(0, 0, 3.3), &c, at(0, 0, 0), 0), rs_v3(0, 0, 1), -0.2, rs_v3(0, 0, 2.9));
    check_single(collide(&s, at(1, 1, -1.4), &c, at(0, 0, 0), 0), rs_v3(0, 0, -1), -0.1, rs_v3(1, 1, -0.95));
    check_single(collide(&s, at(1, 0, -0.9), &c, at(0, 0, 0), 0), rs_v3(0, 0, -1), -0.6, rs_v3(1, 0, -0.7));
    check_single(collide(&s, at(3.3, 0, -1.4), &c, at(0, 0, 0), 0.1), rs_v3(0.6, 0, -0.8), 0.0, rs_v3(3, 0, -1));
}

static void sphere_along_a_capsule(void)
{
    rs_shape s = sphere_of(0.5), c = round_of(RS_SHAPE_CAPSULE, 0.25, 2.0);
    check_single(collide(&s, at(0, 0.7, 0.4), &c, at(0, 0, 0), 0), rs_v3(0, 1, 0), -0.05, rs_v3(0, 0.225, 0.4));
    check_single(collide(&s, at(0.36, 0, 1.48), &c, at(0, 0, 0), 0), rs_v3(0.6, 0, 0.8), -0.15, rs_v3(0.105, 0, 1.14));
    rs_manifold m = collide(&s, at(0, 0, 0.3), &c, at(0, 0, 0), 0); /* on the axis: out sideways */
    CHECK_NEAR(m.points[0].gap, -0.75, 1e-15);
    CHECK_NEAR(m.points[0].normal.z, 0.0, 1e-15);
}

static void poses_of_both_shapes_count(void)
{
    rs_shape s = sphere_of(0.5), b = box_of(2, 4, 6);
    rs_transform tb = turned(at(5, -1, 2), 0.3, -0.8, 1.7);
    rs_transform ts = at(0, 0, 0);
    ts.pos = rs_transform_point(&tb, rs_v3(1.4, 0.3, 0.7));
    rs_vec3 n = rs_m3_col(&tb.rot, 0);
    check_single(collide(&s, ts, &b, tb, 0), n, -0.1, rs_transform_point(&tb, rs_v3(0.95, 0.3, 0.7)));
    check_swapped(&s, ts, &b, tb, 0);
}

int main(void)
{
    RUN(two_spheres);
    RUN(sphere_on_each_part_of_a_box);
    RUN(sphere_on_each_part_of_a_cylinder);
    RUN(sphere_on_each_part_of_a_cone);
    RUN(sphere_along_a_capsule);
    RUN(poses_of_both_shapes_count);
    return CHECK_RESULT();
}
