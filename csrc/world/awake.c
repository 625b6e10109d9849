/* Which bodies a step looks at. What sleeps, or stands still for good, costs nothing: it is not listed, and its contacts are
 * set aside. When one of them is woken or moved, all are listed for a step. */
#include "awake.h"

rs_status rs_world_list_all(rs_world *world) {
    rs_world_data *data = &world->data;
    rs_body *bodies = data->bodies.items;
    if (rs_array_resize(&world->awake, data->bodies.count) != RS_OK ||
        rs_touches_merge(&data->touches, &data->resting, &world->touches_other) != RS_OK)
        return RS_OUT_OF_MEMORY;
    rs_array_swap(&data->touches, &world->touches_other);
    data->resting.count = 0;
    int32_t *awake = world->awake.items;
    world->awake.count = 0;
    for (int32_t i = 0; i < data->bodies.count; i++) {
        bodies[i].listed = bodies[i].alive;
        if (bodies[i].alive)
            awake[world->awake.count++] = i;
    }
    rs_broad_phase_rouse(&world->broad_phase);
    world->roused = false;
    return RS_OK;
}

rs_status rs_world_set_aside(rs_world *world) {
    RS_ARRAY(rs_touch) *rested = &world->rested, *resting = &world->data.resting;
    if (rested->count == 0)
        return RS_OK;
    if (rs_touches_merge(resting, rested, &world->touches_other) != RS_OK)
        return RS_OUT_OF_MEMORY;
    rs_array_swap(resting, &world->touches_other);
    return RS_OK;
}

/* It stands, and stood for so long that a step would not change anything about it. */
static bool stands(const rs_body *body) {
    return rs_v3_is_zero(body->velocity) && rs_v3_is_zero(body->omega) && rs_v3_is_zero(body->former_velocity) &&
           rs_v3_is_zero(body->former_omega) && rs_v3_is_zero(body->velocity_change) && rs_v3_is_zero(body->omega_change);
}

/* The last step placed it as one that does not move. */
static bool is_placed_at_rest(const rs_world *world, const rs_body *body) {
    return body->first_collider == RS_NONE || !RS_ITEM(world->data.colliders, body->first_collider)->active;
}

bool rs_world_needs_step(const rs_world *world, const rs_body *body) {
    bool rests = body->type == RS_BODY_DYNAMIC ? body->asleep : stands(body);
    return !rests || body->moved || body->soft != NULL || !is_placed_at_rest(world, body);
}

void rs_world_rouse(rs_world *world, rs_body *body) {
    rs_wake_body(body);
    bool loaded = !rs_v3_is_zero(body->force) || !rs_v3_is_zero(body->torque);
    world->roused |= !body->listed && (loaded || rs_world_needs_step(world, body));
}

void rs_world_unlist_resting(rs_world *world) {
    rs_body *bodies = world->data.bodies.items;
    int32_t *awake = world->awake.items;
    int64_t kept = 0;
    for (int64_t k = 0; k < world->awake.count; k++) {
        rs_body *body = &bodies[awake[k]];
        body->listed = rs_world_needs_step(world, body);
        if (body->listed)
            awake[kept++] = awake[k];
    }
    world->awake.count = kept;
}
