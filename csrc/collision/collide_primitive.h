/* Pair tests in closed form. Each is written for one order of the shapes; the table in narrow_phase.c swaps. */
#ifndef RS_COLLISION_COLLIDE_PRIMITIVE_H
#define RS_COLLISION_COLLIDE_PRIMITIVE_H

#include "manifold.h"

/* collide_primitive_sphere.c */
rs_collide_fn rs_collide_sphere_sphere;
rs_collide_fn rs_collide_sphere_box;
rs_collide_fn rs_collide_sphere_cylinder;
rs_collide_fn rs_collide_sphere_cone;

/* collide_primitive_plane.c: the half-space is shape B */
rs_collide_fn rs_collide_sphere_half_space;
rs_collide_fn rs_collide_box_half_space;
rs_collide_fn rs_collide_cylinder_half_space;
rs_collide_fn rs_collide_cone_half_space;
rs_collide_fn rs_collide_convex_half_space;

/* collide_primitive_box.c */
rs_collide_fn rs_collide_box_box;

/* collide_primitive_capsule.c */
rs_collide_fn rs_collide_sphere_capsule;
rs_collide_fn rs_collide_box_capsule;
rs_collide_fn rs_collide_capsule_capsule;
rs_collide_fn rs_collide_capsule_half_space;

#endif
