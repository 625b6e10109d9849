/* Placement of links and motion of coordinates: against differences and closed forms. */
#include "../articulation_fixture.h"

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

enum { LEGS = 5, LEG_LINKS = 3, SPIDER_LINKS = 1 + LEGS * LEG_LINKS };

/* Five legs of three revolute links each, none like another: four of them go side by side, the fifth goes alone. */
static rs_articulation *spider(void)
{
    rs_link_def defs[SPIDER_LINKS] = {fixture_link(-1, RS_JOINT_FLOATING)};
    for (int i = 1; i < SPIDER_LINKS; i++) {
        defs[i] = fixture_link((i - 1) % LEG_LINKS == 0 ? 0 : i - 1, RS_JOINT_REVOLUTE);
        const double turned[9] = {0.36, 0.48, -0.8, -0.8, 0.6, 0.0, 0.48, 0.64, 0.6};
        const double axis[3] = {0.48, i % 2 ? 0.64 : -0.64, 0.6};
        memcpy(defs[i].axis, axis, sizeof axis);
        memcpy(defs[i].joint_rotation, turned, sizeof turned);
        for (int k = 0; k < 3; k++) {
            defs[i].joint_position[k] = sin(1.1 * i + k);
            defs[i].com[k] = 0.1 * cos(0.7 * i - k);
        }
        defs[i].mass = 1.0 + 0.1 * i;
    }
    rs_articulation *a = fixture_make(defs, SPIDER_LINKS);
    for (int32_t k = 0; k < a->u_count; k++)
        a->u[k] = 2.5 * sin(1.3 * k + 0.4);
    rs_kinematics_advance(a, a->q, a->u, 0.9, a->q);
    return a;
}

static void four_links_side_by_side_are_placed_as_each_alone(void)
{
    rs_articulation *a = spider();
    rs_link_motion together[SPIDER_LINKS];
    rs_link_mass mass[SPIDER_LINKS];
    int fours = 0;
    rs_kinematics_place(a, a->q, a->u);
    memcpy(together, a->motion, sizeof together);
    memcpy(mass, a->mass, sizeof mass);
    for (int32_t k = 0; k < SPIDER_LINKS - 1; k++) {
        bool four = k % LEGS == 0;
        CHECK(!four || a->four_at[k] >= 0);
        fours += four;
        a->model->four_at[k] = -1;
    }
    CHECK(fours == LEG_LINKS);
    rs_kinematics_place(a, a->q, a->u);
    for (int i = 1; i < SPIDER_LINKS; i++) {
        const rs_link_motion *alone = &a->motion[i], *m = &together[i];
        for (int k = 0; k < 9; k++)
            CHECK_NEAR(m->rot.m[k], alone->rot.m[k], 1e-14);
        const rs_vec3 differences[] = {rs_sub(m->pos, alone->pos), rs_sub(m->arm, alone->arm), rs_sub(m->axis, alone->axis),
                                       rs_sub(m->v, alone->v), rs_sub(m->w, alone->w),
                                       rs_sub(mass[i].mass_com, a->mass[i].mass_com)};
        for (size_t k = 0; k < sizeof differences / sizeof *differences; k++)
            CHECK_NEAR(rs_norm(differences[k]), 0.0, 3e-14);
        const rs_sym3 *s = &mass[i].inertia, *t = &a->mass[i].inertia;
        CHECK_NEAR(fabs(s->xx - t->xx) + fabs(s->yy - t->yy) + fabs(s->zz - t->zz), 0.0, 1e-14);
        CHECK_NEAR(fabs(s->xy - t->xy) + fabs(s->xz - t->xz) + fabs(s->yz - t->yz), 0.0, 1e-14);
        CHECK_NEAR(mass[i].mass, a->mass[i].mass, 0.0);
    }
    rs_articulation_free(a);
}

enum { BALLS = 6 };

/* Spherical joints one behind the other: the first four are worked on together, the others alone. */
static rs_articulation *ball_chain(void)
{
    rs_link_def defs[BALLS + 1] = {fixture_link(-1, RS_JOINT_FIXED)};
    for (int i = 1; i <= BALLS; i++)
        defs[i] = fixture_link(i - 1, RS_JOINT_SPHERICAL);
    rs_articulation *a = fixture_make(defs, BALLS + 1);
    for (int32_t k = 0; k < a->q_count; k++) {
        a->q[k] = sin(1.9 * k + 0.3);
        a->spring_mount[k] = cos(2.3 * k);
    }
    for (int i = 0; i < BALLS; i++) {
        rs_quat_store(&a->q[4 * i], rs_quat_normalize(rs_quat_load(&a->q[4 * i])));
        rs_quat_store(&a->spring_mount[4 * i], rs_quat_normalize(rs_quat_load(&a->spring_mount[4 * i])));
    }
    return a;
}

static void spherical_joints_turn_by_the_exponential_fast_or_slow(void)
{
    const double speeds[] = {0.0, 1.0, 5.0, 40.0, 900.0};
    rs_articulation *a = ball_chain();
    for (size_t s = 0; s < sizeof speeds / sizeof *speeds; s++) {
        for (int32_t k = 0; k < a->u_count; k++)
            a->u[k] = speeds[s] * sin(1.3 * k + 0.4);
        rs_kinematics_advance(a, a->q, a->u, 0.005, a->q_stage);
        for (int i = 0; i < BALLS; i++) {
            rs_quat turn = rs_quat_exp(rs_scale(0.005, rs_v3_load(&a->u[3 * i])));
            rs_quat expected = rs_quat_mul(turn, rs_quat_load(&a->q[4 * i])), found = rs_quat_load(&a->q_stage[4 * i]);
            CHECK_NEAR(fabs(found.w - expected.w) + fabs(found.x - expected.x), 0.0, 2e-15);
            CHECK_NEAR(fabs(found.y - expected.y) + fabs(found.z - expected.z), 0.0, 2e-15);
        }
    }
    rs_articulation_free(a);
}

static void springs_of_spherical_joints_pull_the_shorter_way(void)
{
    static const rs_actuation_rule rule = {0};
    rs_articulation *a = ball_chain();
    const double *force = a->work[0];
    rs_actuation_result out = {a->applied_force, a->work[0], a->weight};
    int back = 0;
    for (int32_t k = 0; k < a->u_count; k++)
        a->stiffness[k] = 2.0 + k;
    rs_actuation(a, a->q, a->u, &rule, &out);
    for (int i = 0; i < BALLS; i++) {
        rs_quat q = rs_quat_load(&a->q[4 * i]), rest = rs_quat_load(&a->spring_mount[4 * i]);
        rs_vec3 error = rs_rotation_between(q, rest);
        back += rs_quat_mul(rest, rs_quat_conj(q)).w < 0.0;
        for (int k = 0; k < 3; k++)
            CHECK_NEAR(force[3 * i + k], (2.0 + 3 * i + k) * rs_v3_get(error, k), 1e-13);
    }
    CHECK(back > 0 && back < BALLS);
    rs_articulation_free(a);
}

int main(void)
{
    RUN(velocities_are_derivatives_of_positions);
    RUN(planar_arm_is_where_trigonometry_says);
    RUN(advancing_back_returns_and_keeps_quaternions_unit);
    RUN(rotation_between_is_the_inverse_of_the_exponential);
    RUN(four_links_side_by_side_are_placed_as_each_alone);
    RUN(spherical_joints_turn_by_the_exponential_fast_or_slow);
    RUN(springs_of_spherical_joints_pull_the_shorter_way);
    return CHECK_RESULT();
}
