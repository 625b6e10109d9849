/* What holds deformable objects together, read and replaced: to make the same object again. */
#include "world.h"

rs_status rs_deformable_get_constraints(rs_world *world, rs_object_id id, int32_t *struts, double *strut_state, int32_t *hinges,
                                    double *hinge_state, double *substep) {
    rs_status status;
    const rs_deformable *d = rs_world_read_deformable(world, id, &status);
    for (int64_t k = 0; status == RS_OK && k < d->struts.count; k++) {
        const rs_soft_strut *from = &d->struts.items[k];
        double *state = &strut_state[RS_STRUT_NUMBERS * k];
        struts[2 * k] = from->a;
        struts[2 * k + 1] = from->b;
        state[0] = from->rest;
        state[1] = from->compliance;
        state[2] = from->impulse;
    }
    for (int64_t k = 0; status == RS_OK && k < d->hinges.count; k++) {
        const rs_soft_hinge *from = &d->hinges.items[k];
        double *state = &hinge_state[RS_HINGE_NUMBERS * k];
        memcpy(&hinges[RS_HINGE_POINTS * k], from->index, sizeof from->index);
        memcpy(state, from->weight, sizeof from->weight);
        state[6] = from->rest;
        state[7] = from->compliance;
        state[8] = from->impulse;
    }
    if (status == RS_OK)
        *substep = d->substep;
    return rs_world_leave(world, status);
}

/* `rest` and `compliance`: where they stand among the numbers of each. */
static rs_status check_state(const char *name, int64_t count, int size, const double *state, int rest, int compliance) {
    rs_status status = RS_OK;
    for (int64_t k = 0; k < count && status == RS_OK; k++) {
        const double *one = &state[size * k];
        status = rs_check_finite(name, one, size);
        if (status == RS_OK && !(one[rest] >= 0.0 && one[compliance] >= 0.0 && one[compliance] <= 1e30))
            status = rs_fail(RS_INVALID_VALUE, "%s %lld has rest %g and compliance %g; expected at least 0", name, (long long)k,
                             one[rest], one[compliance]);
    }
    return status;
}

rs_status rs_deformable_set_constraints(rs_world *world, rs_object_id id, int64_t strut_count, const int32_t *struts,
                                        const double *strut_state, int64_t hinge_count, const int32_t *hinges,
                                        const double *hinge_state, double substep) {
    rs_body *body;
    rs_status status;
    rs_deformable *d = rs_world_enter_deformable(world, id, &body, &status);
    if (status == RS_OK && !(substep >= 0.0 && substep <= 1e6))
        status = rs_fail(RS_INVALID_VALUE, "substep is %g; expected a finite number, at least 0", substep);
    RS_THEN(status, rs_soft_check_indices("strut", struts, strut_count, 2, d->x.count));
    RS_THEN(status, rs_soft_check_existing("hinge", hinges, hinge_count, RS_HINGE_POINTS, d->x.count));
    RS_THEN(status, check_state("strut", strut_count, RS_STRUT_NUMBERS, strut_state, 0, 1));
    RS_THEN(status, check_state("hinge", hinge_count, RS_HINGE_NUMBERS, hinge_state, 6, 7));
    if (status == RS_OK &&
        (rs_array_reserve(&d->struts, strut_count) != RS_OK || rs_array_reserve(&d->hinges, hinge_count) != RS_OK))
        status = RS_OUT_OF_MEMORY;
    if (status != RS_OK)
        return rs_world_leave(world, status);
    d->struts.count = strut_count;
    d->hinges.count = hinge_count;
    d->parts.count = 0;
    d->substep = substep;
    for (int64_t k = 0; k < strut_count; k++) {
        const double *state = &strut_state[RS_STRUT_NUMBERS * k];
        d->struts.items[k] = (rs_soft_strut){
            .a = struts[2 * k], .b = struts[2 * k + 1], .rest = state[0], .compliance = state[1], .impulse = state[2]};
    }
    for (int64_t k = 0; k < hinge_count; k++) {
        const double *state = &hinge_state[RS_HINGE_NUMBERS * k];
        rs_soft_hinge *hinge = &d->hinges.items[k];
        *hinge = (rs_soft_hinge){.rest = state[6], .compliance = state[7], .impulse = state[8]};
        memcpy(hinge->index, &hinges[RS_HINGE_POINTS * k], sizeof hinge->index);
        memcpy(hinge->weight, state, sizeof hinge->weight);
    }
    rs_world_rouse(world, body);
    world->version++;
    return rs_world_leave(world, RS_OK);
}

rs_status rs_deformable_get_tetrahedra(rs_world *world, rs_object_id id, int32_t *tetrahedra, double *state) {
    rs_status status;
    const rs_deformable *d = rs_world_read_deformable(world, id, &status);
    for (int64_t k = 0; status == RS_OK && k < d->tetrahedra.count; k++) {
        const rs_soft_tetrahedron *from = &d->tetrahedra.items[k];
        double *out = &state[RS_TETRAHEDRON_NUMBERS * k];
        memcpy(&tetrahedra[4 * k], from->index, sizeof from->index);
        memcpy(out, &from->inverse_rest, sizeof from->inverse_rest);
        out[9] = from->size;
        out[10] = from->volume;
        out[11] = from->shear;
        memcpy(&out[12], from->impulse, sizeof from->impulse);
    }
    return rs_world_leave(world, status);
}

static rs_status check_tetrahedra(int64_t count, const double *state) {
    rs_status status = RS_OK;
    for (int64_t k = 0; k < count && status == RS_OK; k++) {
        const double *one = &state[RS_TETRAHEDRON_NUMBERS * k];
        status = rs_check_finite("tetrahedron", one, RS_TETRAHEDRON_NUMBERS);
        if (status == RS_OK && !(one[9] > 0.0 && one[10] > 0.0 && one[10] <= 1e30 && one[11] >= 0.0 && one[11] <= 1e30))
            status = rs_fail(RS_INVALID_VALUE, "tetrahedron %lld has volume %g and stiffness %g, %g; expected more than 0", (long long)k,
                             one[9], one[10], one[11]);
    }
    return status;
}

rs_status rs_deformable_set_tetrahedra(rs_world *world, rs_object_id id, int64_t count, const int32_t *tetrahedra,
                                       const double *state) {
    rs_body *body;
    rs_status status;
    rs_deformable *d = rs_world_enter_deformable(world, id, &body, &status);
    RS_THEN(status, rs_soft_check_indices("tetrahedron", tetrahedra, count, 4, d->x.count));
    RS_THEN(status, check_tetrahedra(count, state));
    if (status == RS_OK && rs_array_reserve(&d->tetrahedra, count) != RS_OK)
        status = RS_OUT_OF_MEMORY;
    if (status != RS_OK)
        return rs_world_leave(world, status);
    d->tetrahedra.count = count;
    d->parts.count = 0;
    rs_quad *x = d->x.items;
    for (int64_t k = 0; k < count; k++) {
        const double *from = &state[RS_TETRAHEDRON_NUMBERS * k];
        rs_soft_tetrahedron *one = &d->tetrahedra.items[k];
        *one = (rs_soft_tetrahedron){.size = from[9], .volume = from[10], .shear = from[11]};
        memcpy(one->index, &tetrahedra[4 * k], sizeof one->index);
        memcpy(&one->inverse_rest, from, sizeof one->inverse_rest);
        memcpy(one->impulse, &from[12], sizeof one->impulse);
        for (int m = 0; m < 4; m++)
            x[one->index[m]].rest = 0.0;
    }
    for (int64_t k = 0; k < d->triangles.count; k++)
        x[d->triangles.items[k]].rest = d->settings.collision_radius;
    rs_wake_body(body);
    world->version++;
    return rs_world_leave(world, RS_OK);
}

rs_status rs_deformable_get_triangles(rs_world *world, rs_object_id id, int32_t *triangles) {
    rs_status status;
    const rs_deformable *d = rs_world_read_deformable(world, id, &status);
    if (status == RS_OK && d->triangles.count > 0)
        memcpy(triangles, d->triangles.items, sizeof *triangles * (size_t)d->triangles.count);
    return rs_world_leave(world, status);
}

rs_status rs_deformable_set_particles(rs_world *world, rs_object_id id, int64_t count, const double *positions, const double *masses,
                                      int64_t triangle_count, const int32_t *triangles) {
    rs_body *body;
    rs_status status;
    rs_deformable *d = rs_world_enter_deformable(world, id, &body, &status);
    if (status == RS_OK && count < 1)
        status = rs_fail(RS_INVALID_VALUE, "there are no vertices");
    RS_THEN(status, rs_check_vectors("position", count, positions));
    for (int64_t k = 0; k < count && status == RS_OK; k++)
        status = rs_check_mass(masses[k]);
    RS_THEN(status, rs_soft_check_indices("triangle", triangles, triangle_count, 3, count));
    if (status == RS_OK &&
        (rs_array_reserve(&d->x, count) != RS_OK || rs_array_reserve(&d->v, count) != RS_OK ||
         rs_array_reserve(&d->masses, count) != RS_OK || rs_array_reserve(&d->triangles, 3 * triangle_count) != RS_OK))
        status = RS_OUT_OF_MEMORY;
    if (status != RS_OK)
        return rs_world_leave(world, status);
    rs_any_array *const held[] = {&d->struts.any, &d->hinges.any, &d->tetrahedra.any, &d->ties.any, &d->tied.any,
                                  &d->candidates.any, &d->owned.any, &d->parts.any};
    for (size_t k = 0; k < sizeof held / sizeof *held; k++)
        held[k]->count = 0;
    d->x.count = d->v.count = d->masses.count = count;
    d->triangles.count = 3 * triangle_count;
    for (int64_t k = 0; k < count; k++) {
        d->x.items[k] = (rs_quad){rs_v3_load(&positions[3 * k]), d->settings.collision_radius};
        d->v.items[k] = (rs_quad){rs_v3_zero(), 1.0 / masses[k]};
        d->masses.items[k] = masses[k];
    }
    for (int64_t k = 0; k < 3 * triangle_count; k++)
        d->triangles.items[k] = triangles[k];
    rs_soft_forget(body->soft);
    return rs_world_leave_soft(world, body, RS_OK);
}
