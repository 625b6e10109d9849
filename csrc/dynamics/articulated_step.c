#include "articulated.h"
#include "../base/limits.h"
#include "runge_kutta.h"

#include <string.h>

/* What changes velocities faster than this is a blow [m/s^2, rad/s^2]. */
static const double BLOW_ACCELERATION = 100.0;

static bool at_midpoint(const rs_articulation *a) {
    return a->scheme == RS_SCHEME_TRAPEZOID || a->scheme == RS_SCHEME_MIDPOINT;
}

/* The default scheme takes velocity products where the velocity will be half-way, going by the step before. */
static void look_ahead(rs_articulation *a) {
    double share = a->scheme == RS_SCHEME_TRAPEZOID ? 0.5 : 0.0;
    for (int32_t k = 0; k < a->u_count; k++)
        a->u_ahead[k] = a->u[k] + share * a->u_change[k];
}

void rs_articulated_begin(rs_articulation *a, double dt) {
    if (at_midpoint(a))
        rs_kinematics_advance(a, a->q, a->u, 0.5 * dt, a->q_stage);
    else
        memcpy(a->q_stage, a->q, sizeof(double) * (size_t)a->q_count);
    look_ahead(a);
    rs_kinematics_place(a, a->q_stage, a->u_ahead);
}

rs_actuation_rule rs_articulated_rule(const rs_articulation *a, double dt) {
    switch (a->scheme) {
    case RS_SCHEME_TRAPEZOID:
    case RS_SCHEME_MIDPOINT: return (rs_actuation_rule){0.5 * dt, 0.25 * dt * dt, 0.0};
    case RS_SCHEME_SEMI_IMPLICIT: return (rs_actuation_rule){dt, dt * dt, dt};
    default: return (rs_actuation_rule){0.0, 0.0, 0.0};
    }
}

static void copy_velocities(const rs_articulation *a, const double *from, double *to) {
    memcpy(to, from, sizeof(double) * (size_t)a->u_count);
}

/* Accelerations with the velocity products of `u`, by the factorisation of this step. */
static void accelerate_with(rs_articulation *a, rs_vec3 gravity, const double *force, const double *u, double *out) {
    rs_kinematics_move(a, u);
    rs_rnea_wrenches(a, gravity, NULL, a->loaded);
    rs_aba_solve_loaded(a, force, out);
}

/* Velocity products at the velocity half-way: second order also where they dominate. */
static void repeat_half_way(rs_articulation *a, rs_vec3 gravity, double dt, const double *force) {
    copy_velocities(a, a->rhs, a->work[2]);
    for (int32_t k = 0; k < a->u_count; k++)
        a->u_ahead[k] = a->u[k] + 0.5 * dt * a->rhs[k];
    accelerate_with(a, gravity, force, a->u_ahead, a->rhs);
}

/* A blow within the step changes the velocity products for the half step after it. Their mean over both ends keeps
 * linear and angular momentum to second order; that of the predicted velocity only to first. */
static void account_for_blow(rs_articulation *a, rs_vec3 gravity, double dt) {
    const double *force = a->work[0], *before = a->work[2];
    double *after = a->work[1], blow = 0.0;
    for (int32_t k = 0; k < a->u_count; k++)
        blow = rs_max(blow, fabs(a->u_free[k] - (a->u[k] + dt * a->rhs[k])));
    if (blow == 0.0)
        return;
    accelerate_with(a, gravity, force, a->u_free, after);
    for (int32_t k = 0; k < a->u_count; k++)
        a->u_free[k] += dt * (0.5 * (before[k] + after[k]) - a->rhs[k]);
}

bool rs_articulated_recall_blow(rs_articulation *a, double dt, double *tau) {
    double largest = 0.0;
    for (int32_t k = 0; k < a->u_count; k++)
        largest = rs_max(largest, fabs(a->u_change[k]));
    if (a->scheme != RS_SCHEME_TRAPEZOID || largest <= BLOW_ACCELERATION * dt)
        return false;
    rs_kinematics_move(a, a->u_change);
    rs_rnea(a, rs_v3_zero(), NULL, false, tau);
    rs_kinematics_move(a, a->u_ahead);
    return true;
}

bool rs_articulated_free_velocity(rs_articulation *a, rs_vec3 gravity, double dt) {
    rs_actuation_rule rule = rs_articulated_rule(a, dt);
    double *force = a->work[0];
    rs_actuation_result actuation = {a->applied_force, force, a->weight};
    rs_actuation(a, a->q_stage, a->u, &rule, &actuation);
    if (rs_articulated_recall_blow(a, dt, a->rhs))
        for (int32_t k = 0; k < a->u_count; k++)
            force[k] += RS_RECALLED_SHARE * a->rhs[k];
    rs_rnea_wrenches(a, gravity, NULL, a->loaded);
    bool regular = rs_aba_factor_and_solve(a, a->weight, force, a->rhs);
    if (a->scheme == RS_SCHEME_MIDPOINT)
        repeat_half_way(a, gravity, dt, force);
    for (int32_t k = 0; k < a->u_count; k++)
        a->u_free[k] = a->u[k] + dt * a->rhs[k];
    if (a->scheme == RS_SCHEME_RUNGE_KUTTA_4)
        copy_velocities(a, a->u_free, a->work[1]);
    return regular;
}

bool rs_articulated_is_carried(const rs_articulation *a, const double *q, const double *u) {
    return rs_all_carried(q, a->q_count) && rs_all_carried(u, a->u_count);
}

void rs_articulated_stop(rs_articulation *a, double dt) {
    size_t bytes = sizeof(double) * (size_t)a->u_count;
    memset(a->feed_forward, 0, bytes); /* what may have driven it away */
    memset(a->loads, 0, sizeof *a->loads * (size_t)a->link_count);
    a->loaded = false;
    rs_articulated_rest(a, dt);
    memset(a->u_free, 0, bytes);
}

static void finish_configuration(rs_articulation *a, rs_vec3 gravity, double dt, double *q_new) {
    switch (a->scheme) {
    case RS_SCHEME_TRAPEZOID:
    case RS_SCHEME_MIDPOINT: rs_kinematics_advance(a, a->q_stage, a->u_free, 0.5 * dt, q_new); break;
    case RS_SCHEME_SEMI_IMPLICIT: rs_kinematics_advance(a, a->q, a->u_free, dt, q_new); break;
    case RS_SCHEME_EULER: rs_kinematics_advance(a, a->q, a->u, dt, q_new); break;
    case RS_SCHEME_RUNGE_KUTTA_4:
        for (int32_t k = 0; k < a->u_count; k++) /* the blow of the contacts comes first */
            a->u_free[k] = a->u[k] + (a->u_free[k] - a->work[1][k]);
        rs_runge_kutta_4(a, gravity, dt, q_new, a->u_free);
        break;
    }
}

bool rs_articulated_integrate(rs_articulation *a, rs_vec3 gravity, double dt) {
    double *q_new = a->q_work[0];
    if (a->scheme == RS_SCHEME_MIDPOINT)
        account_for_blow(a, gravity, dt);
    finish_configuration(a, gravity, dt, q_new);
    if (a->pushed)
        rs_kinematics_advance(a, q_new, a->u_push, dt, q_new);
    bool finite = rs_articulated_is_carried(a, q_new, a->u_free);
    for (int32_t k = 0; k < a->u_count; k++) {
        double before = a->u[k];
        a->u[k] = finite ? a->u_free[k] : 0.0;
        a->u_change[k] = finite ? a->u[k] - before : 0.0;
        a->acceleration[k] = a->u_change[k] / dt;
    }
    if (finite)
        memcpy(a->q, q_new, sizeof(double) * (size_t)a->q_count);
    if (a->loaded)
        memset(a->loads, 0, sizeof *a->loads * (size_t)a->link_count);
    a->loaded = false;
    a->placed_at = NULL;
    return finite;
}

/* ---- rest ---- */

/* Motors and springs lead joints to a place, often slower and slower. How far it still is must be less than this
 * [rad, m]; what moves without slowing down must be slower than that [rad/s, m/s]. */
static const double ARRIVED = 1e-5, STANDS_STILL = 1e-6;
/* Their accelerations must be that much smaller than those of what just lies around: where a joint turns back, it is still
 * on its way. */
static const double LED_CHANGE_SHARE = 0.01;

static bool is_led(const rs_articulation *a, int32_t k) {
    bool motor = a->control_mode == RS_CONTROL_PD_PLUS_FEEDFORWARD_TORQUE && a->p_gain[k] + a->d_gain[k] > 0.0;
    return motor || a->stiffness[k] > 0.0;
}

/* A speed v that shrinks at the rate a is at rest after the way v^2 / a. */
static bool led_joints_have_arrived(const rs_articulation *a, double change, double dt) {
    for (int32_t k = 0; k < a->u_count; k++) {
        double speed = fabs(a->u[k]), slowing = fabs(a->u_change[k]);
        bool near = speed <= STANDS_STILL || speed * speed * dt <= ARRIVED * slowing;
        if (is_led(a, k) && (!near || slowing > LED_CHANGE_SHARE * change))
            return false;
    }
    return true;
}

/* Whether every link is slower than the limits [m/s, rad/s] when the generalised velocities are `u`. */
static bool links_are_slow(rs_articulation *a, const double *u, double linear, double angular) {
    double most = 2.0 * rs_max(linear, angular); /* of two links against each other */
    for (int32_t k = 0; k < a->u_count; k++)
        if (!(fabs(u[k]) < most))
            return false;
    rs_kinematics_move(a, u);
    for (int32_t i = 0; i < a->link_count; i++) {
        rs_vec3 com = rs_m3_mulv(&a->motion[i].rot, a->links[i].com);
        if (rs_norm2(rs_link_point_velocity(a, i, com)) >= linear * linear ||
            rs_norm2(a->motion[i].w) >= angular * angular)
            return false;
    }
    return true;
}

bool rs_articulated_is_quiet(rs_articulation *a, double linear, double angular, double acceleration, double dt) {
    double change = acceleration * dt;
    return led_joints_have_arrived(a, change, dt) && links_are_slow(a, a->u, linear, angular) &&
           links_are_slow(a, a->u_change, change, change) &&
           (!a->pushed || links_are_slow(a, a->u_push, linear, angular));
}

void rs_articulated_rest(rs_articulation *a, double dt) {
    size_t bytes = sizeof(double) * (size_t)a->u_count;
    memset(a->u, 0, bytes);
    memset(a->u_change, 0, bytes);
    memset(a->acceleration, 0, bytes);
    rs_articulated_begin(a, dt);
}
