/* Creating, removing, asking and changing objects. */
#include "world.h"

#include <string.h>

/* Distance at which surfaces touch, as a share of the smaller half extent. */
static const double TOUCH_SHARE = 4e-5;
/* A quaternion this close to unit length is kept to the bit. */
static const double UNIT_TOLERANCE = 1e-12;

/* ---- ids ---- */

rs_slot *rs_world_slot(rs_world *world, rs_object_id id) {
    uint32_t place = (uint32_t)id, serial = (uint32_t)(id >> 32);
    rs_slot *slots = world->data.slots.items;
    if (serial != 0 && place < world->data.slots.count && slots[place].serial == serial)
        return &slots[place];
    rs_fail(RS_UNKNOWN_OBJECT, "object %u does not exist (any more)", serial);
    return NULL;
}

rs_body *rs_world_body(rs_world *world, rs_object_id id) {
    const rs_slot *slot = rs_world_slot(world, id);
    return slot != NULL ? RS_ITEM(world->data.bodies, slot->body) : NULL;
}

rs_body *rs_world_single_body(rs_world *world, rs_object_id id) {
    rs_body *body = rs_world_body(world, id);
    if (body == NULL || (body->articulation == NULL && body->soft == NULL))
        return body;
    rs_fail(RS_WRONG_TYPE, "object %u is %s; expected a single body", (uint32_t)(id >> 32),
            body->soft != NULL ? "made of particles" : "an articulated system");
    return NULL;
}

rs_object_id rs_slot_id(const rs_world *world, int32_t slot) {
    return ((uint64_t)RS_ITEM(world->data.slots, slot)->serial << 32) | (uint32_t)slot;
}

void rs_world_touch_body(rs_world *world, rs_body *body) {
    world->version++;
    world->changed = true;
    body->moved = true;
    rs_world_rouse(world, body);
}

void rs_world_place_links(const rs_world *world, const rs_body *body) {
    rs_articulation *a = body->articulation;
    if (a != NULL && (!world->half_way || a->placed_at == NULL))
        rs_kinematics_refresh(a);
}

/* ---- creation ---- */

void rs_default_body_def(rs_body_def *def) {
    *def = (rs_body_def){.properties = {.body_type = RS_BODY_DYNAMIC, .mass = 1.0}, .state = {.quaternion = {1, 0, 0, 0}},
                         .collision_group = 1, .collision_mask = UINT64_MAX};
}

rs_status rs_load_quaternion(const double *values, rs_quat *out) {
    rs_quat q = rs_quat_load(values);
    double norm = rs_quat_norm(q);
    if (!isfinite(norm) || norm < 1e-6)
        return rs_fail(RS_INVALID_VALUE, "quaternion is (%g, %g, %g, %g); expected a rotation w, x, y, z", q.w, q.x, q.y,
                       q.z);
    *out = fabs(norm - 1.0) <= UNIT_TOLERANCE ? q : rs_quat_normalize(q);
    return RS_OK;
}

rs_status rs_check_mass(double mass) {
    if (mass >= RS_LEAST_MASS && mass <= RS_GREATEST_MASS)
        return RS_OK;
    return rs_fail(RS_INVALID_VALUE, "mass is %g; expected a finite number greater than 0%s", mass,
                   mass > 0.0 && isfinite(mass) ? ", between 1e-40 and 1e40" : "");
}

rs_status rs_check_inertia(const rs_sym3 *inertia) {
    double least = rs_min(rs_min(inertia->xx, inertia->yy), inertia->zz);
    double most = rs_max(rs_max(inertia->xx, inertia->yy), inertia->zz);
    if (least > 0.0 && !(least >= RS_LEAST_MOMENT && most <= RS_GREATEST_MOMENT))
        return rs_fail(RS_INVALID_VALUE, "inertia has moments from %g to %g; expected them between 1e-60 and 1e50", least,
                       most);
    if (rs_inertia_is_physical(inertia))
        return RS_OK;
    return rs_fail(RS_INVALID_VALUE,
                   "inertia (xx %g, yy %g, zz %g, xy %g, xz %g, yz %g) is not that of a body; expected positive definite "
                   "with every moment at most the sum of the other two",
                   inertia->xx, inertia->yy, inertia->zz, inertia->xy, inertia->xz, inertia->yz);
}

/* Uniform solid of all shapes together, about the centre of mass; a ball of radius 0.1 m for shapes without volume,
 * where any moderate tensor serves. */
static rs_sym3 uniform_inertia(const rs_body_def *def, const rs_collider *colliders) {
    double total = 0.0;
    rs_sym3 sum = {0};
    for (int32_t k = 0; k < def->shape_count; k++) {
        double volume;
        rs_vec3 centroid;
        rs_sym3 unit;
        if (!rs_shape_mass_properties(&colliders[k].shape, &volume, &centroid, &unit))
            continue;
        rs_sym3 turned = rs_sym3_rotate(&colliders[k].local.rot, &unit);
        rs_vec3 d = rs_sub(rs_transform_point(&colliders[k].local, centroid), rs_v3_load(def->properties.com));
        total += volume;
        sum.xx += volume * (turned.xx + d.y * d.y + d.z * d.z);
        sum.yy += volume * (turned.yy + d.x * d.x + d.z * d.z);
        sum.zz += volume * (turned.zz + d.x * d.x + d.y * d.y);
        sum.xy += volume * (turned.xy - d.x * d.y);
        sum.xz += volume * (turned.xz - d.x * d.z);
        sum.yz += volume * (turned.yz - d.y * d.z);
    }
    double ball = 0.4 * 0.1 * 0.1 * def->properties.mass;
    if (total <= 0.0)
        return (rs_sym3){.xx = ball, .yy = ball, .zz = ball};
    double s = def->properties.mass / total;
    return (rs_sym3){s * sum.xx, s * sum.yy, s * sum.zz, s * sum.xy, s * sum.xz, s * sum.yz};
}

rs_status rs_world_make_collider(rs_world *world, const rs_shape_def *shape, bool dynamic, rs_collider *out) {
    rs_quat q;
    rs_status status = rs_world_make_shape(world, shape, &out->shape);
    RS_THEN(status, rs_check_finite("shape position", shape->position, 3));
    RS_THEN(status, rs_load_quaternion(shape->quaternion, &q));
    if (status == RS_OK && (shape->material < 0 || shape->material >= world->data.materials.names.count))
        status = rs_fail(RS_INVALID_VALUE, "material index %d is not registered", shape->material);
    if (status == RS_OK && dynamic && !rs_shape_is_bounded((rs_shape_type)shape->type))
        status = rs_fail(RS_INVALID_VALUE, "ground and heightmaps cannot be dynamic");
    if (status != RS_OK)
        return status;
    out->local = rs_transform_make(rs_v3_load(shape->position), q);
    out->asset = out->shape.convex != NULL || out->shape.mesh != NULL || out->shape.grid != NULL ? shape->asset : 0;
    out->material = shape->material;
    return RS_OK;
}

/* Everything that can be wrong with the definition, and the body and the colliders it asks for. */
static rs_status fill_body(rs_world *world, const rs_body_def *def, rs_body *body, rs_collider *colliders) {
    rs_body_properties properties = def->properties;
    rs_status status = rs_check_body_properties(&properties);
    for (int32_t k = 0; k < def->shape_count && status == RS_OK; k++) {
        status = rs_world_make_collider(world, &def->shapes[k], false, &colliders[k]);
        colliders[k].group = def->collision_group;
        colliders[k].mask = def->collision_mask;
        if (status == RS_OK && properties.body_type != RS_BODY_STATIC && !rs_shape_is_bounded(colliders[k].shape.type))
            status = rs_fail(RS_WRONG_TYPE, "ground and heightmaps are always static");
    }
    if (status != RS_OK)
        return status;
    bool given = false;
    for (int k = 0; k < 6; k++)
        given |= properties.inertia[k] != 0.0;
    if (!given)
        rs_sym3_store(properties.inertia, uniform_inertia(def, colliders));
    status = rs_body_take_properties(body, &properties);
    return status == RS_OK ? rs_body_take_state(body, &def->state) : status;
}

void rs_measure_collider(rs_collider *collider, const rs_body *body) {
    rs_vec3 com = rs_carrier_com(body, collider->link);
    rs_transform still = rs_transform_identity();
    rs_aabb own = rs_shape_aabb(&collider->shape, &still);
    rs_vec3 extent = rs_scale(0.5, rs_sub(own.max, own.min));
    collider->size = rs_min(extent.x, rs_min(extent.y, extent.z));
    /* Terrain and meshes may be flat; what lies on them decides. */
    bool convex = rs_shape_is_convex(collider->shape.type);
    collider->touch = TOUCH_SHARE * (convex ? collider->size : rs_max(extent.x, rs_max(extent.y, extent.z)));
    rs_aabb box = rs_shape_aabb(&collider->shape, &collider->local);
    rs_vec3 far = rs_v3_max(rs_v3_abs(rs_sub(box.min, com)), rs_v3_abs(rs_sub(box.max, com)));
    collider->radius = rs_norm(far);
    const double *r = collider->local.rot.m;
    rs_vec3 p = collider->local.pos;
    collider->local_identity = p.x == 0.0 && p.y == 0.0 && p.z == 0.0 && r[0] == 1.0 && r[4] == 1.0 && r[8] == 1.0;
}

/* A free place in an array whose free items are chained through `next`, or a new one at the end. */
static int32_t take_place(rs_any_array *array, size_t item_size, int32_t *free_head, int32_t next_of_head) {
    if (*free_head != RS_NONE) {
        int32_t place = *free_head;
        *free_head = next_of_head;
        return place;
    }
    return rs_any_push(array, item_size) != NULL ? (int32_t)(array->count - 1) : RS_NONE;
}

static rs_collider *new_collider(rs_world *world, int32_t *index) {
    rs_world_data *data = &world->data;
    int32_t next = data->free_collider == RS_NONE
                       ? RS_NONE
                       : RS_ITEM(data->colliders, data->free_collider)->next_in_body;
    *index = take_place(&data->colliders.any, sizeof *data->colliders.items, &data->free_collider, next);
    return RS_ITEM(data->colliders, *index);
}

static void attach_colliders(rs_world *world, int32_t body_index, int32_t count, const rs_collider *drafts) {
    rs_body *body = RS_ITEM(world->data.bodies, body_index);
    body->first_collider = RS_NONE;
    body->collider_count = count;
    int32_t previous = RS_NONE;
    for (int32_t k = 0; k < count; k++) {
        int32_t index;
        rs_collider *collider = new_collider(world, &index);
        *collider = drafts[k];
        collider->alive = true;
        collider->dynamic = rs_carrier_is_dynamic(body, collider->link);
        collider->body = body_index;
        collider->next_in_body = RS_NONE;
        collider->number = k;
        rs_measure_collider(collider, body);
        if (collider->asset != 0)
            rs_world_asset(world, collider->asset)->users++;
        if (previous == RS_NONE)
            body->first_collider = index;
        else
            RS_ITEM(world->data.colliders, previous)->next_in_body = index;
        previous = index;
    }
}

/* Room for one more object, so that nothing can fail once the world begins to change. */
static rs_status reserve_object(rs_world *world, int32_t shape_count) {
    rs_world_data *data = &world->data;
    if (rs_array_reserve(&data->slots, data->slots.count + 1) != RS_OK ||
        rs_array_reserve(&data->list, data->list.count + 1) != RS_OK ||
        rs_array_reserve(&data->bodies, data->bodies.count + 1) != RS_OK ||
        rs_array_reserve(&data->colliders, data->colliders.count + shape_count) != RS_OK)
        return RS_OUT_OF_MEMORY;
    return RS_OK;
}

static rs_object_id place_body(rs_world *world, int32_t object_type, const rs_body *draft, int32_t shape_count,
                               const rs_collider *colliders) {
    rs_world_data *data = &world->data;
    rs_slot *slots = data->slots.items;
    rs_body *bodies = data->bodies.items;
    int32_t slot = take_place(&data->slots.any, sizeof *data->slots.items, &data->free_slot,
                              data->free_slot == RS_NONE ? RS_NONE : slots[data->free_slot].next_free);
    int32_t place = take_place(&data->bodies.any, sizeof *data->bodies.items, &data->free_body,
                               data->free_body == RS_NONE ? RS_NONE : bodies[data->free_body].slot);
    bodies[place] = *draft;
    bodies[place].alive = true;
    bodies[place].slot = slot;
    bodies[place].moved = true;
    slots[slot] = (rs_slot){.serial = world->next_serial++, .body = place, .list_index = (int32_t)data->list.count,
                            .object_type = object_type, .next_free = RS_NONE};
    *(int32_t *)rs_array_push(&data->list) = slot;
    attach_colliders(world, place, shape_count, colliders);
    rs_rigid_body_hold(&bodies[place]);
    data->configuration_number++;
    world->colliders_changed = true;
    world->version++;
    return rs_slot_id(world, slot);
}

rs_status rs_world_insert_body(rs_world *world, int32_t object_type, const rs_body *draft, int32_t shape_count,
                               const rs_collider *colliders, rs_object_id *out) {
    rs_status status = reserve_object(world, shape_count);
    if (status == RS_OK)
        *out = place_body(world, object_type, draft, shape_count, colliders);
    return status;
}

rs_status rs_world_check_not_half_way(const rs_world *world) {
    return world->half_way ? rs_fail(RS_WRONG_STATE, "objects cannot be added or removed between integrate1 and "
                                                     "integrate2")
                           : RS_OK;
}

rs_status rs_body_create(rs_world *world, const rs_body_def *def, rs_object_id *out) {
    if (def->shape_count < 0 || (def->shape_count > 0 && def->shapes == NULL))
        return rs_fail(RS_INVALID_VALUE, "shape count is %d without shapes", def->shape_count);
    rs_collider *colliders = rs_alloc(sizeof(rs_collider) * (size_t)(def->shape_count + 1));
    if (colliders == NULL)
        return RS_OUT_OF_MEMORY;
    rs_body body = {0};
    rs_world_enter(world);
    rs_status status = rs_world_check_not_half_way(world);
    RS_THEN(status, fill_body(world, def, &body, colliders));
    RS_THEN(status, rs_world_insert_body(world, def->object_type, &body, def->shape_count, colliders, out));
    rs_free(colliders);
    return rs_world_leave(world, status);
}

/* ---- copies ---- */

/* The body with all that it owns, on which nothing acts yet; false without memory. */
static bool copy_body(const rs_body *source, rs_body *out) {
    *out = *source;
    out->controller = 0;
    rs_wake_body(out);
    if (!rs_world_copy_owned(out, rs_articulation_clone))
        return false;
    rs_carrier_unload(out);
    return true;
}

rs_status rs_object_clone(rs_world *world, rs_object_id id, rs_object_id *out) {
    rs_world_enter(world);
    const rs_body *source = rs_world_body(world, id);
    rs_status status = source == NULL ? RS_UNKNOWN_OBJECT : rs_world_check_not_half_way(world);
    if (status != RS_OK)
        return rs_world_leave(world, status);
    rs_body copy = {0};
    rs_collider *colliders = rs_alloc(sizeof(rs_collider) * (size_t)(source->collider_count + 1));
    if (colliders == NULL || !copy_body(source, &copy)) {
        rs_free(colliders);
        return rs_world_leave(world, RS_OUT_OF_MEMORY);
    }
    int32_t count = 0;
    for (int32_t c = source->first_collider; c != RS_NONE; c = colliders[count++].next_in_body)
        colliders[count] = world->data.colliders.items[c];
    int32_t type = RS_ITEM(world->data.slots, source->slot)->object_type;
    status = rs_world_insert_body(world, type, &copy, count, colliders, out);
    if (status != RS_OK) {
        rs_articulation_free(copy.articulation);
        rs_soft_free(copy.soft);
    } else {
        world->data.soft_count += copy.soft != NULL;
    }
    rs_free(colliders);
    return rs_world_leave(world, status);
}

/* ---- removal ---- */

static void forget_touches_in(rs_world *world, RS_ARRAY(rs_touch) *list, int32_t body) {
    rs_touch *touches = list->items;
    rs_body *bodies = world->data.bodies.items;
    int64_t kept = 0;
    for (int64_t k = 0; k < list->count; k++) {
        if (touches[k].body_a != body && touches[k].body_b != body) {
            touches[kept++] = touches[k];
            continue;
        }
        rs_world_rouse(world, &bodies[touches[k].body_a == body ? touches[k].body_b : touches[k].body_a]);
    }
    list->count = kept;
}

void rs_world_forget_touches(rs_world *world, int32_t body) {
    forget_touches_in(world, &world->data.touches, body);
    forget_touches_in(world, &world->data.resting, body);
    rs_pair_memory_forget(&world->data.pair_hints, world->data.colliders.items, body);
}

static void free_colliders(rs_world *world, rs_body *body) {
    rs_world_data *data = &world->data;
    for (int32_t c = body->first_collider; c != RS_NONE;) {
        rs_collider *collider = RS_ITEM(data->colliders, c);
        int32_t next = collider->next_in_body;
        rs_world_asset_release(world, collider->asset);
        *collider = (rs_collider){.next_in_body = data->free_collider};
        data->free_collider = c;
        c = next;
    }
}

rs_status rs_object_remove(rs_world *world, rs_object_id id) {
    rs_world_enter(world);
    rs_world_data *data = &world->data;
    rs_slot *slot = rs_world_slot(world, id);
    rs_status status = slot == NULL ? RS_UNKNOWN_OBJECT : rs_world_check_not_half_way(world);
    if (status != RS_OK)
        return rs_world_leave(world, status);

    int32_t body_index = slot->body, slot_index = (int32_t)(uint32_t)id, hole = slot->list_index;
    rs_body *body = RS_ITEM(data->bodies, body_index);
    rs_world_forget_touches(world, body_index);
    rs_world_drop_wires_of(world, body_index);
    rs_world_drop_ties_of(world, body_index);
    rs_world_drop_controller(world, body);
    free_colliders(world, body);
    rs_articulation_free(body->articulation);
    data->soft_count -= body->soft != NULL;
    rs_soft_free(body->soft);
    *body = (rs_body){.slot = data->free_body};
    data->free_body = body_index;

    int32_t *list = data->list.items;
    int32_t last = list[--data->list.count];
    list[hole] = last;
    RS_ITEM(data->slots, last)->list_index = hole;
    *slot = (rs_slot){.next_free = data->free_slot};
    data->free_slot = slot_index;
    data->configuration_number++;
    world->colliders_changed = true;
    world->version++;
    return rs_world_leave(world, RS_OK);
}

/* ---- list ---- */

int32_t rs_object_is_alive(rs_world *world, rs_object_id id) {
    rs_world_enter_to_read(world);
    int32_t alive = rs_world_slot(world, id) != NULL;
    rs_world_leave(world, RS_OK);
    return alive;
}

rs_status rs_world_object_ids(rs_world *world, rs_object_id *out, int64_t capacity) {
    rs_world_enter_to_read(world);
    rs_status status = capacity < world->data.list.count
                           ? rs_fail(RS_INVALID_VALUE, "room for %lld objects; there are %lld", (long long)capacity,
                                     (long long)world->data.list.count)
                           : RS_OK;
    for (int64_t i = 0; i < world->data.list.count && status == RS_OK; i++)
        out[i] = rs_slot_id(world, world->data.list.items[i]);
    return rs_world_leave(world, status);
}

int64_t rs_object_index(rs_world *world, rs_object_id id) {
    rs_world_enter_to_read(world);
    const rs_slot *slot = rs_world_slot(world, id);
    int64_t index = slot != NULL ? slot->list_index : -1;
    rs_world_leave(world, RS_OK);
    return index;
}

rs_status rs_object_wake(rs_world *world, rs_object_id id) {
    rs_world_enter(world);
    rs_body *body = rs_world_body(world, id);
    if (body != NULL)
        rs_world_rouse(world, body);
    return rs_world_leave(world, body != NULL ? RS_OK : RS_UNKNOWN_OBJECT);
}

int32_t rs_object_is_sleeping(rs_world *world, rs_object_id id) {
    rs_world_enter_to_read(world);
    const rs_body *body = rs_world_body(world, id);
    int32_t asleep = body != NULL && body->asleep;
    rs_world_leave(world, RS_OK);
    return asleep;
}
