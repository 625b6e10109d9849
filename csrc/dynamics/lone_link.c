#include "lone_link.h"
#include "rigid_body.h"

static rs_vec3 turned(rs_quat q, rs_vec3 v) {
    rs_mat3 rot = rs_quat_to_m3(q);
    return rs_m3_mulv(&rot, v);
}

/* The link at the beginning of the step and at its middle. */
static rs_body body_of(const rs_articulation *a, double dt) {
    const rs_link *link = &a->links[0];
    rs_body body = {.type = RS_BODY_DYNAMIC, .gyroscopic_mode = RS_GYRO_ENERGY_CONSERVING,
                    .position = rs_v3_load(a->q), .quaternion = rs_quat_load(a->q + 3), .omega = rs_v3_load(a->u + 3)};
    rs_rigid_body_set_mass(&body, link->mass, link->com, &link->inertia);
    rs_vec3 arm = turned(body.quaternion, link->com);
    body.velocity = rs_add(rs_v3_load(a->u), rs_cross(body.omega, arm));
    rs_rigid_body_midpoint(&body, dt);
    return body;
}

/* Velocity of the link's origin and angular velocity, from those of its centre of mass. */
static void store_motion(rs_vec3 v, rs_vec3 w, rs_vec3 arm, double *u) {
    rs_v3_store(u, rs_sub(v, rs_cross(w, arm)));
    rs_v3_store(u + 3, w);
}

void rs_lone_link_midpoint(rs_articulation *a, double dt) {
    rs_body body = body_of(a, dt);
    rs_v3_store(a->q_stage, body.middle.pos);
    rs_quat_store(a->q_stage + 3, rs_quat_normalize(rs_quat_mul(rs_quat_exp(body.middle_turn), body.quaternion)));
}

/* What users and damping do to the link, about its origin; damping is that of the end of the step, as for all joints. */
static rs_pair6 base_wrench(const rs_articulation *a) {
    double f[6];
    for (int k = 0; k < 6; k++)
        f[k] = a->joint_force[k] - a->weight[k] * a->u_rate[k];
    rs_pair6 wrench = {rs_v3_load(f), rs_v3_load(f + 3)};
    return a->loaded ? rs_pair6_add(wrench, rs_load_wrench(a, 0)) : wrench;
}

void rs_lone_link_free_velocity(rs_articulation *a, rs_vec3 gravity, double dt) {
    rs_body body = body_of(a, dt);
    rs_vec3 arm = rs_m3_mulv(&a->motion[0].rot, a->links[0].com);
    body.middle = (rs_transform){a->motion[0].rot, a->motion[0].pos};
    rs_pair6 load = base_wrench(a);
    body.force = load.lin;
    body.torque = rs_sub(load.ang, rs_cross(arm, load.lin));
    rs_solver_body free;
    rs_rigid_body_free_velocity(&body, gravity, dt, &free);
    store_motion(free.v.xyz, free.w.xyz, arm, a->u_free);
    store_motion(body.velocity, body.middle_omega, arm, a->u_ahead);
}

void rs_lone_link_integrate(rs_articulation *a, double dt, double *q_new) {
    rs_body body = body_of(a, dt);
    rs_vec3 w = rs_v3_load(a->u_free + 3), arm = rs_m3_mulv(&a->motion[0].rot, a->links[0].com);
    body.middle = (rs_transform){a->motion[0].rot, a->motion[0].pos};
    rs_solver_body solved = {.v.xyz = rs_add(rs_v3_load(a->u_free), rs_cross(w, arm)), .w.xyz = w};
    rs_vec3 push_w = rs_v3_load(a->u_push + 3);
    rs_push_body push = {rs_add(rs_v3_load(a->u_push), rs_cross(push_w, arm)), push_w};
    if (!rs_rigid_body_integrate(&body, &solved, a->pushed ? &push : NULL, dt)) {
        q_new[0] = NAN;
        return;
    }
    rs_v3_store(q_new, body.position);
    rs_quat_store(q_new + 3, body.quaternion);
    store_motion(body.velocity, body.omega, turned(body.quaternion, a->links[0].com), a->u_free);
}
