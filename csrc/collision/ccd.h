/* Continuous collision detection: the first contact of two moving shapes. */
#ifndef RS_COLLISION_CCD_H
#define RS_COLLISION_CCD_H

#include "collider.h"
#include "narrow_phase.h"

/* A shape and its motion. */
typedef struct {
    const rs_shape *shape;
    const rs_transform *pose;
    const rs_way *way;
    double swing; /* how far turning may move any of its points [m] */
} rs_moving_shape;

/* Moves both to where they first come closer than `near` [m]: `fraction` of their ways. The contact points there are
 * reported within the margin of `settings`, which must not be smaller than the motion. False when the shapes do not
 * meet. `out` holds the contacts at the beginning, or none when they are not known. */
bool rs_sweep(const rs_moving_shape *a, const rs_moving_shape *b, double near, const rs_collide_settings *settings,
              rs_manifold *out, double *fraction);

#endif
