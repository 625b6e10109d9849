/* Meshes and heightmaps as one thing: triangles that know their neighbourhood.
 *
 * Two triangles that meet in a flat or hollow edge must not produce contacts that push away from that edge: a body
 * sliding over it would be stopped by nothing. The directions in which a surface may push are therefore limited:
 *   inside a face       its normal
 *   on an edge          from the normal of one face to that of the other, over the outside, when the edge is convex
 *   on a vertex         the directions that make an obtuse angle with every edge leaving it
 * At the rim of a shell, and where faces of a heightmap meet its sides, the directions end in the plane of the triangle,
 * outwards. */
#ifndef RS_COLLISION_SURFACE_H
#define RS_COLLISION_SURFACE_H

#include "../model/height_grid.h"
#include "../model/tri_mesh.h"

typedef struct {
    const rs_tri_mesh *mesh;    /* either this */
    const rs_height_grid *grid; /* or this */
} rs_surface;

static inline rs_surface rs_surface_of(const rs_shape *shape) {
    return (rs_surface){shape->type == RS_SHAPE_MESH ? shape->mesh : NULL,
                        shape->type == RS_SHAPE_HEIGHTMAP ? shape->grid : NULL};
}

/* False for a shell, which acts on both sides. */
static inline bool rs_surface_is_solid(const rs_surface *s) { return s->grid != NULL || s->mesh->solid; }

typedef struct {
    uint32_t id;
    rs_vec3 v[3];          /* surface frame, counter-clockwise seen from the side that acts */
    uint32_t vertex_id[3];
    rs_vec3 normal;        /* unit, of that side */
    bool turned;           /* that side is the back of a shell */
    rs_vec3 apex[3];       /* across edge k (v[k] to v[k+1]): the neighbour's third vertex */
    bool rim[3];           /* edge k has no neighbour */
} rs_surface_triangle;

/* The triangle without its neighbourhood (apex, rim), seen from a point: a shell shows the side that faces it. */
void rs_surface_get(const rs_surface *surface, uint32_t id, rs_vec3 viewer, rs_surface_triangle *out);
/* Fills in the neighbourhood; apart from the rest because most triangles turn out to be too far away. */
void rs_surface_find_neighbors(const rs_surface *surface, rs_surface_triangle *triangle);

/* How a convex edge or the rim may push: normal * cos(angle) + outward * sin(angle), 0 <= angle <= max_angle. */
typedef struct {
    rs_vec3 along, outward; /* unit: along the edge; in the plane of the triangle, away from it */
    double max_angle;       /* [rad]; 0 when the edge is flat or hollow */
} rs_surface_edge;

rs_surface_edge rs_surface_edge_of(const rs_surface_triangle *triangle, int edge);
/* Convex enough to push in other directions than the face: cheaper than the above. */
bool rs_surface_edge_is_active(const rs_surface_triangle *triangle, int edge);
/* Whether the vertex may push in the unit direction; `slack` is the sine of the angle that is forgiven. On solids only
 * the outer side counts: from within, hollow vertices would look convex. */
bool rs_surface_vertex_allows(const rs_surface *surface, uint32_t vertex_id, rs_vec3 direction, double slack);

/* Triangles whose boxes touch a box of the surface frame. */
typedef struct {
    const rs_surface *surface;
    union {
        rs_bvh_query bvh;
        rs_grid_query grid;
    } walk;
} rs_surface_query;

void rs_surface_query_begin(rs_surface_query *query, const rs_surface *surface, rs_aabb box);
/* Leaves out triangles of a mesh that are surely farther than `margin` from the plane through `point`; before the
 * first triangle. */
void rs_surface_query_near_plane(rs_surface_query *query, rs_vec3 normal, rs_vec3 point, double margin);
bool rs_surface_query_next(rs_surface_query *query, uint32_t *triangle);

/* If the point is inside the solid: the nearest way out, as a point of the surface and a unit direction. A heightmap
 * is left through the triangle above the point, however deep it lies. */
bool rs_surface_way_out(const rs_surface *surface, rs_vec3 inside, rs_vec3 *point, rs_vec3 *direction);

#endif
