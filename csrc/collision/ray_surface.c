/* Rays against triangle meshes (by their tree) and heightmaps (cell by cell along the ray). */
#include "../model/height_grid.h"
#include "../model/tri_mesh.h"
#include "bvh_ray.h"

bool rs_ray_mesh(const rs_tri_mesh *mesh, const rs_ray *ray, rs_ray_hit *hit) {
    rs_bvh_ray walk;
    rs_bvh_ray_begin(&walk, &mesh->bvh, ray);
    bool found = false;
    uint32_t first, count, nearest = 0;
    while (rs_bvh_ray_next(&walk, &first, &count))
        for (uint32_t t = first; t < first + count; t++) {
            const uint32_t *v = mesh->triangles[t];
            double distance;
            if (rs_ray_triangle(ray, mesh->vertices[v[0]], mesh->vertices[v[1]], mesh->vertices[v[2]], walk.max,
                                &distance)) {
                walk.max = distance;
                nearest = t;
                found = true;
            }
        }
    if (found)
        *hit = (rs_ray_hit){walk.max, mesh->normals[nearest]};
    return found;
}

/* ---- heightmap ---- */

static bool ray_cell(const rs_height_grid *grid, const rs_ray *ray, int32_t ix, int32_t iy, rs_ray_hit *hit) {
    rs_vec3 v00 = rs_height_grid_vertex(grid, ix, iy), v10 = rs_height_grid_vertex(grid, ix + 1, iy),
            v01 = rs_height_grid_vertex(grid, ix, iy + 1), v11 = rs_height_grid_vertex(grid, ix + 1, iy + 1);
    const rs_vec3 triangles[2][3] = {{v00, v10, v11}, {v00, v11, v01}};
    bool found = false;
    double max = ray->max;
    for (int k = 0; k < 2; k++) {
        const rs_vec3 *v = triangles[k];
        double distance;
        if (!rs_ray_triangle(ray, v[0], v[1], v[2], max, &distance))
            continue;
        max = distance;
        rs_vec3 normal = rs_cross(rs_sub(v[1], v[0]), rs_sub(v[2], v[0]));
        *hit = (rs_ray_hit){distance, rs_normalize_or(normal, rs_v3(0, 0, 1))};
        found = true;
    }
    return found;
}

/* One axis of a walk through equal cells (Amanatides and Woo). */
typedef struct {
    int32_t cell, step, last; /* last: the cell beyond which the walk ends */
    double next, delta;       /* distance of the next border, and from border to border */
} cell_axis;

static cell_axis make_axis(double origin, double direction, double enter, double low, double cell_size, int32_t first,
                           int32_t cells) {
    double at = origin + enter * direction;
    cell_axis axis;
    axis.cell = first + (int32_t)rs_clamp(floor((at - low) / cell_size) - first, 0.0, cells - 1);
    axis.step = direction >= 0.0 ? 1 : -1;
    axis.last = direction >= 0.0 ? first + cells : first - 1;
    double border = low + (axis.cell + (direction >= 0.0 ? 1 : 0)) * cell_size;
    axis.next = direction != 0.0 ? (border - origin) / direction : INFINITY;
    axis.delta = direction != 0.0 ? cell_size / fabs(direction) : INFINITY;
    return axis;
}

/* Narrows enter..leave to the part of the ray inside a box. */
static bool clip_to_box(const rs_ray *ray, rs_vec3 low, rs_vec3 high, double *enter, double *leave) {
    for (int axis = 0; axis < 3; axis++) {
        double inverse = rs_finite_reciprocal(rs_v3_get(ray->direction, axis));
        double o = rs_v3_get(ray->origin, axis);
        double t0 = (rs_v3_get(low, axis) - o) * inverse, t1 = (rs_v3_get(high, axis) - o) * inverse;
        *enter = rs_max(*enter, rs_min(t0, t1));
        *leave = rs_min(*leave, rs_max(t0, t1));
    }
    return *enter <= *leave;
}

/* Cells of one tile along the ray. */
static bool ray_tile(const rs_height_grid *grid, const rs_ray *ray, int32_t tx, int32_t ty, double enter, double leave,
                     rs_ray_hit *hit) {
    int32_t first_x = tx * RS_GRID_TILE, first_y = ty * RS_GRID_TILE;
    int32_t cells_x = grid->x_samples - 1 - first_x, cells_y = grid->y_samples - 1 - first_y;
    cells_x = cells_x < RS_GRID_TILE ? cells_x : RS_GRID_TILE;
    cells_y = cells_y < RS_GRID_TILE ? cells_y : RS_GRID_TILE;
    cell_axis x = make_axis(ray->origin.x, ray->direction.x, enter, -0.5 * grid->x_size, grid->dx, first_x, cells_x);
    cell_axis y = make_axis(ray->origin.y, ray->direction.y, enter, -0.5 * grid->y_size, grid->dy, first_y, cells_y);
    while (x.cell != x.last && y.cell != y.last) {
        if (ray_cell(grid, ray, x.cell, y.cell, hit))
            return true;
        cell_axis *crossed = x.next < y.next ? &x : &y;
        if (crossed->next > leave)
            return false;
        crossed->cell += crossed->step;
        crossed->next += crossed->delta;
    }
    return false;
}

bool rs_ray_heightmap(const rs_height_grid *grid, const rs_ray *ray, rs_ray_hit *hit) {
    /* A little room: a ray along the border or within a flat map must not be lost to rounding. */
    double slack = 1e-9 * (grid->x_size + grid->y_size);
    rs_vec3 low = {-0.5 * grid->x_size - slack, -0.5 * grid->y_size - slack, grid->min_height - slack};
    rs_vec3 high = {0.5 * grid->x_size + slack, 0.5 * grid->y_size + slack, grid->max_height + slack};
    double enter = 0.0, leave = ray->max;
    if (!clip_to_box(ray, low, high, &enter, &leave))
        return false;
    double tile_x = grid->dx * RS_GRID_TILE, tile_y = grid->dy * RS_GRID_TILE;
    cell_axis x = make_axis(ray->origin.x, ray->direction.x, enter, -0.5 * grid->x_size, tile_x, 0,
                            grid->x_nodes[RS_GRID_TILE_LEVEL]);
    cell_axis y = make_axis(ray->origin.y, ray->direction.y, enter, -0.5 * grid->y_size, tile_y, 0,
                            grid->y_nodes[RS_GRID_TILE_LEVEL]);
    double at = enter;
    while (x.cell != x.last && y.cell != y.last) {
        double end = rs_min(rs_min(x.next, y.next), leave);
        double z0 = ray->origin.z + at * ray->direction.z, z1 = ray->origin.z + end * ray->direction.z;
        rs_height_range tile;
        rs_height_grid_range(grid, RS_GRID_TILE_LEVEL, x.cell, y.cell, &tile);
        bool may_hit = rs_min(z0, z1) <= tile.high + slack && rs_max(z0, z1) >= tile.low - slack;
        if (may_hit && ray_tile(grid, ray, x.cell, y.cell, at, end, hit))
            return true;
        cell_axis *crossed = x.next < y.next ? &x : &y;
        if (crossed->next > leave)
            return false;
        at = crossed->next;
        crossed->cell += crossed->step;
        crossed->next += crossed->delta;
    }
    return false;
}
