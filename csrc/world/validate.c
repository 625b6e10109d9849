/* Whether a world is what every other file takes for granted. Slow: for tests and fuzzers. */
#include "awake.h"

static const char *wrong_slots(const rs_world_data *data) {
    const rs_slot *slots = data->slots.items;
    const int32_t *list = data->list.items;
    const rs_body *bodies = data->bodies.items;
    for (int64_t k = 0; k < data->list.count; k++) {
        if (!rs_any_has(&data->slots.any, list[k]))
            return "the object list names a slot that does not exist";
        const rs_slot *slot = &slots[list[k]];
        if (slot->serial == 0 || slot->list_index != k)
            return "a slot does not know its place in the object list";
        if (!rs_any_has(&data->bodies.any, slot->body) || !bodies[slot->body].alive || bodies[slot->body].slot != list[k])
            return "a slot and its body do not know each other";
    }
    int64_t used = 0, alive = 0;
    for (int64_t k = 0; k < data->slots.count; k++)
        used += slots[k].serial != 0;
    for (int64_t k = 0; k < data->bodies.count; k++)
        alive += bodies[k].alive;
    return used == data->list.count && alive == used ? NULL : "a slot or a body is in use that the object list does not have";
}

static bool state_is_carried(const rs_body *body) {
    const rs_articulation *a = body->articulation;
    double norm2 = body->quaternion.w * body->quaternion.w + body->quaternion.x * body->quaternion.x +
                   body->quaternion.y * body->quaternion.y + body->quaternion.z * body->quaternion.z;
    return rs_v3_is_carried(body->position) && rs_v3_is_carried(body->velocity) && rs_v3_is_carried(body->omega) &&
           fabs(norm2 - 1.0) < 1e-6 && (a == NULL || rs_articulated_is_carried(a, a->q, a->u));
}

static const char *wrong_bodies(const rs_world_data *data) {
    const rs_collider *colliders = data->colliders.items;
    int64_t listed = 0, alive = 0;
    for (int64_t i = 0; i < data->bodies.count; i++) {
        const rs_body *body = RS_ITEM(data->bodies, i);
        if (!body->alive)
            continue;
        if (!state_is_carried(body))
            return "a state is not finite, or a quaternion has not the length 1";
        if (body->type == RS_BODY_DYNAMIC && body->articulation == NULL && !(body->mass > 0.0))
            return "a dynamic body has no mass";
        int32_t count = 0;
        for (int32_t c = body->first_collider; c != RS_NONE; c = colliders[c].next_in_body, count++)
            if (!rs_any_has(&data->colliders.any, c) || !colliders[c].alive || colliders[c].body != i ||
                count >= body->collider_count)
                return "a body and its colliders do not know each other";
        if (count != body->collider_count)
            return "a body has another number of colliders than it counts";
        if (body->soft != NULL && (body->type != RS_BODY_STATIC || body->collider_count != 0 || !rs_soft_is_carried(body->soft)))
            return "an object made of particles has colliders, or a particle is not where numbers reach";
        if (body->controller < 0 || body->controller > data->controllers.count)
            return "a body has a controller that does not exist";
        listed += count;
    }
    for (int64_t c = 0; c < data->colliders.count; c++)
        alive += colliders[c].alive;
    return alive == listed ? NULL : "a collider belongs to no body";
}

static const char *wrong_touches(const rs_world_data *data, const RS_ARRAY(rs_touch) *list) {
    const rs_touch *touches = list->items;
    for (int64_t k = 0; k < list->count; k++) {
        if (!rs_any_has(&data->bodies.any, touches[k].body_a) || !rs_any_has(&data->bodies.any, touches[k].body_b) ||
            !rs_any_has(&data->colliders.any, touches[k].collider_a) || !rs_any_has(&data->colliders.any, touches[k].collider_b))
            return "a contact names a body or collider that does not exist";
        if (!rs_v3_finite(touches[k].impulse) || !rs_v3_finite(touches[k].moment))
            return "an impulse is not finite";
    }
    return NULL;
}

static const char *wrong_contacts(const rs_world_data *data) {
    const char *wrong = wrong_touches(data, &data->touches);
    wrong = wrong != NULL ? wrong : wrong_touches(data, &data->resting);
    if (wrong != NULL)
        return wrong;
    const rs_wire *wires = data->wires.items;
    const rs_body *bodies = data->bodies.items;
    for (int64_t k = 0; k < data->wires.count; k++)
        for (int end = 0; end < 2; end++)
            if (!rs_any_has(&data->bodies.any, wires[k].body[end]) || !bodies[wires[k].body[end]].alive)
                return "a wire hangs on a body that does not exist";
    return NULL;
}

const char *rs_world_data_wrong(const rs_world_data *data) {
    const char *wrong = wrong_slots(data);
    wrong = wrong != NULL ? wrong : wrong_bodies(data);
    return wrong != NULL ? wrong : wrong_contacts(data);
}

/* What steps do not look at needs no step. */
static const char *wrong_list(const rs_world *world) {
    const rs_body *bodies = world->data.bodies.items;
    int64_t listed = 0;
    for (int64_t i = 0; i < world->data.bodies.count; i++) {
        if (bodies[i].alive && !bodies[i].listed && rs_world_needs_step(world, &bodies[i]))
            return "a body moves, or was moved, that steps do not look at";
        listed += bodies[i].listed;
    }
    return listed == world->awake.count ? NULL : "the list of bodies that steps look at is wrong";
}

rs_status rs_world_validate(rs_world *world) {
    rs_world_enter_to_read(world);
    const char *wrong = rs_world_data_wrong(&world->data);
    if (wrong == NULL && !world->roused && !world->colliders_changed)
        wrong = wrong_list(world);
    return rs_world_leave(world, wrong == NULL ? RS_OK : rs_fail(RS_WRONG_STATE, "the world is broken: %s", wrong));
}
