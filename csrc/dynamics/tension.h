/* What is taut resists turning: forces along a chain of links pull them back into line, the harder the tighter it is. Seen at
 * the midpoint alone that is a spring without any damping, and a heavy load on light links would shake them to pieces. The end
 * of the step must count, too: links that are too light for what pulls at them get inertia, as joints do for stiff springs. */
#ifndef RS_DYNAMICS_TENSION_H
#define RS_DYNAMICS_TENSION_H

#include "articulated.h"

/* Forgets what contacts and wires pull. */
void rs_tension_begin(rs_articulation *a);
/* A contact or wire pulls at a link: force at a point of it, world frame. */
void rs_tension_add(rs_articulation *a, int32_t link, rs_vec3 point, rs_vec3 force);
/* Between rs_rnea_wrenches(), which leaves what acts on the links alone in a->force, and the factorisation: the inertia that
 * links get, and the forces against oscillations that the step cannot resolve. */
void rs_tension_find(rs_articulation *a, rs_vec3 gravity, double dt);
/* After a solve, with what contacts and wires pull now: whether links get other inertia than they had. Then
 * rs_articulated_free_again() and once more. */
bool rs_tension_changed(rs_articulation *a, double dt);

#endif
