/* One instance of a tree of links: its parameters, its state, and room for the algorithms that work on it. What is constant
 * is in its model, which copies share.
 *
 * Spatial quantities of the algorithms are in world axes and refer to the link's own origin: no rotation of 6x6 matrices,
 * short lever arms, and no loss of digits far from the world's origin. */
#ifndef RS_MODEL_ARTICULATION_H
#define RS_MODEL_ARTICULATION_H

#include "tree_model.h"

/* Placement and motion of a link, world frame: kinematics.c */
typedef struct {
    rs_mat3 rot;
    rs_vec3 pos;
    rs_vec3 arm;         /* from the parent's origin to this one */
    rs_vec3 axis;        /* revolute, prismatic */
    rs_mat3 joint_frame; /* spherical: the joint frame, fixed to the parent */
    rs_vec3 v, w;        /* velocity of the origin, angular velocity */
} rs_link_motion;

/* Rigid inertia in world axes about the link origin. */
typedef struct {
    double mass;
    rs_vec3 mass_com;
    rs_sym3 inertia;
} rs_link_mass;

/* Symmetric 6x6: force = mass * a + couple * alpha, moment = couple' * a + inertia * alpha. Blocks by columns. */
typedef struct {
    rs_lanes mass[3], couple[3], inertia[3];
} rs_inertia6;

typedef struct {
    rs_vec3 lin, ang; /* force and moment, or acceleration of the origin and angular acceleration */
} rs_pair6;
RS_ARRAY_OF(rs_pair6);

/* What one joint adds to the factorisation of the joint-space inertia: aba.c */
typedef struct {
    rs_pair6 u;        /* one degree of freedom: articulated inertia times the joint's direction */
    double d_inverse;  /* one degree of freedom */
    /* spherical: the same with three columns, world axes */
    rs_lanes couple[3], inertia[3], d_inverse3[3];
} rs_joint_factor;

/* Load on a link, world frame, for the next step only. The lever arms are kept in the link frame, so that the torque
 * turns with the link. */
typedef struct {
    rs_vec3 force;
    rs_vec3 torque;
    rs_mat3 arms;    /* sum of (point in the link frame) * transpose(force) */
    rs_vec3 local_torque; /* link frame */
} rs_link_load;

/* One column of a Jacobian: velocity of a point and angular velocity per unit of a degree of freedom. */
typedef struct {
    int32_t index; /* of the degree of freedom */
    rs_vec3 linear, angular;
} rs_jacobian_column;

/* Momentum and centre of mass of a floating system at the end of a step, for the next one: conservation.c */
typedef struct {
    bool known;
    double *q, *u; /* of which state */
    rs_vec3 linear, angular; /* about the centre of mass, */
    rs_vec3 centre;
} rs_carried;

/* What acts along a tendon [N s], besides drives. */
typedef struct {
    double passive, friction, limit;
} rs_tendon_impulses;

/* A tendon in the configuration that is placed. */
typedef struct {
    double length;
    double before; /* at the beginning of the step, when the links are placed for it */
} rs_tendon_place;

/* What contacts and wires pull at a link, and how it resists to turn because of that. */
typedef struct {
    rs_vec3 force;
    rs_sym3 resistance; /* [N m] */
} rs_row_tension;

/* What pulls at a link, and the inertia that it gets because of that: tension.c */
typedef struct {
    rs_vec3 own;         /* force on the link by itself [N] */
    rs_vec3 force;       /* with rows and all that hangs on it, dt^2 / 4 times */
    rs_sym3 wanted;      /* inertia; */
    double size;         /* its size, */
    double unresolved;   /* and the part of it that turns too fast for the step */
    rs_sym3 inertia;     /* that it has in this step, */
    double former;       /* and its size */
} rs_link_tension;

typedef struct rs_articulation {
    /* The model, and what is in it: see there. */
    rs_tree_model *model;
    int32_t link_count, q_count, u_count, pin_count, coupling_count, tendon_count, drive_count;
    bool fixed_base;
    const rs_link *links;
    const rs_pin *pins;
    const rs_coupling *couplings;
    const rs_tendon *tendons;
    const rs_tendon_term *terms;
    const rs_route *routes;
    const int32_t *tendon_dofs, *tendon_links;
    const rs_drive_def *drives;
    const int32_t *order, *four_at;
    const rs_four_links *fours;
    const uint8_t *self_contacts;

    /* options */
    rs_vec3 base_position; /* fixed base only */
    rs_quat base_quaternion;
    rs_integration_scheme scheme;
    rs_control_mode control_mode;
    bool inverse_dynamics; /* fill `reaction` in every step */

    /* parameters, per degree of freedom unless noted */
    double *p_gain, *d_gain;
    double *damping, *friction, *rotor_inertia, *stiffness;
    double *spring_mount; /* like q */
    double *lower, *upper; /* spherical: upper of the first entry is the largest angle */
    double *velocity_limit;
    double *effort_lower, *effort_upper;

    /* commands */
    double *drive_control; /* per drive */
    double *feed_forward;
    double *p_target; /* like q */
    double *d_target;
    rs_link_load *loads; /* per link */
    bool loaded;         /* some load is not zero */
    rs_pair6 *command;   /* per link: force at its centre of mass and torque, world frame, until replaced */
    bool commanded;      /* some command is not zero, or has just become zero */

    /* state */
    double *q, *u;
    double *activation; /* per drive */
    double *u_change, *u_change_before; /* what the last step and the one before changed in u; zero when there was none
                                           since u or q was set */

    /* written by a step */
    double *limit_impulse;    /* of position and velocity limits; kept to start the next solve */
    double *friction_impulse; /* of joint friction; likewise */
    double *motor_impulse;    /* of motors near their limits: see motor_weight; likewise */
    rs_vec3 *pin_impulse;     /* per pin, on its first link, world frame; likewise */
    double *coupling_impulse; /* per coupling, on the follower; likewise */
    rs_tendon_impulses *tendon_impulses; /* per tendon; likewise */
    double *drive_impulse;    /* per drive, along its tendon; likewise */
    double *acceleration;  /* (u after - u before) / dt */
    double *applied_force; /* the clamped command of the last step */
    rs_pair6 *applied_wrench; /* per link: the `command` of the last step */
    rs_pair6 *reaction;       /* per link: wrench that the parent exerts through the joint, at the link origin */
    bool guided;              /* rows of the solve acted */
    rs_carried carried;

    /* scratch: not in snapshots. `placed_at` says which configuration the motions belong to. */
    const double *placed_at; /* q, q_stage or NULL when out of date */
    double *q_stage;         /* the midpoint, or the stage of another scheme */
    double *u_free;          /* velocity before contacts, then the solved one */
    double *u_push;          /* motion that removes overlap within the step; leaves no velocity behind */
    bool pushed;             /* u_push is not zero */
    double *soft_change;     /* what soft objects changed in the velocities of this step, */
    double *soft_shift;      /* and how far that moved the joints within it */
    double *weight;          /* implicit part of the joint-space inertia's diagonal, with rotor inertia */
    double *overruns;        /* where a solve drove joints, and behind them tendons, beyond their limits: 1, or the direction
                                out of a cone; 0 between steps */
    double *overruns_before; /* of cones: the solve before that */
    double *motor_weight;    /* implicit part of motors that may reach their effort limit: they are rows of the solve instead
                                of a part of `weight`. 0 for all others */
    double *stiff_below;     /* inertia below which a joint is too stiff for the trapezoidal rule */
    double *motor_drive;     /* impulse of such a motor if the velocity stayed: motor_drive - motor_weight * (u - u before)
                                is what it gives between its bounds */
    double *joint_force;     /* by which the step was begun: motors, springs, dampers, drives; without `weight` */
    double *u_rate;          /* acceleration by all but impulses */
    double *u_alone;         /* velocity at the end of the step by all but impulses */
    double *to_target, *to_rest; /* u_count each: distance to the motors' targets and the springs' rest */
    double *work[4], *spare; /* u_count each: of one function at a time, and it says what is in them */
    double *q_work[2];       /* q_count each, likewise */
    double *u_ahead;         /* velocity for which velocity products are taken */
    double turn;             /* how far the fastest link turns in this step [rad] */
    rs_link_motion *motion;
    rs_link_mass *mass;
    rs_inertia6 *articulated;
    rs_joint_factor *factor;
    rs_sym3 base_inverse_mass; /* inverse of the floating base's articulated inertia */
    rs_mat3 base_inverse_couple;
    rs_sym3 base_inverse_inertia;
    rs_pair6 *acc, *force;
    rs_link_tension *tension;
    rs_row_tension *row_tension;
    double *brake;       /* part of `weight` where the line through a joint is too taut for the step */
    bool pulled, taut;   /* `row_tension` is not zero; some link gets inertia */
    rs_link_mass *composite; /* links with all their descendants: crba.c */

    rs_tendon_place *tendon_places; /* per tendon: tendons.c */
    double *arms;                   /* like `tendon_dofs`: change of the length with each */
    double *arm_of;                 /* per degree of freedom: one tendon at a time; zero between */
    rs_pair6 *pull;                 /* per link; zero between */

    rs_jacobian_column *columns; /* u_count */

    /* rows of the solve: contact_response.c */
    rs_pair6 *free_motion; /* per link: velocity of its origin and angular velocity at u_free */
    double *reduced;       /* change of the reduced velocities by impulses: see rs_aba_spread() */
    double inverse_mass;   /* of all links together [1/kg] */

    size_t kept_bytes; /* of the block without its scratch: this struct, parameters, commands, state, results */
    size_t bytes;      /* of the whole block */
} rs_articulation;

/* Checks the definition and builds the tree at rest in its zero configuration (unit quaternions). */
rs_status rs_articulation_new(const rs_articulation_def *def, rs_articulation **out);
/* An instance with all numbers zero, which holds the model once more; NULL without memory. */
rs_articulation *rs_articulation_of(rs_tree_model *model);
/* Another instance of the same model in the same state; NULL without memory. */
rs_articulation *rs_articulation_clone(const rs_articulation *source);
/* The same without room for scratch: only to be cloned and freed. */
rs_articulation *rs_articulation_pack(const rs_articulation *source);
void rs_articulation_free(rs_articulation *a);
/* The model, which from now on is this instance's own and may be changed; NULL without memory. */
rs_tree_model *rs_articulation_own_model(rs_articulation *a);

#endif
