/* Rows of the solve that belong to the joints of an articulated system: limits, friction, motors that may reach their
 * effort limits, coupled joints. Between rs_articulated_free_velocity() and rs_articulated_integrate(). */
#ifndef RS_DYNAMICS_JOINT_ROWS_H
#define RS_DYNAMICS_JOINT_ROWS_H

#include "contact_response.h"

/* One scalar row: speed + softness * impulse = target while the impulse is between its bounds. The speed is that of one
 * joint along `along`, or the sum of those of two. */
typedef struct {
    rs_joint_torque torques[2];
    int32_t count;
    const rs_tendon *tendon; /* NULL, or the row acts along it, `sign` times, and not in joints */
    rs_impulse_bounds bounds;
    double target;   /* [rad/s, m/s] */
    double softness; /* [1/(kg m^2), 1/kg] */
    double push;     /* speed of the motion that brings the joint back and leaves no velocity behind [rad/s, m/s] */
    double start;    /* impulse to start from: that of the step before [N m s, N s] */
    double *impulse; /* takes what the row does, times `sign` */
    double sign;
} rs_joint_row;
RS_ARRAY_OF(rs_joint_row);

/* Room for all rows that the system can need in this step. */
int32_t rs_joint_row_capacity(const rs_articulation *a);

/* Whether two rows act in the same joint the same way, so that their entries are the same. */
static inline bool rs_joint_rows_act_alike(const rs_joint_row *a, const rs_joint_row *b) {
    const rs_joint_torque *x = &a->torques[0], *y = &b->torques[0];
    return a->tendon == NULL && b->tendon == NULL && a->count == 1 && b->count == 1 && x->link == y->link &&
           x->along.x == y->along.x && x->along.y == y->along.y && x->along.z == y->along.z;
}
/* Entries of a row; room for u_count. Returns their number. */
int32_t rs_joint_row_response(const rs_articulation *a, const rs_joint_row *row, rs_row_entry *out);

/* ---- tendon_rows.c ---- */

enum { RS_ROWS_PER_TENDON = 4 };

/* Rows of all tendons and drives, as rs_joint_rows(). */
int32_t rs_tendon_rows(rs_articulation *a, double dt, rs_joint_row *out);

/* As rs_joint_rows_missed(). */
bool rs_tendon_rows_missed(rs_articulation *a, const double *u, double dt);

/* Speed that takes back an error: at once what this step has brought, over many steps what was there at its beginning. */
double rs_return_speed(double error, double before, double most, double dt);

/* Rows that may act in this step, seen from a->u_free. The impulses of all joints are zero afterwards: rows add to them.
 * Returns their number.
 *
 * A limit gets a row when the velocity carries the joint to it within a step, or nearly; the target lets it arrive at the
 * next midpoint and no farther. */
int32_t rs_joint_rows(rs_articulation *a, double dt, rs_joint_row *out);

/* After a solve: whether the solved velocities `u` take joints beyond limits for which they had no rows, because others
 * drove them there. They are marked in a->overruns, and get rows when the step is solved again. */
bool rs_joint_rows_missed(rs_articulation *a, const double *u, double dt);

/* Speed of a row at velocities of the system. */
double rs_joint_row_speed(const rs_articulation *a, const rs_joint_row *row, const double *u);

#endif
