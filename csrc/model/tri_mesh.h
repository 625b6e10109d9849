/* Triangle meshes: shared, immutable, with adjacency and a bounding-volume tree. */
#ifndef RS_MODEL_TRI_MESH_H
#define RS_MODEL_TRI_MESH_H

#include "bvh.h"

/* Single-precision boxes and squared lengths of a mesh stay finite and meaningful within this [m]. */
#define RS_MESH_REACH 1e9

/* A mesh is *solid* when it is closed (every edge belongs to exactly two triangles, with opposite directions) and
 * encloses a positive volume: it is then filled, and its triangles act on their outer side only. Any other mesh is a
 * shell without thickness that acts on both sides. */
typedef struct rs_tri_mesh {
    uint32_t vertex_count, triangle_count;
    rs_vec3 *vertices;
    uint32_t (*triangles)[3]; /* in the order of the tree, not of the input */
    uint32_t *given;          /* number of each triangle in the input */
    rs_vec3 *normals;         /* unit, of each triangle */
    int32_t (*neighbors)[3];  /* across edge k (vertices k, k+1): triangle, or -1 at a border or where more than
                                 two triangles meet */
    rs_vec3 *vertex_normals;  /* angle-weighted sum of the triangles' normals (not unit): tells inside from outside */
    uint32_t *ring_start;     /* vertex_count + 1 entries: ring of vertex v is ring[ring_start[v]..ring_start[v+1]) */
    uint32_t *ring;           /* the vertices that share an edge with v */
    uint32_t *owner;          /* one of the triangles at each vertex: visits every vertex once */
    rs_bvh bvh;
    rs_aabb box;
    double volume;            /* enclosed [m^3], when closed */
    bool solid;
} rs_tri_mesh;

/* Vertices [m] as x y z triples, triangles as index triples, counter-clockwise seen from outside. Refused: no
 * triangle, an index out of range, a number that is not finite, a triangle without area. */
rs_status rs_tri_mesh_new(int64_t vertex_count, const double *xyz, int64_t triangle_count, const int32_t *indices,
                             rs_tri_mesh **out);
void rs_tri_mesh_free(rs_tri_mesh *mesh);

/* Bounding box of the mesh at the pose: the mesh's own box, turned. */
rs_aabb rs_tri_mesh_aabb(const rs_tri_mesh *mesh, const rs_transform *pose);

/* Smallest extent of the mesh's box, for flat meshes a hundredth of the largest: what tolerances are relative to [m]. */
double rs_tri_mesh_size(const rs_tri_mesh *mesh);

typedef struct {
    rs_vec3 point;     /* nearest point of the surface */
    rs_vec3 normal;    /* unit, of the nearest triangle */
    double distance;   /* >= 0 */
    uint32_t triangle;
    bool inside;       /* the query point lies on the inner side of the surface */
} rs_mesh_nearest;

/* Nearest surface point to `point` (mesh frame) within `max_distance`; false when there is none. */
bool rs_tri_mesh_nearest(const rs_tri_mesh *mesh, rs_vec3 point, double max_distance, rs_mesh_nearest *out);

/* The same among the triangles whose normal is accepted. */
typedef bool rs_normal_filter(const void *context, rs_vec3 normal);
bool rs_tri_mesh_nearest_filtered(const rs_tri_mesh *mesh, rs_vec3 point, double max_distance, rs_normal_filter *accept,
                                  const void *context, rs_mesh_nearest *out);

/* Where a point of a triangle lies: inside the face, on an edge (k to k+1) or on a vertex. */
typedef enum { RS_ON_FACE, RS_ON_EDGE, RS_ON_VERTEX } rs_triangle_part;

/* Nearest point of the triangle to p; `part` and `index` say on which feature it lies. */
rs_vec3 rs_triangle_nearest(const rs_vec3 v[3], rs_vec3 p, rs_triangle_part *part, int *index);

#endif
