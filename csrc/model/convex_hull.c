/* Quickhull (Barber, Dobkin, Huhdanpaa 1996) on triangles. Points are taken on a fine grid of integers, where it is known
 * exactly which faces an eye sees: the horizon is then always one loop, however flat, thin or crowded the set is. */
#include "convex_hull.h"

enum { NONE = -1, GRID_BITS = 40 }; /* products of three differences of 41 bits fit into 128 */

static const double ON_PLANE = 1e-11; /* closer points count as lying on a plane; the size of the set is about 1 */
static const double FLAT = 1e-8;      /* a set that is thinner has no hull */
static const double SURE = 1e-13;     /* distances beyond that have the sign that rounded arithmetic gives them */

__extension__ typedef __int128 wide;

typedef struct {
    int64_t x, y, z;
} grid_point;

typedef struct {
    wide x, y, z;
} wide3;

typedef struct {
    rs_hull_triangle t;
    int32_t outside; /* head of the list of points above this triangle */
    int32_t eye;     /* the farthest of them */
    double eye_distance;
    bool alive, visible;
} face;
RS_ARRAY_OF(face);

/* An edge of the horizon: seen from the eye, what lies beyond it stays. */
typedef struct {
    int32_t from, to, beyond;
} horizon_edge;
RS_ARRAY_OF(horizon_edge);

typedef struct {
    rs_vec3 *points; /* those of the grid */
    grid_point *grid;
    int32_t count;
    RS_ARRAY(face) faces;
    RS_ARRAY(int32_t) stack; /* visible faces */
    RS_ARRAY(horizon_edge) horizon;
    int32_t *next;     /* per point: next in the list of its face */
    int32_t *edge_at;  /* per point: the horizon edge, later the new face, that starts there */
} hull;

/* (b - a) x (c - a), exact. */
static wide3 grid_cross(const hull *h, const int32_t v[3]) {
    const grid_point *a = &h->grid[v[0]], *b = &h->grid[v[1]], *c = &h->grid[v[2]];
    wide px = b->x - a->x, py = b->y - a->y, pz = b->z - a->z, qx = c->x - a->x, qy = c->y - a->y, qz = c->z - a->z;
    return (wide3){py * qz - pz * qy, pz * qx - px * qz, px * qy - py * qx};
}

static double distance_to(const rs_hull_triangle *t, rs_vec3 p) { return rs_dot(t->normal, p) - t->offset; }

/* Does the point lie above the triangle? Exact. */
static bool sees(const hull *h, int32_t point, const rs_hull_triangle *t) {
    double d = distance_to(t, h->points[point]);
    if (fabs(d) > SURE) return d > 0.0;
    wide3 n = grid_cross(h, t->v);
    const grid_point *a = &h->grid[t->v[0]], *p = &h->grid[point];
    return n.x * (p->x - a->x) + n.y * (p->y - a->y) + n.z * (p->z - a->z) > 0;
}

/* A new face. */
static rs_status add_face(hull *h, int32_t a, int32_t b, int32_t c, int32_t *index) {
    face *f = rs_array_push(&h->faces);
    if (f == NULL) return RS_OUT_OF_MEMORY;
    *f = (face){.t = {.v = {a, b, c}, .neighbor = {NONE, NONE, NONE}}, .outside = NONE, .eye = NONE, .alive = true};
    wide3 cross = grid_cross(h, f->t.v);
    if (cross.x == 0 && cross.y == 0 && cross.z == 0) return rs_fail(RS_INVALID_VALUE, "three corners of the hull lie on a line");
    f->t.normal = rs_normalize_or(rs_v3((double)cross.x, (double)cross.y, (double)cross.z), rs_v3_zero());
    f->t.offset = rs_dot(f->t.normal, h->points[a]);
    *index = (int32_t)h->faces.count - 1;
    return RS_OK;
}

static void hand_over(hull *h, int32_t point, int32_t first_face, int32_t end_face) {
    face *faces = h->faces.items;
    for (int32_t i = first_face; i < end_face; i++) {
        double d = distance_to(&faces[i].t, h->points[point]);
        if (d <= ON_PLANE) continue;
        h->next[point] = faces[i].outside;
        faces[i].outside = point;
        if (faces[i].eye == NONE || d > faces[i].eye_distance) {
            faces[i].eye = point;
            faces[i].eye_distance = d;
        }
        return;
    }
}

/* Four points that span a tetrahedron as large as cheaply possible; false when there is none. */
static bool first_tetrahedron(const hull *h, int32_t v[4]) {
    const rs_vec3 *p = h->points;
    int32_t low = 0, high = 0;
    double widest = -1.0;
    for (int axis = 0; axis < 3; axis++) {
        int32_t lo = 0, hi = 0;
        for (int32_t i = 1; i < h->count; i++) {
            if (rs_v3_get(p[i], axis) < rs_v3_get(p[lo], axis)) lo = i;
            if (rs_v3_get(p[i], axis) > rs_v3_get(p[hi], axis)) hi = i;
        }
        double width = rs_v3_get(p[hi], axis) - rs_v3_get(p[lo], axis);
        if (width > widest) {
            widest = width;
            low = lo;
            high = hi;
        }
    }
    rs_vec3 along = rs_sub(p[high], p[low]);
    double best = 0.0;
    v[0] = low, v[1] = high, v[2] = low;
    for (int32_t i = 0; i < h->count; i++) {
        double area2 = rs_norm2(rs_cross(along, rs_sub(p[i], p[low])));
        if (area2 > best) best = area2, v[2] = i;
    }
    rs_vec3 normal = rs_normalize_or(rs_cross(along, rs_sub(p[v[2]], p[low])), rs_v3_zero());
    double height = 0.0;
    v[3] = low;
    for (int32_t i = 0; i < h->count; i++) {
        double d = rs_dot(normal, rs_sub(p[i], p[low]));
        if (fabs(d) > fabs(height)) height = d, v[3] = i;
    }
    if (height > 0.0) v[0] = high, v[1] = low; /* the fourth point lies behind the first face */
    return best > 1e-18 && fabs(height) > FLAT;
}

static rs_status start(hull *h) {
    static const int CORNER[4][3] = {{0, 1, 2}, {1, 0, 3}, {2, 1, 3}, {0, 2, 3}};
    static const int ACROSS[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
    int32_t v[4], index;
    if (!first_tetrahedron(h, v)) return rs_fail(RS_INVALID_VALUE, "the points lie in one plane, expected a solid hull");
    for (int i = 0; i < 4; i++) {
        rs_status status = add_face(h, v[CORNER[i][0]], v[CORNER[i][1]], v[CORNER[i][2]], &index);
        if (status != RS_OK) return status;
        for (int k = 0; k < 3; k++) RS_ITEM(h->faces, i)->t.neighbor[k] = ACROSS[i][k];
    }
    for (int32_t i = 0; i < h->count; i++)
        if (i != v[0] && i != v[1] && i != v[2] && i != v[3]) hand_over(h, i, 0, 4);
    return RS_OK;
}

/* Collects the faces that the eye sees, starting from `seed`, and the edges around them. */
static rs_status find_horizon(hull *h, int32_t seed, int32_t eye) {
    h->stack.count = h->horizon.count = 0;
    int32_t *first = rs_array_push(&h->stack);
    if (first == NULL) return RS_OUT_OF_MEMORY;
    *first = seed;
    RS_ITEM(h->faces, seed)->visible = true;
    for (int64_t done = 0; done < h->stack.count; done++) {
        int32_t index = h->stack.items[done];
        for (int k = 0; k < 3; k++) {
            const rs_hull_triangle *t = &RS_ITEM(h->faces, index)->t;
            face *other = RS_ITEM(h->faces, t->neighbor[k]);
            if (other->visible) continue;
            if (sees(h, eye, &other->t)) {
                int32_t *slot = rs_array_push(&h->stack);
                if (slot == NULL) return RS_OUT_OF_MEMORY;
                *slot = t->neighbor[k];
                other->visible = true;
            } else {
                horizon_edge *edge = rs_array_push(&h->horizon);
                if (edge == NULL) return RS_OUT_OF_MEMORY;
                *edge = (horizon_edge){t->v[k], t->v[(k + 1) % 3], t->neighbor[k]};
            }
        }
    }
    return RS_OK;
}

/* Notes where each edge of the horizon starts. It is one loop that passes each vertex once. */
static void index_horizon(hull *h) {
    const horizon_edge *edges = h->horizon.items;
    for (int64_t i = 0; i < h->horizon.count; i++) h->edge_at[edges[i].from] = (int32_t)i;
}

/* Joins each edge of the horizon with the eye and links the new faces with each other and with those beyond. */
static rs_status build_cone(hull *h, int32_t eye, int32_t *first_new) {
    int32_t edge_count = (int32_t)h->horizon.count, index;
    const horizon_edge *edges = h->horizon.items;
    *first_new = (int32_t)h->faces.count;
    for (int32_t i = 0; i < edge_count; i++) {
        rs_status status = add_face(h, edges[i].from, edges[i].to, eye, &index);
        if (status != RS_OK) return status;
    }
    face *faces = h->faces.items;
    for (int32_t i = 0; i < edge_count; i++) {
        int32_t self = *first_new + i, after = *first_new + h->edge_at[edges[i].to];
        faces[self].t.neighbor[0] = edges[i].beyond;
        faces[self].t.neighbor[1] = after;
        faces[after].t.neighbor[2] = self;
        rs_hull_triangle *beyond = &faces[edges[i].beyond].t;
        for (int k = 0; k < 3; k++)
            if (beyond->v[k] == edges[i].to && beyond->v[(k + 1) % 3] == edges[i].from) beyond->neighbor[k] = self;
    }
    return RS_OK;
}

static rs_status add_point(hull *h, int32_t seed) {
    int32_t eye = RS_ITEM(h->faces, seed)->eye, first_new;
    rs_status status = find_horizon(h, seed, eye);
    if (status != RS_OK) return status;
    index_horizon(h);
    status = build_cone(h, eye, &first_new);
    if (status != RS_OK) return status;
    for (int64_t i = 0; i < h->stack.count; i++) {
        face *dead = RS_ITEM(h->faces, h->stack.items[i]);
        dead->alive = false;
        for (int32_t p = dead->outside, next; p != NONE; p = next) {
            next = h->next[p];
            if (p != eye) hand_over(h, p, first_new, (int32_t)h->faces.count);
        }
    }
    return RS_OK;
}

static rs_status collect(hull *h, RS_ARRAY(rs_hull_triangle) *triangles) {
    const face *faces = h->faces.items;
    RS_ARRAY(int32_t) map = {0};
    if (rs_array_resize(&map, h->faces.count) != RS_OK) return RS_OUT_OF_MEMORY;
    int32_t *number = map.items;
    triangles->count = 0;
    rs_status status = RS_OK;
    for (int64_t i = 0; i < h->faces.count && status == RS_OK; i++) {
        if (!faces[i].alive) continue;
        number[i] = (int32_t)triangles->count;
        rs_hull_triangle *t = rs_array_push(triangles);
        if (t == NULL) status = RS_OUT_OF_MEMORY;
        else *t = faces[i].t;
    }
    for (int64_t i = 0; i < triangles->count; i++) {
        rs_hull_triangle *t = RS_ITEM(*triangles, i);
        for (int k = 0; k < 3; k++) t->neighbor[k] = number[t->neighbor[k]];
    }
    rs_array_free(&map);
    return status;
}

static rs_status build(hull *h, RS_ARRAY(rs_hull_triangle) *triangles) {
    rs_status status = start(h);
    for (int32_t i = 0; i < h->faces.count && status == RS_OK; i++) {
        const face *f = RS_ITEM(h->faces, i);
        if (f->alive && f->eye != NONE) status = add_point(h, i);
    }
    return status == RS_OK ? collect(h, triangles) : status;
}

static void put_on_grid(hull *h, const rs_vec3 *points) {
    const double cells = (double)((int64_t)1 << GRID_BITS);
    for (int32_t i = 0; i < h->count; i++) {
        h->grid[i] = (grid_point){llround(cells * points[i].x), llround(cells * points[i].y), llround(cells * points[i].z)};
        const grid_point *g = &h->grid[i];
        h->points[i] = rs_scale(1.0 / cells, rs_v3((double)g->x, (double)g->y, (double)g->z));
    }
}

rs_status rs_convex_hull(const rs_vec3 *points, int32_t count, RS_ARRAY(rs_hull_triangle) *triangles) {
    size_t n = (size_t)count;
    hull h = {.points = rs_alloc(n * sizeof(rs_vec3)), .grid = rs_alloc(n * sizeof(grid_point)), .count = count,
              .next = rs_alloc(n * sizeof(int32_t)), .edge_at = rs_alloc(n * sizeof(int32_t))};
    rs_status status = RS_OUT_OF_MEMORY;
    if (h.points != NULL && h.grid != NULL && h.next != NULL && h.edge_at != NULL) {
        put_on_grid(&h, points);
        status = build(&h, triangles);
    }
    rs_free(h.edge_at);
    rs_free(h.next);
    rs_free(h.grid);
    rs_free(h.points);
    rs_array_free(&h.horizon);
    rs_array_free(&h.stack);
    rs_array_free(&h.faces);
    return status;
}
