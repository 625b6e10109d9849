/* Reading and changing single bodies: state, mass, loads, collision properties. */
#include "world.h"

/* ---- state ---- */

rs_status rs_body_get_state(rs_world *world, rs_object_id id, rs_body_state *out) {
    rs_world_enter_to_read(world);
    const rs_body *body = rs_world_single_body(world, id);
    if (body == NULL)
        return rs_world_leave(world, RS_UNKNOWN_OBJECT);
    rs_v3_store(out->position, body->position);
    rs_quat_store(out->quaternion, body->quaternion);
    rs_v3_store(out->linear_velocity, body->velocity);
    rs_v3_store(out->angular_velocity, body->omega);
    return rs_world_leave(world, RS_OK);
}

rs_status rs_body_get_acceleration(rs_world *world, rs_object_id id, double linear[3], double angular[3]) {
    rs_world_enter_to_read(world);
    const rs_body *body = rs_world_single_body(world, id);
    if (body == NULL)
        return rs_world_leave(world, RS_UNKNOWN_OBJECT);
    bool moves = !body->asleep && body->type != RS_BODY_STATIC;
    rs_v3_store(linear, moves ? body->acceleration : rs_v3_zero());
    rs_v3_store(angular, moves ? body->angular_acceleration : rs_v3_zero());
    return rs_world_leave(world, RS_OK);
}

rs_status rs_body_take_state(rs_body *body, const rs_body_state *state) {
    rs_quat q;
    rs_status status = rs_check_finite("position", state->position, 3);
    RS_THEN(status, rs_load_quaternion(state->quaternion, &q));
    RS_THEN(status, rs_check_finite_pair("linear velocity", state->linear_velocity, "angular velocity",
                                         state->angular_velocity));
    bool moves = !rs_v3_is_zero(rs_v3_load(state->linear_velocity)) || !rs_v3_is_zero(rs_v3_load(state->angular_velocity));
    if (status == RS_OK && body->type == RS_BODY_STATIC && moves)
        status = rs_fail(RS_INVALID_VALUE, "a static body has no velocity; make it kinematic first");
    if (status != RS_OK)
        return status;
    body->position = rs_v3_load(state->position);
    body->quaternion = q;
    body->velocity = rs_v3_load(state->linear_velocity);
    body->omega = rs_v3_load(state->angular_velocity);
    return RS_OK;
}

rs_status rs_body_set_state(rs_world *world, rs_object_id id, const rs_body_state *state) {
    rs_world_enter(world);
    rs_body *body = rs_world_single_body(world, id);
    rs_status status = body == NULL ? RS_UNKNOWN_OBJECT : rs_body_take_state(body, state);
    if (status != RS_OK)
        return rs_world_leave(world, status);
    rs_world_anchor_controller(world, body);
    rs_world_touch_body(world, body);
    return rs_world_leave(world, RS_OK);
}

/* ---- properties ---- */

rs_status rs_body_get_properties(rs_world *world, rs_object_id id, rs_body_properties *out) {
    rs_world_enter_to_read(world);
    const rs_body *body = rs_world_single_body(world, id);
    if (body == NULL)
        return rs_world_leave(world, RS_UNKNOWN_OBJECT);
    *out = (rs_body_properties){.body_type = (int32_t)body->type,
                                .mass = body->mass,
                                .linear_damping = body->linear_damping,
                                .gyroscopic_mode = (int32_t)body->gyroscopic_mode};
    rs_v3_store(out->com, body->com);
    rs_sym3_store(out->inertia, body->inertia);
    rs_v3_store(out->angular_damping, body->angular_damping);
    return rs_world_leave(world, RS_OK);
}

static bool has_unbounded_shape(const rs_world *world, const rs_body *body) {
    const rs_collider *collider = rs_collider_at(&world->data, body->first_collider);
    while (collider != NULL && rs_shape_is_bounded(collider->shape.type))
        collider = rs_collider_at(&world->data, collider->next_in_body);
    return collider != NULL;
}

rs_status rs_check_body_properties(const rs_body_properties *p) {
    rs_status status = RS_OK;
    if (p->body_type < RS_BODY_DYNAMIC || p->body_type > RS_BODY_STATIC)
        status = rs_fail(RS_INVALID_VALUE, "body type %d is unknown", p->body_type);
    RS_THEN(status, rs_check_mass(p->mass));
    RS_THEN(status, rs_check_finite("com", p->com, 3));
    RS_THEN(status, rs_check_finite("inertia", p->inertia, 6));
    for (int k = 0; k < 3 && status == RS_OK; k++)
        if (!(p->angular_damping[k] >= 0.0 && rs_is_carried(p->angular_damping[k])))
            status = rs_fail(RS_INVALID_VALUE, "angular damping[%d] is %g; expected a finite number, at least 0", k,
                             p->angular_damping[k]);
    if (status == RS_OK && !(p->linear_damping >= 0.0 && rs_is_carried(p->linear_damping)))
        status = rs_fail(RS_INVALID_VALUE, "linear damping is %g; expected a finite number, at least 0",
                         p->linear_damping);
    if (status == RS_OK && (p->gyroscopic_mode < RS_GYRO_ENERGY_CONSERVING || p->gyroscopic_mode > RS_GYRO_NONE))
        status = rs_fail(RS_INVALID_VALUE, "gyroscopic mode %d is unknown", p->gyroscopic_mode);
    return status;
}

rs_status rs_body_take_properties(rs_body *body, const rs_body_properties *properties) {
    rs_sym3 inertia = rs_sym3_load(properties->inertia);
    rs_status status = rs_check_inertia(&inertia);
    if (status != RS_OK)
        return status;
    body->type = (rs_body_type)properties->body_type;
    body->linear_damping = properties->linear_damping;
    body->angular_damping = rs_v3_load(properties->angular_damping);
    body->gyroscopic_mode = (rs_gyroscopic_mode)properties->gyroscopic_mode;
    rs_rigid_body_set_mass(body, properties->mass, rs_v3_load(properties->com), &inertia);
    return RS_OK;
}

rs_status rs_body_set_properties(rs_world *world, rs_object_id id, const rs_body_properties *properties) {
    rs_world_enter(world);
    rs_body *body = rs_world_single_body(world, id);
    rs_status status = body == NULL ? RS_UNKNOWN_OBJECT : rs_check_body_properties(properties);
    if (status == RS_OK && properties->body_type != RS_BODY_STATIC && has_unbounded_shape(world, body))
        status = rs_fail(RS_WRONG_TYPE, "ground and heightmaps are always static");
    RS_THEN(status, rs_body_take_properties(body, properties));
    if (status != RS_OK)
        return rs_world_leave(world, status);
    if (body->type == RS_BODY_STATIC)
        body->velocity = body->omega = rs_v3_zero();
    if (body->type != RS_BODY_DYNAMIC)
        rs_world_drop_controller(world, body);
    RS_EACH_COLLIDER(collider, &world->data, body->first_collider) {
        collider->dynamic = body->type == RS_BODY_DYNAMIC;
        rs_measure_collider(collider, body);
    }
    rs_world_touch_body(world, body);
    return rs_world_leave(world, RS_OK);
}

/* ---- loads ---- */

static rs_status add_load(rs_world *world, rs_object_id id, rs_vec3 force, rs_vec3 torque, const double *point) {
    rs_world_enter(world);
    rs_body *body = rs_world_single_body(world, id);
    if (body == NULL)
        return rs_world_leave(world, RS_UNKNOWN_OBJECT);
    if (point != NULL) {
        rs_vec3 arm = rs_sub(rs_v3_load(point), rs_rigid_body_com_position(body));
        torque = rs_add(torque, rs_cross(arm, force));
    }
    body->force = rs_add(body->force, force);
    body->torque = rs_add(body->torque, torque);
    rs_world_rouse(world, body);
    return rs_world_leave(world, RS_OK);
}

rs_status rs_body_add_force(rs_world *world, rs_object_id id, const double force[3], const double point[3]) {
    rs_status status = rs_check_finite("force", force, 3);
    RS_THEN(status, rs_check_finite("point", point, 3));
    return status == RS_OK ? add_load(world, id, rs_v3_load(force), rs_v3_zero(), point) : status;
}

rs_status rs_body_add_torque(rs_world *world, rs_object_id id, const double torque[3]) {
    rs_status status = rs_check_finite("torque", torque, 3);
    return status == RS_OK ? add_load(world, id, rs_v3_zero(), rs_v3_load(torque), NULL) : status;
}

/* ---- heightmap ---- */

rs_status rs_body_set_heightmap(rs_world *world, rs_object_id id, rs_asset_id asset, const double position[3]) {
    rs_status status = rs_check_finite("position", position, 3);
    if (status != RS_OK)
        return status;
    rs_world_enter(world);
    rs_body *body = rs_world_single_body(world, id);
    rs_asset_entry *entry = rs_world_asset(world, asset);
    if (body == NULL || entry == NULL)
        return rs_world_leave(world, RS_UNKNOWN_OBJECT);
    rs_collider *collider = body->collider_count == 1 ? rs_collider_at(&world->data, body->first_collider) : NULL;
    if (collider == NULL || collider->shape.grid == NULL || entry->asset->grid == NULL)
        return rs_world_leave(world, rs_fail(RS_WRONG_TYPE, "the object or the asset is not a heightmap"));
    entry->users++;
    rs_world_asset_release(world, collider->asset);
    collider->asset = asset;
    collider->shape.grid = entry->asset->grid;
    rs_measure_collider(collider, body);
    body->position = rs_v3_load(position);
    rs_world_touch_body(world, body);
    return rs_world_leave(world, RS_OK);
}

/* ---- collision properties ---- */

typedef struct {
    bool set_filter, set_material;
    uint64_t group, mask;
    int32_t material;
} collider_change;

/* Local body `local` of the object: 0 of a single body, a link of an articulated system; -1 names all. */
static bool is_local(const rs_collider *collider, int32_t local) { return local == -1 || collider->link == local; }

/* First collider of the local body, or NULL with the error text set. */
static rs_collider *first_collider(rs_world *world, rs_object_id id, int32_t local, rs_status *status) {
    const rs_body *body = rs_world_body(world, id);
    *status = RS_UNKNOWN_OBJECT;
    if (body == NULL)
        return NULL;
    RS_EACH_COLLIDER(collider, &world->data, body->first_collider)
        if (is_local(collider, local)) {
            *status = RS_OK;
            return collider;
        }
    *status = rs_fail(RS_INVALID_VALUE, "the object has no collision body with local index %d", local);
    return NULL;
}

rs_status rs_object_set_shape(rs_world *world, rs_object_id id, int32_t number, const rs_shape_def *shape) {
    rs_status status;
    rs_world_enter(world);
    rs_collider *collider = first_collider(world, id, -1, &status);
    while (collider != NULL && collider->number != number)
        collider = rs_collider_at(&world->data, collider->next_in_body);
    if (status == RS_OK && collider == NULL)
        status = rs_fail(RS_INVALID_VALUE, "the object has no collision body %d", number);
    rs_collider draft = {0};
    RS_THEN(status, rs_world_make_collider(world, shape, collider->dynamic, &draft));
    if (status != RS_OK)
        return rs_world_leave(world, status);
    rs_body *body = RS_ITEM(world->data.bodies, collider->body);
    if (draft.asset != 0)
        rs_world_asset(world, draft.asset)->users++;
    rs_world_asset_release(world, collider->asset);
    collider->shape = draft.shape;
    collider->local = draft.local;
    collider->asset = draft.asset;
    collider->material = draft.material;
    rs_measure_collider(collider, body);
    rs_world_touch_body(world, body);
    return rs_world_leave(world, RS_OK);
}

/* The particles of an object that is made of them, where its only local body is meant; else NULL. */
static rs_soft *particles(rs_world *world, rs_object_id id, int32_t local) {
    const rs_body *body = rs_world_slot(world, id) != NULL ? rs_world_body(world, id) : NULL;
    return body != NULL && local <= 0 ? body->soft : NULL;
}

static void change_particles(rs_world *world, rs_object_id id, rs_soft *soft, const collider_change *change) {
    if (change->set_filter) {
        soft->group = change->group;
        soft->mask = change->mask;
    }
    if (change->set_material)
        soft->contact_material = change->material;
    soft->calm_steps = 0;
    rs_world_touch_body(world, rs_world_body(world, id));
}

static rs_status change_colliders(rs_world *world, rs_object_id id, int32_t local, const collider_change *change) {
    rs_status status;
    rs_world_enter(world);
    rs_soft *soft = particles(world, id, local);
    const rs_collider *first = soft == NULL ? first_collider(world, id, local, &status) : NULL;
    if (soft != NULL)
        status = rs_world_check_not_half_way(world);
    if (status == RS_OK && change->set_material &&
        (change->material < 0 || change->material >= world->data.materials.names.count))
        status = rs_fail(RS_INVALID_VALUE, "material index %d is not registered", change->material);
    if (status != RS_OK)
        return rs_world_leave(world, status);
    if (soft != NULL) {
        change_particles(world, id, soft, change);
        return rs_world_leave(world, RS_OK);
    }
    rs_body *body = RS_ITEM(world->data.bodies, first->body);
    RS_EACH_COLLIDER(collider, &world->data, body->first_collider) {
        if (is_local(collider, local) && change->set_filter) {
            collider->group = change->group;
            collider->mask = change->mask;
        }
        if (is_local(collider, local) && change->set_material)
            collider->material = change->material;
    }
    rs_world_touch_body(world, body);
    return rs_world_leave(world, RS_OK);
}

rs_status rs_object_set_filter(rs_world *world, rs_object_id id, int32_t local, uint64_t group, uint64_t mask) {
    collider_change change = {.set_filter = true, .group = group, .mask = mask};
    return change_colliders(world, id, local, &change);
}

rs_status rs_object_set_material(rs_world *world, rs_object_id id, int32_t local, int32_t material) {
    collider_change change = {.set_material = true, .material = material};
    return change_colliders(world, id, local, &change);
}

/* What a shape, or the particles of a soft object, are made of and collide with. */
static rs_status read_collider(rs_world *world, rs_object_id id, int32_t local, collider_change *out) {
    rs_status status = RS_OK;
    rs_world_enter_to_read(world);
    const rs_soft *soft = particles(world, id, local);
    const rs_collider *collider = soft == NULL ? first_collider(world, id, local, &status) : NULL;
    if (soft != NULL)
        *out = (collider_change){.group = soft->group, .mask = soft->mask, .material = soft->contact_material};
    else if (collider != NULL)
        *out = (collider_change){.group = collider->group, .mask = collider->mask, .material = collider->material};
    return rs_world_leave(world, status);
}

rs_status rs_object_get_filter(rs_world *world, rs_object_id id, int32_t local, uint64_t *group, uint64_t *mask) {
    collider_change found = {0};
    rs_status status = read_collider(world, id, local, &found);
    if (status == RS_OK) {
        *group = found.group;
        *mask = found.mask;
    }
    return status;
}

rs_status rs_object_get_material(rs_world *world, rs_object_id id, int32_t local, int32_t *material) {
    collider_change found = {0};
    rs_status status = read_collider(world, id, local, &found);
    if (status == RS_OK)
        *material = found.material;
    return status;
}

static rs_status check_collider_count(const rs_body *body, int32_t count) {
    if (body == NULL)
        return RS_UNKNOWN_OBJECT;
    if (count != body->collider_count)
        return rs_fail(RS_INVALID_VALUE, "%d values for %d collision bodies", count, body->collider_count);
    return RS_OK;
}

rs_status rs_object_set_materials(rs_world *world, rs_object_id id, const int32_t *materials, int32_t count) {
    rs_world_enter(world);
    rs_body *body = rs_world_body(world, id);
    rs_status status = check_collider_count(body, count);
    for (int32_t k = 0; k < count && status == RS_OK; k++)
        if (materials[k] < 0 || materials[k] >= world->data.materials.names.count)
            status = rs_fail(RS_INVALID_VALUE, "material index %d is not registered", materials[k]);
    if (status != RS_OK)
        return rs_world_leave(world, status);
    RS_EACH_COLLIDER(collider, &world->data, body->first_collider)
        collider->material = materials[collider->number];
    rs_world_touch_body(world, body);
    return rs_world_leave(world, RS_OK);
}

rs_status rs_object_get_materials(rs_world *world, rs_object_id id, int32_t *materials, int32_t count) {
    rs_world_enter_to_read(world);
    const rs_body *body = rs_world_body(world, id);
    rs_status status = check_collider_count(body, count);
    RS_EACH_COLLIDER(collider, &world->data, status == RS_OK ? body->first_collider : RS_NONE)
        materials[collider->number] = collider->material;
    return rs_world_leave(world, status);
}

rs_status rs_object_get_filters(rs_world *world, rs_object_id id, uint64_t *groups, uint64_t *masks, int32_t count) {
    rs_world_enter_to_read(world);
    const rs_body *body = rs_world_body(world, id);
    rs_status status = check_collider_count(body, count);
    RS_EACH_COLLIDER(collider, &world->data, status == RS_OK ? body->first_collider : RS_NONE) {
        groups[collider->number] = collider->group;
        masks[collider->number] = collider->mask;
    }
    return rs_world_leave(world, status);
}
