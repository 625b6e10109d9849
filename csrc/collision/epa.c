/* The polytope lies inside A - B and grows towards its surface where that is closest to the origin. The closest face
 * bounds the depth from below, the support plane along its normal from above; the result is the best support plane,
 * so whatever stops the growth (tolerance, iterations, rounding), it separates the shapes exactly. */
#include "epa.h"

enum {
    MAX_VERTICES = 128,
    MAX_FACES = 2 * MAX_VERTICES,
    NONE = -1
};

/* Relative to the size of the pair: below this a triangle has no normal, a tetrahedron no volume, and a point counts
 * as lying in a plane. */
static const double FLAT = 1e-9;
static const double ON_PLANE = 1e-13;

typedef struct {
    int v[3];
    int neighbor[3]; /* across the edge from v[k] to v[k + 1] */
    rs_vec3 normal;  /* unit, away from the inside */
    double distance; /* of the plane from the origin, negative when the origin lies beyond */
    int visit;       /* number of the last expansion that looked at this face */
    bool alive;
} epa_face;

typedef struct {
    const rs_core_pair *pair;
    rs_difference_point vertices[MAX_VERTICES];
    epa_face faces[MAX_FACES];
    int vertex_count, face_count;
    int free_face; /* dead faces are linked through neighbor[0] and used again */
    double on_plane;
} polytope;

static rs_vec3 vertex(const polytope *p, int i) { return p->vertices[i].w; }

/* ---- the first tetrahedron ---- */

static bool add_extreme(polytope *p, rs_vec3 direction, rs_vec3 normal, double least) {
    rs_difference_point q = rs_pair_support(p->pair, direction);
    if (fabs(rs_dot(normal, rs_sub(q.w, vertex(p, 0)))) <= least) return false;
    p->vertices[p->vertex_count++] = q;
    return true;
}

/* From a point to a segment, a triangle, a tetrahedron; `flat` is the normal found when the difference is flat. */
static bool complete_tetrahedron(polytope *p, rs_vec3 *flat) {
    double least = FLAT * p->pair->size;
    for (int axis = 0; axis < 6 && p->vertex_count == 1; axis++) {
        rs_vec3 d = rs_v3_zero();
        rs_v3_set(&d, axis / 2, axis % 2 ? -1.0 : 1.0);
        add_extreme(p, d, d, least);
    }
    *flat = rs_v3(0, 0, 1);
    if (p->vertex_count == 1) return false;
    rs_vec3 edge = rs_normalize_or(rs_sub(vertex(p, 1), vertex(p, 0)), rs_v3(0, 0, 1)), t1, t2;
    rs_tangents(edge, &t1, &t2);
    *flat = t1;
    const rs_vec3 around[4] = {t1, t2, rs_neg(t1), rs_neg(t2)};
    for (int i = 0; i < 4 && p->vertex_count == 2; i++) add_extreme(p, around[i], around[i], least);
    if (p->vertex_count == 2) return false;
    rs_vec3 normal = rs_cross(rs_sub(vertex(p, 1), vertex(p, 0)), rs_sub(vertex(p, 2), vertex(p, 0)));
    *flat = rs_normalize_or(normal, t1);
    if (p->vertex_count == 3 && !add_extreme(p, *flat, *flat, least) && !add_extreme(p, rs_neg(*flat), *flat, least))
        return false;
    return fabs(rs_dot(*flat, rs_sub(vertex(p, 3), vertex(p, 0)))) > least;
}

/* ---- faces ---- */

static int new_face(polytope *p, int a, int b, int c) {
    int index = p->free_face;
    if (index != NONE) p->free_face = p->faces[index].neighbor[0];
    else if (p->face_count < MAX_FACES) index = p->face_count++;
    else return NONE;
    epa_face *f = &p->faces[index];
    rs_vec3 ab = rs_sub(vertex(p, b), vertex(p, a)), ac = rs_sub(vertex(p, c), vertex(p, a));
    rs_vec3 cross = rs_cross(ab, ac);
    double length2 = rs_norm2(cross);
    *f = (epa_face){.v = {a, b, c}, .neighbor = {NONE, NONE, NONE}, .alive = true, .visit = NONE};
    /* A sliver has no normal of its own. It is passed over as if infinitely far, until its neighbours swallow it. */
    if (length2 <= 1e-30 * rs_norm2(ab) * rs_norm2(ac) || length2 == 0.0) {
        f->distance = INFINITY;
        return index;
    }
    f->normal = rs_scale(1.0 / sqrt(length2), cross);
    f->distance = rs_dot(f->normal, vertex(p, a));
    return index;
}

static void start_faces(polytope *p) {
    static const int CORNER[4][3] = {{0, 1, 2}, {1, 0, 3}, {2, 1, 3}, {0, 2, 3}};
    static const int ACROSS[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
    rs_vec3 n = rs_cross(rs_sub(vertex(p, 1), vertex(p, 0)), rs_sub(vertex(p, 2), vertex(p, 0)));
    if (rs_dot(n, rs_sub(vertex(p, 3), vertex(p, 0))) > 0.0) { /* the fourth corner belongs behind the first face */
        rs_difference_point swap = p->vertices[0];
        p->vertices[0] = p->vertices[1];
        p->vertices[1] = swap;
    }
    for (int i = 0; i < 4; i++) {
        int f = new_face(p, CORNER[i][0], CORNER[i][1], CORNER[i][2]);
        for (int k = 0; k < 3; k++) p->faces[f].neighbor[k] = ACROSS[i][k];
    }
}

static int closest_face(const polytope *p) {
    int best = NONE;
    double least = INFINITY;
    for (int i = 0; i < p->face_count; i++)
        if (p->faces[i].alive && p->faces[i].distance < least) {
            least = p->faces[i].distance;
            best = i;
        }
    return best;
}

/* ---- growth ---- */

typedef struct {
    int from, to, beyond;
} horizon_edge;

static bool sees(const polytope *p, const epa_face *f, rs_vec3 w) {
    return f->distance == INFINITY || rs_dot(f->normal, w) - f->distance > p->on_plane;
}

/* Removes the faces that the new vertex sees, starting from `seed`; returns the number of edges around the hole. */
static int cut_hole(polytope *p, int seed, rs_vec3 w, int visit, horizon_edge *edges) {
    int stack[MAX_FACES], top = 0, count = 0;
    stack[top++] = seed;
    p->faces[seed].visit = visit;
    while (top > 0) {
        int index = stack[--top];
        epa_face *f = &p->faces[index];
        for (int k = 0; k < 3; k++) {
            epa_face *other = &p->faces[f->neighbor[k]];
            if (other->visit == visit) continue;
            if (sees(p, other, w)) {
                other->visit = visit;
                stack[top++] = f->neighbor[k];
            } else {
                if (count == MAX_VERTICES) return 0;
                edges[count++] = (horizon_edge){f->v[k], f->v[(k + 1) % 3], f->neighbor[k]};
            }
        }
        f->alive = false;
        f->neighbor[0] = p->free_face;
        p->free_face = index;
    }
    return count;
}

/* Closes the hole with a fan of triangles around the new vertex. False when the edge of the hole is no simple loop:
 * then the polytope is spoilt. */
static bool close_hole(polytope *p, int apex, const horizon_edge *edges, int count) {
    int edge_at[MAX_VERTICES], face_of[MAX_VERTICES];
    if (count < 3) return false;
    for (int i = 0; i < p->vertex_count; i++) edge_at[i] = NONE;
    for (int i = 0; i < count; i++) {
        if (edge_at[edges[i].from] != NONE) return false;
        edge_at[edges[i].from] = i;
    }
    for (int i = 0; i < count; i++) {
        face_of[i] = new_face(p, edges[i].from, edges[i].to, apex);
        if (face_of[i] == NONE) return false;
    }
    for (int i = 0; i < count; i++) {
        int next = edge_at[edges[i].to];
        if (next == NONE) return false;
        int self = face_of[i], after = face_of[next];
        p->faces[self].neighbor[0] = edges[i].beyond;
        p->faces[self].neighbor[1] = after;
        p->faces[after].neighbor[2] = self;
        epa_face *beyond = &p->faces[edges[i].beyond];
        for (int k = 0; k < 3; k++)
            if (beyond->v[k] == edges[i].to && beyond->v[(k + 1) % 3] == edges[i].from) beyond->neighbor[k] = self;
    }
    return true;
}

/* ---- result ---- */

/* Weights of the foot of the origin in the corners of the face; returns the smallest, negative when it lies outside. */
static double foot_weights(const polytope *p, const epa_face *f, double weights[3]) {
    rs_vec3 foot = rs_scale(f->distance, f->normal), q[3];
    double total = 0.0;
    for (int i = 0; i < 3; i++) q[i] = rs_sub(vertex(p, f->v[i]), foot);
    for (int i = 0; i < 3; i++) {
        weights[i] = rs_dot(f->normal, rs_cross(q[(i + 1) % 3], q[(i + 2) % 3]));
        total += weights[i];
    }
    for (int i = 0; i < 3; i++) weights[i] /= total;
    return fmin(weights[0], fmin(weights[1], weights[2]));
}

/* A flat side of A - B is several triangles in one plane: the one that holds the foot of the origin. */
static const epa_face *face_at_foot(const polytope *p, const epa_face *closest) {
    double weights[3], best = foot_weights(p, closest, weights);
    const epa_face *found = closest;
    for (int i = 0; i < p->face_count && best < 0.0; i++) {
        const epa_face *f = &p->faces[i];
        if (!f->alive || f->distance > closest->distance + 10.0 * p->on_plane) continue;
        double least = foot_weights(p, f, weights);
        if (least > best) {
            best = least;
            found = f;
        }
    }
    return found;
}

/* The deepest points of A and B: where the polytope is closest to the origin. */
static void set_witness(const polytope *p, const epa_face *closest, rs_epa_result *out) {
    const epa_face *f = face_at_foot(p, closest);
    rs_simplex s = {.count = 3};
    double total = 0.0;
    foot_weights(p, f, s.weights);
    for (int i = 0; i < 3; i++) {
        s.points[i] = p->vertices[f->v[i]];
        s.weights[i] = fmax(s.weights[i], 0.0);
        total += s.weights[i];
    }
    for (int i = 0; i < 3; i++) s.weights[i] /= total;
    rs_simplex_witness(&s, &out->on_a, &out->on_b);
}

/* A - B is flat: the cores slide apart across it without moving along its normal. */
static bool flat_result(const rs_core_pair *pair, const rs_simplex *simplex, rs_vec3 normal, rs_epa_result *out) {
    double up = rs_pair_separation(pair, normal), down = rs_pair_separation(pair, rs_neg(normal));
    out->normal = up >= down ? normal : rs_neg(normal);
    out->separation = fmax(up, down);
    out->converged = true;
    rs_simplex_witness(simplex, &out->on_a, &out->on_b);
    return true;
}

bool rs_epa(const rs_core_pair *pair, const rs_simplex *simplex, const rs_collide_settings *settings,
            rs_epa_result *out) {
    polytope p;
    p.pair = pair;
    p.vertex_count = simplex->count;
    p.face_count = 0;
    p.free_face = NONE;
    p.on_plane = ON_PLANE * pair->size;
    for (int i = 0; i < simplex->count; i++) p.vertices[i] = simplex->points[i];
    rs_vec3 flat;
    if (!complete_tetrahedron(&p, &flat)) return flat_result(pair, simplex, flat, out);
    start_faces(&p);
    horizon_edge edges[MAX_VERTICES];
    out->separation = -INFINITY;
    out->converged = false;
    rs_simplex_witness(simplex, &out->on_a, &out->on_b); /* in case rounding spoils the polytope */
    double tolerance = fmax(settings->epa_tolerance * settings->epa_tolerance * pair->size, p.on_plane);
    for (int i = 0; i < settings->epa_max_iterations; i++) {
        int closest = closest_face(&p);
        if (closest == NONE) break;
        const epa_face *f = &p.faces[closest];
        rs_difference_point w = rs_pair_support(pair, f->normal);
        double depth = rs_dot(f->normal, w.w);
        if (-depth > out->separation) {
            out->separation = -depth;
            out->normal = rs_neg(f->normal);
        }
        out->converged = -out->separation - f->distance <= tolerance;
        bool last = out->converged || p.vertex_count == MAX_VERTICES || i + 1 == settings->epa_max_iterations;
        if (last) {
            set_witness(&p, f, out);
            break;
        }
        p.vertices[p.vertex_count++] = w;
        int count = cut_hole(&p, closest, w.w, i, edges);
        if (!close_hole(&p, p.vertex_count - 1, edges, count)) break;
    }
    return out->separation > -INFINITY;
}
