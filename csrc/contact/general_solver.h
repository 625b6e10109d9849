/* The solver of islands that hold more than single bodies: links of trees, joint limits, wires, pins. The method is
 * that of contact_solver.h; a row acts on generalised velocities of any size through its Jacobian and its response. */
#ifndef RS_CONTACT_GENERAL_SOLVER_H
#define RS_CONTACT_GENERAL_SOLVER_H

#include "contact.h"
#include "contact_solver.h"

/* What a row does to one object: how its three axes move with the object's generalised velocities, and how those
 * change with impulses along the axes. A row with one impulse uses the third axis only. */
typedef struct {
    double *velocity;  /* `size` numbers; NULL: nothing that moves */
    double *push;      /* the same for the motion that removes overlap */
    rs_quad *jacobian; /* per degree of freedom: velocity of the three axes, and a spare zero */
    double *response;  /* 3 x size, row-major: change of the velocities per unit impulse along each axis */
    int32_t size;
} rs_row_side;

typedef struct {
    rs_row_kind kind;
    rs_row_side sides[2]; /* jacobians count A positive, B negative already */
    double mu;
    rs_vec3 target; /* velocity to reach; the normal one of CONTACT and PUSH may be exceeded */
    double push;     /* normal speed of the motion that removes overlap [m/s]: contacts */
    double softness; /* added to the effective inverse mass: springs, mechanisms that cannot give way [1/kg] */
    rs_sym3 g, g_inverse;
    rs_vec3 impulse;            /* start value and result */
    rs_vec3 change, direction;  /* last sweep; conjugate direction */
    rs_vec3 push_impulse;
} rs_general_row;

/* Fills g and its inverse from the sides. */
void rs_general_row_prepare(rs_general_row *row);

/* Velocity of the row's axes. */
rs_vec3 rs_general_row_velocity(const rs_general_row *row);
/* Changes the velocities of both sides. */
void rs_general_row_apply(const rs_general_row *row, rs_vec3 impulse);

/* Velocities must hold the start values of the impulses already. */
rs_solve_result rs_general_solve(rs_general_row *rows, int64_t count, const rs_solver_settings *settings,
                                 bool backward);

#endif
