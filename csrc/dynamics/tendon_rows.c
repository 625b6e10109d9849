/* Rows of the solve for the limits and friction of tendons. */
#include "joint_rows.h"
#include "tendons.h"

/* Arms below this are rounding [m]. */
static const double LEAST_ARM = 1e-12;
/* As in joint_rows.c: a tendon so near its limit gets a row, and is at it; how fast it is taken back. */
static const double NEAR_SPEED = 0.5, AT_LIMIT = 1e-5, MAX_RETURN_SPEED = 0.5;

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

/* The way from a length to a limit on one side: +1 above, -1 below. */
static double room_to(const rs_tendon *tendon, double side, double length) {
    return side * ((side > 0.0 ? tendon->upper : tendon->lower) - length);
}

/* Whether tendon k gets a row for a limit: it is near, or others drive it there. */
static bool is_near(const rs_articulation *a, int32_t k, double side, double room, double dt) {
    bool driven = a->overruns[a->u_count + k] > 0.0 || a->tendon_impulses[k].limit != 0.0;
    return dt * (side * rs_tendon_speed(a, &a->tendons[k], a->u_free) + NEAR_SPEED) > room || (driven && room < INFINITY);
}

static bool has_range(const rs_tendon *tendon) { return tendon->upper - tendon->lower >= AT_LIMIT; }

bool rs_tendon_rows_missed(rs_articulation *a, const double *u, double dt) {
    bool missed = false;
    for (int32_t k = 0; k < a->tendon_count; k++)
        for (int side = -1; side <= 1 && has_range(&a->tendons[k]); side += 2) {
            double room = room_to(&a->tendons[k], side, a->tendon_places[k].length);
            if (dt * side * rs_tendon_speed(a, &a->tendons[k], u) > room + AT_LIMIT && !is_near(a, k, side, room, dt)) {
                a->overruns[a->u_count + k] = 1.0;
                missed = true;
            }
        }
    return missed;
}

static void add_limit(rs_articulation *a, int32_t k, double side, double dt, rs_joint_row *rows, int32_t *count) {
    const rs_tendon *tendon = &a->tendons[k];
    double room = room_to(tendon, side, a->tendon_places[k].length);
    if (!is_near(a, k, side, room, dt))
        return;
    rs_joint_row *row = add_row(rows, count, tendon, RS_PUSHES, &a->tendon_impulses[k].limit, -side);
    row->target = room < AT_LIMIT ? 0.0 : -room / dt;
    row->push = rs_return_speed(rs_min(room, 0.0), rs_min(room_to(tendon, side, a->tendon_places[k].before), 0.0), MAX_RETURN_SPEED, dt);
}

/* A tendon that keeps its length. */
static void add_lock(rs_articulation *a, int32_t k, double dt, rs_joint_row *rows, int32_t *count) {
    const rs_tendon *tendon = &a->tendons[k];
    double kept = 0.5 * (tendon->lower + tendon->upper);
    rs_joint_row *row = add_row(rows, count, tendon, RS_HOLDS, &a->tendon_impulses[k].limit, 1.0);
    row->push = rs_return_speed(a->tendon_places[k].length - kept, a->tendon_places[k].before - kept, MAX_RETURN_SPEED, dt);
}

static void add_passive(rs_articulation *a, int32_t k, double dt, rs_joint_row *rows, int32_t *count) {
    const rs_tendon *tendon = &a->tendons[k];
    rs_tendon_impulses *impulses = &a->tendon_impulses[k];
    double length = a->tendon_places[k].length, stretch = length - rs_clamp(length, tendon->rest_lower, tendon->rest_upper);
    double stiffness = stretch != 0.0 ? tendon->stiffness : 0.0;
    if (stiffness + tendon->damping > 0.0) {
        double speed = rs_tendon_speed(a, tendon, a->u);
        rs_joint_row *row = add_row(rows, count, tendon, RS_HOLDS, &impulses->passive, 1.0);
        add_spring(row, -stiffness * stretch - tendon->damping * speed, stiffness, tendon->damping, speed, dt);
    }
    if (tendon->friction > 0.0)
        add_row(rows, count, tendon, (rs_impulse_bounds){-dt * tendon->friction, dt * tendon->friction}, &impulses->friction,
                1.0);
}

static void add_drive(rs_articulation *a, int32_t k, double dt, rs_joint_row *rows, int32_t *count) {
    rs_drive_pull pull = rs_drive_pull_of(a, k, dt);
    if (!rs_drive_is_row(&pull))
        return; /* it has its impulse already */
    const rs_tendon *tendon = &a->tendons[a->drives[k].tendon];
    rs_impulse_bounds bounds = {dt * pull.lower, dt * pull.upper};
    rs_joint_row *row = add_row(rows, count, tendon, bounds, &a->drive_impulse[k], 1.0);
    add_spring(row, pull.force, pull.stiffness, pull.damping, rs_tendon_speed(a, tendon, a->u), dt);
    a->drive_impulse[k] = 0.0;
}

/* Whether some joint changes its length: two points of links that no joint moves against each other have no row. */
static bool moves(const rs_articulation *a, const rs_tendon *tendon) {
    double most = 0.0;
    for (int32_t k = tendon->dof_first; k < tendon->dof_first + tendon->dof_count; k++)
        most = rs_max(most, fabs(a->arms[k]));
    return most > LEAST_ARM;
}

int32_t rs_tendon_rows(rs_articulation *a, double dt, rs_joint_row *out) {
    int32_t count = 0;
    for (int32_t k = 0; k < a->drive_count; k++)
        if (moves(a, &a->tendons[a->drives[k].tendon]))
            add_drive(a, k, dt, out, &count);
    for (int32_t k = 0; k < a->tendon_count; k++) {
        if (!moves(a, &a->tendons[k])) {
            a->tendon_impulses[k] = (rs_tendon_impulses){0};
            continue;
        }
        add_passive(a, k, dt, out, &count);
        if (has_range(&a->tendons[k])) {
            add_limit(a, k, 1.0, dt, out, &count);
            add_limit(a, k, -1.0, dt, out, &count);
        } else {
            add_lock(a, k, dt, out, &count);
        }
        a->tendon_impulses[k] = (rs_tendon_impulses){0};
    }
    return count;
}
