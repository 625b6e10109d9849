/* A fluid that fills the world, still or in a steady wind: it slows down whatever moves through it. Each body and link counts as
 * the box that has its mass and inertia, as in MuJoCo's model by inertia: along each axis of the box drag with the speed
 * (viscosity, of a ball of the mean size) and with its square (density, on the sides that face the motion), likewise against
 * turning. There is no lift, and nothing floats: see the gravity compensation of links. */
#ifndef RS_DYNAMICS_FLUID_H
#define RS_DYNAMICS_FLUID_H

#include "articulated.h"
#include "rigid_body.h"

static inline bool rs_fluid_acts(const rs_fluid *fluid) { return fluid->density > 0.0 || fluid->viscosity > 0.0; }

/* The free velocity of a dynamic body, which `solver` has, becomes that with drag: of the mean velocity in the step. */
void rs_fluid_slow_body(const rs_fluid *fluid, const rs_body *body, double dt, rs_solver_body *solver);
/* Adds drag to the loads on the links, after rs_articulated_begin(). No link loses more than the momentum that it has itself, so
 * that together they lose no more than theirs. */
void rs_fluid_load_links(const rs_fluid *fluid, rs_articulation *a, double dt);

#endif
