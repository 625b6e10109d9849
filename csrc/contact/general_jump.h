/* Exact solution of a small island for a fixed state of its rows: which contacts are closed, which of them stick, which
 * limits and brakes hold. Sweeps stop short of the slow modes, where several contacts of one object hold it twice: a
 * wheel creeps, loads are shared unevenly, brakes slip. This does not. */
#ifndef RS_CONTACT_GENERAL_JUMP_H
#define RS_CONTACT_GENERAL_JUMP_H

#include "general_solver.h"

/* Moves the impulses towards that solution (one step of Newton's method where contacts slide), put back to where the rows'
 * laws allow them, as far as the energy falls, and the velocities with them. The impulses tell the state. Returns the share of the way;
 * negative when the island is too large for it to pay, or there is no solution: nothing has changed then. */
double rs_general_jump_take(rs_general_jump *jump, rs_general_row *rows, int64_t count);

#endif
