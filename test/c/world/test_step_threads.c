/* A step shared by threads, and worlds that several threads use: same bits, and no race under ThreadSanitizer
 * (`make test-c-threads`). */
#include "../../../csrc/include/raisim_engine.h"

#include <pthread.h>
#include <string.h>

#include "../asset_fixture.h"
#include "../check.h"
#include "../random.h"

enum { BALLS = 60, ROBOTS = 4, GRAINS = 400, STEPS = 60, RAYS = 64 };

static rs_object_id add_body(rs_world *world, int32_t shape_type, int32_t body_type, double x, double y, double z) {
    rs_body_def def;
    rs_shape_def shape = {.type = shape_type, .dim = {0.1, 0.1, 0.1}, .quaternion = {1, 0, 0, 0}};
    const double position[3] = {x, y, z};
    rs_object_id id = {0};
    rs_default_body_def(&def);
    def.shape_count = 1;
    def.shapes = &shape;
    def.properties.body_type = body_type;
    memcpy(def.state.position, position, sizeof position);
    CHECK(rs_body_create(world, &def, &id) == RS_OK);
    return id;
}

/* A floating link with a hinged one. */
static void add_robot(rs_world *world, double x) {
    rs_link_def links[2];
    rs_link_shape_def shapes[2];
    const double inertia[6] = {0.01, 0.02, 0.03, 0, 0, 0}, q[8] = {x, -1.0, 0.4, 1, 0, 0, 0, 0.2};
    for (int k = 0; k < 2; k++) {
        rs_default_link_def(&links[k]);
        links[k].mass = 1.0;
        memcpy(links[k].inertia, inertia, sizeof inertia);
        shapes[k] = (rs_link_shape_def){.link = k, .collision_group = 1, .collision_mask = UINT64_MAX};
        shapes[k].shape = (rs_shape_def){.type = RS_SHAPE_BOX, .dim = {0.1, 0.2, 0.15}, .quaternion = {1, 0, 0, 0}};
    }
    links[0].joint_type = RS_JOINT_FLOATING;
    links[1].joint_type = RS_JOINT_REVOLUTE;
    links[1].parent = 0;
    links[1].joint_position[0] = 0.3;
    rs_articulation_def def = {.link_count = 2, .links = links, .shape_count = 2, .shapes = shapes};
    rs_object_id id;
    CHECK(rs_articulation_create(world, &def, &id) == RS_OK);
    CHECK(rs_articulation_write(world, id, RS_FIELD_COORDINATE, q, 8) == RS_OK);
}

static void add_grains(rs_world *world) {
    double positions[3 * GRAINS], radii[GRAINS];
    for (int k = 0; k < GRAINS; k++) {
        const double place[3] = {2.0 + 0.05 * (k % 10), 0.05 * (k / 10 % 10), 0.03 + 0.05 * (k / 100)};
        memcpy(positions + 3 * k, place, sizeof place);
        radii[k] = 0.024;
    }
    rs_grains_def def;
    rs_object_id id;
    rs_default_grains_def(&def);
    def.count = GRAINS;
    def.positions = positions;
    def.radii = radii;
    CHECK(rs_grains_create(world, &def, &id) == RS_OK);
}

/* A pile in one island, robots, grains. */
static rs_world *make_world(void) {
    rs_world *world = NULL;
    CHECK(rs_world_create(&world) == RS_OK);
    add_body(world, RS_SHAPE_HALF_SPACE, RS_BODY_STATIC, 0, 0, 0);
    for (int k = 0; k < BALLS; k++)
        add_body(world, k % 3 ? RS_SHAPE_SPHERE : RS_SHAPE_BOX, RS_BODY_DYNAMIC, 0.19 * (k % 4), 0.19 * (k / 4 % 4),
                 0.1 + 0.2 * (k / 16));
    for (int k = 0; k < ROBOTS; k++)
        add_robot(world, 0.8 * k);
    add_grains(world);
    return world;
}

static void look(rs_world *world) {
    static _Thread_local double points[3 * RAYS];
    int64_t count;
    rs_ray_rule rule = {.mask = UINT64_MAX};
    rs_lidar lidar = {.position = {1, 1, 2}, .quaternion = {1, 0, 0, 0}, .yaw_last = 15, .yaw_increment = 0.4,
                      .spin_direction = 1, .pitch_samples = 4, .pitch_min = -1.2, .pitch_increment = 0.2,
                      .range_max = 20.0};
    CHECK(rs_world_scan_lidar(world, &lidar, &rule, points, &count) == RS_OK);
}

static uint64_t end_of_run(int32_t threads) {
    rs_world *world = make_world();
    CHECK(rs_world_set_threads(world, threads) == RS_OK);
    for (int k = 0; k < STEPS; k++) {
        CHECK(rs_world_step(world, 1) == RS_OK);
        if (k % 10 == 0)
            look(world);
    }
    CHECK(rs_world_validate(world) == RS_OK);
    uint64_t hash = rs_world_state_hash(world);
    rs_world_destroy(world);
    return hash;
}

static void threads_change_no_bits(void) {
    const uint64_t alone = end_of_run(1);
    for (int32_t threads = 2; threads <= 4; threads++)
        CHECK(end_of_run(threads) == alone);
    CHECK(rs_memory_bytes() == 0);
}

static void *run_of_its_own(void *hash) {
    *(uint64_t *)hash = end_of_run(2);
    return NULL;
}

static void worlds_of_several_threads_know_nothing_of_each_other(void) {
    pthread_t threads[3];
    uint64_t hashes[3] = {0};
    for (int k = 0; k < 3; k++)
        CHECK(pthread_create(&threads[k], NULL, run_of_its_own, &hashes[k]) == 0);
    for (int k = 0; k < 3; k++)
        pthread_join(threads[k], NULL);
    CHECK(hashes[0] == hashes[1] && hashes[1] == hashes[2] && hashes[0] == end_of_run(1));
    CHECK(rs_memory_bytes() == 0);
}

static void *add_and_remove(void *world) {
    for (int k = 0; k < 40; k++) {
        rs_object_id id = add_body(world, RS_SHAPE_SPHERE, RS_BODY_DYNAMIC, -1.0, 0.0, 0.5);
        (void)rs_world_state_hash(world);
        CHECK(rs_object_remove(world, id) == RS_OK);
    }
    return NULL;
}

static void *step_and_look(void *world) {
    for (int k = 0; k < 40; k++) {
        CHECK(rs_world_step(world, 1) == RS_OK);
        look(world);
    }
    return NULL;
}

/* A square of cloth, a hull, wires, materials: made and removed while others step. */
static void add_cloth(rs_world *world, rs_object_id *id) {
    const double positions[12] = {3, 3, 1, 3.2, 3, 1, 3.2, 3.2, 1, 3, 3.2, 1}, masses[4] = {0.1, 0.1, 0.1, 0.1};
    const double compliances[5] = {0};
    const int32_t struts[10] = {0, 1, 1, 2, 2, 3, 3, 0, 0, 2}, triangles[6] = {0, 1, 2, 0, 2, 3};
    rs_deformable_def def = {.count = 4, .positions = positions, .masses = masses, .strut_count = 5, .struts = struts,
                             .compliances = compliances, .triangle_count = 2, .triangles = triangles,
                             .settings = {.collision_radius = 0.01, .iterations = 4, .substeps = 1},
                             .collision_group = 1, .collision_mask = UINT64_MAX};
    CHECK(rs_deformable_create(world, &def, id) == RS_OK);
}

static void *make_of_everything(void *argument) {
    rs_world *world = argument;
    for (int k = 0; k < 20; k++) {
        char name[64];
        int32_t material;
        rs_wire_def wire;
        rs_wire_id wire_id;
        rs_object_id ends[3], cloth;
        snprintf(name, sizeof name, "material %d", k);
        CHECK(rs_material_index(world, name, &material) == RS_OK);
        CHECK(rs_material_get_name(world, material, name) == RS_OK);
        for (int end = 0; end < 2; end++)
            ends[end] = add_body(world, RS_SHAPE_BOX, RS_BODY_DYNAMIC, -2.0, 0.5 * end, 1.0);
        CHECK(rs_object_set_material(world, ends[0], 0, material) == RS_OK);
        rs_default_wire_def(&wire);
        memcpy(wire.object, ends, sizeof wire.object);
        wire.properties.length = 0.6;
        CHECK(rs_wire_create(world, &wire, &wire_id) == RS_OK);
        CHECK(rs_object_clone(world, ends[1], &ends[2]) == RS_OK);
        add_cloth(world, &cloth);
        (void)rs_world_contact_count(world);
        for (int end = 0; end < 3; end++)
            CHECK(rs_object_remove(world, ends[end]) == RS_OK);
        CHECK(!rs_wire_is_alive(world, wire_id));
        CHECK(rs_object_remove(world, cloth) == RS_OK);
    }
    return NULL;
}

/* Copies share hulls and models of robots with the world, and end in this thread. */
static void *copy_and_go_on(void *argument) {
    for (int k = 0; k < 6; k++) {
        rs_world *copy = NULL;
        rs_snapshot *snapshot = NULL;
        rs_batch *batch = NULL;
        size_t size;
        CHECK(rs_world_clone(argument, &copy) == RS_OK);
        CHECK(rs_snapshot_save(argument, &snapshot) == RS_OK);
        CHECK(rs_snapshot_store(snapshot, 1, NULL, 0, &size) == RS_OK);
        CHECK(rs_world_step(copy, 2) == RS_OK);
        CHECK(rs_snapshot_restore(copy, snapshot) == RS_OK);
        CHECK(rs_batch_create(argument, 2, 2, &batch) == RS_OK);
        int64_t done;
        CHECK(rs_batch_step(batch, 2, 1e300, 0, &done) == RS_OK);
        rs_batch_destroy(batch);
        rs_snapshot_destroy(snapshot);
        rs_world_destroy(copy);
    }
    return NULL;
}

static void add_hull(rs_world *world) {
    const double corners[12] = {0, 0, 0, 0.2, 0, 0, 0, 0.2, 0, 0, 0, 0.2}, position[3] = {4, 0, 0.1};
    rs_asset_id asset;
    rs_asset *made_convex = NULL;
    asset = asset_in(world, rs_asset_create_convex(4, corners, &made_convex), &made_convex);
    CHECK(asset != 0);
    rs_shape_def shape = {.type = RS_SHAPE_CONVEX, .asset = asset, .quaternion = {1, 0, 0, 0}};
    rs_body_def def;
    rs_object_id id;
    rs_default_body_def(&def);
    def.shape_count = 1;
    def.shapes = &shape;
    memcpy(def.state.position, position, sizeof position);
    CHECK(rs_body_create(world, &def, &id) == RS_OK);
    CHECK(rs_asset_release(world, asset) == RS_OK);
}

static void one_world_serves_several_threads(void) {
    rs_world *world = make_world();
    add_hull(world);
    CHECK(rs_world_set_threads(world, 2) == RS_OK);
    void *(*work[])(void *) = {add_and_remove, step_and_look, make_of_everything, copy_and_go_on, step_and_look};
    enum { THREADS = sizeof work / sizeof *work };
    pthread_t threads[THREADS];
    for (int k = 0; k < THREADS; k++)
        CHECK(pthread_create(&threads[k], NULL, work[k], world) == 0);
    for (int k = 0; k < THREADS; k++)
        pthread_join(threads[k], NULL);
    CHECK(rs_world_validate(world) == RS_OK);
    rs_world_destroy(world);
    CHECK(rs_memory_bytes() == 0);
}

/* Whoever still steps and fills a successor does so before or after it is taken over, not meanwhile. */
static void a_successor_is_taken_over_while_others_use_it(void) {
    rs_world *world = make_world(), *successor = NULL;
    CHECK(rs_world_create_successor(world, 1000, &successor) == RS_OK);
    pthread_t threads[2];
    for (int k = 0; k < 2; k++)
        CHECK(pthread_create(&threads[k], NULL, step_and_look, successor) == 0);
    for (int k = 0; k < 20; k++)
        (void)add_body(successor, RS_SHAPE_SPHERE, RS_BODY_DYNAMIC, -1.0, 0.0, 0.5 + k);
    CHECK(rs_world_succeed(world, successor) == RS_OK);
    for (int k = 0; k < 2; k++)
        pthread_join(threads[k], NULL);
    CHECK(rs_world_object_count(world) == 20);
    CHECK(rs_world_validate(world) == RS_OK && rs_world_validate(successor) == RS_OK);
    rs_world_destroy(world);
    rs_world_destroy(successor);
    CHECK(rs_memory_bytes() == 0);
}

int main(void)
{
    RUN(threads_change_no_bits);
    RUN(worlds_of_several_threads_know_nothing_of_each_other);
    RUN(one_world_serves_several_threads);
    RUN(a_successor_is_taken_over_while_others_use_it);
    return CHECK_RESULT();
}
