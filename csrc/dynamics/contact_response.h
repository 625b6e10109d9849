/* What the contact solver needs of an articulated system between rs_articulated_free_velocity() and
 * rs_articulated_integrate(): how points and joints move with the velocities, and how impulses change those. All refer to
 * the placed configuration and the factorisation of this step.
 *
 * Impulses act on the reduced velocities of rs_aba_spread(). There the inverse inertia is diagonal, and a row touches only
 * the joints on the way from its links to the root: M^-1 = L'^-1 * D^-1 * L^-1, so with Y = L^-1 * J' the velocity of a row
 * is Y' * s, and its impulse p changes s by D^-1 * Y * p. */
#ifndef RS_DYNAMICS_CONTACT_RESPONSE_H
#define RS_DYNAMICS_CONTACT_RESPONSE_H

#include "../base/simd4.h"
#include "articulated.h"

/* One velocity that a row with up to three axes has to do with: a line of the cache. */
typedef struct {
    rs_quad jacobian; /* velocity of the axes per unit of it; the fourth number is zero */
    rs_vec3 response; /* its change per unit impulse along each axis */
    int32_t index;    /* its place in the list of velocities */
} rs_row_entry;
_Static_assert(sizeof(rs_row_entry) == 64, "an entry is a line of the cache");

/* Bounds of a scalar row's impulse [N s, N m s]. Between them the row gets its speed, at them it may miss it. */
typedef struct {
    double lower, upper;
} rs_impulse_bounds;

static const rs_impulse_bounds RS_PUSHES = {0.0, INFINITY}, RS_HOLDS = {-INFINITY, INFINITY};

/* A point of a link, world frame. */
typedef struct {
    int32_t link;
    rs_vec3 point;
    rs_vec3 axes[3]; /* of the row, with the sign of the impulse on this point */
    bool turns;      /* the row is about turning around its axes, its impulses are moments */
} rs_row_point;

/* Before points get rows: velocities of the links before the step and at a->u_free. */
void rs_response_begin(rs_articulation *a);
/* After the solve: a->reduced becomes the change of the generalised velocity, which would then be `u`. */
void rs_response_spread(rs_articulation *a, double *u);
/* a->u_free takes that change over; a->reduced is zero again. With `pushed` a->u_push was reduced, and becomes a generalised
 * velocity, too. */
void rs_response_end(rs_articulation *a, bool pushed);

/* Inertia of the reduced velocities: a zeroed matrix of u_count rows as in base/band.h. */
void rs_response_inertia(const rs_articulation *a, double *out);

/* Velocity of a point at a->u_free along its axes. */
rs_vec3 rs_free_velocity_along(const rs_articulation *a, const rs_row_point *at);

/* Entries of a row that acts on one or two points of the system; room for u_count. Returns their number. */
int32_t rs_point_response(const rs_articulation *a, const rs_row_point *points, int32_t count, rs_row_entry *out);

/* A force (prismatic) or torque of a joint, on its link and back on the parent, by the joint's degrees of freedom. */
typedef struct {
    int32_t link;
    rs_vec3 along; /* only the first number counts where there is one degree of freedom */
} rs_joint_torque;

/* Entries of a row that acts in one or two joints, along its third axis; room for u_count. Returns their number. */
int32_t rs_torque_response(const rs_articulation *a, const rs_joint_torque *torques, int32_t count, rs_row_entry *out);

/* The same for a row that acts along a tendon, `sign` times; the tendon is placed. */
int32_t rs_tendon_response(const rs_articulation *a, const rs_tendon *tendon, double sign, rs_row_entry *out);

#endif
