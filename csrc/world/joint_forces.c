/* Forces and torques in the joints of an articulated system: inverse dynamics of a step with everything that acted. */
#include "world.h"

/* A contact's force as a load on one link of the articulation. */
static void add_contact_load(rs_articulation *a, int32_t link, rs_vec3 point, rs_vec3 force) {
    rs_link_load *load = &a->loads[link];
    load->force = rs_add(load->force, force);
    load->torque = rs_add(load->torque, rs_cross(rs_sub(point, a->motion[link].pos), force));
    a->loaded = true;
}

void rs_world_find_joint_wrenches(rs_world *world, int32_t body_index) {
    const rs_world_data *data = &world->data;
    rs_articulation *a = RS_ITEMS(rs_body, data->bodies)[body_index].articulation;
    const rs_collider *colliders = RS_ITEMS(rs_collider, data->colliders);
    for (int64_t k = 0; k < data->touches.count; k++) {
        const rs_touch *t = &RS_ITEMS(rs_touch, data->touches)[k];
        rs_vec3 impulse = rs_madd(rs_madd(rs_scale(t->impulse.x, t->t1), t->impulse.y, t->t2), t->impulse.z, t->n);
        rs_vec3 force = rs_scale(1.0 / data->dt, impulse);
        if (t->body_a == body_index)
            add_contact_load(a, colliders[t->collider_a].link, t->position, force);
        if (t->body_b == body_index)
            add_contact_load(a, colliders[t->collider_b].link, t->position, rs_neg(force));
    }
    double *acceleration = a->work[2], *tau = a->work[3];
    for (int32_t k = 0; k < a->u_count; k++)
        acceleration[k] = (a->u_free[k] - a->u[k]) / data->dt;
    rs_rnea(a, data->gravity, acceleration, a->loaded, tau);
    for (int32_t i = 0; i < a->link_count; i++)
        a->reaction[i] = a->force[i];
}

rs_status rs_articulation_joint_wrenches(rs_world *world, rs_object_id id, double *out) {
    rs_body *body;
    rs_world_enter(world);
    const rs_articulation *a = rs_world_articulation(world, id, &body);
    rs_status status = a == NULL              ? RS_UNKNOWN_OBJECT
                       : !a->inverse_dynamics ? rs_fail(RS_WRONG_STATE, "inverse dynamics is not turned on")
                                              : RS_OK;
    for (int32_t i = 0; status == RS_OK && i < a->link_count; i++) {
        rs_v3_store(&out[6 * i], a->reaction[i].lin);
        rs_v3_store(&out[6 * i + 3], a->reaction[i].ang);
    }
    return rs_world_leave(world, status);
}
