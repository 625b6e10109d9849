#include "rigid_body.h"

#include "../base/band.h"
#include "../base/limits.h"

/* Relative spread of the principal moments below which a tensor counts as a multiple of the identity: rounding in
 * mass properties, far below anything a gyroscopic torque could show. */
static const double ISOTROPY_TOLERANCE = 1e-12;

/* Rotation per step [rad] up to which the gyroscopic equation is solved for the exact rotation; tan() of half of it
 * runs away towards pi, and no step of that size is meaningful. */
static const double MAX_EXACT_ANGLE = 2.0;

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
    body->middle = rs_transform_make(body->position, body->quaternion);
    body->middle_com = rs_transform_point(&body->middle, body->com);
}

void rs_rigid_body_midpoint(rs_body *body, double dt) {
    if (rs_v3_is_zero(body->velocity) && rs_v3_is_zero(body->omega)) {
        rs_rigid_body_hold(body);
        return;
    }
    rs_quat quaternion;
    advance(body, rs_quat_exp(rs_scale(0.5 * dt, body->omega)), rs_scale(0.5 * dt, body->velocity),
            &body->middle.pos, &quaternion);
    body->middle.rot = rs_quat_to_m3(quaternion);
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

/* Implicit midpoint of I dw/dt + w x I w = torque in the body frame. The step in front of the gyroscopic term is
 * stretched to 2 tan(|w| dt/2)/|w|, which makes the rotation exp(dt w_mid) carry the momentum vector exactly: energy
 * and momentum (in direction too) are kept to rounding, and a steady spin turns by exactly w dt. */
static rs_vec3 gyro_energy_conserving(const rs_sym3 *inertia, rs_vec3 w0, rs_vec3 torque, double dt) {
    rs_vec3 w1 = w0;
    rs_vec3 impulse = rs_scale(dt, torque);
    for (int iteration = 0; iteration < 8; iteration++) {
        rs_vec3 middle = rs_scale(0.5, rs_add(w0, w1));
        double speed = rs_norm(middle);
        double angle = speed * dt;
        double stretched = angle > 1e-4 && angle < MAX_EXACT_ANGLE ? 2.0 * tan(0.5 * angle) / speed
                                                                   : dt * (1.0 + angle * angle / 12.0);
        if (angle >= MAX_EXACT_ANGLE)
            stretched = dt;
        rs_vec3 gyro = rs_cross(middle, rs_sym3_mulv(inertia, middle));
        rs_vec3 residual = rs_sub(rs_madd(rs_sym3_mulv(inertia, rs_sub(w1, w0)), stretched, gyro), impulse);
        rs_vec3 change = solve_euler_jacobian(inertia, middle, 0.5 * stretched, residual);
        w1 = rs_sub(w1, change);
        if (rs_norm2(change) <= 1e-30 * rs_norm2(w1))
            break;
    }
    return w1;
}

/* One Newton step of implicit Euler, in whichever frame the arguments are. */
static rs_vec3 gyro_implicit(const rs_sym3 *inertia, rs_vec3 w0, rs_vec3 torque, double dt) {
    rs_vec3 gyro = rs_cross(w0, rs_sym3_mulv(inertia, w0));
    rs_vec3 residual = rs_scale(dt, rs_sub(gyro, torque));
    return rs_sub(w0, solve_euler_jacobian(inertia, w0, dt, residual));
}

/* Angular velocity after the torque (world frame) and the gyroscopic torque, in world axes at the midpoint. */
static rs_vec3 free_omega(const rs_body *body, rs_vec3 torque, const rs_sym3 *inverse_inertia_w, double dt) {
    bool gyroscopic = !body->isotropic && body->gyroscopic_mode != RS_GYRO_NONE;
    if (!gyroscopic || (rs_v3_is_zero(body->omega) && rs_v3_is_zero(torque)))
        return rs_madd(body->omega, dt, rs_sym3_mulv(inverse_inertia_w, torque));

    const rs_mat3 *rot = &body->middle.rot;
    if (body->gyroscopic_mode == RS_GYRO_ENERGY_CONSERVING) {
        rs_mat3 start = rs_quat_to_m3(body->quaternion);
        rs_vec3 w0 = rs_m3_tmulv(&start, body->omega);
        rs_vec3 w1 = gyro_energy_conserving(&body->inertia, w0, rs_m3_tmulv(rot, torque), dt);
        return rs_m3_mulv(rot, w1);
    }
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

static bool keeps_gyro_energy(const rs_body *body) {
    return !body->isotropic && body->gyroscopic_mode == RS_GYRO_ENERGY_CONSERVING && body->type == RS_BODY_DYNAMIC;
}

rs_motion rs_rigid_body_step(const rs_body *body, rs_vec3 v1, rs_vec3 w1, double dt) {
    rs_vec3 mean = rs_scale(0.5, rs_add(body->omega, w1));
    if (keeps_gyro_energy(body)) { /* the mean is one of body-frame vectors; see gyro_energy_conserving */
        rs_mat3 start = rs_quat_to_m3(body->quaternion);
        rs_vec3 local1 = rs_m3_tmulv(&body->middle.rot, w1);
        mean = rs_m3_mulv(&start, rs_scale(0.5, rs_add(rs_m3_tmulv(&start, body->omega), local1)));
    }
    rs_vec3 mean_velocity = body->launched ? v1 : rs_scale(0.5, rs_add(body->velocity, v1));
    return (rs_motion){rs_scale(dt, mean_velocity), rs_scale(dt, mean)};
}

bool rs_rigid_body_integrate(rs_body *body, const rs_solver_body *solved, const rs_push_body *push, double dt) {
    bool kinematic = body->type == RS_BODY_KINEMATIC;
    rs_vec3 v1 = kinematic ? body->velocity : solved->v.xyz, w1 = kinematic ? body->omega : solved->w.xyz;
    rs_motion motion = rs_rigid_body_step(body, v1, w1, dt);
    rs_vec3 position;
    rs_quat quaternion;
    advance(body, rs_quat_exp(motion.turn), motion.shift, &position, &quaternion);
    if (keeps_gyro_energy(body)) {
        rs_mat3 end = rs_quat_to_m3(quaternion);
        w1 = rs_m3_mulv(&end, rs_m3_tmulv(&body->middle.rot, w1));
    }

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
