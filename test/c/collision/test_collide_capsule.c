/* Capsules: segments in closed form. */
#include "../collide_fixture.h"

static const double PI = 3.14159265358979323846;

static void crossing_capsules_meet_in_one_point(void)
{
    rs_shape a = round_of(RS_SHAPE_CAPSULE, 0.2, 2.0), b = round_of(RS_SHAPE_CAPSULE, 0.3, 4.0);
    rs_transform lying_x = turned(at(0.1, 0.3, 0.45), 0, 0.5 * PI, 0), lying_y = turned(at(0, 0, 0), 0.5 * PI, 0, 0);
    rs_manifold m = collide(&a, lying_x, &b, lying_y, 0);
    if (!CHECK(m.count == 1))
        return;
    CHECK_VECTOR(m.points[0].normal, 0, 0, 1, 1e-12);
    CHECK_NEAR(m.points[0].gap, -0.05, 1e-12);
    CHECK_VECTOR(m.points[0].position, 0, 0.3, 0.275, 1e-12);
    check_swapped(&a, lying_x, &b, lying_y, 0);
}

static void parallel_capsules_touch_along_their_overlap(void)
{
    rs_shape a = round_of(RS_SHAPE_CAPSULE, 0.2, 2.0), b = round_of(RS_SHAPE_CAPSULE, 0.3, 4.0);
    rs_manifold m = collide(&a, at(0.3, 0.36, 2.5), &b, at(0, 0, 0), 0); /* a spans z 1.5 .. 3.5, b ends at 2 */
    if (!CHECK(m.count == 2))
        return;
    double distance = sqrt(0.3 * 0.3 + 0.36 * 0.36);
    for (int i = 0; i < 2; i++) {
        CHECK_NEAR(m.points[i].gap, distance - 0.5, 1e-12);
        CHECK_VECTOR(m.points[i].normal, 0.3 / distance, 0.36 / distance, 0, 1e-12);
    }
    CHECK_NEAR(fmin(m.points[0].position.z, m.points[1].position.z), 1.5, 1e-12);
    CHECK_NEAR(fmax(m.points[0].position.z, m.points[1].position.z), 2.0, 1e-12);
}

static void capsules_end_to_end_meet_like_spheres(void)
{
    rs_shape a = round_of(RS_SHAPE_CAPSULE, 0.2, 2.0), b = round_of(RS_SHAPE_CAPSULE, 0.3, 4.0);
    rs_manifold m = collide(&a, at(0.12, 0.24, 3.24), &b, at(0, 0, 0), 0); /* end of a: 0.12, 0.24, 0.24 from that of b */
    if (!CHECK(m.count == 1))
        return;
    CHECK_NEAR(m.points[0].gap, 0.36 - 0.5, 1e-12);
    CHECK_VECTOR(m.points[0].normal, 1.0 / 3, 2.0 / 3, 2.0 / 3, 1e-12);
}

static void axes_that_meet_leave_across_both(void)
{
    rs_shape a = round_of(RS_SHAPE_CAPSULE, 0.2, 2.0), b = round_of(RS_SHAPE_CAPSULE, 0.3, 4.0);
    rs_manifold m = collide(&a, turned(at(0, 0, 0.5), 0, 0.5 * PI, 0), &b, at(0, 0, 0), 0); /* x axis through z axis */
    CHECK_NEAR(least_gap(&m), -0.5, 1e-12);
    CHECK_NEAR(fabs(m.points[0].normal.y), 1.0, 1e-12);
    m = collide(&a, at(0, 0, 0.5), &b, at(0, 0, 0), 0); /* the same line */
    CHECK_NEAR(least_gap(&m), -0.5, 1e-12);
    CHECK_NEAR(m.points[0].normal.z, 0.0, 1e-12);
}

static void capsule_lies_on_a_box_on_two_points(void)
{
    rs_shape box = box_of(2, 3, 1), c = round_of(RS_SHAPE_CAPSULE, 0.25, 2.0);
    rs_transform lying = turned(at(0.5, 0.2, 0.74), 0, 0.5 * PI, 0); /* spans x -0.5 .. 1.5; the box ends at 1 */
    rs_manifold m = collide(&c, lying, &box, at(0, 0, 0), 0);
    if (!CHECK(m.count == 2))
        return;
    for (int i = 0; i < 2; i++) {
        CHECK_VECTOR(m.points[i].normal, 0, 0, 1, 1e-12);
        CHECK_NEAR(m.points[i].gap, -0.01, 1e-12);
        CHECK_NEAR(m.points[i].position.z, 0.495, 1e-12);
    }
    CHECK_NEAR(fmin(m.points[0].position.x, m.points[1].position.x), -0.5, 1e-12);
    CHECK_NEAR(fmax(m.points[0].position.x, m.points[1].position.x), 1.0, 1e-12);
    check_swapped(&c, lying, &box, at(0, 0, 0), 0);
}

static void capsule_beside_an_edge_of_a_box(void)
{
    rs_shape box = box_of(2, 2, 2), c = round_of(RS_SHAPE_CAPSULE, 0.5, 6.0);
    /* axis along y through (1.3, 1.4): 0.5 from the edge at x = z = 1 */
    rs_manifold m = collide(&c, turned(at(1.3, 0, 1.36), 0.5 * PI, 0, 0), &box, at(0, 0, 0), 0);
    double distance = sqrt(0.3 * 0.3 + 0.36 * 0.36);
    CHECK_NEAR(least_gap(&m), distance - 0.5, 1e-12);
    CHECK(m.count == 2);
    CHECK_VECTOR(m.points[0].normal, 0.3 / distance, 0, 0.36 / distance, 1e-12);
    /* a slanted axis passes the same edge crosswise */
    rs_transform slanted = turned(at(1.3, 0.2, 1.3), 0, 0.75 * PI, 0); /* direction (1, 0, -1)/sqrt 2 */
    m = collide(&c, slanted, &box, at(0, 0, 0), 0);
    CHECK_NEAR(least_gap(&m), 0.3 * sqrt(2.0) - 0.5, 1e-12);
    CHECK_VECTOR(m.points[0].normal, sqrt(0.5), 0, sqrt(0.5), 1e-12);
}

static void axis_through_a_box_leaves_by_the_shortest_way(void)
{
    rs_shape box = box_of(2, 4, 6), c = round_of(RS_SHAPE_CAPSULE, 0.25, 1.0);
    rs_manifold m = collide(&c, at(0.7, 0, 0), &box, at(0, 0, 0), 0); /* upright, 0.3 inside the face x = 1 */
    CHECK_NEAR(least_gap(&m), -0.55, 1e-12);
    CHECK_VECTOR(m.points[0].normal, 1, 0, 0, 1e-12);
    m = collide(&c, at(0, 0, 0), &box, at(0, 0, 0), 0);
    CHECK_NEAR(least_gap(&m), -1.25, 1e-12);
}

int main(void)
{
    RUN(crossing_capsules_meet_in_one_point);
    RUN(parallel_capsules_touch_along_their_overlap);
    RUN(capsules_end_to_end_meet_like_spheres);
    RUN(axes_that_meet_leave_across_both);
    RUN(capsule_lies_on_a_box_on_two_points);
    RUN(capsule_beside_an_edge_of_a_box);
    RUN(axis_through_a_box_leaves_by_the_shortest_way);
    return CHECK_RESULT();
}
