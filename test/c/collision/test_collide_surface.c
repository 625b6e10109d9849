/* Convex shapes and half-spaces against meshes and heightmaps. */
#include "../../../csrc/base/memory.h"
#include "../../../csrc/model/convex.h"
#include "../surface_fixture.h"

static const double PI = 3.14159265358979323846;

/* ---- flat ground of triangles is a plane ---- */

static void check_like_half_space(const rs_shape *shape, rs_transform pose, const rs_shape *ground, double margin)
{
    rs_shape plane = half_space();
    rs_manifold expected = collide(shape, pose, &plane, at(0, 0, 0), margin);
    rs_manifold found = collide(shape, pose, ground, at(0, 0, 0), margin);
    check_sound(&found, margin);
    if (!CHECK((expected.count > 0) == (found.count > 0)) || found.count == 0)
        return;
    CHECK_NEAR(least_gap(&found), least_gap(&expected), 1e-12);
    for (int i = 0; i < found.count; i++)
        CHECK_VECTOR(found.points[i].normal, 0, 0, 1, 1e-12);
}

static void flat_heightmap_is_a_half_space_for_every_shape(void)
{
    rs_height_grid *grid = grid_of(23, 8.0, NULL);
    rs_shape ground = shape_of_grid(grid);
    uint64_t state = 4;
    for (int s = 0; s < CONVEX_SHAPES; s++)
        for (int i = 0; i < 500; i++) {
            rs_shape shape = convex_shape(s);
            rs_transform pose = random_pose(&state, 2.0);
            pose.pos.z = random_in(&state, -1.0, 0.8);
            check_like_half_space(&shape, pose, &ground, i % 2 ? 0.1 : 0.0);
        }
    rs_height_grid_free(grid);
}

static void flat_sheet_is_a_half_space_from_above(void)
{
    rs_tri_mesh *mesh = sheet_mesh(23, 8.0, NULL);
    rs_shape ground = shape_of_mesh(mesh);
    uint64_t state = 5;
    for (int s = 0; s < CONVEX_SHAPES; s++)
        for (int i = 0; i < 500; i++) {
            rs_shape shape = convex_shape(s);
            rs_transform pose = random_pose(&state, 2.0);
            pose.pos.z = random_in(&state, 0.01, 0.8);
            check_like_half_space(&shape, pose, &ground, i % 2 ? 0.1 : 0.0);
        }
    rs_tri_mesh_free(mesh);
}

static void resting_shapes_get_the_contacts_they_stand_on(void)
{
    rs_height_grid *grid = grid_of(40, 4.0, NULL);
    rs_tri_mesh *mesh = sheet_mesh(40, 4.0, NULL);
    rs_shape grounds[2] = {shape_of_grid(grid), shape_of_mesh(mesh)};
    rs_shape sphere = sphere_of(0.3), box = box_of(0.6, 0.4, 0.3), capsule = round_of(RS_SHAPE_CAPSULE, 0.2, 0.5);
    rs_shape cylinder = round_of(RS_SHAPE_CYLINDER, 0.25, 0.5);
    for (int g = 0; g < 2; g++)
        for (int i = 0; i < 50; i++) {
            double yaw = 0.13 * i, x = 0.017 * i, y = -0.011 * i;
            rs_manifold m = collide(&sphere, at(x, y, 0.2999), &grounds[g], at(0, 0, 0), 0);
            CHECK(m.count == 1);
            m = collide(&box, turned(at(x, y, 0.1499), 0, 0, yaw), &grounds[g], at(0, 0, 0), 0);
            CHECK(m.count == 4);
            double reach = 0.0;
            for (int k = 0; k < m.count; k++)
                reach += hypot(m.points[k].position.x - x, m.points[k].position.y - y) / 4.0;
            CHECK_NEAR(reach, hypot(0.3, 0.2), 1e-4); /* the corners themselves */
            m = collide(&cylinder, at(x, y, 0.2499), &grounds[g], at(0, 0, 0), 0);
            CHECK(m.count == 4);
            m = collide(&cylinder, turned(at(x, y, 0.2499), 0.5 * PI, 0, 0), &grounds[g], at(0, 0, 0), 0);
            CHECK(m.count == 2);
            m = collide(&capsule, turned(at(x, y, 0.1999), 0.5 * PI, 0, 0), &grounds[g], at(0, 0, 0), 0);
            CHECK(m.count == 2);
        }
    rs_height_grid_free(grid);
    rs_tri_mesh_free(mesh);
}

/* On ground with slopes up to a limit no contact may push more sideways than the steepest triangle. */
static void inner_edges_never_push_sideways(void)
{
    enum { CELLS = 30 };
    double heights[(CELLS + 1) * (CELLS + 1)], cell = 4.0 / CELLS;
    uint64_t state = 6;
    for (int i = 0; i < (CELLS + 1) * (CELLS + 1); i++)
        heights[i] = random_in(&state, -0.01, 0.01);
    rs_height_grid *grid = grid_of(CELLS, 4.0, heights);
    rs_tri_mesh *mesh = sheet_mesh(CELLS, 4.0, heights);
    rs_shape grounds[2] = {shape_of_grid(grid), shape_of_mesh(mesh)};
    double steepest = 0.0; /* along both axes at once */
    for (int y = 0; y < CELLS; y++)
        for (int x = 0; x < CELLS; x++) {
            double mid_x = -2.0 + (x + 0.5) * cell, mid_y = -2.0 + (y + 0.5) * cell;
            for (int half = -1; half <= 1; half += 2) {
                rs_vec3 n = rs_height_grid_normal(grid, mid_x + 0.1 * half * cell, mid_y - 0.1 * half * cell);
                steepest = fmax(steepest, acos(n.z));
            }
        }
    for (int i = 0; i < 1500; i++) {
        rs_shape shape = convex_shape(i % CONVEX_SHAPES);
        rs_transform pose = random_pose(&state, 1.2);
        pose.pos.z = random_in(&state, 0.1, 0.4);
        for (int g = 0; g < 2; g++) {
            rs_manifold m = collide(&shape, pose, &grounds[g], at(0, 0, 0), 0.01);
            check_sound(&m, 0.01);
            for (int k = 0; k < m.count; k++)
                CHECK(acos(fmin(1.0, m.points[k].normal.z)) <= steepest + 1e-6);
        }
    }
    rs_height_grid_free(grid);
    rs_tri_mesh_free(mesh);
}

static void a_grid_and_the_same_triangles_agree(void)
{
    enum { CELLS = 16 };
    double heights[(CELLS + 1) * (CELLS + 1)];
    uint64_t state = 8;
    for (int i = 0; i < (CELLS + 1) * (CELLS + 1); i++)
        heights[i] = random_in(&state, -0.2, 0.2);
    rs_height_grid *grid = grid_of(CELLS, 4.0, heights);
    rs_tri_mesh *mesh = sheet_mesh(CELLS, 4.0, heights);
    rs_shape on_grid = shape_of_grid(grid), on_mesh = shape_of_mesh(mesh);
    int hits = 0;
    for (int i = 0; i < 1000; i++) {
        rs_shape shape = convex_shape(i % CONVEX_SHAPES);
        rs_transform pose = random_pose(&state, 1.2);
        pose.pos.z = random_in(&state, 0.25, 0.6); /* centres above the surface */
        rs_manifold a = collide(&shape, pose, &on_grid, at(0, 0, 0), 0.05);
        rs_manifold b = collide(&shape, pose, &on_mesh, at(0, 0, 0), 0.05);
        if (CHECK((a.count > 0) == (b.count > 0)) && a.count > 0 && least_gap(&a) > -0.05) {
            CHECK_NEAR(least_gap(&a), least_gap(&b), 1e-9);
            hits++;
        }
    }
    CHECK(hits > 100);
    rs_height_grid_free(grid);
    rs_tri_mesh_free(mesh);
}

/* ---- a box of triangles is a box ---- */

static void mesh_box_agrees_with_the_box(void)
{
    rs_tri_mesh *mesh = box_mesh(1.0, 0.8, 0.6);
    rs_shape solid = box_of(1.0, 0.8, 0.6), triangles = shape_of_mesh(mesh);
    uint64_t state = 9;
    int hits = 0;
    for (int i = 0; i < 4000; i++) {
        rs_shape shape = convex_shape(i % CONVEX_SHAPES);
        rs_transform pose = random_pose(&state, 0.9), box_pose = random_pose(&state, 0.1);
        rs_manifold expected = collide(&shape, pose, &solid, box_pose, 0.05);
        rs_manifold found = collide(&shape, pose, &triangles, box_pose, 0.05);
        if (!check_like_solid(&found, &expected, 0.05, 0.03))
            continue;
        hits++;
        rs_vec3 n = deepest_point(&expected).normal;
        if (fabs(least_gap(&expected)) > 1e-4) /* at depth zero several directions are as good */
            CHECK(rs_dot(deepest_point(&found).normal, n) > 1.0 - 1e-4);
    }
    CHECK(hits > 300);
    rs_tri_mesh_free(mesh);
}

static void hulls_meet_meshes_too(void)
{
    double points[18] = {0.3, 0, 0, -0.3, 0, 0, 0, 0.3, 0, 0, -0.3, 0, 0, 0, 0.4, 0, 0, -0.4};
    rs_convex *octahedron = NULL;
    if (!CHECK(rs_convex_new(6, points, &octahedron) == RS_OK))
        return;
    rs_shape hull = {.type = RS_SHAPE_CONVEX, .convex = octahedron};
    rs_height_grid *grid = grid_of(10, 4.0, NULL);
    rs_shape ground = shape_of_grid(grid);
    rs_manifold m = collide(&hull, at(0.03, 0.07, 0.39), &ground, at(0, 0, 0), 0);
    CHECK(m.count == 1);
    CHECK_NEAR(m.points[0].gap, -0.01, 1e-12);
    CHECK_VECTOR(m.points[0].position, 0.03, 0.07, -0.005, 1e-12);
    rs_height_grid_free(grid);
    rs_convex_free(octahedron);
}

/* ---- inside, behind, through ---- */

/* The nearest way out, and no contact with the sides that are farther. */
static void a_body_inside_a_closed_mesh_is_pushed_out(void)
{
    rs_tri_mesh *mesh = box_mesh(4.0, 4.0, 2.0);
    rs_shape solid = shape_of_mesh(mesh);
    for (int s = 0; s < CONVEX_SHAPES; s++) {
        rs_shape shape = convex_shape(s);
        rs_manifold m = collide(&shape, at(0.2, -0.3, 0.4), &solid, at(0, 0, 0), 0);
        if (!CHECK(m.count > 0))
            continue;
        for (int i = 0; i < m.count; i++)
            CHECK_VECTOR(m.points[i].normal, 0, 0, 1, 1e-12);
        rs_aabb box = rs_shape_aabb(&shape, &(rs_transform){rs_m3_identity(), {0.2, -0.3, 0.4}});
        CHECK_NEAR(least_gap(&m), box.min.z - 1.0, 1e-9);
        m = collide(&shape, at(1.7, 0, 0), &solid, at(0, 0, 0), 0);
        CHECK(m.count > 0 && m.points[0].normal.x > 1.0 - 1e-12);
    }
    rs_tri_mesh_free(mesh);
}

/* A plate thinner than the body that sinks into it: its far side must not pull. */
static void a_thin_plate_pushes_from_its_near_side(void)
{
    rs_tri_mesh *mesh = box_mesh(3.0, 3.0, 0.02);
    rs_shape plate = shape_of_mesh(mesh);
    for (int s = 0; s < CONVEX_SHAPES; s++)
        for (int side = -1; side <= 1; side += 2) {
            rs_shape shape = convex_shape(s);
            rs_aabb box = rs_shape_aabb(&shape, &(rs_transform){rs_m3_identity(), {0, 0, 0}});
            double reach = side > 0 ? -box.min.z : box.max.z;
            rs_manifold m = collide(&shape, at(0.1, 0.2, side * (reach + 0.01 - 0.03)), &plate, at(0, 0, 0), 0);
            CHECK(m.count > 0);
            CHECK_NEAR(least_gap(&m), -0.03, 1e-9);
            for (int i = 0; i < m.count; i++)
                CHECK_VECTOR(m.points[i].normal, 0, 0, side, 1e-9);
        }
    rs_tri_mesh_free(mesh);
}

static void a_shell_works_from_both_sides(void)
{
    rs_tri_mesh *mesh = sheet_mesh(12, 3.0, NULL);
    rs_shape shell = shape_of_mesh(mesh);
    for (int s = 0; s < CONVEX_SHAPES; s++)
        for (int side = -1; side <= 1; side += 2) {
            rs_shape shape = convex_shape(s);
            rs_aabb box = rs_shape_aabb(&shape, &(rs_transform){rs_m3_identity(), {0, 0, 0}});
            double reach = side > 0 ? -box.min.z : box.max.z;
            rs_manifold m = collide(&shape, at(0.1, 0.2, side * (reach - 0.02)), &shell, at(0, 0, 0), 0);
            CHECK(m.count > 0);
            CHECK_NEAR(least_gap(&m), -0.02, 1e-9);
            for (int i = 0; i < m.count; i++)
                CHECK_VECTOR(m.points[i].normal, 0, 0, side, 1e-9);
        }
    rs_tri_mesh_free(mesh);
}

/* However deep, along the normal of the triangle above the centre. */
static void a_body_under_a_heightmap_is_pushed_up(void)
{
    double slope[9] = {-1, 0, 1, -1, 0, 1, -1, 0, 1}; /* rises by 1 over 4 m of x */
    rs_height_grid *grid = NULL;
    CHECK(rs_height_grid_new(3, 3, 8.0, 8.0, slope, &grid) == RS_OK);
    rs_shape ground = shape_of_grid(grid), ball = sphere_of(0.2);
    double depths[3] = {0.1, 1.0, 50.0}, cosine = 4.0 / sqrt(17.0);
    for (int i = 0; i < 3; i++) {
        rs_manifold m = collide(&ball, at(1.0, 0.5, 0.25 - depths[i]), &ground, at(0, 0, 0), 0);
        if (!CHECK(m.count == 1))
            continue;
        CHECK_VECTOR(m.points[0].normal, -cosine / 4.0, 0, cosine, 1e-12);
        CHECK_NEAR(m.points[0].gap, -depths[i] * cosine - 0.2, 1e-9);
    }
    rs_manifold beside = collide(&ball, at(4.5, 0, -10), &ground, at(0, 0, 0), 0);
    CHECK(beside.count == 0);
    rs_height_grid_free(grid);
}

/* ---- edges and corners ---- */

static void a_sphere_on_an_edge_and_in_a_corner(void)
{
    rs_tri_mesh *mesh = box_mesh(2.0, 2.0, 2.0);
    rs_shape solid = shape_of_mesh(mesh), ball = sphere_of(0.5);
    double s = sqrt(0.5);
    rs_manifold m = collide(&ball, at(1.0 + 0.49 * s, 0.3, 1.0 + 0.49 * s), &solid, at(0, 0, 0), 0);
    CHECK(m.count == 1);
    CHECK_VECTOR(m.points[0].normal, s, 0, s, 1e-12);
    CHECK_NEAR(m.points[0].gap, -0.01, 1e-12);
    double c = sqrt(1.0 / 3.0);
    m = collide(&ball, at(1.0 + 0.49 * c, 1.0 + 0.49 * c, 1.0 + 0.49 * c), &solid, at(0, 0, 0), 0);
    CHECK(m.count == 1);
    CHECK_VECTOR(m.points[0].normal, c, c, c, 1e-12);
    CHECK_NEAR(m.points[0].gap, -0.01, 1e-12);
    rs_tri_mesh_free(mesh);

    /* a valley: both slopes push, the hollow edge between them does not */
    double heights[9] = {1, 0, 1, 1, 0, 1, 1, 0, 1};
    rs_height_grid *valley = NULL;
    CHECK(rs_height_grid_new(3, 3, 2.0, 2.0, heights, &valley) == RS_OK);
    rs_shape ground = shape_of_grid(valley);
    m = collide(&ball, at(0, 0.1, 0.49 * sqrt(2.0)), &ground, at(0, 0, 0), 0);
    CHECK(m.count == 2);
    for (int i = 0; i < m.count; i++) {
        CHECK_NEAR(m.points[i].gap, -0.01, 1e-12);
        CHECK_NEAR(fabs(m.points[i].normal.x), s, 1e-12);
        CHECK_NEAR(m.points[i].normal.z, s, 1e-12);
    }
    rs_height_grid_free(valley);
}

/* A box against the riser of a finely meshed step: the top of the step lies inside the box, yet only the riser and the
 * floor push. */
static void a_step_stops_a_box_sideways_only(void)
{
    enum { CELLS = 80 };
    double heights[(CELLS + 1) * (CELLS + 1)];
    for (int i = 0; i < (CELLS + 1) * (CELLS + 1); i++)
        heights[i] = i % (CELLS + 1) > CELLS / 2 ? 0.2 : 0.0; /* rises from x = 0 to x = 0.001 */
    rs_height_grid *grid = NULL;
    CHECK(rs_height_grid_new(CELLS + 1, CELLS + 1, 0.001 * CELLS, 4.0, heights, &grid) == RS_OK);
    rs_shape ground = shape_of_grid(grid), box = box_of(0.03, 0.6, 0.6);
    rs_manifold m = collide(&box, at(-0.015 + 0.004, 0, 0.2999), &ground, at(0, 0, 0), 0);
    CHECK(m.count > 0);
    for (int i = 0; i < m.count; i++) {
        CHECK(m.points[i].gap > -0.006);
        CHECK(m.points[i].normal.z > 0.99 || m.points[i].normal.x < -0.99);
    }
    rs_height_grid_free(grid);
}

/* ---- half-space ---- */

static void meshes_rest_on_the_half_space_by_their_corners(void)
{
    rs_tri_mesh *mesh = box_mesh(1.0, 0.6, 0.4);
    rs_shape ground = half_space(), box = shape_of_mesh(mesh);
    rs_manifold m = collide(&box, at(3, 2, 0.19), &ground, at(0, 0, 0), 0);
    CHECK(m.count == 4);
    for (int i = 0; i < m.count; i++) {
        CHECK_VECTOR(m.points[i].normal, 0, 0, 1, 1e-15);
        CHECK_NEAR(m.points[i].gap, -0.01, 1e-15);
        CHECK_NEAR(fabs(m.points[i].position.x - 3.0), 0.5, 1e-12);
        CHECK_NEAR(fabs(m.points[i].position.y - 2.0), 0.3, 1e-12);
        CHECK_NEAR(m.points[i].position.z, -0.005, 1e-12);
    }
    rs_transform tilted = turned(at(0, 0, 0.3), 0.4, 0.3, 0.2);
    m = collide(&box, tilted, &ground, at(0, 0, 0), 0);
    double lowest = INFINITY;
    for (uint32_t v = 0; v < 8; v++)
        lowest = fmin(lowest, rs_transform_point(&tilted, mesh->vertices[v]).z);
    CHECK(m.count >= 1);
    CHECK_NEAR(least_gap(&m), lowest, 1e-12);
    m = collide(&box, at(0, 0, 0.21), &ground, at(0, 0, 0), 0);
    CHECK(m.count == 0);
    m = collide(&box, at(0, 0, 0.21), &ground, at(0, 0, 0), 0.02);
    CHECK(m.count == 4);
    rs_tri_mesh_free(mesh);
}

/* ---- general ---- */

static void order_repetition_and_limits(void)
{
    double heights[121];
    uint64_t state = 12;
    for (int i = 0; i < 121; i++)
        heights[i] = random_in(&state, -0.1, 0.1);
    rs_height_grid *grid = grid_of(10, 2.0, heights);
    rs_tri_mesh *mesh = box_mesh(1.0, 1.0, 0.3);
    rs_shape surfaces[2] = {shape_of_grid(grid), shape_of_mesh(mesh)};
    size_t before = rs_memory_bytes();
    for (int i = 0; i < 300; i++) {
        rs_shape shape = convex_shape(i % CONVEX_SHAPES);
        rs_transform pose = random_pose(&state, 0.6);
        const rs_shape *surface = &surfaces[i % 2];
        check_swapped(&shape, pose, surface, at(0.1, 0, 0), 0.02);
        rs_manifold once = collide(&shape, pose, surface, at(0, 0, 0), 0.02);
        rs_manifold again = collide(&shape, pose, surface, at(0, 0, 0), 0.02);
        CHECK(once.count == again.count);
        for (int k = 0; k < once.count; k++) {
            CHECK_NEAR(once.points[k].gap, again.points[k].gap, 0.0);
            CHECK(once.points[k].feature == again.points[k].feature);
        }
        rs_collide_settings few = settings_with(0.02);
        few.max_points = 2;
        rs_transform identity = rs_transform_identity();
        rs_manifold m;
        rs_collide(&shape, &pose, surface, &identity, &few, &m);
        CHECK(m.count <= 2);
        if (once.count > 0)
            CHECK_NEAR(least_gap(&m), least_gap(&once), 1e-12);
    }
    CHECK(rs_memory_bytes() == before);
    rs_height_grid_free(grid);
    rs_tri_mesh_free(mesh);
}

int main(void)
{
    RUN(flat_heightmap_is_a_half_space_for_every_shape);
    RUN(flat_sheet_is_a_half_space_from_above);
    RUN(resting_shapes_get_the_contacts_they_stand_on);
    RUN(inner_edges_never_push_sideways);
    RUN(a_grid_and_the_same_triangles_agree);
    RUN(mesh_box_agrees_with_the_box);
    RUN(hulls_meet_meshes_too);
    RUN(a_body_inside_a_closed_mesh_is_pushed_out);
    RUN(a_thin_plate_pushes_from_its_near_side);
    RUN(a_shell_works_from_both_sides);
    RUN(a_body_under_a_heightmap_is_pushed_up);
    RUN(a_sphere_on_an_edge_and_in_a_corner);
    RUN(a_step_stops_a_box_sideways_only);
    RUN(meshes_rest_on_the_half_space_by_their_corners);
    RUN(order_repetition_and_limits);
    return CHECK_RESULT();
}
