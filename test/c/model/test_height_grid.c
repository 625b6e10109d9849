/* Heightmaps: what is refused, heights and normals, the walk over touched triangles. */
#include <string.h>

#include "../../../csrc/base/memory.h"
#include "../surface_fixture.h"

/* 3 x 2 samples over 4 m x 1 m: cells of 2 m x 1 m. */
static const double HEIGHTS[6] = {0.0, 1.0, 4.0, 2.0, 5.0, -1.0};

static rs_height_grid *small_grid(void)
{
    rs_height_grid *grid = NULL;
    CHECK(rs_height_grid_new(3, 2, 4.0, 1.0, HEIGHTS, &grid) == RS_OK);
    return grid;
}

static void check_refused(int32_t nx, int32_t ny, double sx, double sy, const double *heights, const char *words)
{
    size_t before = rs_memory_bytes();
    rs_height_grid *grid = NULL;
    CHECK(rs_height_grid_new(nx, ny, sx, sy, heights, &grid) == RS_INVALID_VALUE);
    CHECK(grid == NULL);
    CHECK(strstr(rs_error_text(), words) != NULL);
    CHECK(rs_memory_bytes() == before);
}

static void bad_input_is_refused(void)
{
    double broken[6];
    memcpy(broken, HEIGHTS, sizeof broken);
    broken[4] = NAN;
    check_refused(3, 2, 4, 1, broken, "height 4 is nan");
    broken[4] = -INFINITY;
    check_refused(3, 2, 4, 1, broken, "height 4 is -inf");
    check_refused(1, 6, 4, 1, HEIGHTS, "1 x 6 samples");
    check_refused(6, 1, 4, 1, HEIGHTS, "6 x 1 samples");
    check_refused(-3, 2, 4, 1, HEIGHTS, "-3 x 2 samples");
    check_refused(50000, 2, 4, 1, HEIGHTS, "50000 x 2 samples");
    check_refused(3, 2, 0.0, 1, HEIGHTS, "size 0 x 1 m");
    check_refused(3, 2, 4, NAN, HEIGHTS, "size 4 x nan m");
    check_refused(3, 2, 4, 1, NULL, "heights are missing");
}

static void samples_stand_where_they_belong(void)
{
    rs_height_grid *grid = small_grid();
    for (int32_t iy = 0; iy < 2; iy++)
        for (int32_t ix = 0; ix < 3; ix++) {
            rs_vec3 v = rs_height_grid_vertex(grid, ix, iy);
            CHECK_NEAR(v.x, -2.0 + 2.0 * ix, 1e-15);
            CHECK_NEAR(v.y, -0.5 + iy, 1e-15);
            CHECK_NEAR(v.z, HEIGHTS[3 * iy + ix], 0.0);
            CHECK_NEAR(rs_height_grid_height(grid, v.x, v.y), v.z, 1e-15);
        }
    rs_height_grid_free(grid);
}

/* The diagonal runs from (ix, iy) to (ix+1, iy+1): below it h00, h10, h11 count, above it h00, h01, h11. */
static void heights_and_normals_are_those_of_the_two_triangles(void)
{
    rs_height_grid *grid = small_grid();
    /* the diagonal of the first cell: halfway between 0 and 5 */
    CHECK_NEAR(rs_height_grid_height(grid, -1.0, 0.0), 2.5, 1e-15);
    /* below it, u = 3/4, v = 1/4: 0 + 3/4 * 1 + 1/4 * (5 - 1) */
    CHECK_NEAR(rs_height_grid_height(grid, -0.5, -0.25), 1.75, 1e-15);
    /* above it, u = 1/4, v = 3/4: 0 + 3/4 * 2 + 1/4 * (5 - 2) */
    CHECK_NEAR(rs_height_grid_height(grid, -1.5, 0.25), 2.25, 1e-15);
    rs_vec3 n = rs_height_grid_normal(grid, -0.5, -0.25); /* slopes 1/2 and 4 */
    double length = sqrt(0.25 + 16.0 + 1.0);
    CHECK_VECTOR(n, -0.5 / length, -4.0 / length, 1.0 / length, 1e-15);
    n = rs_height_grid_normal(grid, -1.5, 0.25); /* slopes 3/2 and 2 */
    length = sqrt(2.25 + 4.0 + 1.0);
    CHECK_VECTOR(n, -1.5 / length, -2.0 / length, 1.0 / length, 1e-15);
    rs_height_grid_free(grid);
}

static void outside_the_border_counts(void)
{
    rs_height_grid *grid = small_grid();
    CHECK(!rs_height_grid_covers(grid, 2.1, 0.0) && !rs_height_grid_covers(grid, 0.0, -0.6));
    CHECK(rs_height_grid_covers(grid, 2.0, 0.5) && rs_height_grid_covers(grid, -2.0, -0.5));
    CHECK_NEAR(rs_height_grid_height(grid, 100.0, -100.0), 4.0, 1e-15);
    CHECK_NEAR(rs_height_grid_height(grid, -100.0, 100.0), 2.0, 1e-15);
    CHECK(isfinite(rs_height_grid_height(grid, INFINITY, -INFINITY)));
    rs_height_grid_free(grid);
}

static void the_solid_has_no_bottom(void)
{
    rs_height_grid *grid = small_grid();
    rs_transform pose = at(10, 20, 30);
    rs_aabb box = rs_height_grid_aabb(grid, &pose);
    CHECK_VECTOR(box.max, 12, 20.5, 35, 1e-12);
    CHECK_NEAR(box.min.x, 8, 1e-12);
    CHECK_NEAR(box.min.y, 19.5, 1e-12);
    CHECK(box.min.z == -INFINITY);
    rs_transform tilted = turned(pose, 0.0, 0.3, 0.0);
    box = rs_height_grid_aabb(grid, &tilted);
    CHECK(box.min.z == -INFINITY && box.min.x == -INFINITY && isfinite(box.max.x) && isfinite(box.min.y));
    rs_height_grid_free(grid);
}

/* Corners of a triangle by its number. */
static void corners_of(const rs_height_grid *g, uint32_t id, rs_vec3 v[3])
{
    int32_t columns = g->x_samples - 1, ix = (int32_t)(id / 2) % columns, iy = (int32_t)(id / 2) / columns;
    v[0] = rs_height_grid_vertex(g, ix, iy);
    v[1] = rs_height_grid_vertex(g, ix + 1, id % 2 == 0 ? iy : iy + 1);
    v[2] = rs_height_grid_vertex(g, id % 2 == 0 ? ix + 1 : ix, iy + 1);
}

/* Of a wall: top left, bottom left, top right, and below it bottom left, bottom right, top right. */
static void wall_corners_of(const rs_height_grid *g, uint32_t id, rs_vec3 v[3])
{
    uint32_t wall = id - rs_height_grid_face_count(g);
    rs_grid_sample left = rs_height_grid_border(g, wall / 2), right = rs_height_grid_border(g, wall / 2 + 1);
    v[0] = rs_height_grid_vertex(g, left.x, left.y);
    v[2] = rs_height_grid_vertex(g, right.x, right.y);
    v[1] = wall % 2 == 0 ? v[0] : v[2];
    v[1].z = rs_height_grid_bottom(g);
    if (wall % 2 == 1)
        v[0].z = rs_height_grid_bottom(g);
}

static bool triangle_touches(const rs_vec3 v[3], const rs_aabb *box)
{
    rs_vec3 lo = rs_v3_min(v[0], rs_v3_min(v[1], v[2])), hi = rs_v3_max(v[0], rs_v3_max(v[1], v[2]));
    return lo.x <= box->max.x && hi.x >= box->min.x && lo.y <= box->max.y && hi.y >= box->min.y &&
           lo.z <= box->max.z && hi.z >= box->min.z;
}

static void queries_find_every_touched_triangle_once(void)
{
    enum { CELLS = 29, FACES = 2 * CELLS * CELLS, TRIANGLES = FACES + 8 * CELLS };
    static double heights[(CELLS + 1) * (CELLS + 1)];
    static int seen[TRIANGLES];
    uint64_t state = 21;
    for (int i = 0; i < (CELLS + 1) * (CELLS + 1); i++)
        heights[i] = random_in(&state, -1, 1);
    rs_height_grid *grid = grid_of(CELLS, 6.0, heights);
    for (int trial = 0; trial < 400; trial++) {
        rs_vec3 p = rs_v3(random_in(&state, -4, 4), random_in(&state, -4, 4), random_in(&state, -1.5, 1.5));
        rs_aabb box = {p, rs_add(p, rs_v3(random_in(&state, 0, 3), random_in(&state, 0, 3), random_in(&state, 0, 0.5)))};
        memset(seen, 0, sizeof seen);
        uint32_t id;
        for (rs_grid_query q = rs_height_grid_query(grid, box); rs_height_grid_query_next(&q, &id);)
            seen[id]++;
        bool complete = true;
        for (uint32_t i = 0; i < TRIANGLES; i++) {
            rs_vec3 v[3];
            if (i < FACES)
                corners_of(grid, i, v);
            else
                wall_corners_of(grid, i, v);
            complete = complete && seen[i] <= 1 && (seen[i] == 1 || !triangle_touches(v, &box));
        }
        CHECK(complete);
    }
    rs_height_grid_free(grid);
}

/* Smooth hills over 6 m x 6 m, cells of a fifth of a metre. */
static rs_height_grid *hills(void)
{
    enum { CELLS = 30 };
    static double heights[(CELLS + 1) * (CELLS + 1)];
    for (int i = 0; i < (CELLS + 1) * (CELLS + 1); i++)
        heights[i] = 0.3 * sin(0.45 * (i % (CELLS + 1))) * cos(0.3 * (double)(i / (CELLS + 1)) + 0.2);
    return grid_of(CELLS, 6.0, heights);
}

static void nothing_rises_above_the_highest_height_or_the_lid(void)
{
    rs_height_grid *grid = hills();
    uint64_t state = 5;
    int lids = 0;
    for (int trial = 0; trial < 400; trial++) {
        double x = random_in(&state, -3.2, 3.2), y = random_in(&state, -3.2, 3.2), half = random_in(&state, 0, 0.7);
        rs_aabb box = rs_aabb_around(rs_v3(x, y, 0.0), half);
        box.max.x += 0.2; /* not in the middle */
        rs_height_lid lid;
        bool covered = rs_height_grid_lid(grid, &box, x, y, &lid);
        lids += covered;
        double highest = rs_height_grid_highest(grid, x, y, half), found = -INFINITY, above = -INFINITY;
        for (int k = 0; k < 900; k++) {
            double px = box.min.x + (box.max.x - box.min.x) * (k % 30) / 29, py = box.min.y + 2 * half * (k / 30) / 29;
            double h = rs_height_grid_height(grid, rs_clamp(px, -3, 3), rs_clamp(py, -3, 3));
            if (px <= x + half)
                found = fmax(found, h);
            if (covered && fabs(px) <= 3 && fabs(py) <= 3)
                above = fmax(above, rs_dot(lid.normal, rs_v3(px, py, h)) - lid.offset);
        }
        CHECK(highest >= found - 1e-12 && highest <= grid->max_height);
        CHECK(above <= 1e-12);
        CHECK(!covered || rs_norm(rs_sub(lid.normal, rs_height_grid_normal(grid, x, y))) < 1e-12);
    }
    CHECK(lids > 100 && lids < 400);
    rs_height_grid_free(grid);
}

/* Distance of a point from all triangles, and which is the nearest. */
static double distance_from_all(const rs_height_grid *grid, rs_vec3 p, uint32_t *nearest)
{
    double best = INFINITY;
    for (uint32_t id = 0; id < 2u * (uint32_t)((grid->x_samples - 1) * (grid->y_samples - 1)); id++) {
        rs_vec3 v[3];
        rs_triangle_part part;
        int index;
        corners_of(grid, id, v);
        double d = rs_norm(rs_sub(p, rs_triangle_nearest(v, p, &part, &index)));
        if (d < best) {
            best = d;
            *nearest = id;
        }
    }
    return best;
}

static void the_one_face_below_is_the_nearest(void)
{
    rs_height_grid *grid = hills();
    uint64_t state = 9;
    int simple = 0, near = 0;
    for (int trial = 0; trial < 1000; trial++) {
        double x = random_in(&state, -3.1, 3.1), y = random_in(&state, -3.1, 3.1), reach = random_in(&state, 0.01, 0.15);
        rs_vec3 p = rs_v3(x, y, rs_height_grid_height(grid, x, y) + random_in(&state, -0.02, 0.16));
        rs_grid_face face;
        if (!rs_height_grid_face_below(grid, p, reach, &face))
            continue;
        uint32_t nearest = 0;
        double distance = distance_from_all(grid, p, &nearest);
        simple++;
        if (face.distance >= reach) {
            CHECK(distance >= reach - 1e-12);
            continue;
        }
        near++;
        CHECK_NEAR(face.distance, distance, 1e-12);
        CHECK(face.triangle == nearest);
        CHECK_NEAR(rs_norm(rs_sub(p, rs_madd(face.nearest, face.distance, face.normal))), 0.0, 1e-12);
    }
    CHECK(simple > 100 && near > 30);
    rs_height_grid_free(grid);
}

static void nothing_is_left_allocated(void)
{
    size_t before = rs_memory_bytes();
    rs_height_grid *grid = small_grid();
    CHECK(rs_memory_bytes() > before);
    rs_height_grid_free(grid);
    rs_height_grid_free(NULL);
    CHECK(rs_memory_bytes() == before);
}

int main(void)
{
    RUN(bad_input_is_refused);
    RUN(samples_stand_where_they_belong);
    RUN(heights_and_normals_are_those_of_the_two_triangles);
    RUN(outside_the_border_counts);
    RUN(the_solid_has_no_bottom);
    RUN(queries_find_every_touched_triangle_once);
    RUN(nothing_rises_above_the_highest_height_or_the_lid);
    RUN(the_one_face_below_is_the_nearest);
    RUN(nothing_is_left_allocated);
    return CHECK_RESULT();
}
