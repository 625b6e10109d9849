/* Creating, asking and changing cloth and other deformable objects. */
#include "world.h"

static rs_deformable *find(rs_world *world, rs_object_id id, rs_body **body, rs_status *status) {
    rs_soft *soft = rs_world_soft(world, id, body);
    if (soft != NULL && soft->deformable == NULL)
        rs_fail(RS_WRONG_TYPE, "object %u is not deformable", (uint32_t)(id >> 32));
    *status = soft == NULL && rs_world_slot(world, id) == NULL ? RS_UNKNOWN_OBJECT
              : soft == NULL || soft->deformable == NULL       ? RS_WRONG_TYPE
                                                               : RS_OK;
    return *status == RS_OK ? soft->deformable : NULL;
}

const rs_deformable *rs_world_read_deformable(rs_world *world, rs_object_id id, rs_status *status) {
    rs_body *body;
    rs_world_enter_to_read(world);
    return find(world, id, &body, status);
}

rs_deformable *rs_world_enter_deformable(rs_world *world, rs_object_id id, rs_body **body, rs_status *status) {
    rs_world_enter(world);
    rs_deformable *d = find(world, id, body, status);
    if (*status == RS_OK)
        *status = rs_world_check_not_half_way(world);
    return d;
}

static rs_status check_settings(const rs_deformable_settings *s) {
    const double numbers[3] = {s->damping, s->air_drag, s->collision_radius};
    static const char *const names[3] = {"damping", "air drag", "collision radius"};
    for (int k = 0; k < 3; k++)
        if (!(numbers[k] >= 0.0 && numbers[k] <= 1e12))
            return rs_fail(RS_INVALID_VALUE, "%s is %g; expected a finite number, at least 0", names[k], numbers[k]);
    if (!(s->collision_radius > 0.0))
        return rs_fail(RS_INVALID_VALUE, "collision radius is 0; expected a number greater than 0");
    if (!(s->tear_strain >= -1.0 && s->tear_strain <= 1e30))
        return rs_fail(RS_INVALID_VALUE, "tear strain is %g; expected a finite number", s->tear_strain);
    if (s->iterations < 1 || s->iterations > 10000 || s->substeps < 1 || s->substeps > 100000)
        return rs_fail(RS_INVALID_VALUE, "%d iterations and %d substeps; expected 1 to 10000 and 1 to 100000", s->iterations,
                       s->substeps);
    return rs_check_finite("wind", s->wind, 3);
}

rs_status rs_soft_check_existing(const char *name, const int32_t *index, int64_t tuples, int size, int64_t count) {
    for (int64_t k = 0; k < tuples * size; k++)
        if (index[k] < 0 || index[k] >= count)
            return rs_fail(RS_INVALID_VALUE, "%s %lld names vertex %d; there are %lld", name, (long long)(k / size), index[k],
                           (long long)count);
    return RS_OK;
}

rs_status rs_soft_check_indices(const char *name, const int32_t *index, int64_t tuples, int size, int64_t count) {
    rs_status status = rs_soft_check_existing(name, index, tuples, size, count);
    for (int64_t k = 0; k < tuples && status == RS_OK; k++)
        for (int a = 0; a < size; a++)
            for (int b = a + 1; b < size; b++)
                if (index[k * size + a] == index[k * size + b])
                    return rs_fail(RS_INVALID_VALUE, "%s %lld names vertex %d twice", name, (long long)k, index[k * size + a]);
    return status;
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
        RS_THEN(status, rs_check_mass(def->masses[k]));
    }
    RS_THEN(status, rs_soft_check_indices("strut", def->struts, def->strut_count, 2, def->count));
    RS_THEN(status, rs_soft_check_existing("hinge", def->hinges, def->hinge_count, RS_HINGE_POINTS, def->count));
    for (int64_t k = 0; k < def->hinge_count && status == RS_OK; k++)
        status = rs_check_finite("weight of a hinge", &def->hinge_weights[RS_HINGE_POINTS * k], RS_HINGE_POINTS);
    RS_THEN(status, rs_soft_check_indices("triangle", def->triangles, def->triangle_count, 3, def->count));
    RS_THEN(status, rs_soft_check_indices("tetrahedron", def->tetrahedra, def->tetrahedron_count, 4, def->count));
    if (status == RS_OK && def->tetrahedron_count > 0 &&
        !(def->volume_stiffness > 0.0 && def->volume_stiffness <= 1e30 && def->shear_stiffness >= 0.0 && def->shear_stiffness <= 1e30))
        status = rs_fail(RS_INVALID_VALUE, "stiffness of volume and shear is %g and %g; expected numbers greater than 0, at least 0",
                         def->volume_stiffness, def->shear_stiffness);
    RS_THEN(status, check_compliances(def->strut_count, def->compliances));
    return status == RS_OK ? check_compliances(1, &def->bend_compliance) : status;
}

static rs_status add_struts(rs_deformable *d, int64_t count, const int32_t *struts, const double *compliances) {
    int64_t before = d->struts.count;
    const rs_quad *x = d->x.items;
    if (rs_array_reserve(&d->struts, before + count) != RS_OK)
        return RS_OUT_OF_MEMORY;
    d->struts.count = before + count;
    d->parts.count = 0;
    for (int64_t k = 0; k < count; k++) {
        int32_t a = struts[2 * k], b = struts[2 * k + 1];
        d->struts.items[before + k] =
            (rs_soft_strut){.a = a, .b = b, .rest = rs_norm(rs_sub(x[a].xyz, x[b].xyz)), .compliance = compliances[k]};
    }
    return RS_OK;
}

/* Tetrahedra, and which particles lie inside them all. */
static rs_status add_tetrahedra(rs_deformable *d, const rs_deformable_def *def) {
    rs_quad *x = d->x.items;
    if (rs_array_reserve(&d->tetrahedra, def->tetrahedron_count) != RS_OK)
        return RS_OUT_OF_MEMORY;
    for (int64_t k = 0; k < def->tetrahedron_count; k++) {
        rs_soft_tetrahedron one;
        const int32_t *index = &def->tetrahedra[4 * k];
        if (!rs_tetrahedron_make(&one, x, index, def->volume_stiffness, def->shear_stiffness))
            return rs_fail(RS_INVALID_VALUE, "tetrahedron %lld has no volume", (long long)k);
        d->tetrahedra.items[d->tetrahedra.count++] = one;
        for (int m = 0; m < 4; m++)
            x[index[m]].rest = 0.0;
    }
    for (int64_t k = 0; k < 3 * def->triangle_count; k++)
        x[def->triangles[k]].rest = def->settings.collision_radius;
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
        d->x.items[k] = (rs_quad){rs_v3_load(&def->positions[3 * k]), def->settings.collision_radius};
        d->v.items[k] = (rs_quad){v, pinned ? 0.0 : 1.0 / def->masses[k]};
        d->masses.items[k] = def->masses[k];
    }
    for (int64_t k = 0; k < 3 * def->triangle_count; k++)
        d->triangles.items[k] = def->triangles[k];
    for (int64_t k = 0; k < def->hinge_count; k++)
        if (rs_deformable_hinge(d, &def->hinges[RS_HINGE_POINTS * k], &def->hinge_weights[RS_HINGE_POINTS * k], def->bend_compliance) != RS_OK)
            return RS_OUT_OF_MEMORY;
    rs_status status = add_tetrahedra(d, def);
    return status == RS_OK ? add_struts(d, def->strut_count, def->struts, def->compliances) : status;
}

rs_status rs_deformable_create(rs_world *world, const rs_deformable_def *def, rs_object_id *out) {
    rs_status status = check_def(def);
    if (status != RS_OK)
        return status;
    rs_world_enter(world);
    rs_soft *soft = rs_soft_new();
    rs_deformable *d = soft != NULL ? soft->deformable = rs_deformable_new() : NULL;
    status = d != NULL ? fill(d, def) : RS_OUT_OF_MEMORY;
    if (status == RS_OK) {
        soft->margin = def->settings.collision_radius;
        rs_soft_place place = {def->object_type, def->contact_material, def->collision_group, def->collision_mask};
        status = rs_world_insert_soft(world, soft, &place, out);
    } else {
        rs_soft_free(soft);
    }
    return rs_world_leave(world, status);
}

rs_status rs_deformable_get_settings(rs_world *world, rs_object_id id, rs_deformable_settings *out) {
    rs_status status;
    const rs_deformable *d = rs_world_read_deformable(world, id, &status);
    if (status == RS_OK)
        *out = d->settings;
    return rs_world_leave(world, status);
}

rs_status rs_deformable_set_settings(rs_world *world, rs_object_id id, const rs_deformable_settings *settings) {
    rs_body *body;
    rs_status status;
    rs_deformable *d = rs_world_enter_deformable(world, id, &body, &status);
    RS_THEN(status, check_settings(settings));
    if (status == RS_OK) {
        d->settings = *settings;
        for (int64_t k = 0; k < d->x.count; k++)
            if (d->x.items[k].rest > 0.0)
                d->x.items[k].rest = settings->collision_radius;
    }
    return rs_world_leave_soft(world, body, status);
}

rs_status rs_deformable_pin(rs_world *world, rs_object_id id, int64_t index, int32_t pinned, const double position[3]) {
    rs_body *body;
    rs_status status;
    rs_deformable *d = rs_world_enter_deformable(world, id, &body, &status);
    if (status == RS_OK && (index < 0 || index >= d->x.count))
        status = rs_fail(RS_INVALID_VALUE, "vertex %lld does not exist; there are %lld", (long long)index, (long long)d->x.count);
    if (status == RS_OK && position != NULL)
        status = rs_check_finite("position", position, 3);
    if (status == RS_OK) {
        rs_quad *v = &d->v.items[index];
        rs_deformable_untie(d, index);
        *v = (rs_quad){pinned ? rs_v3_zero() : v->xyz, pinned ? 0.0 : 1.0 / d->masses.items[index]};
        if (pinned && position != NULL)
            d->x.items[index].xyz = rs_v3_load(position);
    }
    return rs_world_leave_soft(world, body, status);
}

rs_status rs_deformable_add_struts(rs_world *world, rs_object_id id, int64_t count, const int32_t *struts,
                                   const double *compliances) {
    rs_body *body;
    rs_status status;
    rs_deformable *d = rs_world_enter_deformable(world, id, &body, &status);
    RS_THEN(status, rs_soft_check_indices("strut", struts, count, 2, d->x.count));
    RS_THEN(status, check_compliances(count, compliances));
    RS_THEN(status, add_struts(d, count, struts, compliances));
    return rs_world_leave_soft(world, body, status);
}

rs_status rs_deformable_get_counts(rs_world *world, rs_object_id id, rs_deformable_counts *out) {
    rs_status status;
    const rs_deformable *d = rs_world_read_deformable(world, id, &status);
    if (status == RS_OK)
        *out = (rs_deformable_counts){d->struts.count, d->hinges.count, d->triangles.count / 3, d->tetrahedra.count};
    return rs_world_leave(world, status);
}

rs_status rs_deformable_read(rs_world *world, rs_object_id id, uint8_t *pinned, double *masses) {
    rs_status status;
    const rs_deformable *d = rs_world_read_deformable(world, id, &status);
    for (int64_t k = 0; status == RS_OK && k < d->x.count; k++) {
        pinned[k] = d->v.items[k].rest == 0.0;
        masses[k] = d->masses.items[k];
    }
    return rs_world_leave(world, status);
}
