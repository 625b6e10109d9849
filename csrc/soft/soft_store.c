#include "soft_store.h"

#include "../base/limits.h"

#define REAL(type, field) RS_FIELD(type, RS_KIND_REAL, field)
#define BOUND(type, field) RS_FIELD(type, RS_KIND_BOUND, field)
#define WHOLE(type, field) RS_FIELD(type, RS_KIND_WHOLE, field)
#define FLAG(type, field) RS_FIELD(type, RS_KIND_FLAG, field)
#define LEFT(type, field) RS_FIELD(type, RS_KIND_LEFT_OUT, field)

/* ---- what is stored ---- */

#define T rs_soft
static const rs_field SOFT_FIELDS[] = {LEFT(T, grains), LEFT(T, deformable), WHOLE(T, group), WHOLE(T, mask), WHOLE(T, contact_material),
                                       LEFT(T, impulses), LEFT(T, meetings), LEFT(T, meetings_before), BOUND(T, box), REAL(T, speed), FLAG(T, slower), REAL(T, margin),
                                       WHOLE(T, calm_steps)};
#undef T
static const rs_field IMPULSE_FIELDS[] = {WHOLE(rs_soft_impulse, body), WHOLE(rs_soft_impulse, link), REAL(rs_soft_impulse, impulse)};
#define T rs_soft_meeting
static const rs_field MEETING_FIELDS[] = {WHOLE(T, other), LEFT(T, member), WHOLE(T, kind), WHOLE(T, first), WHOLE(T, second),
                                          REAL(T, normal), REAL(T, keep), REAL(T, push), REAL(T, slide), LEFT(T, clear)};
#undef T
#define T rs_grain_material
static const rs_field MATERIAL_FIELDS[] = {
    REAL(T, density), REAL(T, normal_stiffness), REAL(T, normal_damping), REAL(T, tangential_stiffness), REAL(T, tangential_damping),
    REAL(T, friction), REAL(T, rolling_friction), REAL(T, cohesion_stiffness), REAL(T, cohesion_distance), WHOLE(T, hertz)};
#undef T
#define T rs_grain_law
static const rs_field LAW_FIELDS[] = {REAL(T, k_n), REAL(T, c_n), REAL(T, k_t), REAL(T, c_t), REAL(T, friction), REAL(T, rolling),
                                      REAL(T, cohesion), REAL(T, reach), FLAG(T, hertz)};
#undef T
#define T rs_grain_touch
static const rs_field TOUCH_FIELDS[] = {WHOLE(T, grain), WHOLE(T, surface), WHOLE(T, slot), REAL(T, bond)};
#undef T
#define T rs_grains
static const rs_field GRAINS_FIELDS[] = {
    WHOLE(T, least_substeps), LEFT(T, materials), LEFT(T, laws), REAL(T, boundary.density), REAL(T, boundary.normal_stiffness),
    REAL(T, boundary.normal_damping), REAL(T, boundary.tangential_stiffness), REAL(T, boundary.tangential_damping),
    REAL(T, boundary.friction), REAL(T, boundary.rolling_friction), REAL(T, boundary.cohesion_stiffness),
    REAL(T, boundary.cohesion_distance), WHOLE(T, boundary.hertz), FLAG(T, has_ground), FLAG(T, has_container), REAL(T, ground),
    BOUND(T, container), FLAG(T, domain.periodic), REAL(T, domain.min), REAL(T, domain.max), LEFT(T, x), LEFT(T, v), LEFT(T, w),
    LEFT(T, kinds), LEFT(T, first), LEFT(T, second), LEFT(T, image), LEFT(T, bonds), LEFT(T, touches), LEFT(T, origin),
    FLAG(T, listed), REAL(T, travel), REAL(T, grid.origin), REAL(T, grid.inverse_size), WHOLE(T, grid.cells), FLAG(T, grid.periodic),
    LEFT(T, grid.starts), LEFT(T, grid.items), LEFT(T, grid.cell_of), REAL(T, skin), REAL(T, overlap), REAL(T, body_rate2),
    WHOLE(T, stats.substeps), WHOLE(T, stats.contacts), WHOLE(T, stats.pairs), WHOLE(T, stats.rebuilds),
    REAL(T, stats.largest_overlap), REAL(T, stats.largest_speed), LEFT(T, x_before), LEFT(T, force), LEFT(T, torque),
    LEFT(T, touches_other), LEFT(T, second_other), LEFT(T, image_other), LEFT(T, bonds_other), LEFT(T, first_other),
    LEFT(T, candidates), LEFT(T, parts), LEFT(T, crossings), LEFT(T, crossing_second), LEFT(T, crossing_of),
    LEFT(T, back), LEFT(T, pushes), LEFT(T, tallies), LEFT(T, cell_shapes), LEFT(T, cell_next)};
#undef T
#define T rs_soft_strut
static const rs_field STRUT_FIELDS[] = {WHOLE(T, a), WHOLE(T, b), REAL(T, rest), REAL(T, compliance), REAL(T, impulse)};
#undef T
#define T rs_soft_hinge
static const rs_field HINGE_FIELDS[] = {WHOLE(T, index), REAL(T, weight), REAL(T, rest), REAL(T, compliance), REAL(T, impulse)};
#undef T
#define T rs_soft_tetrahedron
static const rs_field TETRAHEDRON_FIELDS[] = {WHOLE(T, index), REAL(T, inverse_rest), REAL(T, size), REAL(T, volume), REAL(T, shear),
                                              REAL(T, impulse)};
#undef T
#define T rs_soft_candidate
static const rs_field CANDIDATE_FIELDS[] = {WHOLE(T, feature), WHOLE(T, shape), WHOLE(T, collider), REAL(T, push), REAL(T, slide)};
#undef T
#define T rs_soft_tie
static const rs_field TIE_FIELDS[] = {WHOLE(T, particle), WHOLE(T, body), WHOLE(T, link), LEFT(T, partner), REAL(T, local),
                                      REAL(T, impulse), REAL(T, place), REAL(T, wanted)};
#undef T
#define T rs_deformable
static const rs_field DEFORMABLE_FIELDS[] = {
    REAL(T, settings.damping), REAL(T, settings.air_drag), REAL(T, settings.wind), REAL(T, settings.collision_radius), REAL(T, settings.tear_strain),
    WHOLE(T, settings.iterations), WHOLE(T, settings.substeps), WHOLE(T, settings.self_collision), LEFT(T, x), LEFT(T, v), LEFT(T, masses), LEFT(T, struts),
    LEFT(T, hinges), LEFT(T, tetrahedra), LEFT(T, triangles), REAL(T, substep), REAL(T, own_substep), LEFT(T, parts), LEFT(T, x_before), LEFT(T, x_start),
    LEFT(T, candidates), LEFT(T, candidates_before), LEFT(T, rows), LEFT(T, touching), LEFT(T, owned), LEFT(T, around), LEFT(T, sweeps), LEFT(T, settled), LEFT(T, lift_speed), LEFT(T, bends_softly), LEFT(T, kinetic), LEFT(T, half_kick), LEFT(T, momentum), LEFT(T, elastic), LEFT(T, x_swept), LEFT(T, piece), LEFT(T, pieces), LEFT(T, slim), LEFT(T, ties), LEFT(T, tied)};
#undef T
static const rs_record SOFT = RS_RECORD(rs_soft, SOFT_FIELDS), IMPULSE = RS_RECORD(rs_soft_impulse, IMPULSE_FIELDS),
                       MEETING = RS_RECORD(rs_soft_meeting, MEETING_FIELDS),
                       MATERIAL = RS_RECORD(rs_grain_material, MATERIAL_FIELDS), LAW = RS_RECORD(rs_grain_law, LAW_FIELDS),
                       TOUCH = RS_RECORD(rs_grain_touch, TOUCH_FIELDS), GRAINS = RS_RECORD(rs_grains, GRAINS_FIELDS),
                       STRUT = RS_RECORD(rs_soft_strut, STRUT_FIELDS), HINGE = RS_RECORD(rs_soft_hinge, HINGE_FIELDS),
                       TETRAHEDRON = RS_RECORD(rs_soft_tetrahedron, TETRAHEDRON_FIELDS),
                       CANDIDATE = RS_RECORD(rs_soft_candidate, CANDIDATE_FIELDS),
                       TIE = RS_RECORD(rs_soft_tie, TIE_FIELDS),
                       DEFORMABLE = RS_RECORD(rs_deformable, DEFORMABLE_FIELDS);

/* ---- whether what was read makes sense ---- */

/* All integers are at least `low` and less than `high`. */
static bool are_between(const RS_ARRAY(int32_t) *values, int64_t low, int64_t high) {
    const int32_t *v = values->items;
    for (int64_t k = 0; k < values->count; k++)
        if (v[k] < low || v[k] >= high)
            return false;
    return true;
}

/* Begins of lists in an array of `total` items: they ascend, the last one is its end. */
static bool are_begins(const RS_ARRAY(int32_t) *begins, int64_t total) {
    const int32_t *v = begins->items;
    for (int64_t k = 0; k < begins->count; k++)
        if (v[k] < (k > 0 ? v[k - 1] : 0) || v[k] > total)
            return false;
    return begins->count == 0 || (v[0] == 0 && v[begins->count - 1] == total);
}

static bool is_grid(const rs_cell_grid *grid) {
    int64_t cells = 1;
    for (int axis = 0; axis < 3; axis++) {
        if (grid->cells[axis] < 0 || grid->cells[axis] > INT32_MAX / 4)
            return false;
        cells = cells > INT32_MAX ? cells : cells * grid->cells[axis];
    }
    if (cells == 0 || grid->starts.count == 0)
        return grid->items.count == 0 && grid->cell_of.count == 0;
    return grid->starts.count == cells + 1 && are_begins(&grid->starts, grid->items.count) &&
           are_between(&grid->items, 0, grid->cell_of.count) && are_between(&grid->cell_of, 0, cells);
}

static bool are_pairs(const rs_grains *g) {
    if (g->image.count != g->second.count || g->bonds.count != g->second.count || !are_begins(&g->first, g->second.count) ||
        (g->first.count == 0 && g->second.count > 0))
        return false;
    for (int64_t k = 0; k < g->image.count; k++)
        if (g->image.items[k] >= 27)
            return false;
    int64_t n = g->x.count;
    return are_between(&g->second, 0, g->listed ? n : INT32_MAX) && are_between(&g->origin, -1, INT32_MAX) &&
           (!g->listed || (g->first.count == n + 1 && g->grid.cell_of.count == n && (n == 0 || g->grid.starts.count > 0)));
}

static bool are_grains(const rs_grains *g) {
    int64_t n = g->x.count;
    if (g->v.count != n || g->w.count != n || g->kinds.count != n || g->materials.count < 1 ||
        g->laws.count != g->materials.count * g->materials.count || g->least_substeps < 1 || g->least_substeps > 100000)
        return false;
    if (!are_between(&g->kinds, 0, g->materials.count) || !is_grid(&g->grid) || !are_pairs(g) ||
        rs_grain_material_check(&g->boundary) != RS_OK)
        return false;
    for (int64_t k = 0; k < g->materials.count; k++)
        if (rs_grain_material_check(&g->materials.items[k]) != RS_OK)
            return false;
    for (int64_t k = 0; k < n; k++) {
        const rs_grain_material *material = &g->materials.items[g->kinds.items[k]];
        double inverse_mass = g->v.items[k].rest, inverse_moment = g->w.items[k].rest;
        if (rs_grain_check(k, g->x.items[k].rest, material->density) != RS_OK ||
            !(inverse_mass >= 0.0 && inverse_mass <= 1.0 / RS_LEAST_MASS) ||
            !(inverse_moment >= 0.0 && inverse_moment <= 1.0 / RS_LEAST_MOMENT))
            return false;
    }
    for (int64_t k = 0; k < g->touches.count; k++)
        if (g->touches.items[k].grain < 0 || g->touches.items[k].grain >= n)
            return false;
    for (int axis = 0; axis < 3; axis++)
        if (g->domain.periodic[axis] && !(rs_v3_get(g->domain.min, axis) < rs_v3_get(g->domain.max, axis)))
            return false;
    return rs_v3_is_carried(g->domain.min) && rs_v3_is_carried(g->domain.max) && g->skin >= 0.0 && g->skin <= RS_GREATEST;
}

static bool is_deformable(const rs_deformable *d) {
    int64_t n = d->x.count;
    const rs_deformable_settings *s = &d->settings;
    if (n < 1 || d->v.count != n || d->masses.count != n || d->triangles.count % 3 != 0 || !are_between(&d->triangles, 0, n) ||
        s->iterations < 1 || s->iterations > 10000 || s->substeps < 1 || s->substeps > 100000 ||
        !(s->collision_radius > 0.0 && s->collision_radius <= RS_GREATEST))
        return false;
    for (int64_t k = 0; k < d->struts.count; k++) {
        const rs_soft_strut *strut = &d->struts.items[k];
        if (strut->a < 0 || strut->a >= n || strut->b < 0 || strut->b >= n)
            return false;
    }
    for (int64_t k = 0; k < d->hinges.count; k++)
        for (int i = 0; i < RS_HINGE_POINTS; i++)
            if (d->hinges.items[k].index[i] < 0 || d->hinges.items[k].index[i] >= n)
                return false;
    for (int64_t k = 0; k < d->tetrahedra.count; k++)
        for (int i = 0; i < 4; i++)
            if (d->tetrahedra.items[k].index[i] < 0 || d->tetrahedra.items[k].index[i] >= n)
                return false;
    for (int64_t k = 0; k < d->candidates.count; k++) {
        const rs_soft_candidate *candidate = &d->candidates.items[k];
        if (candidate->feature < 0 || candidate->feature >= n + d->triangles.count / 3 || candidate->shape < 0)
            return false;
    }
    const rs_soft_tie *ties = d->ties.items;
    for (int64_t k = 0; k < d->ties.count; k++)
        if (ties[k].particle < (k > 0 ? ties[k - 1].particle + 1 : 0) || ties[k].particle >= n)
            return false;
    return true;
}

static bool are_meetings(const RS_ARRAY(rs_soft_meeting) *meetings) {
    for (int64_t k = 0; k < meetings->count; k++) {
        const rs_soft_meeting *m = &meetings->items[k];
        if (!(m->keep >= 0.0 && rs_norm2(m->normal) < 1.5))
            return false;
    }
    return true;
}

/* ---- both directions ---- */

static void stream_grains(rs_stream *stream, rs_grains *g) {
    rs_stream_items(stream, &GRAINS, g, 1);
    rs_stream_array(stream, &MATERIAL, &g->materials.any);
    rs_stream_array(stream, &LAW, &g->laws.any);
    rs_stream_real_array(stream, &g->x);
    rs_stream_real_array(stream, &g->v);
    rs_stream_real_array(stream, &g->w);
    rs_stream_real_array(stream, &g->bonds);
    rs_stream_whole_array(stream, &g->kinds);
    rs_stream_whole_array(stream, &g->first);
    rs_stream_whole_array(stream, &g->second);
    rs_stream_whole_array(stream, &g->image);
    rs_stream_whole_array(stream, &g->origin);
    rs_stream_whole_array(stream, &g->grid.starts);
    rs_stream_whole_array(stream, &g->grid.items);
    rs_stream_whole_array(stream, &g->grid.cell_of);
    rs_stream_array(stream, &TOUCH, &g->touches.any);
    if (rs_stream_reads(stream) && stream->status == RS_OK && !are_grains(g))
        rs_stream_refuse(stream, "the lists of grains contradict each other");
}

static void stream_deformable(rs_stream *stream, rs_deformable *d) {
    rs_stream_items(stream, &DEFORMABLE, d, 1);
    rs_stream_real_array(stream, &d->x);
    rs_stream_real_array(stream, &d->v);
    rs_stream_real_array(stream, &d->masses);
    rs_stream_array(stream, &STRUT, &d->struts.any);
    rs_stream_array(stream, &HINGE, &d->hinges.any);
    rs_stream_array(stream, &TETRAHEDRON, &d->tetrahedra.any);
    rs_stream_whole_array(stream, &d->triangles);
    rs_stream_array(stream, &CANDIDATE, &d->candidates.any);
    rs_stream_array(stream, &TIE, &d->ties.any);
    if (rs_stream_reads(stream) && stream->status == RS_OK && !is_deformable(d))
        rs_stream_refuse(stream, "the particles of a deformable object contradict each other");
}

/* An object to be read into; NULL without memory. */
static rs_soft *make(bool of_grains) {
    rs_soft *soft = rs_soft_new();
    if (soft == NULL)
        return NULL;
    soft->grains = of_grains ? rs_grains_new() : NULL;
    soft->deformable = of_grains ? NULL : rs_deformable_new();
    if (soft->grains != NULL || soft->deformable != NULL)
        return soft;
    rs_soft_free(soft);
    return NULL;
}

void rs_soft_stream(rs_stream *stream, rs_soft **soft) {
    bool reads = rs_stream_reads(stream), of_grains = !reads && (*soft)->grains != NULL;
    rs_stream_flag(stream, &of_grains);
    if (reads) {
        *soft = stream->status == RS_OK ? make(of_grains) : NULL;
        if (*soft == NULL) {
            stream->status = stream->status == RS_OK ? RS_OUT_OF_MEMORY : stream->status;
            return;
        }
    }
    rs_stream_items(stream, &SOFT, *soft, 1);
    rs_stream_array(stream, &IMPULSE, &(*soft)->impulses.any);
    rs_stream_array(stream, &MEETING, &(*soft)->meetings.any);
    if (reads && stream->status == RS_OK && !are_meetings(&(*soft)->meetings))
        rs_stream_refuse(stream, "what a soft object remembers of others makes no sense");
    if (of_grains)
        stream_grains(stream, (*soft)->grains);
    else
        stream_deformable(stream, (*soft)->deformable);
    if (reads && stream->status != RS_OK) {
        rs_soft_free(*soft);
        *soft = NULL;
    }
}

uint64_t rs_soft_format(uint64_t hash) {
    const rs_record *const all[] = {&SOFT, &IMPULSE, &MEETING, &MATERIAL, &LAW, &TOUCH, &GRAINS, &STRUT, &HINGE, &TETRAHEDRON, &CANDIDATE, &TIE, &DEFORMABLE};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        hash = rs_hash_record(hash, all[k]);
    return hash;
}
