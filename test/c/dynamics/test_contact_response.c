/* Entries of contacts and joints of articulated systems against the plain Jacobian and the plain solve. */
#include "../../../csrc/dynamics/contact_response.h"
#include "../articulation_fixture.h"

static const rs_vec3 frame[3] = {{0.6, 0.8, 0.0}, {0.0, 0.0, 1.0}, {0.8, -0.6, 0.0}};

enum { ROOM = 64 };

/* A tree in motion, factorised with uneven weights. */
static rs_articulation *factorised_tree(bool floating)
{
    rs_articulation *a = mixed_tree(floating);
    for (int32_t k = 0; k < a->u_count; k++)
        a->damping[k] = 0.3 + 0.1 * (k % 3);
    rs_articulated_begin(a, 0.01);
    rs_articulated_free_velocity(a, rs_v3(0, 0, -9.81), 0.01);
    return a;
}

/* Adds the plain Jacobian of a point, projected to one of its axes. */
static void add_jacobian(const rs_articulation *a, const rs_row_point *at, int axis, double *out)
{
    rs_jacobian_column columns[ROOM];
    int32_t count = rs_jacobian(a, at->link, at->point, columns);
    for (int32_t k = 0; k < count; k++)
        out[columns[k].index] += rs_dot(at->axes[axis], at->turns ? columns[k].angular : columns[k].linear);
}

/* Entries against a row of the Jacobian: what an impulse does, and how fast the axis moves with any velocity. */
static void check_entries(rs_articulation *a, const rs_row_entry *entries, int32_t count, int axis, const double *row)
{
    double expected[ROOM], spread[ROOM] = {0}, reduced[ROOM], speed = 0.0, expected_speed = 0.0;
    rs_aba_solve(a, row, expected);
    for (int32_t k = 0; k < a->u_count; k++)
        reduced[k] = cos(1.7 * k + 0.3);
    for (int32_t k = 0; k < count; k++) {
        spread[entries[k].index] = rs_v3_get(entries[k].response, axis);
        speed += rs_v3_get(entries[k].jacobian.xyz, axis) * reduced[entries[k].index];
        CHECK(entries[k].jacobian.rest == 0.0);
    }
    rs_aba_spread(a, spread);
    rs_aba_spread(a, reduced);
    for (int32_t k = 0; k < a->u_count; k++) {
        CHECK_NEAR(spread[k], expected[k], 1e-10 * (1.0 + fabs(expected[k])));
        expected_speed += row[k] * reduced[k];
    }
    CHECK_NEAR(speed, expected_speed, 1e-10);
}

static rs_row_point some_point(const rs_articulation *a, int32_t link, double sign, bool turns)
{
    rs_vec3 arm = rs_v3(0.1 * sign, -0.2, 0.3);
    return (rs_row_point){link, rs_add(a->motion[link].pos, arm),
                          {rs_scale(sign, frame[0]), rs_scale(sign, frame[1]), rs_scale(sign, frame[2])}, turns};
}

static void check_points(bool floating, bool turns)
{
    rs_articulation *a = factorised_tree(floating);
    rs_row_entry entries[ROOM];
    for (int32_t i = 0; i < a->link_count; i++)
        for (int32_t j = 0; j < a->link_count; j++) {
            rs_row_point points[2] = {some_point(a, i, 1.0, turns), some_point(a, j, -1.0, turns)};
            int32_t points_used = i == j ? 1 : 2, count = rs_point_response(a, points, points_used, entries);
            CHECK(count <= a->u_count);
            for (int axis = 0; axis < 3; axis++) {
                double row[ROOM] = {0};
                for (int32_t s = 0; s < points_used; s++)
                    add_jacobian(a, &points[s], axis, row);
                check_entries(a, entries, count, axis, row);
            }
        }
    rs_articulation_free(a);
}

static void impulses_on_one_or_two_links_act_as_their_jacobians_say(void)
{
    for (int k = 0; k < 4; k++)
        check_points(k % 2 > 0, k / 2 > 0);
}

/* A torque and its row of the plain Jacobian. */
static rs_joint_torque some_torque(const rs_articulation *a, int32_t link, rs_vec3 along, double *row)
{
    for (int32_t k = 0; k < a->links[link].u_count; k++)
        row[a->links[link].u_first + k] += rs_v3_get(along, k);
    return (rs_joint_torque){link, along};
}

static void check_joints(bool floating)
{
    rs_articulation *a = factorised_tree(floating);
    rs_row_entry entries[ROOM];
    for (int32_t i = 1; i < a->link_count; i++)
        for (int32_t j = 1; j < a->link_count; j++) {
            double row[ROOM] = {0};
            rs_joint_torque torques[2] = {some_torque(a, i, rs_v3(-0.6, 0.64, 0.48), row), {0}};
            if (i != j)
                torques[1] = some_torque(a, j, rs_v3(0.3, -2.0, 0.1), row);
            int32_t count = rs_torque_response(a, torques, i == j ? 1 : 2, entries);
            CHECK(count <= a->u_count);
            check_entries(a, entries, count, 2, row);
        }
    rs_articulation_free(a);
}

static void impulses_in_one_or_two_joints_act_on_them_alone(void)
{
    check_joints(false);
    check_joints(true);
}

static void solved_impulses_enter_the_velocity(void)
{
    rs_articulation *a = factorised_tree(true);
    rs_row_point at = some_point(a, 3, 1.0, false);
    rs_row_entry entries[ROOM];
    double before[ROOM], change[ROOM] = {0}, spread[ROOM];
    rs_response_begin(a);
    memcpy(before, a->u_free, sizeof(double) * (size_t)a->u_count);
    rs_vec3 speed = rs_free_velocity_along(a, &at);
    int32_t count = rs_point_response(a, &at, 1, entries);
    for (int32_t k = 0; k < count; k++)
        a->reduced[entries[k].index] += 0.7 * entries[k].response.y;
    rs_response_spread(a, spread);
    rs_response_end(a, false);
    double row[ROOM] = {0}, expected_speed = 0.0;
    add_jacobian(a, &at, 1, row);
    for (int32_t k = 0; k < a->u_count; k++)
        expected_speed += row[k] * before[k];
    CHECK_NEAR(speed.y, expected_speed, 1e-12);
    rs_aba_solve(a, row, change);
    for (int32_t k = 0; k < a->u_count; k++) {
        CHECK_NEAR(a->u_free[k], before[k] + 0.7 * change[k], 1e-10);
        CHECK(a->u_free[k] == spread[k]);
        CHECK(a->reduced[k] == 0.0);
    }
    rs_articulation_free(a);
}

int main(void)
{
    RUN(impulses_on_one_or_two_links_act_as_their_jacobians_say);
    RUN(impulses_in_one_or_two_joints_act_on_them_alone);
    RUN(solved_impulses_enter_the_velocity);
    return CHECK_RESULT();
}
