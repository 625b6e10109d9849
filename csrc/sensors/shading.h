/* Normals for light: round surfaces that are made of flat triangles look round, sharp edges stay sharp. */
#ifndef RS_SENSORS_SHADING_H
#define RS_SENSORS_SHADING_H

#include "ray_scene.h"

/* Shares of the corners of a triangle in a point of it, mesh frame. */
rs_vec3 rs_triangle_shares(const rs_tri_mesh *mesh, int64_t triangle, rs_vec3 point);

/* Unit normal for light at a point of a target's surface, world frame. `normal` is that of the surface itself; meshes
 * and heightmaps bend it towards their neighbours', all else keeps it. */
rs_vec3 rs_shading_normal(const rs_ray_target *target, int64_t feature, rs_vec3 point, rs_vec3 normal);

#endif
