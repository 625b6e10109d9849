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

/* A motor at its limit gives that limit whatever the motion does, so its gains leave the implicit part. Without
 * branches: several degrees of freedom are treated at once. */
static void drive(const rs_articulation *a, const double *restrict u, double pd, const rs_actuation_rule *rule,
                  const double *restrict to_target, const double *restrict to_rest, const rs_actuation_result *out) {
    const double *restrict kp = a->p_gain, *restrict kd = a->d_gain, *restrict damping = a->damping;
    const double *restrict stiffness = a->stiffness, *restrict feed_forward = a->feed_forward;
    const double *restrict lower = a->effort_lower, *restrict upper = a->effort_upper;
    double *restrict command = out->command, *restrict force = out->force, *restrict weight = out->weight;
    for (int32_t k = 0; k < a->u_count; k++) {
        double wanted = feed_forward[k] + pd * (kp[k] * to_target[k] + kd[k] * (a->d_target[k] - u[k]));
        double given = rs_min(rs_max(wanted, lower[k]), upper[k]);
        double active = given == wanted ? pd : 0.0;
        double k_all = stiffness[k] + active * kp[k], d_all = damping[k] + active * kd[k];
        command[k] = given;
        force[k] = given - damping[k] * u[k] + stiffness[k] * to_rest[k] - rule->foresight * k_all * u[k];
        weight[k] = a->rotor_inertia[k] + rule->damping_weight * d_all + rule->stiffness_weight * k_all;
    }
}

void rs_actuation(rs_articulation *a, const double *q, const double *u, const rs_actuation_rule *rule,
                  const rs_actuation_result *out) {
    bool pd = a->control_mode == RS_CONTROL_PD_PLUS_FEEDFORWARD_TORQUE;
    position_errors(a, q, pd, a->errors[0], a->errors[1]);
    drive(a, u, pd ? 1.0 : 0.0, rule, a->errors[0], a->errors[1], out);
}
