/* Pair tests with triangle surfaces: meshes and heightmaps. Each is written for the order of the upper half of the
 * table in narrow_phase.c, which swaps. */
#ifndef RS_COLLISION_COLLIDE_TERRAIN_H
#define RS_COLLISION_COLLIDE_TERRAIN_H

#include "manifold.h"
#include "surface.h"

/* collide_surface.c: B is a mesh or heightmap. The convex test takes every shape with a support function: box,
 * cylinder, cone, capsule, convex hull. */
rs_collide_fn rs_collide_sphere_surface;
rs_collide_fn rs_collide_convex_surface;
rs_collide_fn rs_collide_half_space_mesh;

/* collide_mesh.c: A is a mesh, B a mesh or heightmap. */
rs_collide_fn rs_collide_mesh_surface;

/* When a point of A (given in the frame of the surface B) lies inside the solid B: collides A with the half-space that
 * touches B where the way out is shortest. False when it lies outside. */
bool rs_collide_when_inside(const rs_shape *a, const rs_transform *ta, rs_vec3 point_of_a, const rs_surface *surface,
                            const rs_transform *tb, const rs_collide_settings *settings, rs_manifold *out);

#endif
