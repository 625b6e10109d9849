/* Placement of links and motion of coordinates: against differences and closed forms. */
#include "articulation_fixture.h"

static void velocities_are_derivatives_of_positions(void)
{
    rs_articulation *a = mixed_tree(true);
    double h = 1e-6;
    rs_vec3 before[8], after[8];
    rs_kinematics_advance(a, a->q, a->u, -h, a->q_stage);
    rs_kinematics_place(a, a->q_stage, a->u);
    for (int i = 0; i < 8; i++)
        before[i] = rs_add(a->motion[i].pos, rs_m3_mulv(&a->motion[i].rot, rs_v3(0.1, 0.2, 0.3)));
    rs_kinematics_advance(a, a->q, a->u, h, a->q_stage);
    rs_kinematics_place(a, a->q_stage, a->u);
    for (int i = 0; i < 8; i++)
        after[i] = rs_add(a->motion[i].pos, rs_m3_mulv(&a->motion[i].rot, rs_v3(0.1, 0.2, 0.3)));
    rs_kinematics_place(a, a->q, a->u);
    for (int i = 0; i < 8; i++) {
        rs_vec3 arm = rs_m3_mulv(&a->motion[i].rot, rs_v3(0.1, 0.2, 0.3));
        rs_vec3 error = rs_sub(rs_link_point_velocity(a, i, arm), rs_scale(0.5 / h, rs_sub(after[i], before[i])));
        CHECK_NEAR(rs_norm(error), 0.0, 1e-8);
    }
    rs_articulation_free(a);
}

static void planar_arm_is_where_trigonometry_says(void)
{
    rs_link_def defs[3] = {fixture_link(-1, RS_JOINT_FIXED), fixture_link(0, RS_JOINT_REVOLUTE),
                           fixture_link(1, RS_JOINT_REVOLUTE)};
    for (int i = 1; i < 3; i++)
        memcpy(defs[i].joint_position, (double[3]){i == 1 ? 0.0 : 0.5, 0, 0}, 3 * sizeof(double));
    rs_articulation *a = fixture_make(defs, 3);
    a->q[0] = 0.3;
    a->q[1] = -1.1;
    a->base_position = rs_v3(1, 2, 3);
    rs_kinematics_place(a, a->q, a->u);
    CHECK_NEAR(a->motion[2].pos.x, 1 + 0.5 * cos(0.3), 1e-15);
    CHECK_NEAR(a->motion[2].pos.y, 2 + 0.5 * sin(0.3), 1e-15);
    CHECK_NEAR(a->motion[2].rot.m[3], sin(0.3 - 1.1), 1e-15);
    rs_articulation_free(a);
}

static void advancing_back_returns_and_keeps_quaternions_unit(void)
{
    rs_articulation *a = mixed_tree(true);
    rs_kinematics_advance(a, a->q, a->u, 0.7, a->q_stage);
    CHECK_NEAR(rs_quat_norm(rs_quat_load(a->q_stage + 3)), 1.0, 1e-15);
    rs_kinematics_advance(a, a->q_stage, a->u, -0.7, a->q_stage);
    for (int32_t k = 0; k < a->q_count; k++)
        CHECK_NEAR(a->q_stage[k], a->q[k], 1e-14);
    rs_articulation_free(a);
}

static void rotation_between_is_the_inverse_of_the_exponential(void)
{
    rs_quat from = rs_quat_normalize((rs_quat){0.3, -0.5, 0.7, 0.2});
    for (int i = 0; i < 30; i++) {
        rs_vec3 turn = rs_scale(0.1 * i, rs_v3(0.6, 0.0, -0.8));
        rs_vec3 found = rs_rotation_between(from, rs_quat_mul(rs_quat_exp(turn), from));
        CHECK_NEAR(rs_norm(rs_sub(found, turn)), 0.0, 1e-14);
    }
}

int main(void)
{
    RUN(velocities_are_derivatives_of_positions);
    RUN(planar_arm_is_where_trigonometry_says);
    RUN(advancing_back_returns_and_keeps_quaternions_unit);
    RUN(rotation_between_is_the_inverse_of_the_exponential);
    return CHECK_RESULT();
}
