/* Tendons and the drives that pull at them. "Placed" tendons belong to the configuration in which the links are placed. */
#ifndef RS_DYNAMICS_TENDONS_H
#define RS_DYNAMICS_TENDONS_H

#include "articulated.h"

/* ---- tendons.c ---- */

/* Lengths of all tendons, and how they change with the degrees of freedom (a->arms), where the links are placed for the
 * coordinates q. */
void rs_tendons_place(rs_articulation *a, const double *q);
/* Speed of a placed tendon when the velocities are u. */
double rs_tendon_speed(const rs_articulation *a, const rs_tendon *tendon, const double *u);
/* Adds the generalised force of a pull along a placed tendon. */
void rs_tendon_pull(const rs_articulation *a, const rs_tendon *tendon, double pull, double *force);

/* ---- tendon_wrap.c ---- */

/* The way of a tendon around a sphere, or a cylinder along z, in whose frame all points are. */
typedef struct {
    rs_vec3 from, to;  /* where it touches first and last */
    double length;     /* of the way between */
} rs_wrap;
/* How a tendon from one point to another is led around; false: it goes straight. `side` may be NULL: see rs_route_def. */
bool rs_tendon_wrap(bool sphere, double radius, rs_vec3 from, rs_vec3 to, const rs_vec3 *side, rs_wrap *out);

/* ---- drives.c ---- */

/* What a drive does along its tendon. */
typedef struct {
    double force;              /* not yet bounded [N] */
    double stiffness, damping; /* by how much it falls with length and speed; at least 0 */
    double lower, upper;       /* bounds of the force */
} rs_drive_pull;
/* With its tendon placed and the velocities a->u. */
rs_drive_pull rs_drive_pull_of(const rs_articulation *a, int32_t drive, double dt);
/* A drive whose force does not fall with the motion is a plain force, others are rows of the solve. */
static inline bool rs_drive_is_row(const rs_drive_pull *pull) { return pull->stiffness + pull->damping > 0.0; }
/* Adds the generalised forces of all drives that are no rows; their impulses of the step are kept. */
void rs_drives_push(rs_articulation *a, double dt, double *force);
/* Takes the activations to the end of the step. */
void rs_drives_advance(rs_articulation *a, double dt);
/* Whether no activation changes any more. */
bool rs_drives_are_quiet(const rs_articulation *a);

#endif
