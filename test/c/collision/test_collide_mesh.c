/* Meshes against meshes and heightmaps. */
#include "../../../csrc/base/memory.h"
#include "../../../csrc/model/convex.h"
#include "../surface_fixture.h"

static const double SHARP[12] = {-0.1, -0.1, -0.1, 0.4, -0.1, -0.1, -0.1, 0.4, -0.1, -0.1, -0.1, 0.4};
static const int32_t SHARP_FACES[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};

/* Two convex solids as triangles and as hulls: the same distance apart, and the same depth while it is small. */
static void check_like_hulls(const rs_tri_mesh *first, const rs_tri_mesh *second, uint64_t seed)
{
    rs_convex *hull_a = NULL, *hull_b = NULL;
    if (!CHECK(rs_convex_new(first->vertex_count, &first->vertices[0].x, &hull_a) == RS_OK) ||
        !CHECK(rs_convex_new(second->vertex_count, &second->vertices[0].x, &hull_b) == RS_OK))
        return;
    rs_shape mesh_a = shape_of_mesh(first), mesh_b = shape_of_mesh(second);
    rs_shape convex_a = {.type = RS_SHAPE_CONVEX, .convex = hull_a}, convex_b = {.type = RS_SHAPE_CONVEX, .convex = hull_b};
    int compared = 0;
    for (int i = 0; i < 1500; i++) {
        rs_transform ta = random_pose(&seed, 0.5), tb = random_pose(&seed, 0.1);
        rs_manifold expected = collide(&convex_a, ta, &convex_b, tb, 0.02);
        rs_manifold found = collide(&mesh_a, ta, &mesh_b, tb, 0.02);
        if (!check_like_solid(&found, &expected, 0.02, 0.01))
            continue;
        compared++;
        rs_manifold back = collide(&mesh_b, tb, &mesh_a, ta, 0.02);
        CHECK_NEAR(least_gap(&back), least_gap(&found), 1e-9);
    }
    CHECK(compared > 50);
    rs_convex_free(hull_a);
    rs_convex_free(hull_b);
}

static void convex_meshes_agree_with_their_hulls(void)
{
    rs_tri_mesh *box = box_mesh(0.5, 0.4, 0.3), *cube = box_mesh(0.3, 0.3, 0.3);
    rs_tri_mesh *sharp = mesh_of(4, SHARP, 4, SHARP_FACES);
    check_like_hulls(box, cube, 31);
    check_like_hulls(box, sharp, 32);
    check_like_hulls(sharp, sharp, 33);
    rs_tri_mesh_free(box);
    rs_tri_mesh_free(cube);
    rs_tri_mesh_free(sharp);
}

/* Boxes of equal size, flush: nothing may push sideways although the sides are nearer than the top. */
static void a_flush_stack_is_pushed_up_only(void)
{
    rs_tri_mesh *mesh = box_mesh(0.5, 0.4, 0.3);
    rs_shape box = shape_of_mesh(mesh);
    for (int i = 0; i < 3; i++) {
        double shift = i == 0 ? 0.0 : i == 1 ? 1e-5 : 1e-3;
        rs_manifold m = collide(&box, at(shift, 0, 0.2995), &box, at(0, 0, 0), 0);
        CHECK(m.count >= 4);
        double left = INFINITY, right = -INFINITY;
        for (int k = 0; k < m.count; k++) {
            CHECK_VECTOR(m.points[k].normal, 0, 0, 1, 1e-9);
            CHECK_NEAR(m.points[k].gap, -0.0005, 1e-9);
            left = fmin(left, m.points[k].position.x);
            right = fmax(right, m.points[k].position.x);
        }
        CHECK_NEAR(right - left, 0.5 - shift, 1e-3);
    }
    rs_tri_mesh_free(mesh);
}

/* No vertex of either is near the other: only edges meet. */
static void crossed_bars_touch_where_their_edges_cross(void)
{
    rs_tri_mesh *mesh = box_mesh(2.0, 0.2, 0.2);
    rs_shape bar = shape_of_mesh(mesh);
    rs_manifold m = collide(&bar, turned(at(0, 0, 0.199), 0, 0, 1.2), &bar, at(0, 0, 0), 0);
    CHECK(m.count == 4);
    for (int i = 0; i < m.count; i++) {
        CHECK_VECTOR(m.points[i].normal, 0, 0, 1, 1e-9);
        CHECK_NEAR(m.points[i].gap, -0.001, 1e-9);
        CHECK(fabs(m.points[i].position.x) < 0.2 && fabs(m.points[i].position.y) < 0.2);
    }
    m = collide(&bar, turned(at(0, 0, 0.205), 0, 0, 1.2), &bar, at(0, 0, 0), 0.01);
    CHECK(m.count == 4);
    CHECK_NEAR(least_gap(&m), 0.005, 1e-9);
    m = collide(&bar, turned(at(0, 0, 0.205), 0, 0, 1.2), &bar, at(0, 0, 0), 0);
    CHECK(m.count == 0);
    rs_tri_mesh_free(mesh);
}

static void a_mesh_inside_another_is_pushed_out(void)
{
    rs_tri_mesh *large = box_mesh(3.0, 3.0, 2.0), *small = box_mesh(0.2, 0.2, 0.2);
    rs_shape around = shape_of_mesh(large), within = shape_of_mesh(small);
    rs_manifold m = collide(&within, at(0.1, 0.2, 0.6), &around, at(0, 0, 0), 0);
    CHECK(m.count > 0);
    for (int i = 0; i < m.count; i++)
        CHECK_VECTOR(m.points[i].normal, 0, 0, 1, 1e-9);
    CHECK_NEAR(least_gap(&m), -0.5, 1e-9);
    m = collide(&around, at(0, 0, 0), &within, at(0.1, 0.2, 0.6), 0);
    CHECK(m.count > 0 && m.points[0].normal.z < -1.0 + 1e-9);
    m = collide(&within, at(0, 0, 0), &within, at(0, 0, 0), 0); /* the same place */
    CHECK(m.count > 0 && least_gap(&m) < 0.0);
    check_sound(&m, 0.0);
    rs_tri_mesh_free(large);
    rs_tri_mesh_free(small);
}

static void a_mesh_rests_on_a_heightmap_as_on_a_plane(void)
{
    rs_height_grid *grid = grid_of(16, 4.0, NULL);
    rs_tri_mesh *mesh = box_mesh(0.6, 0.4, 0.3);
    rs_shape ground = shape_of_grid(grid), box = shape_of_mesh(mesh), plane = half_space();
    rs_manifold m = collide(&box, turned(at(0.1, 0.2, 0.149), 0, 0, 0.4), &ground, at(0, 0, 0), 0);
    CHECK(m.count == 4);
    for (int i = 0; i < m.count; i++) {
        CHECK_VECTOR(m.points[i].normal, 0, 0, 1, 1e-12);
        CHECK_NEAR(m.points[i].gap, -0.001, 1e-12);
    }
    uint64_t state = 41;
    for (int i = 0; i < 500; i++) {
        rs_transform pose = random_pose(&state, 1.0);
        pose.pos.z = random_in(&state, -3.0, 0.5);
        rs_manifold expected = collide(&box, pose, &plane, at(0, 0, 0), 0), found = collide(&box, pose, &ground, at(0, 0, 0), 0);
        CHECK((expected.count > 0) == (found.count > 0));
        if (found.count > 0)
            CHECK_NEAR(least_gap(&found), least_gap(&expected), 1e-9);
    }
    rs_height_grid_free(grid);
    rs_tri_mesh_free(mesh);
}

/* A peak of the ground enters the flat bottom of a mesh. */
static void a_peak_pushes_into_a_face(void)
{
    double heights[25] = {0};
    heights[12] = 0.3;
    rs_height_grid *grid = grid_of(4, 4.0, heights);
    rs_tri_mesh *mesh = box_mesh(1.5, 1.5, 0.5);
    rs_shape ground = shape_of_grid(grid), box = shape_of_mesh(mesh);
    rs_manifold m = collide(&box, at(0.2, 0.1, 0.54), &ground, at(0, 0, 0), 0);
    CHECK(m.count >= 1);
    rs_manifold_point p = deepest_point(&m);
    CHECK_VECTOR(p.normal, 0, 0, 1, 1e-9);
    CHECK_NEAR(p.gap, -0.01, 1e-9);
    CHECK_VECTOR(p.position, 0, 0, 0.295, 1e-9);
    rs_height_grid_free(grid);
    rs_tri_mesh_free(mesh);
}

static void a_mesh_lies_on_a_shell_from_either_side(void)
{
    rs_tri_mesh *sheet = sheet_mesh(8, 3.0, NULL), *mesh = box_mesh(0.6, 0.4, 0.3);
    rs_shape shell = shape_of_mesh(sheet), box = shape_of_mesh(mesh);
    for (int side = -1; side <= 1; side += 2) {
        rs_manifold m = collide(&box, at(0.1, 0.1, side * 0.148), &shell, at(0, 0, 0), 0);
        CHECK(m.count == 4);
        for (int i = 0; i < m.count; i++) {
            CHECK_VECTOR(m.points[i].normal, 0, 0, side, 1e-9);
            CHECK_NEAR(m.points[i].gap, -0.002, 1e-9);
        }
        check_swapped(&box, at(0.1, 0.1, side * 0.148), &shell, at(0, 0, 0), 0);
        m = collide(&box, at(0.1, 0.1, side * 0.15), &shell, at(0, 0, 0), 1e-4); /* just touching */
        CHECK(m.count == 4);
        check_sound(&m, 1e-4);
    }
    rs_tri_mesh_free(sheet);
    rs_tri_mesh_free(mesh);
}

static void queries_allocate_nothing_and_repeat(void)
{
    rs_tri_mesh *mesh = mesh_of(4, SHARP, 4, SHARP_FACES);
    rs_shape shape = shape_of_mesh(mesh);
    size_t before = rs_memory_bytes();
    uint64_t state = 51;
    for (int i = 0; i < 100; i++) {
        rs_transform pose = random_pose(&state, 0.3);
        rs_manifold once = collide(&shape, pose, &shape, at(0, 0, 0), 0.01);
        rs_manifold again = collide(&shape, pose, &shape, at(0, 0, 0), 0.01);
        CHECK(once.count == again.count);
        for (int k = 0; k < once.count; k++)
            CHECK(once.points[k].feature == again.points[k].feature &&
                  fabs(once.points[k].gap - again.points[k].gap) <= 0.0);
    }
    CHECK(rs_memory_bytes() == before);
    rs_tri_mesh_free(mesh);
}

int main(void)
{
    RUN(convex_meshes_agree_with_their_hulls);
    RUN(a_flush_stack_is_pushed_up_only);
    RUN(crossed_bars_touch_where_their_edges_cross);
    RUN(a_mesh_inside_another_is_pushed_out);
    RUN(a_mesh_rests_on_a_heightmap_as_on_a_plane);
    RUN(a_peak_pushes_into_a_face);
    RUN(a_mesh_lies_on_a_shell_from_either_side);
    RUN(queries_allocate_nothing_and_repeat);
    return CHECK_RESULT();
}
