/* Contact Jacobians and responses of articulated systems against the plain Jacobian and the plain solve; rows of joints at
 * their limits against their definition. */
#include "../../csrc/dynamics/contact_response.h"
#include "articulation_fixture.h"

static const rs_vec3 frame[3] = {{0.6, 0.8, 0.0}, {0.0, 0.0, 1.0}, {0.8, -0.6, 0.0}};

static void check_response(bool floating)
{
    rs_articulation *a = mixed_tree(floating);
    for (int32_t k = 0; k < a->u_count; k++)
        a->damping[k] = 0.3 + 0.1 * (k % 3);
    rs_articulated_begin(a, 0.01);
    rs_articulated_free_velocity(a, rs_v3(0, 0, -9.81), 0.01);
    rs_contact_column columns[64];
    _Alignas(32) double response[4 * 64];
    for (int32_t link = 0; link < a->link_count; link++) {
        rs_vec3 point = rs_add(a->motion[link].pos, rs_v3(0.1, -0.2, 0.3));
        int32_t count = rs_contact_jacobian(a, link, point, frame, columns);
        rs_contact_response(a, link, point, frame, response);
        for (int axis = 0; axis < 3; axis++) {
            double expected[64] = {0};
            for (int32_t k = 0; k < count; k++)
                expected[columns[k].index] = columns[k].along[axis];
            rs_aba_solve(a, expected, expected);
            for (int32_t k = 0; k < a->u_count; k++)
                CHECK_NEAR(response[4 * k + axis], expected[k], 1e-10 * (1.0 + fabs(expected[k])));
        }
    }
    rs_articulation_free(a);
}

static void response_is_the_inverse_inertia_times_the_jacobian(void)
{
    check_response(false);
    check_response(true);
}

static void contact_jacobian_gives_point_velocities(void)
{
    rs_articulation *a = mixed_tree(true);
    rs_kinematics_place(a, a->q, a->u);
    rs_contact_column columns[64];
    for (int32_t link = 0; link < a->link_count; link++) {
        rs_vec3 arm = rs_v3(0.3, 0.1, -0.2), point = rs_add(a->motion[link].pos, arm);
        rs_vec3 velocity = rs_link_point_velocity(a, link, arm);
        int32_t count = rs_contact_jacobian(a, link, point, frame, columns);
        for (int axis = 0; axis < 3; axis++) {
            double speed = 0.0;
            for (int32_t k = 0; k < count; k++)
                speed += columns[k].along[axis] * a->u[columns[k].index];
            CHECK_NEAR(speed, rs_dot(frame[axis], velocity), 1e-12);
        }
    }
    rs_articulation_free(a);
}

/* Tree of one revolute joint, placed so that q_stage and u_free are what the test sets. */
static int32_t rows_of_one_joint(rs_joint_type type, const double *q, const double *u, double lower, double upper,
                                 double speed_limit, double friction, rs_joint_row *rows)
{
    rs_link_def defs[2] = {fixture_link(-1, RS_JOINT_FIXED), fixture_link(0, type)};
    defs[1].lower = lower;
    defs[1].upper = upper;
    defs[1].velocity_limit = speed_limit;
    defs[1].friction = friction;
    rs_articulation *a = fixture_make(defs, 2);
    memcpy(a->q_stage, q, sizeof(double) * (size_t)a->q_count);
    memcpy(a->u_free, u, sizeof(double) * (size_t)a->u_count);
    int32_t count = rs_joint_rows(a, 0.01, rows);
    rs_articulation_free(a);
    return count;
}

static void joint_near_its_limit_gets_a_row_that_lets_it_arrive(void)
{
    rs_joint_row rows[8];
    CHECK(rows_of_one_joint(RS_JOINT_REVOLUTE, (double[]){0.99}, (double[]){0.3}, -1, 1, INFINITY, 0, rows) == 0);
    CHECK(rows_of_one_joint(RS_JOINT_REVOLUTE, (double[]){0.99}, (double[]){2.0}, -1, 1, INFINITY, 0, rows) == 1);
    CHECK(rows[0].kind == RS_ROW_LIMIT);
    CHECK_NEAR(rows[0].direction[0], -1.0, 0.0);
    CHECK_NEAR(rows[0].target, -1.0, 1e-12); /* 0.01 rad in 0.01 s */
    CHECK_NEAR(rows[0].violation, 0.0, 0.0);
}

static void joint_beyond_its_limit_comes_back_gently_and_says_how_far(void)
{
    rs_joint_row rows[8];
    CHECK(rows_of_one_joint(RS_JOINT_PRISMATIC, (double[]){-1.2}, (double[]){-2.0}, -1, 1, INFINITY, 0, rows) == 1);
    CHECK_NEAR(rows[0].direction[0], 1.0, 0.0);
    CHECK_NEAR(rows[0].target, 0.5, 0.0);
    CHECK_NEAR(rows[0].violation, 0.2, 1e-12);
    CHECK(rows_of_one_joint(RS_JOINT_PRISMATIC, (double[]){-1.001}, (double[]){-2.0}, -1, 1, INFINITY, 0, rows) == 1);
    CHECK_NEAR(rows[0].target, 0.02, 1e-9); /* a fifth of 0.001 m in 0.01 s */
}

static void fast_joint_and_rubbing_joint_get_rows(void)
{
    rs_joint_row rows[8];
    CHECK(rows_of_one_joint(RS_JOINT_REVOLUTE, (double[]){0.0}, (double[]){-5.0}, -1, 1, 3.0, 0.7, rows) == 2);
    CHECK(rows[0].kind == RS_ROW_VELOCITY_LIMIT);
    CHECK_NEAR(rows[0].direction[0], 1.0, 0.0);
    CHECK_NEAR(rows[0].target, -3.0, 0.0);
    CHECK(rows[1].kind == RS_ROW_FRICTION);
    CHECK_NEAR(rows[1].max_impulse, 0.007, 1e-15);
}

static void cone_of_a_spherical_joint_pushes_against_the_rotation(void)
{
    rs_joint_row rows[8];
    double q[4] = {cos(0.35), 0.0, sin(0.35), 0.0}; /* 0.7 rad about y */
    CHECK(rows_of_one_joint(RS_JOINT_SPHERICAL, q, (double[]){9, 1, 9}, -1, 0.72, INFINITY, 0, rows) == 0);
    CHECK(rows_of_one_joint(RS_JOINT_SPHERICAL, q, (double[]){9, 3, 9}, -1, 0.72, INFINITY, 0, rows) == 1);
    CHECK_NEAR(rows[0].direction[0], 0.0, 1e-12);
    CHECK_NEAR(rows[0].direction[1], -1.0, 1e-12);
    CHECK_NEAR(rows[0].target, -2.0, 1e-9);
}

int main(void)
{
    RUN(response_is_the_inverse_inertia_times_the_jacobian);
    RUN(contact_jacobian_gives_point_velocities);
    RUN(joint_near_its_limit_gets_a_row_that_lets_it_arrive);
    RUN(joint_beyond_its_limit_comes_back_gently_and_says_how_far);
    RUN(fast_joint_and_rubbing_joint_get_rows);
    RUN(cone_of_a_spherical_joint_pushes_against_the_rotation);
    return CHECK_RESULT();
}
