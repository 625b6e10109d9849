/* Overlaps, and joints beyond their limits, are removed by a motion of its own: it moves objects within the step and
 * leaves no velocity behind. Pushed into the velocities it would heat up every stack. */
#ifndef RS_CONTACT_POSITION_CORRECTION_H
#define RS_CONTACT_POSITION_CORRECTION_H

#include "row.h"

/* Finds the motion for the rows' `push`. False when nothing overlaps; the motion is not touched then. */
bool rs_positions_correct(rs_rows *rows);

#endif
