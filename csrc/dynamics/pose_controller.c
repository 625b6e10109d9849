#include "pose_controller.h"

#include "carrier.h"

enum { P, I, D };

static rs_vec3 within(rs_vec3 v, double gain, double limit) {
    double size = gain * rs_norm(v);
    return size > limit ? rs_scale(limit / size, v) : v;
}

/* Largest eigenvalue of the shape, or a little more: no torque grows beyond its limit. */
static double shape_bound(const rs_pose_gains *gains) {
    const double *s = gains->angular_shape;
    double x = fabs(s[0]) + fabs(s[3]) + fabs(s[4]), y = fabs(s[1]) + fabs(s[3]) + fabs(s[5]);
    return rs_max(rs_max(x, y), fabs(s[2]) + fabs(s[4]) + fabs(s[5]));
}

void rs_pose_controller_anchor(rs_pose_controller *controller, const rs_body *body) {
    controller->position = body->position;
    controller->quaternion = body->quaternion;
    controller->integral = controller->angular_integral = rs_v3_zero();
}

/* A target that runs away from a body that is held would end in a catapult. */
static void keep_near(rs_pose_controller *c, rs_quat present, rs_vec3 *error, rs_vec3 *turn) {
    rs_vec3 near = within(*error, c->gains.linear[P], c->gains.force_limit);
    rs_vec3 near_turn = within(*turn, c->gains.angular[P] * shape_bound(&c->gains), c->gains.torque_limit);
    c->position = rs_add(c->position, rs_sub(near, *error));
    c->quaternion = rs_quat_normalize(rs_quat_mul(rs_quat_exp(near_turn), present));
    *error = near;
    *turn = near_turn;
}

/* p, i and d of errors and their rates at the middle of the step. */
static rs_vec3 pid(const double *gains, rs_vec3 error, rs_vec3 integral, rs_vec3 rate) {
    return rs_madd(rs_madd(rs_scale(gains[P], error), gains[I], integral), gains[D], rate);
}

static double step_weight(const double *gains, double dt) {
    return 0.5 * dt * gains[D] + 0.25 * dt * dt * gains[P];
}

void rs_pose_controller_update(rs_pose_controller *c, const rs_body *body, rs_vec3 gravity, double dt) {
    const rs_pose_gains *gains = &c->gains;
    rs_mat3 rot = rs_quat_to_m3(body->quaternion), wanted = rs_quat_to_m3(c->quaternion);
    rs_vec3 com = rs_carrier_com(body, 0);
    rs_vec3 arm = rs_m3_mulv(&rot, com), wanted_arm = rs_m3_mulv(&wanted, com);
    rs_vec3 velocity = rs_carrier_base_velocity(body);

    rs_vec3 error = rs_sub(rs_add(c->position, wanted_arm), rs_add(body->position, arm));
    rs_vec3 turn = rs_rotation_between(body->quaternion, c->quaternion);
    rs_vec3 rate = rs_sub(rs_add(c->velocity, rs_cross(c->omega, wanted_arm)), velocity);
    rs_vec3 turn_rate = rs_sub(c->omega, body->omega);
    if (c->follows_velocity)
        keep_near(c, body->quaternion, &error, &turn);

    rs_sym3 shape = {gains->angular_shape[0], gains->angular_shape[1], gains->angular_shape[2],
                     gains->angular_shape[3], gains->angular_shape[4], gains->angular_shape[5]};
    shape = rs_sym3_rotate(&rot, &shape);
    error = rs_madd(error, 0.5 * dt, rate);
    turn = rs_madd(turn, 0.5 * dt, turn_rate);
    rs_vec3 torque = pid(gains->angular, turn, rs_madd(c->angular_integral, 0.5 * dt, turn), turn_rate);
    c->force = pid(gains->linear, error, rs_madd(c->integral, 0.5 * dt, error), rate);
    c->carried = rs_scale(-gains->carried_mass, gravity);
    c->torque = rs_sym3_mulv(&shape, torque);
    c->weight = step_weight(gains->linear, dt);
    double s = step_weight(gains->angular, dt);
    c->angular_weight = (rs_sym3){s * shape.xx, s * shape.yy, s * shape.zz, s * shape.xy, s * shape.xz, s * shape.yz};

    c->integral = within(rs_madd(c->integral, dt, error), gains->linear[I], gains->force_limit);
    c->angular_integral = within(rs_madd(c->angular_integral, dt, turn), gains->angular[I] * shape_bound(gains),
                                 gains->torque_limit);
    c->position = rs_madd(c->position, dt, c->velocity);
    c->quaternion = rs_quat_normalize(rs_quat_mul(rs_quat_exp(rs_scale(dt, c->omega)), c->quaternion));
}

void rs_pose_controller_drive(const rs_pose_controller *c, const rs_body *body, double dt, rs_solver_body *out) {
    rs_vec3 gained = rs_sub(out->v.xyz, body->velocity), turned = rs_sub(out->w.xyz, body->omega);
    rs_sym3 inertia = rs_sym3_rotate(&body->middle.rot, &body->inertia);
    const rs_sym3 *w = &c->angular_weight;
    rs_sym3 total = {inertia.xx + w->xx, inertia.yy + w->yy, inertia.zz + w->zz,
                     inertia.xy + w->xy, inertia.xz + w->xz, inertia.yz + w->yz};
    rs_sym3 inverse = rs_sym3_inverse(&total);

    out->inverse_mass = 1.0 / (body->mass + c->weight);
    out->inverse_inertia = rs_columns_of(&inverse);
    rs_vec3 impulse = rs_madd(rs_scale(dt, rs_add(c->force, c->carried)), -c->weight, gained);
    rs_vec3 angular_impulse = rs_sub(rs_scale(dt, c->torque), rs_sym3_mulv(w, turned));
    out->v.xyz = rs_madd(out->v.xyz, out->inverse_mass, impulse);
    out->w.xyz = rs_add(out->w.xyz, rs_sym3_mulv(&inverse, angular_impulse));
}

void rs_pose_controller_report(const rs_pose_controller *c, rs_body *body) {
    rs_vec3 force = rs_madd(rs_add(c->force, c->carried), -c->weight, body->acceleration);
    rs_vec3 torque = rs_sub(c->torque, rs_sym3_mulv(&c->angular_weight, body->angular_acceleration));
    body->applied_force = rs_add(body->applied_force, force);
    body->applied_torque = rs_add(body->applied_torque, torque);
}

rs_pair6 rs_pose_controller_base_wrench(const rs_pose_controller *c) {
    const rs_sym3 *w = &c->angular_weight;
    double mean_weight = (w->xx + w->yy + w->zz) / 3.0;
    return (rs_pair6){rs_madd(c->carried, c->robot_mass / (c->robot_mass + c->weight), c->force),
                      rs_scale(c->robot_inertia / (c->robot_inertia + mean_weight), c->torque)};
}
