#include "rigid_body.h"

#include "../base/band.h"
#include "../base/limits.h"
#include "joint.h"

/* Relative spread of the principal moments below which a tensor counts as a multiple of the identity: rounding in
 * mass properties, far below anything a gyroscopic torque could show. */
static const double ISOTROPY_TOLERANCE = 1e-12;

/* Rotation per step [rad] up to which the gyroscopic equation is solved for the exact rotation; tan() of half of it
 * runs away towards pi, and no step of that size is meaningful. */
static const double MAX_EXACT_ANGLE = 2.0;

/* Below this four terms of a series are exact to rounding [rad]. */
static const double SERIES_ANGLE = 0.03;

/* Newton's method for the gyroscopic equation has found the solution where its last change was less than this, relative and squared;
 * and where that is not reached, has missed it where it was more than the second. */
static const double FOUND = 1e-30, NEARLY_FOUND = 1e-20;

static bool tensor_is_isotropic(const rs_sym3 *s) {
    double scale = rs_max(rs_max(fabs(s->xx), fabs(s->yy)), fabs(s->zz));
    double spread = rs_max(rs_max(fabs(s->xx - s->yy), fabs(s->xx - s->zz)),
                         rs_max(rs_max(fabs(s->xy), fabs(s->xz)), fabs(s->yz)));
    return spread <= ISOTROPY_TOLERANCE * scale;
}

bool rs_inertia_is_physical(const rs_sym3 *s) {
    double det2 = s->xx * s->yy - s->xy * s->xy;
    if (!(s->xx > 0.0 && s->yy > 0.0 && s->zz > 0.0 && det2 > 0.0 && rs_sym3_det(s) > 0.0))
        return false;
    /* The second moments of mass, trace/2 - I, must not be negative; flat plates make them zero. */
    double half_trace = 0.5 * (s->xx + s->yy + s->zz);
    double slack = 1e-9 * half_trace;
    return s->xx <= half_trace + slack && s->yy <= half_trace + slack && s->zz <= half_trace + slack;
}

void rs_rigid_body_set_mass(rs_body *body, double mass, rs_vec3 com, const rs_sym3 *inertia) {
    body->mass = mass;
    body->com = com;
    body->inertia = *inertia;
    body->isotropic = tensor_is_isotropic(inertia);
    if (body->isotropic) { /* exactly isotropic, so that world and body frame agree to the bit */
        double moment = inertia->xx;
        body->inertia = (rs_sym3){.xx = moment, .yy = moment, .zz = moment};
    }
    body->inverse_inertia = rs_sym3_inverse(&body->inertia);
}

rs_vec3 rs_rigid_body_com_position(const rs_body *body) {
    rs_transform pose = rs_transform_make(body->position, body->quaternion);
    return rs_transform_point(&pose, body->com);
}

static bool com_at_origin(const rs_body *body) {
    return body->com.x == 0.0 && body->com.y == 0.0 && body->com.z == 0.0;
}

/* The pose after rotating by `turn` (quaternion, world frame) and moving the centre of mass by `shift`. */
static void advance(const rs_body *body, rs_quat turn, rs_vec3 shift, rs_vec3 *position, rs_quat *quaternion) {
    bool turns = turn.x != 0.0 || turn.y != 0.0 || turn.z != 0.0; /* a body at rest keeps its bits */
    *quaternion = turns ? rs_quat_normalize(rs_quat_mul(turn, body->quaternion)) : body->quaternion;
    if (!turns || com_at_origin(body)) {
        *position = rs_add(body->position, shift);
        return;
    }
    rs_mat3 before = rs_quat_to_m3(body->quaternion), after = rs_quat_to_m3(*quaternion);
    rs_vec3 com = rs_add(rs_add(body->position, rs_m3_mulv(&before, body->com)), shift);
    *position = rs_sub(com, rs_m3_mulv(&after, body->com));
}

void rs_rigid_body_hold(rs_body *body) {
    body->middle_omega = body->omega;
    body->middle_turn = rs_v3_zero();
    body->middle = rs_transform_make(body->position, body->quaternion);
    body->middle_com = rs_transform_point(&body->middle, body->com);
}

/* ---- gyroscopic torque ---- */

/* Solves (I + t*([w]x I - [I w]x)) x = b: the linearised Euler equation. */
static rs_vec3 solve_euler_jacobian(const rs_sym3 *inertia, rs_vec3 w, double t, rs_vec3 b) {
    rs_vec3 l = rs_sym3_mulv(inertia, w);
    rs_vec3 col[3] = {{inertia->xx, inertia->xy, inertia->xz},
                      {inertia->xy, inertia->yy, inertia->yz},
                      {inertia->xz, inertia->yz, inertia->zz}};
    rs_vec3 axis[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    rs_vec3 j[3];
    for (int k = 0; k < 3; k++)
        j[k] = rs_madd(col[k], t, rs_sub(rs_cross(w, col[k]), rs_cross(l, axis[k])));
    double inv = 1.0 / rs_dot(j[0], rs_cross(j[1], j[2]));
    return rs_v3(inv * rs_dot(b, rs_cross(j[1], j[2])), inv * rs_dot(j[0], rs_cross(b, j[2])),
                 inv * rs_dot(j[0], rs_cross(j[1], b)));
}

/* tan(angle / 2) over half the angle, by its square. */
static double tangent_stretch(double angle2) {
    if (angle2 < SERIES_ANGLE * SERIES_ANGLE)
        return 1.0 + angle2 * (1.0 / 12.0 + angle2 * (1.0 / 120.0 + angle2 * (17.0 / 20160.0)));
    double angle = sqrt(angle2);
    return angle < MAX_EXACT_ANGLE ? 2.0 * tan(0.5 * angle) / angle : 1.0;
}

/* Implicit midpoint of I dw/dt + w x I w = 0 in the body frame. The step in front of the gyroscopic term is
 * stretched to 2 tan(|w| dt/2)/|w|, which makes the rotation exp(dt w_mid) carry the momentum vector exactly: energy
 * and momentum (in direction too) are kept to rounding, and a steady spin turns by exactly w dt. Where Newton's method finds no
 * solution, in steps of many radians, the spin stays as it is in the body: that keeps energy, too. */
static rs_vec3 gyro_energy_conserving(const rs_sym3 *inertia, const rs_sym3 *inverse, rs_vec3 w0, double dt) {
    bool slow = dt * dt * rs_norm2(w0) < 1.0;
    rs_vec3 w1 = slow ? rs_madd(w0, -dt, rs_sym3_mulv(inverse, rs_cross(w0, rs_sym3_mulv(inertia, w0)))) : w0;
    double last = INFINITY;
    for (int iteration = 0; iteration < 8 && last > FOUND * rs_norm2(w1); iteration++) {
        rs_vec3 middle = rs_scale(0.5, rs_add(w0, w1));
        double stretched = dt * tangent_stretch(dt * dt * rs_norm2(middle));
        rs_vec3 gyro = rs_cross(middle, rs_sym3_mulv(inertia, middle));
        rs_vec3 residual = rs_madd(rs_sym3_mulv(inertia, rs_sub(w1, w0)), stretched, gyro);
        rs_vec3 change = solve_euler_jacobian(inertia, middle, 0.5 * stretched, residual);
        w1 = rs_sub(w1, change);
        last = rs_norm2(change);
    }
    return last <= NEARLY_FOUND * rs_norm2(w1) ? w1 : w0;
}

/* One Newton step of implicit Euler, in whichever frame the arguments are. */
static rs_vec3 gyro_implicit(const rs_sym3 *inertia, rs_vec3 w0, rs_vec3 torque, double dt) {
    rs_vec3 gyro = rs_cross(w0, rs_sym3_mulv(inertia, w0));
    rs_vec3 residual = rs_scale(dt, rs_sub(gyro, torque));
    return rs_sub(w0, solve_euler_jacobian(inertia, w0, dt, residual));
}

static bool keeps_gyro_energy(const rs_body *body) {
    return !body->isotropic && body->gyroscopic_mode == RS_GYRO_ENERGY_CONSERVING && body->type == RS_BODY_DYNAMIC;
}

/* Free rotation from an orientation and angular velocity (world frame); the rotation vector and the angular velocity after it. What
 * acts on a body acts at the midpoint, between two of these: so its momentum and energy change by that alone. */
static rs_vec3 turn_freely(const rs_body *body, const rs_mat3 *rot, rs_vec3 *omega, double dt) {
    if (!keeps_gyro_energy(body) || rs_v3_is_zero(*omega))
        return rs_scale(dt, *omega);
    rs_vec3 before = rs_m3_tmulv(rot, *omega);
    rs_vec3 after = gyro_energy_conserving(&body->inertia, &body->inverse_inertia, before, dt);
    rs_vec3 turn = rs_scale(0.5 * dt, rs_m3_mulv(rot, rs_add(before, after)));
    rs_mat3 rotation = rs_quat_to_m3(rs_quat_exp(turn));
    *omega = rs_m3_mulv(&rotation, rs_m3_mulv(rot, after));
    return turn;
}

void rs_rigid_body_midpoint(rs_body *body, double dt) {
    if (rs_v3_is_zero(body->velocity) && rs_v3_is_zero(body->omega)) {
        rs_rigid_body_hold(body);
        return;
    }
    rs_quat quaternion;
    rs_mat3 start = keeps_gyro_energy(body) ? rs_quat_to_m3(body->quaternion) : rs_m3_identity();
    body->middle_omega = body->omega;
    body->middle_turn = turn_freely(body, &start, &body->middle_omega, 0.5 * dt);
    advance(body, rs_quat_exp(body->middle_turn), rs_scale(0.5 * dt, body->velocity), &body->middle.pos, &quaternion);
    body->middle.rot = rs_quat_to_m3(quaternion);
    body->middle_com = rs_transform_point(&body->middle, body->com);
}

/* Angular velocity after the torque (world frame) and the gyroscopic torque, in world axes at the midpoint. */
static rs_vec3 free_omega(const rs_body *body, rs_vec3 torque, const rs_sym3 *inverse_inertia_w, double dt) {
    bool gyroscopic = !body->isotropic && body->gyroscopic_mode != RS_GYRO_NONE;
    if (!gyroscopic || (rs_v3_is_zero(body->omega) && rs_v3_is_zero(torque)))
        return rs_madd(body->omega, dt, rs_sym3_mulv(inverse_inertia_w, torque));
    if (body->gyroscopic_mode == RS_GYRO_ENERGY_CONSERVING)
        return rs_madd(body->middle_omega, dt, rs_sym3_mulv(inverse_inertia_w, torque));

    const rs_mat3 *rot = &body->middle.rot;
    if (body->gyroscopic_mode == RS_GYRO_IMPLICIT_BODY) {
        rs_vec3 w1 = gyro_implicit(&body->inertia, rs_m3_tmulv(rot, body->omega), rs_m3_tmulv(rot, torque), dt);
        return rs_m3_mulv(rot, w1);
    }
    rs_sym3 inertia_w = rs_sym3_rotate(rot, &body->inertia);
    if (body->gyroscopic_mode == RS_GYRO_IMPLICIT_WORLD)
        return gyro_implicit(&inertia_w, body->omega, torque, dt);
    rs_vec3 total = rs_sub(torque, rs_cross(body->omega, rs_sym3_mulv(&inertia_w, body->omega)));
    return rs_madd(body->omega, dt, rs_sym3_mulv(inverse_inertia_w, total));
}

/* Drag at the new velocity: cannot reverse the motion, whatever the coefficient. */
static rs_vec3 damp_omega(const rs_body *body, rs_vec3 omega, double dt) {
    if (rs_v3_is_zero(body->angular_damping))
        return omega;
    rs_vec3 d = rs_scale(dt, body->angular_damping);
    rs_sym3 damped = body->inertia;
    damped.xx += d.x;
    damped.yy += d.y;
    damped.zz += d.z;
    rs_sym3 inverse = rs_sym3_inverse(&damped);
    rs_vec3 local = rs_m3_tmulv(&body->middle.rot, omega);
    local = rs_sub(local, rs_sym3_mulv(&inverse, rs_mul(d, local)));
    return rs_m3_mulv(&body->middle.rot, local);
}

/* ---- kinematic bodies ---- */

/* Half of what a velocity will change by in this step if it goes on as in the last two: nothing when it just jumped. */
static rs_vec3 half_change(rs_vec3 velocity, rs_vec3 former, rs_vec3 change) {
    rs_vec3 out = rs_v3_zero();
    for (int k = 0; k < 3; k++) {
        double now = rs_v3_get(velocity, k) - rs_v3_get(former, k), before = rs_v3_get(change, k);
        if (now * before > 0.0)
            rs_v3_set(&out, k, 0.5 * (fabs(now) < fabs(before) ? now : before));
    }
    return out;
}

static void remember_velocity(rs_body *body) {
    body->velocity_change = rs_sub(body->velocity, body->former_velocity);
    body->omega_change = rs_sub(body->omega, body->former_omega);
    body->former_velocity = body->velocity;
    body->former_omega = body->omega;
}

/* ---- stages ---- */

void rs_solver_body_inertia(const rs_solver_body *body, double *out) {
    rs_sym3 inverse = rs_sym3_of_quads(&body->inverse_inertia), inertia = rs_sym3_inverse(&inverse);
    for (int k = 0; k < 3; k++)
        *rs_band_at(out, k, k) = 1.0 / body->inverse_mass;
    *rs_band_at(out, 3, 3) = inertia.xx;
    *rs_band_at(out, 4, 3) = inertia.xy;
    *rs_band_at(out, 4, 4) = inertia.yy;
    *rs_band_at(out, 5, 3) = inertia.xz;
    *rs_band_at(out, 5, 4) = inertia.yz;
    *rs_band_at(out, 5, 5) = inertia.zz;
}

void rs_rigid_body_free_velocity(rs_body *body, rs_vec3 gravity, double dt, rs_solver_body *out) {
    if (body->type != RS_BODY_DYNAMIC) { /* loads do not wait until it becomes dynamic */
        body->force = body->torque = body->applied_force = body->applied_torque = rs_v3_zero();
        rs_vec3 dv = half_change(body->velocity, body->former_velocity, body->velocity_change);
        rs_vec3 dw = half_change(body->omega, body->former_omega, body->omega_change);
        *out = (rs_solver_body){.v.xyz = rs_add(body->velocity, dv), .w.xyz = rs_add(body->omega, dw)};
        return;
    }
    double inverse_mass = 1.0 / body->mass;
    rs_sym3 inverse_inertia = body->isotropic ? body->inverse_inertia
                                              : rs_sym3_rotate(&body->middle.rot, &body->inverse_inertia);
    out->inverse_mass = inverse_mass;
    out->inverse_inertia = rs_columns_of(&inverse_inertia);

    body->applied_force = rs_add(body->force, body->command_force);
    body->applied_torque = rs_add(body->torque, body->command_torque);
    body->force = body->torque = rs_v3_zero();

    rs_vec3 acceleration = rs_madd(gravity, inverse_mass, body->applied_force);
    double drag = 1.0 / (1.0 + dt * body->linear_damping * inverse_mass);
    out->v = (rs_quad){rs_scale(drag, rs_madd(body->velocity, dt, acceleration)), 0.0};
    out->w = (rs_quad){damp_omega(body, free_omega(body, body->applied_torque, &inverse_inertia, dt), dt), 0.0};
}

static bool state_is_finite(rs_vec3 position, rs_quat q, rs_vec3 v, rs_vec3 w) {
    return rs_v3_is_carried(position) && isfinite(q.w + q.x + q.y + q.z) && rs_v3_is_carried(v) && rs_v3_is_carried(w);
}

/* How the body turns in the step: freely to the midpoint and from there, where a launched body makes its whole step. `omega` there
 * becomes that at the end. */
static rs_quat turn_in_step(const rs_body *body, rs_vec3 *omega, double dt) {
    rs_vec3 mean = rs_scale(0.5, rs_add(body->omega, *omega));
    if (!keeps_gyro_energy(body))
        return rs_quat_exp(rs_scale(dt, mean));
    rs_vec3 turn = turn_freely(body, &body->middle.rot, omega, body->launched ? dt : 0.5 * dt);
    return rs_quat_mul(rs_quat_exp(turn), rs_quat_exp(body->middle_turn));
}

static rs_vec3 mean_velocity(const rs_body *body, rs_vec3 v1) {
    return body->launched ? v1 : rs_scale(0.5, rs_add(body->velocity, v1));
}

rs_motion rs_rigid_body_step(const rs_body *body, rs_vec3 v1, rs_vec3 w1, double dt) {
    rs_vec3 mean = rs_scale(0.5 * dt, rs_add(body->middle_omega, w1)), turn = mean;
    if (keeps_gyro_energy(body))
        turn = rs_rotation_between(rs_quat_identity(), turn_in_step(body, &w1, dt));
    return (rs_motion){rs_scale(dt, mean_velocity(body, v1)), turn, mean};
}

bool rs_rigid_body_integrate(rs_body *body, const rs_solver_body *solved, const rs_push_body *push, double dt) {
    bool kinematic = body->type == RS_BODY_KINEMATIC;
    rs_vec3 v1 = kinematic ? body->velocity : solved->v.xyz, w1 = kinematic ? body->omega : solved->w.xyz;
    rs_vec3 position;
    rs_quat quaternion;
    rs_quat all = turn_in_step(body, &w1, dt);
    advance(body, all, rs_scale(dt, mean_velocity(body, v1)), &position, &quaternion);

    if (!state_is_finite(position, quaternion, v1, w1)) {
        body->velocity = body->omega = rs_v3_zero();
        return false;
    }
    body->position = position;
    body->quaternion = quaternion;
    body->acceleration = rs_scale(1.0 / dt, rs_sub(v1, body->velocity));
    body->angular_acceleration = rs_scale(1.0 / dt, rs_sub(w1, body->omega));
    body->velocity = v1;
    body->omega = w1;
    if (kinematic)
        remember_velocity(body);
    if (push != NULL) { /* a spinning body keeps its spin about its own axes: its energy must not change */
        rs_quat turn = rs_quat_exp(rs_scale(dt, push->w));
        rs_mat3 rotation = rs_quat_to_m3(turn);
        advance(body, turn, rs_scale(dt, push->v), &position, &quaternion);
        if (!state_is_finite(position, quaternion, push->v, push->w))
            return true;
        body->position = position;
        body->quaternion = quaternion;
        body->omega = rs_m3_mulv(&rotation, body->omega);
    }
    return true;
}
