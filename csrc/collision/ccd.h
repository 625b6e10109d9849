/* Continuous collision detection: the first contact of two shapes along a straight way. */
#ifndef RS_COLLISION_CCD_H
#define RS_COLLISION_CCD_H

#include "narrow_phase.h"

/* Moves A by up to `motion` against B, without turning, to where they first come closer than `near` [m]: `fraction` of
 * the motion. The contact points there are reported within the margin of `settings`, which must not be smaller than
 * the motion; their positions are those on B. False when the shapes do not meet. */
bool rs_sweep(const rs_shape *a, const rs_transform *ta, const rs_shape *b, const rs_transform *tb, rs_vec3 motion,
              double near, const rs_collide_settings *settings, rs_manifold *out, double *fraction);

#endif
