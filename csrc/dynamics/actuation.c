/* What joints are driven by: feed-forward, gains and targets, springs, dampers. */
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
        } else if (rs_joint_is_ball(link)) {
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

/* Motors that may reach their limits leave force and weight: they are rows, whose impulse is bounded. */
static void make_rows(const rs_articulation *a, const double *u, const rs_actuation_rule *rule, const double *to_target,
                      const rs_actuation_result *out) {
    double dt = rule->row_dt;
    for (int32_t k = 0; k < a->u_count; k++) {
        double kp = a->p_gain[k], kd = a->d_gain[k], weight = dt * (kd + dt * kp);
        double wanted = a->feed_forward[k] + kp * to_target[k] + kd * (a->d_target[k] - u[k]), given = out->command[k];
        double margin = NEAR_LIMIT * (a->effort_upper[k] - a->effort_lower[k]), last = a->motor_impulse[k];
        double high = a->effort_upper[k] - margin, low = a->effort_lower[k] + margin;
        if (!(wanted > high || wanted < low || last > dt * high || last < dt * low) || weight == 0.0)
            continue;
        double active = given == wanted ? 1.0 : 0.0;
        a->motor_weight[k] = weight;
        a->motor_drive[k] = dt * (wanted - dt * kp * u[k]);
        out->force[k] -= given - active * rule->foresight * kp * u[k];
        out->weight[k] -= active * (rule->damping_weight * kd + rule->stiffness_weight * kp);
        a->stiff_below[k] = rs_max(rule->stiff_dt * rule->stiff_dt / SOFT_PHASE2 * a->stiffness[k],
                                   rule->stiff_dt * a->damping[k]) - a->rotor_inertia[k];
    }
}

/* Four degrees of freedom at once, and as many behind the last as it takes: arrays are padded with zeros. */
enum { FOUR = 4 };

/* A motor at its limit gives that limit whatever the motion does, so its gains leave the implicit part. True when a motor is
 * near its limits. */
static bool drive(const rs_articulation *a, const double *u, double pd, const rs_actuation_rule *rule,
                  const double *to_target, const double *to_rest, const rs_actuation_result *out) {
    rs_v4 damping_weight = rs_v4_all(rule->damping_weight), stiffness_weight = rs_v4_all(rule->stiffness_weight);
    rs_v4 foresight = rs_v4_all(rule->foresight), acts = rs_v4_all(pd), none = rs_v4_all(0.0);
    rs_v4 soft = rs_v4_all(rule->stiff_dt * rule->stiff_dt / SOFT_PHASE2), slow = rs_v4_all(rule->stiff_dt);
    rs_index4 near = {0, 0, 0, 0};
    for (int32_t k = 0; k < a->u_count; k += FOUR) {
        rs_v4 kp = rs_v4_read(&a->p_gain[k]), kd = rs_v4_read(&a->d_gain[k]), speed = rs_v4_read(&u[k]);
        rs_v4 lower = rs_v4_read(&a->effort_lower[k]), upper = rs_v4_read(&a->effort_upper[k]);
        rs_v4 damping = rs_v4_read(&a->damping[k]), stiffness = rs_v4_read(&a->stiffness[k]);
        rs_v4 rotor = rs_v4_read(&a->rotor_inertia[k]);
        rs_v4 wanted = rs_v4_read(&a->feed_forward[k]) +
                       acts * (kp * rs_v4_read(&to_target[k]) + kd * (rs_v4_read(&a->d_target[k]) - speed));
        rs_v4 given = rs_v4_min(rs_v4_max(wanted, lower), upper), active = rs_v4_choose(given == wanted, acts, none);
        rs_v4 k_all = stiffness + active * kp, d_all = damping + active * kd;
        rs_v4_write(&out->command[k], given);
        rs_v4_write(&a->motor_weight[k], none);
        rs_v4_write(&out->force[k],
                    given - damping * speed + stiffness * rs_v4_read(&to_rest[k]) - foresight * k_all * speed);
        rs_v4_write(&out->weight[k], rotor + damping_weight * d_all + stiffness_weight * k_all);
        rs_v4_write(&a->stiff_below[k], rs_v4_max(soft * k_all, slow * d_all) - rotor);
        rs_v4 margin = NEAR_LIMIT * (upper - lower); /* without limits comparisons fail */
        near |= (wanted > upper - margin) | (wanted < lower + margin) | (rs_v4_read(&a->motor_impulse[k]) != none);
    }
    return rs_any4(near);
}

void rs_actuation(rs_articulation *a, const double *q, const double *u, const rs_actuation_rule *rule,
                  const rs_actuation_result *out) {
    bool pd = a->control_mode == RS_CONTROL_PD_PLUS_FEEDFORWARD_TORQUE;
    position_errors(a, q, pd, a->to_target, a->to_rest);
    bool near = drive(a, u, pd ? 1.0 : 0.0, rule, a->to_target, a->to_rest, out);
    if (near && pd && rule->row_dt > 0.0)
        make_rows(a, u, rule, a->to_target, out);
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

/* Soft motors go by the end of the step, stiff ones look half a step farther: both must stay within the limits. */
bool rs_actuation_foresee(rs_articulation *a, const double *u, double dt) {
    if (a->control_mode != RS_CONTROL_PD_PLUS_FEEDFORWARD_TORQUE)
        return false;
    rs_v4 step = rs_v4_all(dt), none = rs_v4_all(0.0);
    rs_index4 any = {0, 0, 0, 0};
    for (int32_t k = 0; k < a->u_count; k += FOUR) {
        rs_v4 kp = rs_v4_read(&a->p_gain[k]), kd = rs_v4_read(&a->d_gain[k]), speed = rs_v4_read(&u[k]);
        rs_v4 now = rs_v4_read(&a->feed_forward[k]) + kp * rs_v4_read(&a->to_target[k]) +
                    kd * (rs_v4_read(&a->d_target[k]) - speed);
        rs_v4 way = step * kp * speed, soon = now - 0.5 * way, later = now - way;
        rs_v4 high = rs_v4_max(soon, later), low = rs_v4_min(soon, later);
        rs_index4 above = high > rs_v4_read(&a->effort_upper[k]), below = low < rs_v4_read(&a->effort_lower[k]);
        rs_index4 seen = (above | below) & (rs_v4_read(&a->motor_weight[k]) == none) & (kp + kd > none);
        if (!rs_any4(seen))
            continue;
        rs_v4 beyond = rs_v4_choose(above, high - rs_v4_read(&a->effort_upper[k]), none) +
                       rs_v4_choose(below, low - rs_v4_read(&a->effort_lower[k]), none);
        seen &= beyond != none;
        rs_v4 impulse = rs_v4_choose(seen, step * rs_v4_choose(beyond > none, high, low), rs_v4_read(&a->motor_impulse[k]));
        rs_v4_write(&a->motor_impulse[k], impulse);
        any |= seen;
    }
    return rs_any4(any);
}
