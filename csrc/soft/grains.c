/* The grains of an object: materials, adding, removing, sums. */
#include "grains.h"

#include "../base/limits.h"

enum { ARRAYS = 33, STATE_ARRAYS = 15 /* the rest is scratch */ };

static void list_arrays(rs_grains *g, rs_any_array *out[ARRAYS]) {
    rs_any_array *all[ARRAYS] = {&g->materials.any, &g->laws.any, &g->x.any, &g->v.any, &g->w.any, &g->kinds.any,
                                 &g->first.any, &g->second.any, &g->image.any, &g->bonds.any, &g->touches.any,
                                 &g->origin.any, &g->grid.starts.any, &g->grid.items.any, &g->grid.cell_of.any,
                                 &g->x_before.any, &g->force.any, &g->torque.any, &g->touches_other.any,
                                 &g->second_other.any, &g->image_other.any, &g->bonds_other.any, &g->first_other.any,
                                 &g->candidates.any, &g->cell_shapes.any, &g->cell_next.any, &g->back.any,
                                 &g->parts.any, &g->crossings.any, &g->crossing_second.any, &g->crossing_of.any,
                                 &g->pushes.any, &g->tallies.any};
    memcpy(out, all, sizeof all);
}

rs_grains *rs_grains_new(void) { return rs_alloc(sizeof(rs_grains)); }

void rs_grains_free(rs_grains *g) {
    if (g == NULL)
        return;
    rs_any_array *arrays[ARRAYS];
    list_arrays(g, arrays);
    rs_any_free_all(arrays, ARRAYS);
    rs_free(g);
}

rs_grains *rs_grains_clone(const rs_grains *source) {
    rs_grains *copy = rs_grains_new();
    if (copy == NULL)
        return NULL;
    rs_grains from = *source; /* the list of arrays wants a writable struct */
    rs_any_array *of_copy[ARRAYS], *of_source[ARRAYS];
    *copy = *source;
    list_arrays(copy, of_copy);
    list_arrays(&from, of_source);
    for (int k = 0; k < ARRAYS; k++)
        *of_copy[k] = (rs_any_array){0};
    if (rs_any_copy_all(of_copy, of_source, STATE_ARRAYS) == RS_OK)
        return copy;
    rs_grains_free(copy);
    return NULL;
}

/* ---- materials ---- */

static rs_status check_number(const char *name, double value, double most) {
    if (value >= 0.0 && value <= most)
        return RS_OK;
    return rs_fail(RS_INVALID_VALUE, "%s is %g; expected a finite number, at least 0", name, value);
}

rs_status rs_grain_material_check(const rs_grain_material *m) {
    if (!(m->density > 0.0 && m->density <= 1e30))
        return rs_fail(RS_INVALID_VALUE, "density is %g; expected a finite number greater than 0", m->density);
    if (!(m->normal_stiffness > 0.0 && m->normal_stiffness <= 1e30))
        return rs_fail(RS_INVALID_VALUE, "normal stiffness is %g; expected a finite number greater than 0",
                       m->normal_stiffness);
    rs_status status = check_number("normal damping", m->normal_damping, 1e30);
    RS_THEN(status, check_number("tangential stiffness", m->tangential_stiffness, 1e30));
    RS_THEN(status, check_number("tangential damping", m->tangential_damping, 1e30));
    RS_THEN(status, check_number("friction", m->friction, 1e6));
    RS_THEN(status, check_number("rolling friction", m->rolling_friction, 1e3));
    RS_THEN(status, check_number("cohesion stiffness", m->cohesion_stiffness, 1e30));
    return status == RS_OK ? check_number("cohesion distance", m->cohesion_distance, 1e30) : status;
}

static double tangential_stiffness(const rs_grain_material *m) {
    return m->tangential_stiffness > 0.0 ? m->tangential_stiffness : 0.5 * m->normal_stiffness;
}

/* Springs and dampers in series, each with half of the way: of equal ones the same. */
static double in_series(double a, double b) { return a + b > 0.0 ? 2.0 * a * b / (a + b) : 0.0; }

static void fill_laws(rs_grains *g) {
    const rs_grain_material *m = g->materials.items;
    int64_t n = g->materials.count;
    for (int64_t a = 0; a < n; a++)
        for (int64_t b = 0; b < n; b++) {
            rs_grain_law *law = &g->laws.items[a * n + b];
            *law = (rs_grain_law){.k_n = in_series(m[a].normal_stiffness, m[b].normal_stiffness),
                                  .c_n = in_series(m[a].normal_damping, m[b].normal_damping),
                                  .k_t = in_series(tangential_stiffness(&m[a]), tangential_stiffness(&m[b])),
                                  .c_t = in_series(m[a].tangential_damping, m[b].tangential_damping),
                                  .friction = sqrt(m[a].friction * m[b].friction),
                                  .rolling = sqrt(m[a].rolling_friction * m[b].rolling_friction),
                                  .cohesion = sqrt(m[a].cohesion_stiffness * m[b].cohesion_stiffness),
                                  .reach = 0.5 * (m[a].cohesion_distance + m[b].cohesion_distance),
                                  .hertz = m[a].hertz && m[b].hertz};
            if (law->cohesion <= 0.0)
                law->reach = 0.0;
        }
}

double rs_grains_reach(const rs_grains *g) {
    double reach = 0.0;
    for (int64_t k = 0; k < g->laws.count; k++)
        reach = rs_max(reach, g->laws.items[k].reach);
    return reach;
}

static bool same_material(const rs_grain_material *a, const rs_grain_material *b) {
    return a->density == b->density && a->normal_stiffness == b->normal_stiffness &&
           a->normal_damping == b->normal_damping && a->tangential_stiffness == b->tangential_stiffness &&
           a->tangential_damping == b->tangential_damping && a->friction == b->friction &&
           a->rolling_friction == b->rolling_friction && a->cohesion_stiffness == b->cohesion_stiffness &&
           a->cohesion_distance == b->cohesion_distance && (a->hertz != 0) == (b->hertz != 0);
}

rs_status rs_grains_material(rs_grains *g, const rs_grain_material *material, int32_t *out) {
    rs_status status = rs_grain_material_check(material);
    if (status != RS_OK)
        return status;
    const rs_grain_material *all = g->materials.items;
    for (int64_t k = 0; k < g->materials.count; k++)
        if (same_material(&all[k], material)) {
            *out = (int32_t)k;
            return RS_OK;
        }
    int64_t n = g->materials.count + 1;
    if (n > 256)
        return rs_fail(RS_INVALID_VALUE, "more than 256 materials in one object of grains");
    if (rs_array_reserve(&g->materials, n) != RS_OK || rs_array_resize(&g->laws, n * n) != RS_OK)
        return RS_OUT_OF_MEMORY;
    *(rs_grain_material *)rs_array_push(&g->materials) = *material;
    *out = (int32_t)(n - 1);
    fill_laws(g);
    return RS_OK;
}

/* ---- grains ---- */

static double mass_of(double radius, double density) { return 4.18879020478639098 * radius * radius * radius * density; }

rs_status rs_grain_check(int64_t index, double radius, double density) {
    if (!(radius >= 1e-12 && radius <= 1e12))
        return rs_fail(RS_INVALID_VALUE, "radius of particle %lld is %g; expected a finite number greater than 0",
                       (long long)index, radius);
    double mass = mass_of(radius, density), moment = 0.4 * mass * radius * radius;
    if (mass >= RS_LEAST_MASS && mass <= RS_GREATEST_MASS && moment >= RS_LEAST_MOMENT && moment <= RS_GREATEST_MOMENT)
        return RS_OK;
    return rs_fail(RS_INVALID_VALUE,
                   "particle %lld has a mass of %g kg and moments of inertia of %g kg m^2; expected 1e-40 to 1e40 and 1e-60 "
                   "to 1e50", (long long)index, mass, moment);
}

static double grain_mass(const rs_grains *g, int64_t i) {
    int32_t kind = g->kinds.items[i];
    return mass_of(g->x.items[i].rest, g->materials.items[kind].density);
}

void rs_grains_set_mass(rs_grains *g, int64_t i, bool fixed) {
    double radius = g->x.items[i].rest;
    rs_quad *v = &g->v.items[i], *w = &g->w.items[i];
    v->rest = fixed ? 0.0 : 1.0 / grain_mass(g, i);
    w->rest = v->rest / (0.4 * radius * radius);
    if (fixed)
        v->xyz = w->xyz = rs_v3_zero();
    g->listed = false; /* pairs of two fixed grains are left out */
}

rs_status rs_grains_append(rs_grains *g, int64_t count, const double *positions, const double *radii,
                           const double *velocities, int32_t material) {
    int64_t before = g->x.count, all = before + count;
    if (all > INT32_MAX / 2)
        return rs_fail(RS_INVALID_VALUE, "%lld grains in one object; expected at most %d", (long long)all, INT32_MAX / 2);
    if (rs_array_reserve(&g->x, all) != RS_OK || rs_array_reserve(&g->v, all) != RS_OK ||
        rs_array_reserve(&g->w, all) != RS_OK || rs_array_reserve(&g->kinds, all) != RS_OK ||
        rs_array_reserve(&g->origin, all) != RS_OK)
        return RS_OUT_OF_MEMORY;
    g->x.count = g->v.count = g->w.count = g->kinds.count = all;
    for (int64_t i = g->origin.count; i < before; i++)
        g->origin.items[i] = (int32_t)i;
    g->origin.count = all;
    for (int64_t k = 0; k < count; k++) {
        int64_t i = before + k;
        g->x.items[i] = (rs_quad){rs_v3_load(&positions[3 * k]), radii[k]};
        g->v.items[i] = (rs_quad){velocities != NULL ? rs_v3_load(&velocities[3 * k]) : rs_v3_zero(), 0.0};
        g->w.items[i] = (rs_quad){rs_v3_zero(), 0.0};
        g->kinds.items[i] = material;
        g->origin.items[i] = -1;
        rs_grains_set_mass(g, i, false);
    }
    return RS_OK;
}

/* Touches of the removed grain go, those of the last one are its new number's; they stay ordered by grain. */
static rs_status renumber_touches(rs_grains *g, int32_t removed, int32_t last) {
    const rs_grain_touch *touches = g->touches.items;
    if (rs_array_reserve(&g->touches_other, g->touches.count) != RS_OK)
        return RS_OUT_OF_MEMORY;
    rs_grain_touch *out = g->touches_other.items;
    int64_t kept = 0;
    bool moved = removed == last;
    for (int64_t k = 0; k <= g->touches.count; k++) {
        if (!moved && (k == g->touches.count || touches[k].grain > removed)) {
            for (int64_t from = 0; from < g->touches.count; from++)
                if (touches[from].grain == last) {
                    out[kept] = touches[from];
                    out[kept++].grain = removed;
                }
            moved = true;
        }
        if (k < g->touches.count && touches[k].grain != removed && touches[k].grain != last)
            out[kept++] = touches[k];
    }
    g->touches_other.count = kept;
    rs_array_swap(&g->touches, &g->touches_other);
    return RS_OK;
}

rs_status rs_grains_erase(rs_grains *g, int64_t index) {
    int64_t last = g->x.count - 1;
    if (rs_array_reserve(&g->origin, g->x.count) != RS_OK || renumber_touches(g, (int32_t)index, (int32_t)last) != RS_OK)
        return RS_OUT_OF_MEMORY;
    for (int64_t i = g->origin.count; i <= last; i++)
        g->origin.items[i] = (int32_t)i;
    g->x.items[index] = g->x.items[last];
    g->v.items[index] = g->v.items[last];
    g->w.items[index] = g->w.items[last];
    g->kinds.items[index] = g->kinds.items[last];
    g->origin.items[index] = g->origin.items[last];
    g->x.count = g->v.count = g->w.count = g->kinds.count = g->origin.count = last;
    g->listed = false;
    return RS_OK;
}

rs_aabb rs_grains_bounds(const rs_grains *g, double *speed) {
    const rs_quad *x = g->x.items, *v = g->v.items;
    rs_aabb box = {rs_v3(INFINITY, INFINITY, INFINITY), rs_v3(-INFINITY, -INFINITY, -INFINITY)};
    double speed2 = 0.0;
    for (int64_t i = 0; i < g->x.count; i++) {
        rs_aabb own = rs_aabb_around(x[i].xyz, x[i].rest);
        box.min = rs_v3_min(box.min, own.min);
        box.max = rs_v3_max(box.max, own.max);
        speed2 = rs_max(speed2, rs_norm2(v[i].xyz));
    }
    *speed = sqrt(speed2);
    return box;
}

/* ---- sums ---- */

static double bond_energy(const rs_grain_law *law, const rs_grain_bond *bond, double overlap, double radius) {
    if (overlap <= 0.0)
        return law->cohesion > 0.0 && overlap > -law->reach
                   ? -0.5 * law->cohesion * (law->reach + overlap) * (law->reach + overlap)
                   : 0.0;
    double k = law->hertz ? law->k_n * sqrt(radius * overlap) : law->k_n;
    double k_t = law->hertz ? law->k_t / law->k_n * k : law->k_t;
    double normal = (law->hertz ? 0.4 : 0.5) * k * overlap * overlap;
    double k_r = 2.25 * k * law->rolling * law->rolling * radius * radius;
    double pull = law->cohesion > 0.0 ? -law->cohesion * (0.5 * law->reach * law->reach + law->reach * overlap) : 0.0;
    return normal + pull + 0.5 * k_t * rs_norm2(bond->spring.xyz) + 0.5 * k_r * rs_norm2(bond->roll.xyz);
}

static double pair_energy(const rs_grains *g) {
    const rs_quad *x = g->x.items;
    const int32_t *first = g->first.items, *second = g->second.items;
    const int32_t *kinds = g->kinds.items;
    double sum = 0.0;
    for (int64_t i = 0; i < g->x.count && g->listed; i++)
        for (int32_t p = first[i]; p < first[i + 1]; p++) {
            int32_t j = second[p];
            rs_vec3 d = rs_sub(rs_sub(x[i].xyz, x[j].xyz), rs_image_shift(&g->domain, g->image.items[p]));
            const rs_grain_law *law = &g->laws.items[kinds[i] * g->materials.count + kinds[j]];
            double total = x[i].rest + x[j].rest;
            sum += bond_energy(law, &g->bonds.items[p], total - rs_norm(d), x[i].rest * x[j].rest / total);
        }
    return sum;
}

/* Of contacts with walls and shapes, as in the last substep. */
static double touch_energy(const rs_grains *g) {
    double sum = 0.0;
    for (int64_t k = 0; k < g->touches.count; k++) {
        const rs_grain_touch *touch = &g->touches.items[k];
        int32_t kind = g->kinds.items[touch->grain];
        if (touch->bond.spring.rest != 0.0)
            sum += bond_energy(&g->laws.items[kind * (g->materials.count + 1)], &touch->bond,
                               touch->bond.roll.rest, g->x.items[touch->grain].rest);
    }
    return sum;
}

rs_soft_sums rs_grains_sum(const rs_grains *g, rs_vec3 gravity) {
    rs_soft_sums sums = {.elastic = pair_energy(g) + touch_energy(g)};
    for (int64_t i = 0; i < g->x.count; i++) {
        const rs_quad *x = &g->x.items[i], *v = &g->v.items[i], *w = &g->w.items[i];
        double mass = grain_mass(g, i), moment = 0.4 * mass * x->rest * x->rest;
        sums.mass += mass;
        sums.kinetic += 0.5 * mass * rs_norm2(v->xyz) + 0.5 * moment * rs_norm2(w->xyz);
        sums.potential -= mass * rs_dot(gravity, x->xyz);
        sums.linear = rs_madd(sums.linear, mass, v->xyz);
        sums.angular = rs_add(sums.angular, rs_madd(rs_scale(mass, rs_cross(x->xyz, v->xyz)), moment, w->xyz));
        sums.centre = rs_madd(sums.centre, mass, x->xyz);
    }
    sums.centre = sums.mass > 0.0 ? rs_scale(1.0 / sums.mass, sums.centre) : rs_v3_zero();
    return sums;
}
