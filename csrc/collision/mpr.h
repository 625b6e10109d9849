/* A separating direction of two overlapping convex cores by Minkowski portal refinement (Snethen 2008). */
#ifndef RS_COLLISION_MPR_H
#define RS_COLLISION_MPR_H

#include "gjk.h"

/* The direction (unit, from B to A) in which A leaves B when the surface of A - B is met along the line of the
 * centres. Not always the shortest way out, but found with a handful of support points and no polytope to spoil:
 * the fallback for EPA. False when the cores are apart or the shapes are too flat to tell. */
bool rs_mpr(const rs_core_pair *pair, const rs_collide_settings *settings, rs_vec3 *normal);

#endif
