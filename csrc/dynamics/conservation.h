/* What a step of an articulated system must keep whatever its velocity products were: momentum and energy. */
#ifndef RS_DYNAMICS_CONSERVATION_H
#define RS_DYNAMICS_CONSERVATION_H

#include "articulated.h"

/* How far the fastest link of the placed system turns in a step [rad]. */
double rs_turn_per_step(const rs_articulation *a, double dt);

/* What is to happen to the energy. */
typedef enum {
    RS_ENERGY_FREE,   /* nothing */
    RS_ENERGY_KEPT,   /* it is what it was plus the work of the step */
    RS_ENERGY_BOUNDED /* it is not more than that, within the error of a step that turns so far */
} rs_energy_rule;

/* Corrects a->u_free, the velocity at the end of a midpoint step that leads from (a->q, a->u) over a->q_stage to q_new;
 * `solved` is the velocity that the impulses of the step gave it.
 *
 * The step balances impulses at the midpoint; carried to the end by finite rotations, momentum would be off by a third
 * power of dt, and by a first power times a blow. A floating system gets the momentum that the impulses of the step give it,
 * exactly: all its links move as one rigid body by what is missing. For the energy the motion within the system is scaled.
 * The centre of mass goes where the momentum takes it: q_new is moved there. */
void rs_conserve(rs_articulation *a, rs_vec3 gravity, double dt, const double *solved, double *q_new, rs_energy_rule rule);

#endif
