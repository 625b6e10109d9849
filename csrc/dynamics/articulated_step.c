/* The step of an articulated system: its velocity products, what acts on it, where it ends. */
#include "articulated.h"
#include "../base/limits.h"
#include "conservation.h"
#include "lone_link.h"
#include "runge_kutta.h"
#include "tendons.h"
#include "tension.h"

#include <string.h>

/* What changes velocities faster than this is a blow [m/s^2, rad/s^2]. */
static const double BLOW_ACCELERATION = 100.0;
/* Unless the change differs from that of the step before by less than this share. */
static const double SMOOTH_SHARE = 0.3;
/* What turns by more than this in a step is fast: guessing its velocity products from the step before, which amplifies
 * oscillations, would feed it energy [rad]. */
static const double FAST_TURN = 0.02;
/* Of what is guided by contacts, limits or pins only the step before knows the velocity; but what turns by more than this
 * in a step needs its velocity products however it is guided [rad]. */
static const double COARSE_TURN = 0.2;
/* What turns by more than this in a step may miss more energy than a bound allows (see conservation.c), which is about its square [rad]. */
static const double BOUNDED_TURN = 0.1;
/* The momentum of what turns by less is kept to rounding anyway: to the third power of it in free flight, to the first
 * under impulses [rad]. */
static const double SMALL_TURN = 1e-3, LEAST_TURN = 1e-8;
/* Of the search for the velocity half-way: most steps, and the relative change that ends it. */
enum { MAX_REPEATS = 40 };
static const double REPEAT_TOLERANCE = 1e-6;
/* How often motors are looked for that a step drives into their limits; each becomes a row, others may follow. */
enum { MAX_FORESIGHTS = 3 };
/* It has failed when a change is that much larger than the one before. */
static const double MAX_GROWTH = 2.0;

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
    if (at_midpoint(a) && rs_is_lone_link(a))
        rs_lone_link_midpoint(a, dt);
    look_ahead(a);
    rs_kinematics_place(a, a->q_stage, a->u_ahead);
}

void rs_articulated_stand(rs_articulation *a) {
    memcpy(a->q_stage, a->q, sizeof(double) * (size_t)a->q_count);
    rs_kinematics_refresh(a);
}

/* Lengths and arms of tendons half-way through the step, and their lengths at its beginning. */
static void place_tendons(rs_articulation *a, double dt) {
    rs_tendons_place(a, a->q_stage);
    double back = at_midpoint(a) ? 0.5 * dt : 0.0;
    for (int32_t k = 0; k < a->tendon_count; k++)
        a->tendon_places[k].before = a->tendon_places[k].length - back * rs_tendon_speed(a, &a->tendons[k], a->u);
}

rs_actuation_rule rs_articulated_rule(const rs_articulation *a, double dt) {
    switch (a->scheme) {
    case RS_SCHEME_TRAPEZOID:
    case RS_SCHEME_MIDPOINT: return (rs_actuation_rule){0.5 * dt, 0.25 * dt * dt, 0.0, dt, dt};
    case RS_SCHEME_SEMI_IMPLICIT: return (rs_actuation_rule){dt, dt * dt, dt, dt, 0.0};
    default: return (rs_actuation_rule){0};
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

/* Whether the velocity half-way is not to be guessed from the step before: after a blow, or where links turn fast. What
 * changes as it did in the step before is no blow, however fast it changes. */
static bool is_rough(const rs_articulation *a, double dt) {
    bool struck = false;
    for (int32_t k = 0; k < a->u_count; k++)
        struck |= fabs(a->u_change[k]) > BLOW_ACCELERATION * dt;
    double largest = 0.0, news = 0.0;
    for (int32_t k = 0; k < a->u_count && struck; k++) {
        largest = rs_max(largest, fabs(a->u_change[k]));
        news = rs_max(news, fabs(a->u_change[k] - a->u_change_before[k]));
    }
    return news > SMOOTH_SHARE * largest || a->turn > (a->guided ? COARSE_TURN : FAST_TURN);
}

/* Velocity products at the velocity half-way, by repetition. They turn the velocity by about a->turn, as an imaginary
 * factor: weighted by 1 / (1 + turn^2) the repetition converges however large it is. Where it does not, links turn so
 * far within the step that no velocity products have a meaning: none are taken, and momentum and energy alone rule. */
static void find_half_way(rs_articulation *a, rs_vec3 gravity, double dt, const double *force) {
    double share = 1.0, before = INFINITY;
    for (int n = 0; n < MAX_REPEATS; n++) {
        double change = 0.0, size = 0.0; /* squared */
        for (int32_t k = 0; k < a->u_count; k++) {
            double step = a->u[k] + 0.5 * dt * a->u_rate[k] - a->u_ahead[k];
            change += step * step;
            size += a->u_ahead[k] * a->u_ahead[k];
        }
        if (n > 0 && change <= REPEAT_TOLERANCE * REPEAT_TOLERANCE * size)
            return;
        if (!(change < MAX_GROWTH * MAX_GROWTH * before)) /* or it is not a number */
            break;
        for (int32_t k = 0; k < a->u_count; k++)
            a->u_ahead[k] += share * (a->u[k] + 0.5 * dt * a->u_rate[k] - a->u_ahead[k]);
        accelerate_with(a, gravity, force, a->u_ahead, a->u_rate);
        share = 1.0 / (1.0 + a->turn * a->turn);
        before = n > 0 ? change : INFINITY;
    }
    memset(a->u_ahead, 0, sizeof(double) * (size_t)a->u_count);
    accelerate_with(a, gravity, force, a->u_ahead, a->u_rate);
}

/* Accelerations by all forces, in a->u_rate, with the velocity products of a->u_ahead. */
static bool accelerate(rs_articulation *a, rs_vec3 gravity, const rs_actuation_rule *rule, double dt) {
    double *force = a->joint_force;
    rs_actuation_result actuation = {a->applied_force, force, a->weight};
    rs_actuation(a, a->q_stage, a->u, rule, &actuation);
    rs_drives_push(a, dt, force);
    rs_rnea_wrenches(a, gravity, NULL, a->loaded);
    if (rule->stiff_dt > 0.0)
        rs_tension_find(a, gravity, dt);
    return rs_aba_factor_and_solve(a, a->weight, force, a->u_rate, rule->stiff_dt);
}

/* Whether the step so far drives a motor beyond its limits that is no row. */
static bool foresees_limits(rs_articulation *a, double dt) {
    double *u = a->spare;
    for (int32_t k = 0; k < a->u_count; k++)
        u[k] = a->u[k] + dt * a->u_rate[k];
    return rs_actuation_foresee(a, u, dt);
}

bool rs_articulated_free_velocity(rs_articulation *a, rs_vec3 gravity, double dt) {
    rs_actuation_rule rule = rs_articulated_rule(a, dt);
    const double *force = a->joint_force;
    a->turn = rs_turn_per_step(a, dt);
    place_tendons(a, dt);
    bool regular = accelerate(a, gravity, &rule, dt);
    for (int n = 0; n < MAX_FORESIGHTS && rule.row_dt > 0.0 && foresees_limits(a, dt); n++)
        regular = accelerate(a, gravity, &rule, dt);
    if (a->scheme == RS_SCHEME_MIDPOINT || (a->scheme == RS_SCHEME_TRAPEZOID && is_rough(a, dt)))
        find_half_way(a, gravity, dt, force);
    for (int32_t k = 0; k < a->u_count; k++)
        a->u_free[k] = a->u[k] + dt * a->u_rate[k];
    if (at_midpoint(a) && rs_is_lone_link(a))
        rs_lone_link_free_velocity(a, gravity, dt);
    copy_velocities(a, a->u_free, a->u_alone);
    return regular;
}

void rs_articulated_free_again(rs_articulation *a, rs_vec3 gravity, double dt) {
    look_ahead(a);
    rs_kinematics_move(a, a->u_ahead);
    rs_articulated_free_velocity(a, gravity, dt);
}

bool rs_articulated_is_carried(const rs_articulation *a, const double *q, const double *u) {
    return rs_all_carried(q, a->q_count) && rs_all_carried(u, a->u_count);
}

void rs_articulated_clear_loads(rs_articulation *a) {
    if (a->loaded)
        memset(a->loads, 0, sizeof *a->loads * (size_t)a->link_count);
    a->loaded = false;
}

void rs_articulated_stop(rs_articulation *a, double dt) {
    size_t bytes = sizeof(double) * (size_t)a->u_count;
    memset(a->feed_forward, 0, bytes); /* what may have driven it away */
    memset(a->drive_control, 0, sizeof(double) * (size_t)a->drive_count);
    memset(a->activation, 0, sizeof(double) * (size_t)a->drive_count);
    rs_articulated_clear_loads(a);
    rs_articulated_rest(a, dt);
    memset(a->u_free, 0, bytes);
}

static void finish_configuration(rs_articulation *a, rs_vec3 gravity, double dt, double *q_new) {
    switch (a->scheme) {
    case RS_SCHEME_SEMI_IMPLICIT: rs_kinematics_advance(a, a->q, a->u_free, dt, q_new); break;
    case RS_SCHEME_EULER: rs_kinematics_advance(a, a->q, a->u, dt, q_new); break;
    case RS_SCHEME_RUNGE_KUTTA_4:
        for (int32_t k = 0; k < a->u_count; k++) /* the blow of the contacts comes first */
            a->u_free[k] = a->u[k] + (a->u_free[k] - a->u_alone[k]);
        rs_runge_kutta_4(a, gravity, dt, q_new, a->u_free);
        break;
    default: break; /* end_at_midpoint() */
    }
}

/* A blow within the step changes the velocity products for the half step after it: their mean over both ends is better
 * than those of the predicted velocity. */
static void account_for_blow(rs_articulation *a, rs_vec3 gravity, double dt) {
    const double *force = a->joint_force;
    double *before = a->spare, *after = a->work[3];
    accelerate_with(a, gravity, force, a->u, before);
    accelerate_with(a, gravity, force, a->u_free, after);
    for (int32_t k = 0; k < a->u_count; k++)
        a->u_free[k] += dt * (0.5 * (before[k] + after[k]) - a->u_rate[k]);
}

/* Motion that removes overlap. */
static void push(const rs_articulation *a, double dt, double *q) {
    if (a->pushed)
        rs_kinematics_advance(a, q, a->u_push, dt, q);
}

/* End of a midpoint step. Momentum and energy are kept where the step would miss them by more than rounding. */
static void end_at_midpoint(rs_articulation *a, rs_vec3 gravity, double dt, double *q_new) {
    double *solved = a->work[2], turn = a->turn;
    copy_velocities(a, a->u_free, solved);
    if (a->guided && a->scheme == RS_SCHEME_MIDPOINT)
        account_for_blow(a, gravity, dt);
    rs_kinematics_advance(a, a->q_stage, a->u_free, 0.5 * dt, q_new);
    push(a, dt, q_new);
    for (int32_t k = a->fixed_base ? 0 : 3; k < a->u_count && a->guided; k++) /* after a blow */
        turn = rs_max(turn, dt * fabs(a->u_free[k]));
    rs_energy_rule rule = turn > BOUNDED_TURN ? RS_ENERGY_BOUNDED : RS_ENERGY_FREE;
    if (!a->guided && turn > FAST_TURN)
        rule = RS_ENERGY_KEPT;
    if (a->taut && rule == RS_ENERGY_FREE)
        rule = RS_ENERGY_BOUNDED;
    double least = a->guided ? LEAST_TURN : SMALL_TURN;
    if (rule != RS_ENERGY_FREE || (!a->fixed_base && (a->pushed || turn > least)))
        rs_conserve(a, gravity, dt, solved, q_new, rule);
}

bool rs_articulated_integrate(rs_articulation *a, rs_vec3 gravity, double dt) {
    double *q_new = a->q_work[0];
    a->guided = memcmp(a->u_free, a->u_alone, sizeof(double) * (size_t)a->u_count) != 0;
    if (a->guided && rs_articulated_rule(a, dt).row_dt > 0.0) /* rows may have driven motors to their limits */
        rs_actuation_foresee(a, a->u_free, dt);
    if (at_midpoint(a) && rs_is_lone_link(a)) {
        rs_lone_link_integrate(a, dt, q_new);
    } else if (at_midpoint(a)) {
        end_at_midpoint(a, gravity, dt, q_new);
    } else {
        finish_configuration(a, gravity, dt, q_new);
        push(a, dt, q_new);
    }
    bool finite = rs_articulated_is_carried(a, q_new, a->u_free);
    copy_velocities(a, a->u_change, a->u_change_before);
    double *restrict u = a->u, *restrict change = a->u_change, *restrict acceleration = a->acceleration;
    const double *restrict end = a->u_free;
    double share = finite ? 1.0 : 0.0;
    for (int32_t k = 0; k < a->u_count; k++) {
        double now = finite ? end[k] : 0.0;
        change[k] = share * (now - u[k]);
        acceleration[k] = change[k] / dt;
        u[k] = now;
    }
    if (finite)
        memcpy(a->q, q_new, sizeof(double) * (size_t)a->q_count);
    rs_articulated_clear_loads(a);
    a->placed_at = NULL;
    rs_drives_advance(a, dt);
    return finite;
}

/* ---- rest ---- */

/* Motors and springs lead joints to a place, often slower and slower. How far it still is must be less than this
 * [rad, m]; what moves without slowing down must be slower than that [rad/s, m/s]. */
static const double ARRIVED = 1e-5, STANDS_STILL = 1e-6, ROUNDING = 1e-9;
/* Their accelerations must be that much smaller than those of what just lies around: where a joint turns back, it is still
 * on its way. */
static const double LED_CHANGE_SHARE = 0.01;

static bool is_led(const rs_articulation *a, int32_t k) {
    bool motor = a->control_mode == RS_CONTROL_PD_PLUS_FEEDFORWARD_TORQUE && a->p_gain[k] + a->d_gain[k] > 0.0;
    return motor || a->stiffness[k] > 0.0;
}

/* Whether no joint is on its way. A speed v that shrinks at the rate a is at rest after the way v^2 / a; without motors
 * and springs nothing says that it goes on shrinking, and what just swings back would stop. */
static bool joints_have_arrived(const rs_articulation *a, double change, double dt) {
    bool led = false;
    for (int32_t k = 0; k < a->u_count; k++)
        led |= is_led(a, k);
    double speed2 = 0.0, former2 = 0.0;
    for (int32_t k = 0; k < a->u_count; k++) {
        double speed = fabs(a->u[k]), slowing = fabs(a->u_change[k]), former = a->u[k] - a->u_change[k];
        bool near = speed <= STANDS_STILL || (led && speed * speed * dt <= ARRIVED * slowing);
        if (!near && (is_led(a, k) || !led))
            return false;
        if (is_led(a, k) && slowing > LED_CHANGE_SHARE * change)
            return false;
        speed2 += speed * speed;
        former2 += former * former;
    }
    /* what a force sets in motion gets faster, beyond rounding */
    return led || speed2 <= former2 || speed2 <= ROUNDING * ROUNDING;
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
    return joints_have_arrived(a, change, dt) && rs_drives_are_quiet(a) && links_are_slow(a, a->u, linear, angular) &&
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
