#include "runge_kutta.h"
#include "tendons.h"

#include <string.h>

/* to += s * dq/dt at (q, u). Quaternions move along their tangent: as plain numbers they keep the order of the method,
 * which exponentials of averaged velocities do not. */
static void add_rate(const rs_articulation *a, const double *q, const double *u, double s, double *to) {
    for (int32_t i = 0; i < a->link_count; i++) {
        const rs_link *link = &a->links[i];
        const double *qi = &q[link->q_first], *ui = &u[link->u_first];
        double *out = &to[link->q_first];
        int32_t numbers = link->numbers;
        for (int32_t k = 0; k < numbers; k++)
            out[k] += s * ui[k];
        if (!link->has_quaternion)
            continue;
        rs_quat spin = {0.0, ui[numbers], ui[numbers + 1], ui[numbers + 2]};
        rs_quat rate = rs_quat_mul(spin, rs_quat_load(qi + numbers));
        out[numbers] += 0.5 * s * rate.w;
        out[numbers + 1] += 0.5 * s * rate.x;
        out[numbers + 2] += 0.5 * s * rate.y;
        out[numbers + 3] += 0.5 * s * rate.z;
    }
}

static void normalize(const rs_articulation *a, double *q) {
    for (int32_t i = 0; i < a->link_count; i++) {
        const rs_link *link = &a->links[i];
        if (!link->has_quaternion)
            continue;
        double *quaternion = &q[link->q_first + link->numbers];
        rs_quat_store(quaternion, rs_quat_normalize(rs_quat_load(quaternion)));
    }
}

/* out = accelerations at (q, u); q must be normalised. */
static void forward_dynamics(rs_articulation *a, rs_vec3 gravity, double dt, const double *q, const double *u, double *out) {
    static const rs_actuation_rule explicit_rule = {0};
    rs_kinematics_place(a, q, u);
    rs_actuation_result actuation = {a->work[1], out, a->weight};
    rs_actuation(a, q, u, &explicit_rule, &actuation);
    rs_tendons_place(a, q);
    rs_drives_push(a, dt, out);
    rs_rnea_wrenches(a, gravity, NULL, a->loaded);
    rs_aba_factor_and_solve(a, a->weight, out, out, 0.0);
}

void rs_runge_kutta_4(rs_articulation *a, rs_vec3 gravity, double dt, double *q_new, double *u) {
    static const double reach[4] = {0.0, 0.5, 0.5, 1.0}, share[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    double *u_stage = a->work[0], *slope = a->work[2], *sum = a->work[3], *q_stage = a->q_work[1];
    size_t q_bytes = sizeof(double) * (size_t)a->q_count, u_bytes = sizeof(double) * (size_t)a->u_count;
    memcpy(q_new, a->q, q_bytes);
    memset(sum, 0, u_bytes);
    memcpy(q_stage, a->q, q_bytes);
    memcpy(u_stage, u, u_bytes);
    for (int stage = 0; stage < 4; stage++) {
        if (stage > 0) { /* from the slopes of the stage before */
            memcpy(a->q_stage, a->q, q_bytes);
            add_rate(a, q_stage, u_stage, reach[stage] * dt, a->q_stage);
            memcpy(q_stage, a->q_stage, q_bytes);
            for (int32_t k = 0; k < a->u_count; k++)
                u_stage[k] = u[k] + reach[stage] * dt * slope[k];
        }
        add_rate(a, q_stage, u_stage, share[stage] * dt, q_new);
        memcpy(a->q_stage, q_stage, q_bytes);
        normalize(a, a->q_stage);
        forward_dynamics(a, gravity, dt, a->q_stage, u_stage, slope);
        for (int32_t k = 0; k < a->u_count; k++)
            sum[k] += share[stage] * dt * slope[k];
    }
    for (int32_t k = 0; k < a->u_count; k++)
        u[k] += sum[k];
    normalize(a, q_new);
}
