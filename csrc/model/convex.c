#include "convex.h"

#include <stdlib.h>
#include <string.h>

#include "../base/limits.h"
#include "../base/memory.h"
#include "convex_hull.h"

enum { NONE = -1, SCAN_LIMIT = 24 }; /* below that many vertices looking at all of them beats climbing */

/* Facets whose vertices lie this close to a common plane become one face; relative to the size of the hull. Single
 * precision files keep flat faces flat to about 1e-7. */
static const double COPLANAR = 1e-6;

/* ---- triangles into faces ---- */

typedef struct {
    double area;
    int32_t triangle;
} seed_order;

typedef struct {
    const rs_vec3 *points; /* centred, of unit size */
    const rs_hull_triangle *triangles;
    int32_t triangle_count, point_count;
    seed_order *seeds;              /* large triangles first: their planes are the most exact */
    int32_t *group;                 /* per triangle: the face it became */
    int32_t *members;               /* the triangles of the face at hand */
    int32_t *next_at;               /* per point: the next one along the border of the face at hand */
    int32_t *number;                /* per point: index among the vertices of the hull, or NONE */
    RS_ARRAY(rs_convex_face) faces; /* first and count only */
    RS_ARRAY(int32_t) loops;        /* points of all faces, one face after the other */
} merge;

static int by_falling_area(const void *a, const void *b) {
    const seed_order *p = a, *q = b;
    if (p->area != q->area) return p->area > q->area ? -1 : 1;
    return p->triangle < q->triangle ? -1 : 1;
}

static bool fits_plane(const merge *m, const rs_hull_triangle *seed, const rs_hull_triangle *other) {
    if (rs_dot(seed->normal, other->normal) < 0.5) return false;
    for (int k = 0; k < 3; k++)
        if (fabs(rs_dot(seed->normal, m->points[other->v[k]]) - seed->offset) > COPLANAR) return false;
    return true;
}

/* Gathers the triangles connected to the seed that lie in its plane; returns how many. */
static int32_t grow_group(merge *m, int32_t seed, int32_t group) {
    int32_t count = 1;
    m->members[0] = seed;
    m->group[seed] = group;
    for (int32_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) {
            int32_t other = m->triangles[m->members[i]].neighbor[k];
            if (m->group[other] != NONE || !fits_plane(m, &m->triangles[seed], &m->triangles[other])) continue;
            m->group[other] = group;
            m->members[count++] = other;
        }
    return count;
}

/* Links the border of the members, each point to the next; returns a point of it, or NONE when a point repeats. */
static int32_t link_border(merge *m, int32_t member_count, int32_t *edge_count) {
    int32_t start = NONE;
    *edge_count = 0;
    for (int32_t i = 0; i < member_count; i++)
        for (int k = 0; k < 3; k++) m->next_at[m->triangles[m->members[i]].v[k]] = NONE;
    for (int32_t i = 0; i < member_count; i++) {
        const rs_hull_triangle *t = &m->triangles[m->members[i]];
        for (int k = 0; k < 3; k++) {
            if (m->group[t->neighbor[k]] == m->group[m->members[i]]) continue;
            if (m->next_at[t->v[k]] != NONE) return NONE;
            m->next_at[t->v[k]] = t->v[(k + 1) % 3];
            start = t->v[k];
            (*edge_count)++;
        }
    }
    return start;
}

static rs_status add_loop(merge *m, int32_t start, int32_t count) {
    rs_convex_face *face = rs_array_push(&m->faces);
    if (face == NULL) return RS_OUT_OF_MEMORY;
    *face = (rs_convex_face){.first = (int32_t)m->loops.count, .count = count};
    for (int32_t i = 0, at = start; i < count; i++, at = m->next_at[at]) {
        int32_t *slot = rs_array_push(&m->loops);
        if (slot == NULL) return RS_OUT_OF_MEMORY;
        *slot = at;
    }
    return RS_OK;
}

/* The members as one face; where their border is not one simple loop, each as a face of its own. */
static rs_status add_face(merge *m, int32_t member_count, int32_t *next_group) {
    int32_t edges, start = link_border(m, member_count, &edges), at = start;
    int32_t steps = 0;
    do {
        if (at == NONE) break;
        at = m->next_at[at];
        steps++;
    } while (at != start && steps < edges);
    if (start != NONE && at == start && steps == edges) {
        (*next_group)++;
        return add_loop(m, start, edges);
    }
    for (int32_t i = 0; i < member_count; i++) {
        const int32_t *v = m->triangles[m->members[i]].v;
        m->group[m->members[i]] = (*next_group)++;
        for (int k = 0; k < 3; k++) m->next_at[v[k]] = v[(k + 1) % 3];
        rs_status status = add_loop(m, v[0], 3);
        if (status != RS_OK) return status;
    }
    return RS_OK;
}

static rs_status merge_faces(merge *m) {
    for (int32_t i = 0; i < m->triangle_count; i++) {
        const int32_t *v = m->triangles[i].v;
        rs_vec3 cross = rs_cross(rs_sub(m->points[v[1]], m->points[v[0]]), rs_sub(m->points[v[2]], m->points[v[0]]));
        m->seeds[i] = (seed_order){rs_norm2(cross), i};
        m->group[i] = NONE;
    }
    qsort(m->seeds, (size_t)m->triangle_count, sizeof(seed_order), by_falling_area);
    int32_t next_group = 0;
    for (int32_t i = 0; i < m->triangle_count; i++) {
        int32_t seed = m->seeds[i].triangle;
        if (m->group[seed] != NONE) continue;
        rs_status status = add_face(m, grow_group(m, seed, next_group), &next_group);
        if (status != RS_OK) return status;
    }
    return RS_OK;
}

/* Takes out of all loops the points where fewer than three faces meet: those in the middle of an edge, and those that lie within a
 * flat side, where a sliver of a triangle has kept a face of its own. Faces left with two points go, too. Returns whether any
 * did: then more points may. */
static bool drop_flat_points(merge *m) {
    int32_t *loops = m->loops.items, *uses = m->number, kept = 0;
    int64_t faces = 0;
    for (int32_t i = 0; i < m->point_count; i++) uses[i] = 0;
    for (int64_t i = 0; i < m->loops.count; i++) uses[loops[i]]++;
    for (int64_t f = 0; f < m->faces.count; f++) {
        rs_convex_face face = *RS_ITEM(m->faces, f);
        int32_t first = kept;
        for (int32_t i = 0; i < face.count; i++)
            if (uses[loops[face.first + i]] > 2) loops[kept++] = loops[face.first + i];
        if (kept - first < 3)
            kept = first;
        else
            *RS_ITEM(m->faces, faces++) = (rs_convex_face){.first = first, .count = kept - first};
    }
    bool dropped = faces < m->faces.count;
    m->faces.count = faces;
    m->loops.count = kept;
    return dropped;
}

/* ---- the final, single block ---- */

/* Numbers the points that are corners of faces; returns how many. */
static int32_t number_vertices(merge *m) {
    int32_t count = 0;
    for (int32_t i = 0; i < m->point_count; i++) m->number[i] = NONE;
    for (int64_t i = 0; i < m->loops.count; i++) {
        int32_t *number = &m->number[m->loops.items[i]];
        if (*number == NONE) *number = count++;
    }
    return count;
}

/* Newell's normal: exact for flat loops, the best fit for nearly flat ones. */
static void set_plane(rs_convex_face *face, const int32_t *loop, const rs_vec3 *vertices) {
    rs_vec3 sum = rs_v3_zero(), center = rs_v3_zero(), origin = vertices[loop[0]];
    for (int32_t i = 0; i < face->count; i++) {
        rs_vec3 a = rs_sub(vertices[loop[i]], origin), b = rs_sub(vertices[loop[(i + 1) % face->count]], origin);
        sum = rs_add(sum, rs_cross(a, b));
        center = rs_add(center, a);
    }
    face->normal = rs_normalize_or(sum, rs_v3(0, 0, 1));
    face->offset = rs_dot(face->normal, rs_madd(origin, 1.0 / face->count, center));
}

/* Around each vertex: one neighbour and one face per loop that passes it. */
static void link_vertices(const rs_convex *c, int32_t *first, int32_t *neighbors, int32_t *faces) {
    for (int32_t f = 0; f < c->face_count; f++)
        for (int32_t i = 0; i < c->faces[f].count; i++) first[c->face_vertices[c->faces[f].first + i] + 1]++;
    for (int32_t v = 0; v < c->vertex_count; v++) first[v + 1] += first[v];
    for (int32_t f = 0; f < c->face_count; f++) {
        const int32_t *loop = &c->face_vertices[c->faces[f].first];
        for (int32_t i = 0; i < c->faces[f].count; i++) {
            int32_t slot = first[loop[i]]++;
            neighbors[slot] = loop[(i + 1) % c->faces[f].count];
            faces[slot] = f;
        }
    }
    for (int32_t v = c->vertex_count; v > 0; v--) first[v] = first[v - 1];
    first[0] = 0;
}

/* A block with room for so many corners, faces and corners of faces. */
static rs_convex *allocate(size_t v, size_t f, size_t l) {
    size_t bytes = sizeof(rs_convex) + v * sizeof(rs_vec3) + f * sizeof(rs_convex_face) + (3 * l + v + 1) * sizeof(int32_t);
    rs_convex *c = rs_alloc(bytes);
    if (c == NULL) return NULL;
    rs_vec3 *vertices = (rs_vec3 *)(c + 1);
    rs_convex_face *faces = (rs_convex_face *)(vertices + v);
    int32_t *loops = (int32_t *)(faces + f);
    *c = (rs_convex){.vertex_count = (int32_t)v, .face_count = (int32_t)f, .vertices = vertices, .faces = faces,
                     .face_vertices = loops, .neighbors = loops + l, .vertex_faces = loops + 2 * l,
                     .neighbor_first = loops + 3 * l};
    return c;
}

static rs_convex *assemble(merge *m, const double *xyz) {
    size_t f = (size_t)m->faces.count, l = (size_t)m->loops.count;
    rs_convex *c = allocate((size_t)number_vertices(m), f, l);
    if (c == NULL) return NULL;
    rs_vec3 *vertices = (rs_vec3 *)c->vertices;
    int32_t *loops = (int32_t *)c->face_vertices;
    for (int32_t i = 0; i < m->point_count; i++)
        if (m->number[i] != NONE) vertices[m->number[i]] = rs_v3_load(&xyz[3 * (int64_t)i]);
    for (size_t i = 0; i < l; i++) loops[i] = m->number[m->loops.items[i]];
    memcpy((rs_convex_face *)c->faces, m->faces.items, f * sizeof *c->faces);
    return c;
}

/* ---- mass ---- */

/* Sum of tetrahedra from the first vertex to every triangle of every face. */
static void set_mass_properties(rs_convex *c) {
    rs_vec3 apex = c->vertices[0], first = rs_v3_zero();
    rs_sym3 second = {0}; /* volume integrals of products of coordinates about the apex */
    double volume = 0.0;
    for (int32_t f = 0; f < c->face_count; f++) {
        const int32_t *loop = &c->face_vertices[c->faces[f].first];
        for (int32_t i = 1; i + 1 < c->faces[f].count; i++) {
            rs_vec3 p = rs_sub(c->vertices[loop[0]], apex), q = rs_sub(c->vertices[loop[i]], apex);
            rs_vec3 r = rs_sub(c->vertices[loop[i + 1]], apex), s = rs_add(p, rs_add(q, r));
            double v = rs_dot(p, rs_cross(q, r)) / 6.0;
            volume += v;
            first = rs_madd(first, v / 4.0, s);
            second.xx += v / 20.0 * (p.x * p.x + q.x * q.x + r.x * r.x + s.x * s.x);
            second.yy += v / 20.0 * (p.y * p.y + q.y * q.y + r.y * r.y + s.y * s.y);
            second.zz += v / 20.0 * (p.z * p.z + q.z * q.z + r.z * r.z + s.z * s.z);
            second.xy += v / 20.0 * (p.x * p.y + q.x * q.y + r.x * r.y + s.x * s.y);
            second.xz += v / 20.0 * (p.x * p.z + q.x * q.z + r.x * r.z + s.x * s.z);
            second.yz += v / 20.0 * (p.y * p.z + q.y * q.z + r.y * r.z + s.y * s.z);
        }
    }
    rs_vec3 g = rs_scale(1.0 / volume, first);
    double xx = second.xx / volume - g.x * g.x, yy = second.yy / volume - g.y * g.y, zz = second.zz / volume - g.z * g.z;
    c->volume = volume;
    c->centroid = rs_add(apex, g);
    c->unit_inertia = (rs_sym3){.xx = yy + zz, .yy = xx + zz, .zz = xx + yy,
                                .xy = g.x * g.y - second.xy / volume,
                                .xz = g.x * g.z - second.xz / volume,
                                .yz = g.y * g.z - second.yz / volume};
}

/* ---- construction ---- */

/* What follows from corners and faces. */
static void complete(rs_convex *c) {
    rs_convex_face *faces = (rs_convex_face *)c->faces;
    for (int32_t i = 0; i < c->face_count; i++) set_plane(&faces[i], &c->face_vertices[faces[i].first], c->vertices);
    link_vertices(c, (int32_t *)c->neighbor_first, (int32_t *)c->neighbors, (int32_t *)c->vertex_faces);
    set_mass_properties(c);
    for (int32_t i = 0; i < c->vertex_count; i++)
        c->radius = fmax(c->radius, rs_norm(rs_sub(c->vertices[i], c->centroid)));
    rs_vec3 low = c->vertices[0], high = low;
    for (int32_t i = 1; i < c->vertex_count; i++) {
        low = rs_v3_min(low, c->vertices[i]);
        high = rs_v3_max(high, c->vertices[i]);
    }
    c->box_center = rs_scale(0.5, rs_add(low, high));
    c->box_half = rs_v3_max(rs_sub(high, c->box_center), rs_sub(c->box_center, low));
    for (int i = 0; i < 8; i++)
        c->start[i] = rs_convex_support_index(c, rs_v3(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1));
}

static rs_status build(merge *m, const double *xyz, rs_convex **out) {
    rs_status status = merge_faces(m);
    if (status != RS_OK) return status;
    while (drop_flat_points(m)) {}
    rs_convex *c = assemble(m, xyz);
    if (c == NULL) return RS_OUT_OF_MEMORY;
    complete(c);
    *out = c;
    return RS_OK;
}

/* Corners and faces that a hull can have: each face has three corners or more, each corner has a face. */
static bool are_faces(int32_t vertex_count, int32_t face_count, const int32_t *counts, const int32_t *loops, uint8_t *used) {
    int64_t total = 0;
    for (int32_t f = 0; f < face_count; f++)
        for (int32_t i = 0; i < counts[f]; i++, total++) {
            if (loops[total] < 0 || loops[total] >= vertex_count) return false;
            used[loops[total]] = 1;
        }
    for (int32_t v = 0; v < vertex_count; v++)
        if (!used[v]) return false;
    return true;
}

rs_status rs_convex_from_faces(int32_t vertex_count, const rs_vec3 *vertices, int32_t face_count, const int32_t *counts,
                               const int32_t *loops, rs_convex **out) {
    bool whole = vertex_count >= 4 && face_count >= 4;
    int64_t total = 0;
    for (int32_t f = 0; f < face_count && whole; total += counts[f], f++) whole = counts[f] >= 3;
    for (int32_t v = 0; v < vertex_count && whole; v++) whole = rs_v3_is_carried(vertices[v]);
    uint8_t *used = whole ? rs_alloc((size_t)vertex_count) : NULL;
    whole = used != NULL && are_faces(vertex_count, face_count, counts, loops, used);
    rs_free(used);
    if (!whole) return rs_fail(RS_INVALID_VALUE, "a hull has a face without corners, or a corner without a face");
    rs_convex *c = allocate((size_t)vertex_count, (size_t)face_count, (size_t)total);
    if (c == NULL) return RS_OUT_OF_MEMORY;
    memcpy((rs_vec3 *)c->vertices, vertices, (size_t)vertex_count * sizeof *vertices);
    memcpy((int32_t *)c->face_vertices, loops, (size_t)total * sizeof *loops);
    int32_t first = 0;
    for (int32_t f = 0; f < face_count; first += counts[f], f++)
        ((rs_convex_face *)c->faces)[f] = (rs_convex_face){.first = first, .count = counts[f]};
    complete(c);
    if (c->volume > 0.0) {
        *out = c;
        return RS_OK;
    }
    rs_convex_free(c);
    return rs_fail(RS_INVALID_VALUE, "a hull has no volume");
}

static rs_status hull_and_build(const rs_vec3 *points, int32_t count, const double *xyz, rs_convex **out) {
    RS_ARRAY(rs_hull_triangle) triangles = {0};
    rs_status status = rs_convex_hull(points, count, &triangles);
    if (status == RS_OK) {
        size_t t = (size_t)triangles.count, p = (size_t)count;
        merge m = {.points = points, .triangles = triangles.items, .triangle_count = (int32_t)t, .point_count = count,
                   .seeds = rs_alloc(t * sizeof(seed_order)), .group = rs_alloc((2 * t + 2 * p) * sizeof(int32_t))};
        if (m.seeds != NULL && m.group != NULL) {
            m.members = m.group + t;
            m.next_at = m.members + t;
            m.number = m.next_at + p;
            status = build(&m, xyz, out);
        } else {
            status = RS_OUT_OF_MEMORY;
        }
        rs_free(m.seeds);
        rs_free(m.group);
        rs_array_free(&m.faces);
        rs_array_free(&m.loops);
    }
    rs_array_free(&triangles);
    return status;
}

/* The points about the origin, of unit size: to be freed by the caller. */
static rs_status normalized(int64_t point_count, const double *xyz, rs_vec3 **out) {
    if (point_count < 4 || point_count > INT32_MAX / 8)
        return rs_fail(RS_INVALID_VALUE, "point_count is %lld, expected 4 to %d", (long long)point_count, INT32_MAX / 8);
    rs_vec3 lo = rs_v3_load(xyz), hi = lo;
    for (int64_t i = 0; i < point_count; i++) {
        rs_vec3 p = rs_v3_load(&xyz[3 * i]);
        if (!rs_v3_finite(p)) return rs_fail(RS_INVALID_VALUE, "point %lld is not finite", (long long)i);
        lo = rs_v3_min(lo, p);
        hi = rs_v3_max(hi, p);
    }
    rs_vec3 center = rs_lerp(lo, hi, 0.5), half = rs_scale(0.5, rs_sub(hi, lo));
    double size = fmax(half.x, fmax(half.y, half.z));
    if (!(size > 1e-100) || !(size < 1e100))
        return rs_fail(RS_INVALID_VALUE, "the points span %g m, expected a solid hull", 2.0 * size);
    rs_vec3 *points = rs_alloc((size_t)point_count * sizeof(rs_vec3));
    if (points == NULL) return RS_OUT_OF_MEMORY;
    for (int64_t i = 0; i < point_count; i++)
        points[i] = rs_scale(1.0 / size, rs_sub(rs_v3_load(&xyz[3 * i]), center));
    *out = points;
    return RS_OK;
}

rs_status rs_convex_new(int64_t point_count, const double *xyz, rs_convex **out) {
    *out = NULL;
    rs_vec3 *points = NULL;
    rs_status status = normalized(point_count, xyz, &points);
    if (status == RS_OK) status = hull_and_build(points, (int32_t)point_count, xyz, out);
    rs_free(points);
    return status;
}

rs_status rs_hull_corners(int64_t point_count, const double *xyz, int32_t *corners, int64_t *corner_count) {
    rs_vec3 *points = NULL;
    RS_ARRAY(rs_hull_triangle) triangles = {0};
    rs_status status = normalized(point_count, xyz, &points);
    if (status == RS_OK) status = rs_convex_hull(points, (int32_t)point_count, &triangles);
    if (status == RS_OK) {
        for (int64_t i = 0; i < point_count; i++) corners[i] = NONE;
        for (int64_t i = 0; i < triangles.count; i++)
            for (int k = 0; k < 3; k++) {
                int32_t v = RS_ITEM(triangles, i)->v[k];
                corners[v] = v;
            }
        *corner_count = 0;
        for (int64_t i = 0; i < point_count; i++)
            if (corners[i] != NONE) corners[(*corner_count)++] = corners[i];
    }
    rs_array_free(&triangles);
    rs_free(points);
    return status;
}

void rs_convex_free(rs_convex *convex) { rs_free(convex); }

/* ---- support ---- */

static int32_t scan_support(const rs_convex *c, rs_vec3 d) {
    int32_t best = 0;
    double most = rs_dot(c->vertices[0], d);
    for (int32_t i = 1; i < c->vertex_count; i++) {
        double along = rs_dot(c->vertices[i], d);
        if (along > most) {
            most = along;
            best = i;
        }
    }
    return best;
}

int32_t rs_convex_support_index(const rs_convex *convex, rs_vec3 d) {
    return rs_convex_support_from(convex, convex->start[(d.x > 0.0) | (d.y > 0.0) << 1 | (d.z > 0.0) << 2], d);
}

int32_t rs_convex_support_from(const rs_convex *convex, int32_t from, rs_vec3 d) {
    if (convex->vertex_count <= SCAN_LIMIT) return scan_support(convex, d);
    /* Climb from neighbour to neighbour: on a convex surface the first summit is the highest. */
    int32_t best = from, at;
    double most = rs_dot(convex->vertices[best], d);
    do {
        at = best;
        for (int32_t i = convex->neighbor_first[at]; i < convex->neighbor_first[at + 1]; i++) {
            double along = rs_dot(convex->vertices[convex->neighbors[i]], d);
            if (along > most) {
                most = along;
                best = convex->neighbors[i];
            }
        }
    } while (best != at);
    return best;
}
