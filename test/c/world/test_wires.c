/* Wires through the public functions: memory, ids, snapshots, chains, errors that change nothing. */
#include "../../../csrc/include/raisim_engine.h"

#include <math.h>

#include "../check.h"
#include "../random.h"

enum { LINKS = 40 };
static const double LINK = 0.05;

static rs_object_id add_ball(rs_world *world, rs_body_type type, rs_vec3 position)
{
    rs_shape_def shape = {.type = RS_SHAPE_SPHERE, .dim = {0.01}, .quaternion = {1, 0, 0, 0}};
    rs_body_def def;
    rs_default_body_def(&def);
    def.properties.body_type = type;
    def.collision_mask = 0;
    def.shape_count = 1;
    def.shapes = &shape;
    rs_v3_store(def.state.position, position);
    rs_object_id id = 0;
    CHECK(rs_body_create(world, &def, &id) == RS_OK);
    return id;
}

static rs_wire_def wire_between(rs_object_id a, rs_object_id b, rs_wire_type type, double length)
{
    rs_wire_def def;
    rs_default_wire_def(&def);
    def.object[0] = a;
    def.object[1] = b;
    def.properties.type = type;
    def.properties.length = length;
    def.properties.stiffness = 500.0;
    def.properties.tension = 0.1;
    return def;
}

static rs_wire_id tie(rs_world *world, rs_object_id a, rs_object_id b, rs_wire_type type, double length)
{
    rs_wire_def def = wire_between(a, b, type, length);
    rs_wire_id id = 0;
    CHECK(rs_wire_create(world, &def, &id) == RS_OK);
    CHECK(rs_wire_is_alive(world, id));
    return id;
}

/* A chain that starts aslant; every wire is stiff, or of all types in turn. */
static rs_world *make_chain(bool mixed)
{
    rs_world *world = NULL;
    CHECK(rs_world_create(&world) == RS_OK);
    rs_sleep_settings sleep = {.linear_threshold = 0.002, .angular_threshold = 0.01, .quiet_steps = 2};
    CHECK(rs_world_set_sleep_settings(world, &sleep) == RS_OK);
    CHECK(rs_world_set_time_step(world, 0.001) == RS_OK);
    rs_object_id last = add_ball(world, RS_BODY_STATIC, rs_v3_zero());
    for (int k = 0; k < LINKS; k++) {
        rs_object_id next = add_ball(world, RS_BODY_DYNAMIC, rs_v3(0.6 * LINK * (k + 1), 0, -0.8 * LINK * (k + 1)));
        tie(world, last, next, mixed ? (rs_wire_type)(k % 3) : RS_WIRE_STIFF, LINK);
        last = next;
    }
    return world;
}

static void a_chain_is_solved_at_once_and_stays_whole(void)
{
    rs_world *world = make_chain(false);
    rs_wire_state states[LINKS];
    for (int k = 0; k < 1000; k++) {
        rs_step_stats stats;
        CHECK(rs_world_step(world, 1) == RS_OK);
        rs_world_get_step_stats(world, &stats);
        CHECK(stats.solver_iterations <= 40 && stats.solver_relative_error < 1e-8);
        CHECK(rs_world_read_wires(world, LINKS, NULL, states) == RS_OK);
        for (int i = 0; i < LINKS; i++)
            CHECK(states[i].stretch < 0.002 * LINK);
    }
    rs_world_destroy(world);
}

static void a_warm_step_allocates_nothing_and_everything_is_given_back(void)
{
    CHECK(rs_memory_bytes() == 0);
    rs_world *world = make_chain(true);
    CHECK(rs_world_step(world, 50) == RS_OK);
    size_t before = rs_memory_bytes();
    CHECK(rs_world_step(world, 500) == RS_OK);
    CHECK(rs_memory_bytes() == before);
    rs_world_destroy(world);
    CHECK(rs_memory_bytes() == 0);
}

static void a_snapshot_brings_back_wires_and_the_same_future(void)
{
    rs_world *world = make_chain(true);
    rs_snapshot *snapshot = NULL;
    rs_wire_id ids[LINKS];
    CHECK(rs_world_step(world, 100) == RS_OK);
    CHECK(rs_snapshot_save(world, &snapshot) == RS_OK);
    CHECK(rs_world_step(world, 100) == RS_OK);
    uint64_t hash = rs_world_state_hash(world);
    CHECK(rs_world_read_wires(world, LINKS, ids, NULL) == RS_OK);
    for (int k = 0; k < LINKS; k += 2)
        CHECK(rs_wire_remove(world, ids[k]) == RS_OK);
    CHECK(rs_world_wire_count(world) == LINKS / 2);
    CHECK(!rs_wire_is_alive(world, ids[0]) && rs_wire_is_alive(world, ids[1]));
    CHECK(rs_wire_remove(world, ids[0]) == RS_UNKNOWN_OBJECT);
    CHECK(rs_snapshot_restore(world, snapshot) == RS_OK);
    CHECK(rs_wire_is_alive(world, ids[0]));
    CHECK(rs_world_step(world, 100) == RS_OK);
    CHECK(rs_world_state_hash(world) == hash);
    rs_snapshot_destroy(snapshot);
    rs_world_destroy(world);
}

static void wires_go_with_their_objects(void)
{
    rs_world *world = NULL;
    CHECK(rs_world_create(&world) == RS_OK);
    rs_object_id a = add_ball(world, RS_BODY_DYNAMIC, rs_v3_zero()), b = add_ball(world, RS_BODY_DYNAMIC, rs_v3(1, 0, 0)),
                 c = add_ball(world, RS_BODY_DYNAMIC, rs_v3(2, 0, 0));
    rs_wire_id ab = tie(world, a, b, RS_WIRE_STIFF, 1.0), bc = tie(world, b, c, RS_WIRE_STIFF, 1.0),
               ac = tie(world, a, c, RS_WIRE_STIFF, 2.0);
    CHECK(rs_object_remove(world, b) == RS_OK);
    CHECK(!rs_wire_is_alive(world, ab) && !rs_wire_is_alive(world, bc) && rs_wire_is_alive(world, ac));
    CHECK(rs_world_step(world, 10) == RS_OK);
    rs_wire_def def;
    CHECK(rs_wire_get_def(world, ac, &def) == RS_OK);
    CHECK(def.object[0] == a && def.object[1] == c);
    rs_world_destroy(world);
}

static void bad_wires_are_refused_and_change_nothing(void)
{
    rs_world *world = NULL;
    CHECK(rs_world_create(&world) == RS_OK);
    rs_object_id a = add_ball(world, RS_BODY_DYNAMIC, rs_v3_zero()), b = add_ball(world, RS_BODY_DYNAMIC, rs_v3(1, 0, 0));
    uint64_t number = rs_world_configuration_number(world);
    rs_wire_def bad[9];
    for (int k = 0; k < 9; k++)
        bad[k] = wire_between(a, b, RS_WIRE_STIFF, 1.0);
    bad[0].object[1] = a;
    bad[1].properties.length = -1.0;
    bad[2].properties.length = NAN;
    bad[3].properties.stiffness = -1.0;
    bad[4].properties.tension = INFINITY;
    bad[5].properties.type = 3;
    bad[6].properties.stretch_type = -1;
    bad[7].local[0] = 1;
    bad[8].point[1][2] = NAN;
    rs_wire_id id = 0;
    for (int k = 0; k < 9; k++)
        CHECK(rs_wire_create(world, &bad[k], &id) == RS_INVALID_VALUE);
    rs_wire_def unknown = wire_between(a, b + 1, RS_WIRE_STIFF, 1.0);
    CHECK(rs_wire_create(world, &unknown, &id) == RS_UNKNOWN_OBJECT);
    CHECK(id == 0 && rs_world_wire_count(world) == 0 && rs_world_configuration_number(world) == number);

    id = tie(world, a, b, RS_WIRE_STIFF, 1.0);
    rs_wire_def def;
    CHECK(rs_wire_get_def(world, id, &def) == RS_OK);
    rs_wire_properties changed = def.properties;
    changed.type = RS_WIRE_CUSTOM;
    CHECK(rs_wire_set_properties(world, id, &changed) == RS_INVALID_VALUE);
    changed = def.properties;
    changed.length = -0.5;
    CHECK(rs_wire_set_properties(world, id, &changed) == RS_INVALID_VALUE);
    CHECK(rs_wire_get_def(world, id, &def) == RS_OK);
    CHECK_NEAR(def.properties.length, 1.0, 0.0);
    CHECK(rs_world_read_wires(world, 0, NULL, NULL) == RS_INVALID_VALUE);
    rs_world_destroy(world);
}

int main(void)
{
    RUN(a_chain_is_solved_at_once_and_stays_whole);
    RUN(a_warm_step_allocates_nothing_and_everything_is_given_back);
    RUN(a_snapshot_brings_back_wires_and_the_same_future);
    RUN(wires_go_with_their_objects);
    RUN(bad_wires_are_refused_and_change_nothing);
    return CHECK_RESULT();
}
