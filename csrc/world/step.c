/* The step, top-down: every stage is named here once. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include "../dynamics/fluid.h"
#include "awake.h"
#include "placement.h"
#include "threads.h"
#include "tree_colliders.h"

#include <time.h>

/* ---- first half: midpoint, detection ---- */

static rs_broad_phase_scene broad_phase_scene(const rs_world *world) {
    return (rs_broad_phase_scene){world->data.colliders.items, world->data.colliders.count,
                                  world->clusters.items, world->clusters.count};
}

/* Objects, shapes or filters changed since the last step. */
static rs_status stage_lists(rs_world *world) {
    if (!world->colliders_changed)
        return RS_OK;
    if (rs_tree_colliders_list(world) != RS_OK)
        return RS_OUT_OF_MEMORY;
    rs_broad_phase_scene scene = broad_phase_scene(world);
    world->colliders_changed = rs_broad_phase_rebuild(&world->broad_phase, &scene) != RS_OK;
    return world->colliders_changed ? RS_OUT_OF_MEMORY : RS_OK;
}

static bool is_moving(const rs_body *body) { return rs_norm2(body->velocity) > 0.0 || rs_norm2(body->omega) > 0.0; }

/* A fast body that was just placed or given its velocity: nobody has looked yet at the first half of its way, which
 * may already lead through a wall. It begins at its pose instead of half a step ahead. */
static bool is_launched(const rs_world_data *data, const rs_body *body) {
    const rs_contact_settings *settings = &data->contact;
    double speed = rs_norm(body->velocity), size = INFINITY;
    if (!settings->swept_ccd_enabled || !body->moved || body->type != RS_BODY_DYNAMIC ||
        speed < settings->swept_ccd_min_speed)
        return false;
    RS_EACH_COLLIDER(collider, data, body->first_collider)
        size = rs_min(size, collider->size);
    return 0.5 * data->dt * speed > RS_FORESIGHT * size;
}

/* Stops what can no longer be calculated at its last pose; what touches it goes on. The world takes note later: bodies are
 * worked on by several threads. */
static void stop_diverged(rs_world *world, rs_body *body) {
    rs_carrier_stop(body, world->data.dt);
    body->asleep = body->diverged = true;
    atomic_store(&world->lost, true);
}

static void note_diverged(rs_world *world) {
    if (!atomic_exchange(&world->lost, false))
        return;
    for (int64_t k = 0; k < world->awake.count; k++) {
        rs_body *body = RS_ITEM(world->data.bodies, world->awake.items[k]);
        if (!body->diverged)
            continue;
        body->diverged = false;
        rs_world_drop_controller(world, body);
        if (world->diverged_slot == RS_NONE)
            world->diverged_slot = body->slot;
    }
}

static void begin_tree(rs_world *world, int32_t index) {
    rs_body *body = RS_ITEM(world->data.bodies, index);
    if (body->asleep)
        rs_articulated_stand(body->articulation);
    else
        rs_articulated_begin(body->articulation, world->data.dt);
    if (!rs_carrier_middle_is_carried(body))
        stop_diverged(world, body);
    if (rs_has_tree_colliders(body))
        rs_tree_colliders_begin(world, index);
}

/* Bodies at rest keep last step's placement. */
static void begin_body(rs_world *world, int32_t index) {
    rs_world_data *data = &world->data;
    rs_body *body = RS_ITEM(data->bodies, index);
    if (body->articulation != NULL) {
        begin_tree(world, index);
        return;
    }
    bool active = body->type == RS_BODY_DYNAMIC ? !body->asleep : body->moved || is_moving(body);
    bool was_active = body->first_collider != RS_NONE && RS_ITEM(data->colliders, body->first_collider)->active;
    body->launched = active && is_launched(data, body);
    if (active && !body->launched)
        rs_rigid_body_midpoint(body, data->dt);
    else if (body->launched || was_active || body->moved)
        rs_rigid_body_hold(body);
    else
        return;
    if (!rs_carrier_middle_is_carried(body)) {
        stop_diverged(world, body);
        rs_rigid_body_hold(body);
    }
    double time = body->launched ? RS_LAUNCH_STEPS * data->dt : data->dt;
    rs_carrier_motion by = {body->middle, body->middle_com, body->velocity, body->omega, time};
    RS_EACH_COLLIDER(collider, data, body->first_collider) {
        collider->active = active;
        rs_place_collider(collider, &by, data);
    }
}

static void stage_midpoint(rs_world *world) {
    rs_world_for_listed(world, begin_body);
    note_diverged(world);
}

static void wake_if_moved(rs_world *world, rs_body *a, rs_body *b) {
    if (a->moved && b->asleep)
        rs_world_rouse(world, b);
    if (b->moved && a->asleep)
        rs_world_rouse(world, a);
}

/* What touched or hung on a body that was moved from outside may have lost its support. */
static void wake_around_moved(rs_world *world) {
    rs_body *bodies = world->data.bodies.items;
    const rs_touch *touches = world->data.touches.items;
    for (int64_t k = 0; k < world->data.touches.count; k++)
        wake_if_moved(world, &bodies[touches[k].body_a], &bodies[touches[k].body_b]);
    const rs_wire *wires = world->data.wires.items;
    for (int64_t k = 0; k < world->data.wires.count; k++)
        wake_if_moved(world, &bodies[wires[k].body[0]], &bodies[wires[k].body[1]]);
}

static void clear_moved(rs_world *world) {
    rs_body *bodies = world->data.bodies.items;
    const int32_t *awake = world->awake.items;
    for (int64_t k = 0; k < world->awake.count; k++)
        bodies[awake[k]].moved = false;
}

/* Who takes part in the step. */
static rs_status stage_awake(rs_world *world) {
    wake_around_moved(world);
    rs_world_wake_controlled(world);
    world->roused |= world->colliders_changed || world->data.soft_count > 0;
    if (!world->roused)
        return RS_OK;
    if (rs_world_list_all(world) != RS_OK)
        return RS_OUT_OF_MEMORY;
    wake_around_moved(world);
    return RS_OK;
}

static rs_status stage_broad_phase(rs_world *world) {
    rs_broad_phase_scene scene = broad_phase_scene(world);
    if (rs_broad_phase_find(&world->broad_phase, &world->data.contact, &scene) != RS_OK ||
        rs_tree_colliders_expand(world) != RS_OK)
        return RS_OUT_OF_MEMORY;
    return rs_broad_phase_order(&world->broad_phase, scene.collider_count, &world->pairs);
}

static rs_status stage_narrow_phase(rs_world *world) {
    rs_world_data *data = &world->data;
    rs_detection_scene scene = {&data->contact, data->bodies.items, data->colliders.items, data->colliders.count};
    rs_status status = rs_world_find_touches(world, &scene);
    if (status != RS_OK)
        return status;
    if (rs_world_set_aside(world) != RS_OK)
        return RS_OUT_OF_MEMORY;
    world->disturbed = rs_touches_disturb(&scene, &data->touches) || rs_wires_disturb(scene.bodies, &data->wires);
    if (world->disturbed && rs_world_list_all(world) != RS_OK)
        return RS_OUT_OF_MEMORY;
    return rs_touches_settle_hidden(&scene, &world->hidden_search, &data->touches, &world->touches_other);
}

/* Systems that woke since the others began take part in this very step. */
static void begin_woken(rs_world *world) {
    for (int64_t k = 0; k < world->awake.count; k++) {
        const rs_body *body = RS_ITEM(world->data.bodies, world->awake.items[k]);
        rs_articulation *a = body->articulation;
        if (a != NULL && !body->asleep && a->placed_at != a->q_stage)
            rs_articulated_begin(a, world->data.dt);
    }
}

static rs_status stage_islands(rs_world *world) {
    rs_world_data *data = &world->data;
    rs_body *bodies = data->bodies.items;
    if (world->disturbed && rs_islands_wake(&world->islands, bodies, data->bodies.count,
                                            data->colliders.items, &data->touches, &data->wires) != RS_OK)
        return RS_OUT_OF_MEMORY;
    if (world->disturbed || world->data.soft_count > 0)
        begin_woken(world);
    return rs_islands_build(&world->islands, bodies, data->bodies.count, rs_world_listed(world), &data->touches, &data->wires);
}

/* ---- second half: forces, contacts, integration ---- */

static void hold(rs_world *world, int32_t body) {
    *RS_ITEM(world->solver_bodies, body) = (rs_solver_body){0};
    *RS_ITEM(world->pushes, body) = (rs_push_body){0};
}

/* What steps do not look at stands still for what touches it or hangs on it. */
static void hold_unlisted(rs_world *world) {
    const rs_body *bodies = world->data.bodies.items;
    for (int64_t k = 0; k < world->data.touches.count; k++) {
        const rs_touch *touch = &world->data.touches.items[k];
        if (!bodies[touch->body_a].listed)
            hold(world, touch->body_a);
        if (!bodies[touch->body_b].listed)
            hold(world, touch->body_b);
    }
    for (int64_t k = 0; k < world->data.wires.count; k++)
        for (int end = 0; end < 2; end++) {
            int32_t body = world->data.wires.items[k].body[end];
            if (!bodies[body].listed)
                hold(world, body);
        }
}

static void force_body(rs_world *world, int32_t index) {
    const rs_world_data *data = &world->data;
    rs_body *body = RS_ITEM(data->bodies, index);
    rs_solver_body *solver = RS_ITEM(world->solver_bodies, index);
    rs_solver_body *before = RS_ITEM(world->before, index);
    rs_articulation *tree = body->articulation;
    before->v.xyz = body->velocity;
    before->w.xyz = body->omega;
    *RS_ITEM(world->pushes, index) = (rs_push_body){0};
    if (body->asleep || tree != NULL)
        *solver = (rs_solver_body){0};
    if (body->asleep)
        return;
    if (tree != NULL) {
        rs_world_load_links(body, data->gravity);
        if (rs_fluid_acts(&data->fluid))
            rs_fluid_load_links(&data->fluid, tree, data->dt);
        rs_articulated_free_velocity(tree, data->gravity, data->dt);
        if (!rs_articulated_is_carried(tree, tree->q_stage, tree->u_free))
            stop_diverged(world, body);
        return;
    }
    rs_rigid_body_free_velocity(body, data->gravity, data->dt, solver);
    if (rs_fluid_acts(&data->fluid) && body->type == RS_BODY_DYNAMIC)
        rs_fluid_slow_body(&data->fluid, body, data->dt, solver);
    if (!rs_v3_is_carried(solver->v.xyz) || !rs_v3_is_carried(solver->w.xyz)) {
        stop_diverged(world, body);
        solver->v = solver->w = (rs_quad){rs_v3_zero(), 0.0};
    }
}

static rs_status stage_forces(rs_world *world) {
    int64_t count = world->data.bodies.count;
    if (rs_array_resize(&world->solver_bodies, count) != RS_OK || rs_array_resize(&world->before, count) != RS_OK ||
        rs_array_resize(&world->pushes, count) != RS_OK)
        return RS_OUT_OF_MEMORY;
    world->stats.awake_bodies = world->islands.bodies.count;
    rs_world_update_controllers(world);
    hold_unlisted(world);
    rs_world_gather_tension(world);
    rs_world_for_listed(world, force_body);
    note_diverged(world);
    rs_world_drive_controlled(world);
    return RS_OK;
}

static bool integrate_body(rs_body *body, const rs_solver_body *solved, const rs_push_body *push,
                           const rs_world_data *data) {
    if (body->articulation != NULL) {
        bool finite = rs_articulated_integrate(body->articulation, data->gravity, data->dt);
        rs_world_mirror_base(body);
        return finite;
    }
    if (!body->soft_held)
        return rs_rigid_body_integrate(body, solved, push, data->dt);
    rs_push_body sum = push != NULL ? *push : (rs_push_body){0}; /* soft objects pushed at any time within the step */
    sum.v = rs_madd(sum.v, 1.0 / data->dt, body->soft_shift);
    sum.w = rs_madd(sum.w, 1.0 / data->dt, body->soft_turn);
    return rs_rigid_body_integrate(body, solved, &sum, data->dt);
}

/* Kahan's sum: after a million steps the clock would otherwise be tens of nanoseconds off, and stamps with it. */
static void advance_clock(rs_world_data *data) {
    double addend = data->dt - data->time_lost, sum = data->time + addend;
    data->time_lost = (sum - data->time) - addend;
    data->time = sum;
}

static void end_body(rs_world *world, int32_t index) {
    rs_world_data *data = &world->data;
    rs_body *body = RS_ITEM(data->bodies, index);
    if (body->asleep || body->type == RS_BODY_STATIC)
        return;
    int32_t home = world->islands.of_body.items[index];
    bool pushed = home != RS_NONE && RS_ITEM(world->islands.islands, home)->pushed;
    const rs_push_body *push = pushed ? RS_ITEM(world->pushes, index) : NULL;
    if (body->articulation != NULL && body->articulation->inverse_dynamics)
        rs_world_find_joint_wrenches(world, index);
    if (!integrate_body(body, RS_ITEM(world->solver_bodies, index), push, data))
        stop_diverged(world, body);
}

static void stage_integrate(rs_world *world) {
    rs_world_data *data = &world->data;
    rs_world_for_listed(world, end_body);
    note_diverged(world);
    rs_world_report_controllers(world);
    if (data->sleep.enabled)
        rs_islands_sleep(&world->islands, &data->sleep, data->bodies.items, rs_world_listed(world),
                         world->before.items, world->pushes.items, data->dt);
    rs_world_sleep_soft(world);
    rs_world_unlist_resting(world);
    data->step_count++;
    world->version++;
    advance_clock(data);
}

/* ---- the two halves ---- */

double rs_seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Adds the time since `*mark` to a stage and moves the mark. */
static void charge(const rs_world *world, double *stage, double *mark) {
    if (!world->profiling)
        return;
    double now = rs_seconds_now();
    *stage += now - *mark;
    *mark = now;
}

static rs_status first_half(rs_world *world, bool detect) {
    double mark = world->profiling ? rs_seconds_now() : 0.0;
    world->detection++;
    world->diverged_slot = RS_NONE;
    world->refused_substeps = 0.0;
    if (stage_awake(world) != RS_OK || stage_lists(world) != RS_OK)
        return RS_OUT_OF_MEMORY;
    stage_midpoint(world);
    rs_world_wake_soft(world);
    charge(world, &world->profile.midpoint, &mark);

    world->pairs.count = 0;
    if (detect && stage_broad_phase(world) != RS_OK)
        return RS_OUT_OF_MEMORY;
    charge(world, &world->profile.broad_phase, &mark);

    world->disturbed = false;
    if (!detect)
        world->data.touches.count = world->data.resting.count = 0;
    else if (stage_narrow_phase(world) != RS_OK)
        return RS_OUT_OF_MEMORY;
    charge(world, &world->profile.narrow_phase, &mark);

    if (stage_islands(world) != RS_OK)
        return RS_OUT_OF_MEMORY;
    charge(world, &world->profile.islands, &mark);
    world->half_way = true;
    world->detected = detect;
    world->changed = false;
    return RS_OK;
}

static rs_status second_half(rs_world *world) {
    clear_moved(world);
    double mark = world->profiling ? rs_seconds_now() : 0.0;
    if (stage_forces(world) != RS_OK)
        return RS_OUT_OF_MEMORY;
    charge(world, &world->profile.forces, &mark);
    if (rs_world_step_soft(world) != RS_OK)
        return RS_OUT_OF_MEMORY;
    charge(world, &world->profile.soft, &mark);
    if (rs_world_make_rows(world) != RS_OK)
        return RS_OUT_OF_MEMORY;
    charge(world, &world->profile.contact_setup, &mark);
    if (rs_world_solve(world) != RS_OK)
        return RS_OUT_OF_MEMORY;
    charge(world, &world->profile.solve, &mark);
    rs_world_note_contacts(world);
    stage_integrate(world);
    charge(world, &world->profile.integrate, &mark);
    world->profile.steps += world->profiling;
    world->half_way = false;
#ifdef RS_DEBUG
    rs_status valid = rs_world_validate(world);
    if (valid != RS_OK)
        return valid;
#endif
    if (world->diverged_slot == RS_NONE)
        return RS_OK;
    uint32_t serial = RS_ITEM(world->data.slots, world->diverged_slot)->serial;
    if (world->refused_substeps > 0.0)
        return rs_fail(RS_DIVERGED, "object %u was stopped at time %g s: its grains need %.3g substeps in a step of %g s, and at "
                                    "most %d are made; a shorter time step or softer grains need fewer", serial,
                       world->data.time, world->refused_substeps, world->data.dt, RS_MOST_GRAIN_SUBSTEPS);
    return rs_fail(RS_DIVERGED, "object %u diverged at time %g s: its state is no longer finite; it was stopped at its "
                                "last pose", serial, world->data.time);
}

rs_status rs_world_integrate1(rs_world *world) {
    rs_world_enter(world);
    return rs_world_leave(world, first_half(world, true));
}

rs_status rs_world_integrate_no_contact_detection(rs_world *world) {
    rs_world_enter(world);
    return rs_world_leave(world, first_half(world, false));
}

/* Between the halves something was placed, or woken, that the first one did not see. */
static bool first_half_is_outdated(const rs_world *world) {
    const rs_body *bodies = world->data.bodies.items;
    const int32_t *of_body = world->islands.of_body.items;
    bool outdated = world->changed || world->roused;
    for (int64_t k = 0; k < world->awake.count && !outdated; k++) {
        int32_t i = world->awake.items[k];
        outdated = bodies[i].alive && bodies[i].type == RS_BODY_DYNAMIC && !bodies[i].asleep && of_body[i] == RS_NONE;
    }
    return outdated;
}

rs_status rs_world_integrate2(rs_world *world) {
    rs_world_enter(world);
    rs_status status = world->half_way ? RS_OK : rs_fail(RS_WRONG_STATE, "integrate2 without integrate1");
    if (status == RS_OK && first_half_is_outdated(world))
        status = first_half(world, world->detected);
    return rs_world_leave(world, status == RS_OK ? second_half(world) : status);
}

rs_status rs_world_step_within(rs_world *world, int64_t n, double seconds, int64_t *done) {
    *done = 0;
    if (n < 0)
        return rs_fail(RS_INVALID_VALUE, "step count is %lld; expected 0 or more", (long long)n);
    rs_status status = RS_OK;
    double end = rs_seconds_now() + seconds;
    while (*done < n && status == RS_OK && (*done == 0 || rs_seconds_now() < end)) {
        rs_world_enter_to_read(world);
        status = first_half(world, true);
        RS_THEN(status, second_half(world));
        rs_world_leave(world, status);
        ++*done;
    }
    return status;
}

rs_status rs_world_step(rs_world *world, int64_t n) {
    int64_t done;
    return rs_world_step_within(world, n, INFINITY, &done);
}
