/* The world through its public functions: memory, ids, snapshots, errors that change nothing. */
#include "../../../csrc/include/raisim_engine.h"

#include <string.h>

#include "../asset_fixture.h"
#include "../check.h"
#include "../random.h"

static rs_object_id add_shape(rs_world *world, rs_shape_type type, rs_body_type body_type, rs_vec3 position)
{
    rs_shape_def shape = {.type = type, .dim = {0.1, 0.2, 0.15}, .quaternion = {1, 0, 0, 0}};
    rs_body_def def;
    rs_default_body_def(&def);
    def.properties.body_type = body_type;
    def.shape_count = 1;
    def.shapes = &shape;
    rs_v3_store(def.state.position, position);
    rs_object_id id = 0;
    CHECK(rs_body_create(world, &def, &id) == RS_OK);
    return id;
}

/* A ground and a loose heap of all primitives. */
static rs_world *make_heap(int count)
{
    rs_world *world = NULL;
    CHECK(rs_world_create(&world) == RS_OK);
    add_shape(world, RS_SHAPE_HALF_SPACE, RS_BODY_STATIC, rs_v3_zero());
    uint64_t random = 5;
    for (int k = 0; k < count; k++)
        add_shape(world, (rs_shape_type)(k % 5), RS_BODY_DYNAMIC,
                  rs_add(random_vector(&random, 0.3), rs_v3(0, 0, 0.6 + 0.1 * k)));
    return world;
}

static void a_destroyed_world_gives_everything_back(void)
{
    CHECK(rs_memory_bytes() == 0);
    rs_world *world = make_heap(30);
    rs_snapshot *snapshot = NULL;
    CHECK(rs_world_step(world, 100) == RS_OK);
    CHECK(rs_snapshot_save(world, &snapshot) == RS_OK);
    CHECK(rs_world_step(world, 100) == RS_OK);
    CHECK(rs_snapshot_restore(world, snapshot) == RS_OK);
    CHECK(rs_memory_bytes() > 0);
    rs_world_destroy(world);
    rs_snapshot_destroy(snapshot);
    CHECK(rs_memory_bytes() == 0);
    rs_snapshot_destroy(NULL);
}

static void a_warm_step_allocates_nothing(void)
{
    for (int method = RS_BROADPHASE_NONE; method <= RS_BROADPHASE_MULTI_BOX_PRUNE; method++) {
        rs_world *world = make_heap(0);
        for (int k = 0; k < 12; k++) /* boxes: balls would roll away and change the extent of the grid */
            add_shape(world, RS_SHAPE_BOX, RS_BODY_DYNAMIC, rs_v3(0.02 * (k % 3), 0.03 * (k % 4), 0.2 + 0.25 * k));
        rs_sleep_settings sleep = {.enabled = 0, .linear_threshold = 0.002, .angular_threshold = 0.01, .quiet_steps = 2};
        rs_contact_settings contact;
        rs_world_get_contact_settings(world, &contact);
        contact.broadphase = method;
        CHECK(rs_world_set_contact_settings(world, &contact) == RS_OK);
        CHECK(rs_world_set_sleep_settings(world, &sleep) == RS_OK);
        CHECK(rs_world_step(world, 700) == RS_OK); /* the heap has come to rest */
        size_t held = rs_memory_bytes();
        CHECK(rs_world_step(world, 100) == RS_OK);
        CHECK(rs_memory_bytes() == held);
        rs_world_destroy(world);
    }
    CHECK(rs_memory_bytes() == 0);
}

static void ids_are_never_reused_and_places_are(void)
{
    rs_world *world = NULL;
    CHECK(rs_world_create(&world) == RS_OK);
    rs_object_id first = add_shape(world, RS_SHAPE_SPHERE, RS_BODY_DYNAMIC, rs_v3_zero());
    CHECK(first != 0 && rs_object_is_alive(world, first));
    rs_object_id seen[200];
    for (int k = 0; k < 200; k++) {
        CHECK(rs_object_remove(world, first) == RS_OK);
        CHECK(!rs_object_is_alive(world, first));
        CHECK(rs_object_remove(world, first) == RS_UNKNOWN_OBJECT);
        seen[k] = first;
        first = add_shape(world, RS_SHAPE_BOX, RS_BODY_DYNAMIC, rs_v3_zero());
        for (int i = 0; i <= k; i++)
            CHECK(seen[i] != first);
    }
    size_t held = rs_memory_bytes();
    for (int k = 0; k < 1000; k++) {
        CHECK(rs_object_remove(world, first) == RS_OK);
        first = add_shape(world, RS_SHAPE_BOX, RS_BODY_DYNAMIC, rs_v3_zero());
    }
    CHECK(rs_memory_bytes() == held);
    rs_world_destroy(world);
}

static void removal_moves_the_last_object_into_the_hole(void)
{
    rs_world *world = NULL;
    CHECK(rs_world_create(&world) == RS_OK);
    rs_object_id id[4], list[3];
    for (int k = 0; k < 4; k++)
        id[k] = add_shape(world, RS_SHAPE_SPHERE, RS_BODY_DYNAMIC, rs_v3(k, 0, 0));
    uint64_t number = rs_world_configuration_number(world);
    CHECK(rs_object_remove(world, id[1]) == RS_OK);
    CHECK(rs_world_configuration_number(world) == number + 1);
    CHECK(rs_world_object_count(world) == 3);
    CHECK(rs_world_object_ids(world, list, 3) == RS_OK);
    CHECK(list[0] == id[0] && list[1] == id[3] && list[2] == id[2]);
    CHECK(rs_object_index(world, id[3]) == 1 && rs_object_index(world, id[1]) == -1);
    CHECK(rs_world_object_ids(world, list, 2) == RS_INVALID_VALUE);
    rs_body_state state;
    CHECK(rs_body_get_state(world, id[3], &state) == RS_OK);
    CHECK_NEAR(state.position[0], 3.0, 0.0);
    rs_world_destroy(world);
}

static void made_up_ids_are_refused_everywhere(void)
{
    rs_world *world = make_heap(3);
    const rs_object_id wrong[] = {0, 1, (rs_object_id)7 << 32 | 1000, UINT64_MAX};
    const double zero[3] = {0};
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
        rs_object_id id = wrong[k];
        rs_body_state state = {.quaternion = {1, 0, 0, 0}};
        rs_body_properties properties;
        int32_t value;
        uint64_t group, mask;
        CHECK(!rs_object_is_alive(world, id) && !rs_object_is_sleeping(world, id));
        CHECK(rs_object_index(world, id) == -1);
        CHECK(rs_object_remove(world, id) == RS_UNKNOWN_OBJECT);
        CHECK(rs_object_wake(world, id) == RS_UNKNOWN_OBJECT);
        CHECK(rs_object_get_filter(world, id, -1, &group, &mask) == RS_UNKNOWN_OBJECT);
        CHECK(rs_object_set_filter(world, id, -1, 1, 1) == RS_UNKNOWN_OBJECT);
        CHECK(rs_object_get_material(world, id, -1, &value) == RS_UNKNOWN_OBJECT);
        CHECK(rs_object_set_material(world, id, -1, 0) == RS_UNKNOWN_OBJECT);
        CHECK(rs_object_get_materials(world, id, &value, 1) == RS_UNKNOWN_OBJECT);
        CHECK(rs_object_set_materials(world, id, &value, 1) == RS_UNKNOWN_OBJECT);
        CHECK(rs_body_get_state(world, id, &state) == RS_UNKNOWN_OBJECT);
        CHECK(rs_body_set_state(world, id, &state) == RS_UNKNOWN_OBJECT);
        CHECK(rs_body_get_properties(world, id, &properties) == RS_UNKNOWN_OBJECT);
        CHECK(rs_body_add_force(world, id, zero, zero) == RS_UNKNOWN_OBJECT);
        CHECK(rs_body_add_torque(world, id, zero) == RS_UNKNOWN_OBJECT);
        CHECK(rs_object_clear_loads(world, id) == RS_UNKNOWN_OBJECT);
        CHECK(rs_object_set_command_wrench(world, id, 0, zero, zero) == RS_UNKNOWN_OBJECT);
        CHECK(strlen(rs_error_text()) > 0);
    }
    rs_world_destroy(world);
}

static const rs_pose_gains STIFF = {.linear = {100, 0, 20}, .angular = {1, 0, 0.2}, .angular_shape = {1, 1, 1},
                                    .force_limit = 100, .torque_limit = 10};

/* Commanded bodies come, go and change places; the memory of controllers is that of the world. */
static void commanded_poses_follow_their_bodies(void)
{
    rs_world *world = make_heap(0);
    const double weightless[3] = {0, 0, 0};
    CHECK(rs_world_set_gravity(world, weightless) == RS_OK);
    rs_object_id ids[6];
    rs_pose_target target = {.quaternion = {1, 0, 0, 0}};
    for (int k = 0; k < 6; k++) {
        ids[k] = add_shape(world, RS_SHAPE_SPHERE, RS_BODY_DYNAMIC, rs_v3(k, 0, 2));
        target.position[0] = k;
        target.position[1] = 0.5 * k;
        target.position[2] = 3;
        CHECK(rs_object_set_command_pose(world, ids[k], &STIFF, &target) == RS_OK);
    }
    CHECK(rs_object_remove(world, ids[1]) == RS_OK);
    CHECK(rs_object_set_command_wrench(world, ids[3], 0, weightless, weightless) == RS_OK);
    CHECK(rs_world_step(world, 10) == RS_OK);
    size_t held = rs_memory_bytes();
    CHECK(rs_world_step(world, 4000) == RS_OK);
    CHECK(rs_memory_bytes() == held);
    for (int k = 0; k < 6; k++) {
        rs_body_state state;
        if (k == 1)
            continue;
        CHECK(rs_body_get_state(world, ids[k], &state) == RS_OK);
        CHECK_NEAR(state.position[1], k == 3 ? 0.0 : 0.5 * k, 1e-4);
        CHECK_NEAR(state.position[2], k == 3 ? 2.0 : 3.0, 1e-4);
    }
    rs_world_destroy(world);
    CHECK(rs_memory_bytes() == 0);
}

static void wrong_commanded_poses_change_nothing(void)
{
    rs_world *world = make_heap(0);
    rs_object_id ball = add_shape(world, RS_SHAPE_SPHERE, RS_BODY_DYNAMIC, rs_v3(0, 0, 2));
    rs_object_id still = add_shape(world, RS_SHAPE_SPHERE, RS_BODY_STATIC, rs_v3(3, 0, 2));
    const rs_pose_target good = {.quaternion = {1, 0, 0, 0}};
    CHECK(rs_object_set_command_pose(world, still, &STIFF, &good) == RS_WRONG_TYPE);
    CHECK(rs_object_set_command_pose(world, 7, &STIFF, &good) == RS_UNKNOWN_OBJECT);
    for (int wrong = 0; wrong < 8; wrong++) {
        rs_pose_gains gains = STIFF;
        rs_pose_target target = good;
        if (wrong == 0) gains.linear[1] = -1.0;
        if (wrong == 1) gains.angular[2] = NAN;
        if (wrong == 2) gains.angular_shape[4] = INFINITY;
        if (wrong == 3) gains.carried_mass = -1.0;
        if (wrong == 4) gains.force_limit = NAN;
        if (wrong == 5) target.position[2] = NAN;
        if (wrong == 6) target.quaternion[0] = 0.0;
        if (wrong == 7) target.angular_velocity[1] = INFINITY;
        CHECK(rs_object_set_command_pose(world, ball, &gains, &target) == RS_INVALID_VALUE);
        CHECK(strlen(rs_error_text()) > 0);
    }
    rs_body_state state;
    CHECK(rs_world_step(world, 10) == RS_OK && rs_body_get_state(world, ball, &state) == RS_OK);
    CHECK_NEAR(state.linear_velocity[2], -9.81 * 10 * rs_world_time_step(world), 1e-12);
    rs_world_destroy(world);
}

static void a_refused_body_leaves_the_world_as_it_was(void)
{
    rs_world *world = make_heap(3);
    uint64_t hash = rs_world_state_hash(world), number = rs_world_configuration_number(world);
    size_t held = rs_memory_bytes();
    const rs_shape_def good = {.type = RS_SHAPE_BOX, .dim = {1, 1, 1}, .quaternion = {1, 0, 0, 0}};
    for (int wrong = 0; wrong < 10; wrong++) {
        rs_shape_def shapes[2] = {good, good};
        rs_body_def def;
        rs_default_body_def(&def);
        def.shape_count = 2;
        def.shapes = shapes;
        if (wrong == 0) def.properties.mass = -1.0;
        if (wrong == 1) def.properties.mass = NAN;
        if (wrong == 2) def.properties.com[1] = INFINITY;
        if (wrong == 3) def.state.quaternion[0] = 0.0;
        if (wrong == 4) def.properties.inertia[0] = 1.0; /* the others zero */
        if (wrong == 5) def.properties.body_type = 9;
        if (wrong == 6) shapes[1].dim[2] = 0.0;
        if (wrong == 7) shapes[1].type = RS_SHAPE_MESH; /* without an asset */
        if (wrong == 8) shapes[1].material = 77;
        if (wrong == 9) shapes[1].type = RS_SHAPE_HALF_SPACE; /* dynamic */
        rs_object_id id = 42;
        CHECK(rs_body_create(world, &def, &id) != RS_OK);
        CHECK(strlen(rs_error_text()) > 10);
        CHECK(id == 42);
    }
    CHECK(rs_world_state_hash(world) == hash && rs_world_configuration_number(world) == number);
    CHECK(rs_memory_bytes() == held && rs_world_object_count(world) == 4);
    rs_world_destroy(world);
}

static void the_halves_of_a_step_come_in_order(void)
{
    rs_world *world = make_heap(3);
    CHECK(rs_world_integrate2(world) == RS_WRONG_STATE);
    CHECK(rs_world_integrate1(world) == RS_OK);
    rs_snapshot *snapshot = NULL;
    CHECK(rs_snapshot_save(world, &snapshot) == RS_WRONG_STATE && snapshot == NULL);
    rs_object_id id;
    CHECK(rs_world_object_ids(world, &id, 1) == RS_INVALID_VALUE);
    rs_body_def def;
    rs_default_body_def(&def);
    CHECK(rs_body_create(world, &def, &id) == RS_WRONG_STATE);
    CHECK(rs_world_integrate2(world) == RS_OK);
    CHECK(rs_world_step_count(world) == 1);
    CHECK(rs_world_step(world, -1) == RS_INVALID_VALUE);
    CHECK(rs_world_step(world, 0) == RS_OK && rs_world_step_count(world) == 1);
    rs_world_destroy(world);
}

/* The first half is made again: where the bodies are now, contacts and islands are others. */
static void states_set_between_the_halves_are_kept(void)
{
    rs_world *world = make_heap(12);
    rs_object_id ids[64];
    int64_t count = rs_world_object_count(world);
    CHECK(rs_world_step(world, 100) == RS_OK && rs_world_object_ids(world, ids, 64) == RS_OK);
    for (int round = 0; round < 20; round++) {
        CHECK(rs_world_integrate1(world) == RS_OK);
        rs_body_state state;
        int64_t chosen = 1 + round % (count - 1);
        if (rs_body_get_state(world, ids[chosen], &state) != RS_OK)
            continue;
        state.position[2] += 3.0 + round;
        state.linear_velocity[2] = 0.0;
        CHECK(rs_body_set_state(world, ids[chosen], &state) == RS_OK);
        CHECK(rs_world_contact_count(world) >= 0 && rs_world_set_time_step(world, round % 2 ? 0.002 : 0.004) == RS_OK);
        CHECK(rs_world_integrate2(world) == RS_OK);
        rs_body_state after;
        CHECK(rs_body_get_state(world, ids[chosen], &after) == RS_OK);
        CHECK_NEAR(after.position[2], state.position[2], 1e-3);
    }
    rs_world_destroy(world);
}

static void a_snapshot_restores_bits_and_objects(void)
{
    rs_world *world = make_heap(20);
    CHECK(rs_world_step(world, 150) == RS_OK);
    rs_snapshot *snapshot = NULL;
    CHECK(rs_snapshot_save(world, &snapshot) == RS_OK);
    CHECK(rs_world_step(world, 100) == RS_OK);
    uint64_t expected = rs_world_state_hash(world);
    rs_object_id ids[21];
    CHECK(rs_world_object_ids(world, ids, 21) == RS_OK);
    CHECK(rs_object_remove(world, ids[7]) == RS_OK);
    rs_object_id added = add_shape(world, RS_SHAPE_SPHERE, RS_BODY_DYNAMIC, rs_v3(0, 0, 5));
    CHECK(rs_world_step(world, 30) == RS_OK);
    CHECK(rs_snapshot_restore(world, snapshot) == RS_OK);
    CHECK(rs_object_is_alive(world, ids[7]) && !rs_object_is_alive(world, added));
    CHECK(rs_world_step(world, 100) == RS_OK);
    CHECK(rs_world_state_hash(world) == expected);
    CHECK(add_shape(world, RS_SHAPE_SPHERE, RS_BODY_DYNAMIC, rs_v3_zero()) != added);
    rs_snapshot_destroy(snapshot);
    rs_world_destroy(world);
}

static void a_snapshot_can_be_taken_into_another_world(void)
{
    rs_world *world = make_heap(10), *other = NULL;
    CHECK(rs_world_create(&other) == RS_OK);
    CHECK(rs_world_step(world, 100) == RS_OK);
    rs_snapshot *snapshot = NULL;
    CHECK(rs_snapshot_save(world, &snapshot) == RS_OK);
    CHECK(rs_snapshot_restore(other, snapshot) == RS_OK);
    rs_snapshot_destroy(snapshot);
    CHECK(rs_world_step(world, 100) == RS_OK && rs_world_step(other, 100) == RS_OK);
    CHECK(rs_world_state_hash(world) == rs_world_state_hash(other));
    rs_world_destroy(world);
    CHECK(rs_world_step(other, 10) == RS_OK);
    rs_world_destroy(other);
    CHECK(rs_memory_bytes() == 0);
}

/* A link with a ball on a fixed base, in a world of its own. */
static rs_world *make_pendulum(rs_object_id *id)
{
    rs_world *world = NULL;
    CHECK(rs_world_create(&world) == RS_OK);
    rs_link_def links[2];
    rs_default_link_def(&links[0]);
    rs_default_link_def(&links[1]);
    links[1].parent = 0;
    links[1].joint_type = RS_JOINT_REVOLUTE;
    links[1].mass = 2.0;
    links[1].axis[1] = 1.0;
    links[1].axis[2] = 0.0;
    links[1].com[0] = 0.5;
    rs_link_shape_def ball = {.shape = {.type = RS_SHAPE_SPHERE, .dim = {0.1}, .quaternion = {1, 0, 0, 0}}, .link = 1};
    rs_articulation_def def = {.link_count = 2, .links = links, .shape_count = 1, .shapes = &ball};
    CHECK(rs_articulation_create(world, &def, id) == RS_OK);
    return world;
}

static void a_clone_moves_alike_and_owns_its_memory(void)
{
    rs_object_id source = 0, clone = 0, box = 0;
    rs_world *world = make_pendulum(&source);
    const double force[3] = {0, 0, 5}, none[3] = {0, 0, 0};
    double q[2], u[2];
    CHECK(rs_world_step(world, 10) == RS_OK);
    CHECK(rs_object_set_command_wrench(world, source, 1, force, none) == RS_OK);
    size_t held = rs_memory_bytes();
    CHECK(rs_object_clone(world, source, &clone) == RS_OK);
    CHECK(clone != source && rs_world_object_count(world) == 2);
    CHECK(rs_memory_bytes() > held);
    CHECK(rs_object_set_command_wrench(world, source, 1, none, none) == RS_OK); /* as on the clone */
    CHECK(rs_world_step(world, 50) == RS_OK);
    CHECK(rs_articulation_read(world, source, RS_FIELD_COORDINATE, &q[0], 1) == RS_OK);
    CHECK(rs_articulation_read(world, clone, RS_FIELD_COORDINATE, &q[1], 1) == RS_OK);
    CHECK(rs_articulation_read(world, source, RS_FIELD_VELOCITY, &u[0], 1) == RS_OK);
    CHECK(rs_articulation_read(world, clone, RS_FIELD_VELOCITY, &u[1], 1) == RS_OK);
    CHECK(q[0] == q[1] && u[0] == u[1] && u[0] != 0.0);
    CHECK(rs_object_remove(world, source) == RS_OK);
    CHECK(rs_world_step(world, 1) == RS_OK);
    CHECK(rs_object_clone(world, source, &box) == RS_UNKNOWN_OBJECT);
    box = add_shape(world, RS_SHAPE_BOX, RS_BODY_KINEMATIC, rs_v3(3, 0, 0));
    CHECK(rs_object_clone(world, box, &box) == RS_OK);
    rs_world_destroy(world);
    CHECK(rs_memory_bytes() == 0);
}

static void a_shared_mesh_lives_as_long_as_its_last_user(void)
{
    const double tetrahedron[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    rs_world *world = NULL;
    CHECK(rs_world_create(&world) == RS_OK);
    rs_asset_id asset = 0;
    rs_asset *made_convex = NULL;
    asset = asset_in(world, rs_asset_create_convex(4, tetrahedron, &made_convex), &made_convex);
    CHECK(asset != 0);
    rs_shape_def shape = {.type = RS_SHAPE_CONVEX, .asset = asset, .quaternion = {1, 0, 0, 0}};
    rs_body_def def;
    rs_default_body_def(&def);
    def.shape_count = 1;
    def.shapes = &shape;
    rs_object_id first, second;
    CHECK(rs_body_create(world, &def, &first) == RS_OK);
    CHECK(rs_body_create(world, &def, &second) == RS_OK);
    CHECK(rs_asset_release(world, asset) == RS_OK);
    rs_snapshot *snapshot = NULL;
    CHECK(rs_snapshot_save(world, &snapshot) == RS_OK);
    CHECK(rs_object_remove(world, first) == RS_OK);
    CHECK(rs_world_step(world, 5) == RS_OK);
    CHECK(rs_object_remove(world, second) == RS_OK);
    CHECK(rs_body_create(world, &def, &second) == RS_UNKNOWN_OBJECT); /* nobody holds the asset */
    CHECK(rs_snapshot_restore(world, snapshot) == RS_OK);
    CHECK(rs_world_step(world, 5) == RS_OK);
    rs_snapshot_destroy(snapshot);
    rs_world_destroy(world);
    CHECK(rs_memory_bytes() == 0);
}

static void an_asset_is_shared_by_worlds_and_outlives_its_creator(void)
{
    const double corners[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    const int32_t triangles[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
    rs_asset *asset = NULL;
    CHECK(rs_asset_create_mesh(4, corners, 1, (const int32_t[3]){0, 1, 4}, &asset) == RS_INVALID_VALUE);
    CHECK(asset == NULL);
    CHECK(rs_asset_create_mesh(4, corners, 4, triangles, &asset) == RS_OK);
    rs_world *worlds[2] = {NULL, NULL};
    for (int k = 0; k < 2; k++) {
        CHECK(rs_world_create(&worlds[k]) == RS_OK);
        rs_asset_id id = 0;
        CHECK(rs_asset_add(worlds[k], asset, &id) == RS_OK);
        rs_shape_def shape = {.type = RS_SHAPE_MESH, .asset = id, .quaternion = {1, 0, 0, 0}};
        rs_body_def def;
        rs_default_body_def(&def);
        def.shape_count = 1;
        def.shapes = &shape;
        rs_object_id body;
        CHECK(rs_body_create(worlds[k], &def, &body) == RS_OK);
        CHECK(rs_asset_release(worlds[k], id) == RS_OK);
        CHECK(rs_body_create(worlds[k], &def, &body) == RS_OK); /* the first body holds it */
    }
    rs_asset_destroy(asset);
    rs_world_destroy(worlds[0]);
    CHECK(rs_world_step(worlds[1], 5) == RS_OK);
    rs_world_destroy(worlds[1]);
    CHECK(rs_memory_bytes() == 0);
}

static void a_successor_takes_the_place_of_its_world(void)
{
    CHECK(rs_memory_bytes() == 0);
    rs_world *world = make_heap(10), *successor = NULL, *twin = make_heap(4);
    CHECK(rs_world_step(world, 50) == RS_OK);
    CHECK(rs_world_create_successor(world, 5, &successor) == RS_OK);
    rs_object_id kept = add_shape(world, RS_SHAPE_BOX, RS_BODY_DYNAMIC, rs_v3(0, 0, 9));
    CHECK(kept >> 32 == 17);
    rs_world *heap = make_heap(4);
    rs_snapshot *snapshot = NULL;
    CHECK(rs_snapshot_save(heap, &snapshot) == RS_OK);
    CHECK(rs_snapshot_restore(successor, snapshot) == RS_OK); /* other ids: as if it had none of its own */
    rs_snapshot_destroy(snapshot);
    rs_world_destroy(heap);
    CHECK(rs_world_succeed(successor, world) == RS_INVALID_VALUE);
    CHECK(rs_world_succeed(world, twin) == RS_INVALID_VALUE);
    CHECK(rs_world_succeed(world, successor) == RS_OK);
    CHECK(rs_world_succeed(world, successor) == RS_INVALID_VALUE);
    CHECK(rs_world_object_count(world) == 5 && rs_world_object_count(successor) == 12);
    CHECK(rs_object_is_alive(successor, kept) && !rs_object_is_alive(world, kept));
    CHECK(rs_world_validate(world) == RS_OK && rs_world_validate(successor) == RS_OK);
    CHECK(rs_world_step(world, 100) == RS_OK && rs_world_step(twin, 100) == RS_OK && rs_world_step(successor, 10) == RS_OK);
    CHECK(rs_world_state_hash(world) == rs_world_state_hash(twin));
    CHECK(add_shape(world, RS_SHAPE_BOX, RS_BODY_DYNAMIC, rs_v3(0, 0, 9)) >> 32 == 18);
    rs_world_destroy(world);
    rs_world_destroy(twin);
    rs_world_destroy(successor);
    CHECK(rs_memory_bytes() == 0);
}

/* Memory of a destroyed world is likely to be that of the next one. */
static void a_successor_of_a_destroyed_world_succeeds_none(void)
{
    rs_world *gone = NULL, *successor = NULL, *next = NULL;
    CHECK(rs_world_create(&gone) == RS_OK && rs_world_create_successor(gone, 5, &successor) == RS_OK);
    rs_world_destroy(gone);
    CHECK(rs_world_create(&next) == RS_OK);
    CHECK(rs_world_succeed(next, successor) == RS_INVALID_VALUE);
    rs_world_destroy(next);
    rs_world_destroy(successor);
}

int main(void)
{
    RUN(a_successor_of_a_destroyed_world_succeeds_none);
    RUN(a_successor_takes_the_place_of_its_world);
    RUN(a_destroyed_world_gives_everything_back);
    RUN(a_warm_step_allocates_nothing);
    RUN(ids_are_never_reused_and_places_are);
    RUN(removal_moves_the_last_object_into_the_hole);
    RUN(made_up_ids_are_refused_everywhere);
    RUN(commanded_poses_follow_their_bodies);
    RUN(wrong_commanded_poses_change_nothing);
    RUN(a_refused_body_leaves_the_world_as_it_was);
    RUN(the_halves_of_a_step_come_in_order);
    RUN(states_set_between_the_halves_are_kept);
    RUN(a_snapshot_restores_bits_and_objects);
    RUN(a_snapshot_can_be_taken_into_another_world);
    RUN(a_clone_moves_alike_and_owns_its_memory);
    RUN(a_shared_mesh_lives_as_long_as_its_last_user);
    RUN(an_asset_is_shared_by_worlds_and_outlives_its_creator);
    return CHECK_RESULT();
}
