/* Rays against shapes. A ray hits surfaces from either side: one that starts inside a solid hits where it leaves. */
#ifndef RS_COLLISION_RAY_CAST_H
#define RS_COLLISION_RAY_CAST_H

#include "../model/shape.h"

/* Nearest hit of the shape (shape frame), or false. */
bool rs_ray_shape(const rs_shape *shape, const rs_ray *ray, rs_ray_hit *hit);

/* The same for a triangle mesh and for a heightmap; they are what rs_ray_shape calls. */
bool rs_ray_mesh(const struct rs_tri_mesh *mesh, const rs_ray *ray, rs_ray_hit *hit);
bool rs_ray_heightmap(const struct rs_height_grid *grid, const rs_ray *ray, rs_ray_hit *hit);

/* Triangle a, b, c: distance, or false. */
bool rs_ray_triangle(const rs_ray *ray, rs_vec3 a, rs_vec3 b, rs_vec3 c, double max, double *distance);

#endif
