/* The shape x shape table. */
#ifndef RS_COLLISION_NARROW_PHASE_H
#define RS_COLLISION_NARROW_PHASE_H

#include "manifold.h"

/* Contact points of two shapes, normals towards A. Any ordered pair of shapes, except two that can never move
 * (half-space, heightmap against each other), for which nothing is reported. */
void rs_collide(const rs_shape *a, const rs_transform *ta, const rs_shape *b, const rs_transform *tb,
                const rs_collide_settings *settings, rs_manifold *out);

/* What users set, for points closer than `margin` [m]. */
static inline rs_collide_settings rs_collide_settings_of(const rs_contact_settings *settings, double margin) {
    return (rs_collide_settings){.margin = margin,
                                 .max_points = settings->max_contacts_per_pair,
                                 .gjk_max_iterations = settings->gjk_max_iterations,
                                 .gjk_tolerance = settings->gjk_tolerance,
                                 .epa_max_iterations = settings->epa_max_iterations,
                                 .epa_tolerance = settings->epa_tolerance};
}

/* Keeps at most `max_points` of the manifold: the deepest, then those that span the largest area. */
void rs_manifold_reduce(rs_manifold *m, int max_points);

#endif
