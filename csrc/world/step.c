/* The step, top-down: every stage is named here once. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include "placement.h"
#include "tree_colliders.h"

#include <time.h>

/* ---- first half: midpoint, detection ---- */

static rs_broad_phase_scene broad_phase_scene(const rs_world *world) {
    return (rs_broad_phase_scene){RS_ITEMS(rs_collider, world->data.colliders), world->data.colliders.count,
                                  RS_ITEMS(rs_cluster, world->clusters), world->clusters.count};
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
    const rs_collider *colliders = RS_ITEMS(rs_collider, data->colliders);
    for (int32_t c = body->first_collider; c != RS_NONE; c = colliders[c].next_in_body)
        size = rs_min(size, colliders[c].size);
    return 0.5 * data->dt * speed > RS_FORESIGHT * size;
}

/* Stops what can no longer be calculated at its last pose; what touches it goes on. */
static void stop_diverged(rs_world *world, rs_body *body) {
    body->velocity = body->omega = rs_v3_zero();
    body->force = body->torque = body->command_force = body->command_torque = rs_v3_zero();
    if (body->articulation != NULL)
        rs_articulated_stop(body->articulation, world->data.dt);
    body->asleep = true;
    rs_world_drop_controller(world, body);
    if (world->diverged_slot == RS_NONE)
        world->diverged_slot = body->slot;
}

/* The first half of a step leads out of what double precision can carry. */
static bool is_lost_half_way(const rs_body *body) {
    const rs_articulation *a = body->articulation;
    return a != NULL ? !rs_articulated_is_carried(a, a->q_stage, a->u)
                     : !rs_v3_is_carried(body->middle_com) || !isfinite(body->middle.rot.m[0]);
}

/* Bodies at rest keep last step's placement. */
static void stage_midpoint(rs_world *world) {
    rs_world_data *data = &world->data;
    rs_body *bodies = RS_ITEMS(rs_body, data->bodies);
    rs_collider *colliders = RS_ITEMS(rs_collider, data->colliders);
    int64_t trees = 0;
    for (int64_t i = 0; i < data->bodies.count; i++) {
        rs_body *body = &bodies[i];
        if (!body->alive)
            continue;
        if (body->articulation != NULL) {
            if (body->asleep)
                rs_kinematics_refresh(body->articulation);
            else
                rs_articulated_begin(body->articulation, data->dt);
            if (is_lost_half_way(body))
                stop_diverged(world, body);
            if (rs_has_tree_colliders(body))
                rs_tree_colliders_begin(world, trees++);
            continue;
        }
        bool active = body->type == RS_BODY_DYNAMIC ? !body->asleep : body->moved || is_moving(body);
        bool was_active = body->first_collider != RS_NONE && colliders[body->first_collider].active;
        body->launched = active && is_launched(data, body);
        if (active && !body->launched)
            rs_rigid_body_midpoint(body, data->dt);
        else if (body->launched || was_active || body->moved)
            rs_rigid_body_hold(body);
        else
            continue;
        if (is_lost_half_way(body)) {
            stop_diverged(world, body);
            rs_rigid_body_hold(body);
        }
        double time = body->launched ? RS_LAUNCH_STEPS * data->dt : data->dt;
        rs_carrier_motion by = {body->middle, body->middle_com, body->velocity, body->omega, time};
        for (int32_t c = body->first_collider; c != RS_NONE; c = colliders[c].next_in_body) {
            colliders[c].active = active;
            rs_place_collider(&colliders[c], &by, data);
        }
    }
}

static void wake_if_moved(rs_body *a, rs_body *b) {
    if (a->moved && b->asleep)
        rs_wake_body(b);
    if (b->moved && a->asleep)
        rs_wake_body(a);
}

/* What touched or hung on a body that was moved from outside may have lost its support. */
static void wake_around_moved(rs_world *world) {
    rs_body *bodies = RS_ITEMS(rs_body, world->data.bodies);
    const rs_touch *touches = RS_ITEMS(rs_touch, world->data.touches);
    for (int64_t k = 0; k < world->data.touches.count; k++)
        wake_if_moved(&bodies[touches[k].body_a], &bodies[touches[k].body_b]);
    const rs_wire *wires = RS_ITEMS(rs_wire, world->data.wires);
    for (int64_t k = 0; k < world->data.wires.count; k++)
        wake_if_moved(&bodies[wires[k].body[0]], &bodies[wires[k].body[1]]);
}

static void clear_moved(rs_world *world) {
    rs_body *bodies = RS_ITEMS(rs_body, world->data.bodies);
    for (int64_t i = 0; i < world->data.bodies.count; i++)
        bodies[i].moved = false;
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
    rs_detection_scene scene = {&data->contact, RS_ITEMS(rs_body, data->bodies), RS_ITEMS(rs_collider, data->colliders),
                                data->colliders.count};
    rs_pair_memory memory = rs_pair_memory_begin(&data->pair_hints, &world->pair_hints_other);
    rs_status status = rs_touches_find(&scene, &world->pairs, &memory, &data->touches, &world->touches_other);
    if (status != RS_OK)
        return status;
    rs_array swap = data->touches;
    data->touches = world->touches_other;
    world->touches_other = swap;
    swap = data->pair_hints;
    data->pair_hints = world->pair_hints_other;
    world->pair_hints_other = swap;
    return rs_touches_settle_hidden(&scene, &world->hidden_search, &data->touches, &world->touches_other);
}

static rs_status stage_islands(rs_world *world) {
    rs_world_data *data = &world->data;
    return rs_islands_build(&world->islands, RS_ITEMS(rs_body, data->bodies), data->bodies.count,
                            RS_ITEMS(rs_collider, data->colliders), &data->touches, &data->wires);
}

/* ---- second half: forces, contacts, integration ---- */

static rs_status stage_forces(rs_world *world) {
    rs_world_data *data = &world->data;
    int64_t count = data->bodies.count;
    if (rs_array_resize(&world->solver_bodies, count) != RS_OK || rs_array_resize(&world->before, count) != RS_OK ||
        rs_array_resize(&world->pushes, count) != RS_OK)
        return RS_OUT_OF_MEMORY;
    rs_body *bodies = RS_ITEMS(rs_body, data->bodies);
    rs_solver_body *solver = RS_ITEMS(rs_solver_body, world->solver_bodies);
    rs_solver_body *before = RS_ITEMS(rs_solver_body, world->before);
    world->stats.awake_bodies = 0;
    rs_world_update_controllers(world);
    for (int64_t i = 0; i < count; i++) {
        if (!bodies[i].alive)
            continue;
        before[i].v.xyz = bodies[i].velocity;
        before[i].w.xyz = bodies[i].omega;
        if (bodies[i].asleep) {
            solver[i] = (rs_solver_body){0};
            continue;
        }
        if (bodies[i].articulation != NULL) {
            rs_world_load_links(&bodies[i], data->gravity);
            rs_articulated_free_velocity(bodies[i].articulation, data->gravity, data->dt);
            solver[i] = (rs_solver_body){0};
            if (!rs_articulated_is_carried(bodies[i].articulation, bodies[i].articulation->q_stage,
                                           bodies[i].articulation->u_free))
                stop_diverged(world, &bodies[i]);
        } else {
            rs_rigid_body_free_velocity(&bodies[i], data->gravity, data->dt, &solver[i]);
            if (!rs_v3_is_carried(solver[i].v.xyz) || !rs_v3_is_carried(solver[i].w.xyz)) {
                stop_diverged(world, &bodies[i]);
                solver[i].v = solver[i].w = (rs_quad){rs_v3_zero(), 0.0};
            }
        }
        world->stats.awake_bodies += bodies[i].type == RS_BODY_DYNAMIC;
    }
    rs_world_drive_controlled(world);
    return RS_OK;
}

static rs_problem_input problem_input(const rs_world *world) {
    const rs_world_data *data = &world->data;
    return (rs_problem_input){.dt = data->dt,
                              .settings = &data->solver,
                              .materials = &data->materials,
                              .colliders = RS_ITEMS(rs_collider, data->colliders),
                              .bodies = RS_ITEMS(rs_body, data->bodies),
                              .solver_bodies = RS_ITEMS(rs_solver_body, world->solver_bodies)};
}

/* Rows of single bodies are contacts alone: islands with rolling or spinning friction are general ones. */
static void find_turning(rs_world *world) {
    const rs_world_data *data = &world->data;
    const rs_collider *colliders = RS_ITEMS(rs_collider, data->colliders);
    if (!rs_materials_resist_turning(&data->materials))
        return;
    for (int64_t k = 0; k < data->touches.count; k++) {
        const rs_touch *touch = &RS_ITEMS(rs_touch, data->touches)[k];
        const rs_material_pair *pair = rs_materials_find(&data->materials, colliders[touch->collider_a].material,
                                                         colliders[touch->collider_b].material);
        if (touch->island != RS_NONE && rs_material_resists_turning(pair))
            RS_ITEMS(rs_island, world->islands.islands)[touch->island].general = true;
    }
}

static rs_status stage_contact_setup(rs_world *world) {
    rs_world_data *data = &world->data;
    int64_t count = world->islands.order.count;
    if (rs_array_resize(&world->body_rows, count) != RS_OK || rs_array_resize(&world->busy_rows, count) != RS_OK ||
        rs_array_resize(&world->numbers, data->bodies.count) != RS_OK)
        return RS_OUT_OF_MEMORY;
    find_turning(world);
    rs_problem_input input = problem_input(world);
    const int32_t *order = RS_ITEMS(int32_t, world->islands.order);
    rs_body_row *rows = RS_ITEMS(rs_body_row, world->body_rows);
    for (int64_t i = 0; i < world->islands.islands.count; i++) {
        const rs_island *island = RS_ITEM(rs_island, world->islands.islands, i);
        for (int64_t k = island->first_row; k < island->first_row + island->row_count && !island->general; k++) {
            rs_row_make(&input, RS_ITEM(rs_touch, data->touches, order[k]), &rows[k]);
            rows[k].touch = order[k];
        }
    }
    return RS_OK;
}

/* Where redundant contacts could not share their loads anew, they try again after so many solves. */
enum { MAX_UNEVEN = 16 };

/* Overlaps apart, then velocities. */
static rs_solve_result solve_rows(rs_world *world, rs_rows *rows, rs_island *island) {
    const rs_world_data *data = &world->data;
    rs_body *bodies = RS_ITEMS(rs_body, data->bodies);
    rs_island_bodies members = rs_islands_bodies(&world->islands, island);
    rs_solve_input input = {&data->solver, data->dt * rs_norm(data->gravity), true, data->sweep_backward, false};
    for (int64_t k = 0; k < members.count; k++) {
        const rs_body *body = &bodies[members.index[k]];
        input.settled &= body->settled;
        input.uneven |= body->uneven > 0;
    }
    island->pushed = rs_positions_correct(rows);
    rs_solve_result result = rs_island_solve(rows, &input, &world->newton);
    for (int64_t k = 0; k < members.count; k++) {
        rs_body *body = &bodies[members.index[k]];
        body->settled = result.sweeps + result.newtons == 0;
        body->uneven = result.uneven ? MAX_UNEVEN : body->uneven > 0 ? body->uneven - 1 : 0;
    }
    return result;
}

static void store_contact(rs_touch *touch, const rs_law *law) {
    touch->impulse = law->impulse.xyz;
    touch->moment = rs_v3_zero();
}

/* An island of single bodies. */
static rs_solve_result solve_bodies(rs_world *world, rs_island *island) {
    rs_body_row *first = RS_ITEM(rs_body_row, world->body_rows, island->first_row);
    rs_body_rows rows = rs_body_rows_make(first, island->row_count, rs_islands_bodies(&world->islands, island),
                                          RS_ITEMS(rs_solver_body, world->solver_bodies),
                                          RS_ITEMS(rs_push_body, world->pushes), RS_ITEMS(int32_t, world->numbers),
                                          RS_ITEMS(int32_t, world->busy_rows));
    rs_solve_result result = solve_rows(world, &rows.rows, island);
    for (int64_t k = 0; k < island->row_count; k++)
        store_contact(RS_ITEM(rs_touch, world->data.touches, first[k].touch), &first[k].law);
    return result;
}

/* How often an island may be solved again because joints would pass their limits. */
enum { MAX_MISSES = 6 };

/* An island with articulated systems or wires. */
static rs_status solve_trees(rs_world *world, rs_island *island, rs_solve_result *result) {
    rs_tree_input input = {.common = problem_input(world),
                           .bodies = RS_ITEMS(rs_body, world->data.bodies),
                           .body_count = world->data.bodies.count,
                           .touches = RS_ITEMS(rs_touch, world->data.touches),
                           .wires = RS_ITEMS(rs_wire, world->data.wires),
                           .islands = &world->islands,
                           .solver_bodies = RS_ITEMS(rs_solver_body, world->solver_bodies),
                           .pushes = RS_ITEMS(rs_push_body, world->pushes)};
    bool missed = true;
    for (int n = 0; n <= MAX_MISSES && missed; n++) {
        if (rs_tree_rows_fill(&world->tree_rows, &input, island) != RS_OK)
            return RS_OUT_OF_MEMORY;
        *result = solve_rows(world, &world->tree_rows.rows, island);
        missed = rs_tree_rows_store(&world->tree_rows, world->data.dt);
    }
    rs_tree_rows_write_back(&world->tree_rows, &input, island->pushed);
    return RS_OK;
}

/* Violations below this are rounding, whatever they are relative to [m/s]. */
static const double NO_ERROR = 1e-12;

static void count_solve(rs_step_stats *stats, const rs_solve_result *result) {
    if (result->sweeps + result->newtons > stats->solver_iterations)
        stats->solver_iterations = result->sweeps + result->newtons;
    stats->solver_error = rs_max(stats->solver_error, result->residual);
    if (result->residual > NO_ERROR)
        stats->solver_relative_error = rs_max(stats->solver_relative_error, result->residual / result->approach);
    stats->contact_work += result->work;
    stats->restrained_islands += result->restrained;
}

static rs_status stage_solve(rs_world *world) {
    rs_world_data *data = &world->data;
    rs_island *islands = RS_ITEMS(rs_island, world->islands.islands);
    rs_step_stats *stats = &world->stats;
    stats->solver_iterations = stats->restrained_islands = 0;
    stats->solver_error = stats->solver_relative_error = stats->contact_work = 0.0;
    for (int32_t i = 0; i < world->islands.islands.count; i++) {
        rs_solve_result result = {0};
        if (islands[i].general) {
            if (solve_trees(world, &islands[i], &result) != RS_OK)
                return RS_OUT_OF_MEMORY;
        } else if (islands[i].row_count > 0) {
            result = solve_bodies(world, &islands[i]);
        }
        count_solve(stats, &result);
    }
    data->sweep_backward = !data->sweep_backward && !data->solver.fixed_order;
    stats->contacts = data->touches.count;
    stats->islands = world->islands.islands.count;
    stats->broad_phase_pairs = world->pairs.count;
    return RS_OK;
}

static bool integrate_body(rs_body *body, const rs_solver_body *solved, const rs_push_body *push,
                           const rs_world_data *data) {
    if (body->articulation == NULL && body->soft_held) { /* soft objects pushed at any time within the step */
        rs_push_body sum = push != NULL ? *push : (rs_push_body){0};
        sum.v = rs_madd(sum.v, 1.0 / data->dt, body->soft_shift);
        sum.w = rs_madd(sum.w, 1.0 / data->dt, body->soft_turn);
        return rs_rigid_body_integrate(body, solved, &sum, data->dt);
    }
    if (body->articulation == NULL)
        return rs_rigid_body_integrate(body, solved, push, data->dt);
    bool finite = rs_articulated_integrate(body->articulation, data->gravity, data->dt);
    rs_world_mirror_base(body);
    return finite;
}

/* Kahan's sum: after a million steps the clock would otherwise be tens of nanoseconds off, and stamps with it. */
static void advance_clock(rs_world_data *data) {
    double addend = data->dt - data->time_lost, sum = data->time + addend;
    data->time_lost = (sum - data->time) - addend;
    data->time = sum;
}

static void stage_integrate(rs_world *world) {
    rs_world_data *data = &world->data;
    rs_body *bodies = RS_ITEMS(rs_body, data->bodies);
    const rs_solver_body *solver = RS_ITEMS(rs_solver_body, world->solver_bodies);
    const int32_t *of_body = RS_ITEMS(int32_t, world->islands.of_body);
    const rs_island *islands = RS_ITEMS(rs_island, world->islands.islands);
    for (int64_t i = 0; i < data->bodies.count; i++) {
        rs_body *body = &bodies[i];
        if (!body->alive || body->asleep || body->type == RS_BODY_STATIC)
            continue;
        bool pushed = of_body[i] != RS_NONE && islands[of_body[i]].pushed;
        const rs_push_body *push = pushed ? RS_ITEM(rs_push_body, world->pushes, i) : NULL;
        if (body->articulation != NULL && body->articulation->inverse_dynamics)
            rs_world_find_joint_wrenches(world, (int32_t)i);
        if (!integrate_body(body, &solver[i], push, data))
            stop_diverged(world, body);
    }
    rs_world_report_controllers(world);
    if (data->sleep.enabled)
        rs_islands_sleep(&world->islands, &data->sleep, bodies, data->bodies.count,
                         RS_ITEMS(rs_solver_body, world->before), RS_ITEMS(rs_push_body, world->pushes), data->dt);
    rs_world_sleep_soft(world);
    data->step_count++;
    world->version++;
    advance_clock(data);
}

/* ---- the two halves ---- */

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Adds the time since `*mark` to a stage and moves the mark. */
static void charge(const rs_world *world, double *stage, double *mark) {
    if (!world->profiling)
        return;
    double now = seconds_now();
    *stage += now - *mark;
    *mark = now;
}

static rs_status first_half(rs_world *world, bool detect) {
    double mark = world->profiling ? seconds_now() : 0.0;
    world->detection++;
    world->diverged_slot = RS_NONE;
    wake_around_moved(world);
    rs_world_wake_controlled(world);
    if (stage_lists(world) != RS_OK)
        return RS_OUT_OF_MEMORY;
    stage_midpoint(world);
    rs_world_wake_soft(world);
    charge(world, &world->profile.midpoint, &mark);

    world->pairs.count = 0;
    if (detect && stage_broad_phase(world) != RS_OK)
        return RS_OUT_OF_MEMORY;
    charge(world, &world->profile.broad_phase, &mark);

    if (!detect)
        world->data.touches.count = 0;
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
    double mark = world->profiling ? seconds_now() : 0.0;
    if (stage_forces(world) != RS_OK)
        return RS_OUT_OF_MEMORY;
    charge(world, &world->profile.forces, &mark);
    if (rs_world_step_soft(world) != RS_OK)
        return RS_OUT_OF_MEMORY;
    charge(world, &world->profile.soft, &mark);
    if (stage_contact_setup(world) != RS_OK)
        return RS_OUT_OF_MEMORY;
    charge(world, &world->profile.contact_setup, &mark);
    if (stage_solve(world) != RS_OK)
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
    uint32_t serial = RS_ITEM(rs_slot, world->data.slots, world->diverged_slot)->serial;
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
    const rs_body *bodies = RS_ITEMS(rs_body, world->data.bodies);
    const int32_t *of_body = RS_ITEMS(int32_t, world->islands.of_body);
    bool outdated = world->changed;
    for (int64_t i = 0; i < world->data.bodies.count && !outdated; i++)
        outdated = bodies[i].alive && bodies[i].type == RS_BODY_DYNAMIC && !bodies[i].asleep && of_body[i] == RS_NONE;
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
    double end = seconds_now() + seconds;
    while (*done < n && status == RS_OK && (*done == 0 || seconds_now() < end)) {
        rs_world_enter(world);
        status = first_half(world, true);
        if (status == RS_OK)
            status = second_half(world);
        rs_world_leave(world, status);
        ++*done;
    }
    return status;
}

rs_status rs_world_step(rs_world *world, int64_t n) {
    int64_t done;
    return rs_world_step_within(world, n, INFINITY, &done);
}
