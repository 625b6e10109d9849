/* Triangle meshes: what is refused, adjacency, solid or shell, nearest points. */
#include <string.h>

#include "../../../csrc/base/memory.h"
#include "../surface_fixture.h"

static const double TETRAHEDRON[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
static const int32_t TETRAHEDRON_FACES[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};

static void check_refused(int64_t vertices, const double *xyz, int64_t triangles, const int32_t *indices,
                          const char *words)
{
    size_t before = rs_memory_bytes();
    rs_tri_mesh *mesh = NULL;
    CHECK(rs_tri_mesh_new(vertices, xyz, triangles, indices, &mesh) == RS_INVALID_VALUE);
    CHECK(mesh == NULL);
    CHECK(strstr(rs_error_text(), words) != NULL);
    CHECK(rs_memory_bytes() == before);
}

static void bad_input_is_refused_with_its_place(void)
{
    double broken[12];
    memcpy(broken, TETRAHEDRON, sizeof broken);
    broken[7] = NAN;
    check_refused(4, broken, 4, TETRAHEDRON_FACES, "vertex 2: coordinate y is nan");
    broken[7] = INFINITY;
    check_refused(4, broken, 4, TETRAHEDRON_FACES, "vertex 2: coordinate y is inf");
    broken[7] = 1e10;
    check_refused(4, broken, 4, TETRAHEDRON_FACES, "vertex 2: coordinate y is 1e+10");
    check_refused(4, TETRAHEDRON, 0, TETRAHEDRON_FACES, "0 triangles");
    check_refused(0, TETRAHEDRON, 4, TETRAHEDRON_FACES, "0 vertices");
    check_refused(4, NULL, 4, TETRAHEDRON_FACES, "vertices are missing");
    check_refused(4, TETRAHEDRON, 4, NULL, "indices are missing");
    check_refused(3, TETRAHEDRON, 4, TETRAHEDRON_FACES, "triangle 1: vertex index 3, expected 0..2");
    int32_t faces[12];
    memcpy(faces, TETRAHEDRON_FACES, sizeof faces);
    faces[4] = -1;
    check_refused(4, TETRAHEDRON, 4, faces, "triangle 1: vertex index -1");
    faces[4] = faces[3];
    check_refused(4, TETRAHEDRON, 4, faces, "triangle 1 has no area");
}

static void closed_meshes_are_solid_others_are_shells(void)
{
    rs_tri_mesh *closed = mesh_of(4, TETRAHEDRON, 4, TETRAHEDRON_FACES);
    CHECK(closed->solid);
    CHECK_NEAR(closed->volume, 1.0 / 6.0, 1e-15);
    rs_tri_mesh *open = mesh_of(4, TETRAHEDRON, 3, TETRAHEDRON_FACES);
    CHECK(!open->solid);
    int32_t inside_out[12];
    for (int i = 0; i < 12; i++)
        inside_out[i] = TETRAHEDRON_FACES[3 * (i / 3) + 2 - i % 3];
    rs_tri_mesh *inverted = mesh_of(4, TETRAHEDRON, 4, inside_out);
    CHECK(!inverted->solid);
    int32_t mixed[12];
    memcpy(mixed, TETRAHEDRON_FACES, sizeof mixed);
    mixed[0] = TETRAHEDRON_FACES[1];
    mixed[1] = TETRAHEDRON_FACES[0];
    rs_tri_mesh *inconsistent = mesh_of(4, TETRAHEDRON, 4, mixed);
    CHECK(!inconsistent->solid);
    rs_tri_mesh_free(closed);
    rs_tri_mesh_free(open);
    rs_tri_mesh_free(inverted);
    rs_tri_mesh_free(inconsistent);
}

/* Across edge k lies a triangle that has both its vertices, and it points back. */
static void neighbours_share_edges(void)
{
    rs_tri_mesh *mesh = sheet_mesh(6, 3.0, NULL);
    int borders = 0;
    for (uint32_t t = 0; t < mesh->triangle_count; t++)
        for (int k = 0; k < 3; k++) {
            int32_t other = mesh->neighbors[t][k];
            if (other < 0) {
                borders++;
                continue;
            }
            uint32_t a = mesh->triangles[t][k], b = mesh->triangles[t][(k + 1) % 3];
            int shared = 0, back = 0;
            for (int j = 0; j < 3; j++) {
                shared += mesh->triangles[other][j] == a || mesh->triangles[other][j] == b;
                back += mesh->neighbors[other][j] == (int32_t)t;
            }
            CHECK(shared == 2 && back == 1);
        }
    CHECK(borders == 4 * 6);
    rs_tri_mesh_free(mesh);
}

static void an_edge_of_three_triangles_has_no_neighbours(void)
{
    double xyz[15] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, -1, 0, 0, 0, 1};
    int32_t fans[9] = {0, 1, 2, 1, 0, 3, 0, 1, 4};
    rs_tri_mesh *mesh = mesh_of(5, xyz, 3, fans);
    for (uint32_t t = 0; t < 3; t++)
        for (int k = 0; k < 3; k++)
            CHECK(mesh->neighbors[t][k] == -1);
    CHECK(!mesh->solid);
    rs_tri_mesh_free(mesh);
}

static void rings_list_every_neighbour_vertex_once(void)
{
    rs_tri_mesh *mesh = sheet_mesh(4, 4.0, NULL);
    uint32_t inner = 2 * 5 + 2, corner = 0; /* the corner has the diagonal, its opposite neighbour corners do not */
    CHECK(mesh->ring_start[inner + 1] - mesh->ring_start[inner] == 6);
    CHECK(mesh->ring_start[corner + 1] - mesh->ring_start[corner] == 3);
    CHECK(mesh->ring_start[5] - mesh->ring_start[4] == 2);
    for (uint32_t v = 0; v < mesh->vertex_count; v++) {
        uint32_t owner = mesh->owner[v];
        CHECK(mesh->triangles[owner][0] == v || mesh->triangles[owner][1] == v || mesh->triangles[owner][2] == v);
        for (uint32_t i = mesh->ring_start[v]; i < mesh->ring_start[v + 1]; i++)
            for (uint32_t j = i + 1; j < mesh->ring_start[v + 1]; j++)
                CHECK(mesh->ring[i] != mesh->ring[j]);
    }
    rs_tri_mesh_free(mesh);
}

/* Signed distance to a box: the closed form. */
static double box_distance(rs_vec3 p, rs_vec3 half)
{
    rs_vec3 q = rs_sub(rs_v3_abs(p), half);
    rs_vec3 outside = rs_v3_max(q, rs_v3_zero());
    return rs_norm(outside) + fmin(fmax(q.x, fmax(q.y, q.z)), 0.0);
}

static void nearest_point_and_side_agree_with_the_closed_form_of_a_box(void)
{
    rs_tri_mesh *mesh = box_mesh(2.0, 1.0, 0.6);
    uint64_t state = 3;
    for (int i = 0; i < 5000; i++) {
        rs_vec3 p = rs_v3(random_in(&state, -2, 2), random_in(&state, -1, 1), random_in(&state, -1, 1));
        double expected = box_distance(p, rs_v3(1.0, 0.5, 0.3));
        rs_mesh_nearest found;
        if (!CHECK(rs_tri_mesh_nearest(mesh, p, INFINITY, &found)))
            continue;
        CHECK_NEAR(found.inside ? -found.distance : found.distance, expected, 1e-12);
        CHECK_NEAR(rs_norm(rs_sub(p, found.point)), found.distance, 1e-12);
    }
    rs_mesh_nearest none;
    CHECK(!rs_tri_mesh_nearest(mesh, rs_v3(3, 0, 0), 1.5, &none));
    CHECK(rs_tri_mesh_nearest(mesh, rs_v3(3, 0, 0), 2.5, &none));
    rs_tri_mesh_free(mesh);
}

static void nearest_point_agrees_with_trying_all_triangles(void)
{
    double heights[21 * 21];
    uint64_t state = 11;
    for (int i = 0; i < 21 * 21; i++)
        heights[i] = random_in(&state, -0.3, 0.3);
    rs_tri_mesh *mesh = sheet_mesh(20, 4.0, heights);
    for (int i = 0; i < 500; i++) {
        rs_vec3 p = rs_v3(random_in(&state, -3, 3), random_in(&state, -3, 3), random_in(&state, -1, 1));
        double least = INFINITY;
        for (uint32_t t = 0; t < mesh->triangle_count; t++) {
            rs_vec3 v[3];
            rs_triangle_part part;
            int index;
            for (int k = 0; k < 3; k++)
                v[k] = mesh->vertices[mesh->triangles[t][k]];
            least = fmin(least, rs_norm(rs_sub(p, rs_triangle_nearest(v, p, &part, &index))));
        }
        rs_mesh_nearest found;
        CHECK(rs_tri_mesh_nearest(mesh, p, INFINITY, &found));
        CHECK_NEAR(found.distance, least, 1e-12);
    }
    rs_tri_mesh_free(mesh);
}

/* On a fine lattice of barycentric coordinates nothing is nearer. */
static void nearest_point_of_a_triangle_is_the_nearest(void)
{
    uint64_t state = 5;
    for (int trial = 0; trial < 200; trial++) {
        rs_vec3 v[3];
        for (int k = 0; k < 3; k++)
            v[k] = rs_v3(random_in(&state, -1, 1), random_in(&state, -1, 1), random_in(&state, -1, 1));
        rs_vec3 p = rs_v3(random_in(&state, -2, 2), random_in(&state, -2, 2), random_in(&state, -2, 2));
        rs_triangle_part part;
        int index;
        rs_vec3 q = rs_triangle_nearest(v, p, &part, &index);
        double distance = rs_norm(rs_sub(p, q)), least = INFINITY;
        for (int i = 0; i <= 60; i++)
            for (int j = 0; i + j <= 60; j++) {
                rs_vec3 s = rs_madd(rs_madd(rs_scale((60 - i - j) / 60.0, v[0]), i / 60.0, v[1]), j / 60.0, v[2]);
                least = fmin(least, rs_norm(rs_sub(p, s)));
            }
        CHECK(distance <= least + 1e-12);
        CHECK(least <= distance + 0.05);
        rs_vec3 end = v[(index + 1) % 3];
        if (part == RS_ON_VERTEX)
            CHECK_NEAR(rs_norm(rs_sub(q, v[index])), 0.0, 1e-12);
        if (part == RS_ON_EDGE)
            CHECK_NEAR(rs_norm(rs_sub(q, v[index])) + rs_norm(rs_sub(q, end)), rs_norm(rs_sub(end, v[index])), 1e-9);
    }
}

static void the_box_holds_the_turned_mesh(void)
{
    rs_tri_mesh *mesh = mesh_of(4, TETRAHEDRON, 4, TETRAHEDRON_FACES);
    uint64_t state = 2;
    for (int i = 0; i < 100; i++) {
        rs_transform pose = random_pose(&state, 5.0);
        rs_aabb box = rs_tri_mesh_aabb(mesh, &pose);
        for (uint32_t v = 0; v < 4; v++) {
            rs_vec3 p = rs_transform_point(&pose, mesh->vertices[v]);
            CHECK(p.x >= box.min.x - 1e-12 && p.y >= box.min.y - 1e-12 && p.z >= box.min.z - 1e-12);
            CHECK(p.x <= box.max.x + 1e-12 && p.y <= box.max.y + 1e-12 && p.z <= box.max.z + 1e-12);
        }
    }
    rs_tri_mesh_free(mesh);
}

static void nothing_is_left_allocated(void)
{
    size_t before = rs_memory_bytes();
    rs_tri_mesh *mesh = sheet_mesh(30, 1.0, NULL);
    CHECK(rs_memory_bytes() > before);
    rs_tri_mesh_free(mesh);
    rs_tri_mesh_free(NULL);
    CHECK(rs_memory_bytes() == before);
}

int main(void)
{
    RUN(bad_input_is_refused_with_its_place);
    RUN(closed_meshes_are_solid_others_are_shells);
    RUN(neighbours_share_edges);
    RUN(an_edge_of_three_triangles_has_no_neighbours);
    RUN(rings_list_every_neighbour_vertex_once);
    RUN(nearest_point_and_side_agree_with_the_closed_form_of_a_box);
    RUN(nearest_point_agrees_with_trying_all_triangles);
    RUN(nearest_point_of_a_triangle_is_the_nearest);
    RUN(the_box_holds_the_turned_mesh);
    RUN(nothing_is_left_allocated);
    return CHECK_RESULT();
}
