/* Legs, arms and fingers: four revolute links on different branches are placed at once, one in each lane. */
#ifndef RS_DYNAMICS_PLACE_FOUR_H
#define RS_DYNAMICS_PLACE_FOUR_H

#include "articulated.h"

/* Poses, velocities and masses of four links whose parents are placed. */
void rs_place_four(rs_articulation *a, const rs_four_links *four, const double *q, const double *u);

#endif
