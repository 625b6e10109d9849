/* Creating, asking and changing grains. */
#include "world.h"

/* Others within this share of the radius of a grain, beyond their motion, are near it. */
static const double NEAR_SHARE = 0.25;

/* Every public function on one object enters the world by one of these two; the caller leaves it. */
static rs_grains *find(rs_world *world, rs_object_id id, rs_body **body, rs_status *status) {
    rs_soft *soft = rs_world_soft(world, id, body);
    *status = soft != NULL && soft->grains != NULL ? RS_OK : soft == NULL && rs_world_slot(world, id) == NULL ? RS_UNKNOWN_OBJECT
                                                                                                             : RS_WRONG_TYPE;
    return *status == RS_OK ? soft->grains : NULL;
}

static rs_grains *enter_grains(rs_world *world, rs_object_id id, rs_body **body, rs_status *status) {
    rs_world_enter(world);
    return find(world, id, body, status);
}

static const rs_grains *read_grains(rs_world *world, rs_object_id id, rs_body **body, rs_status *status) {
    rs_world_enter_to_read(world);
    return find(world, id, body, status);
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

static rs_status check_grains(int64_t count, const double *positions, const double *radii, const double *velocities,
                              const rs_grain_material *material) {
    rs_status status = rs_grain_material_check(material);
    RS_THEN(status, rs_check_vectors("position", count, positions));
    RS_THEN(status, rs_check_vectors("velocity", count, velocities));
    for (int64_t k = 0; k < count && status == RS_OK; k++)
        status = rs_grain_check(k, radii[k], material->density);
    return status;
}

static rs_status fill_grains(rs_grains *g, const rs_grains_def *def) {
    int32_t material;
    rs_status status = rs_grains_material(g, &def->material, &material);
    RS_THEN(status, rs_grains_append(g, def->count, def->positions, def->radii, def->velocities, material));
    g->boundary = def->material;
    g->least_substeps = def->substeps;
    g->domain.max = rs_v3(1.0, 1.0, 1.0);
    return status;
}

static double near_margin(const rs_grains *g) {
    double most = 0.0, reach = 0.0;
    for (int64_t k = 0; k < g->x.count; k++)
        most = rs_max(most, g->x.items[k].rest);
    for (int64_t k = 0; k < g->laws.count; k++)
        reach = rs_max(reach, g->laws.items[k].reach);
    return NEAR_SHARE * most + reach;
}

rs_status rs_grains_create(rs_world *world, const rs_grains_def *def, rs_object_id *out) {
    if (def->count < 0)
        return rs_fail(RS_INVALID_VALUE, "number of particles is %lld; expected 0 or more", (long long)def->count);
    rs_status status = check_substeps(def->substeps);
    RS_THEN(status, check_grains(def->count, def->positions, def->radii, def->velocities, &def->material));
    if (status != RS_OK)
        return status;
    rs_world_enter(world);
    rs_soft *soft = rs_soft_new();
    rs_grains *grains = soft != NULL ? soft->grains = rs_grains_new() : NULL;
    status = grains != NULL ? fill_grains(grains, def) : RS_OUT_OF_MEMORY;
    if (status == RS_OK) {
        soft->margin = near_margin(grains);
        rs_soft_place place = {def->object_type, def->contact_material, def->collision_group, def->collision_mask};
        status = rs_world_insert_soft(world, soft, &place, out);
    } else {
        rs_soft_free(soft);
    }
    return rs_world_leave(world, status);
}

/* ---- grains ---- */

rs_status rs_grains_add(rs_world *world, rs_object_id id, int64_t count, const double *positions, const double *radii,
                        const double *velocities, const rs_grain_material *material) {
    rs_body *body;
    rs_status status;
    int32_t kind;
    rs_grains *g = enter_grains(world, id, &body, &status);
    RS_THEN(status, rs_world_check_not_half_way(world));
    RS_THEN(status, check_grains(count, positions, radii, velocities, material));
    RS_THEN(status, rs_grains_material(g, material, &kind));
    RS_THEN(status, rs_grains_append(g, count, positions, radii, velocities, kind));
    if (status == RS_OK)
        body->soft->margin = near_margin(g);
    return rs_world_leave_soft(world, body, status);
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
    RS_THEN(status, rs_grains_erase(g, index));
    return rs_world_leave_soft(world, body, status);
}

rs_status rs_grains_clear(rs_world *world, rs_object_id id) {
    rs_body *body;
    rs_status status;
    rs_grains *g = enter_grains(world, id, &body, &status);
    RS_THEN(status, rs_world_check_not_half_way(world));
    if (status == RS_OK) {
        g->x.count = g->v.count = g->w.count = g->kinds.count = 0;
        rs_grains_forget(g);
    }
    return rs_world_leave_soft(world, body, status);
}

rs_status rs_grains_set_fixed(rs_world *world, rs_object_id id, int64_t index, int32_t fixed) {
    rs_body *body;
    rs_status status;
    rs_grains *g = enter_grain(world, id, index, &body, &status);
    if (status == RS_OK)
        rs_grains_set_mass(g, index, fixed != 0);
    return rs_world_leave_soft(world, body, status);
}

rs_status rs_grains_set_material(rs_world *world, rs_object_id id, int64_t index, const rs_grain_material *material) {
    rs_body *body;
    rs_status status;
    int32_t kind;
    rs_grains *g = enter_grain(world, id, index, &body, &status);
    RS_THEN(status, rs_grain_material_check(material));
    RS_THEN(status, rs_grain_check(index, g->x.items[index].rest, material->density));
    RS_THEN(status, rs_grains_material(g, material, &kind));
    if (status == RS_OK) {
        g->kinds.items[index] = kind;
        rs_grains_set_mass(g, index, g->v.items[index].rest == 0.0);
        body->soft->margin = near_margin(g);
    }
    return rs_world_leave_soft(world, body, status);
}

rs_status rs_grains_set_boundary_material(rs_world *world, rs_object_id id, const rs_grain_material *material) {
    rs_body *body;
    rs_status status;
    rs_grains *g = enter_grains(world, id, &body, &status);
    RS_THEN(status, rs_grain_material_check(material));
    if (status == RS_OK)
        g->boundary = *material;
    return rs_world_leave_soft(world, body, status);
}

rs_status rs_grains_set_ground(rs_world *world, rs_object_id id, int32_t enabled, double height) {
    rs_body *body;
    rs_status status;
    rs_grains *g = enter_grains(world, id, &body, &status);
    RS_THEN(status, rs_check_finite("height", &height, 1));
    if (status == RS_OK) {
        g->has_ground = enabled != 0;
        g->ground = height;
    }
    return rs_world_leave_soft(world, body, status);
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
    }
    return rs_world_leave_soft(world, body, status);
}

rs_status rs_grains_set_periodic(rs_world *world, rs_object_id id, const int32_t axes[3], const double box[6]) {
    rs_body *body;
    rs_status status;
    rs_grains *g = enter_grains(world, id, &body, &status);
    RS_THEN(status, check_box(box, axes));
    double most = 0.0;
    for (int64_t k = 0; status == RS_OK && k < g->x.count; k++)
        most = rs_max(most, g->x.items[k].rest);
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
    }
    return rs_world_leave_soft(world, body, status);
}

static void store_box(double out[6], rs_vec3 min, rs_vec3 max) {
    rs_v3_store(out, min);
    rs_v3_store(out + 3, max);
}

rs_status rs_grains_get_settings(rs_world *world, rs_object_id id, rs_grains_settings *out) {
    rs_body *body;
    rs_status status;
    const rs_grains *g = read_grains(world, id, &body, &status);
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

rs_status rs_grains_get_material(rs_world *world, rs_object_id id, int32_t index, rs_grain_material *out) {
    rs_body *body;
    rs_status status;
    const rs_grains *g = read_grains(world, id, &body, &status);
    if (status == RS_OK && (index < 0 || index >= g->materials.count))
        status = rs_fail(RS_INVALID_VALUE, "material %d does not exist; there are %lld", index,
                         (long long)g->materials.count);
    if (status == RS_OK)
        *out = g->materials.items[index];
    return rs_world_leave(world, status);
}

rs_status rs_grains_read(rs_world *world, rs_object_id id, int64_t capacity, double *radii, int32_t *materials,
                         uint8_t *fixed, double *angular_velocities) {
    rs_body *body;
    rs_status status;
    const rs_grains *g = read_grains(world, id, &body, &status);
    RS_THEN(status, rs_check_room(capacity, g->x.count));
    for (int64_t k = 0; status == RS_OK && k < g->x.count; k++) {
        if (radii != NULL)
            radii[k] = g->x.items[k].rest;
        if (materials != NULL)
            materials[k] = g->kinds.items[k];
        if (fixed != NULL)
            fixed[k] = g->v.items[k].rest == 0.0;
        if (angular_velocities != NULL)
            rs_v3_store(&angular_velocities[3 * k], g->w.items[k].xyz);
    }
    return rs_world_leave(world, status);
}

rs_status rs_grains_get_stats(rs_world *world, rs_object_id id, rs_grains_stats *out) {
    rs_body *body;
    rs_status status;
    const rs_grains *g = read_grains(world, id, &body, &status);
    if (status == RS_OK)
        *out = g->stats;
    return rs_world_leave(world, status);
}
