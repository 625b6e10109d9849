/* The contacts of a step: rows of the islands, and their solution. */
#include "threads.h"

static rs_problem_input problem_input(const rs_world *world) {
    const rs_world_data *data = &world->data;
    return (rs_problem_input){.dt = data->dt,
                              .settings = &data->solver,
                              .materials = &data->materials,
                              .colliders = data->colliders.items,
                              .bodies = data->bodies.items,
                              .solver_bodies = world->solver_bodies.items};
}

/* Rows of single bodies are contacts alone: islands with rolling or spinning friction are general ones. */
static void find_turning(rs_world *world) {
    const rs_world_data *data = &world->data;
    const rs_collider *colliders = data->colliders.items;
    if (!rs_materials_resist_turning(&data->materials))
        return;
    for (int64_t k = 0; k < data->touches.count; k++) {
        const rs_touch *touch = &data->touches.items[k];
        const rs_material_pair *pair = rs_materials_find(&data->materials, colliders[touch->collider_a].material,
                                                         colliders[touch->collider_b].material);
        if (touch->island != RS_NONE && rs_material_resists_turning(pair))
            world->islands.islands.items[touch->island].general = true;
    }
}

/* Fewer bodies without robots are not worth it. */
enum { FEW_BODIES = 32 };

/* Threads take the islands one by one. */
static void share_islands(rs_world *world, rs_pool_work work) {
    rs_thread_pool *pool = world->islands.bodies.count < FEW_BODIES && world->trees.count < 2 ? NULL : world->pool;
    rs_pool_share(pool, world->islands.islands.count, work, world);
}

static void make_rows_of(void *context, int32_t worker, int64_t item) {
    rs_world *world = context;
    const rs_island *island = RS_ITEM(world->islands.islands, item);
    const int32_t *order = world->islands.order.items;
    rs_body_row *rows = world->body_rows.items;
    rs_problem_input input = problem_input(world);
    (void)worker;
    for (int64_t k = island->rows.first; k < island->rows.first + island->rows.count && !island->general; k++) {
        rs_row_make(&input, RS_ITEM(world->data.touches, order[k]), &rows[k]);
        rows[k].touch = order[k];
    }
}

rs_status rs_world_make_rows(rs_world *world) {
    rs_world_data *data = &world->data;
    int64_t count = world->islands.order.count;
    if (rs_array_resize(&world->body_rows, count) != RS_OK ||
        rs_array_resize(&world->numbers, data->bodies.count) != RS_OK)
        return RS_OUT_OF_MEMORY;
    find_turning(world);
    share_islands(world, make_rows_of);
    return RS_OK;
}

/* Overlaps apart, then velocities. */
static rs_solve_result solve_rows(const rs_world *world, rs_newton *newton, rs_rows *rows, rs_island *island) {
    const rs_world_data *data = &world->data;
    rs_body *bodies = data->bodies.items;
    rs_island_bodies members = rs_islands_bodies(&world->islands, island);
    rs_solve_input input = {&data->solver, data->dt * rs_norm(data->gravity), true, data->sweep_backward, INT32_MIN};
    for (int64_t k = 0; k < members.count; k++) {
        const rs_body *body = &bodies[members.index[k]];
        input.settled &= body->settled;
        input.uneven = body->uneven > input.uneven ? body->uneven : input.uneven;
    }
    island->pushed = rs_positions_correct(rows);
    rs_solve_result result = rs_island_solve(rows, &input, newton);
    for (int64_t k = 0; k < members.count; k++) {
        rs_body *body = &bodies[members.index[k]];
        body->settled = result.settled;
        body->uneven = result.uneven;
    }
    return result;
}

static void store_contact(rs_touch *touch, const rs_law *law) {
    touch->impulse = law->impulse.xyz;
    touch->moment = rs_v3_zero();
}

/* An island of single bodies. */
static rs_status solve_bodies(const rs_world *world, rs_room *room, rs_island *island, rs_solve_result *result) {
    rs_body_row *first = RS_ITEM(world->body_rows, island->rows.first);
    rs_body_rows rows = rs_body_rows_make(first, island->rows.count, rs_islands_bodies(&world->islands, island),
                                          world->solver_bodies.items,
                                          world->pushes.items, world->numbers.items,
                                          &room->blocks);
    *result = solve_rows(world, &room->newton, &rows.rows, island);
    for (int64_t k = 0; k < island->rows.count; k++)
        store_contact(RS_ITEM(world->data.touches, first[k].touch), &first[k].law);
    return rows.failed ? RS_OUT_OF_MEMORY : RS_OK;
}

/* How often an island may be solved again because joints would pass their limits. */
enum { MAX_MISSES = 6 };
/* And because wires turned, or springs went another way than was thought: most need one to three. */
enum { MAX_TURNS = 20 };
/* And because chains of links are tighter or looser than was thought. */
enum { MAX_TENSIONS = 4 };
/* Share of that change which counts. Stiff springs on bodies that turn far within a step would go to and fro. */
static double share_of_turn(int n) { return n < 4 ? 1.0 : n < 10 ? 0.5 : 0.25; }

static rs_status solve_tree_rows(const rs_world *world, rs_room *room, const rs_tree_input *input, rs_island *island,
                                 rs_solve_result *result) {
    bool missed = true;
    for (int n = 0; n <= MAX_MISSES && missed; n++) {
        if (rs_tree_rows_fill(&room->tree_rows, input, island) != RS_OK)
            return RS_OUT_OF_MEMORY;
        *result = solve_rows(world, &room->newton, &room->tree_rows.rows, island);
        missed = rs_tree_rows_store(&room->tree_rows, world->data.dt);
    }
    return RS_OK;
}

static rs_tree_input tree_input(const rs_world *world) {
    return (rs_tree_input){.common = problem_input(world),
                           .bodies = world->data.bodies.items,
                           .body_count = world->data.bodies.count,
                           .touches = world->data.touches.items,
                           .wires = world->data.wires.items,
                           .islands = &world->islands,
                           .solver_bodies = world->solver_bodies.items,
                           .pushes = world->pushes.items};
}

void rs_world_gather_tension(const rs_world *world) {
    rs_tree_input input = tree_input(world);
    for (int64_t i = 0; i < world->islands.islands.count; i++)
        if (RS_ITEM(world->islands.islands, i)->general)
            rs_tree_tension_gather(&input, RS_ITEM(world->islands.islands, i));
}

/* Soft objects have changed the free velocities already: then what trees have got must do. */
static bool follow_tension(const rs_world *world, const rs_tree_input *input, const rs_island *island) {
    return world->data.soft_count == 0 && rs_tree_tension_follow(input, island, world->data.gravity);
}

/* An island with articulated systems or wires. */
static rs_status solve_trees(const rs_world *world, rs_room *room, rs_island *island, rs_solve_result *result) {
    rs_tree_input input = tree_input(world);
    rs_status status = solve_tree_rows(world, room, &input, island, result);
    bool tightened = status == RS_OK && rs_tree_rows_tightened(&input, island);
    tightened |= status == RS_OK && follow_tension(world, &input, island);
    for (int n = 0; tightened && status == RS_OK && n < MAX_TENSIONS; n++) {
        status = solve_tree_rows(world, room, &input, island, result);
        tightened = status == RS_OK && n + 1 < MAX_TENSIONS && follow_tension(world, &input, island);
    }
    for (int n = 0; n < MAX_TURNS && status == RS_OK; n++) {
        if (!rs_tree_rows_turn_wires(&room->tree_rows, &input, island, share_of_turn(n)))
            break;
        status = solve_tree_rows(world, room, &input, island, result);
    }
    if (status == RS_OK && island->pushed)
        rs_tree_rows_shorten_push(&room->tree_rows, &input, island);
    if (status == RS_OK)
        rs_tree_rows_write_back(&room->tree_rows, &input, island->pushed);
    return status;
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

static void solve_island(const rs_world *world, rs_room *room, int64_t item) {
    rs_island *island = RS_ITEM(world->islands.islands, item);
    rs_island_result *result = RS_ITEM(world->results, item);
    *result = (rs_island_result){.status = RS_OK};
    if (island->general)
        result->status = solve_trees(world, room, island, &result->solve);
    else if (island->rows.count > 0)
        result->status = solve_bodies(world, room, island, &result->solve);
}

/* Threads share the rows of a large island, and the others among themselves. */
enum { LARGE_ISLAND = 2000 };

static bool is_large(const rs_world *world, int64_t item) {
    const rs_island *island = RS_ITEM(world->islands.islands, item);
    return world->pool != NULL && !island->general && island->rows.count >= LARGE_ISLAND;
}

static void solve_small_island(void *context, int32_t worker, int64_t item) {
    const rs_world *world = context;
    if (!is_large(world, item))
        solve_island(world, &world->rooms[worker], item);
}

static void solve_large_islands(const rs_world *world) {
    rs_room *room = &world->rooms[0];
    for (int64_t item = 0; item < world->islands.islands.count; item++) {
        room->blocks.pool = world->pool;
        if (is_large(world, item))
            solve_island(world, room, item);
        room->blocks.pool = NULL;
    }
}

rs_status rs_world_solve(rs_world *world) {
    rs_world_data *data = &world->data;
    rs_step_stats *stats = &world->stats;
    stats->solver_iterations = stats->restrained_islands = 0;
    stats->solver_error = stats->solver_relative_error = stats->contact_work = 0.0;
    if (rs_array_resize(&world->results, world->islands.islands.count) != RS_OK)
        return RS_OUT_OF_MEMORY;
    solve_large_islands(world);
    share_islands(world, solve_small_island);
    for (int64_t i = 0; i < world->islands.islands.count; i++) {
        const rs_island_result *result = RS_ITEM(world->results, i);
        if (result->status != RS_OK)
            return rs_fail(result->status, "no memory for the contacts of an island");
        count_solve(stats, &result->solve);
    }
    data->sweep_backward = !data->sweep_backward && !data->solver.fixed_order;
    stats->contacts = data->touches.count + data->resting.count;
    stats->islands = world->islands.islands.count;
    stats->broad_phase_pairs = world->pairs.count;
    return RS_OK;
}
