/* Overlap correction on the level of positions: a frictionless problem of its own, solved roughly. */
#ifndef RS_CONTACT_PUSH_OUT_H
#define RS_CONTACT_PUSH_OUT_H

#include "contact.h"

/* Finds the motion that moves the overlapping bodies of one island apart; `pushes` has one entry per body, those of
 * the island's dynamic bodies are written (zero where nothing overlaps). False when nothing overlaps: then nothing
 * is written. */
bool rs_push_out(rs_row *rows, int64_t count, const rs_solver_body *bodies, rs_push_body *pushes);

#endif
