#include "deformable.h"

#include "../base/limits.h"

/* Longest substep relative to the period of the stiffest particle, divided by 2 pi. */
static const double SUBSTEP_SHARE = 1.0;
static const double MOST_SUBSTEPS = 400.0;
/* Constraints much stiffer than a substep can follow begin from nothing: what they did before would be too much. */
static const double STARTED_SHARE = 0.2;
/* Edges without compliance are as stiff as a substep can follow: what they have to give is known, and counts as energy. It
 * does not change where another object asks for shorter substeps. */
static const double RIGID_SHARE = 0.25;
/* Curvatures whose compliance, in a substep, is this many times the mobility of their particles are found in one sweep. */
static const double SOFT_SHARE = 10.0;
/* Sweeps end when they change less than this share of what the constraints do: about what six of them leave. */
static const double SETTLED_SHARE = 1e-3;
enum { ARRAYS = 22, STATE_ARRAYS = 10 };

static void list_arrays(rs_deformable *d, rs_any_array *out[ARRAYS]) {
    rs_any_array *all[ARRAYS] = {&d->x.any, &d->v.any, &d->masses.any, &d->struts.any, &d->hinges.any,
                                 &d->tetrahedra.any, &d->triangles.any, &d->candidates.any, &d->ties.any, &d->parts.any, &d->tied.any,
                                 &d->candidates_before.any, &d->rows.any, &d->touching.any, &d->x_before.any,
                                 &d->x_start.any, &d->owned.any, &d->around.any, &d->slim.any, &d->x_swept.any,
                                 &d->piece.any, &d->pieces.any};
    memcpy(out, all, sizeof all);
}

rs_deformable *rs_deformable_new(void) { return rs_alloc(sizeof(rs_deformable)); }

void rs_deformable_free(rs_deformable *d) {
    if (d == NULL)
        return;
    rs_any_array *arrays[ARRAYS];
    list_arrays(d, arrays);
    rs_any_free_all(arrays, ARRAYS);
    rs_free(d);
}

rs_deformable *rs_deformable_clone(const rs_deformable *source) {
    rs_deformable *copy = rs_deformable_new();
    if (copy == NULL)
        return NULL;
    rs_deformable from = *source;
    rs_any_array *of_copy[ARRAYS], *of_source[ARRAYS];
    list_arrays(copy, of_copy);
    list_arrays(&from, of_source);
    copy->settings = source->settings;
    copy->substep = source->substep;
    copy->own_substep = source->own_substep;
    if (rs_any_copy_all(of_copy, of_source, STATE_ARRAYS) == RS_OK)
        return copy;
    rs_deformable_free(copy);
    return NULL;
}

static rs_vec3 bent(const rs_soft_hinge *hinge, const rs_quad *x) {
    rs_vec3 sum = rs_v3_zero();
    for (int k = 0; k < RS_HINGE_POINTS; k++)
        sum = rs_madd(sum, hinge->weight[k], x[hinge->index[k]].xyz);
    return sum;
}

rs_status rs_deformable_hinge(rs_deformable *d, const int32_t index[RS_HINGE_POINTS], const double weight[RS_HINGE_POINTS],
                              double compliance) {
    rs_soft_hinge *hinge = rs_array_push(&d->hinges);
    if (hinge == NULL)
        return RS_OUT_OF_MEMORY;
    hinge->compliance = compliance;
    d->parts.count = 0;
    memcpy(hinge->index, index, sizeof hinge->index);
    memcpy(hinge->weight, weight, sizeof hinge->weight);
    hinge->rest = rs_norm(bent(hinge, d->x.items));
    return RS_OK;
}

rs_aabb rs_deformable_bounds(const rs_deformable *d, double *speed) {
    const rs_quad *x = d->x.items, *v = d->v.items;
    rs_aabb box = {rs_v3(INFINITY, INFINITY, INFINITY), rs_v3(-INFINITY, -INFINITY, -INFINITY)};
    double speed2 = 0.0;
    for (int64_t i = 0; i < d->x.count; i++) {
        rs_aabb own = rs_aabb_around(x[i].xyz, x[i].rest);
        box.min = rs_v3_min(box.min, own.min);
        box.max = rs_v3_max(box.max, own.max);
        speed2 = rs_max(rs_norm2(v[i].xyz), speed2);
    }
    *speed = sqrt(speed2);
    return box;
}

/* How a strut gives way [m/N]. */
static double strut_compliance(const rs_deformable *d, const rs_soft_strut *s, double weight) {
    return s->compliance > 0.0 ? s->compliance : d->own_substep * d->own_substep * RIGID_SHARE * weight;
}

static double strut_energy(const rs_deformable *d, const rs_soft_strut *s, const rs_quad *x) {
    const rs_quad *v = d->v.items;
    double stretch = rs_norm(rs_sub(x[s->a].xyz, x[s->b].xyz)) - s->rest, weight = v[s->a].rest + v[s->b].rest;
    double compliance = strut_compliance(d, s, weight);
    return compliance > 0.0 ? 0.5 * stretch * stretch / compliance : 0.0;
}

static double elastic_energy(const rs_deformable *d, const rs_quad *x) {
    double sum = 0.0;
    for (int64_t k = 0; k < d->struts.count; k++)
        sum += strut_energy(d, &d->struts.items[k], x);
    for (int64_t k = 0; k < d->hinges.count; k++) {
        const rs_soft_hinge *hinge = &d->hinges.items[k];
        double stretch = rs_norm(bent(hinge, x)) - hinge->rest;
        sum += hinge->compliance > 0.0 ? 0.5 * stretch * stretch / hinge->compliance : 0.0;
    }
    for (int64_t k = 0; k < d->tetrahedra.count; k++)
        sum += rs_tetrahedron_energy(&d->tetrahedra.items[k], x);
    return sum;
}

static double kinetic_energy(const rs_deformable *d) {
    double sum = 0.0;
    for (int64_t i = 0; i < d->x.count; i++)
        sum += 0.5 * d->masses.items[i] * rs_norm2(d->v.items[i].xyz);
    return sum;
}

rs_soft_sums rs_deformable_sum(const rs_deformable *d, rs_vec3 gravity) {
    const rs_quad *x = d->x.items, *v = d->v.items;
    rs_soft_sums sums = {.kinetic = kinetic_energy(d)};
    for (int64_t i = 0; i < d->x.count; i++) {
        double mass = d->masses.items[i];
        sums.mass += mass;
        sums.potential -= mass * rs_dot(gravity, x[i].xyz);
        sums.linear = rs_madd(sums.linear, mass, v[i].xyz);
        sums.angular = rs_madd(sums.angular, mass, rs_cross(x[i].xyz, v[i].xyz));
        sums.centre = rs_madd(sums.centre, mass, x[i].xyz);
    }
    sums.centre = sums.mass > 0.0 ? rs_scale(1.0 / sums.mass, sums.centre) : rs_v3_zero();
    sums.elastic = elastic_energy(d, x);
    return sums;
}

double rs_deformable_stored_energy(const rs_deformable *d, rs_vec3 gravity) {
    const rs_quad *x = d->x.items, *start = d->x_start.items;
    double sum = elastic_energy(d, x);
    for (int64_t i = 0; i < d->x.count; i++)
        sum -= d->masses.items[i] * rs_dot(gravity, rs_sub(x[i].xyz, start[i].xyz));
    return sum;
}

double rs_deformable_gain_of_motion(const rs_deformable *d) { return kinetic_energy(d) - d->kinetic; }

static rs_vec3 momentum_of(const rs_deformable *d) {
    rs_vec3 sum = rs_v3_zero();
    for (int64_t i = 0; i < d->x.count; i++)
        if (d->piece.items[i] != RS_NONE)
            sum = rs_madd(sum, d->masses.items[i], d->v.items[i].xyz);
    return sum;
}

double rs_deformable_held(const rs_deformable *d) {
    return rs_dot(d->half_kick, rs_sub(d->momentum, momentum_of(d)));
}

double rs_deformable_gain_of_springs(rs_deformable *d) {
    double before = isnan(d->elastic) ? elastic_energy(d, d->x_start.items) : d->elastic;
    d->elastic = elastic_energy(d, d->x.items);
    return d->elastic - before;
}

/* ---- constraints ---- */

/* How much of what the constraints of a kind do changed in a sweep: sums of squares. */
typedef struct {
    double change, whole;
} progress;

static void note(progress *so_far, double change, double impulse) {
    so_far->change += change * change;
    so_far->whole += impulse * impulse;
}

static bool has_settled(progress so_far) { return so_far.change <= SETTLED_SHARE * SETTLED_SHARE * so_far.whole; }

static void push_strut(const rs_soft_strut *s, rs_vec3 push, rs_quad *x, const rs_quad *v) {
    x[s->a].xyz = rs_madd(x[s->a].xyz, v[s->a].rest, push);
    x[s->b].xyz = rs_madd(x[s->b].xyz, -v[s->b].rest, push);
}

static void begin_strut(const rs_deformable *d, rs_soft_strut *s, rs_quad *x, double inverse_h2) {
    const rs_quad *v = d->v.items;
    rs_vec3 along = rs_sub(x[s->a].xyz, x[s->b].xyz);
    double length = rs_norm(along), weight = v[s->a].rest + v[s->b].rest;
    if (strut_compliance(d, s, weight) * inverse_h2 < STARTED_SHARE * weight)
        s->impulse = 0.0;
    if (length > 0.0)
        push_strut(s, rs_scale(s->impulse / length, along), x, v);
}

static void solve_strut(const rs_deformable *d, rs_soft_strut *s, rs_quad *x, double inverse_h2, progress *so_far) {
    const rs_quad *v = d->v.items;
    rs_vec3 along = rs_sub(x[s->a].xyz, x[s->b].xyz);
    double length = rs_norm(along), weight = v[s->a].rest + v[s->b].rest;
    if (weight <= 0.0 || length <= 0.0)
        return;
    double alpha = strut_compliance(d, s, weight) * inverse_h2;
    double change = -(length - s->rest + alpha * s->impulse) / (weight + alpha);
    s->impulse += change;
    note(so_far, change, s->impulse);
    push_strut(s, rs_scale(change / length, along), x, v);
}

static double hinge_weight(const rs_soft_hinge *hinge, const rs_quad *v) {
    double weight = 0.0;
    for (int k = 0; k < RS_HINGE_POINTS; k++)
        weight += v[hinge->index[k]].rest * hinge->weight[k] * hinge->weight[k];
    return weight;
}

static void push_hinge(const rs_soft_hinge *hinge, rs_vec3 push, rs_quad *x, const rs_quad *v) {
    for (int k = 0; k < RS_HINGE_POINTS; k++)
        x[hinge->index[k]].xyz = rs_madd(x[hinge->index[k]].xyz, hinge->weight[k] * v[hinge->index[k]].rest, push);
}

/* Tells whether it is soft. */
static bool begin_hinge(rs_soft_hinge *hinge, rs_quad *x, const rs_quad *v, double inverse_h2) {
    rs_vec3 d = bent(hinge, x);
    double length = rs_norm(d), weight = hinge_weight(hinge, v), alpha = hinge->compliance * inverse_h2;
    if (alpha < STARTED_SHARE * weight)
        hinge->impulse = 0.0;
    if (length > 1e-300)
        push_hinge(hinge, rs_scale(hinge->impulse / length, d), x, v);
    return alpha >= SOFT_SHARE * weight;
}

static void solve_hinge(rs_soft_hinge *hinge, rs_quad *x, const rs_quad *v, double inverse_h2, progress *so_far) {
    rs_vec3 d = bent(hinge, x);
    double length = rs_norm(d), weight = hinge_weight(hinge, v);
    if (weight <= 0.0 || length <= 1e-300)
        return;
    double alpha = hinge->compliance * inverse_h2;
    double change = -(length - hinge->rest + alpha * hinge->impulse) / (weight + alpha);
    hinge->impulse += change;
    note(so_far, change, hinge->impulse);
    push_hinge(hinge, rs_scale(change / length, d), x, v);
}

/* A sweep over the constraints, or what comes before the first, in parts that threads share. */
typedef struct {
    rs_deformable *d;
    double h;
    bool bends;               /* hinges, too */
    bool soft[RS_MOST_PARTS]; /* per part: all its hinges are */
    progress edges[RS_MOST_PARTS], bent[RS_MOST_PARTS], solids[RS_MOST_PARTS];
} sweep_job;

/* What the substep before found is put in place. */
static void begin_part(void *context, const rs_soft_part *part) {
    sweep_job *job = context;
    rs_deformable *d = job->d;
    rs_quad *x = d->x.items;
    const rs_quad *v = d->v.items, *start = d->x_start.items;
    double h2 = job->h * job->h, inverse_h2 = 1.0 / h2;
    bool soft = true;
    for (int32_t k = part->strut; k < part->strut_end; k++)
        begin_strut(d, &d->struts.items[k], x, inverse_h2);
    for (int32_t k = part->hinge; k < part->hinge_end; k++)
        soft &= begin_hinge(&d->hinges.items[k], x, v, inverse_h2);
    for (int32_t k = part->tetrahedron; k < part->tetrahedron_end; k++)
        rs_tetrahedron_begin(&d->tetrahedra.items[k], start, x, v, h2, STARTED_SHARE);
    job->soft[part->number] = soft;
}

static void sweep_part(void *context, const rs_soft_part *part) {
    sweep_job *job = context;
    rs_deformable *d = job->d;
    rs_quad *x = d->x.items;
    const rs_quad *v = d->v.items;
    double h2 = job->h * job->h, inverse_h2 = 1.0 / h2;
    progress edges = {0.0, 0.0}, bends = {0.0, 0.0}, solids = {0.0, 0.0};
    for (int32_t k = part->strut; k < part->strut_end; k++)
        solve_strut(d, &d->struts.items[k], x, inverse_h2, &edges);
    for (int32_t k = part->hinge; k < part->hinge_end && job->bends; k++)
        solve_hinge(&d->hinges.items[k], x, v, inverse_h2, &bends);
    for (int32_t k = part->tetrahedron; k < part->tetrahedron_end; k++) {
        rs_soft_tetrahedron *one = &d->tetrahedra.items[k];
        double before[2] = {one->impulse[0], one->impulse[1]};
        rs_tetrahedron_solve(one, x, v, h2);
        note(&solids, one->impulse[0] - before[0], one->impulse[0]);
        note(&solids, one->impulse[1] - before[1], one->impulse[1]);
    }
    job->edges[part->number] = edges;
    job->bent[part->number] = bends;
    job->solids[part->number] = solids;
}

static void begin_sweeps(rs_deformable *d, rs_thread_pool *pool, double h) {
    sweep_job job = {.d = d, .h = h};
    rs_deformable_before_sweep(d);
    rs_deformable_each_part(d, pool, begin_part, &job);
    rs_deformable_after_sweep(d);
    d->bends_softly = true;
    for (int32_t part = 0; part < 2 * rs_deformable_slabs(d); part++)
        d->bends_softly &= job.soft[part];
    d->sweeps = 0;
    d->settled = false;
}

static progress sum_of(const progress *parts, int32_t count) {
    progress sum = {0.0, 0.0};
    for (int32_t k = 0; k < count; k++) {
        sum.change += parts[k].change;
        sum.whole += parts[k].whole;
    }
    return sum;
}

static void sweep(rs_deformable *d, rs_thread_pool *pool, double h) {
    sweep_job job = {.d = d, .h = h, .bends = !(d->bends_softly && d->sweeps > 0)};
    int32_t parts = 2 * rs_deformable_slabs(d);
    rs_deformable_before_sweep(d);
    rs_deformable_each_part(d, pool, sweep_part, &job);
    rs_deformable_after_sweep(d);
    d->sweeps++;
    d->settled = has_settled(sum_of(job.edges, parts)) && (d->bends_softly || has_settled(sum_of(job.bent, parts))) &&
                 has_settled(sum_of(job.solids, parts));
}

static void forget_impulses(rs_deformable *d) {
    d->candidates.count = 0;
    for (int64_t k = 0; k < d->ties.count; k++)
        d->ties.items[k].impulse = rs_v3_zero();
    for (int64_t k = 0; k < d->struts.count; k++)
        d->struts.items[k].impulse = 0.0;
    for (int64_t k = 0; k < d->hinges.count; k++)
        d->hinges.items[k].impulse = 0.0;
}

/* ---- damping and air ---- */

/* Velocities decay, not what forces do in the substep: at rest, springs bear the whole weight. */
static void slow_down(rs_deformable *d, double h) {
    double kept = exp(-h * d->settings.damping);
    for (int64_t i = 0; i < d->v.count && kept < 1.0; i++)
        d->v.items[i].xyz = rs_scale(kept, d->v.items[i].xyz);
}

/* Pressure of the air on triangles: drag * area * (speed across)^2, never more than would bring them to the wind's speed. */
static void blow(rs_deformable *d, double h) {
    const rs_quad *x = d->x.items;
    rs_quad *v = d->v.items;
    const int32_t *t = d->triangles.items;
    rs_vec3 wind = rs_v3_load(d->settings.wind);
    for (int64_t k = 0; k < d->triangles.count && d->settings.air_drag > 0.0; k += 3) {
        rs_quad *a = &v[t[k]], *b = &v[t[k + 1]], *c = &v[t[k + 2]];
        rs_vec3 n = rs_cross(rs_sub(x[t[k + 1]].xyz, x[t[k]].xyz), rs_sub(x[t[k + 2]].xyz, x[t[k]].xyz));
        double twice = rs_norm(n);
        if (twice <= 0.0)
            continue;
        n = rs_scale(1.0 / twice, n);
        rs_vec3 mean = rs_scale(1.0 / 3.0, rs_add(a->xyz, rs_add(b->xyz, c->xyz)));
        double across = rs_dot(n, rs_sub(wind, mean)), impulse = h * d->settings.air_drag * 0.5 * twice * fabs(across) / 3.0;
        rs_quad *all[3] = {a, b, c};
        for (int m = 0; m < 3; m++)
            all[m]->xyz = rs_madd(all[m]->xyz, across * rs_min(impulse * all[m]->rest, all[m]->rest > 0.0 ? 0.3 : 0.0), n);
    }
}

/* ---- steps ---- */

rs_status rs_deformable_begin_substep(rs_deformable *d, const rs_soft_scene *scene, rs_partners *partners, double h) {
    int64_t count = d->x.count;
    rs_quad *x = d->x.items, *v = d->v.items;
    memcpy(d->x_start.items, x, sizeof *x * (size_t)count);
    slow_down(d, h);
    blow(d, h);
    for (int64_t i = 0; i < count; i++) {
        v[i].xyz = v[i].rest > 0.0 ? rs_madd(v[i].xyz, h, scene->gravity) : rs_v3_zero();
        x[i].xyz = rs_madd(x[i].xyz, h, v[i].xyz);
    }
    if (rs_deformable_list_rows(d, scene, partners, h) != RS_OK)
        return RS_OUT_OF_MEMORY;
    d->kinetic = kinetic_energy(d);
    d->half_kick = rs_scale(0.5 * h, scene->gravity);
    d->momentum = momentum_of(d);
    rs_deformable_begin_spin(d);
    begin_sweeps(d, scene->pool, h);
    rs_deformable_begin_rows(d, partners, h);
    rs_deformable_begin_ties(d, partners, h);
    return RS_OK;
}

void rs_deformable_iterate(rs_deformable *d, const rs_soft_scene *scene, rs_partners *partners, double h, bool alone) {
    if (alone && d->settled && d->rows.count == 0 && d->ties.count == 0)
        return;
    sweep(d, scene->pool, h);
    rs_deformable_solve_rows(d, partners, h);
    rs_deformable_solve_ties(d, partners, h);
}

void rs_deformable_end_substep(rs_deformable *d, double h, bool alone) {
    rs_deformable_keep_rows(d);
    for (int64_t k = 0; k < d->ties.count; k++)
        rs_deformable_note_impulse(d, d->ties.items[k].particle, 1.0, d->ties.items[k].impulse);
    rs_deformable_find_velocities(d, h);
    if (alone && d->rows.count == 0 && d->ties.count == 0)
        rs_deformable_end_spin(d, h);
}

/* Square of the rate at which the stiffest particle would swing, the others held [1/s^2]. */
static double fastest_rate2(const rs_deformable *d, double *sums) {
    const rs_quad *v = d->v.items;
    double most = 0.0;
    memset(sums, 0, sizeof *sums * (size_t)d->x.count);
    for (int64_t k = 0; k < d->struts.count; k++) {
        const rs_soft_strut *s = &d->struts.items[k];
        double stiffness = s->compliance > 0.0 ? 1.0 / s->compliance : 0.0;
        sums[s->a] += stiffness;
        sums[s->b] += stiffness;
    }
    for (int64_t k = 0; k < d->hinges.count; k++) {
        const rs_soft_hinge *hinge = &d->hinges.items[k];
        for (int m = 0; m < RS_HINGE_POINTS && hinge->compliance > 0.0; m++)
            sums[hinge->index[m]] += hinge->weight[m] * hinge->weight[m] / hinge->compliance;
    }
    for (int64_t k = 0; k < d->tetrahedra.count; k++)
        rs_tetrahedron_add_stiffness(&d->tetrahedra.items[k], sums);
    for (int64_t i = 0; i < d->x.count; i++)
        most = rs_max(most, sums[i] * v[i].rest);
    return most;
}

rs_status rs_deformable_begin_step(rs_deformable *d, const rs_soft_scene *scene, double *substeps) {
    int64_t count = d->x.count;
    if ((d->parts.count == 0 && rs_deformable_divide(d) != RS_OK) || rs_array_resize(&d->x_before, count) != RS_OK ||
        rs_array_resize(&d->x_start, count) != RS_OK)
        return RS_OUT_OF_MEMORY;
    double rate = sqrt(fastest_rate2(d, (double *)d->x_start.items));
    memcpy(d->x_before.items, d->x.items, sizeof(rs_quad) * (size_t)count);
    d->lift_speed = 0.0;
    d->elastic = NAN;
    *substeps = rs_max(rs_min(ceil(scene->dt * rate / SUBSTEP_SHARE), MOST_SUBSTEPS), (double)d->settings.substeps);
    d->own_substep = scene->dt / *substeps;
    return rs_deformable_find_pieces(d);
}

rs_status rs_deformable_plan(rs_deformable *d, const rs_soft_scene *scene, rs_partners *partners, double h) {
    double speed;
    rs_deformable_bounds(d, &speed);
    double fastest = speed + scene->dt * rs_norm(scene->gravity);
    for (int64_t s = 0; s < partners->shapes.count; s++)
        fastest = rs_max(fastest, partners->shapes.items[s].speed);
    if (h != d->substep)
        forget_impulses(d);
    d->substep = h;
    rs_status status = rs_deformable_find_ties(d, scene, partners);
    return status == RS_OK ? rs_deformable_list_candidates(d, partners, 2.0 * scene->dt * fastest) : status;
}

void rs_deformable_stop(rs_deformable *d) {
    memcpy(d->x.items, d->x_before.items, sizeof(rs_quad) * (size_t)d->x.count);
    for (int64_t i = 0; i < d->x.count; i++)
        d->v.items[i].xyz = rs_v3_zero();
    forget_impulses(d);
}
