#include "articulated.h"

static bool uses_pd(const rs_articulation *a) { return a->control_mode == RS_CONTROL_PD_PLUS_FEEDFORWARD_TORQUE; }

/* Command of one degree of freedom, clamped to the effort limits. */
static double command_of(const rs_articulation *a, int32_t k, double error, double u, bool *saturated) {
    double wanted = a->feed_forward[k];
    if (uses_pd(a))
        wanted += a->p_gain[k] * error + a->d_gain[k] * (a->d_target[k] - u);
    double command = rs_clamp(wanted, a->effort_lower[k], a->effort_upper[k]);
    *saturated = command != wanted;
    return command;
}

/* A motor at its limit gives that limit whatever the motion does, so its gains leave the implicit part. */
static void drive(const rs_articulation *a, int32_t k, double p_error, double spring_error, double u,
                  const rs_actuation_rule *rule, const rs_actuation_result *out) {
    bool saturated;
    double command = command_of(a, k, p_error, u, &saturated);
    bool pd = uses_pd(a) && !saturated;
    double stiffness = a->stiffness[k] + (pd ? a->p_gain[k] : 0.0);
    double damping = a->damping[k] + (pd ? a->d_gain[k] : 0.0);
    out->command[k] = command;
    out->force[k] = command - a->damping[k] * u + a->stiffness[k] * spring_error - rule->foresight * stiffness * u;
    out->weight[k] = a->rotor_inertia[k] + rule->damping_weight * damping + rule->stiffness_weight * stiffness;
}

/* Position errors of a spherical joint; the logarithm is only taken where something acts on it. */
static rs_vec3 spherical_error(const double *q, const double *reference, const double *gain) {
    if (gain[0] == 0.0 && gain[1] == 0.0 && gain[2] == 0.0)
        return rs_v3_zero();
    return rs_rotation_between(rs_quat_load(q), rs_quat_load(reference));
}

static void drive_spherical(const rs_articulation *a, const rs_link *link, const double *q, const double *u,
                            const rs_actuation_rule *rule, const rs_actuation_result *out) {
    int32_t k = link->u_first, at = link->q_first;
    double p[3] = {0}, s[3];
    if (uses_pd(a))
        rs_v3_store(p, spherical_error(&q[at], &a->p_target[at], &a->p_gain[k]));
    rs_v3_store(s, spherical_error(&q[at], &a->spring_mount[at], &a->stiffness[k]));
    for (int32_t e = 0; e < 3; e++)
        drive(a, k + e, p[e], s[e], u[k + e], rule, out);
}

void rs_actuation(const rs_articulation *a, const double *q, const double *u, const rs_actuation_rule *rule,
                  const rs_actuation_result *out) {
    for (int32_t i = 0; i < a->link_count; i++) {
        const rs_link *link = &a->links[i];
        int32_t k = link->u_first, at = link->q_first;
        if (link->u_count == 1)
            drive(a, k, a->p_target[at] - q[at], a->spring_mount[at] - q[at], u[k], rule, out);
        else if (link->type == RS_JOINT_SPHERICAL)
            drive_spherical(a, link, q, u, rule, out);
        else
            for (int32_t e = 0; e < link->u_count; e++) /* no gains: a floating base has no motor */
                drive(a, k + e, 0.0, 0.0, u[k + e], rule, out);
    }
}
