/* Bundles of rays find what single rays find: every shape, from outside and inside, coherent and wild bundles,
 * directions along the axes, lanes that are not in use. */
#include "../../../csrc/collision/ray_packet.h"
#include "../check.h"
#include "../random.h"
#include "../surface_fixture.h"

enum { ROUNDS = 400 };

static rs_vec3 some_direction(uint64_t *state, rs_vec3 around, double spread)
{
    return rs_normalize_or(rs_add(around, random_vector(state, spread)), rs_v3(1, 0, 0));
}

/* A bundle around a direction; now and then some rays lie exactly along an axis. */
static rs_packet_rays some_rays(uint64_t *state, rs_vec3 origin, double spread)
{
    rs_packet_rays rays = {.origin = origin};
    rs_vec3 around = some_direction(state, rs_neg(origin), 1.0);
    for (int l = 0; l < RS_LANES; l++) {
        rs_vec3 d = some_direction(state, around, spread);
        if (random_between(state, 0, 1) < 0.05)
            d = l % 3 == 0 ? rs_v3(-1, 0, 0) : l % 3 == 1 ? rs_v3(0, 1, 0) : rs_v3(0, 0, -1);
        rays.x[l] = d.x;
        rays.y[l] = d.y;
        rays.z[l] = d.z;
    }
    return rays;
}

/* Compares one bundle; the numbers of lanes that hit and that differ are added up. Grazing rays may go either way. */
static void compare(const rs_shape *shape, const rs_packet_rays *rays, double reach, int *hit_count, int *differing)
{
    rs_packet_hits hits = {{0}, {0}, {0}};
    for (int l = 0; l < RS_LANES; l++) {
        hits.distance[l] = l == 5 ? -1.0 : reach;
        hits.target[l] = RS_NO_TARGET;
    }
    rs_packet_shape(shape, rays, 7, &hits);
    CHECK(hits.target[5] == RS_NO_TARGET);
    for (int l = 0; l < RS_LANES; l++) {
        rs_ray ray = rs_packet_ray(rays, l, reach);
        rs_ray_hit expected;
        bool hit = l != 5 && rs_ray_shape(shape, &ray, &expected);
        *hit_count += hit;
        if (hit != (hits.target[l] == 7)) {
            ++*differing;
            continue;
        }
        if (!hit)
            continue;
        if (fabs(hits.distance[l] - expected.distance) > 1e-9) {
            ++*differing;
            continue;
        }
        CHECK_NEAR(rs_dot(rs_packet_normal(shape, &ray, hits.feature[l]), expected.normal), 1.0, 1e-6);
    }
}

static void compare_many(const rs_shape *shape, int allowed)
{
    uint64_t state = 99;
    int hit_count = 0, differing = 0;
    for (int round = 0; round < ROUNDS; round++) {
        double away = round % 4 == 0 ? 0.1 : 3.0;
        rs_packet_rays rays = some_rays(&state, random_vector(&state, away), round % 2 == 0 ? 0.1 : 2.0);
        compare(shape, &rays, round % 3 == 0 ? 1.5 : 20.0, &hit_count, &differing);
    }
    CHECK(hit_count > ROUNDS);
    if (!CHECK(differing <= allowed))
        fprintf(stderr, "shape %d: %d of %d lanes differ\n", (int)shape->type, differing, ROUNDS * RS_LANES);
}

static void test_primitives_agree_with_single_rays(void)
{
    const rs_shape shapes[] = {{.type = RS_SHAPE_SPHERE, .radius = 0.7},
                               {.type = RS_SHAPE_BOX, .half = {0.5, 0.8, 0.3}},
                               {.type = RS_SHAPE_CYLINDER, .radius = 0.6, .half_height = 0.8},
                               {.type = RS_SHAPE_CAPSULE, .radius = 0.4, .half_height = 0.6},
                               {.type = RS_SHAPE_CONE, .radius = 0.7, .half_height = 0.6},
                               {.type = RS_SHAPE_HALF_SPACE}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        compare_many(&shapes[i], 0);
}

static void test_meshes_agree_with_single_rays(void)
{
    rs_tri_mesh *box = box_mesh(1.0, 1.4, 0.8);
    rs_shape shape = shape_of_mesh(box);
    compare_many(&shape, 2);
    rs_tri_mesh_free(box);

    double heights[41 * 41];
    uint64_t state = 5;
    for (int i = 0; i < 41 * 41; i++)
        heights[i] = random_between(&state, -0.2, 0.2);
    rs_tri_mesh *sheet = sheet_mesh(40, 4.0, heights);
    shape = shape_of_mesh(sheet);
    compare_many(&shape, 2);
    rs_tri_mesh_free(sheet);
}

static void test_heightmaps_of_every_size_agree_with_single_rays(void)
{
    const int32_t cells[] = {1, 3, 8, 9, 40};
    double heights[41 * 41];
    uint64_t state = 6;
    for (int i = 0; i < 41 * 41; i++)
        heights[i] = random_between(&state, -0.2, 0.2);
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        rs_height_grid *grid = grid_of(cells[i], 4.0, heights);
        rs_shape shape = shape_of_grid(grid);
        compare_many(&shape, 2);
        rs_height_grid_free(grid);
    }
    rs_height_grid *flat = grid_of(20, 4.0, NULL);
    rs_shape shape = shape_of_grid(flat);
    compare_many(&shape, 2);
    rs_height_grid_free(flat);
}

/* Straight down on the corners and diagonals of cells: every ray must hit, at the height of the map. */
static void test_rays_on_edges_are_not_lost(void)
{
    rs_height_grid *grid = grid_of(8, 8.0, NULL);
    rs_shape shape = shape_of_grid(grid);
    for (int32_t i = 0; i <= 8; i++)
        for (int32_t j = 0; j <= 8; j++) {
            rs_packet_rays rays = {.origin = {i - 4.0, j - 4.0, 3.0}};
            rs_packet_hits hits = {{0}, {0}, {0}};
            for (int l = 0; l < RS_LANES; l++) {
                rays.z[l] = -1.0;
                hits.distance[l] = 10.0;
                hits.target[l] = RS_NO_TARGET;
            }
            rs_packet_shape(&shape, &rays, 0, &hits);
            for (int l = 0; l < RS_LANES; l++)
                CHECK_NEAR(hits.distance[l], 3.0, 1e-12);
        }
    rs_height_grid_free(grid);
}

static void test_nearest_of_several_shapes_wins(void)
{
    rs_shape ball = {.type = RS_SHAPE_SPHERE, .radius = 1.0}, box = {.type = RS_SHAPE_BOX, .half = {2, 2, 0.5}};
    rs_packet_rays rays = {.origin = {0, 0, 5}};
    rs_packet_hits hits = {{0}, {0}, {0}};
    for (int l = 0; l < RS_LANES; l++) {
        rs_vec3 d = rs_normalize_or(rs_v3(0.02 * l, 0, -1), rs_v3(0, 0, -1));
        rays.x[l] = d.x;
        rays.z[l] = d.z;
        hits.distance[l] = 10.0;
        hits.target[l] = RS_NO_TARGET;
    }
    rs_packet_shape(&ball, &rays, 1, &hits);
    rs_packet_shape(&box, &rays, 2, &hits);
    CHECK(hits.target[0] == 1);
    CHECK_NEAR(hits.distance[0], 4.0, 1e-12);
    CHECK(hits.target[15] == 2); /* passes the ball */
    CHECK_NEAR(hits.distance[15], 4.5 / -rays.z[15], 1e-12);
}

int main(void)
{
    RUN(test_primitives_agree_with_single_rays);
    RUN(test_meshes_agree_with_single_rays);
    RUN(test_heightmaps_of_every_size_agree_with_single_rays);
    RUN(test_rays_on_edges_are_not_lost);
    RUN(test_nearest_of_several_shapes_wins);
    return CHECK_RESULT();
}
