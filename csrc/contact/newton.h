/* Newton's method for an island in the space of its velocities. Sweeps move a load one object at a time and stop short
 * of the slow modes of stacks, chains and grasps; this does not. J: Jacobian of the rows, M: inertia.
 *
 * Exact steps take as given which rows are open, held or sliding, and find the velocities that go with that at once for all
 * of them: (M + J' K J) * change of velocity = J' * (what the rows ask for - what they have), where K is the stiffness
 * 1 / compliance that a held row is given in place of its constraint. Redundant rows share their load: of all impulses that
 * hold, those of least norm (weighted by inverse mass) result, where friction may count more than what pushes: loads rest on
 * what lies under them, not on what touches their sides. They converge fast, near the solution.
 *
 * A descent always converges, to the solution of a convex problem: least |v - v_free|^2_M / 2 + the Moreau envelopes of the
 * rows' laws, as if all contacts stuck.
 *
 * A path leads from the problem that the present impulses solve exactly to the one that is asked, under Coulomb's law with a
 * compliance around the present impulses: the more compliant, the easier to follow and the less it changes. */
#ifndef RS_CONTACT_NEWTON_H
#define RS_CONTACT_NEWTON_H

#include "../base/memory.h"
#include "row.h"

/* Memory, reused from step to step. */
typedef struct {
    rs_array rows;       /* newton_row, one for each row of the island */
    rs_array columns;    /* rs_quad: Jacobians; never grows while rows are made */
    rs_array indices;    /* int32_t: of the Jacobians */
    rs_array links;      /* int32_t: objects that share rows, grouped by object */
    rs_array link_start; /* int32_t per object, and the end */
    rs_array order;      /* int32_t: objects in the order of elimination */
    rs_array spans;      /* int32_t per object: its number of velocities */
    rs_array offset;     /* int32_t per object: its first velocity in that order */
    rs_array first;      /* int32_t per velocity: first column of its row of the matrix */
    rs_array start;      /* int64_t per velocity: where column 0 would lie in `matrix` */
    rs_array matrix;     /* double: each row from its first column to the diagonal; or blocks */
    rs_array near;       /* uint64_t: bits for the objects that each one is linked to, on the way to the order */
    rs_array column;     /* int32_t: the blocks of each column, in order: the object of its row, the diagonal first */
    rs_array column_start, column_of;  /* int32_t: the first block of each column and the end; the column of each block */
    rs_array row_start, row_blocks;    /* int32_t: likewise the blocks of each row, without the diagonal */
    rs_array axes;       /* double: Jacobians by axis, for blocks */
    rs_array bands;      /* double: inertias of the objects, base/band.h */
    rs_array block;      /* double: weighted Jacobian of a row */
    rs_array vectors;    /* double: velocities */
    rs_array loads;      /* double: of sliding rows, and velocities */
    rs_array few;        /* double: what unit loads of a few sliding rows do */
    int64_t profile;     /* entries of the matrix */
    bool in_blocks;      /* single bodies only: newton_blocks.c; otherwise the matrix has a profile */
    int32_t size;        /* velocities of the island */
    bool skew;           /* blocks: friction that follows loads is part of the matrix, which is not symmetric then */
    int32_t widest;      /* most velocities of an object */
    int32_t sliding;     /* rows whose friction follows their load */
    int32_t changes;     /* rows whose state is not that of the factorisation before */
    double compliance;   /* of held rows relative to their inverse mass */
    double shear;        /* how much more compliant friction is than what pushes */
} rs_newton;

rs_newton rs_newton_make(void);
void rs_newton_free(rs_newton *newton);

/* Takes over the Jacobians of an island. Returns the multiplications that a factorisation takes, negative when memory is
 * short; where that is more than `most`, no step can be taken. */
double rs_newton_begin(rs_newton *newton, const rs_rows *rows, double most);

/* Exact steps: factorises for the present states of the rows (rs_law.error must be up to date). `shear`: how much more
 * compliant friction is; `touching`: as in rs_law_state(). False when the matrix is not positive definite. */
bool rs_newton_factorise(rs_newton *newton, const rs_rows *rows, double compliance, double shear, double touching);
/* Writes the step of every row that leads to the solution for the states of the factorisation, put back to what its law
 * allows. Of impulses that are not determined, those nearest to `kept` times the present ones are taken: the least for 0. */
void rs_newton_step(rs_newton *newton, const rs_rows *rows, double kept);

/* A descent from the present velocities to impulses that share the load evenly. Writes the step of every row. Returns the
 * number of factorisations. */
int rs_newton_descend(rs_newton *newton, const rs_rows *rows, double compliance);

/* Follows the path as far as it gets, and writes the step of every row. The law's errors must be up to date. */
typedef struct {
    int used;       /* factorisations */
    double reached; /* share of the way: at 1 the laws are obeyed but for the compliance */
} rs_newton_path;
rs_newton_path rs_newton_follow_path(rs_newton *newton, const rs_rows *rows, double compliance);

#endif
