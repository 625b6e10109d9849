#include "articulated.h"

#include <string.h>

static bool acts_on_any(const double *gain, int count) {
    bool acts = false;
    for (int k = 0; k < count; k++)
        acts |= gain[k] != 0.0;
    return acts;
}

/* Position errors of a spherical joint; the logarithm is only taken where something acts on it. */
static inline void spherical_error(const double *q, const double *reference, const double *gain, double *error) {
    rs_v3_store(error, acts_on_any(gain, 3) ? rs_rotation_between(rs_quat_load(q), rs_quat_load(reference)) : rs_v3_zero());
}

/* Four spherical joints in a row at once: their quaternions and their errors lie behind one another. */
static void four_spherical_errors(const double *q, const double *reference, double *error) {
    rs_v4 f[4], t[4];
    const double *from[4] = {q, q + 4, q + 8, q + 12};
    const double *to[4] = {reference, reference + 4, reference + 8, reference + 12};
    rs_v4_gather(from, f);
    rs_v4_gather(to, t);
    /* t * conj(f), as in rs_rotation_between() */
    rs_v4 w = t[0] * f[0] + t[1] * f[1] + t[2] * f[2] + t[3] * f[3];
    rs_v4 x = t[1] * f[0] - t[0] * f[1] + t[3] * f[2] - t[2] * f[3];
    rs_v4 y = t[2] * f[0] - t[0] * f[2] + t[1] * f[3] - t[3] * f[1];
    rs_v4 z = t[3] * f[0] - t[0] * f[3] + t[2] * f[1] - t[1] * f[2];
    rs_index4 sign = (rs_index4)w & INT64_MIN;
    rs_v4 factor = rs_v4_rotation_factor((rs_v4)((rs_index4)w ^ sign), x * x + y * y + z * z);
    factor = (rs_v4)((rs_index4)factor ^ sign); /* the shorter way */
    double out[4][4], *rows[4] = {out[0], out[1], out[2], out[3]};
    rs_v4_scatter(factor * x, factor * y, factor * z, factor, rows);
    for (int k = 0; k < 4; k++)
        memcpy(&error[3 * k], out[k], 3 * sizeof(double));
}

/* How far each joint is from its target and from its spring's rest; zero for a floating base. */
static void position_errors(const rs_articulation *a, const double *q, bool pd, double *to_target, double *to_rest) {
    for (int32_t i = 0; i < a->link_count; i++) {
        const rs_link *link = &a->links[i];
        int32_t k = link->u_first, at = link->q_first;
        if (rs_are_four_spherical(a, i)) {
            memset(&to_target[k], 0, sizeof(double) * 12);
            memset(&to_rest[k], 0, sizeof(double) * 12);
            if (pd && acts_on_any(&a->p_gain[k], 12))
                four_spherical_errors(&q[at], &a->p_target[at], &to_target[k]);
            if (acts_on_any(&a->stiffness[k], 12))
                four_spherical_errors(&q[at], &a->spring_mount[at], &to_rest[k]);
            i += 3;
        } else if (link->u_count == 1) {
            to_target[k] = a->p_target[at] - q[at];
            to_rest[k] = a->spring_mount[at] - q[at];
        } else if (link->type == RS_JOINT_SPHERICAL) {
            if (pd)
                spherical_error(&q[at], &a->p_target[at], &a->p_gain[k], &to_target[k]);
            else
                to_target[k] = to_target[k + 1] = to_target[k + 2] = 0.0;
            spherical_error(&q[at], &a->spring_mount[at], &a->stiffness[k], &to_rest[k]);
        } else {
            for (int32_t e = 0; e < link->u_count; e++)
                to_target[k + e] = to_rest[k + e] = 0.0;
        }
    }
}

/* Square of the phase up to which the trapezoidal rule treats a stiffness: 12 steps in a period. */
static const double SOFT_PHASE2 = 0.25;
/* A motor closer to an effort limit than this share of its range, now or in the step before, is a row of the solve. */
static const double NEAR_LIMIT = 0.2;

/* Motors that may reach their limits leave force and weight: they are rows, whose impulse is bounded. Where there are no
 * rows, a motor at its limit gives that limit whatever the motion does. Without branches: several degrees of freedom are
 * treated at once. */
static void drive(const rs_articulation *a, const double *restrict u, double pd, const rs_actuation_rule *rule,
                  const double *restrict to_target, const double *restrict to_rest, const rs_actuation_result *out) {
    const double *restrict kp = a->p_gain, *restrict kd = a->d_gain, *restrict damping = a->damping;
    const double *restrict stiffness = a->stiffness, *restrict feed_forward = a->feed_forward;
    const double *restrict lower = a->effort_lower, *restrict upper = a->effort_upper, *restrict last = a->motor_impulse;
    double *restrict command = out->command, *restrict force = out->force, *restrict weight = out->weight;
    double *restrict motor_weight = a->motor_weight, *restrict motor_drive = a->motor_drive;
    double *restrict stiff_below = a->stiff_below, dt = rule->row_dt, stiff_dt = rule->stiff_dt;
    for (int32_t k = 0; k < a->u_count; k++) {
        double wanted = feed_forward[k] + pd * (kp[k] * to_target[k] + kd[k] * (a->d_target[k] - u[k]));
        double given = rs_min(rs_max(wanted, lower[k]), upper[k]), margin = NEAR_LIMIT * (upper[k] - lower[k]);
        double high = upper[k] - margin, low = lower[k] + margin; /* not numbers where there are no limits */
        bool near = wanted > high || wanted < low || last[k] > dt * high || last[k] < dt * low;
        double own_weight = pd * dt * (kd[k] + dt * kp[k]), row = near && own_weight > 0.0 ? 1.0 : 0.0;
        double active = given == wanted ? (1.0 - row) * pd : 0.0;
        double k_all = stiffness[k] + active * kp[k], d_all = damping[k] + active * kd[k];
        command[k] = given;
        motor_weight[k] = row * own_weight;
        motor_drive[k] = row * dt * (wanted - dt * kp[k] * u[k]);
        force[k] = (1.0 - row) * given - damping[k] * u[k] + stiffness[k] * to_rest[k] - rule->foresight * k_all * u[k];
        weight[k] = a->rotor_inertia[k] + rule->damping_weight * d_all + rule->stiffness_weight * k_all;
        stiff_below[k] = rs_max(stiff_dt * stiff_dt / SOFT_PHASE2 * k_all, stiff_dt * d_all) - a->rotor_inertia[k];
    }
}

void rs_actuation(rs_articulation *a, const double *q, const double *u, const rs_actuation_rule *rule,
                  const rs_actuation_result *out) {
    bool pd = a->control_mode == RS_CONTROL_PD_PLUS_FEEDFORWARD_TORQUE;
    position_errors(a, q, pd, a->errors[0], a->errors[1]);
    drive(a, u, pd ? 1.0 : 0.0, rule, a->errors[0], a->errors[1], out);
}

/* ---- stiff joints ---- */

double rs_actuation_stiffen(const rs_articulation *a, int32_t k, double inertia, double dt, double *force) {
    bool motor = a->control_mode == RS_CONTROL_PD_PLUS_FEEDFORWARD_TORQUE && a->motor_weight[k] == 0.0;
    double stiffness = a->stiffness[k] + (motor ? a->p_gain[k] : 0.0), damping = a->damping[k] + (motor ? a->d_gain[k] : 0.0);
    double m = inertia + a->rotor_inertia[k], phase2 = dt * dt * stiffness, decay = dt * damping; /* times m */
    double late = phase2 > SOFT_PHASE2 * m ? (phase2 - SOFT_PHASE2 * m) / (phase2 + (1.0 - SOFT_PHASE2) * m) : 0.0;
    double damping_share = decay > m ? 1.0 - 0.5 * m / decay : 0.5;
    *force -= late * dt * stiffness * a->u[k];
    return a->rotor_inertia[k] + (0.25 + 0.75 * late) * phase2 + damping_share * decay;
}

/* Effort of a motor some time after it was looked at last, with the velocity u. */
static double effort_after(const rs_articulation *a, int32_t k, double u, double time) {
    return a->feed_forward[k] + a->p_gain[k] * (a->errors[0][k] - time * u) + a->d_gain[k] * (a->d_target[k] - u);
}

bool rs_actuation_foresee(rs_articulation *a, const double *u, double dt) {
    bool beyond = false;
    if (a->control_mode != RS_CONTROL_PD_PLUS_FEEDFORWARD_TORQUE)
        return false;
    for (int32_t k = a->fixed_base ? 0 : 6; k < a->u_count; k++) {
        bool free = a->motor_weight[k] == 0.0 && a->p_gain[k] + a->d_gain[k] > 0.0;
        for (int half = 1; half <= 2 && free; half++) { /* soft ones go by the end of the step, stiff ones look farther */
            double effort = effort_after(a, k, u[k], 0.5 * half * dt);
            bool over = effort > a->effort_upper[k] || effort < a->effort_lower[k];
            if (over)
                a->motor_impulse[k] = dt * effort;
            beyond |= over;
        }
    }
    return beyond;
}
