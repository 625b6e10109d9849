#include "carrier.h"

static rs_transform link_frame(const rs_body *body, int32_t link) {
    const rs_link_motion *m = &body->articulation->motion[link];
    return (rs_transform){m->rot, m->pos};
}

rs_vec3 rs_carrier_com(const rs_body *body, int32_t link) {
    return body->articulation != NULL ? body->articulation->links[link].com : body->com;
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
