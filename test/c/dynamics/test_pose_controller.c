/* A body that follows commanded poses, against closed forms. */
#include "../../../csrc/dynamics/pose_controller.h"
#include "../check.h"
#include "../random.h"

static const double DT = 0.001;
static const rs_sym3 INERTIA = {0.3, 0.5, 0.7, 0.0, 0.0, 0.0};

static rs_body body_with_com(rs_vec3 com)
{
    rs_body body = {.alive = true, .type = RS_BODY_DYNAMIC, .quaternion = {1, 0, 0, 0}};
    rs_rigid_body_set_mass(&body, 2.0, com, &INERTIA);
    return body;
}

static rs_pose_controller controller_with(double p, double i, double d)
{
    rs_pose_controller controller = {.quaternion = {1, 0, 0, 0}};
    rs_pose_gains gains = {.linear = {2.0 * p, 2.0 * i, 2.0 * d}, .angular = {p, i, d},
                           .angular_shape = {INERTIA.xx, INERTIA.yy, INERTIA.zz}, .force_limit = 1e9,
                           .torque_limit = 1e9};
    controller.gains = gains;
    return controller;
}

static void step(rs_body *body, rs_pose_controller *controller, rs_vec3 gravity)
{
    rs_solver_body solved;
    rs_pose_controller_update(controller, body, gravity, DT);
    rs_rigid_body_midpoint(body, DT);
    rs_rigid_body_free_velocity(body, gravity, DT, &solved);
    rs_pose_controller_drive(controller, body, DT, &solved);
    CHECK(rs_rigid_body_integrate(body, &solved, NULL, DT));
    rs_pose_controller_report(controller, body);
}

/* x'' + d x' + p x = 0, underdamped, from x(0) = 1 at rest. */
static double decay(double p, double d, double t)
{
    double wd = sqrt(p - 0.25 * d * d);
    return exp(-0.5 * d * t) * (cos(wd * t) + 0.5 * d / wd * sin(wd * t));
}

static void a_step_is_answered_as_by_a_linear_oscillator(void)
{
    const double p = 150.0, d = 10.0;
    rs_body body = body_with_com(rs_v3(0.1, -0.2, 0.3));
    rs_pose_controller controller = controller_with(p, 0.0, d);
    controller.position = rs_v3(0.5, -1.0, 2.0);
    for (int k = 1; k <= 500; k++) {
        step(&body, &controller, rs_v3_zero());
        double left = decay(p, d, k * DT);
        CHECK_NEAR(body.position.x, 0.5 * (1.0 - left), 2e-5);
        CHECK_NEAR(body.position.y, -1.0 * (1.0 - left), 2e-5);
        CHECK_NEAR(body.position.z, 2.0 * (1.0 - left), 4e-5);
        CHECK_NEAR(body.omega.x + body.omega.y + body.omega.z, 0.0, 1e-12);
    }
}

static void a_turn_about_each_axis_is_answered_alike(void)
{
    const double p = 100.0, d = 8.0;
    for (int axis = 0; axis < 3; axis++) {
        rs_vec3 turn = rs_v3_zero();
        rs_v3_set(&turn, axis, 1.2);
        rs_body body = body_with_com(rs_v3(0.1, 0.2, -0.1));
        rs_pose_controller controller = controller_with(p, 0.0, d);
        controller.quaternion = rs_quat_exp(turn);
        for (int k = 1; k <= 300; k++)
            step(&body, &controller, rs_v3_zero());
        double angle = 1.2 * (1.0 - decay(p, d, 300 * DT));
        rs_vec3 expected = rs_v3_zero();
        rs_v3_set(&expected, axis, angle);
        rs_quat q = rs_quat_exp(expected);
        CHECK_NEAR(body.quaternion.w, q.w, 2e-5);
        CHECK_NEAR(body.quaternion.x, q.x, 2e-5);
        CHECK_NEAR(body.quaternion.y, q.y, 2e-5);
        CHECK_NEAR(body.quaternion.z, q.z, 2e-5);
    }
}

static void gains_far_beyond_the_time_step_are_stable(void)
{
    rs_body body = body_with_com(rs_v3(0.1, 0.0, 0.0));
    rs_pose_controller controller = controller_with(1e8, 0.0, 2e4);
    controller.position = rs_v3(1.0, 2.0, 3.0);
    controller.quaternion = rs_quat_exp(rs_v3(0.3, -0.4, 0.5));
    for (int k = 0; k < 5000; k++)
        step(&body, &controller, rs_v3(0.0, 0.0, -9.81));
    CHECK_NEAR(rs_norm(rs_sub(body.position, rs_v3(1.0, 2.0, 3.0))), 0.0, 1e-6);
    CHECK_NEAR(fabs(body.quaternion.w), fabs(controller.quaternion.w), 1e-6);
}

static void the_weight_is_held_by_the_spring_by_the_integral_or_carried(void)
{
    const rs_vec3 gravity = rs_v3(0.0, 0.0, -9.81);
    rs_body sagging = body_with_com(rs_v3_zero()), integrating = sagging, carried = sagging;
    rs_pose_controller pd = controller_with(150.0, 0.0, 25.0), pid = controller_with(150.0, 300.0, 25.0), helped = pd;
    helped.gains.carried_mass = 2.0;
    for (int k = 0; k < 8000; k++) {
        step(&sagging, &pd, gravity);
        step(&integrating, &pid, gravity);
        step(&carried, &helped, gravity);
        CHECK_NEAR(carried.position.z, 0.0, 1e-12);
    }
    CHECK_NEAR(sagging.position.z, -9.81 / 150.0, 1e-9);
    CHECK_NEAR(integrating.position.z, 0.0, 1e-6);
    CHECK_NEAR(sagging.applied_force.z, 2.0 * 9.81, 1e-7);
    CHECK_NEAR(integrating.applied_force.z, 2.0 * 9.81, 1e-4);
    CHECK_NEAR(carried.applied_force.z, 2.0 * 9.81, 1e-9);
}

static void integrals_stay_within_their_limits(void)
{
    rs_body held = body_with_com(rs_v3_zero());
    rs_pose_controller controller = controller_with(0.0, 50.0, 0.0);
    controller.gains.force_limit = 7.0;
    controller.gains.torque_limit = 0.5;
    controller.position = rs_v3(3.0, 0.0, 4.0);
    controller.quaternion = rs_quat_exp(rs_v3(0.0, 0.0, 1.0));
    for (int k = 0; k < 100000; k++)
        rs_pose_controller_update(&controller, &held, rs_v3_zero(), DT);
    CHECK_NEAR(rs_norm(controller.force), 7.0, 0.3); /* plus half a step of the error */
    CHECK(rs_norm(controller.torque) < 0.52 && rs_norm(controller.torque) > 0.3);
}

static void a_velocity_is_followed_and_does_not_run_away_from_a_held_body(void)
{
    rs_body body = body_with_com(rs_v3(0.0, 0.1, 0.0));
    rs_pose_controller controller = controller_with(150.0, 0.0, 25.0);
    controller.follows_velocity = true;
    controller.gains.force_limit = 10.0;
    controller.velocity = rs_v3(0.7, -0.2, 0.1);
    controller.omega = rs_v3(0.0, 0.0, 0.5);
    rs_pose_controller held = controller;
    rs_body still = body;
    for (int k = 0; k < 3000; k++) {
        step(&body, &controller, rs_v3_zero());
        rs_pose_controller_update(&held, &still, rs_v3_zero(), DT);
    }
    rs_mat3 rot = rs_quat_to_m3(body.quaternion);
    rs_vec3 arm = rs_m3_mulv(&rot, body.com);
    rs_vec3 origin = rs_sub(body.velocity, rs_cross(body.omega, arm));
    CHECK_NEAR(rs_norm(rs_sub(body.omega, controller.omega)), 0.0, 1e-6);
    CHECK_NEAR(rs_norm(rs_sub(origin, controller.velocity)), 0.0, 0.01);
    /* p pulls with at most the limit; d adds its share of the velocity */
    CHECK(rs_norm(held.force) < 10.0 + 2.0 * 25.0 * 0.8 + 1.0);
}

int main(void)
{
    RUN(a_step_is_answered_as_by_a_linear_oscillator);
    RUN(a_turn_about_each_axis_is_answered_alike);
    RUN(gains_far_beyond_the_time_step_are_stable);
    RUN(the_weight_is_held_by_the_spring_by_the_integral_or_carried);
    RUN(integrals_stay_within_their_limits);
    RUN(a_velocity_is_followed_and_does_not_run_away_from_a_held_body);
    return CHECK_RESULT();
}
