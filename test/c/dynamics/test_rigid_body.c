/* One body through the stages of a step, without a world: midpoint, free velocity, integration. */
#include "../../../csrc/dynamics/rigid_body.h"
#include "../check.h"
#include "../random.h"

static const double DT = 0.002;

static rs_body body_with(double mass, rs_vec3 com, rs_sym3 inertia)
{
    rs_body body = {.alive = true, .type = RS_BODY_DYNAMIC, .quaternion = {1, 0, 0, 0}};
    rs_rigid_body_set_mass(&body, mass, com, &inertia);
    return body;
}

static void step(rs_body *body, rs_vec3 gravity)
{
    rs_solver_body solved;
    rs_rigid_body_midpoint(body, DT);
    rs_rigid_body_free_velocity(body, gravity, DT, &solved);
    CHECK(rs_rigid_body_integrate(body, &solved, NULL, DT));
}

static rs_vec3 spin_momentum(const rs_body *body)
{
    rs_mat3 rot = rs_quat_to_m3(body->quaternion);
    rs_sym3 inertia = rs_sym3_rotate(&rot, &body->inertia);
    return rs_sym3_mulv(&inertia, body->omega);
}

static double spin_energy(const rs_body *body) { return 0.5 * rs_dot(body->omega, spin_momentum(body)); }

/* Inertia of a body: second moments of mass are drawn, so that the triangle inequality holds. */
static rs_sym3 random_inertia(uint64_t *random)
{
    double a = random_between(random, 0.1, 2), b = random_between(random, 0.1, 2), c = random_between(random, 0.1, 2);
    rs_sym3 principal = {b + c, a + c, a + b, 0, 0, 0};
    rs_mat3 rot = rs_quat_to_m3(random_quaternion(random));
    return rs_sym3_rotate(&rot, &principal);
}

static void a_tumbling_body_keeps_energy_and_momentum(void)
{
    uint64_t random = 1;
    for (int i = 0; i < 50; i++) {
        rs_body body = body_with(random_between(&random, 0.1, 5), random_vector(&random, 1.0), random_inertia(&random));
        body.quaternion = random_quaternion(&random);
        body.velocity = random_vector(&random, 3.0);
        body.omega = random_vector(&random, 30.0);
        rs_vec3 momentum = spin_momentum(&body), velocity = body.velocity, com = rs_rigid_body_com_position(&body);
        double energy = spin_energy(&body);
        for (int k = 0; k < 1000; k++)
            step(&body, rs_v3_zero());
        CHECK_NEAR(spin_energy(&body), energy, 1e-10 * energy);
        CHECK_NEAR(rs_norm(rs_sub(spin_momentum(&body), momentum)), 0.0, 1e-9 * rs_norm(momentum));
        rs_vec3 expected = rs_madd(com, 1000 * DT, velocity);
        CHECK_NEAR(rs_norm(rs_sub(rs_rigid_body_com_position(&body), expected)), 0.0, 1e-10);
        CHECK_NEAR(rs_quat_norm(body.quaternion), 1.0, 1e-14);
    }
}

static void the_midpoint_lies_half_a_step_ahead(void)
{
    rs_body body = body_with(2.0, rs_v3(0.1, -0.2, 0.3), (rs_sym3){.xx = 0.1, .yy = 0.1, .zz = 0.1});
    body.position = rs_v3(1, 2, 3);
    body.velocity = rs_v3(4, -5, 6);
    body.omega = rs_v3(0, 0, 2.0);
    rs_rigid_body_midpoint(&body, DT);
    rs_vec3 com = rs_madd(rs_v3(1.1, 1.8, 3.3), 0.5 * DT, body.velocity);
    CHECK_NEAR(rs_norm(rs_sub(body.middle_com, com)), 0.0, 1e-14);
    CHECK_NEAR(body.middle.rot.m[0], cos(DT), 1e-14); /* half of 2 rad/s */
    CHECK_NEAR(body.middle.rot.m[3], sin(DT), 1e-14);
    rs_rigid_body_hold(&body);
    CHECK_NEAR(rs_norm(rs_sub(body.middle.pos, body.position)), 0.0, 0.0);
}

static rs_vec3 spin_of(const rs_body *body, const rs_mat3 *rot, rs_vec3 omega)
{
    rs_sym3 inertia = rs_sym3_rotate(rot, &body->inertia);
    return rs_sym3_mulv(&inertia, omega);
}

static void half_a_step_keeps_momentum_and_energy(void)
{
    uint64_t random = 2;
    rs_body body = body_with(2.0, rs_v3(0.1, -0.2, 0.3), random_inertia(&random));
    body.omega = rs_v3(30, -20, 10);
    rs_rigid_body_midpoint(&body, DT);
    rs_mat3 start = rs_quat_to_m3(body.quaternion);
    rs_vec3 before = spin_of(&body, &start, body.omega), after = spin_of(&body, &body.middle.rot, body.middle_omega);
    CHECK(rs_norm(rs_sub(body.middle_omega, body.omega)) > 1e-4);
    CHECK_NEAR(rs_norm(rs_sub(after, before)), 0.0, 1e-13 * rs_norm(before));
    CHECK_NEAR(rs_dot(after, body.middle_omega), rs_dot(before, body.omega), 1e-12 * rs_dot(before, body.omega));
}

static void loads_act_once_and_commands_stay(void)
{
    rs_body body = body_with(2.0, rs_v3_zero(), (rs_sym3){1, 1, 1, 0, 0, 0});
    body.force = rs_v3(2, 0, 0);
    body.torque = rs_v3(0, 3, 0);
    body.command_force = rs_v3(0, 0, 4);
    step(&body, rs_v3_zero());
    CHECK_NEAR(body.applied_force.x, 2.0, 0.0);
    CHECK_NEAR(body.applied_force.z, 4.0, 0.0);
    CHECK_NEAR(body.velocity.x, DT, 1e-15);
    CHECK_NEAR(body.omega.y, 3.0 * DT, 1e-15);
    step(&body, rs_v3_zero());
    CHECK_NEAR(body.applied_force.x, 0.0, 0.0);
    CHECK_NEAR(body.velocity.x, DT, 1e-15);
    CHECK_NEAR(body.velocity.z, 2.0 * DT * 2.0, 1e-15);
}

static void a_kinematic_body_only_follows_its_velocity(void)
{
    rs_body body = body_with(1.0, rs_v3_zero(), (rs_sym3){1, 2, 3, 0, 0, 0});
    body.type = RS_BODY_KINEMATIC;
    body.velocity = rs_v3(1, 2, 3);
    body.omega = rs_v3(0.3, -0.6, 0.6);
    body.force = body.torque = rs_v3(100, 100, 100);
    for (int k = 0; k < 500; k++)
        step(&body, rs_v3(0, 0, -9.81));
    rs_quat expected = rs_quat_exp(rs_scale(500 * DT, rs_v3(0.3, -0.6, 0.6)));
    CHECK_NEAR(rs_norm(rs_sub(body.position, rs_v3(1, 2, 3))), 0.0, 1e-12);
    CHECK_NEAR(body.quaternion.w, expected.w, 1e-12);
    CHECK_NEAR(body.quaternion.x, expected.x, 1e-12);
    CHECK_NEAR(body.quaternion.y, expected.y, 1e-12);
    CHECK_NEAR(body.velocity.x, 1.0, 0.0);
}

static void a_push_moves_and_turns_but_leaves_no_velocity(void)
{
    rs_body body = body_with(1.0, rs_v3(0, 0, 0.5), (rs_sym3){1, 2, 2.5, 0, 0, 0});
    rs_solver_body solved;
    rs_push_body push = {.v = rs_v3(1, 0, 0), .w = rs_v3(0, 0, 2)};
    rs_rigid_body_midpoint(&body, DT);
    rs_rigid_body_free_velocity(&body, rs_v3_zero(), DT, &solved);
    CHECK(rs_rigid_body_integrate(&body, &solved, &push, DT));
    CHECK_NEAR(body.position.x, DT, 1e-15);
    CHECK_NEAR(body.quaternion.z, sin(DT), 1e-15);
    CHECK_NEAR(rs_norm(body.velocity) + rs_norm(body.omega), 0.0, 0.0);
}

static void a_diverged_body_keeps_its_pose_and_rests(void)
{
    rs_body body = body_with(1.0, rs_v3_zero(), (rs_sym3){1, 2, 2.5, 0, 0, 0});
    body.position = rs_v3(1, 2, 3);
    body.velocity = rs_v3(1, 0, 0);
    rs_solver_body solved;
    rs_rigid_body_midpoint(&body, DT);
    rs_rigid_body_free_velocity(&body, rs_v3_zero(), DT, &solved);
    solved.v.xyz.x = NAN;
    CHECK(!rs_rigid_body_integrate(&body, &solved, NULL, DT));
    CHECK_NEAR(body.position.x, 1.0, 0.0);
    CHECK_NEAR(rs_norm(body.velocity), 0.0, 0.0);
}

static void fast_spins_stay_finite_in_every_mode(void)
{
    uint64_t random = 3;
    for (int mode = RS_GYRO_ENERGY_CONSERVING; mode <= RS_GYRO_NONE; mode++) {
        rs_body body = body_with(1.0, rs_v3_zero(), random_inertia(&random));
        body.gyroscopic_mode = (rs_gyroscopic_mode)mode;
        body.omega = rs_v3(1500, 800, -900); /* more than a radian per step */
        bool finite = true;
        for (int k = 0; k < 200 && finite && mode != RS_GYRO_EXPLICIT; k++) {
            rs_solver_body solved;
            rs_rigid_body_midpoint(&body, DT);
            rs_rigid_body_free_velocity(&body, rs_v3_zero(), DT, &solved);
            finite = rs_rigid_body_integrate(&body, &solved, NULL, DT);
        }
        CHECK(finite);
        CHECK(rs_norm(body.omega) < 1e4);
    }
}

static void unphysical_inertia_is_told_apart(void)
{
    const rs_sym3 good[] = {{1, 1, 1, 0, 0, 0}, {1, 2, 3, 0, 0, 0} /* a flat plate */, {2, 2, 2, 0.5, -0.5, 0.3}};
    const rs_sym3 bad[] = {{0, 1, 1, 0, 0, 0}, {-1, 1, 1, 0, 0, 0}, {1, 1, 2.1, 0, 0, 0}, {1, 1, 1, 1.5, 0, 0},
                           {NAN, 1, 1, 0, 0, 0}};
    for (int k = 0; k < 3; k++)
        CHECK(rs_inertia_is_physical(&good[k]));
    for (int k = 0; k < 5; k++)
        CHECK(!rs_inertia_is_physical(&bad[k]));
}

int main(void)
{
    RUN(a_tumbling_body_keeps_energy_and_momentum);
    RUN(the_midpoint_lies_half_a_step_ahead);
    RUN(half_a_step_keeps_momentum_and_energy);
    RUN(loads_act_once_and_commands_stay);
    RUN(a_kinematic_body_only_follows_its_velocity);
    RUN(a_push_moves_and_turns_but_leaves_no_velocity);
    RUN(a_diverged_body_keeps_its_pose_and_rests);
    RUN(fast_spins_stay_finite_in_every_mode);
    RUN(unphysical_inertia_is_told_apart);
    return CHECK_RESULT();
}
