/* What tells the types of joints apart, in one place: where they put their link, in which directions they let it move, and
 * how their coordinates advance. How many coordinates they have is in the model: rs_link. World frame.
 *
 * A joint with one degree of freedom has an axis, along which it slides or about which it turns; a ball turns in all
 * directions, its velocity is in the frame fixed to the parent. The base, link 0, floats or stands. */
#ifndef RS_DYNAMICS_JOINT_H
#define RS_DYNAMICS_JOINT_H

#include <string.h>

#include "../base/trig.h"
#include "spatial.h"

static inline bool rs_joint_is_ball(const rs_link *link) { return link->type == RS_JOINT_SPHERICAL; }
static inline bool rs_joint_slides(const rs_link *link) { return link->type == RS_JOINT_PRISMATIC; }
static inline bool rs_joint_turns(const rs_link *link) { return link->type == RS_JOINT_REVOLUTE; }

/* ---- place ---- */

/* Rotation, axis or joint frame, and arm of a link that hangs on another by a ball or a slide, from its coordinates. Those that
 * turn about an axis: kinematics.c. */
static inline void rs_joint_place(const rs_link *link, const rs_link_motion *parent, const double *q, rs_link_motion *m) {
    if (rs_joint_is_ball(link)) {
        rs_mat3 turn = rs_quat_to_m3(rs_quat_load(q));
        m->joint_frame = link->joint_rot_identity ? parent->rot : rs_m3_mul(&parent->rot, &link->joint_rot);
        m->rot = rs_m3_mul(&m->joint_frame, &turn);
        m->arm = rs_m3_mulv(&parent->rot, link->joint_pos);
    } else {
        m->rot = rs_m3_mul(&parent->rot, &link->joint_rot);
        m->axis = rs_m3_mulv(&parent->rot, link->axis_in_parent);
        m->arm = rs_madd(rs_m3_mulv(&parent->rot, link->joint_pos), q[0], m->axis);
    }
}

/* ---- directions ---- */

/* Motion of the link per unit of its velocity k. */
static inline rs_pair6 rs_joint_column(const rs_link *link, const rs_link_motion *m, int32_t k) {
    static const rs_vec3 unit[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    if (rs_joint_turns(link))
        return (rs_pair6){rs_v3_zero(), m->axis};
    if (rs_joint_slides(link))
        return (rs_pair6){m->axis, rs_v3_zero()};
    if (rs_joint_is_ball(link))
        return (rs_pair6){rs_v3_zero(), rs_m3_col(&m->joint_frame, k)};
    return k < 3 ? (rs_pair6){unit[k], rs_v3_zero()} : (rs_pair6){rs_v3_zero(), unit[k - 3]};
}

/* Adds what the velocities or accelerations `u` of the joint of a link that hangs on another do to the link's motion. */
static inline void rs_joint_move(const rs_link *link, const rs_link_motion *m, const double *u, rs_pair6 *motion) {
    if (rs_joint_turns(link))
        motion->ang = rs_madd(motion->ang, u[0], m->axis);
    else if (rs_joint_is_ball(link))
        motion->ang = rs_add(motion->ang, rs_m3_mulv(&m->joint_frame, rs_v3_load(u)));
    else
        motion->lin = rs_madd(motion->lin, u[0], m->axis);
}

/* Adds the accelerations that come from the joint's velocity while the parent turns (Coriolis). */
static inline void rs_joint_add_coriolis(const rs_link *link, const rs_link_motion *parent, const rs_link_motion *m,
                                         rs_pair6 *acc) {
    if (rs_joint_slides(link)) {
        rs_vec3 carried = rs_add(parent->v, rs_cross(parent->w, m->arm));
        acc->lin = rs_madd(acc->lin, 2.0, rs_cross(parent->w, rs_sub(m->v, carried)));
    } else {
        acc->ang = rs_add(acc->ang, rs_cross(parent->w, m->w)); /* parent.w x (m.w - parent.w) */
    }
}

/* The part of a wrench on the link that does work in a joint with one degree of freedom, */
static inline double rs_joint_along_axis(const rs_link *link, const rs_link_motion *m, const rs_pair6 *f) {
    return rs_dot(m->axis, rs_joint_slides(link) ? f->lin : f->ang);
}

/* and in any joint. */
static inline void rs_joint_project(const rs_link *link, const rs_link_motion *m, const rs_pair6 *f, double *out) {
    if (link->u_count == 1) {
        out[0] = rs_joint_along_axis(link, m, f);
    } else if (rs_joint_is_ball(link)) {
        rs_v3_store(out, rs_m3_tmulv(&m->joint_frame, f->ang));
    } else if (link->u_count > 0) {
        rs_v3_store(out, f->lin);
        rs_v3_store(out + 3, f->ang);
    }
}

/* ---- coordinates ---- */

/* Rotation vector that turns `from` into `to`, in the frame fixed to the parent; at most pi long. */
static inline rs_vec3 rs_rotation_between(rs_quat from, rs_quat to) {
    rs_quat d = rs_quat_mul(to, rs_quat_conj(from));
    double factor = copysign(rs_rotation_factor(fabs(d.w), d.x * d.x + d.y * d.y + d.z * d.z), d.w); /* the shorter way */
    return rs_v3(factor * d.x, factor * d.y, factor * d.z);
}

/* exp(rotation) * q, as a sum over the first factor's components. The product of unit quaternions is off by rounding
 * only: one Newton step for 1/sqrt puts it back. */
static inline void rs_turn_quaternion(const double *q, rs_vec3 rotation, double *out) {
    rs_quat e = rs_quat_exp(rotation);
    double w = q[0], x = q[1], y = q[2], z = q[3];
    rs_lanes by_w = {w, x, y, z}, by_x = {-x, w, -z, y}, by_y = {-y, z, w, -x}, by_z = {-z, -y, x, w};
    rs_lanes product = (e.w * by_w + e.x * by_x) + (e.y * by_y + e.z * by_z), squares = product * product;
    product *= 1.5 - 0.5 * ((squares[0] + squares[1]) + (squares[2] + squares[3]));
    memcpy(out, &product, sizeof product);
}

/* out = q moved by dt * u. */
static inline void rs_joint_advance(const rs_link *link, const double *q, const double *u, double dt, double *out) {
    if (link->numbers == 1)
        out[0] = q[0] + dt * u[0];
    else if (link->numbers == 3)
        rs_v3_store(out, rs_madd(rs_v3_load(q), dt, rs_v3_load(u)));
    if (link->has_quaternion)
        rs_turn_quaternion(q + link->numbers, rs_scale(dt, rs_v3_load(u + link->numbers)), out + link->numbers);
}

#endif
