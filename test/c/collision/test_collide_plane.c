/* Every convex shape on the half-space: gaps are heights above the plane, contact counts as a resting body needs. */
#include "../../../csrc/model/convex.h"
#include "../collide_fixture.h"

static const double PI = 3.14159265358979323846;

/* All points on one plane z = 0 with normal +z, positions halfway between surface and plane. */
static void check_level(const rs_manifold *m, int count, double gap)
{
    CHECK(m->count == count);
    for (int i = 0; i < m->count; i++) {
        CHECK_VECTOR(m->points[i].normal, 0, 0, 1, 1e-15);
        CHECK_NEAR(m->points[i].gap, gap, 1e-12);
        CHECK_NEAR(m->points[i].position.z, 0.5 * gap, 1e-12);
    }
}

static rs_vec3 mean_position(const rs_manifold *m)
{
    rs_vec3 sum = rs_v3_zero();
    for (int i = 0; i < m->count; i++)
        sum = rs_madd(sum, 1.0 / m->count, m->points[i].position);
    return sum;
}

static void sphere_and_capsule_touch_below_their_centres(void)
{
    rs_shape g = half_space(), s = sphere_of(0.5), c = round_of(RS_SHAPE_CAPSULE, 0.2, 1.0);
    rs_manifold m = collide(&s, at(1, 2, 0.45), &g, at(0, 0, 0), 0);
    check_level(&m, 1, -0.05);
    CHECK_VECTOR(m.points[0].position, 1, 2, -0.025, 1e-15);
    m = collide(&c, turned(at(0, 0, 0.19), 0.5 * PI, 0, 0), &g, at(0, 0, 0), 0);
    check_level(&m, 2, -0.01);
    CHECK_NEAR(fabs(m.points[0].position.y - m.points[1].position.y), 1.0, 1e-12);
    m = collide(&c, at(0, 0, 0.69), &g, at(0, 0, 0), 0);
    check_level(&m, 1, -0.01);
}

static void box_rests_on_four_corners_or_an_edge(void)
{
    rs_shape g = half_space(), b = box_of(1.0, 2.0, 3.0);
    rs_manifold m = collide(&b, at(0, 0, 1.5 + 1e-6), &g, at(0, 0, 0), 1e-5);
    check_level(&m, 4, 1e-6);
    rs_vec3 mean = mean_position(&m);
    CHECK_VECTOR(mean, 0, 0, 5e-7, 1e-12);
    /* lying on the x face, then balanced on the edge along x between the y and z faces */
    m = collide(&b, turned(at(0, 0, 0.49), 0, 0.5 * PI, 0), &g, at(0, 0, 0), 0);
    check_level(&m, 4, -0.01);
    double tip = atan2(2.0, 3.0); /* corner under the centre */
    m = collide(&b, turned(at(0, 0, 0.5 * sqrt(13.0) - 0.01), tip, 0, 0), &g, at(0, 0, 0), 0);
    check_level(&m, 2, -0.01);
    CHECK_NEAR(fabs(m.points[0].position.x - m.points[1].position.x), 1.0, 1e-12);
}

static void cylinder_stands_on_four_points_and_lies_on_two(void)
{
    rs_shape g = half_space(), c = round_of(RS_SHAPE_CYLINDER, 0.3, 1.0);
    rs_manifold m = collide(&c, at(2, 0, 0.499), &g, at(0, 0, 0), 0);
    check_level(&m, 4, -0.001);
    rs_vec3 mean = mean_position(&m);
    CHECK_VECTOR(mean, 2, 0, -0.0005, 1e-12);
    m = collide(&c, turned(at(2, 0, 0.299), 0, 0.5 * PI, 0), &g, at(0, 0, 0), 0);
    check_level(&m, 2, -0.001);
    /* leaning: the lowest point of the rim alone */
    double lean = 0.4, height = 0.5 * cos(lean) + 0.3 * sin(lean);
    m = collide(&c, turned(at(0, 0, height - 0.01), 0, lean, 0), &g, at(0, 0, 0), 0);
    check_level(&m, 1, -0.01);
    CHECK_NEAR(m.points[0].position.x, 0.3 * cos(lean) - 0.5 * sin(lean), 1e-12);
}

static void cone_stands_on_four_points_lies_on_two_and_balances_on_one(void)
{
    rs_shape g = half_space(), c = round_of(RS_SHAPE_CONE, 0.3, 0.4);
    rs_manifold m = collide(&c, at(0, 0, 0.099), &g, at(0, 0, 0), 0);
    check_level(&m, 4, -0.001);
    m = collide(&c, turned(at(0, 0, 0.299), PI, 0, 0), &g, at(0, 0, 0), 0);
    check_level(&m, 1, -0.001);
    /* on its side: the normal (0.8, 0.6) of the side turned downwards; the centroid 0.3 below the apex along the axis */
    m = collide(&c, turned(at(0, 0, 0.18 - 0.001), 0, PI - acos(0.6), 0), &g, at(0, 0, 0), 0);
    check_level(&m, 2, -0.001);
    CHECK_NEAR(rs_norm(rs_sub(m.points[0].position, m.points[1].position)), 0.5, 1e-12);
}

static void hull_rests_on_the_corners_of_its_face(void)
{
    /* a six-sided prism */
    double xyz[36];
    for (int i = 0; i < 12; i++)
        rs_v3_store(&xyz[3 * i], rs_v3(cos(PI / 3 * i), sin(PI / 3 * i), i < 6 ? 0.0 : 0.5));
    rs_convex *hull;
    if (!CHECK(rs_convex_new(12, xyz, &hull) == RS_OK))
        return;
    rs_shape g = half_space(), h = {.type = RS_SHAPE_CONVEX, .convex = hull};
    rs_manifold m = collide(&h, at(0, 0, -0.02), &g, at(0, 0, 0), 0);
    check_level(&m, 6, -0.02);
    rs_transform up = at(0, 0, -0.02), plane = at(0, 0, 0);
    rs_collide_settings few = settings_with(0);
    few.max_points = 3;
    rs_collide(&h, &up, &g, &plane, &few, &m);
    check_level(&m, 3, -0.02);
    rs_vec3 area = rs_cross(rs_sub(m.points[1].position, m.points[0].position),
                            rs_sub(m.points[2].position, m.points[0].position));
    CHECK(0.5 * rs_norm(area) > 0.8); /* the largest triangle in the hexagon has 1.3, the smallest 0.43 */
    CHECK(collide(&h, at(0, 0, 0.001), &g, at(0, 0, 0), 0).count == 0);
    rs_convex_free(hull);
}

/* A tilted plane far from the origin; the heights of all points must come out of the plane's equation. */
static void tilted_planes_measure_along_their_normal(void)
{
    rs_shape shapes[4] = {sphere_of(0.4), box_of(0.5, 0.7, 0.9), round_of(RS_SHAPE_CYLINDER, 0.4, 0.9),
                          round_of(RS_SHAPE_CONE, 0.4, 0.9)};
    rs_shape g = half_space();
    rs_transform plane = turned(at(30, -20, 10), 0.9, 0.2, -0.5);
    rs_vec3 n = rs_m3_col(&plane.rot, 2);
    for (int i = 0; i < 4; i++) {
        rs_transform pose = turned(at(0, 0, 0), 1.1, -0.3, 2.0);
        rs_vec3 low = rs_transform_point(&pose, rs_shape_support(&shapes[i], rs_m3_tmulv(&pose.rot, rs_neg(n))));
        /* shift so that the lowest point is 3 cm deep */
        pose.pos = rs_sub(rs_madd(plane.pos, -0.03, n), low);
        rs_manifold m = collide(&shapes[i], pose, &g, plane, 0);
        CHECK_NEAR(least_gap(&m), -0.03, 1e-12);
        check_swapped(&shapes[i], pose, &g, plane, 0);
    }
}

int main(void)
{
    RUN(sphere_and_capsule_touch_below_their_centres);
    RUN(box_rests_on_four_corners_or_an_edge);
    RUN(cylinder_stands_on_four_points_and_lies_on_two);
    RUN(cone_stands_on_four_points_lies_on_two_and_balances_on_one);
    RUN(hull_rests_on_the_corners_of_its_face);
    RUN(tilted_planes_measure_along_their_normal);
    return CHECK_RESULT();
}
