/* Bundles of rays against triangle meshes (by their tree) and heightmaps (by their pyramid of lowest and highest
 * heights). */
#include "../model/height_grid.h"
#include "../model/tri_mesh.h"
#include "packet_bvh.h"
#include "packet_triangle.h"

void rs_packet_mesh(const rs_tri_mesh *mesh, const rs_packet_rays *rays, int64_t target, rs_packet_hits *hits) {
    rs_packet_bvh walk;
    rs_packet_bvh_begin(&walk, &mesh->bvh, rays);
    uint32_t first, count;
    while (rs_packet_bvh_next(&walk, hits, &first, &count))
        for (uint32_t t = first; t < first + count; t++) {
            const uint32_t *v = mesh->triangles[t];
            rs_packet_triangle(rays, mesh->vertices[v[0]], mesh->vertices[v[1]], mesh->vertices[v[2]], target, t, hits);
        }
}

/* ---- heightmap ---- */

typedef struct {
    double enter;
    int32_t level, x, y;
} grid_node;

/* The two triangles of a cell. */
static void packet_cell(const rs_height_grid *grid, int32_t ix, int32_t iy, const rs_packet_rays *rays, int64_t target,
                        rs_packet_hits *hits) {
    rs_vec3 v00 = rs_height_grid_vertex(grid, ix, iy), v10 = rs_height_grid_vertex(grid, ix + 1, iy),
            v01 = rs_height_grid_vertex(grid, ix, iy + 1), v11 = rs_height_grid_vertex(grid, ix + 1, iy + 1);
    int64_t first = 2 * ((int64_t)iy * (grid->x_samples - 1) + ix);
    rs_packet_triangle(rays, v00, v10, v11, target, first, hits);
    rs_packet_triangle(rays, v00, v11, v01, target, first + 1, hits);
}

/* Boxes of the four nodes below a node; those outside the map are empty (infinitely far away). */
static void child_boxes(const rs_height_grid *grid, const grid_node *node, rs_child_boxes *out) {
    int32_t level = node->level - 1, cells = 1 << level;
    for (int c = 0; c < RS_CHILDREN; c++) {
        int32_t x = 2 * node->x + (c & 1), y = 2 * node->y + (c >> 1);
        rs_height_range range;
        bool inside = rs_height_grid_range(grid, level, x, y, &range);
        out->lo[0][c] = inside ? -0.5 * grid->x_size + (double)x * cells * grid->dx : INFINITY;
        out->hi[0][c] = inside ? -0.5 * grid->x_size + ((double)x + 1.0) * cells * grid->dx : INFINITY;
        out->lo[1][c] = inside ? -0.5 * grid->y_size + (double)y * cells * grid->dy : INFINITY;
        out->hi[1][c] = inside ? -0.5 * grid->y_size + ((double)y + 1.0) * cells * grid->dy : INFINITY;
        out->lo[2][c] = inside ? range.low : INFINITY;
        out->hi[2][c] = inside ? range.high : INFINITY;
    }
}

/* A little room: a ray along the border of a cell or within a flat one must not be lost to rounding. */
static void widen(rs_child_boxes *boxes, double slack) {
    for (int axis = 0; axis < 3; axis++)
        for (int c = 0; c < RS_CHILDREN; c++) {
            boxes->lo[axis][c] -= slack;
            boxes->hi[axis][c] += slack;
        }
}

void rs_packet_heightmap(const rs_height_grid *grid, const rs_packet_rays *rays, int64_t target, rs_packet_hits *hits) {
    double slack = 1e-9 * (grid->x_size + grid->y_size);
    rs_packet_walk walk = rs_packet_walk_make(rays);
    grid_node stack[(RS_CHILDREN - 1) * RS_GRID_MAX_LEVELS + RS_CHILDREN];
    stack[0] = (grid_node){0.0, grid->levels, 0, 0};
    for (int top = 1; top > 0;) {
        grid_node node = stack[--top];
        if (node.enter > rs_packet_reach(hits))
            continue;
        if (node.level == 0) {
            packet_cell(grid, node.x, node.y, rays, target, hits);
            continue;
        }
        rs_child_boxes boxes;
        child_boxes(grid, &node, &boxes);
        widen(&boxes, slack);
        int order[RS_CHILDREN];
        double enter[RS_CHILDREN];
        int count = rs_packet_order(&walk, &boxes, hits, order, enter);
        for (int k = 0; k < count; k++) {
            int c = order[k];
            stack[top++] = (grid_node){enter[c], node.level - 1, 2 * node.x + (c & 1), 2 * node.y + (c >> 1)};
        }
    }
}
