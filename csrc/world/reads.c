/* Bulk reads: one call for everything in the world. */
#include "world.h"

#include <string.h>

static void store_pose(double *out, rs_vec3 position, rs_quat q, int32_t w_last) {
    rs_v3_store(out, position);
    const double last[4] = {q.x, q.y, q.z, q.w};
    if (w_last)
        memcpy(out + 3, last, sizeof last);
    else
        rs_quat_store(out + 3, q);
}

static rs_status check_number(const rs_world *world, uint64_t configuration_number) {
    return configuration_number == world->data.configuration_number
               ? RS_OK
               : rs_fail(RS_WRONG_STATE, "something was added or removed since the rows were made");
}

static void store_six(double *out, rs_vec3 linear, rs_vec3 angular) {
    rs_v3_store(out, linear);
    rs_v3_store(out + 3, angular);
}

rs_status rs_world_read_states(rs_world *world, const rs_state_rows *out) {
    rs_world_enter_to_read(world);
    const rs_world_data *data = &world->data;
    rs_status status = check_number(world, out->configuration_number);
    if (status != RS_OK)
        return rs_world_leave(world, status);
    for (int64_t i = 0; i < data->list.count; i++) {
        const rs_slot *slot = RS_ITEM(data->slots, data->list.items[i]);
        const rs_body *body = RS_ITEM(data->bodies, slot->body);
        if (out->pose != NULL)
            store_pose(&out->pose[7 * i], body->position, body->quaternion, out->w_last);
        if (out->twist != NULL && body->soft != NULL) {
            rs_soft_sums sums = rs_soft_sum(body->soft, rs_v3_zero());
            rs_vec3 drift = sums.mass > 0.0 ? rs_scale(1.0 / sums.mass, sums.linear) : rs_v3_zero();
            store_six(&out->twist[6 * i], drift, rs_v3_zero());
        } else if (out->twist != NULL) {
            rs_vec3 arm = rs_sub(body->position, rs_rigid_body_com_position(body));
            store_six(&out->twist[6 * i], rs_add(body->velocity, rs_cross(body->omega, arm)), body->omega);
        }
        if (out->wrench != NULL)
            store_six(&out->wrench[6 * i], body->applied_force, body->applied_torque);
        if (out->sleeping != NULL)
            out->sleeping[i] = body->asleep;
    }
    return rs_world_leave(world, RS_OK);
}

static void store_vector(double *out, int64_t first, const double *values, int64_t count) {
    if (out != NULL)
        memcpy(out + first, values, sizeof *values * (size_t)count);
}

rs_status rs_world_read_articulations(rs_world *world, const rs_articulation_rows *out) {
    rs_world_enter_to_read(world);
    const rs_world_data *data = &world->data;
    int64_t links = 0, q_first = 0, u_first = 0;
    rs_status status = check_number(world, out->configuration_number);
    if (status != RS_OK)
        return rs_world_leave(world, status);
    for (int64_t i = 0; i < data->list.count; i++) {
        const rs_slot *slot = RS_ITEM(data->slots, data->list.items[i]);
        const rs_body *body = RS_ITEM(data->bodies, slot->body);
        const rs_articulation *a = body->articulation;
        if (a == NULL)
            continue;
        rs_world_place_links(world, body);
        for (int32_t k = 0; k < a->link_count; k++) {
            if (out->link_pose != NULL)
                store_pose(&out->link_pose[7 * (links + k)], a->motion[k].pos, rs_m3_to_quat(&a->motion[k].rot),
                           out->w_last);
            if (out->link_twist != NULL)
                store_six(&out->link_twist[6 * (links + k)], a->motion[k].v, a->motion[k].w);
            if (out->link_wrench != NULL)
                store_six(&out->link_wrench[6 * (links + k)], a->applied_wrench[k].lin, a->applied_wrench[k].ang);
        }
        store_vector(out->q, q_first, a->q, a->q_count);
        store_vector(out->u, u_first, a->u, a->u_count);
        store_vector(out->applied_force, u_first, a->applied_force, a->u_count);
        links += a->link_count;
        q_first += a->q_count;
        u_first += a->u_count;
    }
    return rs_world_leave(world, RS_OK);
}

/* Contacts that were only foreseen and did not come about are nobody's business. */
static bool is_real(const rs_world *world, const rs_touch *touch) {
    const rs_collider *colliders = world->data.colliders.items;
    return touch->impulse.z > 0.0 ||
           touch->gap <= rs_touch_distance(&colliders[touch->collider_a], &colliders[touch->collider_b]);
}

/* How far one got in the two lists. */
typedef struct {
    int64_t awake, resting;
} contact_walk;

/* All touching points, those that rest among them, ordered by pair; NULL at the end. */
static const rs_touch *next_touch(const rs_world *world, contact_walk *walk) {
    const RS_ARRAY(rs_touch) *touches = &world->data.touches, *resting = &world->data.resting;
    const rs_touch *a = walk->awake < touches->count ? RS_ITEM(*touches, walk->awake) : NULL;
    const rs_touch *b = walk->resting < resting->count ? RS_ITEM(*resting, walk->resting) : NULL;
    bool take_a = b == NULL || (a != NULL && (a->collider_a < b->collider_a ||
                                              (a->collider_a == b->collider_a && a->collider_b < b->collider_b)));
    walk->awake += take_a;
    walk->resting += !take_a;
    return take_a ? a : b;
}

int64_t rs_world_contact_count(rs_world *world) {
    rs_world_enter_to_read(world);
    int64_t count = 0;
    contact_walk walk = {0};
    for (const rs_touch *touch; (touch = next_touch(world, &walk)) != NULL;)
        count += is_real(world, touch);
    rs_world_leave(world, RS_OK);
    return count;
}

static void store_contact(const rs_world *world, const rs_touch *touch, rs_contact *out) {
    const rs_body *bodies = world->data.bodies.items;
    const rs_collider *colliders = world->data.colliders.items;
    out->object_a = rs_slot_id(world, bodies[touch->body_a].slot);
    out->object_b = rs_slot_id(world, bodies[touch->body_b].slot);
    out->local_a = colliders[touch->collider_a].link;
    out->local_b = colliders[touch->collider_b].link;
    out->collider_a = colliders[touch->collider_a].number;
    out->collider_b = colliders[touch->collider_b].number;
    rs_v3_store(out->position, touch->position);
    rs_v3_store(&out->frame[0], touch->t1);
    rs_v3_store(&out->frame[3], touch->t2);
    rs_v3_store(&out->frame[6], touch->n);
    rs_v3_store(out->impulse, touch->impulse);
    rs_v3_store(out->moment, touch->moment);
    out->depth = touch->gap;
    rs_v3_store(out->velocity, touch->velocity);
    const double g[6] = {touch->g.xx, touch->g.yy, touch->g.zz, touch->g.xy, touch->g.xz, touch->g.yz};
    for (int k = 0; k < 6; k++)
        out->inverse_inertia[k] = g[k];
    out->friction = touch->friction;
    out->restitution = touch->restitution;
    out->island = touch->island;
    out->feature = (int32_t)touch->feature;
}

rs_status rs_world_read_contacts(rs_world *world, rs_contact *out, int64_t capacity) {
    rs_world_enter_to_read(world);
    int64_t written = 0;
    contact_walk walk = {0};
    for (const rs_touch *touch; (touch = next_touch(world, &walk)) != NULL;) {
        if (!is_real(world, touch))
            continue;
        if (written == capacity)
            return rs_world_leave(world, rs_fail(RS_INVALID_VALUE, "room for %lld contacts; there are more",
                                                 (long long)capacity));
        store_contact(world, touch, &out[written++]);
    }
    return rs_world_leave(world, RS_OK);
}

/* ---- hash ---- */

static uint64_t fnv1a(uint64_t hash, const void *memory, size_t bytes) {
    const unsigned char *byte = memory;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ byte[i]) * 1099511628211ULL;
    return hash;
}

uint64_t rs_world_state_hash(rs_world *world) {
    rs_world_enter_to_read(world);
    uint64_t hash = 14695981039346656037ULL;
    const rs_world_data *data = &world->data;
    hash = fnv1a(hash, &data->time, sizeof data->time);
    for (int64_t i = 0; i < data->list.count; i++) {
        const rs_slot *slot = RS_ITEM(data->slots, data->list.items[i]);
        const rs_body *body = RS_ITEM(data->bodies, slot->body);
        double state[14];
        rs_v3_store(&state[0], body->position);
        rs_quat_store(&state[3], body->quaternion);
        rs_v3_store(&state[7], body->velocity);
        rs_v3_store(&state[10], body->omega);
        state[13] = body->asleep;
        hash = fnv1a(hash, state, sizeof state);
        const rs_articulation *a = body->articulation;
        if (a != NULL) {
            hash = fnv1a(hash, a->q, sizeof(double) * (size_t)a->q_count);
            hash = fnv1a(hash, a->u, sizeof(double) * (size_t)a->u_count);
        }
        if (body->soft != NULL)
            hash = rs_soft_hash(body->soft, hash);
    }
    for (int64_t i = 0; i < data->wires.count; i++)
        hash = fnv1a(hash, &RS_ITEM(data->wires, i)->impulse, sizeof(double));
    rs_world_leave(world, RS_OK);
    return hash;
}
