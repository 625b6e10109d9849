/* Legs, arms and fingers: four revolute links on different branches are placed at once, one in each lane. */
#ifndef RS_DYNAMICS_KINEMATICS_SIMD4_H
#define RS_DYNAMICS_KINEMATICS_SIMD4_H

#include "articulated.h"

/* Poses, velocities and masses of four links whose parents are placed. */
void rs_kinematics_simd4(rs_articulation *a, const rs_four_links *four, const double *q, const double *u);

#endif
