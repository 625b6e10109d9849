/* Collision shapes, each in its own frame. A shape is a small value; meshes and heightmaps point to shared,
 * immutable assets that the world owns. */
#ifndef RS_MODEL_SHAPE_H
#define RS_MODEL_SHAPE_H

#include "../base/math3d.h"
#include "../base/memory.h"

struct rs_convex;      /* model/convex.h: hull vertices with adjacency and faces */
struct rs_tri_mesh;    /* model/tri_mesh.h: triangles with a bounding-volume tree */
struct rs_height_grid; /* model/height_grid.h: regular grid of heights */

typedef struct {
    rs_vec3 min, max;
} rs_aabb;
RS_ARRAY_OF(rs_aabb);

/* Boxes that touch overlap. */
static inline bool rs_aabb_overlap(const rs_aabb *a, const rs_aabb *b) {
    return !((a->min.x > b->max.x) | (b->min.x > a->max.x) | (a->min.y > b->max.y) | (b->min.y > a->max.y) |
             (a->min.z > b->max.z) | (b->min.z > a->max.z));
}
static inline bool rs_aabb_contains(const rs_aabb *box, rs_vec3 p) {
    return p.x >= box->min.x && p.x <= box->max.x && p.y >= box->min.y && p.y <= box->max.y && p.z >= box->min.z &&
           p.z <= box->max.z;
}
static inline rs_aabb rs_aabb_grown(const rs_aabb *box, double by) {
    return (rs_aabb){rs_v3(box->min.x - by, box->min.y - by, box->min.z - by),
                     rs_v3(box->max.x + by, box->max.y + by, box->max.z + by)};
}
static inline rs_aabb rs_aabb_of_triangle(rs_vec3 a, rs_vec3 b, rs_vec3 c) {
    return (rs_aabb){rs_v3_min(a, rs_v3_min(b, c)), rs_v3_max(a, rs_v3_max(b, c))};
}
/* The box of a ball. */
static inline rs_aabb rs_aabb_around(rs_vec3 centre, double radius) {
    rs_aabb point = {centre, centre};
    return rs_aabb_grown(&point, radius);
}

typedef struct rs_shape {
    rs_shape_type type;
    double radius;      /* sphere, capsule, cylinder, cone (base) [m] */
    double half_height; /* capsule: half the distance of the sphere centres; cylinder: half length;
                           cone: half of the full height, see RS_CONE_* [m] */
    rs_vec3 half;       /* box: half lengths [m] */
    const struct rs_convex *convex;
    const struct rs_tri_mesh *mesh;
    const struct rs_height_grid *grid;
} rs_shape;
RS_ARRAY_OF(rs_shape);

/* Frames. Sphere, box, capsule, cylinder: origin at the centre, axis +z. Half-space: the solid is z <= 0 in the
 * shape frame, normal +z. Cone: apex towards +z, origin at the centroid of the solid, a quarter of the height
 * above the base. Heightmap: see model/height_grid.h. */
static inline double rs_cone_apex_z(const rs_shape *cone) { return 1.5 * cone->half_height; }
static inline double rs_cone_base_z(const rs_shape *cone) { return -0.5 * cone->half_height; }

/* False for half-spaces and terrain, which end nowhere below. */
static inline bool rs_shape_is_bounded(rs_shape_type type) {
    return type != RS_SHAPE_HALF_SPACE && type != RS_SHAPE_HEIGHTMAP;
}
/* Made of vertices, triangles or heights that the world keeps. */
static inline bool rs_shape_has_asset(rs_shape_type type) {
    return type == RS_SHAPE_CONVEX || type == RS_SHAPE_MESH || type == RS_SHAPE_HEIGHTMAP;
}
/* Without edges that a picture should show. */
bool rs_shape_is_smooth(rs_shape_type type);
/* A primitive shape of the numbers in rs_shape_def.dim [m]; fails for sizes that none can have. */
rs_status rs_shape_make(rs_shape_type type, const double dim[3], rs_shape *out);
/* RS_OK, or what is wrong with the size of a shape that was read. */
rs_status rs_shape_check(const rs_shape *shape);
/* True for bounded convex shapes, those with a support function. */
bool rs_shape_is_convex(rs_shape_type type);

/* World-frame bounding box of the shape at the pose. Half-spaces are unbounded: their box spans everything below
 * the surface only when the normal is an axis, everything otherwise. */
rs_aabb rs_shape_aabb(const rs_shape *shape, const rs_transform *pose);
/* A box around that one, found quickly: of a hull the box of its own box. */
rs_aabb rs_shape_outer_aabb(const rs_shape *shape, const rs_transform *pose);

/* Volume [m^3] and inertia about the centroid for unit mass [m^2] of a primitive or convex shape; false for shapes
 * without volume (half-space, triangle mesh, heightmap). */
bool rs_shape_mass_properties(const rs_shape *shape, double *volume, rs_vec3 *centroid, rs_sym3 *unit_inertia);

/* Farthest point of a bounded convex shape along the direction (need not be unit), in the shape frame. */
rs_vec3 rs_shape_support(const rs_shape *shape, rs_vec3 direction);

/* What GJK and EPA see of a bounded convex shape: a core, rounded by a radius. A sphere is a rounded point, a capsule a
 * rounded segment; the others are their own core. */
typedef enum {
    RS_CORE_POINT,
    RS_CORE_SEGMENT,
    RS_CORE_TRIANGLE, /* of a mesh or heightmap */
    RS_CORE_BOX,
    RS_CORE_CYLINDER,
    RS_CORE_CONE,
    RS_CORE_HULL
} rs_core_kind;

typedef struct {
    rs_core_kind kind;
    double rounding; /* [m] */
    double size;     /* largest distance of a point of the core from `center` [m] */
    rs_vec3 center;  /* a point inside the core */
} rs_shape_core;

rs_shape_core rs_shape_core_of(const rs_shape *shape);

typedef struct {
    rs_vec3 origin;
    rs_vec3 direction; /* unit */
    double max;        /* hits at distances 0 .. max count [m] */
} rs_ray;

typedef struct {
    double distance;
    rs_vec3 normal; /* unit, outward of the shape, in the frame of the ray */
} rs_ray_hit;

/* Takes a hit within the reach of the ray. */
static inline bool rs_ray_accept(const rs_ray *ray, double distance, rs_vec3 normal, rs_ray_hit *hit) {
    if (!(distance >= 0.0 && distance <= ray->max)) return false;
    *hit = (rs_ray_hit){distance, normal};
    return true;
}
/* Nearest hit of a primitive or half-space (shape frame), or false. */
bool rs_ray_primitive(const rs_shape *shape, const rs_ray *ray, rs_ray_hit *hit);

#endif
