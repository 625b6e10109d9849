#include "carrier.h"

#include "../base/limits.h"

#include <string.h>

static rs_transform link_frame(const rs_body *body, int32_t link) {
    const rs_link_motion *m = &body->articulation->motion[link];
    return (rs_transform){m->rot, m->pos};
}

int32_t rs_carrier_count(const rs_body *body) { return body->articulation != NULL ? body->articulation->link_count : 1; }

double rs_carrier_mass(const rs_body *body, int32_t link) {
    return body->articulation != NULL ? body->articulation->links[link].mass : body->mass;
}

rs_sym3 rs_carrier_inertia(const rs_body *body, int32_t link) {
    return body->articulation != NULL ? body->articulation->links[link].inertia : body->inertia;
}

rs_vec3 rs_carrier_com(const rs_body *body, int32_t link) {
    return body->articulation != NULL ? body->articulation->links[link].com : body->com;
}

int32_t rs_carrier_velocity_count(const rs_body *body) {
    return body->articulation != NULL ? body->articulation->u_count : 6;
}

rs_pair6 rs_carrier_twist(const rs_body *body, int32_t link) {
    rs_articulation *a = body->articulation;
    return a != NULL ? rs_link_twist(a, link, a->u) : (rs_pair6){.lin = body->velocity, .ang = body->omega};
}

/* The velocity that stands for an articulated system is that of its base link's origin. */
rs_vec3 rs_carrier_base_velocity(const rs_body *body) {
    if (body->articulation == NULL)
        return body->velocity;
    rs_mat3 rot = rs_quat_to_m3(body->quaternion);
    return rs_add(body->velocity, rs_cross(body->omega, rs_m3_mulv(&rot, rs_carrier_com(body, 0))));
}

rs_transform rs_carrier_pose(const rs_body *body, int32_t link) {
    return body->articulation != NULL ? link_frame(body, link) : rs_transform_make(body->position, body->quaternion);
}

rs_transform rs_carrier_middle(const rs_body *body, int32_t link) {
    return body->articulation != NULL ? link_frame(body, link) : body->middle;
}

bool rs_carrier_is_dynamic(const rs_body *body, int32_t link) {
    bool held = body->articulation != NULL && body->articulation->fixed_base && link == 0;
    return body->type == RS_BODY_DYNAMIC && !held;
}

void rs_carrier_command(rs_body *body, int32_t link, rs_pair6 wrench) {
    rs_articulation *a = body->articulation;
    if (a != NULL) {
        a->command[link] = wrench;
        a->commanded = true;
    } else {
        body->command_force = wrench.lin;
        body->command_torque = wrench.ang;
    }
}

void rs_carrier_clear_loads(rs_body *body) {
    body->force = body->torque = rs_v3_zero();
    if (body->articulation != NULL)
        rs_articulated_clear_loads(body->articulation);
}

static void forget_commands(rs_body *body) {
    rs_articulation *a = body->articulation;
    body->command_force = body->command_torque = rs_v3_zero();
    if (a != NULL) {
        memset(a->command, 0, sizeof *a->command * (size_t)a->link_count);
        a->commanded = false;
    }
}

void rs_carrier_unload(rs_body *body) {
    rs_articulation *a = body->articulation;
    rs_carrier_clear_loads(body);
    forget_commands(body);
    body->applied_force = body->applied_torque = rs_v3_zero();
    if (a != NULL)
        memset(a->applied_wrench, 0, sizeof *a->applied_wrench * (size_t)a->link_count);
}

void rs_carrier_rest(rs_body *body, double dt) {
    body->velocity = body->omega = body->middle_omega = rs_v3_zero();
    if (body->articulation != NULL)
        rs_articulated_rest(body->articulation, dt);
}

void rs_carrier_stop(rs_body *body, double dt) {
    body->velocity = body->omega = body->middle_omega = rs_v3_zero();
    body->force = body->torque = rs_v3_zero();
    forget_commands(body);
    if (body->articulation != NULL)
        rs_articulated_stop(body->articulation, dt);
}

bool rs_carrier_middle_is_carried(const rs_body *body) {
    const rs_articulation *a = body->articulation;
    return a != NULL ? rs_articulated_is_carried(a, a->q_stage, a->u)
                     : rs_v3_is_carried(body->middle_com) && isfinite(body->middle.rot.m[0]);
}
