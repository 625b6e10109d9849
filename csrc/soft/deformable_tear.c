/* Tearing. Where an edge or a tetrahedron is stretched beyond the limit, one of its particles becomes two: what lies on the
 * far side of a plane across the stretch goes with the new one. Mass, momentum and the energy of the edges are shared out;
 * nothing is lost but the bending of what came apart. In a step each neighbourhood tears once, where it is stretched most:
 * a crack goes on as the load moves to its tip. */
#include <stdlib.h>

#include "../base/group_by.h"
#include "deformable.h"

enum { POWERS = 24 }; /* of a matrix: its largest value stands out */

/* Something that is stretched too far. */
typedef struct {
    double stretch;
    int32_t strut, tetrahedron; /* one is RS_NONE */
    rs_vec3 direction;          /* unit */
} overload;
RS_ARRAY_OF(overload);

/* A particle that became two. */
typedef struct {
    int32_t particle, twin;
    rs_vec3 normal; /* of the plane between them, towards the twin */
} split;
RS_ARRAY_OF(split);

typedef struct {
    rs_deformable *d;
    RS_ARRAY(overload) overloads;
    RS_ARRAY(split) splits;
    RS_ARRAY(int32_t) starts, items; /* elements by particle, as they were when the step ended */
    RS_ARRAY(int32_t) corners; /* of tetrahedra, flat */
    RS_ARRAY(int32_t) done; /* per particle: RS_NONE, else torn or beside it; a split particle has the index of its split */
    int64_t particles; /* before anything tore */
    bool solid; /* elements are tetrahedra, not triangles */
} tear;

enum { BESIDE = -2 };

/* ---- what is stretched too far ---- */

static double largest_stretch(const rs_soft_tetrahedron *t, const rs_quad *x, double limit, rs_vec3 *direction) {
    rs_vec3 f[3];
    rs_tetrahedron_columns(t, x, f);
    double c[3][3], most = 0.0;
    for (int i = 0; i < 3; i++) {
        double sum = 0.0;
        for (int k = 0; k < 3; k++)
            sum += fabs(c[i][k] = rs_dot(f[i], f[k]));
        most = rs_max(most, sum);
    }
    if (most <= limit * limit) /* no value is larger than a row */
        return sqrt(most);
    int longest = c[1][1] > c[0][0] ? 1 : 0;
    longest = c[2][2] > c[longest][longest] ? 2 : longest;
    double u[3] = {c[0][longest], c[1][longest], c[2][longest]};
    for (int turn = 0; turn < POWERS; turn++) {
        double next[3], size = 0.0;
        for (int i = 0; i < 3; i++) {
            next[i] = c[i][0] * u[0] + c[i][1] * u[1] + c[i][2] * u[2];
            size = rs_max(size, fabs(next[i]));
        }
        for (int i = 0; i < 3; i++)
            u[i] = next[i] / size;
    }
    rs_vec3 along = rs_madd(rs_madd(rs_scale(u[0], f[0]), u[1], f[1]), u[2], f[2]);
    double length = rs_norm(along);
    *direction = rs_scale(1.0 / length, along);
    return length / sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
}

static rs_status add_overload(tear *t, overload one) {
    overload *to = rs_array_push(&t->overloads);
    if (to == NULL)
        return RS_OUT_OF_MEMORY;
    *to = one;
    return RS_OK;
}

static rs_status find_overloads(tear *t) {
    const rs_quad *x = t->d->x.items;
    double limit = 1.0 + t->d->settings.tear_strain;
    for (int32_t k = 0; k < t->d->struts.count; k++) {
        const rs_soft_strut *s = &t->d->struts.items[k];
        rs_vec3 way = rs_sub(x[s->b].xyz, x[s->a].xyz);
        double length = rs_norm(way);
        if (length > limit * s->rest && s->rest > 0.0 &&
            add_overload(t, (overload){length / s->rest, k, RS_NONE, rs_scale(1.0 / length, way)}) != RS_OK)
            return RS_OUT_OF_MEMORY;
    }
    for (int32_t k = 0; k < t->d->tetrahedra.count; k++) {
        const rs_soft_tetrahedron *one = &t->d->tetrahedra.items[k];
        overload found = {.strut = RS_NONE, .tetrahedron = k};
        if (one->shear > 0.0)
            found.stretch = largest_stretch(one, x, limit, &found.direction);
        if (found.stretch > limit && add_overload(t, found) != RS_OK)
            return RS_OUT_OF_MEMORY;
    }
    return RS_OK;
}

static int by_stretch(const void *first, const void *second) {
    const overload *a = first, *b = second;
    if (a->stretch != b->stretch)
        return a->stretch > b->stretch ? -1 : 1;
    if (a->strut != b->strut)
        return a->strut < b->strut ? -1 : 1;
    return a->tetrahedron < b->tetrahedron ? -1 : a->tetrahedron > b->tetrahedron;
}

/* ---- elements: triangles, or tetrahedra where there are any ---- */

static int element_size(const tear *t) { return t->solid ? 4 : 3; }

static int32_t *element(const tear *t, int32_t e) {
    return t->solid ? t->d->tetrahedra.items[e].index : &t->d->triangles.items[3 * e];
}

static bool has(const int32_t *index, int count, int32_t particle) {
    for (int k = 0; k < count; k++)
        if (index[k] == particle)
            return true;
    return false;
}

static rs_status list_elements(tear *t) {
    rs_deformable *d = t->d;
    int64_t n = t->particles, count = t->solid ? 4 * d->tetrahedra.count : d->triangles.count;
    if (rs_array_resize(&t->starts, n + 1) != RS_OK || rs_array_resize(&t->items, count) != RS_OK ||
        rs_array_resize(&t->done, n) != RS_OK || rs_array_resize(&t->corners, t->solid ? count : 0) != RS_OK)
        return RS_OUT_OF_MEMORY;
    for (int64_t k = 0; t->solid && k < count; k++)
        t->corners.items[k] = d->tetrahedra.items[k / 4].index[k % 4];
    const int32_t *of = t->solid ? t->corners.items : d->triangles.items;
    int32_t *items = t->items.items;
    rs_group_by(of, count, n, t->starts.items, items);
    for (int64_t k = 0; k < count; k++)
        items[k] /= element_size(t);
    for (int64_t k = 0; k < n; k++)
        t->done.items[k] = RS_NONE;
    return RS_OK;
}

/* The elements around a particle, as a range of items. */
static const int32_t *around(const tear *t, int32_t particle, int32_t *count) {
    const int32_t *starts = t->starts.items;
    *count = starts[particle + 1] - starts[particle];
    return t->items.items + starts[particle];
}

/* Volume at rest, or area now. */
static double measure(const tear *t, int32_t e) {
    if (t->solid)
        return t->d->tetrahedra.items[e].size;
    const rs_quad *x = t->d->x.items;
    const int32_t *i = element(t, e);
    return 0.5 * rs_norm(rs_cross(rs_sub(x[i[1]].xyz, x[i[0]].xyz), rs_sub(x[i[2]].xyz, x[i[0]].xyz)));
}

static bool is_beyond(const tear *t, int32_t e, int32_t particle, rs_vec3 normal) {
    const rs_quad *x = t->d->x.items;
    const int32_t *index = element(t, e);
    double sum = 0.0;
    for (int k = 0; k < element_size(t); k++)
        sum += rs_dot(normal, rs_sub(x[index[k]].xyz, x[particle].xyz));
    return sum > 0.0;
}

/* Share of what is around the particle that lies beyond the plane; 0: it cannot be split there. */
static double share_beyond(const tear *t, int32_t particle, rs_vec3 normal) {
    int32_t count;
    const int32_t *elements = around(t, particle, &count);
    double sides[2] = {0.0, 0.0};
    for (int32_t k = 0; k < count; k++)
        sides[is_beyond(t, elements[k], particle, normal)] += measure(t, elements[k]);
    return sides[0] > 0.0 && sides[1] > 0.0 ? sides[1] / (sides[0] + sides[1]) : 0.0;
}

/* ---- splitting ---- */

static rs_status add_twin(tear *t, int32_t particle, rs_vec3 normal, double share) {
    rs_deformable *d = t->d;
    int32_t twin = (int32_t)d->x.count;
    if (rs_array_reserve(&d->x, twin + 1) != RS_OK || rs_array_reserve(&d->v, twin + 1) != RS_OK ||
        rs_array_reserve(&d->masses, twin + 1) != RS_OK || rs_array_reserve(&t->splits, t->splits.count + 1) != RS_OK)
        return RS_OUT_OF_MEMORY;
    rs_quad *x = d->x.items, *v = d->v.items;
    double *masses = d->masses.items, moved = share * masses[particle];
    d->x.count = d->v.count = d->masses.count = twin + 1;
    masses[particle] -= moved;
    masses[twin] = moved;
    x[twin] = x[particle];
    v[twin] = (rs_quad){v[particle].xyz, 1.0 / moved};
    if (v[particle].rest > 0.0) /* a pin holds what is on its side */
        v[particle].rest = 1.0 / masses[particle];
    t->done.items[particle] = (int32_t)t->splits.count;
    t->splits.items[t->splits.count++] = (split){particle, twin, normal};
    return RS_OK;
}

static void replace(int32_t *index, int count, int32_t from, int32_t to) {
    for (int k = 0; k < count; k++)
        index[k] = index[k] == from ? to : index[k];
}

/* Whether something at these particles, or beside them, tore in this step. */
static bool is_torn(const tear *t, const int32_t *index, int count) {
    for (int k = 0; k < count; k++)
        if (index[k] >= t->particles || t->done.items[index[k]] != RS_NONE)
            return true;
    return false;
}

static rs_status split_particle(tear *t, int32_t particle, rs_vec3 normal, double share) {
    int32_t count, *done = t->done.items;
    const int32_t *elements = around(t, particle, &count);
    for (int32_t k = 0; k < count; k++)
        for (int m = 0; m < element_size(t); m++)
            done[element(t, elements[k])[m]] = BESIDE;
    if (add_twin(t, particle, normal, share) != RS_OK)
        return RS_OUT_OF_MEMORY;
    for (int32_t k = 0; k < count; k++)
        if (is_beyond(t, elements[k], particle, normal))
            replace(element(t, elements[k]), element_size(t), particle, (int32_t)t->d->x.count - 1);
    return RS_OK;
}

/* Splits the particle that parts its surroundings most evenly, rather one that is free. */
static rs_status split_best(tear *t, const overload *load, const int32_t *index, int count) {
    const rs_quad *x = t->d->x.items, *v = t->d->v.items;
    rs_vec3 centre = rs_v3_zero(), best_normal = rs_v3_zero();
    double best = 0.0, best_share = 0.0;
    int32_t particle = RS_NONE;
    for (int k = 0; k < count; k++)
        centre = rs_madd(centre, 1.0 / count, x[index[k]].xyz);
    for (int k = 0; k < count; k++) {
        double side = rs_dot(load->direction, rs_sub(centre, x[index[k]].xyz));
        rs_vec3 normal = rs_scale(side > 0.0 ? 1.0 : -1.0, load->direction);
        double share = share_beyond(t, index[k], normal);
        double even = rs_min(share, 1.0 - share) * (v[index[k]].rest > 0.0 ? 1.0 : 1e-3);
        if (even <= best)
            continue;
        best = even;
        best_share = share;
        best_normal = normal;
        particle = index[k];
    }
    return particle == RS_NONE ? RS_OK : split_particle(t, particle, best_normal, best_share);
}

/* Edges of elements tear at a particle; other struts break. */
static bool is_edge(const tear *t, int32_t a, int32_t b) {
    int32_t count;
    const int32_t *elements = around(t, a, &count);
    for (int32_t k = 0; k < count; k++)
        if (has(element(t, elements[k]), element_size(t), b))
            return true;
    return false;
}

static rs_status split_all(tear *t) {
    const overload *loads = t->overloads.items;
    for (int64_t k = 0; k < t->overloads.count; k++) {
        rs_soft_strut *s = loads[k].strut != RS_NONE ? &t->d->struts.items[loads[k].strut] : NULL;
        int32_t index[4] = {s != NULL ? s->a : 0, s != NULL ? s->b : 0};
        int count = s != NULL ? 2 : 4;
        if (s == NULL)
            memcpy(index, element(t, loads[k].tetrahedron), sizeof index);
        if (is_torn(t, index, count))
            continue;
        if (s != NULL && !is_edge(t, s->a, s->b))
            s->a = s->b = RS_NONE; /* removed below */
        else if (split_best(t, &loads[k], index, count) != RS_OK)
            return RS_OUT_OF_MEMORY;
    }
    return RS_OK;
}

/* ---- what hangs on particles that became two ---- */

static const split *split_of(const tear *t, int32_t particle) {
    int32_t number = particle < t->particles ? t->done.items[particle] : RS_NONE;
    return number >= 0 ? &t->splits.items[number] : NULL;
}

/* Bit 0: some element around the split particle that holds all the others given is on its side; bit 1: on that of the twin. */
static int sides_with(const tear *t, const split *s, const int32_t *others, int count) {
    int32_t around_count;
    const int32_t *elements = around(t, s->particle, &around_count);
    int sides = 0;
    for (int32_t k = 0; k < around_count; k++) {
        const int32_t *index = element(t, elements[k]);
        bool all = true;
        for (int m = 0; m < count && all; m++)
            all = others[m] == s->particle || has(index, element_size(t), others[m]);
        sides |= !all ? 0 : has(index, element_size(t), s->twin) ? 2 : 1;
    }
    return sides;
}

static rs_status share_struts(tear *t) {
    rs_deformable *d = t->d;
    int64_t count = d->struts.count, kept = 0;
    for (int64_t k = 0; k < count; k++) {
        for (int end = 0; end < 2; end++) {
            rs_soft_strut *s = &d->struts.items[k];
            int32_t *own = end == 0 ? &s->a : &s->b, other = end == 0 ? s->b : s->a;
            const split *at = *own == RS_NONE ? NULL : split_of(t, *own);
            if (at == NULL)
                continue;
            int sides = sides_with(t, at, &other, 1);
            const rs_quad *x = d->x.items;
            if (sides == 0)
                sides = rs_dot(at->normal, rs_sub(x[other].xyz, x[at->particle].xyz)) > 0.0 ? 2 : 1;
            if (sides == 2)
                *own = at->twin;
            if (sides != 3)
                continue;
            s->compliance *= 2.0; /* two side by side do what one did */
            s->impulse *= 0.5;
            rs_soft_strut copy = *s;
            *(end == 0 ? &copy.a : &copy.b) = at->twin;
            rs_soft_strut *to = rs_array_push(&d->struts);
            if (to == NULL)
                return RS_OUT_OF_MEMORY;
            *to = copy;
        }
    }
    rs_soft_strut *struts = d->struts.items;
    for (int64_t k = 0; k < d->struts.count; k++)
        if (struts[k].a != RS_NONE)
            struts[kept++] = struts[k];
    d->struts.count = kept;
    return RS_OK;
}

/* Whether what is bent still hangs together: then its particles are those of its side. */
static bool keep_hinge(const tear *t, rs_soft_hinge *hinge) {
    int32_t before[RS_HINGE_POINTS];
    memcpy(before, hinge->index, sizeof before);
    for (int m = 0; m < RS_HINGE_POINTS; m++) {
        const split *at = split_of(t, before[m]);
        if (at == NULL)
            continue;
        int32_t count;
        const int32_t *elements = around(t, at->particle, &count);
        int sides = 0;
        for (int32_t k = 0; k < count; k++) {
            const int32_t *index = element(t, elements[k]);
            bool inside = true;
            for (int c = 0; c < element_size(t); c++)
                inside = inside && (index[c] == at->twin || has(before, RS_HINGE_POINTS, index[c]));
            sides |= !inside ? 0 : has(index, element_size(t), at->twin) ? 2 : 1;
        }
        if (sides != 1 && sides != 2)
            return false;
        hinge->index[m] = sides == 2 ? at->twin : before[m];
    }
    return true;
}

static void share_hinges(tear *t) {
    rs_soft_hinge *hinges = t->d->hinges.items;
    int64_t kept = 0;
    for (int64_t k = 0; k < t->d->hinges.count; k++)
        if (keep_hinge(t, &hinges[k]))
            hinges[kept++] = hinges[k];
    t->d->hinges.count = kept;
}

/* The faces of a positive tetrahedron, each opposite to a corner, seen from outside. */
static const int FACES[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};

/* A face of `own` that `other`, on the other side of the tear, had in common with it is now seen. */
static rs_status open_face(tear *t, const split *s, const int32_t *own, const int32_t *other) {
    rs_deformable *d = t->d;
    for (int corner = 0; corner < 4; corner++) {
        int32_t face[3];
        bool common = true, torn = false;
        for (int k = 0; k < 3; k++) {
            face[k] = own[FACES[corner][k]];
            bool here = face[k] == s->particle || face[k] == s->twin;
            torn = torn || here;
            common = common && (here || has(other, 4, face[k]));
        }
        if (!common || !torn)
            continue;
        if (rs_array_reserve(&d->triangles, d->triangles.count + 3) != RS_OK)
            return RS_OUT_OF_MEMORY;
        for (int k = 0; k < 3; k++) {
            d->triangles.items[d->triangles.count++] = face[k];
            d->x.items[face[k]].rest = d->settings.collision_radius;
        }
    }
    return RS_OK;
}

/* The surface of a body of tetrahedra. */
static rs_status share_surface(tear *t) {
    int32_t *triangles = t->d->triangles.items;
    for (int64_t k = 0; k < t->d->triangles.count; k++) {
        const split *at = split_of(t, triangles[k]);
        if (at != NULL && sides_with(t, at, &triangles[k - k % 3], 3) == 2)
            triangles[k] = at->twin;
    }
    for (int64_t n = 0; n < t->splits.count; n++) {
        const split *s = &t->splits.items[n];
        int32_t count;
        const int32_t *elements = around(t, s->particle, &count);
        for (int32_t a = 0; a < count; a++)
            for (int32_t b = 0; b < count; b++)
                if (has(element(t, elements[a]), 4, s->twin) != has(element(t, elements[b]), 4, s->twin) &&
                    open_face(t, s, element(t, elements[a]), element(t, elements[b])) != RS_OK)
                    return RS_OUT_OF_MEMORY;
    }
    return RS_OK;
}

static rs_status tear_apart(tear *t) {
    if (list_elements(t) != RS_OK)
        return RS_OUT_OF_MEMORY;
    qsort(t->overloads.items, (size_t)t->overloads.count, sizeof(overload), by_stretch);
    if (split_all(t) != RS_OK || share_struts(t) != RS_OK)
        return RS_OUT_OF_MEMORY;
    share_hinges(t);
    if (t->solid && share_surface(t) != RS_OK)
        return RS_OUT_OF_MEMORY;
    rs_soft_candidate *candidates = t->d->candidates.items;
    for (int64_t k = 0; k < t->d->candidates.count; k++) /* triangles count after the particles */
        if (candidates[k].feature >= t->particles)
            candidates[k].feature += (int32_t)t->splits.count;
    t->d->owned.count = t->d->parts.count = 0;
    return RS_OK;
}

rs_status rs_deformable_tear(rs_deformable *d) {
    if (!(d->settings.tear_strain > 0.0))
        return RS_OK;
    tear t = {.d = d, .particles = d->x.count, .solid = d->tetrahedra.count > 0};
    rs_status status = find_overloads(&t);
    if (status == RS_OK && t.overloads.count > 0)
        status = tear_apart(&t);
    rs_any_array *all[] = {&t.overloads.any, &t.splits.any, &t.starts.any, &t.items.any, &t.corners.any, &t.done.any};
    rs_any_free_all(all, sizeof all / sizeof *all);
    return status;
}
