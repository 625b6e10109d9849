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
 * compliance around the present impulses: the more compliant, the easier to follow and the less it changes.
 *
 * An arc leads from a large compliance, where there is one solution, to none; it may turn back on its way.
 *
 * The interior-point method approaches the laws from inside the cones and bounds of all rows at once. */
#ifndef RS_CONTACT_NEWTON_H
#define RS_CONTACT_NEWTON_H

#include "../base/memory.h"
#include "row.h"

typedef struct rs_newton_row rs_newton_row;
RS_ARRAY_OF(rs_newton_row);
typedef struct rs_cones rs_cones;
RS_ARRAY_OF(rs_cones);
typedef struct rs_bound rs_bound;
RS_ARRAY_OF(rs_bound);
typedef struct rs_tie rs_tie;
RS_ARRAY_OF(rs_tie);

/* Memory, reused from step to step. */
typedef struct {
    RS_ARRAY(rs_newton_row) rows; /* one for each row of the island */
    RS_ARRAY(rs_quad) columns;    /* Jacobians; never grows while rows are made */
    RS_ARRAY(int32_t) indices;    /* of the Jacobians */
    RS_ARRAY(int32_t) links;      /* objects that share rows, grouped by object */
    RS_ARRAY(int32_t) link_start; /* per object, and the end */
    RS_ARRAY(int32_t) order;      /* objects in the order of elimination */
    RS_ARRAY(int32_t) spans;      /* per object: its number of velocities */
    RS_ARRAY(int32_t) offset;     /* per object: its first velocity in that order */
    RS_ARRAY(int32_t) first;      /* per velocity: first column of its row of the matrix */
    RS_ARRAY(int32_t) pivots;     /* newton_small.c */
    RS_ARRAY(int64_t) start;      /* per velocity: where column 0 would lie in `matrix` */
    RS_ARRAY(double) matrix;      /* each row from its first column to the diagonal; of small islands as in newton_small.c; or blocks */
    RS_ARRAY(uint64_t) near;      /* bits for the objects that each one is linked to, on the way to the order */
    RS_ARRAY(int32_t) column;     /* the blocks of each column, in order: the object of its row, the diagonal first */
    RS_ARRAY(int32_t) column_start, column_of; /* the first block of each column and the end; the column of each block */
    RS_ARRAY(int32_t) row_start, row_blocks;   /* likewise the blocks of each row, without the diagonal */
    RS_ARRAY(double) axes;        /* Jacobians by axis, for blocks */
    RS_ARRAY(double) inertias;    /* of a matrix that is kept whole: itself without any row */
    RS_ARRAY(double) bands;       /* inertias of the objects, base/band.h */
    RS_ARRAY(double) block;       /* weighted Jacobian of a row */
    RS_ARRAY(double) vectors;     /* velocities */
    RS_ARRAY(double) loads;       /* of sliding rows, and velocities */
    RS_ARRAY(double) few;         /* what unit loads of a few sliding rows do */
    RS_ARRAY(rs_cones) cones;     /* of the interior-point method, with what follows: newton_interior.h */
    RS_ARRAY(rs_bound) bounds;
    RS_ARRAY(rs_tie) ties;
    int64_t contacts, bound_ends; /* that have products */
    double turning_lifts;         /* how much of the turning of lifts its next step counts on */
    bool bent_lifts;              /* lifts are those of the slips all along a direction, not only at its beginning */
    double interior_left;         /* the least violation so far */
    int64_t profile;              /* entries of the matrix */
    bool in_blocks;               /* single bodies only: newton_blocks.c; otherwise the matrix has a profile, or is small */
    bool dense;                   /* `inertias` are those of the island */
    bool skew;                    /* the matrix is not symmetric: in blocks, friction that follows loads is part of it then */
    int32_t sign;                 /* of the determinant of the matrix with what follows loads, or 0: not known */
    bool asks_for_sign;           /* it costs more where many rows slide on robots */
    int32_t size;                 /* velocities of the island */
    int32_t stride;               /* of small islands: from row to row of the matrix */
    int32_t widest;               /* most velocities of an object */
    int32_t sliding;              /* rows whose friction follows their load */
    int32_t changes;              /* rows whose state is not that of the factorisation before */
    double compliance;            /* of held rows relative to their inverse mass */
    double shear;                 /* how much more compliant friction is than what pushes */
} rs_newton;

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

/* Follows the arc from the one compliance to the other as far as it gets with so many factorisations, and writes the step of every
 * row. Returns their number. */
int rs_newton_follow_arc(rs_newton *newton, const rs_rows *rows, double compliance, double end, int most);

/* The interior-point method, for islands that it fits. It begins near the present impulses, whose steps have to be taken and looked
 * at; takes over what a look has found; goes on by a step, and tells about how much violation is left [m/s] and how much of its
 * direction it could go, 0 where there is none; and writes the steps of the rows to the best impulses so far. `bent_lifts`: as in
 * rs_newton. */
bool rs_newton_interior_fits(const rs_newton *newton, const rs_rows *rows);
bool rs_newton_interior_begin(rs_newton *newton, const rs_rows *rows, bool bent_lifts);
void rs_newton_interior_look(rs_newton *newton, const rs_rows *rows);
double rs_newton_interior_step(rs_newton *newton, double *left);
void rs_newton_interior_take(const rs_newton *newton, const rs_rows *rows);

#endif
