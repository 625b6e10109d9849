/* Creating, asking and changing objects made of particles. */
#include "world.h"

/* Others within this share of the radius of a grain, beyond their motion, are near it. */
static const double NEAR_SHARE = 0.25;

rs_soft *rs_world_soft(rs_world *world, rs_object_id id, rs_body **body) {
    rs_body *found = rs_world_body(world, id);
    if (found == NULL)
        return NULL;
    if (found->soft == NULL)
        rs_fail(RS_WRONG_TYPE, "object %u is not made of particles", (uint32_t)(id >> 32));
    *body = found;
    return found->soft;
}

/* Every public function on one object: enters the world; the caller leaves it. */
static rs_grains *enter_grains(rs_world *world, rs_object_id id, rs_body **body, rs_status *status) {
    rs_world_enter(world);
    rs_soft *soft = rs_world_soft(world, id, body);
    *status = soft != NULL && soft->grains != NULL ? RS_OK : soft == NULL && rs_world_slot(world, id) == NULL ? RS_UNKNOWN_OBJECT
                                                                                                             : RS_WRONG_TYPE;
    return *status == RS_OK ? soft->grains : NULL;
}

/* Something about the object changed. */
static void touch(rs_world *world, rs_body *body) {
    rs_soft_measure(body->soft);
    body->position = rs_soft_sum(body->soft, rs_v3_zero()).centre;
    body->soft->calm_steps = 0;
    rs_wake_body(body);
    world->version++;
}

/* ---- creation ---- */

void rs_default_grain_material(rs_grain_material *material) {
    *material = (rs_grain_material){.density = 1600.0, .normal_stiffness = 1e5, .normal_damping = 20.0, .friction = 0.5};
}

void rs_default_grains_def(rs_grains_def *def) {
    *def = (rs_grains_def){.substeps = 1, .collision_group = 1, .collision_mask = UINT64_MAX};
    rs_default_grain_material(&def->material);
}

static rs_status check_substeps(int32_t substeps) {
    return substeps >= 1 && substeps <= 100000
               ? RS_OK
               : rs_fail(RS_INVALID_VALUE, "substeps is %d; expected 1 to 100000", substeps);
}

static rs_status check_vectors(const char *name, int64_t count, const double *xyz) {
    for (int64_t k = 0; k < 3 * count && xyz != NULL; k++)
        if (!rs_is_carried(xyz[k]))
            return rs_fail(RS_INVALID_VALUE, "%s of particle %lld is (%g, %g, %g); expected finite numbers", name,
                           (long long)(k / 3), xyz[k - k % 3], xyz[k - k % 3 + 1], xyz[k - k % 3 + 2]);
    return RS_OK;
}

static rs_status check_grains(int64_t count, const double *positions, const double *radii, const double *velocities) {
    rs_status status = check_vectors("position", count, positions);
    if (status == RS_OK)
        status = check_vectors("velocity", count, velocities);
    for (int64_t k = 0; k < count && status == RS_OK; k++)
        if (!(radii[k] >= 1e-12 && radii[k] <= 1e12))
            status = rs_fail(RS_INVALID_VALUE, "radius of particle %lld is %g; expected a finite number greater than 0",
                             (long long)k, radii[k]);
    return status;
}

static rs_status fill_grains(rs_grains *g, const rs_grains_def *def) {
    int32_t material;
    rs_status status = rs_grains_material(g, &def->material, &material);
    if (status == RS_OK)
        status = rs_grains_append(g, def->count, def->positions, def->radii, def->velocities, material);
    g->boundary = def->material;
    g->least_substeps = def->substeps;
    g->domain.max = rs_v3(1.0, 1.0, 1.0);
    return status;
}

static double near_margin(const rs_grains *g) {
    double most = 0.0, reach = 0.0;
    for (int64_t k = 0; k < g->x.count; k++)
        most = rs_max(most, RS_ITEMS(rs_quad, g->x)[k].rest);
    for (int64_t k = 0; k < g->laws.count; k++)
        reach = rs_max(reach, RS_ITEMS(rs_grain_law, g->laws)[k].reach);
    return NEAR_SHARE * most + reach;
}

rs_status rs_grains_create(rs_world *world, const rs_grains_def *def, rs_object_id *out) {
    if (def->count < 0)
        return rs_fail(RS_INVALID_VALUE, "number of particles is %lld; expected 0 or more", (long long)def->count);
    rs_status status = check_substeps(def->substeps);
    if (status == RS_OK)
        status = check_grains(def->count, def->positions, def->radii, def->velocities);
    if (status != RS_OK)
        return status;
    rs_world_enter(world);
    status = rs_world_check_not_half_way(world);
    if (status == RS_OK && (def->contact_material < 0 || def->contact_material >= world->data.materials.names.count))
        status = rs_fail(RS_INVALID_VALUE, "material index %d is not registered", def->contact_material);
    rs_body body = {.type = RS_BODY_STATIC, .mass = 1.0, .quaternion = {1, 0, 0, 0}, .first_collider = RS_NONE};
    body.soft = status == RS_OK ? rs_soft_new() : NULL;
    if (body.soft != NULL)
        body.soft->grains = rs_grains_new();
    if (status == RS_OK && (body.soft == NULL || body.soft->grains == NULL))
        status = RS_OUT_OF_MEMORY;
    if (status == RS_OK)
        status = fill_grains(body.soft->grains, def);
    if (status == RS_OK) {
        body.soft->margin = near_margin(body.soft->grains);
        body.soft->contact_material = def->contact_material;
        body.soft->group = def->collision_group;
        body.soft->mask = def->collision_mask;
        rs_soft_measure(body.soft);
        body.position = rs_soft_sum(body.soft, rs_v3_zero()).centre;
        status = rs_world_insert_body(world, def->object_type, &body, 0, NULL, out);
    }
    if (status == RS_OK)
        world->data.soft_count++;
    else
        rs_soft_free(body.soft);
    return rs_world_leave(world, status);
}

/* ---- grains ---- */

rs_status rs_grains_add(rs_world *world, rs_object_id id, int64_t count, const double *positions, const double *radii,
                        const double *velocities, const rs_grain_material *material) {
    rs_body *body;
    rs_status status;
    int32_t kind;
    rs_grains *g = enter_grains(world, id, &body, &status);
    if (status == RS_OK)
        status = rs_world_check_not_half_way(world);
    if (status == RS_OK)
        status = check_grains(count, positions, radii, velocities);
    if (status == RS_OK)
        status = rs_grains_material(g, material, &kind);
    if (status == RS_OK)
        status = rs_grains_append(g, count, positions, radii, velocities, kind);
    if (status == RS_OK) {
        body->soft->margin = near_margin(g);
        touch(world, body);
    }
    return rs_world_leave(world, status);
}

static rs_status check_index(const rs_grains *g, int64_t index) {
    if (index >= 0 && index < g->x.count)
        return RS_OK;
    return rs_fail(RS_INVALID_VALUE, "particle %lld does not exist; there are %lld", (long long)index, (long long)g->x.count);
}

static rs_grains *enter_grain(rs_world *world, rs_object_id id, int64_t index, rs_body **body, rs_status *status) {
    rs_grains *g = enter_grains(world, id, body, status);
    if (*status == RS_OK)
        *status = rs_world_check_not_half_way(world);
    if (*status == RS_OK)
        *status = check_index(g, index);
    return g;
}

rs_status rs_grains_remove(rs_world *world, rs_object_id id, int64_t index) {
    rs_body *body;
    rs_status status;
    rs_grains *g = enter_grain(world, id, index, &body, &status);
    if (status == RS_OK)
        status = rs_grains_erase(g, index);
    if (status == RS_OK)
        touch(world, body);
    return rs_world_leave(world, status);
}

rs_status rs_grains_clear(rs_world *world, rs_object_id id) {
    rs_body *body;
    rs_status status;
    rs_grains *g = enter_grains(world, id, &body, &status);
    if (status == RS_OK)
        status = rs_world_check_not_half_way(world);
    if (status == RS_OK) {
        g->x.count = g->v.count = g->w.count = g->kinds.count = 0;
        rs_grains_forget(g);
        touch(world, body);
    }
    return rs_world_leave(world, status);
}

rs_status rs_grains_set_fixed(rs_world *world, rs_object_id id, int64_t index, int32_t fixed) {
    rs_body *body;
    rs_status status;
    rs_grains *g = enter_grain(world, id, index, &body, &status);
    if (status == RS_OK) {
        rs_grains_set_mass(g, index, fixed != 0);
        touch(world, body);
    }
    return rs_world_leave(world, status);
}

rs_status rs_grains_set_material(rs_world *world, rs_object_id id, int64_t index, const rs_grain_material *material) {
    rs_body *body;
    rs_status status;
    int32_t kind;
    rs_grains *g = enter_grain(world, id, index, &body, &status);
    if (status == RS_OK)
        status = rs_grains_material(g, material, &kind);
    if (status == RS_OK) {
        RS_ITEMS(int32_t, g->kinds)[index] = kind;
        rs_grains_set_mass(g, index, RS_ITEMS(rs_quad, g->v)[index].rest == 0.0);
        body->soft->margin = near_margin(g);
        touch(world, body);
    }
    return rs_world_leave(world, status);
}

rs_status rs_grains_set_boundary_material(rs_world *world, rs_object_id id, const rs_grain_material *material) {
    rs_body *body;
    rs_status status;
    rs_grains *g = enter_grains(world, id, &body, &status);
    if (status == RS_OK)
        status = rs_grain_material_check(material);
    if (status == RS_OK) {
        g->boundary = *material;
        touch(world, body);
    }
    return rs_world_leave(world, status);
}

rs_status rs_grains_set_ground(rs_world *world, rs_object_id id, int32_t enabled, double height) {
    rs_body *body;
    rs_status status;
    rs_grains *g = enter_grains(world, id, &body, &status);
    if (status == RS_OK)
        status = rs_check_finite("height", &height, 1);
    if (status == RS_OK) {
        g->has_ground = enabled != 0;
        g->ground = height;
        touch(world, body);
    }
    return rs_world_leave(world, status);
}

static rs_status check_box(const double box[6], const int32_t axes[3]) {
    rs_status status = rs_check_finite("box", box, 6);
    for (int axis = 0; axis < 3 && status == RS_OK; axis++)
        if ((axes == NULL || axes[axis]) && !(box[axis] < box[axis + 3]))
            status = rs_fail(RS_INVALID_VALUE, "box min[%d] is %g, max is %g; expected min < max", axis, box[axis],
                             box[axis + 3]);
    return status;
}

rs_status rs_grains_set_container(rs_world *world, rs_object_id id, int32_t enabled, const double box[6]) {
    rs_body *body;
    rs_status status;
    rs_grains *g = enter_grains(world, id, &body, &status);
    if (status == RS_OK && enabled)
        status = check_box(box, NULL);
    if (status == RS_OK) {
        g->has_container = enabled != 0;
        if (enabled)
            g->container = (rs_aabb){rs_v3_load(box), rs_v3_load(box + 3)};
        touch(world, body);
    }
    return rs_world_leave(world, status);
}

rs_status rs_grains_set_periodic(rs_world *world, rs_object_id id, const int32_t axes[3], const double box[6]) {
    rs_body *body;
    rs_status status;
    rs_grains *g = enter_grains(world, id, &body, &status);
    if (status == RS_OK)
        status = check_box(box, axes);
    double most = 0.0;
    for (int64_t k = 0; status == RS_OK && k < g->x.count; k++)
        most = rs_max(most, RS_ITEMS(rs_quad, g->x)[k].rest);
    for (int axis = 0; axis < 3 && status == RS_OK; axis++)
        if (axes[axis] && box[axis + 3] - box[axis] < 8.0 * most)
            status = rs_fail(RS_INVALID_VALUE, "the periodic box is %g wide along axis %d; expected at least 8 radii (%g)",
                             box[axis + 3] - box[axis], axis, 8.0 * most);
    if (status == RS_OK) {
        for (int axis = 0; axis < 3; axis++)
            g->domain.periodic[axis] = axes[axis] != 0;
        g->domain.min = rs_v3_load(box);
        g->domain.max = rs_v3_load(box + 3);
        g->listed = false;
        touch(world, body);
    }
    return rs_world_leave(world, status);
}

rs_status rs_grains_set_substeps(rs_world *world, rs_object_id id, int32_t substeps) {
    rs_body *body;
    rs_status status;
    rs_grains *g = enter_grains(world, id, &body, &status);
    if (status == RS_OK)
        status = check_substeps(substeps);
    if (status == RS_OK)
        g->least_substeps = substeps;
    return rs_world_leave(world, status);
}

static void store_box(double out[6], rs_vec3 min, rs_vec3 max) {
    rs_v3_store(out, min);
    rs_v3_store(out + 3, max);
}

rs_status rs_grains_settings_get(rs_world *world, rs_object_id id, rs_grains_settings *out) {
    rs_body *body;
    rs_status status;
    const rs_grains *g = enter_grains(world, id, &body, &status);
    if (status == RS_OK) {
        *out = (rs_grains_settings){.substeps = g->least_substeps, .contact_material = body->soft->contact_material,
                                    .collision_group = body->soft->group, .collision_mask = body->soft->mask,
                                    .material_count = (int32_t)g->materials.count, .boundary = g->boundary,
                                    .has_ground = g->has_ground, .has_container = g->has_container, .ground = g->ground};
        for (int axis = 0; axis < 3; axis++)
            out->periodic[axis] = g->domain.periodic[axis];
        store_box(out->container, g->container.min, g->container.max);
        store_box(out->domain, g->domain.min, g->domain.max);
    }
    return rs_world_leave(world, status);
}

rs_status rs_grains_material_get(rs_world *world, rs_object_id id, int32_t index, rs_grain_material *out) {
    rs_body *body;
    rs_status status;
    const rs_grains *g = enter_grains(world, id, &body, &status);
    if (status == RS_OK && (index < 0 || index >= g->materials.count))
        status = rs_fail(RS_INVALID_VALUE, "material %d does not exist; there are %lld", index,
                         (long long)g->materials.count);
    if (status == RS_OK)
        *out = RS_ITEMS(rs_grain_material, g->materials)[index];
    return rs_world_leave(world, status);
}

static rs_status check_room(int64_t capacity, int64_t count) {
    return capacity >= count ? RS_OK
                             : rs_fail(RS_INVALID_VALUE, "room for %lld particles; there are %lld", (long long)capacity,
                                       (long long)count);
}

rs_status rs_grains_read(rs_world *world, rs_object_id id, int64_t capacity, double *radii, int32_t *materials,
                         uint8_t *fixed, double *angular_velocities) {
    rs_body *body;
    rs_status status;
    const rs_grains *g = enter_grains(world, id, &body, &status);
    if (status == RS_OK)
        status = check_room(capacity, g->x.count);
    for (int64_t k = 0; status == RS_OK && k < g->x.count; k++) {
        if (radii != NULL)
            radii[k] = RS_ITEMS(rs_quad, g->x)[k].rest;
        if (materials != NULL)
            materials[k] = RS_ITEMS(int32_t, g->kinds)[k];
        if (fixed != NULL)
            fixed[k] = RS_ITEMS(rs_quad, g->v)[k].rest == 0.0;
        if (angular_velocities != NULL)
            rs_v3_store(&angular_velocities[3 * k], RS_ITEMS(rs_quad, g->w)[k].xyz);
    }
    return rs_world_leave(world, status);
}

rs_status rs_grains_stats_get(rs_world *world, rs_object_id id, rs_grains_stats *out) {
    rs_body *body;
    rs_status status;
    const rs_grains *g = enter_grains(world, id, &body, &status);
    if (status == RS_OK)
        *out = g->stats;
    return rs_world_leave(world, status);
}

/* ---- objects of both kinds ---- */

static rs_soft *enter_soft(rs_world *world, rs_object_id id, rs_body **body, rs_status *status) {
    rs_world_enter(world);
    rs_soft *soft = rs_world_soft(world, id, body);
    *status = soft != NULL ? RS_OK : rs_world_slot(world, id) == NULL ? RS_UNKNOWN_OBJECT : RS_WRONG_TYPE;
    return soft;
}

int64_t rs_soft_particle_count(rs_world *world, rs_object_id id) {
    rs_body *body;
    rs_status status;
    const rs_soft *soft = enter_soft(world, id, &body, &status);
    int64_t count = status == RS_OK ? rs_soft_count(soft) : -1;
    rs_world_leave(world, status);
    return count;
}

rs_status rs_soft_read(rs_world *world, rs_object_id id, int64_t capacity, double *positions, double *velocities) {
    rs_body *body;
    rs_status status;
    const rs_soft *soft = enter_soft(world, id, &body, &status);
    if (status == RS_OK)
        status = check_room(capacity, rs_soft_count(soft));
    for (int64_t k = 0; status == RS_OK && k < rs_soft_count(soft); k++) {
        if (positions != NULL)
            rs_v3_store(&positions[3 * k], rs_soft_positions(soft)[k].xyz);
        if (velocities != NULL)
            rs_v3_store(&velocities[3 * k], rs_soft_velocities(soft)[k].xyz);
    }
    return rs_world_leave(world, status);
}

rs_status rs_soft_write(rs_world *world, rs_object_id id, int64_t count, const double *positions, const double *velocities,
                        const double *angular_velocities) {
    rs_body *body;
    rs_status status;
    rs_soft *soft = enter_soft(world, id, &body, &status);
    if (status == RS_OK)
        status = rs_world_check_not_half_way(world);
    if (status == RS_OK && count != rs_soft_count(soft))
        status = rs_fail(RS_INVALID_VALUE, "numbers of %lld particles; expected those of %lld", (long long)count,
                         (long long)rs_soft_count(soft));
    if (status == RS_OK)
        status = check_vectors("position", count, positions);
    if (status == RS_OK)
        status = check_vectors("velocity", count, velocities);
    if (status == RS_OK)
        status = check_vectors("angular velocity", count, angular_velocities);
    for (int64_t k = 0; status == RS_OK && k < count; k++) {
        if (positions != NULL)
            rs_soft_positions(soft)[k].xyz = rs_v3_load(&positions[3 * k]);
        if (velocities != NULL)
            rs_soft_velocities(soft)[k].xyz = rs_v3_load(&velocities[3 * k]);
        if (angular_velocities != NULL && soft->grains != NULL)
            RS_ITEMS(rs_quad, soft->grains->w)[k].xyz = rs_v3_load(&angular_velocities[3 * k]);
    }
    if (status == RS_OK) {
        if (positions != NULL)
            rs_soft_forget(soft);
        touch(world, body);
    }
    return rs_world_leave(world, status);
}

rs_status rs_soft_totals_get(rs_world *world, rs_object_id id, rs_soft_totals *out) {
    rs_body *body;
    rs_status status;
    const rs_soft *soft = enter_soft(world, id, &body, &status);
    if (status == RS_OK) {
        rs_soft_sums sums = rs_soft_sum(soft, world->data.gravity);
        *out = (rs_soft_totals){.mass = sums.mass, .kinetic_energy = sums.kinetic, .potential_energy = sums.potential,
                                .elastic_energy = sums.elastic};
        rs_v3_store(out->linear_momentum, sums.linear);
        rs_v3_store(out->angular_momentum, sums.angular);
        rs_v3_store(out->centre_of_mass, sums.centre);
    }
    return rs_world_leave(world, status);
}

rs_status rs_soft_read_contacts(rs_world *world, rs_object_id id, int64_t capacity, rs_soft_contact *out, int64_t *count) {
    rs_body *body;
    rs_status status;
    const rs_soft *soft = enter_soft(world, id, &body, &status);
    *count = status == RS_OK ? soft->impulses.count : 0;
    for (int64_t k = 0; k < *count && k < capacity; k++) {
        const rs_soft_impulse *from = &RS_ITEMS(rs_soft_impulse, soft->impulses)[k];
        const rs_body *other = &RS_ITEMS(rs_body, world->data.bodies)[from->body];
        out[k] = (rs_soft_contact){.object = other->alive ? rs_slot_id(world, other->slot) : 0, .local = from->link};
        rs_v3_store(out[k].impulse, from->impulse.lin);
        rs_v3_store(out[k].moment, from->impulse.ang);
    }
    return rs_world_leave(world, status);
}
