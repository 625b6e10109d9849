/* Box on box: faces, edges, corners, and the cases in between. */
#include "../collide_fixture.h"

static const double PI = 3.14159265358979323846;

static void stacked_boxes_share_the_corners_of_the_smaller_face(void)
{
    rs_shape a = box_of(1, 2, 1), b = box_of(4, 4, 1);
    rs_manifold m = collide(&a, at(0.5, 0, 0.99), &b, at(0, 0, 0), 0);
    CHECK(m.count == 4);
    for (int i = 0; i < m.count; i++) {
        CHECK_VECTOR(m.points[i].normal, 0, 0, 1, 1e-15);
        CHECK_NEAR(m.points[i].gap, -0.01, 1e-15);
        CHECK_NEAR(m.points[i].position.z, 0.495, 1e-15);
        CHECK_NEAR(fabs(m.points[i].position.x - 0.5), 0.5, 1e-15);
        CHECK_NEAR(fabs(m.points[i].position.y), 1.0, 1e-15);
    }
    check_swapped(&a, at(0.5, 0, 0.99), &b, at(0, 0, 0), 0);
}

static void overhanging_boxes_share_the_overlap(void)
{
    rs_shape a = box_of(2, 2, 2);
    rs_manifold m = collide(&a, at(1.5, 0, 1.98), &a, at(0, 0, 0), 0);
    CHECK(m.count == 4);
    for (int i = 0; i < m.count; i++)
        CHECK(m.points[i].position.x > 0.5 - 1e-12 && m.points[i].position.x < 1.0 + 1e-12);
}

static void turned_boxes_share_an_octagon(void)
{
    rs_shape a = box_of(2, 2, 2);
    rs_manifold m = collide(&a, turned(at(0, 0, 1.98), 0, 0, 0.25 * PI), &a, at(0, 0, 0), 0);
    CHECK(m.count == 8);
    for (int i = 0; i < m.count; i++) {
        rs_vec3 p = m.points[i].position;
        CHECK_NEAR(fmax(fabs(p.x), fabs(p.y)), 1.0, 1e-12);
        CHECK_NEAR(fmin(fabs(p.x), fabs(p.y)), sqrt(2.0) - 1.0, 1e-12);
        for (int j = 0; j < i; j++)
            CHECK(m.points[i].feature != m.points[j].feature);
    }
}

static void features_persist_under_a_small_motion(void)
{
    rs_shape a = box_of(2, 2, 2);
    rs_manifold before = collide(&a, turned(at(0.3, 0.2, 1.98), 0.001, -0.002, 0.2), &a, at(0, 0, 0), 1e-2);
    rs_manifold after = collide(&a, turned(at(0.301, 0.2, 1.98), 0.002, -0.001, 0.202), &a, at(0, 0, 0), 1e-2);
    if (!CHECK(before.count == after.count && before.count > 3))
        return;
    for (int i = 0; i < before.count; i++)
        CHECK(before.points[i].feature == after.points[i].feature);
}

/* Two edges at right angles, both boxes turned by 45 degrees: the closest points are the middles of the edges. */
static void crossing_edges_meet_in_one_point(void)
{
    rs_shape a = box_of(2, 2, 2);
    double r = sqrt(2.0), depth = 0.05;
    rs_transform upper = turned(at(0.1, -0.2, 2 * r - depth), 0.25 * PI, 0, 0), lower = turned(at(0, 0, 0), 0, 0.25 * PI, 0);
    rs_manifold m = collide(&a, upper, &a, lower, 0);
    CHECK_NEAR(least_gap(&m), -depth, 1e-12);
    for (int i = 0; i < m.count; i++) {
        CHECK_VECTOR(m.points[i].normal, 0, 0, 1, 1e-12);
        if (m.points[i].gap < -depth + 1e-9)
            CHECK_VECTOR(m.points[i].position, 0, -0.2, r - 0.5 * depth, 1e-9);
    }
    check_swapped(&a, upper, &a, lower, 0);
}

static void a_corner_points_at_a_face(void)
{
    rs_shape a = box_of(1, 1, 1), b = box_of(4, 4, 1);
    /* the diagonal of the cube upright */
    rs_transform pose = turned(at(0.3, 0.4, 0.5 + 0.5 * sqrt(3.0) - 0.02), 0, 0, 0);
    rs_quat q = rs_quat_exp(rs_scale(acos(1.0 / sqrt(3.0)), rs_v3(sqrt(0.5), -sqrt(0.5), 0)));
    pose.rot = rs_quat_to_m3(q);
    rs_manifold m = collide(&a, pose, &b, at(0, 0, 0), 0);
    if (!CHECK(m.count == 1))
        return;
    CHECK_VECTOR(m.points[0].normal, 0, 0, 1, 1e-12);
    CHECK_NEAR(m.points[0].gap, -0.02, 1e-12);
    CHECK_VECTOR(m.points[0].position, 0.3, 0.4, 0.49, 1e-12);
}

/* Apart, with a margin: true distances, not separations along an axis. */
static void distances_of_separated_boxes(void)
{
    rs_shape a = box_of(1, 1, 1);
    rs_manifold m = collide(&a, at(0, 0, 1.25), &a, at(0, 0, 0), 0.5); /* face to face */
    CHECK(m.count == 4);
    CHECK_NEAR(least_gap(&m), 0.25, 1e-12);
    m = collide(&a, at(1.3, 0, 1.4), &a, at(0, 0, 0), 0.6); /* edge to edge: 0.3, 0.4 */
    CHECK_NEAR(least_gap(&m), 0.5, 1e-9);
    CHECK_VECTOR(m.points[0].normal, 0.6, 0, 0.8, 1e-9);
    m = collide(&a, at(1.1, 1.2, 1.2), &a, at(0, 0, 0), 0.6); /* corner to corner: 0.1, 0.2, 0.2 */
    CHECK_NEAR(least_gap(&m), 0.3, 1e-9);
    CHECK_VECTOR(m.points[0].normal, 1.0 / 3, 2.0 / 3, 2.0 / 3, 1e-9);
    CHECK(collide(&a, at(1.3, 0, 1.4), &a, at(0, 0, 0), 0.4999).count == 0);
}

static void concentric_boxes_leave_by_the_shortest_way(void)
{
    rs_shape a = box_of(1, 3, 2), b = box_of(2, 2, 2);
    rs_manifold m = collide(&a, at(7, 7, 7), &b, at(7, 7, 7), 0);
    CHECK(m.count > 0);
    CHECK_NEAR(least_gap(&m), -1.5, 1e-12);
    CHECK_NEAR(fabs(m.points[0].normal.x), 1.0, 1e-12);
}

/* A slightly tilted box on another: the four corners, each with its own height. */
static void tilted_faces_keep_all_corners_within_the_margin(void)
{
    rs_shape a = box_of(1, 1, 1), b = box_of(4, 4, 1);
    double tilt = 1e-3;
    rs_manifold m = collide(&a, turned(at(0, 0, 1.0), 0, tilt, 0), &b, at(0, 0, 0), 1e-2);
    if (!CHECK(m.count == 4))
        return;
    for (int i = 0; i < 4; i++) {
        double x = m.points[i].position.x;
        CHECK_NEAR(m.points[i].gap, 0.5 - 0.5 * cos(tilt) + (x > 0 ? -0.5 : 0.5) * sin(tilt), 1e-9);
    }
}

/* The same corners whatever the sizes: everything scales. */
static void sizes_from_millimetres_to_kilometres(void)
{
    for (double size = 1e-3; size < 2e3; size *= 10.0) {
        rs_shape a = box_of(size, 2 * size, size), b = box_of(4 * size, 4 * size, size);
        rs_manifold m = collide(&a, turned(at(0, 0, 0.99 * size), 0, 0, 0.3), &b, at(0, 0, 0), 0);
        CHECK(m.count == 4);
        CHECK_NEAR(least_gap(&m) / size, -0.01, 1e-12);
    }
}

int main(void)
{
    RUN(stacked_boxes_share_the_corners_of_the_smaller_face);
    RUN(overhanging_boxes_share_the_overlap);
    RUN(turned_boxes_share_an_octagon);
    RUN(features_persist_under_a_small_motion);
    RUN(crossing_edges_meet_in_one_point);
    RUN(a_corner_points_at_a_face);
    RUN(distances_of_separated_boxes);
    RUN(concentric_boxes_leave_by_the_shortest_way);
    RUN(tilted_faces_keep_all_corners_within_the_margin);
    RUN(sizes_from_millimetres_to_kilometres);
    return CHECK_RESULT();
}
