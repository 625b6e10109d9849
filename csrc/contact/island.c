#include "island.h"

/* Where something moves, even if slowly, as at the turning point of a pendulum, it must not stop: acceleration must be
 * small [m/s^2, rad/s^2], ... */
static const double QUIET_ACCELERATION = 0.05;
/* ... and speed no more than this share of the limits below which bodies may sleep: what contacts leave to bodies at
 * rest. */
static const double STILL_SHARE = 5e-4;
/* Growth of speeds below this share of that is rounding. */
static const double ROUNDING_SHARE = 1e-3;

void rs_islands_free(rs_islands *islands) {
    rs_array_free(&islands->parent);
    rs_array_free(&islands->of_body);
    rs_array_free(&islands->islands);
    rs_array_free(&islands->order);
    rs_array_free(&islands->wires);
    rs_array_free(&islands->bodies);
}

rs_island_bodies rs_islands_bodies(const rs_islands *islands, const rs_island *island) {
    return (rs_island_bodies){islands->bodies.items + island->bodies.first, island->bodies.count};
}

const int32_t *rs_islands_wires(const rs_islands *islands, const rs_island *island) {
    return islands->wires.items + island->wires.first;
}

static int32_t find_root(int32_t *parent, int32_t i) {
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

static bool is_dynamic(const rs_body *body) { return body->alive && body->type == RS_BODY_DYNAMIC; }
static bool is_listed(const rs_body *body) { return body->listed && is_dynamic(body); }

/* The smaller index becomes the root, so that the result does not depend on the order. */
static void join_pair(int32_t *parent, const rs_body *bodies, int32_t a, int32_t b) {
    if (!is_listed(&bodies[a]) || !is_listed(&bodies[b]))
        return;
    int32_t root_a = find_root(parent, a), root_b = find_root(parent, b);
    if (root_a < root_b)
        parent[root_b] = root_a;
    else
        parent[root_a] = root_b;
}

/* Joins bodies that touch or hang on the same wire. */
static void join_bodies(int32_t *parent, const rs_body *bodies, const RS_ARRAY(rs_touch) *touches,
                        const RS_ARRAY(rs_wire) *wires) {
    const rs_touch *touch = touches->items;
    for (int64_t k = 0; k < touches->count; k++)
        join_pair(parent, bodies, touch[k].body_a, touch[k].body_b);
    const rs_wire *wire = wires->items;
    for (int64_t k = 0; k < wires->count; k++)
        join_pair(parent, bodies, wire[k].body[0], wire[k].body[1]);
}

static bool is_moving_by_itself(const rs_body *body) {
    return body->type == RS_BODY_KINEMATIC && (rs_norm2(body->velocity) > 0.0 || rs_norm2(body->omega) > 0.0);
}

static bool drags(const rs_body *body, const rs_body *other) {
    bool moves = is_moving_by_itself(body) || (is_dynamic(body) && !body->asleep);
    return moves && is_dynamic(other) && other->asleep;
}

bool rs_wires_disturb(const rs_body *bodies, const RS_ARRAY(rs_wire) *wires) {
    const rs_wire *wire = wires->items;
    for (int64_t k = 0; k < wires->count; k++) {
        const rs_body *a = &bodies[wire[k].body[0]], *b = &bodies[wire[k].body[1]];
        if (drags(a, b) || drags(b, a))
            return true;
    }
    return false;
}

/* `of_body` of a root serves as the mark "awake" here. */
rs_status rs_islands_wake(rs_islands *islands, rs_body *bodies, int64_t body_count, const rs_collider *colliders,
                          const RS_ARRAY(rs_touch) *touches, const RS_ARRAY(rs_wire) *wires) {
    if (rs_array_resize(&islands->parent, body_count) != RS_OK ||
        rs_array_resize(&islands->of_body, body_count) != RS_OK)
        return RS_OUT_OF_MEMORY;
    int32_t *parent = islands->parent.items, *awake = islands->of_body.items;
    for (int32_t i = 0; i < body_count; i++) {
        parent[i] = i;
        awake[i] = 0;
    }
    join_bodies(parent, bodies, touches, wires);
    for (int32_t i = 0; i < body_count; i++)
        if (is_dynamic(&bodies[i]) && !bodies[i].asleep)
            awake[find_root(parent, i)] = 1;
    const rs_touch *touch = touches->items;
    for (int64_t k = 0; k < touches->count; k++) { /* moving kinematic bodies, and static ones just placed */
        const rs_collider *a = &colliders[touch[k].collider_a], *b = &colliders[touch[k].collider_b];
        if (a->active && !a->dynamic)
            awake[find_root(parent, touch[k].body_b)] = 1;
        if (b->active && !b->dynamic)
            awake[find_root(parent, touch[k].body_a)] = 1;
    }
    const rs_wire *wire = wires->items;
    for (int64_t k = 0; k < wires->count; k++)
        for (int end = 0; end < 2; end++)
            if (is_moving_by_itself(&bodies[wire[k].body[end]]))
                awake[find_root(parent, wire[k].body[1 - end])] = 1;
    for (int32_t i = 0; i < body_count; i++)
        if (is_dynamic(&bodies[i]) && bodies[i].asleep && awake[find_root(parent, i)])
            rs_wake_body(&bodies[i]);
    return RS_OK;
}

/* Numbers the awake islands by their first body. */
static rs_status number_islands(rs_islands *islands, const rs_body *bodies, rs_island_bodies listed) {
    int32_t *parent = islands->parent.items, *of_body = islands->of_body.items;
    islands->islands.count = 0;
    for (int64_t k = 0; k < listed.count; k++) {
        int32_t i = listed.index[k];
        of_body[i] = RS_NONE;
        if (!is_dynamic(&bodies[i]) || bodies[i].asleep)
            continue;
        int32_t root = find_root(parent, i);
        if (root == i) { /* roots come first: they have the smallest index */
            if (rs_array_push(&islands->islands) == NULL)
                return RS_OUT_OF_MEMORY;
            of_body[i] = (int32_t)(islands->islands.count - 1);
        } else {
            of_body[i] = of_body[root];
        }
        if (bodies[i].articulation != NULL)
            RS_ITEM(islands->islands, of_body[i])->general = true;
    }
    return RS_OK;
}

/* ---- lists that are ordered by island ---- */

/* `member` is the place in rs_island of the span that tells where an island's part of the list is. */
static rs_span *span_of(const rs_islands *islands, int64_t island, size_t member) {
    return (rs_span *)(void *)((char *)RS_ITEM(islands->islands, island) + member);
}

/* Gives each island room behind the one before for what was counted, and counts anew. Returns the length of the list. */
static int64_t lay_out(const rs_islands *islands, size_t member) {
    int64_t next = 0;
    for (int64_t i = 0; i < islands->islands.count; i++) {
        rs_span *span = span_of(islands, i, member);
        int64_t count = span->count;
        *span = (rs_span){next, 0};
        next += count;
    }
    return next;
}

static void put(const rs_islands *islands, int32_t island, size_t member, RS_ARRAY(int32_t) *list, int32_t thing) {
    rs_span *span = span_of(islands, island, member);
    list->items[span->first + span->count++] = thing;
}

static rs_status group_bodies(rs_islands *islands, rs_island_bodies listed) {
    const int32_t *of_body = islands->of_body.items;
    const size_t member = offsetof(rs_island, bodies);
    for (int64_t k = 0; k < listed.count; k++)
        if (of_body[listed.index[k]] != RS_NONE)
            RS_ITEM(islands->islands, of_body[listed.index[k]])->bodies.count++;
    if (rs_array_resize(&islands->bodies, lay_out(islands, member)) != RS_OK)
        return RS_OUT_OF_MEMORY;
    for (int64_t k = 0; k < listed.count; k++)
        if (of_body[listed.index[k]] != RS_NONE)
            put(islands, of_body[listed.index[k]], member, &islands->bodies, listed.index[k]);
    return RS_OK;
}

static rs_status group_touches(rs_islands *islands, const rs_body *bodies, RS_ARRAY(rs_touch) *touches) {
    const int32_t *of_body = islands->of_body.items;
    const size_t member = offsetof(rs_island, rows);
    rs_touch *touch = touches->items;
    rs_island *island = islands->islands.items;
    for (int64_t k = 0; k < touches->count; k++) {
        int32_t dynamic = is_dynamic(&bodies[touch[k].body_a]) ? touch[k].body_a : touch[k].body_b;
        touch[k].island = bodies[dynamic].listed ? of_body[dynamic] : RS_NONE;
        if (touch[k].island != RS_NONE) {
            const rs_body *other = &bodies[dynamic == touch[k].body_a ? touch[k].body_b : touch[k].body_a];
            island[touch[k].island].carried |= is_moving_by_itself(other);
            island[touch[k].island].rows.count++;
        }
    }
    if (rs_array_resize(&islands->order, lay_out(islands, member)) != RS_OK)
        return RS_OUT_OF_MEMORY;
    for (int32_t k = 0; k < touches->count; k++)
        if (touch[k].island != RS_NONE)
            put(islands, touch[k].island, member, &islands->order, k);
    return RS_OK;
}

static int32_t island_of_wire(const rs_islands *islands, const rs_body *bodies, const rs_wire *wire) {
    int32_t dynamic = is_dynamic(&bodies[wire->body[0]]) ? wire->body[0] : wire->body[1];
    return bodies[dynamic].listed ? islands->of_body.items[dynamic] : RS_NONE;
}

static rs_status group_wires(rs_islands *islands, const rs_body *bodies, RS_ARRAY(rs_wire) *wires) {
    const size_t member = offsetof(rs_island, wires);
    rs_wire *wire = wires->items;
    rs_island *island = islands->islands.items;
    for (int64_t k = 0; k < wires->count; k++) {
        if (bodies[wire[k].body[0]].listed || bodies[wire[k].body[1]].listed)
            rs_wire_place(&wire[k], bodies);
        wire[k].island = island_of_wire(islands, bodies, &wire[k]);
        if (wire[k].island == RS_NONE)
            continue;
        island[wire[k].island].wires.count++;
        island[wire[k].island].general = true;
        island[wire[k].island].carried |= is_moving_by_itself(&bodies[wire[k].body[0]]) ||
                                          is_moving_by_itself(&bodies[wire[k].body[1]]);
    }
    if (rs_array_resize(&islands->wires, lay_out(islands, member)) != RS_OK)
        return RS_OUT_OF_MEMORY;
    for (int32_t k = 0; k < wires->count; k++)
        if (wire[k].island != RS_NONE)
            put(islands, wire[k].island, member, &islands->wires, k);
    return RS_OK;
}

rs_status rs_islands_build(rs_islands *islands, const rs_body *bodies, int64_t body_count, rs_island_bodies listed,
                           RS_ARRAY(rs_touch) *touches, RS_ARRAY(rs_wire) *wires) {
    if (rs_array_resize(&islands->parent, body_count) != RS_OK ||
        rs_array_resize(&islands->of_body, body_count) != RS_OK)
        return RS_OUT_OF_MEMORY;
    int32_t *parent = islands->parent.items;
    for (int64_t k = 0; k < listed.count; k++)
        parent[listed.index[k]] = listed.index[k];
    join_bodies(parent, bodies, touches, wires);
    if (number_islands(islands, bodies, listed) != RS_OK || group_bodies(islands, listed) != RS_OK)
        return RS_OUT_OF_MEMORY;
    if (group_touches(islands, bodies, touches) != RS_OK)
        return RS_OUT_OF_MEMORY;
    return group_wires(islands, bodies, wires);
}

/* Square of the mean speed of a body's points [m^2/s^2]. */
static double mean_speed2(const rs_body *body, rs_vec3 v, rs_vec3 w) {
    double gyration2 = (body->inertia.xx + body->inertia.yy + body->inertia.zz) / (3.0 * body->mass);
    return rs_norm2(v) + gyration2 * rs_norm2(w);
}

/* Whether a body would stay where it is. What a force sets in motion gets faster, however slow it is at first; what
 * nothing holds rests only when nothing moves it at all. */
static bool body_is_still(const rs_body *body, const rs_solver_body *before, const rs_sleep_settings *settings, bool held) {
    double linear = STILL_SHARE * settings->linear_threshold, angular = STILL_SHARE * settings->angular_threshold;
    if (!held)
        linear = angular = 0.0;
    double speed2 = mean_speed2(body, body->velocity, body->omega), least = ROUNDING_SHARE * linear;
    return rs_norm2(body->velocity) <= linear * linear && rs_norm2(body->omega) <= angular * angular &&
           (speed2 <= least * least || speed2 <= mean_speed2(body, before->v.xyz, before->w.xyz));
}

/* `push` is NULL when no overlap was corrected: a body still being pushed out is not at rest. */
static bool body_is_quiet(const rs_body *body, const rs_solver_body *before, const rs_push_body *push,
                          const rs_sleep_settings *settings, double dt, bool held) {
    double linear2 = settings->linear_threshold * settings->linear_threshold;
    double angular2 = settings->angular_threshold * settings->angular_threshold;
    double change2 = QUIET_ACCELERATION * QUIET_ACCELERATION * dt * dt;
    if (body->articulation != NULL)
        return rs_articulated_is_quiet(body->articulation, settings->linear_threshold, settings->angular_threshold,
                                       QUIET_ACCELERATION, dt);
    if (push != NULL && (rs_norm2(push->v) >= linear2 || rs_norm2(push->w) >= angular2))
        return false;
    return rs_norm2(body->velocity) < linear2 && rs_norm2(body->omega) < angular2 &&
           rs_norm2(rs_sub(body->velocity, before->v.xyz)) < change2 &&
           rs_norm2(rs_sub(body->omega, before->w.xyz)) < change2 && body_is_still(body, before, settings, held);
}

void rs_islands_sleep(rs_islands *islands, const rs_sleep_settings *settings, rs_body *bodies, rs_island_bodies listed,
                      const rs_solver_body *before, const rs_push_body *pushes, double dt) {
    const int32_t *of_body = islands->of_body.items;
    rs_island *island = islands->islands.items;
    for (int64_t i = 0; i < islands->islands.count; i++)
        island[i].quiet = !island[i].carried;
    for (int64_t k = 0; k < listed.count; k++) {
        int32_t i = listed.index[k];
        if (of_body[i] == RS_NONE)
            continue;
        rs_island *home = &island[of_body[i]];
        const rs_push_body *push = home->pushed ? &pushes[i] : NULL;
        bool held = home->rows.count + home->wires.count > 0 || bodies[i].soft_held;
        bool quiet = body_is_quiet(&bodies[i], &before[i], push, settings, dt, held);
        bodies[i].quiet_steps = quiet ? bodies[i].quiet_steps + 1 : 0;
        if (bodies[i].quiet_steps < settings->quiet_steps || bodies[i].soft_restless)
            home->quiet = false;
    }
    for (int64_t k = 0; k < listed.count; k++) {
        rs_body *body = &bodies[listed.index[k]];
        int32_t home = of_body[listed.index[k]];
        if (home == RS_NONE || !island[home].quiet)
            continue;
        body->asleep = true;
        rs_carrier_rest(body, dt);
    }
}
