/* The classical Runge-Kutta step of fourth order, without contacts. */
#ifndef RS_DYNAMICS_RUNGE_KUTTA_H
#define RS_DYNAMICS_RUNGE_KUTTA_H

#include "articulated.h"

/* From (a->q, u) to (q_new, u). Uses a->work and a->q_work[1]; q_new must be none of them. */
void rs_runge_kutta_4(rs_articulation *a, rs_vec3 gravity, double dt, double *q_new, double *u);

#endif
