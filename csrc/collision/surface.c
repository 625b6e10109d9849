#include "surface.h"

/* Edges that bend less count as flat: sine of the angle. Far below anything a body feels, far above rounding. */
static const double FLAT = 1e-7;
static const double HALF_PI = 1.57079632679489661923;

/* ---- meshes ---- */

static void get_mesh_triangle(const rs_tri_mesh *mesh, rs_surface_triangle *t) {
    t->normal = mesh->normals[t->id];
    for (int k = 0; k < 3; k++) {
        t->vertex_id[k] = mesh->triangles[t->id][k];
        t->v[k] = mesh->vertices[t->vertex_id[k]];
    }
}

static void find_mesh_neighbor(const rs_tri_mesh *mesh, uint32_t id, int edge, rs_vec3 *apex, bool *rim) {
    int32_t neighbor = mesh->neighbors[id][edge];
    *rim = neighbor < 0;
    if (neighbor < 0) return;
    const uint32_t *n = mesh->triangles[neighbor];
    uint32_t a = mesh->triangles[id][edge], b = mesh->triangles[id][rs_next3(edge)];
    *apex = mesh->vertices[n[0] != a && n[0] != b ? n[0] : n[1] != a && n[1] != b ? n[1] : n[2]];
}

/* ---- heightmaps ---- */

/* Corners of the even and the odd triangle of a cell, and what lies across their edges, relative to the cell. */
static const rs_grid_sample CORNER[2][3] = {{{0, 0}, {1, 0}, {1, 1}}, {{0, 0}, {1, 1}, {0, 1}}};
static const rs_grid_sample APEX[2][3] = {{{0, -1}, {2, 1}, {0, 1}}, {{1, 0}, {1, 2}, {-1, 0}}};
static const rs_grid_sample RING[6] = {{1, 0}, {1, 1}, {0, 1}, {-1, 0}, {-1, -1}, {0, -1}};

static bool has_sample(const rs_height_grid *g, int32_t x, int32_t y) {
    return x >= 0 && y >= 0 && x < g->x_samples && y < g->y_samples;
}

typedef struct {
    int32_t ix, iy;
    int half; /* 0: even, 1: odd */
} grid_cell;

static grid_cell cell_of(const rs_height_grid *g, uint32_t id) {
    uint32_t cell = id / 2, columns = (uint32_t)g->x_samples - 1;
    return (grid_cell){(int32_t)(cell % columns), (int32_t)(cell / columns), (int)(id % 2)};
}

static void get_grid_face(const rs_height_grid *g, rs_surface_triangle *t) {
    grid_cell c = cell_of(g, t->id);
    for (int k = 0; k < 3; k++) {
        int32_t x = c.ix + CORNER[c.half][k].x, y = c.iy + CORNER[c.half][k].y;
        t->v[k] = rs_height_grid_vertex(g, x, y);
        t->vertex_id[k] = (uint32_t)y * (uint32_t)g->x_samples + (uint32_t)x;
    }
    t->normal = rs_normalize_or(rs_cross(rs_sub(t->v[1], t->v[0]), rs_sub(t->v[2], t->v[0])), rs_v3(0, 0, 1));
}

static void find_face_neighbor(const rs_height_grid *g, uint32_t id, int edge, rs_vec3 *apex, bool *rim) {
    grid_cell c = cell_of(g, id);
    int32_t x = c.ix + APEX[c.half][edge].x, y = c.iy + APEX[c.half][edge].y;
    *rim = !has_sample(g, x, y);
    if (!*rim) *apex = rs_height_grid_vertex(g, x, y);
}

/* Wall between two samples of the border, seen from outside: upper triangle (top left, bottom left, top right), lower one
 * (bottom left, bottom right, top right). */
typedef struct {
    bool lower;
    rs_grid_sample left, right, before, after; /* the border goes before, left, right, after */
} grid_wall;

static grid_wall wall_of(const rs_height_grid *g, uint32_t id) {
    uint32_t wall = id - rs_height_grid_face_count(g), at = wall / 2, length = rs_height_grid_border_length(g);
    return (grid_wall){wall % 2 == 1, rs_height_grid_border(g, at), rs_height_grid_border(g, at + 1),
                       rs_height_grid_border(g, at + length - 1), rs_height_grid_border(g, at + 2)};
}

static rs_vec3 top_of(const rs_height_grid *g, rs_grid_sample s) { return rs_height_grid_vertex(g, s.x, s.y); }

static rs_vec3 bottom_of(const rs_height_grid *g, rs_grid_sample s) {
    rs_vec3 v = top_of(g, s);
    v.z = rs_height_grid_bottom(g);
    return v;
}

/* Vertices at the bottom share a number after all samples: nothing leaves through them. */
static void get_grid_wall(const rs_height_grid *g, rs_surface_triangle *t) {
    grid_wall w = wall_of(g, t->id);
    uint32_t columns = (uint32_t)g->x_samples, none = columns * (uint32_t)g->y_samples;
    t->v[0] = w.lower ? bottom_of(g, w.left) : top_of(g, w.left);
    t->v[1] = bottom_of(g, w.lower ? w.right : w.left);
    t->v[2] = top_of(g, w.right);
    t->vertex_id[0] = w.lower ? none : (uint32_t)w.left.y * columns + (uint32_t)w.left.x;
    t->vertex_id[1] = none;
    t->vertex_id[2] = (uint32_t)w.right.y * columns + (uint32_t)w.right.x;
    t->normal = rs_v3(w.right.y - w.left.y, w.left.x - w.right.x, 0.0);
}

/* The third sample of the face that a wall ends at. */
static rs_vec3 face_apex(const rs_height_grid *g, const grid_wall *w) {
    int32_t along_x = w->right.x - w->left.x, along_y = w->right.y - w->left.y;
    return along_x != 0 ? rs_height_grid_vertex(g, w->right.x, w->right.y + along_x)
                        : rs_height_grid_vertex(g, w->left.x - along_y, w->left.y);
}

static void find_wall_neighbor(const rs_height_grid *g, uint32_t id, int edge, rs_vec3 *apex, bool *rim) {
    grid_wall w = wall_of(g, id);
    *rim = w.lower && edge == 0;
    if (w.lower)
        *apex = edge == 1 ? top_of(g, w.after) : top_of(g, w.left);
    else
        *apex = edge == 0 ? top_of(g, w.before) : edge == 1 ? bottom_of(g, w.right) : face_apex(g, &w);
}

static void get_grid_triangle(const rs_height_grid *g, rs_surface_triangle *t) {
    if (t->id < rs_height_grid_face_count(g))
        get_grid_face(g, t);
    else
        get_grid_wall(g, t);
}

static void find_grid_neighbor(const rs_height_grid *g, uint32_t id, int edge, rs_vec3 *apex, bool *rim) {
    if (id < rs_height_grid_face_count(g))
        find_face_neighbor(g, id, edge, apex, rim);
    else
        find_wall_neighbor(g, id, edge, apex, rim);
}

/* ---- triangles and their features ---- */

void rs_surface_get(const rs_surface *s, uint32_t id, rs_vec3 viewer, rs_surface_triangle *t) {
    t->id = id;
    t->turned = false;
    if (s->mesh != NULL)
        get_mesh_triangle(s->mesh, t);
    else
        get_grid_triangle(s->grid, t);
    if (rs_surface_is_solid(s) || rs_dot(t->normal, rs_sub(viewer, t->v[0])) >= 0.0) return;
    rs_vec3 v = t->v[1];
    uint32_t vertex_id = t->vertex_id[1];
    t->v[1] = t->v[2];
    t->v[2] = v;
    t->vertex_id[1] = t->vertex_id[2];
    t->vertex_id[2] = vertex_id;
    t->normal = rs_neg(t->normal);
    t->turned = true;
}

void rs_surface_find_neighbors(const rs_surface *s, rs_surface_triangle *t) {
    for (int k = 0; k < 3; k++) {
        int edge = t->turned ? 2 - k : k; /* turning swaps the first and the last edge */
        if (s->mesh != NULL)
            find_mesh_neighbor(s->mesh, t->id, edge, &t->apex[k], &t->rim[k]);
        else
            find_grid_neighbor(s->grid, t->id, edge, &t->apex[k], &t->rim[k]);
    }
}

bool rs_surface_edge_is_active(const rs_surface_triangle *t, int k) {
    if (t->rim[k]) return true;
    rs_vec3 to_apex = rs_sub(t->apex[k], t->v[k]);
    double below = -rs_dot(to_apex, t->normal);
    return below > 0.0 && below * below > FLAT * FLAT * rs_norm2(to_apex);
}

rs_surface_edge rs_surface_edge_of(const rs_surface_triangle *t, int k) {
    rs_vec3 along = rs_normalize_or(rs_sub(t->v[rs_next3(k)], t->v[k]), rs_v3(1, 0, 0));
    rs_surface_edge edge = {along, rs_cross(along, t->normal), 0.0};
    if (t->rim[k]) {
        edge.max_angle = HALF_PI;
    } else if (rs_surface_edge_is_active(t, k)) {
        /* the neighbour lies at this angle below the plane of the triangle */
        rs_vec3 to_apex = rs_sub(t->apex[k], t->v[k]);
        edge.max_angle = rs_max(0.0, atan2(-rs_dot(to_apex, t->normal), rs_dot(to_apex, edge.outward)));
    }
    return edge;
}

static bool rises(rs_vec3 d, rs_vec3 edge, double slack) {
    double rise = rs_dot(d, edge);
    return rise > 0.0 && rise * rise > slack * slack * rs_norm2(edge);
}

static bool mesh_vertex_allows(const rs_tri_mesh *m, uint32_t id, rs_vec3 d, double slack) {
    if (m->solid && rs_dot(d, m->vertex_normals[id]) <= 0.0) return false;
    for (uint32_t i = m->ring_start[id]; i < m->ring_start[id + 1]; i++)
        if (rises(d, rs_sub(m->vertices[m->ring[i]], m->vertices[id]), slack)) return false;
    return true;
}

static bool grid_vertex_allows(const rs_height_grid *g, uint32_t id, rs_vec3 d, double slack) {
    int32_t x = (int32_t)(id % (uint32_t)g->x_samples), y = (int32_t)(id / (uint32_t)g->x_samples);
    if (d.z < -slack || y >= g->y_samples) return false; /* only the border pushes sideways, its bottom not at all */
    rs_vec3 at = rs_height_grid_vertex(g, x, y);
    for (int i = 0; i < 6; i++) {
        int32_t nx = x + RING[i].x, ny = y + RING[i].y;
        if (has_sample(g, nx, ny) && rises(d, rs_sub(rs_height_grid_vertex(g, nx, ny), at), slack)) return false;
    }
    return true;
}

bool rs_surface_vertex_allows(const rs_surface *s, uint32_t id, rs_vec3 d, double slack) {
    return s->mesh != NULL ? mesh_vertex_allows(s->mesh, id, d, slack) : grid_vertex_allows(s->grid, id, d, slack);
}

/* ---- queries ---- */

void rs_surface_query_begin(rs_surface_query *q, const rs_surface *s, rs_aabb box) {
    q->surface = s;
    if (s->mesh != NULL)
        q->walk.bvh = rs_bvh_query_box(&s->mesh->bvh, box);
    else
        q->walk.grid = rs_height_grid_query(s->grid, box);
}

void rs_surface_query_near_plane(rs_surface_query *q, rs_vec3 normal, rs_vec3 point, double margin) {
    if (q->surface->mesh != NULL) rs_bvh_query_near_plane(&q->walk.bvh, normal, point, margin);
}

bool rs_surface_query_next(rs_surface_query *q, uint32_t *triangle) {
    return q->surface->mesh != NULL ? rs_bvh_query_next(&q->walk.bvh, triangle)
                                    : rs_height_grid_query_next(&q->walk.grid, triangle);
}

/* ---- inside ---- */

static bool grid_way_out(const rs_height_grid *g, rs_vec3 p, rs_vec3 *point, rs_vec3 *direction) {
    if (!rs_height_grid_covers(g, p.x, p.y)) return false;
    double height = rs_height_grid_height(g, p.x, p.y);
    if (p.z >= height) return false;
    *point = rs_v3(p.x, p.y, height);
    *direction = rs_height_grid_normal(g, p.x, p.y);
    return true;
}

bool rs_surface_way_out(const rs_surface *s, rs_vec3 inside, rs_vec3 *point, rs_vec3 *direction) {
    if (s->grid != NULL) return grid_way_out(s->grid, inside, point, direction);
    rs_mesh_nearest nearest;
    if (!s->mesh->solid || !rs_aabb_contains(&s->mesh->box, inside) ||
        !rs_tri_mesh_nearest(s->mesh, inside, INFINITY, &nearest) || !nearest.inside)
        return false;
    *point = nearest.point;
    /* the line to the nearest point is the normal there, and exists on hollow edges too; at the surface itself only
     * the normal is known */
    double size = rs_norm(rs_sub(s->mesh->box.max, s->mesh->box.min));
    *direction = nearest.distance > 1e-9 * size
                     ? rs_scale(1.0 / nearest.distance, rs_sub(nearest.point, inside)) : nearest.normal;
    return true;
}
