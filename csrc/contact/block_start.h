/* Start values for rows with one impulse that hang together in chains: sweeps carry news from one row to the next only,
 * so that a long chain of wires would need thousands of them. */
#ifndef RS_CONTACT_BLOCK_START_H
#define RS_CONTACT_BLOCK_START_H

#include "general_solver.h"

/* Doubles of scratch for `count` rows. */
int64_t rs_block_start_room(int64_t count);

/* Solves rows of kinds PUSH, HOLD and GIVEN among themselves, everything else standing still: a dense factorisation
 * within a guess of which ones act, and a few better guesses. Updates impulses and velocities; the sweeps that follow
 * correct what is left. More rows than it can pay for are left alone. */
void rs_block_start(rs_general_row *rows, int64_t count, double *scratch);

#endif
