/* Pair tests with triangle surfaces: meshes and heightmaps. Each is written for one order of the shapes, the one of
 * the upper half of the table in narrow_phase.c, which swaps. `rs_collide_convex_*` takes every shape with a support
 * function: box, cylinder, cone, capsule, convex hull. */
#ifndef RS_COLLISION_COLLIDE_TERRAIN_H
#define RS_COLLISION_COLLIDE_TERRAIN_H

#include "manifold.h"

/* collide_mesh.c: B is the mesh */
rs_collide_fn rs_collide_sphere_mesh;
rs_collide_fn rs_collide_convex_mesh;
rs_collide_fn rs_collide_half_space_mesh;
rs_collide_fn rs_collide_mesh_mesh;

/* collide_heightmap.c: B is the heightmap */
rs_collide_fn rs_collide_sphere_heightmap;
rs_collide_fn rs_collide_convex_heightmap;
rs_collide_fn rs_collide_mesh_heightmap;

#endif
