/* The shape x shape table. */
#ifndef RS_COLLISION_NARROW_PHASE_H
#define RS_COLLISION_NARROW_PHASE_H

#include "manifold.h"

/* Contact points of two shapes, normals towards A. Any ordered pair of shapes, except two that can never move
 * (half-space, heightmap against each other), for which nothing is reported. */
void rs_collide(const rs_shape *a, const rs_transform *ta, const rs_shape *b, const rs_transform *tb,
                const rs_collide_settings *settings, rs_manifold *out);

/* Keeps at most `max_points` of the manifold: the deepest, then those that span the largest area. */
void rs_manifold_reduce(rs_manifold *m, int max_points);

#endif
