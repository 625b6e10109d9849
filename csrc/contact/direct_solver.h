/* Exact solution of an island for a fixed state of its contacts: which are closed, which of them stick. Sweeps move a
 * load one body at a time and stop short of the slow modes of stacks; this does not. */
#ifndef RS_CONTACT_DIRECT_SOLVER_H
#define RS_CONTACT_DIRECT_SOLVER_H

#include "contact.h"
#include "island.h"

/* Memory of the solver, reused from step to step. */
typedef struct {
    rs_array place;      /* int32_t per body of the world: number within the island */
    rs_array links;      /* int32_t: bodies that touch, grouped by body */
    rs_array link_start; /* int32_t per body of the island, and the end */
    rs_array order;      /* int32_t: bodies in the order of elimination */
    rs_array rows;       /* rs_direct_row per closed contact */
    rs_array first;      /* int32_t per scalar row of the matrix: its first column */
    rs_array start;      /* int64_t per scalar row: where column 0 would lie in `matrix` */
    rs_array matrix;     /* double: the part of each row from its first column to the diagonal */
    rs_array rhs;        /* double per scalar row */
} rs_direct_solver;

rs_direct_solver rs_direct_solver_make(void);
void rs_direct_solver_free(rs_direct_solver *solver);

/* Finds the change of the impulses that would solve the island if closed contacts stayed closed, sticking ones stuck
 * and sliding ones slid the same way, and writes it into `former` of the rows. The impulses may leave their cones.
 * False when the island is too large for it to pay, or memory is short: nothing is written then. */
bool rs_direct_solve(rs_direct_solver *solver, rs_row *rows, int64_t count, const rs_island_bodies *members,
                     const rs_solver_body *bodies, int64_t body_count);

#endif
