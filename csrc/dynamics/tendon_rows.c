#include "joint_rows.h"

/* As in joint_rows.c: a tendon so near its limit gets a row, and is at it; how fast it is taken back. */
static const double NEAR_SPEED = 0.5, AT_LIMIT = 1e-5, MAX_RETURN_SPEED = 0.5;

double rs_tendon_length(const rs_articulation *a, const rs_tendon *tendon, const double *q) {
    double sum = 0.0;
    for (int32_t k = tendon->term_first; k < tendon->term_first + tendon->term_count; k++)
        sum += a->terms[k].coefficient * q[a->links[a->terms[k].link].q_first];
    return sum;
}

double rs_tendon_speed(const rs_articulation *a, const rs_tendon *tendon, const double *u) {
    double sum = 0.0;
    for (int32_t k = tendon->term_first; k < tendon->term_first + tendon->term_count; k++)
        sum += a->terms[k].coefficient * u[a->links[a->terms[k].link].u_first];
    return sum;
}

/* Adds a row to `count` others, and returns it. */
static rs_joint_row *add_row(rs_joint_row *rows, int32_t *count, const rs_tendon *tendon, rs_impulse_bounds bounds,
                             double *impulse, double sign) {
    rs_joint_row *row = &rows[(*count)++];
    *row = (rs_joint_row){.tendon = tendon, .bounds = bounds, .impulse = impulse, .sign = sign,
                          .start = rs_clamp(sign * *impulse, bounds.lower, bounds.upper)};
    return row;
}

/* A spring with damper that pulls with `force` now: what it gives at the end of the step, so that it is stable however
 * stiff it is. */
static void add_spring(rs_joint_row *row, double force, double stiffness, double damping, double speed, double dt) {
    double weight = dt * (damping + dt * stiffness);
    row->softness = 1.0 / weight;
    row->target = speed + dt * (force - 0.5 * dt * stiffness * speed) / weight; /* its length is that of half a step */
}

/* The way to a limit on one side: +1 above, -1 below. */
static double room_to(const rs_articulation *a, const rs_tendon *tendon, double side, const double *q) {
    return side * ((side > 0.0 ? tendon->upper : tendon->lower) - rs_tendon_length(a, tendon, q));
}

/* Whether tendon k gets a row for a limit: it is near, or others drive it there. */
static bool is_near(const rs_articulation *a, int32_t k, double side, double room, double dt) {
    bool driven = a->overruns[a->u_count + k] > 0.0 || a->tendon_impulses[k].limit != 0.0;
    return dt * (side * rs_tendon_speed(a, &a->tendons[k], a->u_free) + NEAR_SPEED) > room || (driven && room < INFINITY);
}

bool rs_tendon_rows_missed(rs_articulation *a, const double *u, double dt) {
    bool missed = false;
    for (int32_t k = 0; k < a->tendon_count; k++)
        for (int side = -1; side <= 1; side += 2) {
            double room = room_to(a, &a->tendons[k], side, a->q_stage);
            if (dt * side * rs_tendon_speed(a, &a->tendons[k], u) > room + AT_LIMIT && !is_near(a, k, side, room, dt)) {
                a->overruns[a->u_count + k] = 1.0;
                missed = true;
            }
        }
    return missed;
}

static void add_limit(rs_articulation *a, int32_t k, double side, double dt, rs_joint_row *rows, int32_t *count) {
    const rs_tendon *tendon = &a->tendons[k];
    double room = room_to(a, tendon, side, a->q_stage);
    if (!is_near(a, k, side, room, dt))
        return;
    rs_joint_row *row = add_row(rows, count, tendon, RS_PUSHES, &a->tendon_impulses[k].limit, -side);
    row->target = room < AT_LIMIT ? 0.0 : -room / dt;
    row->push = rs_return_speed(rs_min(room, 0.0), rs_min(room_to(a, tendon, side, a->q), 0.0), MAX_RETURN_SPEED, dt);
}

int32_t rs_tendon_rows(rs_articulation *a, double dt, rs_joint_row *out) {
    int32_t count = 0;
    for (int32_t k = 0; k < a->tendon_count; k++) {
        const rs_tendon *tendon = &a->tendons[k];
        const rs_tendon_servo *servo = &a->tendon_servos[k];
        rs_tendon_impulses *impulses = &a->tendon_impulses[k];
        double length = rs_tendon_length(a, tendon, a->q_stage), speed = rs_tendon_speed(a, tendon, a->u);
        double stretch = length - rs_clamp(length, tendon->rest_lower, tendon->rest_upper);
        double stiffness = stretch != 0.0 ? tendon->stiffness : 0.0;
        if (servo->p_gain + servo->d_gain > 0.0) {
            rs_impulse_bounds bounds = {dt * servo->effort_lower, dt * servo->effort_upper};
            double force = servo->feed_forward - servo->p_gain * length - servo->d_gain * speed;
            rs_joint_row *row = add_row(out, &count, tendon, bounds, &impulses->servo, 1.0);
            add_spring(row, force, servo->p_gain, servo->d_gain, speed, dt);
        }
        if (stiffness + tendon->damping > 0.0) {
            rs_joint_row *row = add_row(out, &count, tendon, RS_HOLDS, &impulses->passive, 1.0);
            add_spring(row, -stiffness * stretch - tendon->damping * speed, stiffness, tendon->damping, speed, dt);
        }
        if (tendon->friction > 0.0)
            add_row(out, &count, tendon, (rs_impulse_bounds){-dt * tendon->friction, dt * tendon->friction},
                    &impulses->friction, 1.0);
        add_limit(a, k, 1.0, dt, out, &count);
        add_limit(a, k, -1.0, dt, out, &count);
        *impulses = (rs_tendon_impulses){0};
    }
    return count;
}
