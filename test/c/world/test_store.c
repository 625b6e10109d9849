/* Snapshots as bytes: the same bits in another world, and nothing but an error for bytes that were tampered with. */
#include "../../../csrc/base/stream.h"
#include "../../../csrc/include/raisim_engine.h"
#include "../../../csrc/world/world.h"
#include "../articulation_fixture.h"
#include "../asset_fixture.h"
#include "../check.h"
#include "../random.h"

#include <stdlib.h>

typedef struct {
    uint8_t *data;
    size_t size;
} bytes;

enum { HEAD = 40, SIZE_AT = 24, CHECKSUM_AT = 32 };

/* ---- a world with one of everything ---- */

static rs_object_id add_body(rs_world *world, rs_shape_def shape, int32_t type, double x, double z)
{
    rs_body_def def;
    rs_default_body_def(&def);
    shape.quaternion[0] = 1.0;
    def.properties.mass = 1.0;
    def.properties.body_type = type;
    def.shape_count = 1;
    def.shapes = &shape;
    def.state.position[0] = x;
    def.state.position[2] = z;
    rs_object_id id = 0;
    CHECK(rs_body_create(world, &def, &id) == RS_OK);
    return id;
}

static void add_geometry(rs_world *world)
{
    const double corners[15] = {0.3, 0, 0, -0.2, 0.3, 0, -0.2, -0.3, 0.1, 0, 0, 0.4, 0.1, 0.1, -0.3};
    const int32_t triangles[12] = {0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2};
    const double heights[12] = {0, 0.1, 0, 0.2, 0.1, 0, 0.3, 0, 0.1, 0.2, 0, 0.1};
    rs_asset_id hull, mesh, map;
    rs_asset *made_convex = NULL;
    hull = asset_in(world, rs_asset_create_convex(5, corners, &made_convex), &made_convex);
    CHECK(hull != 0);
    rs_asset *made_mesh = NULL;
    mesh = asset_in(world, rs_asset_create_mesh(4, corners, 4, triangles, &made_mesh), &made_mesh);
    CHECK(mesh != 0);
    rs_asset *made_heightmap = NULL;
    map = asset_in(world, rs_asset_create_heightmap(4, 3, 6.0, 4.0, heights, &made_heightmap), &made_heightmap);
    CHECK(map != 0);
    add_body(world, (rs_shape_def){.type = RS_SHAPE_CONVEX, .asset = hull}, RS_BODY_DYNAMIC, 1.0, 0.8);
    add_body(world, (rs_shape_def){.type = RS_SHAPE_MESH, .asset = mesh}, RS_BODY_STATIC, 2.0, 0.5);
    add_body(world, (rs_shape_def){.type = RS_SHAPE_HEIGHTMAP, .asset = map}, RS_BODY_STATIC, 0.0, 0.0);
    CHECK(rs_asset_release(world, hull) == RS_OK && rs_asset_release(world, mesh) == RS_OK && rs_asset_release(world, map) == RS_OK);
}

/* One of each kind, and a muscle and a servo that pull at them. */
static void define_tendons(rs_tendon_def tendons[4], rs_drive_def drives[2])
{
    static const rs_tendon_term terms[2] = {{1, 1.0}, {3, -0.5}};
    static const rs_route_def routes[6] = {
        {.link = 0, .position = {0.1, 0, 0.1}, .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}, .side_link = -1},
        {.kind = RS_ROUTE_SPHERE, .link = 1, .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}, .size = 0.03, .has_side = 1, .side_link = 1,
         .side = {0, 0.1, 0}},
        {.link = 2, .position = {0, 0, 0.2}, .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}, .side_link = -1},
        {.kind = RS_ROUTE_PULLEY, .link = -1, .side_link = -1, .size = 2.0},
        {.link = 3, .position = {0.1, 0, 0}, .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}, .side_link = -1},
        {.link = -1, .position = {0, 0, 1}, .rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}, .side_link = -1}};
    const rs_tendon_def plain = {.lower = -INFINITY, .upper = INFINITY};
    for (int k = 0; k < 4; k++)
        tendons[k] = plain;
    tendons[0].kind = RS_TENDON_FIXED, tendons[0].term_count = 2, tendons[0].terms = terms, tendons[0].stiffness = 3.0;
    tendons[1].kind = RS_TENDON_ROUTED, tendons[1].route_count = 6, tendons[1].routes = routes, tendons[1].damping = 0.1;
    tendons[2].kind = RS_TENDON_FRAMES, tendons[2].route_count = 2, tendons[2].routes = routes + 4, tendons[2].friction = 0.1;
    tendons[2].gear[0] = 1.0, tendons[2].gear[4] = 0.3;
    tendons[3].kind = RS_TENDON_CURVE, tendons[3].of[0] = 0, tendons[3].of[1] = 1, tendons[3].curve[1] = 0.5;
    tendons[3].stiffness = 2.0, tendons[3].upper = 1.5;
    const rs_drive_def free_drive = {.gear = 1.0, .control_range = {-INFINITY, INFINITY}, .activation_range = {-INFINITY, INFINITY},
                                     .force_range = {-INFINITY, INFINITY}, .length_range = {0.1, 1.0}, .strength = 1.0};
    drives[0] = drives[1] = free_drive;
    drives[0].tendon = 1, drives[0].dynamics = RS_DYNAMICS_MUSCLE, drives[0].gain_law = drives[0].bias_law = RS_LAW_MUSCLE;
    const double muscle[9] = {0.75, 1.05, 20.0, 200.0, 0.5, 1.6, 1.5, 1.3, 1.2};
    memcpy(drives[0].gain, muscle, sizeof muscle);
    memcpy(drives[0].bias, muscle, sizeof muscle);
    drives[0].dynamics_numbers[0] = 0.01, drives[0].dynamics_numbers[1] = 0.04;
    drives[1].dynamics = RS_DYNAMICS_FILTER, drives[1].bias_law = RS_LAW_AFFINE, drives[1].dynamics_numbers[0] = 0.1;
    drives[1].gain[0] = 5.0, drives[1].bias[1] = -5.0, drives[1].force_range[0] = -3.0, drives[1].force_range[1] = 3.0;
}

static rs_object_id add_robot(rs_world *world)
{
    rs_link_def links[4] = {fixture_link(-1, RS_JOINT_FLOATING), fixture_link(0, RS_JOINT_REVOLUTE),
                            fixture_link(1, RS_JOINT_SPHERICAL), fixture_link(0, RS_JOINT_PRISMATIC)};
    rs_link_shape_def shapes[2] = {{.link = 0, .shape = {.type = RS_SHAPE_BOX, .dim = {0.2, 0.2, 0.2}, .quaternion = {1}}},
                                   {.link = 3, .shape = {.type = RS_SHAPE_SPHERE, .dim = {0.1}, .quaternion = {1}}}};
    for (int k = 0; k < 2; k++)
        shapes[k].collision_group = shapes[k].collision_mask = UINT64_MAX;
    const rs_coupling_def coupling = {.follower = 3, .leader = 1, .multiplier = 0.2};
    rs_tendon_def tendons[4];
    rs_drive_def drives[2];
    define_tendons(tendons, drives);
    rs_articulation_def def = {.link_count = 4, .links = links, .shape_count = 2, .shapes = shapes, .coupling_count = 1,
                               .couplings = &coupling, .tendon_count = 4, .tendons = tendons, .drive_count = 2, .drives = drives};
    rs_object_id id = 0;
    CHECK(rs_articulation_create(world, &def, &id) == RS_OK);
    CHECK(rs_articulation_activate(world, id, 2, (const double[]){0.7, 0.4}) == RS_OK);
    return id;
}

static void add_particles(rs_world *world)
{
    double places[36], masses[12];
    double radii[12];
    for (int k = 0; k < 12; k++) {
        places[3 * k] = -2.0 + 0.12 * (k % 4), places[3 * k + 1] = 0.1 * (k / 4 % 2), places[3 * k + 2] = 0.5 + 0.1 * (k / 8);
        masses[k] = 0.1, radii[k] = 0.06;
    }
    rs_grains_def grains;
    rs_default_grains_def(&grains);
    rs_default_grain_material(&grains.material);
    grains.count = 12;
    grains.positions = places;
    grains.radii = radii;
    rs_object_id id = 0;
    CHECK(rs_grains_create(world, &grains, &id) == RS_OK);
    const int32_t struts[8] = {0, 1, 1, 2, 2, 3, 3, 0}, hinge[RS_HINGE_POINTS] = {0, 2, 1, 3, 0, 0}, triangles[6] = {0, 1, 2, 0, 2, 3};
    const double weights[RS_HINGE_POINTS] = {5, 5, -5, -5};
    const double compliances[4] = {1e-4, 1e-4, 1e-4, 1e-4}, cloth[12] = {3, 0, 1, 3.2, 0, 1, 3.2, 0.2, 1, 3, 0.2, 1.1};
    rs_deformable_def def = {.object_type = grains.object_type, .count = 4, .positions = cloth, .masses = masses, .strut_count = 4,
                             .struts = struts, .compliances = compliances, .hinge_count = 1, .hinges = hinge, .hinge_weights = weights, .bend_compliance = 1.0,
                             .triangle_count = 2, .triangles = triangles,
                             .settings = {.collision_radius = 0.01, .iterations = 2, .substeps = 2},
                             .collision_group = UINT64_MAX, .collision_mask = UINT64_MAX};
    CHECK(rs_deformable_create(world, &def, &id) == RS_OK);
}

static rs_world *busy_world(void)
{
    rs_world *world = NULL;
    CHECK(rs_world_create(&world) == RS_OK);
    add_geometry(world);
    rs_object_id removed = add_body(world, (rs_shape_def){.type = RS_SHAPE_SPHERE, .dim = {0.1}}, RS_BODY_DYNAMIC, -1.0, 2.0);
    rs_object_id ball = add_body(world, (rs_shape_def){.type = RS_SHAPE_SPHERE, .dim = {0.1}}, RS_BODY_DYNAMIC, -1.0, 0.6);
    rs_object_id box = add_body(world, (rs_shape_def){.type = RS_SHAPE_BOX, .dim = {0.2, 0.2, 0.2}}, RS_BODY_DYNAMIC, -0.5, 0.6);
    rs_object_id robot = add_robot(world);
    rs_wire_def wire;
    rs_default_wire_def(&wire);
    wire.object[0] = ball, wire.object[1] = robot;
    wire.local[1] = 3;
    wire.properties.length = 1.0;
    rs_wire_id wire_id = 0;
    CHECK(rs_wire_create(world, &wire, &wire_id) == RS_OK);
    rs_pose_gains gains = {.linear = {100, 1, 10}, .angular = {10, 1, 1}, .angular_shape = {1, 1, 1}, .force_limit = 10, .torque_limit = 10};
    rs_pose_target target = {.position = {-0.5, 0.2, 0.8}, .quaternion = {1}};
    CHECK(rs_object_set_command_pose(world, box, &gains, &target) == RS_OK);
    add_particles(world);
    CHECK(rs_object_remove(world, removed) == RS_OK);
    CHECK(rs_world_step(world, 60) == RS_OK);
    return world;
}

static bytes store(rs_world *world, int32_t geometry)
{
    rs_snapshot *snapshot = NULL;
    bytes out = {0};
    CHECK(rs_snapshot_save(world, &snapshot) == RS_OK);
    CHECK(rs_snapshot_store(snapshot, geometry, NULL, 0, &out.size) == RS_OK);
    out.data = malloc(out.size);
    CHECK(rs_snapshot_store(snapshot, geometry, out.data, out.size - 1, &out.size) == RS_INVALID_VALUE);
    CHECK(rs_snapshot_store(snapshot, geometry, out.data, out.size, &out.size) == RS_OK);
    rs_snapshot_destroy(snapshot);
    return out;
}

/* Makes damaged bytes look whole. */
static void seal(bytes b)
{
    uint64_t size = b.size - HEAD, checksum = rs_hash_bytes(RS_HASH_BEGIN, b.data + HEAD, b.size - HEAD);
    memcpy(b.data + SIZE_AT, &size, sizeof size);
    memcpy(b.data + CHECKSUM_AT, &checksum, sizeof checksum);
}

/* ---- tests ---- */

static void another_world_goes_on_to_the_same_bits(void)
{
    rs_world *world = busy_world(), *other = NULL;
    bytes whole = store(world, 1);
    rs_snapshot *snapshot = NULL;
    CHECK(rs_world_create(&other) == RS_OK);
    if (!CHECK(rs_snapshot_load(whole.data, whole.size, NULL, &snapshot) == RS_OK)) {
        fprintf(stderr, "%s\n", rs_error_text());
        exit(1);
    }
    CHECK(rs_snapshot_fits(world, snapshot) == RS_OK);
    CHECK(rs_snapshot_fits(other, snapshot) == RS_INVALID_VALUE);
    CHECK(rs_snapshot_restore(other, snapshot) == RS_OK);
    bytes again = store(other, 1);
    CHECK(rs_world_step(world, 200) == RS_OK && rs_world_step(other, 200) == RS_OK);
    CHECK(rs_world_state_hash(world) == rs_world_state_hash(other));
    CHECK(rs_world_validate(other) == RS_OK);
    CHECK(again.size == whole.size);
    rs_snapshot_destroy(snapshot);
    rs_world_destroy(world);
    rs_world_destroy(other);
    free(whole.data);
    free(again.data);
}

static void without_geometry_it_needs_a_world_that_has_it(void)
{
    rs_world *world = busy_world();
    bytes named = store(world, 0), whole = store(world, 1);
    rs_snapshot *snapshot = NULL;
    CHECK(named.size < whole.size);
    CHECK(rs_snapshot_load(named.data, named.size, NULL, &snapshot) == RS_INVALID_VALUE && snapshot == NULL);
    CHECK(rs_snapshot_load(named.data, named.size, world, &snapshot) == RS_OK);
    rs_snapshot_destroy(snapshot);
    size_t before = rs_memory_bytes();
    CHECK(rs_snapshot_load(whole.data, whole.size, world, &snapshot) == RS_OK);
    rs_snapshot_destroy(snapshot);
    CHECK(rs_memory_bytes() == before);
    rs_world_destroy(world);
    free(named.data);
    free(whole.data);
}

static void damage_is_seen(void)
{
    rs_world *world = busy_world();
    bytes b = store(world, 1);
    rs_snapshot *snapshot = NULL;
    size_t before = rs_memory_bytes();
    for (size_t at = 0; at < b.size; at += at < 2 * HEAD ? 1 : 97) {
        b.data[at] ^= 0x10;
        CHECK(rs_snapshot_load(b.data, b.size, world, &snapshot) == RS_INVALID_VALUE);
        b.data[at] ^= 0x10;
        CHECK(rs_snapshot_load(b.data, at, world, &snapshot) == RS_INVALID_VALUE);
    }
    CHECK(rs_memory_bytes() == before);
    rs_world_destroy(world);
    free(b.data);
}

/* What is accepted is simulated a little: nothing may be touched that is not there. */
static int try_bytes(bytes b)
{
    rs_snapshot *snapshot = NULL;
    rs_world *world = NULL;
    if (rs_snapshot_load(b.data, b.size, NULL, &snapshot) != RS_OK)
        return 0;
    CHECK(rs_world_create(&world) == RS_OK);
    CHECK(rs_snapshot_restore(world, snapshot) == RS_OK);
    double pose[7 * 64], twist[6 * 64], wrench[6 * 64];
    uint8_t asleep[64];
    int64_t done;
    rs_world_step_within(world, 2, 0.05, &done);
    rs_state_rows rows = {rs_world_configuration_number(world), 0, pose, twist, wrench, asleep};
    if (rs_world_object_count(world) <= 64)
        CHECK(rs_world_read_states(world, &rows) == RS_OK);
    rows.configuration_number++;
    CHECK(rs_world_read_states(world, &rows) == RS_WRONG_STATE);
    rs_snapshot_destroy(snapshot);
    rs_world_destroy(world);
    return 1;
}

static void tampering_leads_to_errors_or_to_other_worlds(void)
{
    rs_world *world = busy_world();
    bytes b = store(world, 1);
    size_t before = rs_memory_bytes();
    uint64_t random = 20240607;
    int accepted = 0;
    const char *rounds = getenv("RAISIM_FUZZ");
    int count = rounds != NULL ? atoi(rounds) : 3000;
    uint8_t *original = malloc(b.size);
    memcpy(original, b.data, b.size);
    for (int k = 0; k < count; k++) {
        bytes tampered = b;
        size_t at = HEAD + (size_t)random_between(&random, 0.0, (double)(b.size - HEAD - 8));
        int kind = (int)random_between(&random, 0.0, 5.0);
        if (kind == 0)
            b.data[at] ^= (uint8_t)(1u << (int)random_between(&random, 0.0, 8.0));
        else if (kind == 1)
            memset(b.data + at, 0xff, 4);
        else if (kind == 2)
            memset(b.data + at, 0x7f, 8);
        else if (kind == 3)
            b.data[at] = (uint8_t)random_between(&random, 0.0, 256.0);
        else
            tampered.size = at;
        seal(tampered);
        accepted += try_bytes(tampered);
        memcpy(b.data, original, b.size);
    }
    CHECK(accepted > 0 && accepted < count);
    CHECK(rs_memory_bytes() == before);
    rs_world_destroy(world);
    free(original);
    free(b.data);
}

static void steps_and_reads_are_no_changes(void)
{
    rs_world *world = NULL;
    CHECK(rs_world_create(&world) == RS_OK);
    rs_object_id ball = add_body(world, (rs_shape_def){.type = RS_SHAPE_SPHERE, .dim = {0.1}}, RS_BODY_DYNAMIC, 0.0, 1.0);
    uint64_t before = rs_world_change_count(world), geometry = rs_world_geometry_number(world);
    rs_body_state state;
    rs_snapshot *snapshot = NULL;
    CHECK(rs_world_step(world, 10) == RS_OK && rs_body_get_state(world, ball, &state) == RS_OK);
    CHECK(rs_snapshot_save(world, &snapshot) == RS_OK && rs_world_state_hash(world) != 0);
    CHECK(rs_world_change_count(world) == before && rs_world_geometry_number(world) == geometry);
    CHECK(rs_body_set_state(world, ball, &state) == RS_OK && rs_world_change_count(world) > before);
    before = rs_world_change_count(world);
    CHECK(rs_world_touch(world) == RS_OK && rs_world_change_count(world) > before);
    before = rs_world_change_count(world);
    CHECK(rs_world_integrate1(world) == RS_OK && rs_world_integrate2(world) == RS_OK && rs_world_change_count(world) > before);
    before = rs_world_change_count(world);
    CHECK(rs_snapshot_restore(world, snapshot) == RS_OK && rs_world_change_count(world) > before);
    CHECK(rs_world_geometry_number(world) > geometry); /* what it brings back may have gone since */
    geometry = rs_world_geometry_number(world);
    add_geometry(world);
    CHECK(rs_world_geometry_number(world) == geometry + 3);
    rs_snapshot_destroy(snapshot);
    rs_world_destroy(world);
}

int main(void)
{
    RUN(steps_and_reads_are_no_changes);
    RUN(another_world_goes_on_to_the_same_bits);
    RUN(without_geometry_it_needs_a_world_that_has_it);
    RUN(damage_is_seen);
    RUN(tampering_leads_to_errors_or_to_other_worlds);
    return CHECK_RESULT();
}
