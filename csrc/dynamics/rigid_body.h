/* A single rigid body: its properties, its state, and its part of a step.
 *
 * The step is Moreau's midpoint rule. Half a step with the old velocity gives the midpoint pose, where contacts are
 * detected and inertia is taken; forces and contacts change the velocity; half a step with the new velocity ends it.
 * Free fall is exact, an elastic bounce keeps its energy exactly. */
#ifndef RS_DYNAMICS_RIGID_BODY_H
#define RS_DYNAMICS_RIGID_BODY_H

#include "../base/simd4.h"
#include "../include/raisim_engine.h"

typedef struct {
    /* identity */
    bool alive;
    int32_t slot;           /* of the object in the world's slot table */
    int32_t first_collider; /* list through rs_collider.next_in_body */
    int32_t collider_count;
    int32_t controller; /* 1 + place among the world's pose controllers; 0: none */
    struct rs_articulation *articulation; /* NULL for a single body; else this body stands for the whole tree: its pose and
                                             velocity are those of the base link, its colliders those of all links */

    /* properties, body frame */
    rs_body_type type;
    rs_gyroscopic_mode gyroscopic_mode;
    bool isotropic; /* inertia is a multiple of the identity: no gyroscopic torque, no rotation of the tensor */
    double mass;
    rs_vec3 com;
    rs_sym3 inertia, inverse_inertia; /* about the centre of mass */
    double linear_damping;
    rs_vec3 angular_damping;

    /* state at the beginning of a step, world frame */
    rs_vec3 position; /* of the body origin */
    rs_quat quaternion;
    rs_vec3 velocity; /* of the centre of mass */
    rs_vec3 omega;

    /* loads, world frame: set between steps */
    rs_vec3 force, torque;                 /* for the next step only, at the centre of mass */
    rs_vec3 command_force, command_torque; /* until replaced */

    /* kinematic bodies: velocities of the step before, and how they changed to those */
    rs_vec3 former_velocity, former_omega, velocity_change, omega_change;

    /* written by the midpoint stage */
    rs_transform middle; /* body origin */
    rs_vec3 middle_com;
    rs_vec3 middle_omega; /* there, before anything acts */
    rs_vec3 middle_turn;  /* rotation vector from the beginning to there */
    bool launched; /* `middle` is the pose at the beginning, and the whole step is made with the new velocity */

    /* written at the end of a step */
    rs_vec3 applied_force, applied_torque;
    rs_vec3 acceleration, angular_acceleration; /* change of velocity over the step: of the centre of mass, world frame */

    bool settled; /* the impulses on it are those of the step before, or no worse: its contacts needed no solution */
    int32_t uneven; /* solves until its contacts share their loads anew: positive after they could not, negative after they
                       did, see rs_solve_result */

    /* soft objects: partner.h */
    struct rs_soft *soft;        /* this body stands for it: static, without colliders, its position that of the centre of mass */
    bool soft_held;              /* touched in this step */
    bool soft_restless;          /* near one that is not at rest */
    rs_vec3 soft_velocity, soft_omega;               /* what they changed in this step, */
    rs_vec3 soft_shift, soft_turn;                   /* how far that moved it, beyond half a step of that velocity */
    rs_vec3 former_soft_velocity, former_soft_omega; /* and in the one before */
    rs_vec3 contact_velocity, contact_omega; /* what contacts changed in the step before */

    /* sleeping */
    bool asleep;
    bool diverged;       /* in this stage: the world has to take note */
    bool moved;          /* pose, shape or filter changed from outside: colliders must be placed again */
    int32_t quiet_steps; /* consecutive steps below the thresholds */
    bool listed;         /* among the bodies that steps look at; its contacts are not set aside */
} rs_body;
RS_ARRAY_OF(rs_body);

/* The body moves again, if it slept. */
static inline void rs_wake_body(rs_body *body) {
    body->asleep = false;
    body->quiet_steps = 0;
}

/* What the contact solver needs of a body, packed for its inner loop; world frame. */
typedef struct {
    rs_quad v, w; /* velocity of the centre of mass, angular velocity */
    double inverse_mass; /* 0: its velocity is given */
    rs_columns inverse_inertia; /* at the midpoint */
    rs_quad v_free, w_free;     /* velocities without impulses */
} rs_solver_body;
RS_ARRAY_OF(rs_solver_body);

/* Its inertia: a zeroed matrix of six rows as in base/band.h, velocity of the centre of mass first. */
void rs_solver_body_inertia(const rs_solver_body *body, double *out);

/* Motion that corrects overlaps: it moves a body in one step and leaves no velocity behind. */
typedef struct {
    rs_vec3 v, w; /* world frame [m/s, rad/s] */
} rs_push_body;
RS_ARRAY_OF(rs_push_body);

/* Sets mass, centre of mass and inertia (body frame) and what follows from them. */
void rs_rigid_body_set_mass(rs_body *body, double mass, rs_vec3 com, const rs_sym3 *inertia);

/* True when the tensor is positive definite and obeys the triangle inequality within rounding. */
bool rs_inertia_is_physical(const rs_sym3 *inertia);

rs_vec3 rs_rigid_body_com_position(const rs_body *body);

/* Stage: half a step with the velocity the body has. */
void rs_rigid_body_midpoint(rs_body *body, double dt);
/* The midpoint pose is the pose: for bodies that do not move in this step. */
void rs_rigid_body_hold(rs_body *body);

/* Stage: velocity after forces, before contacts; that of a kinematic body at the end of the step, going by how it changed
 * so far. Clears the loads of this step. */
void rs_rigid_body_free_velocity(rs_body *body, rs_vec3 gravity, double dt, rs_solver_body *out);

/* How a body moves in a step. */
typedef struct {
    rs_vec3 shift; /* of its centre of mass [m] */
    rs_vec3 turn;  /* rotation vector, world frame [rad] */
    rs_vec3 mean;  /* mean of the angular velocities before and after what acts at the midpoint, whose moment works on it, times dt [rad] */
} rs_motion;
/* In a step that ends with the velocity v1; w1 is the angular velocity at the midpoint, after all that acts there. */
rs_motion rs_rigid_body_step(const rs_body *body, rs_vec3 v1, rs_vec3 w1, double dt);

/* Stage: takes over the solved velocity and ends the step; `push` (may be NULL) adds its motion. False when the result is not finite; the body then keeps
 * its old pose and rests. */
bool rs_rigid_body_integrate(rs_body *body, const rs_solver_body *solved, const rs_push_body *push, double dt);

#endif
