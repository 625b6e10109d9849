/* The solver of islands that hold more than single bodies: links of trees, joint limits, wires, pins. The method is
 * that of contact_solver.h; a row acts on any number of velocities through its entries. */
#ifndef RS_CONTACT_GENERAL_SOLVER_H
#define RS_CONTACT_GENERAL_SOLVER_H

#include "../dynamics/contact_response.h"
#include "contact.h"
#include "contact_solver.h"

/* What a row does to one object. A scalar row uses the third axis only. */
typedef struct {
    double *velocity;      /* of the object, or its change by impulses; NULL: nothing that moves */
    double *push;          /* the same for the motion that removes overlap */
    rs_row_entry *entries; /* those velocities that the row has to do with */
    int32_t size;
} rs_row_side;

typedef struct {
    rs_row_kind kind;
    rs_row_side sides[2]; /* the entries count A positive, B negative already */
    double mu;                /* CONTACT */
    rs_impulse_bounds bounds; /* SCALAR */
    rs_vec3 target; /* velocity to reach, without what the sides do not hold; the normal one of CONTACT may be exceeded */
    double push;     /* speed of the motion that removes overlap [m/s], or brings a joint back [rad/s, m/s] */
    double softness; /* added to the effective inverse mass: springs, mechanisms that cannot give way [1/kg] */
    rs_sym3 g, g_inverse;
    rs_vec3 impulse;            /* start value and result */
    rs_vec3 change, direction;  /* last sweep; conjugate direction */
    rs_vec3 way;                /* of a jump: general_jump.c */
    rs_vec3 push_impulse;
} rs_general_row;

/* Fills g and its inverse from the sides. */
void rs_general_row_prepare(rs_general_row *row);

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
        velocity[side->entries[k].index] += rs_dot(p, side->entries[k].response.xyz);
}

/* Velocity of the row's axes. */
static inline rs_vec3 rs_general_row_velocity(const rs_general_row *row) {
    rs_v4 v = rs_row_side_speed(&row->sides[0], row->sides[0].velocity) +
              rs_row_side_speed(&row->sides[1], row->sides[1].velocity);
    return rs_v3(v[0], v[1], v[2]);
}
/* Changes the velocities of both sides. */
static inline void rs_general_row_apply(const rs_general_row *row, rs_vec3 impulse) {
    rs_row_side_apply(&row->sides[0], impulse, row->sides[0].velocity);
    rs_row_side_apply(&row->sides[1], impulse, row->sides[1].velocity);
}

/* Velocity of the axes of `of` per unit impulse along those of `by`; two different rows. */
rs_mat3 rs_general_row_coupling(const rs_general_row *of, const rs_general_row *by);

/* Memory of general_jump.h, reused from step to step. */
typedef struct {
    rs_array unknowns;
    rs_array matrix; /* double */
} rs_general_jump;
rs_general_jump rs_general_jump_make(void);
void rs_general_jump_free(rs_general_jump *jump);

/* Velocities must hold the start values of the impulses already. */
rs_solve_result rs_general_solve(rs_general_row *rows, int64_t count, const rs_solver_settings *settings, bool backward,
                                 rs_general_jump *jump);

#endif
