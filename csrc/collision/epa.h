/* Penetration depth of two overlapping convex cores: expanding polytope algorithm (van den Bergen 2001). */
#ifndef RS_COLLISION_EPA_H
#define RS_COLLISION_EPA_H

#include "gjk.h"

typedef struct {
    rs_vec3 normal;     /* unit, from B to A */
    double separation;  /* of the cores along the normal: minus the depth [m] */
    bool converged;     /* the depth is as accurate as the settings ask for */
    rs_vec3 on_a, on_b; /* deepest points of the cores */
} rs_epa_result;

/* Starts from the simplex of an overlapping pair. False when rounding left no usable polytope at all. */
bool rs_epa(const rs_core_pair *pair, const rs_simplex *simplex, const rs_collide_settings *settings,
            rs_epa_result *out);

#endif
