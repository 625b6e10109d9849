/* What the contact solver needs of an articulated system between rs_articulated_free_velocity() and
 * rs_articulated_integrate(): how points move with the generalised velocities, how impulses change those, and the rows
 * of joints at their limits. All refer to the placed configuration and the factorisation of this step. */
#ifndef RS_DYNAMICS_CONTACT_RESPONSE_H
#define RS_DYNAMICS_CONTACT_RESPONSE_H

#include "articulated.h"

/* One degree of freedom in the Jacobian of a contact: velocity of the point along the three axes of the contact frame
 * per unit of the degree of freedom. */
typedef struct {
    int32_t index;
    double along[3];
} rs_contact_column;

/* Columns that are not zero, ascending, for a point (world frame) of a link; room for u_count. Returns their number. */
int32_t rs_contact_jacobian(const rs_articulation *a, int32_t link, rs_vec3 point, const rs_vec3 axes[3],
                            rs_contact_column *out);

/* Change of all generalised velocities per unit impulse on the point along each axis: (M + W)^-1 * J'. Four numbers
 * per degree of freedom, the fourth is zero; `out` is 32-byte aligned. */
void rs_contact_response(rs_articulation *a, int32_t link, rs_vec3 point, const rs_vec3 axes[3], double *out);

typedef enum { RS_ROW_LIMIT, RS_ROW_VELOCITY_LIMIT, RS_ROW_FRICTION } rs_joint_row_kind;

/* One scalar row of a joint: speed = sum over k of direction[k] * u[first + k] must reach `target`. Limits push only
 * (impulse >= 0, complementary to speed - target); friction holds with |impulse| <= max_impulse and target 0. */
typedef struct {
    rs_joint_row_kind kind;
    int32_t link;
    int32_t first, count; /* degrees of freedom: 1, or 3 of a spherical joint */
    double direction[3];
    double target;      /* [rad/s, m/s] */
    double violation;   /* how far the joint is beyond its limit at the placed configuration, or 0 [rad, m] */
    double max_impulse; /* [N m s, N s] */
} rs_joint_row;

/* Largest number of rows: two per degree of freedom. */
static inline int32_t rs_joint_row_capacity(const rs_articulation *a) { return 2 * a->u_count; }

/* Rows that may act in this step, seen from a->u_free. A limit is met when the velocity carries the joint to it, or
 * nearly, within a step; the target lets it arrive there and no farther. Returns their number. */
int32_t rs_joint_rows(const rs_articulation *a, double dt, rs_joint_row *out);

/* Change of all generalised velocities per unit impulse of a row; u_count numbers. */
void rs_joint_response(rs_articulation *a, const rs_joint_row *row, double *out);

#endif
