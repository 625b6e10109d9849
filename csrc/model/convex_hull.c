/* Quickhull (Barber, Dobkin, Huhdanpaa 1996) on triangles. A point that would leave the hull inconsistent through
 * rounding makes the attempt fail; the next one moves all points by a tiny fixed pattern ("joggled input"). */
#include "convex_hull.h"

enum { NONE = -1, MAX_ATTEMPTS = 5 };

static const double ON_PLANE = 1e-9;      /* closer points count as lying on a plane; the size of the set is about 1 */
static const double FIRST_JOGGLE = 1e-8;  /* ten times more in each further attempt */

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
    const rs_vec3 *points;
    int32_t count;
    RS_ARRAY(face) faces;
    RS_ARRAY(int32_t) stack; /* visible faces */
    RS_ARRAY(horizon_edge) horizon;
    int32_t *next;     /* per point: next in the list of its face */
    int32_t *edge_at;  /* per point: the horizon edge, later the new face, that starts there */
} hull;

static double distance_to(const rs_hull_triangle *t, rs_vec3 p) { return rs_dot(t->normal, p) - t->offset; }

/* A new face; RS_INVALID_VALUE stands for a triangle without area. */
static rs_status add_face(hull *h, int32_t a, int32_t b, int32_t c, int32_t *index) {
    face *f = rs_array_push(&h->faces);
    if (f == NULL) return RS_OUT_OF_MEMORY;
    const rs_vec3 *p = h->points;
    rs_vec3 cross = rs_cross(rs_sub(p[b], p[a]), rs_sub(p[c], p[a]));
    double length = rs_norm(cross);
    if (length < 1e-13) return RS_INVALID_VALUE;
    *f = (face){.t = {.v = {a, b, c}, .neighbor = {NONE, NONE, NONE}, .normal = rs_scale(1.0 / length, cross)},
                .outside = NONE, .eye = NONE, .alive = true};
    f->t.offset = rs_dot(f->t.normal, rs_scale(1.0 / 3.0, rs_add(p[a], rs_add(p[b], p[c]))));
    *index = (int32_t)h->faces.count - 1;
    return RS_OK;
}

static void hand_over(hull *h, int32_t point, int32_t first_face, int32_t end_face) {
    face *faces = RS_ITEMS(face, h->faces);
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
    return best > 1e-18 && fabs(height) > 10.0 * ON_PLANE;
}

static rs_status start(hull *h) {
    static const int CORNER[4][3] = {{0, 1, 2}, {1, 0, 3}, {2, 1, 3}, {0, 2, 3}};
    static const int ACROSS[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
    int32_t v[4], index;
    if (!first_tetrahedron(h, v)) return rs_fail(RS_INVALID_VALUE, "the points lie in one plane, expected a solid hull");
    for (int i = 0; i < 4; i++) {
        rs_status status = add_face(h, v[CORNER[i][0]], v[CORNER[i][1]], v[CORNER[i][2]], &index);
        if (status != RS_OK) return status;
        for (int k = 0; k < 3; k++) RS_ITEM(face, h->faces, i)->t.neighbor[k] = ACROSS[i][k];
    }
    for (int32_t i = 0; i < h->count; i++)
        if (i != v[0] && i != v[1] && i != v[2] && i != v[3]) hand_over(h, i, 0, 4);
    return RS_OK;
}

/* Collects the faces that the eye sees, starting from `seed`, and the edges around them. */
static rs_status find_horizon(hull *h, int32_t seed, rs_vec3 eye) {
    h->stack.count = h->horizon.count = 0;
    int32_t *first = rs_array_push(&h->stack);
    if (first == NULL) return RS_OUT_OF_MEMORY;
    *first = seed;
    RS_ITEM(face, h->faces, seed)->visible = true;
    for (int64_t done = 0; done < h->stack.count; done++) {
        int32_t index = RS_ITEMS(int32_t, h->stack)[done];
        for (int k = 0; k < 3; k++) {
            const rs_hull_triangle *t = &RS_ITEM(face, h->faces, index)->t;
            face *other = RS_ITEM(face, h->faces, t->neighbor[k]);
            if (other->visible) continue;
            if (distance_to(&other->t, eye) > ON_PLANE) {
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

/* The horizon must be one closed loop that passes each vertex once; rounding may break it. */
static bool horizon_is_loop(hull *h) {
    const horizon_edge *edges = RS_ITEMS(horizon_edge, h->horizon);
    int64_t count = h->horizon.count, steps = 0;
    for (int64_t i = 0; i < count; i++) h->edge_at[edges[i].from] = NONE;
    for (int64_t i = 0; i < count; i++) {
        if (h->edge_at[edges[i].from] != NONE) return false;
        h->edge_at[edges[i].from] = (int32_t)i;
    }
    int32_t at = edges[0].from;
    do {
        if (h->edge_at[at] == NONE) return false;
        at = edges[h->edge_at[at]].to;
        steps++;
    } while (at != edges[0].from && steps <= count);
    return steps == count;
}

/* Joins each edge of the horizon with the eye and links the new faces with each other and with those beyond. */
static rs_status build_cone(hull *h, int32_t eye, int32_t *first_new) {
    int32_t edge_count = (int32_t)h->horizon.count, index;
    const horizon_edge *edges = RS_ITEMS(horizon_edge, h->horizon);
    *first_new = (int32_t)h->faces.count;
    for (int32_t i = 0; i < edge_count; i++) {
        rs_status status = add_face(h, edges[i].from, edges[i].to, eye, &index);
        if (status != RS_OK) return status;
    }
    face *faces = RS_ITEMS(face, h->faces);
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
    int32_t eye = RS_ITEM(face, h->faces, seed)->eye, first_new;
    rs_status status = find_horizon(h, seed, h->points[eye]);
    if (status != RS_OK) return status;
    if (h->horizon.count < 3 || !horizon_is_loop(h)) return RS_INVALID_VALUE;
    status = build_cone(h, eye, &first_new);
    if (status != RS_OK) return status;
    for (int64_t i = 0; i < h->stack.count; i++) {
        face *dead = RS_ITEM(face, h->faces, RS_ITEMS(int32_t, h->stack)[i]);
        dead->alive = false;
        for (int32_t p = dead->outside, next; p != NONE; p = next) {
            next = h->next[p];
            if (p != eye) hand_over(h, p, first_new, (int32_t)h->faces.count);
        }
    }
    return RS_OK;
}

/* Every pair of neighbours must be convex: on a closed surface this makes the whole hull convex. */
static bool is_convex(const hull *h) {
    const face *faces = RS_ITEMS(face, h->faces);
    for (int64_t i = 0; i < h->faces.count; i++) {
        if (!faces[i].alive) continue;
        for (int k = 0; k < 3; k++) {
            const face *other = &faces[faces[i].t.neighbor[k]];
            for (int m = 0; m < 3; m++)
                if (distance_to(&faces[i].t, h->points[other->t.v[m]]) > 10.0 * ON_PLANE) return false;
        }
    }
    return true;
}

static rs_status collect(hull *h, RS_ARRAY(rs_hull_triangle) *triangles) {
    const face *faces = RS_ITEMS(face, h->faces);
    RS_ARRAY(int32_t) map = RS_EMPTY(int32_t);
    if (rs_array_resize(&map, h->faces.count) != RS_OK) return RS_OUT_OF_MEMORY;
    int32_t *number = RS_ITEMS(int32_t, map);
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
        rs_hull_triangle *t = RS_ITEM(rs_hull_triangle, *triangles, i);
        for (int k = 0; k < 3; k++) t->neighbor[k] = number[t->neighbor[k]];
    }
    rs_array_free(&map);
    return status;
}

static rs_status attempt(hull *h, RS_ARRAY(rs_hull_triangle) *triangles) {
    h->faces.count = 0;
    rs_status status = start(h);
    for (int32_t i = 0; i < h->faces.count && status == RS_OK; i++) {
        const face *f = RS_ITEM(face, h->faces, i);
        if (f->alive && f->eye != NONE) status = add_point(h, i);
    }
    if (status == RS_OK && !is_convex(h)) status = RS_INVALID_VALUE;
    return status == RS_OK ? collect(h, triangles) : status;
}

/* A fixed pattern of displacements within +-size: the same input always gives the same hull. */
static void joggle(const rs_vec3 *points, int32_t count, double size, rs_vec3 *out) {
    uint64_t state = 0x9E3779B97F4A7C15u;
    for (int32_t i = 0; i < count; i++) {
        double d[3];
        for (int k = 0; k < 3; k++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            d[k] = size * ((double)(state >> 11) * 0x1p-52 - 1.0);
        }
        out[i] = rs_add(points[i], rs_v3_load(d));
    }
}

rs_status rs_convex_hull(const rs_vec3 *points, int32_t count, RS_ARRAY(rs_hull_triangle) *triangles) {
    hull h = {.points = points, .count = count, .faces = RS_EMPTY(face),
              .stack = RS_EMPTY(int32_t), .horizon = RS_EMPTY(horizon_edge)};
    size_t n = (size_t)count;
    h.next = rs_alloc(n * sizeof(int32_t));
    h.edge_at = rs_alloc(n * sizeof(int32_t));
    rs_vec3 *moved = rs_alloc(n * sizeof(rs_vec3));
    rs_status status = RS_OUT_OF_MEMORY;
    if (h.next != NULL && h.edge_at != NULL && moved != NULL) {
        status = attempt(&h, triangles);
        double size = FIRST_JOGGLE;
        for (int i = 1; i < MAX_ATTEMPTS && status == RS_INVALID_VALUE && h.faces.count > 0; i++, size *= 10.0) {
            joggle(points, count, size, moved);
            h.points = moved;
            status = attempt(&h, triangles);
        }
        if (status == RS_INVALID_VALUE && h.faces.count > 0)
            rs_fail(status, "the points are too irregular for a convex hull");
    }
    rs_free(moved);
    rs_free(h.edge_at);
    rs_free(h.next);
    rs_array_free(&h.horizon);
    rs_array_free(&h.stack);
    rs_array_free(&h.faces);
    return status;
}
