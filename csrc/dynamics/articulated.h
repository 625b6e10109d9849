/* Algorithms on trees of links, one textbook algorithm per file. All are linear in the number of links, except the
 * dense mass matrix. World frame; "placed" means that rs_kinematics_place() ran for the configuration in question. */
#ifndef RS_DYNAMICS_ARTICULATED_H
#define RS_DYNAMICS_ARTICULATED_H

#include "joint.h"

/* ---- kinematics.c ---- */

/* Poses and velocities of all links, and their inertias in world axes. `q` must be an array of the articulation. */
void rs_kinematics_place(rs_articulation *a, const double *q, const double *u);
/* The same for the present state, unless it is placed there already. */
void rs_kinematics_refresh(rs_articulation *a);
/* Velocities alone, for links that are placed. */
void rs_kinematics_move(rs_articulation *a, const double *u);
/* out = q moved by dt * u; quaternions turn by the exponential map and stay unit. out may be q. */
void rs_kinematics_advance(const rs_articulation *a, const double *q, const double *u, double dt, double *out);
/* Whether this link and the next three are balls: they are worked on at once. */
static inline bool rs_are_four_spherical(const rs_articulation *a, int32_t first) {
    if (first + 4 > a->link_count)
        return false;
    for (int32_t i = first; i < first + 4; i++)
        if (!rs_joint_is_ball(&a->links[i]))
            return false;
    return true;
}
/* Velocity of a point fixed to a link, given in world axes from the link origin. */
static inline rs_vec3 rs_link_point_velocity(const rs_articulation *a, int32_t link, rs_vec3 from_origin) {
    return rs_add(a->motion[link].v, rs_cross(a->motion[link].w, from_origin));
}

/* Adds a force (world frame) at a point of the link frame. */
static inline void rs_link_load_force(rs_link_load *load, rs_vec3 point, rs_vec3 force) {
    rs_mat3 arm = rs_outer(point, force);
    load->force = rs_add(load->force, force);
    for (int k = 0; k < 9; k++)
        load->arms.m[k] += arm.m[k];
}

/* ---- rnea.c: recursive Newton-Euler ---- */

/* tau = M * udot + h: the generalised force for the accelerations `udot` (NULL: zero, so tau = h) under gravity and,
 * with `loaded`, the loads on the links. Velocities are those of the last placing. Also fills a->acc (the sum of
 * acceleration and minus gravity) and a->force (wrench through each joint, at the link origin). */
void rs_rnea(rs_articulation *a, rs_vec3 gravity, const double *udot, bool loaded, double *tau);
/* What the loads on a placed link amount to, at its origin. */
rs_pair6 rs_load_wrench(const rs_articulation *a, int32_t link);
/* Its first half: a->force = wrench on each link alone, at its origin. */
void rs_rnea_wrenches(rs_articulation *a, rs_vec3 gravity, const double *udot, bool loaded);
/* Its second half: a->force becomes the wrench through each joint, tau (unless NULL) what of it does work there. */
void rs_rnea_collect(rs_articulation *a, double *tau);

/* ---- crba.c: composite rigid bodies ---- */

/* Dense joint-space inertia with rotor inertia, row-major u_count x u_count. */
void rs_crba(rs_articulation *a, double *out);
/* out = M * x, without forming M. */
void rs_mass_multiply(rs_articulation *a, const double *x, double *out);
/* Mass, centre of mass (world frame) and inertia about it of a link with all its descendants; rs_composites_sum() first. */
typedef struct {
    double mass;
    rs_vec3 com;
    rs_sym3 inertia;
} rs_composite;
void rs_composites_sum(rs_articulation *a);
rs_composite rs_composite_of(const rs_articulation *a, int32_t link);

/* ---- aba.c: articulated bodies ---- */

/* Factorises M + diag(weight) for the placed configuration. False when it is not positive definite: *joint then names
 * the first joint without inertia. */
bool rs_aba_factor(rs_articulation *a, double *weight, int32_t *joint);
/* x = (M + diag(weight))^-1 * b; x may be b. */
void rs_aba_solve(rs_articulation *a, const double *b, double *x);
/* The same with the wrenches a->force pulling at the links: x = (M + diag(weight))^-1 * (b - sum of J' * force). After
 * rs_rnea_wrenches() that is forward dynamics. */
void rs_aba_solve_loaded(rs_articulation *a, const double *b, double *x);
/* From reduced velocities (or accelerations) to generalised ones, in place, by the factorisation M + diag(weight) =
 * L * D * L': u = L'^-1 * s. The reduced velocity of a joint is the one it would have if its parent stood still; that of a
 * spherical joint is in world axes, that of a floating base is its own. */
void rs_aba_spread(rs_articulation *a, double *x);
/* Factorisation and rs_aba_solve_loaded() in one sweep. With stiff_dt > 0, joints that are too stiff for the
 * inertia that moves with them (a->stiff_below) get weights and forces b from rs_actuation_stiffen(). False as
 * rs_aba_factor(). */
bool rs_aba_factor_and_solve(rs_articulation *a, double *weight, double *b, double *x, double stiff_dt);

/* ---- jacobian.c ---- */

/* Columns for a point of `link` that are not zero, ascending; `out` has room for u_count. Returns their number. `point` in world frame. */
int32_t rs_jacobian(const rs_articulation *a, int32_t link, rs_vec3 point, rs_jacobian_column *out);
/* Velocity of the origin of a link and its angular velocity at the generalised velocities `u`. */
rs_pair6 rs_link_twist(rs_articulation *a, int32_t link, const double *u);
/* Time derivatives of the same columns, for a point fixed to the link. */
int32_t rs_jacobian_derivative(const rs_articulation *a, int32_t link, rs_vec3 point, rs_jacobian_column *out);

/* ---- energy.c ---- */

/* Of the placed configuration and its velocities `u`. */
double rs_kinetic_energy(const rs_articulation *a, const double *u);
double rs_potential_energy(const rs_articulation *a, rs_vec3 gravity);
double rs_spring_energy(const rs_articulation *a, const double *q);
/* Linear momentum, and angular momentum about a point. */
void rs_momentum(const rs_articulation *a, rs_vec3 about, rs_vec3 *linear, rs_vec3 *angular);

/* ---- actuation.c ---- */

/* Which explicit forces and which implicit weights a scheme wants. */
typedef struct {
    double damping_weight;   /* times (b + kd) */
    double stiffness_weight; /* times (kp + ks) */
    double foresight;        /* explicit part of the stiffness' implicit treatment: -foresight * (kp + ks) * u */
    double row_dt;           /* time step for which motors near their limits become rows of the solve; 0: they do not */
    double stiff_dt;         /* likewise for joints too stiff for the trapezoidal rule: rs_actuation_stiffen(); or 0 */
} rs_actuation_rule;

typedef struct {
    double *command; /* of the motors, clamped to the effort limits */
    double *force;   /* command of motors that are no rows - damping * u + springs */
    double *weight;  /* implicit part of the joint-space inertia's diagonal, with rotor inertia */
} rs_actuation_result;

/* What motors, springs and dampers do at (q, u). The results must be arrays of the articulation, which are padded. */
void rs_actuation(rs_articulation *a, const double *q, const double *u, const rs_actuation_rule *rule,
                  const rs_actuation_result *out);

/* Weight of a degree of freedom whose stiffness or damping is too much for the trapezoidal rule, which would let it
 * oscillate for ever: the stiffer against the inertia that moves with it, the later in the step its errors are taken, up
 * to the midpoint of the next. Second order in dt where it is soft. The force changes, too. */
double rs_actuation_stiffen(const rs_articulation *a, int32_t k, double inertia, double dt, double *force);
/* Whether a motor that is no row would leave its limits in a step that ends with the velocities u. The next
 * rs_actuation() makes it a row. */
bool rs_actuation_foresee(rs_articulation *a, const double *u, double dt);

/* ---- articulated_step.c: the stages of a step ---- */

/* How the articulation's scheme treats gains, springs and dampers. */
rs_actuation_rule rs_articulated_rule(const rs_articulation *a, double dt);
/* First half: places the links where contacts are detected and dynamics is evaluated (the midpoint, for the default
 * scheme). */
void rs_articulated_begin(rs_articulation *a, double dt);
/* The same for one that sleeps: it stays where it is. */
void rs_articulated_stand(rs_articulation *a);
/* Second half: a->u_free = velocity after all forces, before contacts; the factorisation is ready for rs_aba_solve. */
bool rs_articulated_free_velocity(rs_articulation *a, rs_vec3 gravity, double dt);
/* The same once more, with what contacts and wires pull by now: tension.h. */
void rs_articulated_free_again(rs_articulation *a, rs_vec3 gravity, double dt);
/* Takes over a->u_free (with the contacts' part) and ends the step. False when the result is not finite; the
 * articulation then keeps its configuration and rests. */
bool rs_articulated_integrate(rs_articulation *a, rs_vec3 gravity, double dt);
/* After a step: whether all links are slower than the limits [m/s, rad/s] and accelerate less [m/s^2, rad/s^2], and motors
 * and springs have led their joints where they come to rest. */
bool rs_articulated_is_quiet(rs_articulation *a, double linear, double angular, double acceleration, double dt);
/* Stops the articulation and leaves it placed where it is, ready to be woken within a step. */
void rs_articulated_rest(rs_articulation *a, double dt);
/* Whether coordinates and velocities are finite and not too large to calculate with. */
bool rs_articulated_is_carried(const rs_articulation *a, const double *q, const double *u);
/* The same as rest, and drops the loads and forces that were given. */
void rs_articulated_stop(rs_articulation *a, double dt);
/* Drops the loads that were given for the next step. */
void rs_articulated_clear_loads(rs_articulation *a);

#endif
