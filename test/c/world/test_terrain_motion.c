/* Bodies that move over triangles as they would over a plane: no edge between two triangles stops or lifts them. */
#include <stdlib.h>
#include <string.h>

#include "../../../csrc/include/raisim_engine.h"
#include "../asset_fixture.h"
#include "../check.h"

enum { CELLS = 60 };
static const double SIZE = 12.0; /* of the ground [m] */

typedef enum { PLANE, SHEET, HEIGHTMAP, GROUNDS } ground_kind;

static rs_asset_id sheet_asset(rs_world *world)
{
    enum { N = CELLS + 1 };
    double *xyz = calloc((size_t)(3 * N * N), sizeof *xyz);
    int32_t *indices = malloc((size_t)(6 * CELLS * CELLS) * sizeof *indices), *next = indices;
    for (int i = 0; i < N * N; i++) {
        xyz[3 * i] = SIZE * ((double)(i % N) / CELLS - 0.5);
        xyz[3 * i + 1] = SIZE * ((double)(i / N) / CELLS - 0.5);
    }
    for (int y = 0; y < CELLS; y++)
        for (int x = 0; x < CELLS; x++) {
            int32_t a = y * N + x, corners[6] = {a, a + 1, a + N + 1, a, a + N + 1, a + N};
            memcpy(next, corners, sizeof corners);
            next += 6;
        }
    rs_asset_id asset = 0;
    rs_asset *made_mesh = NULL;
    asset = asset_in(world, rs_asset_create_mesh(N * N, xyz, 2 * CELLS * CELLS, indices, &made_mesh), &made_mesh);
    CHECK(asset != 0);
    free(xyz);
    free(indices);
    return asset;
}

static rs_asset_id grid_asset(rs_world *world)
{
    double *heights = calloc((CELLS + 1) * (CELLS + 1), sizeof *heights);
    rs_asset_id asset = 0;
    rs_asset *made_heightmap = NULL;
    asset = asset_in(world, rs_asset_create_heightmap(CELLS + 1, CELLS + 1, SIZE, SIZE, heights, &made_heightmap), &made_heightmap);
    CHECK(asset != 0);
    free(heights);
    return asset;
}

static void add_ground(rs_world *world, ground_kind kind)
{
    rs_shape_def shape = {.type = kind == PLANE ? RS_SHAPE_HALF_SPACE : kind == SHEET ? RS_SHAPE_MESH : RS_SHAPE_HEIGHTMAP,
                          .quaternion = {1, 0, 0, 0}};
    if (kind != PLANE)
        shape.asset = kind == SHEET ? sheet_asset(world) : grid_asset(world);
    rs_body_def def;
    rs_default_body_def(&def);
    def.properties.body_type = RS_BODY_STATIC;
    def.shape_count = 1;
    def.shapes = &shape;
    rs_object_id id;
    CHECK(rs_body_create(world, &def, &id) == RS_OK);
}

/* A body of 1 kg on its side on the ground, pushed off along (2, 0.7, 0) m/s at a yaw that fits no edge. */
static rs_body_state run(ground_kind ground, int32_t type, const double dim[3], double height, double friction, int steps)
{
    rs_world *world = NULL;
    CHECK(rs_world_create(&world) == RS_OK);
    rs_material_pair material = {.friction = friction};
    CHECK(rs_material_set_default(world, &material) == RS_OK);
    add_ground(world, ground);
    rs_shape_def shape = {.type = type, .dim = {dim[0], dim[1], dim[2]}, .quaternion = {1, 0, 0, 0}};
    rs_body_def def;
    rs_default_body_def(&def);
    def.properties.mass = 1.0;
    def.shape_count = 1;
    def.shapes = &shape;
    double position[3] = {-4.03, -1.51, height}, velocity[3] = {2.0, 0.7, 0.0};
    memcpy(def.state.position, position, sizeof position);
    memcpy(def.state.linear_velocity, velocity, sizeof velocity);
    def.state.quaternion[0] = cos(0.2);
    def.state.quaternion[3] = sin(0.2);
    rs_object_id id;
    CHECK(rs_body_create(world, &def, &id) == RS_OK);
    CHECK(rs_world_step(world, steps) == RS_OK);
    rs_body_state state;
    CHECK(rs_body_get_state(world, id, &state) == RS_OK);
    rs_world_destroy(world);
    return state;
}

static void check_like_plane(int32_t type, double a, double b, double c, double height, double friction, double tolerance)
{
    double dim[3] = {a, b, c};
    rs_body_state expected = run(PLANE, type, dim, height, friction, 400);
    for (int kind = SHEET; kind < GROUNDS; kind++) {
        rs_body_state found = run((ground_kind)kind, type, dim, height, friction, 400);
        for (int i = 0; i < 3; i++) {
            CHECK_NEAR(found.position[i], expected.position[i], tolerance);
            CHECK_NEAR(found.linear_velocity[i], expected.linear_velocity[i], tolerance);
            CHECK_NEAR(found.angular_velocity[i], expected.angular_velocity[i], tolerance);
        }
    }
}

static void a_box_slides_without_friction_at_constant_speed(void)
{
    check_like_plane(RS_SHAPE_BOX, 0.6, 0.4, 0.3, 0.15, 0.0, 1e-6);
}

static void a_box_slides_to_rest_where_it_would_on_a_plane(void)
{
    check_like_plane(RS_SHAPE_BOX, 0.6, 0.4, 0.3, 0.15, 0.2, 1e-3);
}

static void a_sphere_rolls_straight_on(void)
{
    check_like_plane(RS_SHAPE_SPHERE, 0.25, 0, 0, 0.25, 0.8, 1e-9);
}

static void a_cylinder_slides_on_its_end(void)
{
    check_like_plane(RS_SHAPE_CYLINDER, 0.25, 0.3, 0, 0.15, 0.0, 1e-5);
}

static void a_capsule_slides_upright_on_its_tip(void)
{
    check_like_plane(RS_SHAPE_CAPSULE, 0.2, 0.0001, 0, 0.20005, 0.0, 1e-6);
}

int main(void)
{
    RUN(a_box_slides_without_friction_at_constant_speed);
    RUN(a_box_slides_to_rest_where_it_would_on_a_plane);
    RUN(a_sphere_rolls_straight_on);
    RUN(a_cylinder_slides_on_its_end);
    RUN(a_capsule_slides_upright_on_its_tip);
    return CHECK_RESULT();
}
