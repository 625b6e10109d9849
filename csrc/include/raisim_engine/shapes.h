/* Shapes, and geometry that several of them share. See raisim_engine.h. */
#ifndef RAISIM_ENGINE_SHAPES_H
#define RAISIM_ENGINE_SHAPES_H

#include "core.h"

/* cdef begin */

typedef enum {
    RS_SHAPE_SPHERE = 0,
    RS_SHAPE_BOX,
    RS_SHAPE_CYLINDER,
    RS_SHAPE_CONE,
    RS_SHAPE_CAPSULE,
    RS_SHAPE_CONVEX,     /* convex hull asset */
    RS_SHAPE_HALF_SPACE, /* the ground: solid below z = 0 of its frame */
    RS_SHAPE_MESH,       /* triangle asset */
    RS_SHAPE_HEIGHTMAP,  /* grid asset */
    RS_SHAPE_TYPE_COUNT
} rs_shape_type;

/* A mesh or heightmap that shapes share. Making one may take seconds, which no world has to wait for: any thread makes it,
 * apart from all worlds. Each world that it is added to holds it, and so does its creator until he destroys it. */
typedef struct rs_asset rs_asset;

/* Convex hull of points [m]; the points need not all be extreme. At least four that do not lie in one plane. */
rs_status rs_asset_create_convex(int64_t point_count, const double *xyz, rs_asset **out);
/* Which of the points are corners of their convex hull, in rising order: `corners` has room for all of them. Points closer to
 * the hull than about 1e-11 of its size may count as lying inside. */
rs_status rs_hull_corners(int64_t point_count, const double *xyz, int32_t *corners, int64_t *corner_count);
/* Triangles as given; degenerate ones must have been dropped. Vertices [m], counter-clockwise seen from outside. */
rs_status rs_asset_create_mesh(int64_t vertex_count, const double *xyz, int64_t triangle_count, const int32_t *indices,
                               rs_asset **out);
/* Heights [m], height[iy * x_samples + ix], at x = -x_size/2 + ix * x_size/(x_samples-1), likewise y. */
rs_status rs_asset_create_heightmap(int32_t x_samples, int32_t y_samples, double x_size, double y_size, const double *heights,
                                    rs_asset **out);
void rs_asset_destroy(rs_asset *asset);

/* An asset in a world. Like object ids, never reused. */
typedef uint64_t rs_asset_id;

rs_status rs_asset_add(rs_world *world, rs_asset *asset, rs_asset_id *out);
/* The hold of whoever added it; it stays in the world while a shape uses it. */
rs_status rs_asset_release(rs_world *world, rs_asset_id asset);

typedef struct {
    int32_t type;        /* rs_shape_type */
    double dim[3];       /* sphere: radius. box: full lengths. cylinder, cone: radius, full height.
                            capsule: radius, distance of the sphere centres [m] */
    rs_asset_id asset;   /* convex, mesh, heightmap */
    double position[3];  /* in the body frame [m] */
    double quaternion[4];
    int32_t material;
} rs_shape_def;

/* cdef end */

#endif
