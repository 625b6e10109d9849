/* What the contact solver needs of an articulated system between rs_articulated_free_velocity() and
 * rs_articulated_integrate(): how points move with the velocities, how impulses change those, and the rows of joints at
 * their limits. All refer to the placed configuration and the factorisation of this step.
 *
 * Impulses act on the reduced velocities of rs_aba_spread(). There the inverse inertia is diagonal, and a row touches only
 * the joints on the way from its links to the root: M^-1 = L'^-1 * D^-1 * L^-1, so with Y = L^-1 * J' the velocity of a row
 * is Y' * s, and its impulse p changes s by D^-1 * Y * p. */
#ifndef RS_DYNAMICS_CONTACT_RESPONSE_H
#define RS_DYNAMICS_CONTACT_RESPONSE_H

#include "../base/simd4.h"
#include "articulated.h"

/* One velocity that a row with up to three axes has to do with. The fourth numbers are zero. */
typedef struct {
    rs_quad jacobian; /* velocity of the axes per unit of it */
    rs_quad response; /* its change per unit impulse along each axis */
    int32_t index;    /* its place in the list of velocities */
} rs_row_entry;

/* A point of a link, world frame. */
typedef struct {
    int32_t link;
    rs_vec3 point;
    rs_vec3 axes[3]; /* of the row, with the sign of the impulse on this point */
} rs_row_point;

/* Before points get rows: velocities of the links before the step and at a->u_free. */
void rs_response_begin(rs_articulation *a);
/* After the solve: a->u_free takes over what a->reduced stands for, which is zero again. With `pushed` a->u_push was
 * reduced, too, and becomes a generalised velocity. */
void rs_response_end(rs_articulation *a, bool pushed);

/* Inertia of the reduced velocities: lower triangle of a zeroed matrix, u_count x u_count. It is diagonal but for blocks. */
void rs_response_inertia(const rs_articulation *a, double *out);

/* Velocity of a point at a->u_free along its axes. */
rs_vec3 rs_free_velocity_along(const rs_articulation *a, const rs_row_point *at);

/* Entries of a row that acts on one or two points of the system; room for u_count. Returns their number. */
int32_t rs_point_response(const rs_articulation *a, const rs_row_point *points, int32_t count, rs_row_entry *out);

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

/* Entries of a joint's row, which acts along the third axis. Returns their number. */
int32_t rs_joint_response(const rs_articulation *a, const rs_joint_row *row, rs_row_entry *out);

#endif
