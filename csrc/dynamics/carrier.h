/* What carries a collider, the end of a wire or a sensor: a single body, or a link of an articulated system. `link` is 0 for
 * a single body. */
#ifndef RS_DYNAMICS_CARRIER_H
#define RS_DYNAMICS_CARRIER_H

#include "articulated.h"
#include "rigid_body.h"

/* How many there are in an object: its links, or one. */
int32_t rs_carrier_count(const rs_body *body);
double rs_carrier_mass(const rs_body *body, int32_t link);
/* About the centre of mass, in its own axes [kg m^2]. */
rs_sym3 rs_carrier_inertia(const rs_body *body, int32_t link);
/* Centre of mass in its own frame. */
rs_vec3 rs_carrier_com(const rs_body *body, int32_t link);
/* How many velocities impulses change: those of the whole articulated system, or the six of a body. */
int32_t rs_carrier_velocity_count(const rs_body *body);
/* Velocity of its origin, or of a body's centre of mass, and its angular velocity. */
rs_pair6 rs_carrier_twist(const rs_body *body, int32_t link);
/* Velocity of the centre of mass of a body, or of the base link of an articulated system. */
rs_vec3 rs_carrier_base_velocity(const rs_body *body);
/* Frame at the present state; of a link, where it was placed last. */
rs_transform rs_carrier_pose(const rs_body *body, int32_t link);
/* Frame at the midpoint of the step; of a link, where it was placed last. */
rs_transform rs_carrier_middle(const rs_body *body, int32_t link);
/* Whether forces move it: a dynamic body, or a link that is not a fixed base. */
bool rs_carrier_is_dynamic(const rs_body *body, int32_t link);

/* The load until further notice. */
void rs_carrier_command(rs_body *body, int32_t link, rs_pair6 wrench);
/* Loads of this step alone, on the body or on all links. */
void rs_carrier_clear_loads(rs_body *body);
/* Nothing acts on it any more, nor counts as having acted. */
void rs_carrier_unload(rs_body *body);
/* The object loses its velocities. */
void rs_carrier_rest(rs_body *body, double dt);
/* It loses what drives it, too. */
void rs_carrier_stop(rs_body *body, double dt);
/* Whether double precision can carry where the first half of a step leads. */
bool rs_carrier_middle_is_carried(const rs_body *body);

#endif
