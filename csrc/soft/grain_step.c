/* A step of the world, seen by grains. */
#include "grains.h"

#include "../base/limits.h"

/* Longest substep relative to sqrt(mass / stiffness) of the stiffest grain: a collision of two takes ten or more. */
static const double SUBSTEP_SHARE = 0.2;
/* The same for a body that rests on many grains, relative to all their stiffness together. */
static const double BODY_SUBSTEP_SHARE = 0.5;
/* Hertz' springs get stiffer as they give way: expected overlap relative to the largest of the last step, and at least this
 * share of the radius. */
static const double HERTZ_AHEAD = 1.5, HERTZ_LEAST = 1e-3;

/* Stiffness of a contact of two equal grains at the largest overlap that is to be expected. */
static double expected_stiffness(const rs_grain_law *law, double mass, double radius, double overlap, double speed) {
    if (!law->hertz)
        return law->k_n + law->cohesion;
    double effective = 0.5 * radius, k = law->k_n * sqrt(effective);
    double by_impact = pow(1.25 * 0.5 * mass * speed * speed / k, 0.4);
    double most = rs_max(HERTZ_AHEAD * rs_max(overlap, by_impact), HERTZ_LEAST * radius);
    return 1.5 * k * sqrt(most) + law->cohesion;
}

static double substeps(const rs_grains *g, double dt, double speed) {
    double rate2 = 0.0;
    int64_t n = g->materials.count;
    for (int64_t kind = 0; kind < n; kind++) { /* the lightest grain of each material decides */
        const rs_grain_law *law = &g->laws.items[kind * (n + 1)];
        double least = INFINITY;
        for (int64_t i = 0; i < g->x.count; i++)
            if (g->kinds.items[i] == kind)
                least = rs_min(least, g->x.items[i].rest);
        if (!isfinite(least))
            continue;
        double mass = 4.18879020478639098 * least * least * least * g->materials.items[kind].density;
        rate2 = rs_max(rate2, expected_stiffness(law, mass, least, g->overlap, speed) / mass);
    }
    double needed = rs_max(dt * sqrt(rate2) / SUBSTEP_SHARE, dt * sqrt(g->body_rate2) / BODY_SUBSTEP_SHARE);
    return rs_max(ceil(needed), (double)g->least_substeps);
}

/* Work on grains, shared by threads. */
typedef struct {
    rs_grains *g;
    rs_vec3 gravity;
    double time;
    int32_t shares;
    double *speeds; /* per share: square of the fastest */
} share_job;

static void drift_share(void *context, int32_t worker, int64_t share) {
    const share_job *job = context;
    rs_quad *x = job->g->x.items;
    const rs_quad *v = job->g->v.items;
    int64_t end = rs_grain_share(job->g, share + 1, job->shares);
    (void)worker;
    for (int64_t i = rs_grain_share(job->g, share, job->shares); i < end; i++)
        x[i].xyz = rs_madd(x[i].xyz, job->time, v[i].xyz);
}

static void drift(rs_grains *g, rs_thread_pool *pool, double time) {
    rs_thread_pool *threads = rs_grain_pool(g, pool);
    share_job job = {.g = g, .time = time, .shares = rs_grain_shares(threads)};
    rs_pool_share(threads, job.shares, drift_share, &job);
}

static void kick_share(void *context, int32_t worker, int64_t share) {
    const share_job *job = context;
    rs_quad *v = job->g->v.items, *w = job->g->w.items;
    const rs_quad *force = job->g->force.items, *torque = job->g->torque.items;
    int64_t end = rs_grain_share(job->g, share + 1, job->shares);
    double speed2 = 0.0, h = job->time;
    (void)worker;
    for (int64_t i = rs_grain_share(job->g, share, job->shares); i < end; i++) {
        double mobile = v[i].rest > 0.0 ? h : 0.0;
        v[i].xyz = rs_madd(rs_madd(v[i].xyz, h * v[i].rest, force[i].xyz), mobile, job->gravity);
        w[i].xyz = rs_madd(w[i].xyz, h * w[i].rest, torque[i].xyz);
        speed2 = rs_max(rs_norm2(v[i].xyz), speed2); /* not a number stays one */
    }
    job->speeds[share] = speed2;
}

/* Velocities change, and the fastest decides how long the list of pairs is good. */
static rs_status kick(rs_grains *g, const rs_soft_scene *scene, double h, double *speed) {
    rs_thread_pool *threads = rs_grain_pool(g, scene->pool);
    int32_t shares = rs_grain_shares(threads);
    if (rs_array_resize(&g->tallies, shares * (int64_t)sizeof(double)) != RS_OK)
        return RS_OUT_OF_MEMORY;
    share_job job = {g, scene->gravity, h, shares, (double *)g->tallies.any.data};
    rs_pool_share(threads, shares, kick_share, &job);
    double speed2 = 0.0;
    for (int32_t k = 0; k < shares; k++)
        speed2 = rs_max(job.speeds[k], speed2);
    *speed = sqrt(speed2);
    return RS_OK;
}

static void note_bodies(rs_grains *g, const rs_partners *partners) {
    double k = 0.0;
    for (int64_t m = 0; m < g->materials.count; m++)
        k = rs_max(k, g->laws.items[m * (g->materials.count + 1)].k_n);
    for (int64_t p = 0; p < partners->partners.count; p++) {
        const rs_partner *partner = &partners->partners.items[p];
        double inverse = partner->tree == NULL ? partner->inverse_mass
                                               : rs_max(partner->response[0], rs_max(partner->response[7], partner->response[14]));
        if (partner->mobile)
            g->body_rate2 = rs_max(g->body_rate2, partner->contacts * k * inverse);
    }
}

void rs_grains_rest(rs_grains *g) {
    for (int64_t i = 0; i < g->x.count; i++)
        g->v.items[i].xyz = g->w.items[i].xyz = rs_v3_zero();
}

void rs_grains_forget(rs_grains *g) {
    g->listed = false;
    g->touches.count = g->first.count = g->second.count = g->image.count = g->bonds.count = g->origin.count = 0;
}

void rs_grains_stop(rs_grains *g) {
    memcpy(g->x.items, g->x_before.items, sizeof(rs_quad) * (size_t)g->x.count);
    rs_grains_rest(g);
    rs_grains_forget(g);
    g->stats.largest_speed = 0.0;
}

rs_status rs_grains_begin_substep(rs_grains *g, const rs_soft_scene *scene, double h) {
    drift(g, scene->pool, 0.5 * h);
    g->travel += 0.5 * h * g->stats.largest_speed;
    return rs_grains_list_pairs(g);
}

rs_status rs_grains_push(rs_grains *g, const rs_soft_scene *scene, rs_partners *partners, double h) {
    if (rs_grain_pair_forces(g, scene->pool, h) != RS_OK || rs_grain_surface_forces(g, scene, partners, h) != RS_OK)
        return RS_OUT_OF_MEMORY;
    return kick(g, scene, h, &g->stats.largest_speed);
}

rs_status rs_grains_end_substep(rs_grains *g, const rs_soft_scene *scene, const rs_partners *partners, double h, bool pushed, bool note) {
    if (pushed)
        rs_grains_bounds(g, &g->stats.largest_speed);
    g->travel += 0.5 * h * g->stats.largest_speed;
    drift(g, scene->pool, 0.5 * h);
    if (!(g->stats.largest_speed <= RS_GREATEST)) {
        rs_grains_stop(g);
        return RS_DIVERGED;
    }
    if (note)
        note_bodies(g, partners);
    g->stats.pairs = (int32_t)g->second.count;
    return RS_OK;
}

rs_status rs_grains_begin_step(rs_grains *g, const rs_soft_scene *scene, double *needed) {
    int64_t count = g->x.count;
    if (rs_array_resize(&g->force, count) != RS_OK || rs_array_resize(&g->torque, count) != RS_OK ||
        rs_array_resize(&g->x_before, count) != RS_OK)
        return RS_OUT_OF_MEMORY;
    double speed;
    rs_grains_bounds(g, &speed);
    *needed = substeps(g, scene->dt, speed);
    g->stats = (rs_grains_stats){.largest_speed = speed};
    g->overlap = g->body_rate2 = 0.0;
    return rs_grains_list_pairs(g);
}

/* `substeps` of the material allows more. */
bool rs_grains_are_too_stiff(const rs_grains *g, double needed) {
    return needed > rs_max(RS_MOST_GRAIN_SUBSTEPS, (double)g->least_substeps);
}

rs_status rs_grains_plan(rs_grains *g, const rs_soft_scene *scene, rs_partners *partners, int32_t substeps_made) {
    g->stats.substeps = substeps_made;
    memcpy(g->x_before.items, g->x.items, sizeof(rs_quad) * (size_t)g->x.count);
    double fastest = g->stats.largest_speed + scene->dt * rs_norm(scene->gravity);
    for (int64_t s = 0; s < partners->shapes.count; s++)
        fastest = rs_max(fastest, partners->shapes.items[s].speed);
    return rs_grains_list_candidates(g, partners, 2.0 * scene->dt * fastest);
}
