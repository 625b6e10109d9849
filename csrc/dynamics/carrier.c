#include "carrier.h"

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
