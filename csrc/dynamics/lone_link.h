/* A floating tree of one link, without drives, is a rigid body: it takes the body's step, which keeps energy and momentum however fast it
 * turns. The tree around it stays what contacts and readers see. */
#ifndef RS_DYNAMICS_LONE_LINK_H
#define RS_DYNAMICS_LONE_LINK_H

#include "articulated.h"

static inline bool rs_is_lone_link(const rs_articulation *a) {
    return a->link_count == 1 && !a->fixed_base && a->drive_count == 0;
}

/* The stages of rs_articulated_begin(), rs_articulated_free_velocity() and rs_articulated_integrate(): a->q_stage is the
 * midpoint; a->u_ahead the velocity there before anything acts, a->u_free that before contacts; q_new and a->u_free the state at the end. */
void rs_lone_link_midpoint(rs_articulation *a, double dt);
void rs_lone_link_free_velocity(rs_articulation *a, rs_vec3 gravity, double dt);
void rs_lone_link_integrate(rs_articulation *a, double dt, double *q_new);

#endif
