/* Any two convex shapes through their support functions. */
#ifndef RS_COLLISION_COLLIDE_CONVEX_H
#define RS_COLLISION_COLLIDE_CONVEX_H

#include "clip_feature.h"

/* Closest points of two cores, or the shortest way out when they overlap. False when the surfaces are at least
 * settings->margin apart. */
bool rs_convex_query(const rs_core_pair *pair, const rs_collide_settings *settings, rs_convex_contact *out);

/* The pair test for any two shapes with a support function. */
rs_collide_fn rs_collide_convex_convex;

#endif
