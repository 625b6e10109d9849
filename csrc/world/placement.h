/* Where colliders are in this step, and how far they may get: at the midpoint stage. */
#ifndef RS_WORLD_PLACEMENT_H
#define RS_WORLD_PLACEMENT_H

#include "world.h"

/* Contacts are foreseen for surfaces that may meet within the step, but not farther ahead than this share of the
 * smaller half extent: beyond that a fast body passing an edge would be held by a contact that never happens. Swept
 * collision detection looks farther, along the way that the body takes. */
static const double RS_FORESIGHT = 0.5;

/* What carries a collider: a single body or a link. */
typedef struct {
    rs_transform pose;
    rs_vec3 centre;          /* of mass, world frame */
    rs_vec3 velocity, omega; /* velocity of the centre of mass */
    double time;             /* until the next midpoint [s] */
} rs_carrier_motion;

void rs_place_collider(rs_collider *collider, const rs_carrier_motion *by, const rs_world_data *data);

#endif
