/* Whole-world snapshots: deep copies of rs_world_data; and the return to the state, without the parameters, of one. */
#include "world.h"

#include <string.h>

void rs_world_data_free(rs_world_data *data) {
    for (int64_t i = 0; i < data->assets.count; i++)
        if (RS_ITEM(data->assets, i)->id != 0)
            rs_asset_drop(RS_ITEM(data->assets, i)->asset);
    for (int64_t i = 0; i < data->bodies.count; i++) {
        rs_articulation_free(RS_ITEM(data->bodies, i)->articulation);
        rs_soft_free(RS_ITEM(data->bodies, i)->soft);
    }
    rs_any_array *arrays[RS_DATA_ARRAY_COUNT];
    rs_world_data_arrays(data, arrays);
    rs_any_free_all(arrays, RS_DATA_ARRAY_COUNT);
}

bool rs_world_copy_owned(rs_body *body, rs_tree_copier copy) {
    const rs_articulation *tree = body->articulation;
    const rs_soft *soft = body->soft;
    body->articulation = tree != NULL ? copy(tree) : NULL;
    body->soft = soft != NULL ? rs_soft_clone(soft) : NULL; /* nothing owns both */
    return (tree == NULL || body->articulation != NULL) && (soft == NULL || body->soft != NULL);
}

/* On failure the rest is left out. */
static rs_status copy_all_owned(RS_ARRAY(rs_body) *bodies, rs_tree_copier copy) {
    bool copied = true;
    for (int64_t i = 0; i < bodies->count; i++) {
        rs_body *body = RS_ITEM(*bodies, i);
        if (!copied) {
            body->articulation = NULL;
            body->soft = NULL;
        }
        copied = copied && rs_world_copy_owned(body, copy);
    }
    return copied ? RS_OK : RS_OUT_OF_MEMORY;
}

/* Copies everything, holding the assets once more; on failure `to` is empty. */
static rs_status copy_data(rs_world_data *to, const rs_world_data *from, rs_tree_copier copy) {
    rs_world_data source = *from; /* the list of arrays wants a writable struct */
    rs_any_array *from_arrays[RS_DATA_ARRAY_COUNT], *to_arrays[RS_DATA_ARRAY_COUNT];
    *to = *from;
    rs_world_data_arrays(&source, from_arrays);
    rs_world_data_arrays(to, to_arrays);
    for (int i = 0; i < RS_DATA_ARRAY_COUNT; i++)
        *to_arrays[i] = (rs_any_array){0};
    if (rs_any_copy_all(to_arrays, from_arrays, RS_DATA_ARRAY_COUNT) != RS_OK) {
        to->assets.count = to->bodies.count = 0; /* not held yet */
        rs_world_data_free(to);
        return RS_OUT_OF_MEMORY;
    }
    if (copy_all_owned(&to->bodies, copy) != RS_OK) {
        to->assets.count = 0;
        rs_world_data_free(to);
        return RS_OUT_OF_MEMORY;
    }
    for (int64_t i = 0; i < to->assets.count; i++)
        if (RS_ITEM(to->assets, i)->id != 0)
            rs_asset_hold(RS_ITEM(to->assets, i)->asset);
    return RS_OK;
}

rs_status rs_snapshot_save(rs_world *world, rs_snapshot **out) {
    rs_world_enter_to_read(world);
    if (world->half_way)
        return rs_world_leave(world, rs_fail(RS_WRONG_STATE, "no snapshot between integrate1 and integrate2"));
    rs_snapshot *snapshot = rs_alloc(sizeof *snapshot);
    rs_status status = snapshot != NULL ? copy_data(&snapshot->data, &world->data, rs_articulation_pack) : RS_OUT_OF_MEMORY;
    if (status == RS_OK) {
        snapshot->next_serial = world->next_serial;
        snapshot->next_asset = world->next_asset;
        *out = snapshot;
    } else {
        rs_free(snapshot);
    }
    return rs_world_leave(world, status);
}

rs_status rs_snapshot_restore(rs_world *world, const rs_snapshot *snapshot) {
    rs_world_data copy;
    rs_world_enter(world);
    rs_status status = copy_data(&copy, &snapshot->data, rs_articulation_clone);
    if (status != RS_OK)
        return rs_world_leave(world, status);
    uint64_t configuration_number = world->data.configuration_number + 1;
    rs_world_data_free(&world->data);
    world->data = copy;
    world->data.configuration_number = configuration_number; /* what readers cached is out of date */
    if (world->next_serial < snapshot->next_serial)
        world->next_serial = snapshot->next_serial;
    if (world->next_asset < snapshot->next_asset)
        world->next_asset = snapshot->next_asset;
    world->half_way = false;
    world->colliders_changed = true;
    world->version++;
    world->geometry_number++;
    return rs_world_leave(world, RS_OK);
}

void rs_snapshot_destroy(rs_snapshot *snapshot) {
    if (snapshot == NULL)
        return;
    rs_world_data_free(&snapshot->data);
    rs_free(snapshot);
}

rs_status rs_world_clone(rs_world *source, rs_world **out) {
    rs_world *copy = NULL;
    rs_snapshot *snapshot = NULL;
    rs_status status = rs_snapshot_save(source, &snapshot);
    RS_THEN(status, rs_world_create(&copy));
    if (status == RS_OK) {
        status = rs_snapshot_restore(copy, snapshot);
        copy->data.configuration_number = snapshot->data.configuration_number;
    }
    rs_snapshot_destroy(snapshot);
    if (status == RS_OK)
        *out = copy;
    else
        rs_world_destroy(copy);
    return status;
}

/* ---- states without parameters ---- */

static void reset_articulation(rs_articulation *a, const rs_articulation *from) {
    const size_t nq = sizeof(double) * (size_t)a->q_count, nu = sizeof(double) * (size_t)a->u_count;
    const size_t links = (size_t)a->link_count;
    memcpy(a->q, from->q, nq);
    memcpy(a->p_target, from->p_target, nq);
    double *const to_u[] = {a->u, a->u_change, a->u_change_before, a->d_target, a->feed_forward, a->acceleration,
                            a->applied_force, a->limit_impulse, a->friction_impulse, a->motor_impulse};
    const double *const from_u[] = {from->u, from->u_change, from->u_change_before, from->d_target, from->feed_forward,
                                    from->acceleration, from->applied_force, from->limit_impulse, from->friction_impulse,
                                    from->motor_impulse};
    for (size_t k = 0; k < sizeof to_u / sizeof *to_u; k++)
        memcpy(to_u[k], from_u[k], nu);
    memcpy(a->loads, from->loads, links * sizeof *a->loads);
    memcpy(a->command, from->command, links * sizeof *a->command);
    memcpy(a->applied_wrench, from->applied_wrench, links * sizeof *a->applied_wrench);
    memcpy(a->reaction, from->reaction, links * sizeof *a->reaction);
    memcpy(a->pin_impulse, from->pin_impulse, (size_t)a->pin_count * sizeof *a->pin_impulse);
    memcpy(a->coupling_impulse, from->coupling_impulse, (size_t)a->coupling_count * sizeof *a->coupling_impulse);
    memcpy(a->tendon_impulses, from->tendon_impulses, (size_t)a->tendon_count * sizeof *a->tendon_impulses);
    size_t drives = sizeof(double) * (size_t)a->drive_count;
    memcpy(a->drive_control, from->drive_control, drives);
    memcpy(a->activation, from->activation, drives);
    memcpy(a->drive_impulse, from->drive_impulse, drives);
    a->loaded = from->loaded;
    a->commanded = from->commanded;
    a->guided = from->guided;
    a->placed_at = NULL;
    double *q = a->carried.q, *u = a->carried.u;
    memcpy(q, from->carried.q, nq);
    memcpy(u, from->carried.u, nu);
    a->carried = from->carried;
    a->carried.q = q;
    a->carried.u = u;
}

/* What a step writes of a body and of its colliders. */
static void reset_body(rs_world_data *data, rs_body *body, const rs_world_data *from_data, const rs_body *from) {
    rs_body kept = *body;
    *body = *from;
    body->articulation = kept.articulation;
    body->mass = kept.mass;
    body->com = kept.com;
    body->inertia = kept.inertia;
    body->inverse_inertia = kept.inverse_inertia;
    body->isotropic = kept.isotropic;
    body->linear_damping = kept.linear_damping;
    body->angular_damping = kept.angular_damping;
    body->gyroscopic_mode = kept.gyroscopic_mode;
    body->collider_count = kept.collider_count;
    body->first_collider = kept.first_collider;
    if (body->articulation != NULL) {
        reset_articulation(body->articulation, from->articulation);
        rs_world_mirror_base(body);
        body->moved |= body->articulation->fixed_base; /* its base may stand elsewhere */
        return;
    }
    rs_collider *to = data->colliders.items;
    const rs_collider *colliders = from_data->colliders.items;
    for (int32_t c = body->first_collider; c != RS_NONE; c = to[c].next_in_body) {
        to[c].active = colliders[c].active;
        to[c].pose = colliders[c].pose;
        to[c].foresight = colliders[c].foresight;
        to[c].swing = colliders[c].swing;
        to[c].swept = colliders[c].swept;
        to[c].reach = colliders[c].reach;
        to[c].way = colliders[c].way;
        to[c].box = colliders[c].box;
    }
}

/* What rested on something static may have lost its support, when that was placed or shaped anew. */
static void note_moved_ground(rs_world_data *data, rs_body *body, const rs_world_data *from_data, const rs_body *from) {
    const rs_collider *to = data->colliders.items, *before = from_data->colliders.items;
    bool same = memcmp(&body->position, &from->position, sizeof body->position) == 0 &&
                memcmp(&body->quaternion, &from->quaternion, sizeof body->quaternion) == 0;
    for (int32_t c = body->first_collider; c != RS_NONE && same; c = to[c].next_in_body)
        same = to[c].shape.grid == before[c].shape.grid;
    body->moved |= from->moved || !same;
}

/* An object made of particles. */
static rs_status reset_soft(rs_body *body, const rs_body *from) {
    rs_soft *fresh = rs_soft_clone(from->soft);
    if (fresh == NULL)
        return RS_OUT_OF_MEMORY;
    rs_soft_free(body->soft);
    *body = *from;
    body->soft = fresh;
    return RS_OK;
}

/* The same objects at the same places of the arrays, made of the same colliders. */
static bool is_of_one_make(const rs_world_data *a, const rs_world_data *b) {
    if (a->slots.count != b->slots.count || a->bodies.count != b->bodies.count ||
        a->colliders.count != b->colliders.count || a->wires.count != b->wires.count)
        return false;
    for (int64_t k = 0; k < a->slots.count; k++)
        if (a->slots.items[k].serial != b->slots.items[k].serial)
            return false;
    for (int64_t k = 0; k < a->bodies.count; k++) {
        const rs_body *one = &a->bodies.items[k], *other = &b->bodies.items[k];
        const rs_articulation *tree = one->articulation, *other_tree = other->articulation;
        if (one->alive != other->alive || one->type != other->type || one->first_collider != other->first_collider ||
            (one->soft == NULL) != (other->soft == NULL) || (tree == NULL) != (other_tree == NULL) || (tree != NULL && tree->bytes != other_tree->bytes))
            return false;
    }
    for (int64_t k = 0; k < a->wires.count; k++)
        if (a->wires.items[k].serial != b->wires.items[k].serial)
            return false;
    return true;
}

rs_status rs_world_reset(rs_world *world, const rs_snapshot *snapshot) {
    const rs_world_data *from = &snapshot->data;
    rs_world_data *data = &world->data;
    rs_world_enter(world);
    if (!is_of_one_make(data, from))
        return rs_world_leave(world, rs_fail(RS_INVALID_VALUE, "the world has other objects than the snapshot"));
    if (rs_array_copy(&data->touches, &from->touches) != RS_OK ||
        rs_array_copy(&data->resting, &from->resting) != RS_OK ||
        rs_array_copy(&data->pair_hints, &from->pair_hints) != RS_OK ||
        rs_array_copy(&data->controllers, &from->controllers) != RS_OK)
        return rs_world_leave(world, RS_OUT_OF_MEMORY);
    rs_status status = RS_OK;
    for (int64_t k = 0; k < data->bodies.count; k++) {
        rs_body *body = &data->bodies.items[k];
        const rs_body *start = &from->bodies.items[k];
        if (!body->alive)
            continue;
        if (body->soft != NULL)
            RS_THEN(status, reset_soft(body, start));
        else if (body->type == RS_BODY_STATIC && body->articulation == NULL)
            note_moved_ground(data, body, from, start);
        else
            reset_body(data, body, from, start);
    }
    for (int64_t k = 0; k < data->wires.count; k++) {
        rs_wire *wire = &data->wires.items[k];
        rs_wire_properties properties = wire->properties;
        *wire = from->wires.items[k];
        wire->properties = properties;
    }
    data->time = from->time;
    data->time_lost = from->time_lost;
    data->step_count = from->step_count;
    data->sweep_backward = from->sweep_backward;
    world->half_way = false;
    world->changed = world->roused = true;
    world->version++;
    return rs_world_leave(world, status);
}
