/* Bundles of rays against triangle meshes (by their tree) and heightmaps (by their pyramid of lowest and highest
 * heights). */
#include "../model/height_grid.h"
#include "../model/tri_mesh.h"
#include "packet_bvh.h"
#include "packet_triangle.h"

/* Corner k of four triangles from `first` on; beyond the last it is that one's again. */
static rs_vectors4 corners(const rs_tri_mesh *mesh, uint32_t first, uint32_t count, int k) {
    rs_vec3 at[RS_BVH_LEAF_ITEMS];
    for (uint32_t t = 0; t < RS_BVH_LEAF_ITEMS; t++)
        at[t] = mesh->vertices[mesh->triangles[first + (t < count ? t : count - 1)][k]];
    return rs_vectors4_of(at);
}

void rs_packet_mesh(const rs_tri_mesh *mesh, const rs_packet_rays *rays, int64_t target, rs_packet_hits *hits) {
    rs_packet_beam beam = rs_packet_beam_make(rays);
    rs_packet_bvh walk;
    rs_packet_bvh_begin(&walk, &mesh->bvh, rays, false);
    uint32_t first, count;
    while (rs_packet_bvh_next(&walk, hits, &first, &count)) {
        int64_t features[4] = {first, first + 1, first + 2, first + 3};
        rs_corners4 at = {corners(mesh, first, count, 0), corners(mesh, first, count, 1), corners(mesh, first, count, 2)};
        rs_packet_triangles(rays, &beam, at, (1u << count) - 1u, target, features, walk.reach, hits);
    }
}

/* ---- heightmap ---- */

typedef struct {
    double enter;
    int32_t level, x, y;
} grid_node;

/* One sample each of four cells. */
static rs_vectors4 samples(const rs_height_grid *grid, const int32_t ix[4], const int32_t iy[4], int32_t right, int32_t up) {
    rs_vec3 at[4];
    for (int c = 0; c < 4; c++)
        at[c] = rs_height_grid_vertex(grid, ix[c] + right, iy[c] + up);
    return rs_vectors4_of(at);
}

/* The two triangles of each of the four cells below a node of level 1. */
static void packet_cells(const rs_height_grid *grid, const grid_node *node, const rs_packet_rays *rays,
                         const rs_packet_beam *beam, int64_t target, double reach, rs_packet_hits *hits) {
    int32_t ix[4], iy[4], last_x = grid->x_samples - 2, last_y = grid->y_samples - 2;
    int64_t features[4];
    unsigned inside = 0;
    for (int c = 0; c < 4; c++) {
        int32_t x = 2 * node->x + (c & 1), y = 2 * node->y + (c >> 1);
        inside |= x <= last_x && y <= last_y ? 1u << c : 0u;
        ix[c] = x < last_x ? x : last_x;
        iy[c] = y < last_y ? y : last_y;
        features[c] = 2 * ((int64_t)iy[c] * (grid->x_samples - 1) + ix[c]);
    }
    rs_vectors4 v00 = samples(grid, ix, iy, 0, 0), v11 = samples(grid, ix, iy, 1, 1);
    rs_corners4 lower = {v00, samples(grid, ix, iy, 1, 0), v11}, upper = {v00, v11, samples(grid, ix, iy, 0, 1)};
    rs_packet_triangles(rays, beam, lower, inside, target, features, reach, hits);
    for (int c = 0; c < 4; c++)
        features[c]++;
    rs_packet_triangles(rays, beam, upper, inside, target, features, reach, hits);
}

/* Boxes of the four nodes below a node; those outside the map are empty (infinitely far away). */
static void child_boxes(const rs_height_grid *grid, const grid_node *node, rs_child_boxes *out) {
    int32_t level = node->level - 1, cells = 1 << level;
    double x[3], y[3];
    for (int k = 0; k < 3; k++) {
        x[k] = -0.5 * grid->x_size + (2.0 * node->x + k) * cells * grid->dx;
        y[k] = -0.5 * grid->y_size + (2.0 * node->y + k) * cells * grid->dy;
    }
    out->lo[0] = (rs_v4){x[0], x[1], x[0], x[1]};
    out->hi[0] = (rs_v4){x[1], x[2], x[1], x[2]};
    out->lo[1] = (rs_v4){y[0], y[0], y[1], y[1]};
    out->hi[1] = (rs_v4){y[1], y[1], y[2], y[2]};
    for (int c = 0; c < RS_CHILDREN; c++) {
        rs_height_range range = {INFINITY, INFINITY};
        rs_height_grid_range(grid, level, 2 * node->x + (c & 1), 2 * node->y + (c >> 1), &range);
        out->lo[2][c] = range.low;
        out->hi[2][c] = range.high;
    }
}

/* A little room: a ray along the border of a cell or within a flat one must not be lost to rounding. */
static void widen(rs_child_boxes *boxes, double slack) {
    for (int axis = 0; axis < 3; axis++) {
        boxes->lo[axis] -= slack;
        boxes->hi[axis] += slack;
    }
}

void rs_packet_heightmap(const rs_height_grid *grid, const rs_packet_rays *rays, int64_t target, rs_packet_hits *hits) {
    double slack = 1e-9 * (grid->x_size + grid->y_size);
    rs_packet_walk walk;
    rs_packet_walk_begin(&walk, rays);
    rs_packet_beam beam = rs_packet_beam_make(rays);
    double reach = rs_packet_reach(hits);
    grid_node stack[(RS_CHILDREN - 1) * RS_GRID_MAX_LEVELS + RS_CHILDREN];
    stack[0] = (grid_node){0.0, grid->levels, 0, 0};
    for (int top = 1; top > 0;) {
        grid_node node = stack[--top];
        if (node.enter > reach)
            continue;
        if (node.level <= 1) {
            packet_cells(grid, &node, rays, &beam, target, reach, hits);
            reach = rs_packet_reach(hits);
            continue;
        }
        rs_child_boxes boxes;
        child_boxes(grid, &node, &boxes);
        widen(&boxes, slack);
        int order[RS_CHILDREN];
        rs_v4 enter;
        int count = rs_packet_order(&walk, &boxes, hits, reach, true, order, &enter);
        for (int k = 0; k < count; k++) {
            int c = order[k];
            stack[top++] = (grid_node){enter[c], node.level - 1, 2 * node.x + (c & 1), 2 * node.y + (c >> 1)};
        }
    }
}
