/* Forces between grains and on grains at walls and shapes. */
#include "../collision/narrow_phase.h"
#include "grains.h"

/* Dampers stronger than this share of what would stop a pair within a substep act as if they were that strong: an explicit
 * substep cannot carry more. */
static const double DAMPING_LIMIT = 0.5;
/* Stiffness and damping of the rolling spring relative to the normal one (Ai, Chen, Rotter, Ooi 2011, model C). */
static const double ROLLING_STIFFNESS = 2.25, ROLLING_DAMPING = 0.3;

/* Two surfaces that meet: the second one lies at the back of the normal. */
typedef struct {
    rs_vec3 n;      /* unit, towards the first */
    double overlap; /* [m], negative across a gap */
    rs_vec3 v, w;   /* velocity and angular velocity of the first against the second at the contact */
    double radius;  /* effective: 1 / (1/r1 + 1/r2) [m] */
    double mass;    /* effective [kg] */
} meeting;

typedef struct {
    rs_vec3 force;  /* on the first */
    rs_vec3 torque; /* on the first, of rolling resistance alone */
} reaction;

static double normal_stiffness(const rs_grain_law *law, double radius, double overlap) {
    return law->hertz ? law->k_n * sqrt(radius * overlap) : law->k_n;
}

/* Tangential spring that slips at the friction limit. */
static rs_vec3 hold(const rs_grain_law *law, const meeting *m, double h, double k_n, double limit, rs_quad *spring) {
    double k_t = law->hertz ? law->k_t / law->k_n * k_n : law->k_t;
    if (k_t <= 0.0 && law->c_t <= 0.0)
        return rs_v3_zero();
    double vn = rs_dot(m->v, m->n);
    rs_vec3 vt = rs_madd(m->v, -vn, m->n);
    rs_vec3 s = rs_madd(spring->xyz, h, vt);
    s = rs_madd(s, -rs_dot(s, m->n), m->n); /* the contact plane turns */
    double c_t = rs_min(law->c_t, DAMPING_LIMIT * m->mass / h);
    rs_vec3 f = rs_madd(rs_scale(-k_t, s), -c_t, vt);
    double size2 = rs_norm2(f);
    if (size2 > limit * limit) {
        f = rs_scale(limit / sqrt(size2), f);
        s = k_t > 0.0 ? rs_scale(-1.0 / k_t, rs_madd(f, c_t, vt)) : rs_v3_zero();
    }
    spring->xyz = s;
    return f;
}

static rs_vec3 resist_rolling(const rs_grain_law *law, const meeting *m, double h, double k_n, double load, rs_quad *roll) {
    double limit = law->rolling * load * m->radius;
    double k_r = ROLLING_STIFFNESS * k_n * law->rolling * law->rolling * m->radius * m->radius;
    double moment = 0.4 * m->mass * m->radius * m->radius;
    rs_vec3 angle = rs_madd(roll->xyz, h, m->w), torque = rs_scale(-k_r, angle);
    double size2 = rs_norm2(torque);
    if (size2 > limit * limit) {
        torque = rs_scale(limit / sqrt(size2), torque);
        angle = k_r > 0.0 ? rs_scale(-1.0 / k_r, torque) : rs_v3_zero();
    } else {
        torque = rs_madd(torque, -2.0 * ROLLING_DAMPING * sqrt(k_r * moment), m->w);
    }
    roll->xyz = angle;
    return torque;
}

static inline reaction react(const rs_grain_law *law, const meeting *m, double h, rs_grain_bond *bond) {
    reaction out = {rs_v3_zero(), rs_v3_zero()};
    if (law->cohesion > 0.0)
        out.force = rs_scale(-law->cohesion * (law->reach - rs_max(0.0, -m->overlap)), m->n);
    if (m->overlap <= 0.0) {
        bond->spring = bond->roll = (rs_quad){rs_v3_zero(), 0.0};
        return out;
    }
    double k_n = normal_stiffness(law, m->radius, m->overlap);
    double c_n = rs_min(law->c_n, DAMPING_LIMIT * m->mass / h);
    /* the damper sees the velocity half-way through the substep: second order */
    double half = 0.5 * h / m->mass, spring = k_n * m->overlap;
    double middle = (rs_dot(m->v, m->n) + half * spring) / (1.0 + half * c_n);
    double push = rs_max(0.0, spring - c_n * middle);
    bond->spring.rest = 1.0;
    bond->roll.rest = m->overlap;
    out.force = rs_madd(out.force, push, m->n);
    if (law->friction > 0.0)
        out.force = rs_add(out.force, hold(law, m, h, k_n, law->friction * push, &bond->spring));
    if (law->rolling > 0.0)
        out.torque = resist_rolling(law, m, h, k_n, push, &bond->roll);
    return out;
}

/* What pairs of a range of grains did at most. */
typedef struct {
    double widest, overlap; /* relative to the smaller radius; [m] */
    int32_t contacts;
} tally;

/* The forces of a pair. */
static inline void meet_pair(rs_grains *g, int64_t i, int32_t p, double h, rs_grain_push *out, tally *count) {
    const rs_quad *x = g->x.items, *v = g->v.items, *w = g->w.items;
    const int32_t *kinds = g->kinds.items;
    rs_grain_bond *bond = &g->bonds.items[p];
    int64_t materials = g->materials.count;
    int32_t j = g->second.items[p];
    uint8_t image = g->image.items[p];
    rs_vec3 d = rs_sub(x[i].xyz, x[j].xyz);
    if (image != RS_OWN_IMAGE)
        d = rs_sub(d, rs_image_shift(&g->domain, image));
    const rs_grain_law *law = &g->laws.items[materials == 1 ? 0 : kinds[i] * materials + kinds[j]];
    double ri = x[i].rest, sum = ri + x[j].rest, distance2 = rs_norm2(d);
    out->acts = distance2 < (sum + law->reach) * (sum + law->reach);
    if (!out->acts) {
        if (bond->spring.rest != 0.0)
            *bond = (rs_grain_bond){0};
        return;
    }
    double distance = sqrt(distance2), overlap = sum - distance;
    meeting m = {.n = distance > 0.0 ? rs_scale(1.0 / distance, d) : rs_v3(0.0, 0.0, 1.0), .overlap = overlap};
    out->arm_i = ri - 0.5 * overlap;
    out->arm_j = x[j].rest - 0.5 * overlap; /* together the distance */
    rs_vec3 turn = rs_madd(rs_scale(out->arm_i, w[i].xyz), out->arm_j, w[j].xyz);
    m.v = rs_sub(rs_sub(v[i].xyz, v[j].xyz), rs_cross(turn, m.n));
    m.w = rs_sub(w[i].xyz, w[j].xyz);
    m.radius = ri * x[j].rest / sum;
    m.mass = 1.0 / (v[i].rest + v[j].rest);
    reaction r = react(law, &m, h, bond);
    out->force = r.force;
    out->torque = r.torque;
    out->twist = rs_cross(m.n, r.force);
    count->contacts += overlap > 0.0;
    double share = overlap / rs_min(ri, x[j].rest);
    count->widest = share > count->widest ? share : count->widest;
    count->overlap = overlap > count->overlap ? overlap : count->overlap;
}

static inline void add_first(const rs_grain_push *push, rs_quad *force, rs_quad *torque) {
    force->xyz = rs_add(force->xyz, push->force);
    torque->xyz = rs_add(rs_madd(torque->xyz, -push->arm_i, push->twist), push->torque);
}

static inline void add_second(const rs_grain_push *push, rs_quad *force, rs_quad *torque) {
    force->xyz = rs_sub(force->xyz, push->force);
    torque->xyz = rs_sub(rs_madd(torque->xyz, -push->arm_j, push->twist), push->torque);
}

static void note_tally(rs_grains *g, const tally *count) {
    g->stats.largest_overlap = rs_max(g->stats.largest_overlap, count->widest);
    g->overlap = rs_max(g->overlap, count->overlap);
    g->stats.contacts += count->contacts;
}

/* The pairs of the grains from `begin` to `end` in order, both sides at once, but those that cross: their forces are known, and
 * the others' first grains have given theirs. */
static tally push_in_order(rs_grains *g, int64_t begin, int64_t end, double h, const int32_t *crossing_of) {
    rs_quad *force = g->force.items, *torque = g->torque.items;
    const int32_t *first = g->first.items, *second = g->second.items;
    tally count = {0};
    for (int64_t i = begin; i < end; i++) {
        rs_quad fi = force[i], ti = torque[i];
        for (int32_t p = first[i]; p < first[i + 1]; p++) {
            bool crosses = crossing_of != NULL && crossing_of[p] != RS_NONE;
            rs_grain_push found, *push = crosses ? &g->pushes.items[crossing_of[p]] : &found;
            if (!crosses)
                meet_pair(g, i, p, h, push, &count);
            if (!push->acts)
                continue;
            add_first(push, &fi, &ti);
            if (!crosses)
                add_second(push, &force[second[p]], &torque[second[p]]);
        }
        force[i] = fi;
        torque[i] = ti;
    }
    return count;
}

static void clear_forces(rs_grains *g, int64_t begin, int64_t end) {
    size_t bytes = sizeof(rs_quad) * (size_t)(end - begin);
    memset(g->force.items + begin, 0, bytes);
    memset(g->torque.items + begin, 0, bytes);
}

/* Several threads: first the pairs that cross from part to part; then each part by itself, where every grain sums up what
 * concerns it in the order in which one thread does. */
typedef struct {
    rs_grains *g;
    double h;
    tally *tallies; /* per item */
} pair_job;

enum { CROSSING_BLOCK = 512 };

static void meet_crossings(void *context, int32_t worker, int64_t item) {
    const pair_job *job = context;
    rs_grains *g = job->g;
    const rs_grain_crossing *crossings = g->crossings.items;
    int64_t end = (item + 1) * CROSSING_BLOCK < g->crossings.count ? (item + 1) * CROSSING_BLOCK : g->crossings.count;
    tally count = {0};
    (void)worker;
    for (int64_t c = item * CROSSING_BLOCK; c < end; c++)
        meet_pair(g, crossings[c].first, crossings[c].pair, job->h, &g->pushes.items[c], &count);
    job->tallies[item] = count;
}

static void push_part(void *context, int32_t worker, int64_t item) {
    const pair_job *job = context;
    rs_grains *g = job->g;
    const int32_t *parts = g->parts.items, *back = g->back.items, *crossings = back + g->x.count + 1;
    (void)worker;
    clear_forces(g, parts[item], parts[item + 1]);
    for (int64_t i = parts[item]; i < parts[item + 1]; i++)
        for (int32_t k = back[i]; k < back[i + 1]; k++) {
            const rs_grain_push *push = &g->pushes.items[crossings[k]];
            if (push->acts)
                add_second(push, &g->force.items[i], &g->torque.items[i]);
        }
    job->tallies[item] = push_in_order(g, parts[item], parts[item + 1], job->h, g->crossing_of.items);
}

static void share_out(rs_grains *g, rs_thread_pool *pool, int64_t items, rs_pool_work work, pair_job *job) {
    rs_pool_run(pool, items, work, job);
    for (int64_t k = 0; k < items; k++)
        note_tally(g, &job->tallies[k]);
}

rs_status rs_grain_pair_forces(rs_grains *g, rs_thread_pool *pool, double h) {
    g->stats.contacts = 0;
    pool = rs_grain_pool(g, pool);
    if (pool == NULL) {
        clear_forces(g, 0, g->x.count);
        tally count = push_in_order(g, 0, g->x.count, h, NULL);
        note_tally(g, &count);
        return RS_OK;
    }
    int32_t parts = rs_pool_threads(pool);
    if (rs_grains_divide(g, parts) != RS_OK)
        return RS_OUT_OF_MEMORY;
    int64_t blocks = (g->crossings.count + CROSSING_BLOCK - 1) / CROSSING_BLOCK, most = blocks > parts ? blocks : parts;
    if (rs_array_resize(&g->pushes, g->crossings.count) != RS_OK ||
        rs_array_resize(&g->tallies, most * (int64_t)sizeof(tally)) != RS_OK)
        return RS_OUT_OF_MEMORY;
    pair_job job = {g, h, (tally *)g->tallies.any.data};
    share_out(g, pool, blocks, meet_crossings, &job);
    share_out(g, pool, parts, push_part, &job);
    return RS_OK;
}

/* ---- walls and shapes ---- */

/* Walks along the touches of the substep before, in the order in which those of this one are found. */
typedef struct {
    const rs_grain_touch *former;
    int64_t count, at;
    RS_ARRAY(rs_grain_touch) *out;
} touch_walk;

static int compare_touch(const rs_grain_touch *t, int32_t grain, int32_t surface, int32_t slot) {
    if (t->grain != grain)
        return t->grain < grain ? -1 : 1;
    if (t->surface != surface)
        return t->surface < surface ? -1 : 1;
    return t->slot < slot ? -1 : t->slot > slot;
}

static rs_grain_touch *next_touch(touch_walk *walk, int32_t grain, int32_t surface, int32_t slot) {
    while (walk->at < walk->count && compare_touch(&walk->former[walk->at], grain, surface, slot) < 0)
        walk->at++;
    rs_grain_touch *touch = rs_array_push(walk->out);
    if (touch == NULL)
        return NULL;
    if (walk->at < walk->count && compare_touch(&walk->former[walk->at], grain, surface, slot) == 0)
        *touch = walk->former[walk->at];
    else
        *touch = (rs_grain_touch){.grain = grain, .surface = surface, .slot = slot};
    return touch;
}

/* Where a grain and a surface meet. */
typedef struct {
    rs_vec3 n, point;
    double overlap;
    rs_partner *partner; /* NULL: a wall */
    const rs_grain_law *law;
} surface_contact;

static void press(rs_grains *g, int64_t i, const surface_contact *c, double h, rs_grain_bond *bond) {
    rs_quad *force = &g->force.items[i], *torque = &g->torque.items[i];
    const rs_quad *x = &g->x.items[i], *v = &g->v.items[i], *w = &g->w.items[i];
    rs_vec3 arm = rs_sub(c->point, x->xyz);
    meeting m = {.n = c->n, .overlap = c->overlap, .radius = x->rest, .w = w->xyz};
    m.v = rs_add(v->xyz, rs_cross(w->xyz, arm));
    double inverse_mass = v->rest;
    if (c->partner != NULL) {
        m.v = rs_sub(m.v, rs_partner_velocity(c->partner, c->point));
        m.w = rs_sub(m.w, c->partner->w);
        inverse_mass += rs_partner_inverse_mass(c->partner, c->point, c->n);
        c->partner->contacts++;
    }
    if (inverse_mass <= 0.0)
        return;
    m.mass = 1.0 / inverse_mass;
    reaction r = react(c->law, &m, h, bond);
    force->xyz = rs_add(force->xyz, r.force);
    torque->xyz = rs_add(rs_add(torque->xyz, rs_cross(arm, r.force)), r.torque);
    if (c->partner != NULL) {
        rs_partner_push(c->partner, c->point, rs_scale(-h, r.force));
        if (rs_norm2(r.torque) > 0.0)
            rs_partner_turn(c->partner, rs_scale(-h, r.torque));
    }
    g->stats.contacts += c->overlap > 0.0;
    g->stats.largest_overlap = rs_max(g->stats.largest_overlap, c->overlap / x->rest);
    g->overlap = rs_max(g->overlap, c->overlap);
}

static bool touch_surface(rs_grains *g, int64_t i, int32_t surface, int32_t slot, const surface_contact *c, double h,
                          touch_walk *walk) {
    rs_grain_touch *touch = next_touch(walk, (int32_t)i, surface, slot);
    if (touch == NULL)
        return false;
    press(g, i, c, h, &touch->bond);
    return true;
}

/* How a grain of a material meets walls. */
static rs_grain_law law_with(const rs_grains *g, int32_t kind, const rs_grain_material *wall) {
    const rs_grain_law *own = &g->laws.items[kind * (g->materials.count + 1)];
    rs_grain_law law = *own;
    law.friction = sqrt(own->friction * wall->friction);
    law.rolling = sqrt(own->rolling * wall->rolling_friction);
    return law;
}

enum { WALLS = 7 };

/* Walls that the grain touches, in the order of their numbers as surfaces. */
static bool touch_walls(rs_grains *g, int64_t i, double reach, double h, touch_walk *walk) {
    const rs_quad *x = &g->x.items[i];
    double room = x->rest + reach; /* most grains are not near any */
    bool far = !g->has_ground || x->xyz.z - g->ground >= room;
    for (int axis = 0; axis < 3 && far && g->has_container; axis++)
        far = rs_v3_get(x->xyz, axis) - rs_v3_get(g->container.min, axis) >= room &&
              rs_v3_get(g->container.max, axis) - rs_v3_get(x->xyz, axis) >= room;
    if (far)
        return true;
    rs_grain_law law = law_with(g, g->kinds.items[i], &g->boundary);
    for (int wall = WALLS - 1; wall >= 0; wall--) { /* surface -1 - wall ascends */
        int axis = wall == 0 ? 2 : (wall - 1) / 2;
        bool upper = wall > 0 && (wall - 1) % 2 == 1;
        if (wall == 0 ? !g->has_ground : !g->has_container || g->domain.periodic[axis])
            continue;
        double at = wall == 0 ? g->ground : rs_v3_get(upper ? g->container.max : g->container.min, axis);
        double gap = (upper ? at - rs_v3_get(x->xyz, axis) : rs_v3_get(x->xyz, axis) - at) - x->rest;
        if (gap >= law.reach)
            continue;
        surface_contact c = {.overlap = -gap, .point = x->xyz, .law = &law};
        rs_v3_set(&c.n, axis, upper ? -1.0 : 1.0);
        rs_v3_set(&c.point, axis, at);
        if (!touch_surface(g, i, -1 - wall, 0, &c, h, walk))
            return false;
    }
    return true;
}

static bool touch_shape(rs_grains *g, int64_t i, const rs_partners *partners, int64_t shape, const rs_collide_settings *settings,
                        double h, touch_walk *walk) {
    const rs_near_shape *near = &partners->shapes.items[shape];
    rs_partner *partner = &partners->partners.items[near->partner];
    const rs_quad *x = &g->x.items[i];
    int32_t kind = g->kinds.items[i];
    rs_grain_law law = g->laws.items[kind * (g->materials.count + 1)];
    law.friction = sqrt(law.friction * rs_partners_friction(partners, shape));
    rs_manifold found = {0};
    rs_shape ball = {.type = RS_SHAPE_SPHERE, .radius = x->rest};
    if (near->shape->type == RS_SHAPE_HALF_SPACE) { /* by far the most frequent */
        rs_vec3 n = rs_m3_col(&near->pose.rot, 2);
        double gap = rs_dot(n, rs_sub(x->xyz, near->pose.pos)) - x->rest;
        if (gap < settings->margin)
            rs_manifold_add(&found, rs_madd(x->xyz, -(x->rest + 0.5 * gap), n), n, gap, 0);
    } else {
        rs_transform at = {rs_m3_identity(), x->xyz};
        rs_collide(&ball, &at, near->shape, &near->pose, settings, &found);
    }
    for (int k = 0; k < found.count; k++) {
        if (found.points[k].gap >= law.reach)
            continue;
        surface_contact c = {found.points[k].normal, found.points[k].position, -found.points[k].gap, partner, &law};
        if (!touch_surface(g, i, near->collider, k, &c, h, walk))
            return false;
    }
    return true;
}

rs_status rs_grain_surface_forces(rs_grains *g, const rs_soft_scene *scene, rs_partners *partners, double h) {
    rs_collide_settings settings = rs_collide_settings_of(scene->settings, rs_grains_reach(g));
    touch_walk walk = {g->touches.items, g->touches.count, 0, &g->touches_other};
    const rs_grain_candidate *candidates = g->candidates.items;
    bool walls = g->has_ground || g->has_container;
    int64_t next = 0;
    g->touches_other.count = 0;
    for (int64_t i = 0; i < g->x.count; i++) {
        if (!walls) { /* straight to the next candidate */
            if (next >= g->candidates.count)
                break;
            i = candidates[next].grain;
        }
        if (walls && !touch_walls(g, i, settings.margin, h, &walk))
            return RS_OUT_OF_MEMORY;
        for (; next < g->candidates.count && candidates[next].grain == i; next++) {
            if (!touch_shape(g, i, partners, candidates[next].shape, &settings, h, &walk))
                return RS_OUT_OF_MEMORY;
        }
    }
    rs_array_swap(&g->touches, &g->touches_other);
    return RS_OK;
}
