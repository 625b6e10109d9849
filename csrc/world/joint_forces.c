/* Forces and torques in the joints of an articulated system: inverse dynamics of a step with everything that acted. */
#include "world.h"

/* The wrench that a link needs shrinks by what acts on it from outside: force at a point, world frame. */
static void take_off(rs_articulation *a, int32_t link, rs_vec3 point, rs_vec3 force) {
    rs_pair6 *wrench = &a->force[link];
    wrench->lin = rs_sub(wrench->lin, force);
    wrench->ang = rs_sub(wrench->ang, rs_cross(rs_sub(point, a->motion[link].pos), force));
}

static void take_off_contacts(rs_articulation *a, const rs_world_data *data, int32_t body_index) {
    const rs_collider *colliders = data->colliders.items;
    for (int64_t k = 0; k < data->touches.count; k++) {
        const rs_touch *t = RS_ITEM(data->touches, k);
        rs_vec3 impulse = rs_madd(rs_madd(rs_scale(t->impulse.x, t->t1), t->impulse.y, t->t2), t->impulse.z, t->n);
        rs_vec3 force = rs_scale(1.0 / data->dt, impulse);
        rs_vec3 turn = rs_madd(rs_madd(rs_scale(t->moment.x, t->t1), t->moment.y, t->t2), t->moment.z, t->n);
        rs_vec3 moment = rs_scale(1.0 / data->dt, turn);
        if (t->body_a == body_index) {
            int32_t link = colliders[t->collider_a].link;
            take_off(a, link, t->position, force);
            a->force[link].ang = rs_sub(a->force[link].ang, moment);
        }
        if (t->body_b == body_index) {
            int32_t link = colliders[t->collider_b].link;
            take_off(a, link, t->position, rs_neg(force));
            a->force[link].ang = rs_add(a->force[link].ang, moment);
        }
    }
}

static void take_off_wires(rs_articulation *a, const rs_world_data *data, int32_t body_index) {
    for (int64_t k = 0; k < data->wires.count; k++) {
        const rs_wire *wire = RS_ITEM(data->wires, k);
        rs_vec3 impulse = rs_scale(wire->impulse, wire->normal);
        for (int end = 0; end < 2; end++)
            if (wire->body[end] == body_index)
                take_off(a, wire->link[end], wire->middle[end],
                         rs_scale((end == 0 ? 1.0 : -1.0) / data->dt, impulse));
    }
}

static void take_off_pins(rs_articulation *a, double dt) {
    for (int32_t k = 0; k < a->pin_count; k++)
        for (int end = 0; end < 2; end++) {
            const rs_pin *pin = &a->pins[k];
            const rs_link_motion *m = &a->motion[pin->link[end]];
            take_off(a, pin->link[end], rs_add(m->pos, rs_m3_mulv(&m->rot, pin->point[end])),
                     rs_scale((end == 0 ? 1.0 : -1.0) / dt, a->pin_impulse[k]));
        }
}

void rs_world_find_joint_wrenches(rs_world *world, int32_t body_index) {
    const rs_world_data *data = &world->data;
    rs_articulation *a = RS_ITEM(data->bodies, body_index)->articulation;
    double *acceleration = a->spare;
    for (int32_t k = 0; k < a->u_count; k++)
        acceleration[k] = (a->u_free[k] - a->u[k]) / data->dt;
    rs_kinematics_move(a, a->u_ahead);
    rs_rnea_wrenches(a, data->gravity, acceleration, a->loaded);
    take_off_contacts(a, data, body_index);
    take_off_wires(a, data, body_index);
    take_off_pins(a, data->dt);
    rs_rnea_collect(a, NULL);
    for (int32_t i = 0; i < a->link_count; i++)
        a->reaction[i] = a->force[i];
}

rs_status rs_articulation_get_joint_wrenches(rs_world *world, rs_object_id id, double *out) {
    rs_body *body;
    rs_world_enter_to_read(world);
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
