/* Overlap correction on the level of positions for islands of the general solver: push_out.h is the same for single
 * bodies. */
#ifndef RS_CONTACT_GENERAL_PUSH_H
#define RS_CONTACT_GENERAL_PUSH_H

#include "general_solver.h"

/* Adds the motion that moves overlapping objects apart to the `push` of the rows' sides, which must be zero before. The
 * rows' laws stay kept: limits, pins and wires give way no more than contacts do. False when nothing overlaps. */
bool rs_general_push_out(rs_general_row *rows, int64_t count);

#endif
