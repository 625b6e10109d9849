/* Vectors are passed between static functions only: how a library would pass them does not matter. */
#pragma GCC diagnostic ignored "-Wpsabi"

#include "contact_response.h"

#include <string.h>

/* ---- lanes ---- */

static inline rs_lanes3 lanes3(rs_lanes x, rs_lanes y, rs_lanes z) { return (rs_lanes3){x, y, z}; }
static inline rs_lanes3 add(rs_lanes3 a, rs_lanes3 b) { return lanes3(a.x + b.x, a.y + b.y, a.z + b.z); }
static inline rs_lanes3 sub(rs_lanes3 a, rs_lanes3 b) { return lanes3(a.x - b.x, a.y - b.y, a.z - b.z); }
static inline rs_lanes dot(rs_vec3 a, rs_lanes3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
/* a + s * b, a lane of s per right-hand side */
static inline rs_lanes3 madd(rs_lanes3 a, rs_lanes s, rs_vec3 b) {
    return lanes3(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z);
}
static inline rs_lanes3 cross(rs_vec3 a, rs_lanes3 b) {
    return lanes3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
static inline rs_lanes3 sym_mul(const rs_sym3 *s, rs_lanes3 v) {
    return lanes3(s->xx * v.x + s->xy * v.y + s->xz * v.z, s->xy * v.x + s->yy * v.y + s->yz * v.z,
                  s->xz * v.x + s->yz * v.y + s->zz * v.z);
}
static inline rs_lanes3 mat_mul(const rs_mat3 *a, rs_lanes3 v) {
    const double *m = a->m;
    return lanes3(m[0] * v.x + m[1] * v.y + m[2] * v.z, m[3] * v.x + m[4] * v.y + m[5] * v.z,
                  m[6] * v.x + m[7] * v.y + m[8] * v.z);
}
static inline rs_lanes3 mat_tmul(const rs_mat3 *a, rs_lanes3 v) {
    const double *m = a->m;
    return lanes3(m[0] * v.x + m[3] * v.y + m[6] * v.z, m[1] * v.x + m[4] * v.y + m[7] * v.z,
                  m[2] * v.x + m[5] * v.y + m[8] * v.z);
}
/* Matrices given by columns times right-hand sides, and their transposes. */
static inline rs_lanes3 columns_mul(const rs_lanes c[3], rs_lanes3 v) {
    return lanes3(c[0][0] * v.x + c[1][0] * v.y + c[2][0] * v.z, c[0][1] * v.x + c[1][1] * v.y + c[2][1] * v.z,
                  c[0][2] * v.x + c[1][2] * v.y + c[2][2] * v.z);
}
static inline rs_lanes3 columns_tmul(const rs_lanes c[3], rs_lanes3 v) {
    return lanes3(c[0][0] * v.x + c[0][1] * v.y + c[0][2] * v.z, c[1][0] * v.x + c[1][1] * v.y + c[1][2] * v.z,
                  c[2][0] * v.x + c[2][1] * v.y + c[2][2] * v.z);
}
static inline rs_lanes3 columns_of(rs_vec3 a, rs_vec3 b, rs_vec3 c) {
    return lanes3((rs_lanes){a.x, b.x, c.x, 0.0}, (rs_lanes){a.y, b.y, c.y, 0.0}, (rs_lanes){a.z, b.z, c.z, 0.0});
}

/* ---- contacts ---- */

int32_t rs_contact_jacobian(const rs_articulation *a, int32_t link, rs_vec3 point, const rs_vec3 axes[3],
                            rs_contact_column *out) {
    int32_t count = rs_jacobian(a, link, point, a->columns);
    for (int32_t k = 0; k < count; k++) {
        const rs_jacobian_column *column = &a->columns[k];
        out[k] = (rs_contact_column){column->index,
                                     {rs_dot(axes[0], column->linear), rs_dot(axes[1], column->linear),
                                      rs_dot(axes[2], column->linear)}};
    }
    return count;
}

/* Wrenches -p from the link to the root, one right-hand side per lane. On the way y takes what is left for each joint
 * to accelerate; joints elsewhere have nothing (y is zero). As in rs_aba_solve(). */
static rs_lanes6 collect_path(const rs_articulation *a, int32_t link, rs_lanes6 p, rs_lanes *y) {
    for (int32_t i = link; i > 0; i = a->links[i].parent) {
        const rs_link_motion *m = &a->motion[i];
        const rs_joint_factor *f = &a->factor[i];
        rs_lanes *own = &y[a->links[i].u_first];
        if (a->links[i].type == RS_JOINT_SPHERICAL) {
            rs_lanes3 z = columns_mul(f->d_inverse3, p.ang); /* negative */
            own[0] = -p.ang.x;
            own[1] = -p.ang.y;
            own[2] = -p.ang.z;
            p.lin = sub(p.lin, columns_mul(f->couple, z));
            p.ang = sub(p.ang, columns_mul(f->inertia, z));
        } else {
            own[0] = -dot(m->axis, a->links[i].type == RS_JOINT_REVOLUTE ? p.ang : p.lin);
            rs_lanes z = own[0] * f->d_inverse;
            p.lin = madd(p.lin, z, f->u.lin);
            p.ang = madd(p.ang, z, f->u.ang);
        }
        p.ang = add(p.ang, cross(m->arm, p.lin));
    }
    return p;
}

static rs_lanes6 accelerate_base(const rs_articulation *a, rs_lanes6 p, rs_lanes *y) {
    rs_lanes6 acc = {0};
    if (a->fixed_base)
        return acc;
    acc.lin = sub(acc.lin, add(sym_mul(&a->base_inverse_mass, p.lin), mat_mul(&a->base_inverse_couple, p.ang)));
    acc.ang = sub(acc.ang, add(mat_tmul(&a->base_inverse_couple, p.lin), sym_mul(&a->base_inverse_inertia, p.ang)));
    const rs_lanes parts[6] = {acc.lin.x, acc.lin.y, acc.lin.z, acc.ang.x, acc.ang.y, acc.ang.z};
    memcpy(y, parts, sizeof parts);
    return acc;
}

static void accelerate(rs_articulation *a, rs_lanes *y) {
    for (int32_t i = 1; i < a->link_count; i++) {
        const rs_link *link = &a->links[i];
        const rs_link_motion *m = &a->motion[i];
        const rs_joint_factor *f = &a->factor[i];
        rs_lanes6 acc = a->acc_lanes[link->parent];
        rs_lanes *own = &y[link->u_first];
        acc.lin = sub(acc.lin, cross(m->arm, acc.ang));
        if (link->type == RS_JOINT_SPHERICAL) {
            rs_lanes3 e = sub(lanes3(own[0], own[1], own[2]),
                              add(columns_tmul(f->couple, acc.lin), columns_mul(f->inertia, acc.ang)));
            rs_lanes3 z = columns_mul(f->d_inverse3, e), local = mat_tmul(&m->joint_frame, z);
            acc.ang = add(acc.ang, z);
            own[0] = local.x;
            own[1] = local.y;
            own[2] = local.z;
        } else {
            own[0] = (own[0] - dot(f->u.lin, acc.lin) - dot(f->u.ang, acc.ang)) * f->d_inverse;
            if (link->type == RS_JOINT_REVOLUTE)
                acc.ang = madd(acc.ang, own[0], m->axis);
            else
                acc.lin = madd(acc.lin, own[0], m->axis);
        }
        a->acc_lanes[i] = acc;
    }
}

void rs_contact_response(rs_articulation *a, int32_t link, rs_vec3 point, const rs_vec3 axes[3], double *out) {
    rs_lanes *y = (rs_lanes *)(void *)out;
    memset(out, 0, sizeof *y * (size_t)a->u_count);
    rs_vec3 arm = rs_sub(point, a->motion[link].pos);
    rs_lanes6 p = {.lin = columns_of(rs_neg(axes[0]), rs_neg(axes[1]), rs_neg(axes[2]))};
    p.ang = cross(arm, p.lin);
    p = collect_path(a, link, p, y);
    a->acc_lanes[0] = accelerate_base(a, p, y);
    accelerate(a, y);
}

/* ---- joints ---- */

/* Share of a violation that a step takes back, and how fast at most [rad/s, m/s]: enough for what slips away over the
 * curved edge of a cone, slow enough not to throw a joint that was put beyond its limit. */
static const double RETURN_SHARE = 0.2, MAX_RETURN_SPEED = 0.5;

/* Joints so near their limit get a row, too: contacts may push them beyond within the step [rad/s, m/s]. */
static const double NEAR_SPEED = 0.5;

/* Speed away from the limit that lets the joint arrive at it, and no farther. */
static double limit_target(double room, double dt) {
    return room >= 0.0 ? -room / dt : rs_min(RETURN_SHARE * -room / dt, MAX_RETURN_SPEED);
}

static void add_scalar_rows(const rs_articulation *a, int32_t link, double dt, rs_joint_row *out, int32_t *count) {
    int32_t k = a->links[link].u_first;
    double q = a->q_stage[a->links[link].q_first], u = a->u_free[k], speed_limit = a->velocity_limit[k];
    rs_joint_row row = {.kind = RS_ROW_LIMIT, .link = link, .first = k, .count = 1, .max_impulse = INFINITY};
    double next = q + dt * u, reach = dt * NEAR_SPEED;
    bool below = next < a->lower[k] + reach, above = next > a->upper[k] - reach;
    if (below || above) {
        double room = below ? q - a->lower[k] : a->upper[k] - q;
        row.direction[0] = below ? 1.0 : -1.0;
        row.target = limit_target(room, dt);
        row.violation = rs_max(0.0, -room);
        out[(*count)++] = row;
    } else if (fabs(u) > speed_limit) {
        row.kind = RS_ROW_VELOCITY_LIMIT;
        row.direction[0] = u > 0.0 ? -1.0 : 1.0;
        row.target = -speed_limit;
        out[(*count)++] = row;
    }
}

/* The cone of a spherical joint: the angle from the zero position grows with the velocity along the rotation. */
static void add_cone_row(const rs_articulation *a, int32_t link, double dt, rs_joint_row *out, int32_t *count) {
    int32_t k = a->links[link].u_first;
    if (isinf(a->upper[k]))
        return;
    rs_vec3 turn = rs_rotation_between(rs_quat_identity(), rs_quat_load(&a->q_stage[a->links[link].q_first]));
    double angle = rs_norm(turn);
    rs_vec3 u = rs_v3_load(&a->u_free[k]);
    rs_vec3 outward = rs_normalize_or(turn, rs_normalize_or(u, rs_v3(1, 0, 0)));
    double room = a->upper[k] - angle;
    if (dt * (rs_dot(outward, u) + NEAR_SPEED) <= room)
        return;
    rs_joint_row row = {.kind = RS_ROW_LIMIT, .link = link, .first = k, .count = 3, .max_impulse = INFINITY,
                        .target = limit_target(room, dt), .violation = rs_max(0.0, -room)};
    rs_v3_store(row.direction, rs_neg(outward));
    out[(*count)++] = row;
}

int32_t rs_joint_rows(const rs_articulation *a, double dt, rs_joint_row *out) {
    int32_t count = 0;
    for (int32_t i = 1; i < a->link_count; i++) {
        const rs_link *link = &a->links[i];
        if (link->type == RS_JOINT_SPHERICAL)
            add_cone_row(a, i, dt, out, &count);
        else
            add_scalar_rows(a, i, dt, out, &count);
        for (int32_t k = 0; k < link->u_count; k++)
            if (a->friction[link->u_first + k] > 0.0)
                out[count++] = (rs_joint_row){.kind = RS_ROW_FRICTION, .link = i, .first = link->u_first + k, .count = 1,
                                              .direction = {1.0}, .max_impulse = dt * a->friction[link->u_first + k]};
    }
    return count;
}

void rs_joint_response(rs_articulation *a, const rs_joint_row *row, double *out) {
    memset(out, 0, sizeof *out * (size_t)a->u_count);
    for (int32_t k = 0; k < row->count; k++)
        out[row->first + k] = row->direction[k];
    rs_aba_solve(a, out, out);
}
