/* Creating, asking and changing cloth and other deformable objects. */
#include "world.h"

/* Every public function on one object: enters the world; the caller leaves it. */
static rs_deformable *enter(rs_world *world, rs_object_id id, rs_body **body, rs_status *status) {
    rs_world_enter(world);
    rs_soft *soft = rs_world_soft(world, id, body);
    if (soft != NULL && soft->deformable == NULL)
        rs_fail(RS_WRONG_TYPE, "object %u is not deformable", (uint32_t)(id >> 32));
    *status = soft == NULL && rs_world_slot(world, id) == NULL        ? RS_UNKNOWN_OBJECT
              : soft == NULL || soft->deformable == NULL ? RS_WRONG_TYPE
                                                         : rs_world_check_not_half_way(world);
    return *status == RS_OK ? soft->deformable : NULL;
}

static void touch(rs_world *world, rs_body *body) {
    rs_soft_measure(body->soft);
    body->position = rs_soft_sum(body->soft, rs_v3_zero()).centre;
    body->soft->calm_steps = 0;
    rs_wake_body(body);
    world->version++;
}

static rs_status check_settings(const rs_deformable_settings *s) {
    const double numbers[3] = {s->damping, s->air_drag, s->collision_radius};
    static const char *const names[3] = {"damping", "air drag", "collision radius"};
    for (int k = 0; k < 3; k++)
        if (!(numbers[k] >= 0.0 && numbers[k] <= 1e12))
            return rs_fail(RS_INVALID_VALUE, "%s is %g; expected a finite number, at least 0", names[k], numbers[k]);
    if (!(s->collision_radius > 0.0))
        return rs_fail(RS_INVALID_VALUE, "collision radius is 0; expected a number greater than 0");
    if (s->iterations < 1 || s->iterations > 10000 || s->substeps < 1 || s->substeps > 100000)
        return rs_fail(RS_INVALID_VALUE, "%d iterations and %d substeps; expected 1 to 10000 and 1 to 100000", s->iterations,
                       s->substeps);
    return rs_check_finite("wind", s->wind, 3);
}

static rs_status check_indices(const char *name, const int32_t *index, int64_t tuples, int size, int64_t count) {
    for (int64_t k = 0; k < tuples * size; k++)
        if (index[k] < 0 || index[k] >= count)
            return rs_fail(RS_INVALID_VALUE, "%s %lld names vertex %d; there are %lld", name, (long long)(k / size), index[k],
                           (long long)count);
    for (int64_t k = 0; k < tuples; k++)
        for (int a = 0; a < size; a++)
            for (int b = a + 1; b < size; b++)
                if (index[k * size + a] == index[k * size + b])
                    return rs_fail(RS_INVALID_VALUE, "%s %lld names vertex %d twice", name, (long long)k, index[k * size + a]);
    return RS_OK;
}

static rs_status check_compliances(int64_t count, const double *values) {
    for (int64_t k = 0; k < count; k++)
        if (!(values[k] >= 0.0 && values[k] <= 1e30))
            return rs_fail(RS_INVALID_VALUE, "compliance %lld is %g; expected a finite number, at least 0", (long long)k,
                           values[k]);
    return RS_OK;
}

static rs_status check_def(const rs_deformable_def *def) {
    if (def->count < 1)
        return rs_fail(RS_INVALID_VALUE, "there are no vertices");
    rs_status status = check_settings(&def->settings);
    for (int64_t k = 0; k < def->count && status == RS_OK; k++) {
        status = rs_check_finite("vertex", &def->positions[3 * k], 3);
        if (status == RS_OK && def->velocities != NULL)
            status = rs_check_finite("velocity", &def->velocities[3 * k], 3);
        if (status == RS_OK)
            status = rs_check_mass(def->masses[k]);
    }
    if (status == RS_OK)
        status = check_indices("strut", def->struts, def->strut_count, 2, def->count);
    if (status == RS_OK)
        status = check_indices("hinge", def->hinges, def->hinge_count, 4, def->count);
    if (status == RS_OK)
        status = check_indices("triangle", def->triangles, def->triangle_count, 3, def->count);
    if (status == RS_OK)
        status = check_compliances(def->strut_count, def->compliances);
    return status == RS_OK ? check_compliances(1, &def->bend_compliance) : status;
}

static rs_status add_struts(rs_deformable *d, int64_t count, const int32_t *struts, const double *compliances) {
    int64_t before = d->struts.count;
    const rs_quad *x = RS_ITEMS(rs_quad, d->x);
    if (rs_array_reserve(&d->struts, before + count) != RS_OK)
        return RS_OUT_OF_MEMORY;
    d->struts.count = before + count;
    for (int64_t k = 0; k < count; k++) {
        int32_t a = struts[2 * k], b = struts[2 * k + 1];
        RS_ITEMS(rs_soft_strut, d->struts)[before + k] =
            (rs_soft_strut){.a = a, .b = b, .rest = rs_norm(rs_sub(x[a].xyz, x[b].xyz)), .compliance = compliances[k]};
    }
    return RS_OK;
}

static rs_status fill(rs_deformable *d, const rs_deformable_def *def) {
    d->settings = def->settings;
    if (rs_array_resize(&d->x, def->count) != RS_OK || rs_array_resize(&d->v, def->count) != RS_OK ||
        rs_array_resize(&d->masses, def->count) != RS_OK || rs_array_resize(&d->triangles, 3 * def->triangle_count) != RS_OK)
        return RS_OUT_OF_MEMORY;
    for (int64_t k = 0; k < def->count; k++) {
        bool pinned = def->pinned != NULL && def->pinned[k] != 0;
        rs_vec3 v = def->velocities != NULL && !pinned ? rs_v3_load(&def->velocities[3 * k]) : rs_v3_zero();
        RS_ITEMS(rs_quad, d->x)[k] = (rs_quad){rs_v3_load(&def->positions[3 * k]), def->settings.collision_radius};
        RS_ITEMS(rs_quad, d->v)[k] = (rs_quad){v, pinned ? 0.0 : 1.0 / def->masses[k]};
        RS_ITEMS(double, d->masses)[k] = def->masses[k];
    }
    for (int64_t k = 0; k < 3 * def->triangle_count; k++)
        RS_ITEMS(int32_t, d->triangles)[k] = def->triangles[k];
    for (int64_t k = 0; k < def->hinge_count; k++)
        if (rs_deformable_hinge(d, &def->hinges[4 * k], def->bend_compliance) != RS_OK)
            return RS_OUT_OF_MEMORY;
    return add_struts(d, def->strut_count, def->struts, def->compliances);
}

rs_status rs_deformable_create(rs_world *world, const rs_deformable_def *def, rs_object_id *out) {
    rs_status status = check_def(def);
    if (status != RS_OK)
        return status;
    rs_world_enter(world);
    status = rs_world_check_not_half_way(world);
    if (status == RS_OK && (def->contact_material < 0 || def->contact_material >= world->data.materials.names.count))
        status = rs_fail(RS_INVALID_VALUE, "material index %d is not registered", def->contact_material);
    rs_body body = {.type = RS_BODY_STATIC, .mass = 1.0, .quaternion = {1, 0, 0, 0}, .first_collider = RS_NONE};
    body.soft = status == RS_OK ? rs_soft_new() : NULL;
    if (body.soft != NULL)
        body.soft->deformable = rs_deformable_new();
    if (status == RS_OK && (body.soft == NULL || body.soft->deformable == NULL))
        status = RS_OUT_OF_MEMORY;
    if (status == RS_OK)
        status = fill(body.soft->deformable, def);
    if (status == RS_OK) {
        body.soft->margin = def->settings.collision_radius;
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

rs_status rs_deformable_settings_get(rs_world *world, rs_object_id id, rs_deformable_settings *out) {
    rs_body *body;
    rs_status status;
    const rs_deformable *d = enter(world, id, &body, &status);
    if (status == RS_OK)
        *out = d->settings;
    return rs_world_leave(world, status);
}

rs_status rs_deformable_settings_set(rs_world *world, rs_object_id id, const rs_deformable_settings *settings) {
    rs_body *body;
    rs_status status;
    rs_deformable *d = enter(world, id, &body, &status);
    if (status == RS_OK)
        status = check_settings(settings);
    if (status == RS_OK) {
        d->settings = *settings;
        for (int64_t k = 0; k < d->x.count; k++)
            RS_ITEMS(rs_quad, d->x)[k].rest = settings->collision_radius;
        touch(world, body);
    }
    return rs_world_leave(world, status);
}

rs_status rs_deformable_pin(rs_world *world, rs_object_id id, int64_t index, int32_t pinned, const double position[3]) {
    rs_body *body;
    rs_status status;
    rs_deformable *d = enter(world, id, &body, &status);
    if (status == RS_OK && (index < 0 || index >= d->x.count))
        status = rs_fail(RS_INVALID_VALUE, "vertex %lld does not exist; there are %lld", (long long)index, (long long)d->x.count);
    if (status == RS_OK && position != NULL)
        status = rs_check_finite("position", position, 3);
    if (status == RS_OK) {
        rs_quad *v = &RS_ITEMS(rs_quad, d->v)[index];
        *v = (rs_quad){pinned ? rs_v3_zero() : v->xyz, pinned ? 0.0 : 1.0 / RS_ITEMS(double, d->masses)[index]};
        if (pinned && position != NULL)
            RS_ITEMS(rs_quad, d->x)[index].xyz = rs_v3_load(position);
        touch(world, body);
    }
    return rs_world_leave(world, status);
}

rs_status rs_deformable_add_struts(rs_world *world, rs_object_id id, int64_t count, const int32_t *struts,
                                   const double *compliances) {
    rs_body *body;
    rs_status status;
    rs_deformable *d = enter(world, id, &body, &status);
    if (status == RS_OK)
        status = check_indices("strut", struts, count, 2, d->x.count);
    if (status == RS_OK)
        status = check_compliances(count, compliances);
    if (status == RS_OK)
        status = add_struts(d, count, struts, compliances);
    if (status == RS_OK)
        touch(world, body);
    return rs_world_leave(world, status);
}

rs_status rs_deformable_counts(rs_world *world, rs_object_id id, int64_t *struts, int64_t *hinges, int64_t *triangles) {
    rs_body *body;
    rs_status status;
    const rs_deformable *d = enter(world, id, &body, &status);
    if (status == RS_OK) {
        *struts = d->struts.count;
        *hinges = d->hinges.count;
        *triangles = d->triangles.count / 3;
    }
    return rs_world_leave(world, status);
}

rs_status rs_deformable_read(rs_world *world, rs_object_id id, uint8_t *pinned, double *masses) {
    rs_body *body;
    rs_status status;
    const rs_deformable *d = enter(world, id, &body, &status);
    for (int64_t k = 0; status == RS_OK && k < d->x.count; k++) {
        pinned[k] = RS_ITEMS(rs_quad, d->v)[k].rest == 0.0;
        masses[k] = RS_ITEMS(double, d->masses)[k];
    }
    return rs_world_leave(world, status);
}
