#include "joint_rows.h"
#include "tendons.h"

#include <string.h>

/* Share of a violation that a step takes back, and how fast at most [rad/s, m/s]: slow enough not to throw about a joint
 * that was put beyond its limit. */
static const double RETURN_SHARE = 0.2, MAX_RETURN_SPEED = 0.5;

/* What turns fast leaves a cone sideways, and must be taken back before it does so again [rad/s]. */
static const double MAX_CONE_RETURN_SPEED = 5.0;

/* Joints so near their limit get a row, too: others may push them beyond within the step [rad/s, m/s]. */
static const double NEAR_SPEED = 0.5;

/* A joint so near its limit is at it, and a range narrower than this is none [rad, m]. Otherwise a robot that lies on the
 * ground with a joint at its stop would push itself about for nothing: contacts that hold the joint, and a limit that wants
 * it moved by a hair. */
static const double AT_LIMIT = 1e-5;

/* A joint that turns by more than this share of its cone in a step is stopped where it would leave the cone, not where it
 * is. */
static const double COARSE_SHARE = 0.25;
/* A joint that has a row for its cone misses it when it would still be so much wider after the step, relative; one that
 * turns that far, when it would be so much wider: rows are straight, and to ask more of them drives it about. */
static const double CONE_MISS = 0.02, COARSE_MISS = 0.1;

/* Rows of one system under construction. */
typedef struct {
    rs_articulation *a;
    double dt;
    rs_joint_row *rows;
    int32_t count;
} row_list;

static rs_joint_row *add_row(row_list *list, int32_t link, rs_vec3 along, rs_impulse_bounds bounds, double *impulse,
                             double sign) {
    rs_joint_row *row = &list->rows[list->count++];
    *row = (rs_joint_row){.torques = {{link, along}}, .count = 1, .bounds = bounds, .impulse = impulse, .sign = sign,
                          .start = rs_clamp(sign * *impulse, bounds.lower, bounds.upper)};
    return row;
}

double rs_return_speed(double error, double before, double most, double dt) {
    if (fabs(error) < AT_LIMIT)
        return 0.0;
    double old = before * error > 0.0 ? copysign(rs_min(fabs(before), fabs(error)), error) : 0.0;
    return -(error - old) / dt - rs_clamp(RETURN_SHARE * old / dt, -most, most);
}

/* ---- joints with one degree of freedom ---- */

/* A joint without range. */
static void add_lock(row_list *list, int32_t link) {
    rs_articulation *a = list->a;
    int32_t k = a->links[link].u_first, at = a->links[link].q_first;
    double place = 0.5 * (a->lower[k] + a->upper[k]);
    rs_joint_row *row = add_row(list, link, rs_v3(1, 0, 0), RS_HOLDS, &a->limit_impulse[k], 1.0);
    row->push = rs_return_speed(a->q_stage[at] - place, a->q[at] - place, MAX_RETURN_SPEED, list->dt);
}

/* A joint on its way to its limits of place and speed on one side: +1 above, -1 below. */
typedef struct {
    double bound, room; /* where the limit is, and the way to it */
    bool near;          /* gets a row for its place, */
    bool fast;          /* for its speed */
} limit_side;

/* Others drive the joint beyond its limits on one side (+1 above, -1 below), or did so in the step before. */
static bool is_driven(const rs_articulation *a, int32_t k, double side) {
    return a->overruns[k] > 0.0 || side * a->limit_impulse[k] < 0.0;
}

static limit_side look_at_side(const rs_articulation *a, int32_t link, double side, double dt) {
    int32_t k = a->links[link].u_first;
    double bound = side > 0.0 ? a->upper[k] : a->lower[k], room = side * (bound - a->q_stage[a->links[link].q_first]);
    double speed = side * a->u_free[k];
    bool driven = is_driven(a, k, side); /* comparisons are false when they are not numbers */
    return (limit_side){bound, room, dt * (speed + NEAR_SPEED) > room || (driven && room < INFINITY),
                        speed > a->velocity_limit[k] || (driven && a->velocity_limit[k] < INFINITY)};
}

static void add_side(row_list *list, int32_t link, double side) {
    rs_articulation *a = list->a;
    int32_t k = a->links[link].u_first, at = a->links[link].q_first;
    limit_side limit = look_at_side(a, link, side, list->dt);
    if (!limit.near && !limit.fast)
        return;
    rs_joint_row *row = add_row(list, link, rs_v3(-side, 0, 0), RS_PUSHES, &a->limit_impulse[k], -side);
    double allowed = limit.near ? (limit.room < AT_LIMIT ? 0.0 : limit.room / list->dt) : INFINITY;
    row->target = -rs_min(allowed, a->velocity_limit[k]);
    if (limit.near)
        row->push = rs_return_speed(rs_min(limit.room, 0.0), rs_min(side * (limit.bound - a->q[at]), 0.0), MAX_RETURN_SPEED,
                                 list->dt);
}

/* Whether a joint has no row on this side, but the velocity u takes it beyond its limits. */
static bool misses_side(const rs_articulation *a, int32_t link, double side, double u, double dt) {
    limit_side limit = look_at_side(a, link, side, dt);
    return !limit.near && !limit.fast &&
           (dt * side * u > limit.room + AT_LIMIT || side * u > a->velocity_limit[a->links[link].u_first]);
}

/* ---- cones of spherical joints ---- */

static rs_vec3 turn_of(const double *q) { return rs_rotation_between(rs_quat_identity(), rs_quat_load(q)); }

/* A joint that slides along the edge of its cone leaves it by going straight for half a step. It may come back as fast as
 * it leaves, but no faster than the bend of the edge asks for: so it neither gains nor loses energy. */
static double bend_speed(rs_vec3 u, rs_vec3 outward, double angle, double most, double dt) {
    double out = rs_min(rs_dot(u, outward), most), across2 = rs_norm2(u) - out * out;
    double bend = 0.25 * dt * across2 / tan(0.5 * rs_max(angle, 1e-3)); /* angle'' = across^2 / (2 tan(angle / 2)) */
    return rs_max(0.0, rs_min(out, bend));
}

static void add_spherical_lock(row_list *list, int32_t link) {
    rs_articulation *a = list->a;
    int32_t k = a->links[link].u_first, at = a->links[link].q_first;
    rs_vec3 turn = turn_of(&a->q_stage[at]), before = turn_of(&a->q[at]);
    for (int axis = 0; axis < 3; axis++) {
        rs_vec3 along = rs_v3_zero();
        rs_v3_set(&along, axis, 1.0);
        rs_joint_row *row = add_row(list, link, along, RS_HOLDS, &a->limit_impulse[k + axis], 1.0);
        row->push = rs_return_speed(rs_v3_get(turn, axis), rs_v3_get(before, axis), MAX_RETURN_SPEED, list->dt);
    }
}

/* Where a joint left its cone when the island was solved before in this step: unit, or zero. */
static rs_vec3 overrun(const rs_articulation *a, int32_t link) { return rs_v3_load(&a->overruns[a->links[link].u_first]); }

static bool turns_far(rs_vec3 u, double widest, double dt) {
    return dt * dt * rs_norm2(u) > COARSE_SHARE * COARSE_SHARE * widest * widest;
}

static bool gets_cone(const rs_articulation *a, int32_t link, rs_vec3 turn, double dt) {
    int32_t k = a->links[link].u_first;
    double farthest = rs_max(rs_norm(turn), rs_norm(rs_madd(turn, dt, rs_v3_load(&a->u_free[k]))));
    return farthest + dt * NEAR_SPEED > a->upper[k] || rs_norm2(overrun(a, link)) > 0.0 ||
           (a->limit_impulse[k] != 0.0 && a->upper[k] < INFINITY);
}

/* The velocity u takes the joint out of its cone, though it has a row or for want of one. Where it goes then is kept. */
static bool misses_cone(rs_articulation *a, int32_t link, rs_vec3 u, double dt) {
    rs_vec3 turn = turn_of(&a->q_stage[a->links[link].q_first]), next = rs_madd(turn, dt, u);
    double widest = a->upper[a->links[link].u_first];
    double slack = turns_far(u, widest, dt) ? COARSE_MISS : CONE_MISS;
    double most = gets_cone(a, link, turn, dt) ? rs_max((1.0 + slack) * widest, rs_norm(turn) + AT_LIMIT) : widest + AT_LIMIT;
    if (rs_norm(next) <= most)
        return false;
    rs_v3_store(&a->overruns_before[a->links[link].u_first], overrun(a, link));
    rs_v3_store(&a->overruns[a->links[link].u_first], rs_normalize_or(next, rs_v3(1, 0, 0)));
    return true;
}

/* The angle from the zero position grows with the velocity along the rotation. */
static void add_cone(row_list *list, int32_t link) {
    rs_articulation *a = list->a;
    int32_t k = a->links[link].u_first, at = a->links[link].q_first;
    double dt = list->dt, widest = a->upper[k];
    rs_vec3 turn = turn_of(&a->q_stage[at]), u = rs_v3_load(&a->u_free[k]), next = rs_madd(turn, dt, u);
    double angle = rs_norm(turn);
    bool coarse = turns_far(u, widest, dt);
    rs_vec3 outward = rs_normalize_or(coarse ? next : turn, rs_normalize_or(u, rs_v3(1, 0, 0)));
    double room = widest - rs_dot(outward, turn);
    if (!gets_cone(a, link, turn, dt))
        return;
    rs_joint_row *row = add_row(list, link, rs_neg(outward), RS_PUSHES, &a->limit_impulse[k], 1.0);
    double most = coarse ? rs_dot(u, outward) : INFINITY;
    row->target = room < AT_LIMIT ? bend_speed(rs_v3_load(&a->u[k]), outward, angle, most, dt) : -room / dt;
    double left = rs_min(widest - angle + 0.5 * dt * rs_max(row->target, 0.0), 0.0);
    row->push = rs_return_speed(left, rs_min(widest - rs_norm(turn_of(&a->q[at])), 0.0), MAX_CONE_RETURN_SPEED, dt);
    for (int n = 1; n < 3; n++) { /* contacts may drive it elsewhere than it was going */
        rs_vec3 left_at = rs_v3_load(n == 1 ? &a->overruns[k] : &a->overruns_before[k]);
        if (rs_norm2(left_at) > 0.0) {
            row = add_row(list, link, rs_neg(left_at), RS_PUSHES, &a->limit_impulse[k + n], 1.0);
            row->target = -rs_max(widest - rs_dot(left_at, turn), 0.0) / dt;
        }
    }
}

/* ---- friction, motors, couplings ---- */

static void add_friction_and_motor(row_list *list, int32_t link, int32_t axis) {
    rs_articulation *a = list->a;
    int32_t k = a->links[link].u_first + axis;
    rs_vec3 along = rs_v3_zero();
    rs_v3_set(&along, axis, 1.0);
    double most = list->dt * a->friction[k], weight = a->motor_weight[k];
    if (most > 0.0)
        add_row(list, link, along, (rs_impulse_bounds){-most, most}, &a->friction_impulse[k], 1.0);
    if (weight > 0.0) {
        rs_impulse_bounds bounds = {list->dt * a->effort_lower[k], list->dt * a->effort_upper[k]};
        rs_joint_row *row = add_row(list, link, along, bounds, &a->motor_impulse[k], 1.0);
        row->softness = 1.0 / weight;
        row->target = a->u[k] + a->motor_drive[k] / weight;
    }
}

static void add_coupling(row_list *list, int32_t k) {
    rs_articulation *a = list->a;
    const rs_coupling *coupling = &a->couplings[k];
    const rs_link *follower = &a->links[coupling->follower], *leader = &a->links[coupling->leader];
    rs_joint_row *row = add_row(list, coupling->follower, rs_v3(1, 0, 0), RS_HOLDS, &a->coupling_impulse[k], 1.0);
    row->torques[row->count++] = (rs_joint_torque){coupling->leader, rs_v3(-coupling->multiplier, 0, 0)};
    double offset = coupling->offset;
    double error = a->q_stage[follower->q_first] - coupling->multiplier * a->q_stage[leader->q_first] - offset;
    double before = a->q[follower->q_first] - coupling->multiplier * a->q[leader->q_first] - offset;
    row->push = rs_return_speed(error, before, MAX_RETURN_SPEED, list->dt);
}

/* ---- all rows ---- */

static bool has_range(const rs_articulation *a, int32_t k) { return a->upper[k] - a->lower[k] >= AT_LIMIT; }

/* A quick look at a joint with one degree of freedom. */
static inline bool may_reach_limits(const row_list *list, int32_t link) {
    const rs_articulation *a = list->a;
    int32_t k = a->links[link].u_first;
    double q = a->q_stage[a->links[link].q_first], speed = fabs(a->u_free[k]);
    double room = rs_min(q - a->lower[k], a->upper[k] - q);
    return !(list->dt * (speed + NEAR_SPEED) < room && speed < a->velocity_limit[k] && a->overruns[k] == 0.0 &&
             a->limit_impulse[k] == 0.0);
}

static inline void add_limits(row_list *list, int32_t link) {
    const rs_articulation *a = list->a;
    int32_t k = a->links[link].u_first;
    if (rs_joint_is_ball(&a->links[link])) {
        if (a->upper[k] < AT_LIMIT)
            add_spherical_lock(list, link);
        else if (!isinf(a->upper[k]))
            add_cone(list, link);
    } else if (!has_range(a, k)) {
        add_lock(list, link);
    } else if (may_reach_limits(list, link)) {
        add_side(list, link, 1.0);
        add_side(list, link, -1.0);
    }
}

/* Where there are so few degrees of freedom, room for all that they could have costs less than counting: two limits,
 * friction, a motor. A lock of a spherical joint needs three. */
enum { FEW = 40 };

int32_t rs_joint_row_capacity(const rs_articulation *a) {
    int32_t others = a->coupling_count + RS_ROWS_PER_TENDON * a->tendon_count + a->drive_count;
    if (a->u_count <= FEW)
        return others + 4 * a->u_count;
    const double *lower = a->lower, *upper = a->upper, *fastest = a->velocity_limit, *friction = a->friction;
    const double *motor = a->motor_weight;
    int64_t count = 0; /* as wide as the numbers: several are counted at once */
    for (int32_t k = 0; k < a->u_count; k++) {
        int64_t limited = (lower[k] > -INFINITY) | (upper[k] < INFINITY) | (fastest[k] < INFINITY);
        count += 3 * limited + (friction[k] > 0.0) + (motor[k] > 0.0);
    }
    return others + (int32_t)count;
}

int32_t rs_joint_rows(rs_articulation *a, double dt, rs_joint_row *out) {
    row_list list = {a, dt, out, 0};
    for (int32_t i = 1; i < a->link_count; i++) {
        const rs_link *link = &a->links[i];
        add_limits(&list, i);
        for (int32_t axis = 0, k = link->u_first; axis < link->u_count; axis++, k++)
            if (a->friction[k] + a->motor_weight[k] > 0.0)
                add_friction_and_motor(&list, i, axis);
    }
    for (int32_t k = 0; k < a->coupling_count; k++)
        add_coupling(&list, k);
    size_t bytes = sizeof(double) * (size_t)a->u_count;
    memset(a->limit_impulse, 0, bytes);
    memset(a->friction_impulse, 0, bytes);
    memset(a->motor_impulse, 0, bytes);
    for (int32_t k = 0; k < a->coupling_count; k++)
        a->coupling_impulse[k] = 0.0;
    return a->tendon_count > 0 ? list.count + rs_tendon_rows(a, dt, &out[list.count]) : list.count;
}

static bool misses_limits(rs_articulation *a, int32_t link, const double *u, double dt) {
    int32_t k = a->links[link].u_first;
    if (rs_joint_is_ball(&a->links[link]))
        return a->upper[k] >= AT_LIMIT && a->upper[k] < INFINITY && misses_cone(a, link, rs_v3_load(&u[k]), dt);
    if (a->links[link].u_count != 1 || !has_range(a, k) ||
        !(misses_side(a, link, 1.0, u[k], dt) || misses_side(a, link, -1.0, u[k], dt)))
        return false;
    a->overruns[k] = 1.0;
    return true;
}

/* A quick look at a joint with one degree of freedom. */
static inline bool stays_within(const rs_articulation *a, const rs_link *link, const double *u, double dt) {
    int32_t k = link->u_first;
    double next = a->q_stage[link->q_first] + dt * u[k];
    return next <= a->upper[k] && next >= a->lower[k] && fabs(u[k]) <= a->velocity_limit[k];
}

bool rs_joint_rows_missed(rs_articulation *a, const double *u, double dt) {
    bool missed = rs_tendon_rows_missed(a, u, dt);
    for (int32_t i = 1; i < a->link_count; i++)
        missed |= !(a->links[i].u_count == 1 && stays_within(a, &a->links[i], u, dt)) && misses_limits(a, i, u, dt);
    return missed;
}

int32_t rs_joint_row_response(const rs_articulation *a, const rs_joint_row *row, rs_row_entry *out) {
    return row->tendon != NULL ? rs_tendon_response(a, row->tendon, row->sign, out)
                               : rs_torque_response(a, row->torques, row->count, out);
}

double rs_joint_row_speed(const rs_articulation *a, const rs_joint_row *row, const double *u) {
    if (row->tendon != NULL)
        return row->sign * rs_tendon_speed(a, row->tendon, u);
    double speed = 0.0;
    for (int32_t k = 0; k < row->count; k++) {
        const rs_link *link = &a->links[row->torques[k].link];
        for (int32_t axis = 0; axis < link->u_count; axis++)
            speed += rs_v3_get(row->torques[k].along, axis) * u[link->u_first + axis];
    }
    return speed;
}
