/* Box on box: the 15 candidate axes of the separating-axis test, then the touching faces are clipped. */
#include "clip.h"
#include "collide_convex.h"
#include "collide_primitive.h"

/* Box B seen from box A. */
typedef struct {
    double r[3][3];   /* rotation: column j is the j-th axis of B in the frame of A */
    double abs_r[3][3];
    double p[3];      /* centre of B in the frame of A */
    double a[3], b[3]; /* half lengths */
} box_pair;

/* The axis of largest separation found so far. */
typedef struct {
    double gap;
    int kind; /* 0..2: face of A, 3..5: face of B, 6 + 3 i + j: edge i of A with edge j of B */
} best_axis;

static box_pair make_pair(const rs_shape *a, const rs_transform *ta, const rs_shape *b, const rs_transform *tb) {
    box_pair pair;
    rs_mat3 rel = rs_m3_tmul(&ta->rot, &tb->rot);
    rs_v3_store(pair.p, rs_m3_tmulv(&ta->rot, rs_sub(tb->pos, ta->pos)));
    rs_v3_store(pair.a, a->half);
    rs_v3_store(pair.b, b->half);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            pair.r[i][j] = rel.m[3 * i + j];
            pair.abs_r[i][j] = fabs(rel.m[3 * i + j]);
        }
    return pair;
}

/* False when a face normal keeps the boxes at least `margin` apart. */
static bool test_faces(const box_pair *q, double margin, double tie, best_axis *best) {
    for (int i = 0; i < 3; i++) {
        double reach = q->a[i] + q->abs_r[i][0] * q->b[0] + q->abs_r[i][1] * q->b[1] + q->abs_r[i][2] * q->b[2];
        double gap = fabs(q->p[i]) - reach;
        if (gap >= margin) return false;
        if (gap > best->gap) *best = (best_axis){gap, i};
    }
    for (int j = 0; j < 3; j++) {
        double reach = q->b[j] + q->abs_r[0][j] * q->a[0] + q->abs_r[1][j] * q->a[1] + q->abs_r[2][j] * q->a[2];
        double gap = fabs(q->p[0] * q->r[0][j] + q->p[1] * q->r[1][j] + q->p[2] * q->r[2][j]) - reach;
        if (gap >= margin) return false;
        if (gap > best->gap + tie) *best = (best_axis){gap, 3 + j};
    }
    return true;
}

/* The same for the nine cross products of edges; parallel edges add no axis of their own. */
static bool test_edges(const box_pair *q, double margin, best_axis *best) {
    for (int i = 0; i < 3; i++) {
        int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
        for (int j = 0; j < 3; j++) {
            int j1 = (j + 1) % 3, j2 = (j + 2) % 3;
            double length2 = q->r[i1][j] * q->r[i1][j] + q->r[i2][j] * q->r[i2][j];
            if (length2 < 1e-10) continue;
            double reach = q->a[i1] * q->abs_r[i2][j] + q->a[i2] * q->abs_r[i1][j] +
                           q->b[j1] * q->abs_r[i][j2] + q->b[j2] * q->abs_r[i][j1];
            double scaled = fabs(q->p[i2] * q->r[i1][j] - q->p[i1] * q->r[i2][j]) - reach;
            if (scaled < 0.0 && best->gap < 0.0 && scaled * scaled >= best->gap * best->gap * length2) continue;
            double gap = scaled / sqrt(length2);
            if (gap >= margin) return false;
            if (gap > best->gap) *best = (best_axis){gap, 6 + 3 * i + j};
        }
    }
    return true;
}

/* One box as the reference: the other one, `incident`, is given in its frame. */
typedef struct {
    const double *half;
    const double *incident_half;
    double r[3][3], p[3];
    int axis;    /* the reference face */
    double sign; /* +1 or -1: on which end of the axis */
} face_pair;

static face_pair reference_a(const box_pair *q, int axis) {
    face_pair f = {.half = q->a, .incident_half = q->b, .axis = axis, .sign = copysign(1.0, q->p[axis])};
    for (int i = 0; i < 3; i++) {
        f.p[i] = q->p[i];
        for (int j = 0; j < 3; j++) f.r[i][j] = q->r[i][j];
    }
    return f;
}

static face_pair reference_b(const box_pair *q, int axis) {
    face_pair f = {.half = q->b, .incident_half = q->a, .axis = axis};
    for (int i = 0; i < 3; i++) {
        f.p[i] = -(q->p[0] * q->r[0][i] + q->p[1] * q->r[1][i] + q->p[2] * q->r[2][i]);
        for (int j = 0; j < 3; j++) f.r[i][j] = q->r[j][i];
    }
    f.sign = copysign(1.0, f.p[axis]);
    return f;
}

/* The face of the incident box that looks at the reference face, above the plane of that face. */
static void incident_face(const face_pair *f, rs_clip_polygon *polygon, int *facing) {
    const double *along = f->r[f->axis];
    int k = 0;
    for (int j = 1; j < 3; j++)
        if (fabs(along[j]) > fabs(along[k])) k = j;
    double side = along[k] * f->sign > 0.0 ? -1.0 : 1.0;
    *facing = 2 * k + (side > 0.0);
    int u = (k + 1) % 3, v = (k + 2) % 3;
    int x = (f->axis + 1) % 3, y = (f->axis + 2) % 3;
    polygon->count = 4;
    for (int i = 0; i < 4; i++) {
        double su = (i == 1 || i == 2 ? 1.0 : -1.0) * f->incident_half[u];
        double sv = (i >= 2 ? 1.0 : -1.0) * f->incident_half[v];
        double c[3];
        for (int m = 0; m < 3; m++) c[m] = f->p[m] + side * f->incident_half[k] * f->r[m][k] + su * f->r[m][u] + sv * f->r[m][v];
        polygon->vertices[i] = (rs_clip_vertex){c[x], c[y], f->sign * c[f->axis] - f->half[f->axis],
                                                (uint8_t)((i + 3) % 4), (uint8_t)i};
    }
}

/* Clips the incident face against the sides of the reference face and adds what is closer than the margin. */
static void add_face_contacts(const face_pair *f, const rs_transform *reference, double towards_a, uint32_t owner,
                              double margin, rs_manifold *out) {
    rs_clip_polygon polygon;
    int facing;
    incident_face(f, &polygon, &facing);
    int x = (f->axis + 1) % 3, y = (f->axis + 2) % 3;
    rs_clip_by_line(&polygon, 1.0, 0.0, f->half[x], 4);
    rs_clip_by_line(&polygon, -1.0, 0.0, f->half[x], 5);
    rs_clip_by_line(&polygon, 0.0, 1.0, f->half[y], 6);
    rs_clip_by_line(&polygon, 0.0, -1.0, f->half[y], 7);
    rs_vec3 normal = rs_scale(f->sign * towards_a, rs_m3_col(&reference->rot, f->axis));
    uint32_t faces = owner << 20 | (uint32_t)(2 * f->axis + (f->sign > 0.0)) << 16 | (uint32_t)facing << 12;
    for (int i = 0; i < polygon.count; i++) {
        const rs_clip_vertex *v = &polygon.vertices[i];
        if (v->z >= margin) continue;
        rs_vec3 local = {0};
        rs_v3_set(&local, f->axis, f->sign * (f->half[f->axis] + 0.5 * v->z));
        rs_v3_set(&local, x, v->x);
        rs_v3_set(&local, y, v->y);
        rs_manifold_add(out, rs_transform_point(reference, local), normal, v->z,
                        faces | (uint32_t)v->in << 4 | v->out);
    }
}

/* Centre of the edge of a box, parallel to `axis`, that lies farthest along `direction` (box frame). */
static rs_vec3 extreme_edge(const double *half, int axis, rs_vec3 direction) {
    rs_vec3 c = rs_v3(copysign(half[0], direction.x), copysign(half[1], direction.y), copysign(half[2], direction.z));
    rs_v3_set(&c, axis, 0.0);
    return c;
}

/* Edges i of A and j of B cross. Faces that rest on each other, turned a little, cross like that as well: so the faces
 * around the edges are laid over each other, and the crossing is one of several points. */
static void add_edge_contacts(const box_pair *q, const best_axis *best, const rs_shape *a, const rs_transform *ta,
                              const rs_shape *b, const rs_transform *tb, const rs_collide_settings *settings,
                              rs_manifold *out) {
    rs_core core_a = rs_core_of_shape(a), core_b = rs_core_of_shape(b);
    rs_core_pair pair = rs_core_pair_make(&core_a, ta, &core_b, tb);
    int i = (best->kind - 6) / 3, j = (best->kind - 6) % 3;
    rs_vec3 edge_a = rs_v3_zero(), edge_b = rs_m3_col(&pair.b_in_a.rot, j);
    rs_v3_set(&edge_a, i, 1.0);
    rs_vec3 normal = rs_normalize_or(rs_cross(edge_a, edge_b), rs_v3(0, 0, 1));
    if (rs_dot(normal, pair.b_in_a.pos) > 0.0) normal = rs_neg(normal);
    rs_vec3 pa = extreme_edge(q->a, i, rs_neg(normal));
    rs_vec3 pb = extreme_edge(q->b, j, rs_m3_tmulv(&pair.b_in_a.rot, normal));
    pb = rs_transform_point(&pair.b_in_a, pb);
    /* closest points of two lines with unit directions: c is the cosine between them */
    rs_vec3 d = rs_sub(pb, pa);
    double c = rs_dot(edge_a, edge_b), da = rs_dot(d, edge_a), db = rs_dot(d, edge_b);
    double s = (da - c * db) / (1.0 - c * c), t = (c * da - db) / (1.0 - c * c);
    rs_convex_contact contact = {normal, best->gap, rs_madd(pa, s, edge_a), rs_madd(pb, t, edge_b)};
    rs_add_feature_contacts(&pair, &contact, ta, settings, out);
}

static void add_best_face(const box_pair *q, int kind, const rs_transform *ta, const rs_transform *tb, double margin,
                          rs_manifold *out) {
    if (kind >= 3) {
        face_pair f = reference_b(q, kind - 3);
        add_face_contacts(&f, tb, 1.0, 1, margin, out);
    } else {
        face_pair f = reference_a(q, kind);
        add_face_contacts(&f, ta, -1.0, 0, margin, out);
    }
}

static bool reaches(const rs_manifold *m, double gap) {
    for (int i = 0; i < m->count; i++)
        if (m->points[i].gap <= gap) return true;
    return false;
}

void rs_collide_box_box(const rs_shape *a, const rs_transform *ta, const rs_shape *b, const rs_transform *tb,
                        const rs_collide_settings *settings, rs_manifold *out) {
    box_pair q = make_pair(a, ta, b, tb);
    best_axis face = {-INFINITY, 0};
    /* Nearly equal: the face of A stays, so that resting faces do not take turns as the reference, nor with edges. */
    double tie = 2e-5 * rs_min(q.a[0] + q.a[1] + q.a[2], q.b[0] + q.b[1] + q.b[2]);
    if (!test_faces(&q, settings->margin, tie, &face)) return;
    best_axis best = {face.gap + tie, face.kind};
    if (!test_edges(&q, settings->margin, &best)) return;
    bool by_face = best.kind < 6;
    if (by_face) {
        add_best_face(&q, face.kind, ta, tb, settings->margin, out);
        if (reaches(out, face.gap + tie)) return;
        out->count = 0;
    }
    /* Apart, the axis is the direction of the closest points only when these lie within the faces; otherwise it takes
     * more than an axis to tell how far. */
    if (by_face || best.gap > 0.0) rs_collide_convex_convex(a, ta, b, tb, settings, out);
    else add_edge_contacts(&q, &best, a, ta, b, tb, settings, out);
}
