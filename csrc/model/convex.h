/* Convex hulls: immutable once built, shared by all shapes that use them. */
#ifndef RS_MODEL_CONVEX_H
#define RS_MODEL_CONVEX_H

#include "../base/math3d.h"
#include "../base/memory.h"

/* A flat face: its vertices, counter-clockwise seen from outside, are face_vertices[first .. first + count - 1]. */
typedef struct {
    rs_vec3 normal; /* unit, outwards */
    double offset;  /* normal . x = offset on the face [m] */
    int32_t first, count;
} rs_convex_face;
RS_ARRAY_OF(rs_convex_face);

typedef struct rs_convex {
    int32_t vertex_count, face_count;
    const rs_vec3 *vertices;
    const rs_convex_face *faces;
    const int32_t *face_vertices;
    /* The neighbours of vertex v along edges are neighbors[neighbor_first[v] .. neighbor_first[v + 1] - 1], and the
     * faces around it vertex_faces[...] in the same range: every corner of a hull has as many edges as faces. */
    const int32_t *neighbor_first;
    const int32_t *neighbors;
    const int32_t *vertex_faces;
    rs_vec3 box_center, box_half; /* of the box around the vertices [m] */
    int32_t start[8];     /* extreme vertices of the octants: where the search for a support point begins */
    double radius;        /* largest distance of a vertex from the centroid [m] */
    double volume;        /* [m^3] */
    rs_vec3 centroid;     /* of the solid [m] */
    rs_sym3 unit_inertia; /* about the centroid, for unit mass [m^2] */
} rs_convex;

/* The hull of the points (x y z each) [m]; nearly coplanar facets become one face. RS_INVALID_VALUE when the points
 * are not finite, fewer than four or all (nearly) in one plane. */
rs_status rs_convex_new(int64_t point_count, const double *xyz, rs_convex **out);
/* The same hull again from its corners and faces: `counts` corners each, whose numbers follow each other in `loops`. Refuses
 * what is no hull's. */
rs_status rs_convex_from_faces(int32_t vertex_count, const rs_vec3 *vertices, int32_t face_count, const int32_t *counts,
                               const int32_t *loops, rs_convex **out);
/* Takes NULL. */
void rs_convex_free(rs_convex *convex);

/* Index of the vertex farthest along the direction, which need not be unit. */
int32_t rs_convex_support_index(const rs_convex *convex, rs_vec3 direction);
/* The same, quicker when `from`, the index of any vertex, lies near the answer. */
int32_t rs_convex_support_from(const rs_convex *convex, int32_t from, rs_vec3 direction);
static inline rs_vec3 rs_convex_support(const rs_convex *convex, rs_vec3 direction) {
    return convex->vertices[rs_convex_support_index(convex, direction)];
}

#endif
