/* Rows of islands that hold articulated systems, wires or friction against turning: contacts of links and bodies and their
 * rolling and spinning friction, wires, joint limits, joint friction and motors, pins. A row acts on any number of velocities
 * through its entries. */
#ifndef RS_CONTACT_ROWS_TREE_H
#define RS_CONTACT_ROWS_TREE_H

#include "../dynamics/joint_rows.h"
#include "contact_problem.h"
#include "island.h"
#include "row.h"
#include "wire.h"

/* What a row does to one object. A row with one impulse uses the third axis only. */
typedef struct {
    double *velocity;      /* of the object, or its change by impulses; NULL: nothing that moves */
    double *push;          /* the same for the motion that removes overlap */
    rs_row_entry *entries; /* those velocities that the row has to do with */
    int32_t size;
    int32_t object;        /* number within the island */
} rs_row_side;

typedef struct {
    rs_law law;
    rs_row_side sides[2]; /* the entries count A positive, B negative already */
    rs_vec3 given;        /* relative velocity that the sides do not hold: of trees without impulses, of moving bodies */
    rs_sym3 g, g_inverse; /* effective inverse mass with the softness */
    rs_vec3 closing;      /* of a pin: the way that closes its gap, unit or zero */
    double push_softness; /* of a contact in the motion that removes overlap [1/kg] */
} rs_tree_row;
RS_ARRAY_OF(rs_tree_row);

/* One object of the island. */
typedef struct {
    rs_articulation *tree; /* or NULL: a single body, */
    int32_t body;          /* index into the world's bodies */
    double *velocity;      /* of the single body: v, w; the same without impulses; of its push-out motion */
} rs_tree_object;
RS_ARRAY_OF(rs_tree_object);

/* Where the impulse of a row comes from and goes to. */
typedef struct {
    rs_touch *self;  /* contact of two links of one tree, or NULL */
    rs_vec3 *vector; /* of a contact or pin, scale * the row's; or NULL: */
    double *impulse; /* of a wire or joint, to which scale * the row's is added; zero before */
    double scale;
    rs_wire *wire;   /* or NULL */
} rs_row_source;
RS_ARRAY_OF(rs_row_source);

/* Memory of one island, reused from island to island. */
typedef struct {
    rs_rows rows;      /* of rs_tree_row */
    RS_ARRAY(rs_tree_row) list;
    RS_ARRAY(rs_row_source) sources; /* where the results go */
    RS_ARRAY(double) numbers;        /* entries of rows and velocities of single bodies; never grows while rows are made */
    RS_ARRAY(rs_tree_object) objects;
    RS_ARRAY(int32_t) places;      /* per body of the world: its number among the objects */
    RS_ARRAY(rs_joint_row) joints; /* of one articulated system */
    int64_t used;                  /* of `numbers` */
    bool wired;                    /* with a stiff wire */
    bool released;                 /* no impulse acts: the velocities of trees, which are changes by impulses, are zero */
    const rs_solver_body *solver_bodies;
} rs_tree_rows;

void rs_tree_rows_free(rs_tree_rows *rows);

typedef struct {
    rs_problem_input common;
    rs_body *bodies;
    int64_t body_count;
    rs_touch *touches;
    rs_wire *wires;
    const rs_islands *islands;
    rs_solver_body *solver_bodies;
    rs_push_body *pushes;
} rs_tree_input;

/* rows_tree_layout.c: how such rows act on velocities. */
const rs_row_layout *rs_tree_layout(void);

/* Makes the rows of an island; impulses start from those of the last step. */
rs_status rs_tree_rows_fill(rs_tree_rows *rows, const rs_tree_input *input, const rs_island *island);
/* After a solve: whether wires pull other than the rows across them assume. Then the rows are to be made and solved again, from
 * these impulses. */
bool rs_tree_rows_tightened(const rs_tree_input *input, const rs_island *island);
/* rows_tree_tension.c: before the forces, what contacts and wires pulled at trees in the last solve. */
void rs_tree_tension_gather(const rs_tree_input *input, const rs_island *island);
/* After a solve: whether they pull other than the trees' inertia assumes. Then those have new free velocities, and as above. */
bool rs_tree_tension_follow(const rs_tree_input *input, const rs_island *island, rs_vec3 gravity);
/* After that: wires take the direction in which they pull at the mean of the step. True when some have turned: then once
 * more, and no wire gives energy. */
bool rs_tree_rows_turn_wires(const rs_tree_rows *rows, const rs_tree_input *input, const rs_island *island, double share);
/* After the last solve: the motion that takes back stretch is shortened while half of it takes back more. Wires and bodies turn
 * on the way, and many short wires in a row would be stretched farther by all of it. */
void rs_tree_rows_shorten_push(const rs_tree_rows *rows, const rs_tree_input *input, const rs_island *island);
/* Writes the impulses back to where they belong. True when joints without rows for their limits would pass them: then the
 * rows are to be made and solved again, from these impulses. */
bool rs_tree_rows_store(rs_tree_rows *rows, double dt);
/* After that writes velocities and, with `pushed`, the motion that removes overlap back. */
void rs_tree_rows_write_back(rs_tree_rows *rows, const rs_tree_input *input, bool pushed);

/* Speed of the axes that belongs to velocities of one side (its `velocity` or its `push`). */
static inline rs_v4 rs_row_side_speed(const rs_row_side *side, const double *velocity) {
    rs_v4 v = rs_v4_all(0.0);
    for (int32_t k = 0; k < side->size; k++)
        v += rs_v4_load(&side->entries[k].jacobian) * rs_v4_all(velocity[side->entries[k].index]);
    return v;
}
/* Changes velocities of one side by an impulse. */
static inline void rs_row_side_apply(const rs_row_side *side, rs_vec3 p, double *velocity) {
    for (int32_t k = 0; k < side->size; k++)
        velocity[side->entries[k].index] += rs_dot(p, side->entries[k].response);
}

#endif
