#include "shading.h"

#include "../model/height_grid.h"
#include "../model/tri_mesh.h"

/* Edges between triangles that differ by more than 40 degrees are sharp. No vertex has more triangles that count. */
#define SMOOTHEST 0.766
enum { MOST_TRIANGLES = 48 };

rs_vec3 rs_triangle_shares(const rs_tri_mesh *mesh, int64_t triangle, rs_vec3 point) {
    const uint32_t *corner = mesh->triangles[triangle];
    rs_vec3 a = mesh->vertices[corner[0]], n = mesh->normals[triangle];
    rs_vec3 ab = rs_sub(mesh->vertices[corner[1]], a), ac = rs_sub(mesh->vertices[corner[2]], a), ap = rs_sub(point, a);
    double area = rs_dot(n, rs_cross(ab, ac));
    double b = rs_dot(n, rs_cross(ap, ac)) / area, c = rs_dot(n, rs_cross(ab, ap)) / area;
    return rs_v3(1.0 - b - c, b, c);
}

/* ---- meshes ---- */

static int corner_of(const rs_tri_mesh *mesh, int32_t triangle, uint32_t vertex) {
    const uint32_t *corners = mesh->triangles[triangle];
    return corners[0] == vertex ? 0 : corners[1] == vertex ? 1 : 2;
}

/* The normal of a triangle times the sine of its angle at a corner: slivers count little. */
static rs_vec3 weighted_normal(const rs_tri_mesh *mesh, int32_t triangle, int corner) {
    const uint32_t *v = mesh->triangles[triangle];
    rs_vec3 at = mesh->vertices[v[corner]], n = mesh->normals[triangle];
    rs_vec3 a = rs_sub(mesh->vertices[v[(corner + 1) % 3]], at), b = rs_sub(mesh->vertices[v[(corner + 2) % 3]], at);
    return rs_scale(rs_dot(n, rs_cross(a, b)) / sqrt(rs_norm2(a) * rs_norm2(b)), n);
}

/* Adds the triangles that follow around a vertex, up to a sharp edge; `side` 0: counter-clockwise, 1: clockwise. Returns
 * false when it came all around. */
static bool add_fan(const rs_tri_mesh *mesh, int32_t triangle, int corner, int side, rs_vec3 *sum) {
    uint32_t vertex = mesh->triangles[triangle][corner];
    int32_t here = triangle;
    for (int k = 0; k < MOST_TRIANGLES; k++) {
        /* edge c lies after corner c, edge c + 2 before it */
        int32_t next = mesh->neighbors[here][(corner_of(mesh, here, vertex) + (side ? 0 : 2)) % 3];
        if (next < 0 || rs_dot(mesh->normals[here], mesh->normals[next]) < SMOOTHEST)
            return true;
        if (next == triangle)
            return false;
        *sum = rs_add(*sum, weighted_normal(mesh, next, corner_of(mesh, next, vertex)));
        here = next;
    }
    return true;
}

static rs_vec3 corner_normal(const rs_tri_mesh *mesh, int32_t triangle, int corner) {
    rs_vec3 sum = weighted_normal(mesh, triangle, corner);
    if (add_fan(mesh, triangle, corner, 0, &sum))
        add_fan(mesh, triangle, corner, 1, &sum);
    return rs_normalize_or(sum, mesh->normals[triangle]);
}

static rs_vec3 mesh_normal(const rs_tri_mesh *mesh, int64_t triangle, rs_vec3 point) {
    rs_vec3 share = rs_triangle_shares(mesh, triangle, point), sum = rs_v3_zero();
    for (int c = 0; c < 3; c++)
        sum = rs_madd(sum, rs_clamp(rs_v3_get(share, c), 0.0, 1.0), corner_normal(mesh, (int32_t)triangle, c));
    return sum;
}

/* ---- heightmaps ---- */

/* Slopes at a sample, from its neighbours. */
static void slopes_at(const rs_height_grid *grid, int32_t ix, int32_t iy, double slopes[2]) {
    int32_t left = ix > 0 ? ix - 1 : 0, right = ix + 1 < grid->x_samples ? ix + 1 : ix;
    int32_t near = iy > 0 ? iy - 1 : 0, far = iy + 1 < grid->y_samples ? iy + 1 : iy;
    const double *row = &grid->heights[(int64_t)iy * grid->x_samples];
    slopes[0] = (row[right] - row[left]) / ((right - left) * grid->dx);
    slopes[1] = (grid->heights[(int64_t)far * grid->x_samples + ix] - grid->heights[(int64_t)near * grid->x_samples + ix]) /
                ((far - near) * grid->dy);
}

static rs_vec3 heightmap_normal(const rs_height_grid *grid, rs_vec3 point) {
    double x = rs_clamp((point.x + 0.5 * grid->x_size) / grid->dx, 0.0, grid->x_samples - 1.0);
    double y = rs_clamp((point.y + 0.5 * grid->y_size) / grid->dy, 0.0, grid->y_samples - 1.0);
    int32_t ix = x < grid->x_samples - 2.0 ? (int32_t)x : grid->x_samples - 2;
    int32_t iy = y < grid->y_samples - 2.0 ? (int32_t)y : grid->y_samples - 2;
    double slope_x = 0.0, slope_y = 0.0;
    for (int c = 0; c < 4; c++) {
        double slopes[2], share = (c & 1 ? x - ix : 1.0 - (x - ix)) * (c >> 1 ? y - iy : 1.0 - (y - iy));
        slopes_at(grid, ix + (c & 1), iy + (c >> 1), slopes);
        slope_x += share * slopes[0];
        slope_y += share * slopes[1];
    }
    return rs_v3(-slope_x, -slope_y, 1.0);
}

rs_vec3 rs_shading_normal(const rs_ray_target *target, int64_t feature, rs_vec3 point, rs_vec3 normal) {
    const rs_shape *shape = target->shape;
    rs_vec3 local = rs_transform_inv_point(&target->pose, point), bent;
    if (shape->type == RS_SHAPE_MESH)
        bent = mesh_normal(shape->mesh, feature, local);
    else if (shape->type == RS_SHAPE_HEIGHTMAP)
        bent = heightmap_normal(shape->grid, local);
    else
        return normal;
    bent = rs_normalize_or(rs_m3_mulv(&target->pose.rot, bent), normal);
    bent = rs_dot(bent, normal) < 0.0 ? rs_neg(bent) : bent; /* seen from behind */
    return rs_dot(bent, normal) < 0.2 ? normal : bent;
}
