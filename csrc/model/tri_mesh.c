#include "tri_mesh.h"

#include <stdlib.h>
#include <string.h>

#include "../base/memory.h"

/* A triangle is degenerate when its height over the longest side is below this fraction of that side: its normal would
 * be rounding noise. */
static const double MIN_ASPECT = 1e-12;
enum { MAX_TRIANGLES = 500000000 }; /* 3 * triangles fits in 32 bits */

static uint32_t next3(uint32_t k) { return k == 2 ? 0 : k + 1; }

/* ---- input ---- */

static rs_status check_vertices(int64_t count, const double *xyz) {
    for (int64_t i = 0; i < 3 * count; i++)
        if (!(fabs(xyz[i]) <= RS_MESH_REACH))
            return rs_fail(RS_INVALID_VALUE, "mesh vertex %lld: coordinate %c is %g, expected a number within +-%g",
                           (long long)(i / 3), "xyz"[i % 3], xyz[i], RS_MESH_REACH);
    return RS_OK;
}

static rs_status check_triangles(int64_t vertex_count, const double *xyz, int64_t count, const int32_t *indices) {
    for (int64_t t = 0; t < count; t++) {
        rs_vec3 v[3];
        for (int k = 0; k < 3; k++) {
            int32_t index = indices[3 * t + k];
            if (index < 0 || index >= vertex_count)
                return rs_fail(RS_INVALID_VALUE, "mesh triangle %lld: vertex index %d, expected 0..%lld", (long long)t,
                               (int)index, (long long)vertex_count - 1);
            v[k] = rs_v3_load(&xyz[3 * (int64_t)index]);
        }
        double longest2 = fmax(rs_norm2(rs_sub(v[1], v[0])),
                               fmax(rs_norm2(rs_sub(v[2], v[1])), rs_norm2(rs_sub(v[0], v[2]))));
        if (rs_norm(rs_cross(rs_sub(v[1], v[0]), rs_sub(v[2], v[0]))) <= MIN_ASPECT * longest2)
            return rs_fail(RS_INVALID_VALUE, "mesh triangle %lld has no area", (long long)t);
    }
    return RS_OK;
}

static rs_status check_input(int64_t vertex_count, const double *xyz, int64_t triangle_count,
                             const int32_t *indices) {
    if (triangle_count < 1 || triangle_count > MAX_TRIANGLES)
        return rs_fail(RS_INVALID_VALUE, "mesh: %lld triangles, expected 1..%d", (long long)triangle_count,
                       MAX_TRIANGLES);
    if (vertex_count < 3 || vertex_count > INT32_MAX)
        return rs_fail(RS_INVALID_VALUE, "mesh: %lld vertices, expected 3..%d", (long long)vertex_count, INT32_MAX);
    if (xyz == NULL || indices == NULL)
        return rs_fail(RS_INVALID_VALUE, "mesh: the %s are missing", xyz == NULL ? "vertices" : "indices");
    rs_status status = check_vertices(vertex_count, xyz);
    return status == RS_OK ? check_triangles(vertex_count, xyz, triangle_count, indices) : status;
}

/* ---- tree ---- */

/* Builds the tree and stores the triangles, with their normals, in its order. */
static rs_status order_triangles(rs_tri_mesh *mesh, const int32_t *indices) {
    uint32_t count = mesh->triangle_count;
    rs_aabb *boxes = rs_alloc(count * sizeof *boxes);
    rs_status status = boxes != NULL ? RS_OK : RS_OUT_OF_MEMORY;
    mesh->box = (rs_aabb){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (uint32_t t = 0; status == RS_OK && t < count; t++) {
        rs_vec3 v[3];
        for (int k = 0; k < 3; k++) v[k] = mesh->vertices[indices[3 * (size_t)t + (size_t)k]];
        boxes[t] = rs_aabb_of_triangle(v[0], v[1], v[2]);
        mesh->box = (rs_aabb){rs_v3_min(mesh->box.min, boxes[t].min), rs_v3_max(mesh->box.max, boxes[t].max)};
    }
    if (status == RS_OK) status = rs_bvh_build(&mesh->bvh, boxes, count, mesh->given);
    for (uint32_t t = 0; status == RS_OK && t < count; t++) {
        rs_vec3 v[3];
        for (int k = 0; k < 3; k++) {
            mesh->triangles[t][k] = (uint32_t)indices[3 * (size_t)mesh->given[t] + (size_t)k];
            v[k] = mesh->vertices[mesh->triangles[t][k]];
        }
        mesh->normals[t] = rs_normalize_or(rs_cross(rs_sub(v[1], v[0]), rs_sub(v[2], v[0])), rs_v3(0, 0, 1));
    }
    rs_free(boxes);
    return status;
}

/* ---- adjacency ---- */

typedef struct {
    uint32_t low, high; /* the two vertices, sorted */
    uint32_t corner;    /* 3 * triangle + edge */
    bool flipped;       /* runs from high to low */
} half_edge;

static int compare_half_edges(const void *pa, const void *pb) {
    const half_edge *a = pa, *b = pb;
    if (a->low != b->low) return a->low < b->low ? -1 : 1;
    if (a->high != b->high) return a->high < b->high ? -1 : 1;
    return a->corner < b->corner ? -1 : a->corner > b->corner;
}

static void list_half_edges(const rs_tri_mesh *mesh, half_edge *edges) {
    for (uint32_t t = 0; t < mesh->triangle_count; t++)
        for (uint32_t k = 0; k < 3; k++) {
            uint32_t a = mesh->triangles[t][k], b = mesh->triangles[t][next3(k)];
            edges[3 * t + k] = (half_edge){a < b ? a : b, a < b ? b : a, 3 * t + k, a > b};
        }
    qsort(edges, 3 * (size_t)mesh->triangle_count, sizeof *edges, compare_half_edges);
}

/* Pairs up equal edges. Closed: every edge has two triangles that run through it in opposite directions. */
static bool link_neighbors(rs_tri_mesh *mesh, const half_edge *edges, uint32_t *unique_edges) {
    uint32_t total = 3 * mesh->triangle_count;
    bool closed = true;
    *unique_edges = 0;
    for (uint32_t i = 0, end; i < total; i = end) {
        end = i + 1;
        while (end < total && edges[end].low == edges[i].low && edges[end].high == edges[i].high) end++;
        (*unique_edges)++;
        bool pair = end == i + 2;
        closed = closed && pair && edges[i].flipped != edges[i + 1].flipped;
        for (uint32_t j = i; j < end; j++) {
            uint32_t other = pair ? edges[j == i ? i + 1 : i].corner / 3 : 0;
            mesh->neighbors[edges[j].corner / 3][edges[j].corner % 3] = pair ? (int32_t)other : -1;
        }
    }
    return closed;
}

/* Vertex rings from the sorted edges, in compressed rows. */
static rs_status build_rings(rs_tri_mesh *mesh, const half_edge *edges, uint32_t unique_edges) {
    mesh->ring_start = rs_alloc(((size_t)mesh->vertex_count + 1) * sizeof *mesh->ring_start);
    mesh->ring = rs_alloc(2 * (size_t)unique_edges * sizeof *mesh->ring);
    uint32_t *filled = rs_alloc(mesh->vertex_count * sizeof *filled);
    if (!mesh->ring_start || !mesh->ring || !filled) {
        rs_free(filled);
        return RS_OUT_OF_MEMORY;
    }
    uint32_t total = 3 * mesh->triangle_count;
    for (int pass = 0; pass < 2; pass++) { /* count, then fill */
        for (uint32_t i = 0; i < total; i++) {
            uint32_t a = edges[i].low, b = edges[i].high;
            if (i > 0 && edges[i - 1].low == a && edges[i - 1].high == b) continue;
            if (pass == 0) {
                mesh->ring_start[a + 1]++;
                mesh->ring_start[b + 1]++;
            } else {
                mesh->ring[mesh->ring_start[a] + filled[a]++] = b;
                mesh->ring[mesh->ring_start[b] + filled[b]++] = a;
            }
        }
        for (uint32_t v = 0; pass == 0 && v < mesh->vertex_count; v++) mesh->ring_start[v + 1] += mesh->ring_start[v];
    }
    rs_free(filled);
    return RS_OK;
}

static rs_status connect(rs_tri_mesh *mesh) {
    half_edge *edges = rs_alloc(3 * (size_t)mesh->triangle_count * sizeof *edges);
    if (edges == NULL) return RS_OUT_OF_MEMORY;
    list_half_edges(mesh, edges);
    uint32_t unique_edges;
    mesh->solid = link_neighbors(mesh, edges, &unique_edges);
    rs_status status = build_rings(mesh, edges, unique_edges);
    rs_free(edges);
    return status;
}

/* Angle-weighted vertex normals, owners and the enclosed volume. */
static void measure(rs_tri_mesh *mesh) {
    rs_vec3 origin = mesh->vertices[mesh->triangles[0][0]];
    double volume6 = 0.0;
    for (uint32_t t = 0; t < mesh->triangle_count; t++) {
        rs_vec3 v[3];
        for (int k = 0; k < 3; k++) v[k] = mesh->vertices[mesh->triangles[t][k]];
        volume6 += rs_dot(rs_sub(v[0], origin), rs_cross(rs_sub(v[1], origin), rs_sub(v[2], origin)));
        for (uint32_t k = 0; k < 3; k++) {
            mesh->owner[mesh->triangles[t][k]] = t;
            rs_vec3 a = rs_sub(v[next3(k)], v[k]), b = rs_sub(v[next3(next3(k))], v[k]);
            double angle = atan2(rs_norm(rs_cross(a, b)), rs_dot(a, b));
            rs_vec3 *sum = &mesh->vertex_normals[mesh->triangles[t][k]];
            *sum = rs_madd(*sum, angle, mesh->normals[t]);
        }
    }
    mesh->volume = mesh->solid ? volume6 / 6.0 : 0.0;
    mesh->solid = mesh->solid && mesh->volume > 0.0;
}

/* ---- life ---- */

static rs_status build(rs_tri_mesh *mesh, const double *xyz, const int32_t *indices) {
    size_t vertices = mesh->vertex_count, triangles = mesh->triangle_count;
    mesh->vertices = rs_alloc(vertices * sizeof *mesh->vertices);
    mesh->vertex_normals = rs_alloc(vertices * sizeof *mesh->vertex_normals);
    mesh->owner = rs_alloc(vertices * sizeof *mesh->owner);
    mesh->triangles = rs_alloc(triangles * sizeof *mesh->triangles);
    mesh->given = rs_alloc(triangles * sizeof *mesh->given);
    mesh->normals = rs_alloc(triangles * sizeof *mesh->normals);
    mesh->neighbors = rs_alloc(triangles * sizeof *mesh->neighbors);
    if (!mesh->vertices || !mesh->vertex_normals || !mesh->owner || !mesh->triangles || !mesh->given ||
        !mesh->normals || !mesh->neighbors)
        return RS_OUT_OF_MEMORY;
    for (size_t i = 0; i < vertices; i++) mesh->vertices[i] = rs_v3_load(&xyz[3 * i]);
    rs_status status = order_triangles(mesh, indices);
    if (status == RS_OK) status = connect(mesh);
    if (status == RS_OK) measure(mesh);
    return status;
}

rs_status rs_tri_mesh_new(int64_t vertex_count, const double *xyz, int64_t triangle_count, const int32_t *indices,
                             rs_tri_mesh **out) {
    rs_status status = check_input(vertex_count, xyz, triangle_count, indices);
    if (status != RS_OK) return status;
    rs_tri_mesh *mesh = rs_alloc(sizeof *mesh);
    if (mesh == NULL) return RS_OUT_OF_MEMORY;
    mesh->vertex_count = (uint32_t)vertex_count;
    mesh->triangle_count = (uint32_t)triangle_count;
    status = build(mesh, xyz, indices);
    if (status == RS_OK)
        *out = mesh;
    else
        rs_tri_mesh_free(mesh);
    return status;
}

void rs_tri_mesh_free(rs_tri_mesh *mesh) {
    if (mesh == NULL) return;
    rs_bvh_free(&mesh->bvh);
    rs_free(mesh->vertices);
    rs_free(mesh->triangles);
    rs_free(mesh->given);
    rs_free(mesh->normals);
    rs_free(mesh->neighbors);
    rs_free(mesh->vertex_normals);
    rs_free(mesh->ring_start);
    rs_free(mesh->ring);
    rs_free(mesh->owner);
    rs_free(mesh);
}

rs_aabb rs_tri_mesh_aabb(const rs_tri_mesh *mesh, const rs_transform *pose) {
    rs_vec3 reach = rs_scale(0.5, rs_sub(mesh->box.max, mesh->box.min));
    rs_vec3 center = rs_transform_point(pose, rs_scale(0.5, rs_add(mesh->box.max, mesh->box.min)));
    rs_vec3 turned = rs_v3(rs_dot(rs_v3_abs(rs_m3_row(&pose->rot, 0)), reach),
                           rs_dot(rs_v3_abs(rs_m3_row(&pose->rot, 1)), reach),
                           rs_dot(rs_v3_abs(rs_m3_row(&pose->rot, 2)), reach));
    return (rs_aabb){rs_sub(center, turned), rs_add(center, turned)};
}

double rs_tri_mesh_size(const rs_tri_mesh *mesh) {
    rs_vec3 extent = rs_sub(mesh->box.max, mesh->box.min);
    double smallest = fmin(extent.x, fmin(extent.y, extent.z)), largest = fmax(extent.x, fmax(extent.y, extent.z));
    return fmax(smallest, 0.01 * largest);
}
