/* Convex hulls: the right solid from any points, errors for those that span none. */
#include "../../../csrc/model/convex.h"

#include <stdlib.h>
#include <string.h>

#include "../../../csrc/base/memory.h"
#include "../check.h"

static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-52 - 1.0;
}

/* A grid of points in a box, most of them on faces, edges or inside. */
static void box_grid_becomes_a_box(void)
{
    double xyz[3 * 125];
    int n = 0;
    for (int i = 0; i < 125; i++) {
        xyz[n++] = 3.0 + 0.5 * (i % 5);
        xyz[n++] = -1.0 + 0.25 * (i / 5 % 5);
        xyz[n++] = 0.1 * (i / 25);
    }
    rs_convex *c;
    if (!CHECK(rs_convex_new(125, xyz, &c) == RS_OK))
        return;
    CHECK(c->vertex_count == 8 && c->face_count == 6);
    for (int f = 0; f < c->face_count; f++)
        CHECK(c->faces[f].count == 4);
    CHECK_NEAR(c->volume, 2.0 * 1.0 * 0.4, 1e-14);
    CHECK_NEAR(c->centroid.x, 4.0, 1e-14);
    CHECK_NEAR(c->centroid.y, -0.5, 1e-14);
    CHECK_NEAR(c->centroid.z, 0.2, 1e-14);
    CHECK_NEAR(c->unit_inertia.xx, (1.0 + 0.16) / 12.0, 1e-13);
    CHECK_NEAR(c->unit_inertia.zz, (4.0 + 1.0) / 12.0, 1e-13);
    CHECK_NEAR(c->unit_inertia.xy, 0.0, 1e-13);
    CHECK_NEAR(c->radius, 0.5 * sqrt(4.0 + 1.0 + 0.16), 1e-14);
    rs_convex_free(c);
}

/* The simplest solid without symmetry, its integrals known: corner tetrahedron with legs a, b, c. */
static void tetrahedron_has_the_inertia_of_the_textbook(void)
{
    const double a = 1.0, b = 2.0, c = 3.0, xyz[12] = {0, 0, 0, a, 0, 0, 0, b, 0, 0, 0, c};
    rs_convex *t;
    if (!CHECK(rs_convex_new(4, xyz, &t) == RS_OK))
        return;
    CHECK_NEAR(t->volume, a * b * c / 6.0, 1e-14);
    CHECK_NEAR(t->centroid.y, b / 4.0, 1e-14);
    CHECK_NEAR(t->unit_inertia.xx, 3.0 * (b * b + c * c) / 80.0, 1e-14);
    CHECK_NEAR(t->unit_inertia.yy, 3.0 * (a * a + c * c) / 80.0, 1e-14);
    CHECK_NEAR(t->unit_inertia.xy, a * b / 80.0, 1e-14); /* minus the integral of x y about the centroid */
    rs_convex_free(t);
}

static void check_structure(const rs_convex *c)
{
    int half_edges = 0;
    for (int f = 0; f < c->face_count; f++) {
        const rs_convex_face *face = &c->faces[f];
        half_edges += face->count;
        CHECK_NEAR(rs_norm(face->normal), 1.0, 1e-12);
        for (int v = 0; v < c->vertex_count; v++)
            CHECK(rs_dot(face->normal, c->vertices[v]) <= face->offset + 2e-6 * c->radius);
    }
    CHECK(half_edges % 2 == 0);
    CHECK(c->vertex_count - half_edges / 2 + c->face_count == 2); /* Euler */
    CHECK(c->neighbor_first[c->vertex_count] == half_edges);
}

/* Every input point lies inside; support points found by climbing are those found by looking at all. */
static void hulls_of_random_points_are_convex_and_complete(void)
{
    uint64_t state = 7;
    static double xyz[3 * 4000];
    const int sizes[6] = {4, 7, 30, 200, 1000, 4000};
    for (int round = 0; round < 6; round++) {
        int n = sizes[round];
        for (int i = 0; i < n; i++) { /* half of the rounds on an ellipsoid, where every point is a corner */
            rs_vec3 p = rs_v3(uniform(&state), uniform(&state), uniform(&state));
            if (round % 2)
                p = rs_normalize_or(p, rs_v3(1, 0, 0));
            rs_v3_store(&xyz[3 * i], rs_mul(p, rs_v3(2.0, 0.5, 0.1)));
        }
        rs_convex *c;
        if (!CHECK(rs_convex_new(n, xyz, &c) == RS_OK))
            return;
        check_structure(c);
        for (int k = 0; k < 200; k++) {
            rs_vec3 d = rs_v3(uniform(&state), uniform(&state), uniform(&state));
            double most = -INFINITY;
            for (int i = 0; i < n; i++)
                most = fmax(most, rs_dot(rs_v3_load(&xyz[3 * i]), d));
            CHECK_NEAR(rs_dot(rs_convex_support(c, d), d), most, 2e-6);
        }
        rs_convex_free(c);
    }
}

/* Corners on a coarse lattice: countless points in one plane and on one line, turned so that rounding matters. */
static void lattice_points_make_consistent_hulls(void)
{
    uint64_t state = 3;
    rs_mat3 turn = rs_quat_to_m3(rs_quat_exp(rs_v3(0.4, -1.3, 0.8)));
    for (int round = 0; round < 300; round++) {
        double xyz[3 * 40];
        for (int i = 0; i < 40; i++) {
            rs_vec3 p = rs_v3(rint(3 * uniform(&state)), rint(3 * uniform(&state)), rint(3 * uniform(&state)));
            rs_v3_store(&xyz[3 * i], round % 2 ? rs_m3_mulv(&turn, p) : p);
        }
        rs_convex *c;
        if (CHECK(rs_convex_new(40, xyz, &c) == RS_OK)) {
            check_structure(c);
            rs_convex_free(c);
        }
    }
}

/* Parts as drawing programs write them: flat sides with circles drawn on them, in single precision. Points within a side must not
 * be left over as corners: from there no edge leads on, and climbing would end far from the true support point. */
static void climbing_ends_at_the_support_point_of_machined_parts(void)
{
    enum { RIM = 48, RINGS = 4 };
    uint64_t state = 11;
    for (int round = 0; round < 40; round++) {
        double xyz[3 * 2 * RIM * RINGS];
        int n = 0;
        for (int side = 0; side < 2; side++)
            for (int ring = 0; ring < RINGS; ring++)
                for (int i = 0; i < RIM; i++) {
                    double angle = 2.0 * M_PI * i / RIM + 0.3 * uniform(&state) / RIM;
                    double radius = 0.02 - 0.0003 * ring * (1.0 + 0.2 * uniform(&state));
                    rs_vec3 p = rs_v3(radius * cos(angle), side ? 0.03745 : 0.0 - 0.00145, radius * sin(angle) - 0.16 * (i % 2));
                    rs_v3_store(&xyz[3 * n++], rs_v3((float)p.x, (float)p.y, (float)p.z));
                }
        rs_convex *c;
        if (!CHECK(rs_convex_new(n, xyz, &c) == RS_OK))
            return;
        check_structure(c);
        for (int v = 0; v < c->vertex_count; v++) {
            rs_vec3 d = rs_v3(uniform(&state), uniform(&state), uniform(&state));
            double most = -INFINITY;
            CHECK(c->neighbor_first[v + 1] - c->neighbor_first[v] >= 3);
            for (int i = 0; i < n; i++)
                most = fmax(most, rs_dot(rs_v3_load(&xyz[3 * i]), d));
            CHECK_NEAR(rs_dot(c->vertices[rs_convex_support_from(c, v, d)], d), most, 1e-6);
        }
        rs_convex_free(c);
    }
}

/* Sheets of points that are flat up to the rounding of single precision, and needles: no set may be too crowded or too thin. */
static void crowded_and_thin_sets_have_exact_hulls(void)
{
    enum { COUNT = 600 };
    uint64_t state = 23;
    for (int round = 0; round < 200; round++) {
        static double xyz[3 * COUNT];
        static int32_t corners[COUNT];
        double thin = pow(10.0, -(round % 7)), noise = pow(10.0, -6 - round % 5);
        rs_mat3 turn = rs_quat_to_m3(rs_quat_exp(rs_v3(uniform(&state), uniform(&state), uniform(&state))));
        for (int i = 0; i < COUNT; i++) {
            double side = i % 2 ? 1.0 : -1.0, ring = 0.2 * (1 + i % 5), angle = 0.1 * rint(30 * uniform(&state));
            rs_vec3 p = rs_v3(ring * cos(angle), thin * ring * sin(angle), 0.3 * thin * side + noise * uniform(&state));
            p = rs_m3_mulv(&turn, p);
            rs_v3_store(&xyz[3 * i], rs_v3((float)p.x, (float)p.y, (float)p.z));
        }
        int64_t count = 0;
        if (!CHECK(rs_hull_corners(COUNT, xyz, corners, &count) == RS_OK))
            return;
        for (int64_t i = 1; i < count; i++)
            CHECK(corners[i] > corners[i - 1]);
        for (int k = 0; k < 100; k++) {
            rs_vec3 d = rs_normalize_or(rs_v3(uniform(&state), uniform(&state), uniform(&state)), rs_v3(0, 0, 1));
            double most = -INFINITY, found = -INFINITY;
            for (int i = 0; i < COUNT; i++)
                most = fmax(most, rs_dot(rs_v3_load(&xyz[3 * i]), d));
            for (int64_t i = 0; i < count; i++)
                found = fmax(found, rs_dot(rs_v3_load(&xyz[3 * corners[i]]), d));
            CHECK_NEAR(found, most, 2e-9);
        }
    }
}

static void check_refused(int64_t count, const double *xyz, const char *text)
{
    rs_convex *c;
    CHECK(rs_convex_new(count, xyz, &c) == RS_INVALID_VALUE);
    CHECK(c == NULL);
    CHECK(strstr(rs_error_text(), text) != NULL);
}

static void points_that_span_no_solid_are_refused(void)
{
    double plane[3 * 20], line[3 * 20], same[3 * 20], nan[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, NAN};
    uint64_t state = 1;
    rs_mat3 turn = rs_quat_to_m3(rs_quat_exp(rs_v3(0.4, -1.3, 0.8)));
    for (int i = 0; i < 20; i++) {
        rs_v3_store(&plane[3 * i], rs_m3_mulv(&turn, rs_v3(uniform(&state), uniform(&state), 0.25)));
        rs_v3_store(&line[3 * i], rs_v3(0.1 * i, 0.2 * i, 1.0));
        rs_v3_store(&same[3 * i], rs_v3(1, 2, 3));
    }
    check_refused(3, line, "point_count is 3");
    check_refused(20, plane, "one plane");
    check_refused(20, line, "one plane");
    check_refused(20, same, "solid");
    check_refused(4, nan, "point 3 is not finite");
}

static void hulls_return_all_their_memory(void)
{
    size_t before = rs_memory_bytes();
    box_grid_becomes_a_box();
    points_that_span_no_solid_are_refused();
    CHECK(rs_memory_bytes() == before);
}

int main(void)
{
    RUN(box_grid_becomes_a_box);
    RUN(tetrahedron_has_the_inertia_of_the_textbook);
    RUN(hulls_of_random_points_are_convex_and_complete);
    RUN(lattice_points_make_consistent_hulls);
    RUN(climbing_ends_at_the_support_point_of_machined_parts);
    RUN(crowded_and_thin_sets_have_exact_hulls);
    RUN(points_that_span_no_solid_are_refused);
    RUN(hulls_return_all_their_memory);
    return CHECK_RESULT();
}
