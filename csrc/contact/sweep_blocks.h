/* Contacts of an island of single bodies, four at a time for the sweeps: rows of a block share no body that moves, so that each
 * lane solves its own contact, and blocks of one colour share none either.
 *
 * Between the first sweep and the last one of a round, impulses and changes of velocity lie here. Changes are scaled by the root
 * of the inertia: what an impulse does to a body and what the body does to the row is the same matrix then. */
#ifndef RS_CONTACT_SWEEP_BLOCKS_H
#define RS_CONTACT_SWEEP_BLOCKS_H

#include "../base/thread_pool.h"
#include "rows_body.h"

enum { RS_SWEEP_COLORS = 64 }; /* rows of the last one share bodies: each has a block of its own */

typedef struct sweep_block sweep_block;
typedef struct sweep_body sweep_body;
typedef struct body_root body_root;
typedef struct part_result part_result;
RS_ARRAY_OF(sweep_block);
RS_ARRAY_OF(sweep_body);
RS_ARRAY_OF(body_root);
RS_ARRAY_OF(part_result);

/* Blocks in the order of their colours. */
typedef struct {
    RS_ARRAY(sweep_block) blocks;
    int64_t first[RS_SWEEP_COLORS + 1];  /* of each colour, and the number of all */
} rs_block_set;

/* Scratch of a thread. */
typedef struct rs_sweep_blocks {
    rs_block_set all, busy; /* `busy`: copies of the rows that the next sweep visits */
    RS_ARRAY(sweep_body) bodies, former; /* per body of the island and one that stands still: now, and after the sweep before */
    RS_ARRAY(body_root) roots; /* per body of the island */
    RS_ARRAY(uint64_t) used; /* likewise, and for what stands still: colours of its rows */
    RS_ARRAY(int32_t) colors; /* per row */
    RS_ARRAY(part_result) parts; /* of the sweep */
    rs_thread_pool *pool; /* shares the blocks of a colour; NULL: this thread does all. Bits do not depend on it */
} rs_sweep_blocks;

void rs_sweep_blocks_free(rs_sweep_blocks *at);

/* Colours the rows of an island and packs them. */
rs_status rs_sweep_blocks_fill(rs_sweep_blocks *at, const rs_body_rows *rows);
/* A round begins: takes over impulses, and the errors of the last look. */
void rs_sweep_blocks_begin(rs_sweep_blocks *at, const rs_body_rows *rows);
/* One sweep as in rs_row_layout. */
rs_sweep_result rs_sweep_blocks_sweep(rs_sweep_blocks *at, double momentum, bool backward, double quiet);
/* A round ends: impulses and velocities go back to rows and bodies. */
void rs_sweep_blocks_end(rs_sweep_blocks *at, const rs_body_rows *rows);

#endif
