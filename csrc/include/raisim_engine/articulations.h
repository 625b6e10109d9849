/* Articulated systems: trees of links. See raisim_engine.h. */
#ifndef RAISIM_ENGINE_ARTICULATIONS_H
#define RAISIM_ENGINE_ARTICULATIONS_H

#include "core.h"
#include "shapes.h"

/* cdef begin */

typedef enum {
    RS_JOINT_FIXED = 0, /* link 0 of a fixed base */
    RS_JOINT_FLOATING,  /* link 0 of a floating base */
    RS_JOINT_REVOLUTE,
    RS_JOINT_PRISMATIC,
    RS_JOINT_SPHERICAL
} rs_joint_type;

typedef enum {
    RS_SCHEME_TRAPEZOID = 0, /* dynamics at the midpoint configuration, velocity products extrapolated to the velocity
                                there from the step before; the default, second order */
    RS_SCHEME_SEMI_IMPLICIT, /* dynamics at the beginning, new velocity moves the configuration */
    RS_SCHEME_EULER,         /* explicit */
    RS_SCHEME_RUNGE_KUTTA_4, /* contact impulses first, then four contact-free stages */
    RS_SCHEME_MIDPOINT       /* as TRAPEZOID, with velocity products evaluated twice instead of extrapolated */
} rs_integration_scheme;

typedef enum { RS_CONTROL_FORCE_AND_TORQUE = 0, RS_CONTROL_PD_PLUS_FEEDFORWARD_TORQUE } rs_control_mode;

/* A link and the joint that carries it. The link frame is the joint frame after the joint's motion. Numbers of the
 * joint hold for each of its degrees of freedom. */
typedef struct {
    const char *name; /* for error texts; may be NULL */
    int32_t parent;   /* index of a link before this one; -1 for link 0 */
    int32_t joint_type;
    double joint_position[3], joint_rotation[9]; /* joint frame in the parent's frame; rotation row-major */
    double axis[3];    /* unit, joint frame; revolute and prismatic */
    double mass;       /* [kg] */
    double com[3];     /* link frame [m] */
    double inertia[6]; /* xx yy zz xy xz yz about the centre of mass, link axes [kg m^2] */
    double damping;    /* [N m s/rad] or [N s/m] */
    double friction;   /* Coulomb friction [N m] or [N] */
    double rotor_inertia; /* [kg m^2] or [kg] */
    double stiffness;     /* of the spring to spring_mount [N m/rad] or [N/m] */
    double spring_mount[4]; /* coordinate of rest; spherical: quaternion */
    double lower, upper;    /* [rad] or [m], infinite for none; spherical: upper is the largest angle */
    double velocity_limit;  /* [rad/s] or [m/s], infinite for none */
    double effort_limit;    /* [N m] or [N], infinite for none */
    double lifted_mass;     /* something else carries the weight of so much [kg], */
    double lifted_com[3];   /* at this point of the link frame [m]: gravity compensation, buoyancy */
} rs_link_def;

/* A collision shape of a link; position and quaternion of the shape are in the link frame. */
typedef struct {
    int32_t link;
    rs_shape_def shape;
    uint64_t collision_group, collision_mask;
} rs_link_shape_def;

/* A point that two links share: it closes a loop. */
typedef struct {
    int32_t link_a, link_b;
    double anchor[3];       /* in the frame of link_a */
    const double *nominal;  /* coordinates (like q) at which the point of link_b is found; NULL: the zero position */
} rs_pin_def;

/* Two joints, revolute or prismatic, that move together, as geared: coordinate of the follower = multiplier * coordinate
 * of the leader + offset. Each bears the load of the other. */
typedef struct {
    int32_t follower, leader; /* links that the joints carry */
    double multiplier, offset;
} rs_coupling_def;

/* How the length of a tendon follows from the configuration. */
typedef enum {
    RS_TENDON_FIXED,  /* over pulleys on the axes of revolute and prismatic joints: the sum of coordinates times coefficients */
    RS_TENDON_ROUTED, /* from point to point, around spheres and cylinders [m] */
    RS_TENDON_FRAMES, /* led nowhere: how one frame stands against another, six numbers times six coefficients */
    RS_TENDON_CURVE   /* length of one tendon - polynomial(length of another), both counted from their references */
} rs_tendon_kind;

typedef struct {
    int32_t link; /* that the joint carries */
    double coefficient;
} rs_tendon_term;

typedef enum { RS_ROUTE_POINT, RS_ROUTE_SPHERE, RS_ROUTE_CYLINDER, RS_ROUTE_PULLEY } rs_route_kind;

/* What a routed tendon comes by: spheres and cylinders between two points, which it goes around where they are in its way.
 * A pulley ends one part of the tendon and begins another, of which only a share counts. */
typedef struct {
    int32_t kind;        /* rs_route_kind */
    int32_t link;        /* -1: the world */
    double position[3];  /* in the link's frame */
    double rotation[9];  /* row-major, to the link's frame: cylinders lie along z */
    double size;         /* radius [m]; of a pulley, the divisor of the lengths behind it */
    int32_t has_side;    /* not 0: it goes by on the side of a point, and through the sphere when that is inside */
    int32_t side_link;
    double side[3];
} rs_route_def;

/* Which axes the six coefficients of frames belong to: those of the second frame, or of the first one. */
typedef enum { RS_OWN_PUSH = 1, RS_OWN_TURN = 2, RS_UNMEASURED = 4 /* the length stays zero */ } rs_frames_flags;

/* A spring (slack between two lengths), a damper, friction and limits act along a tendon. */
typedef struct {
    int32_t kind; /* rs_tendon_kind */
    int32_t term_count;
    const rs_tendon_term *terms; /* fixed */
    int32_t route_count;
    const rs_route_def *routes;  /* routed; frames: the two, as points */
    double gear[6];              /* frames: of the way and of the turn of the first against the second */
    int32_t flags;               /* frames: rs_frames_flags */
    int32_t of[2];               /* curve: tendons before this one, that are no curves themselves */
    double reference[2], curve[5];
    double stiffness, damping;     /* [N/m], [N s/m] where its length is in metres */
    double rest_lower, rest_upper; /* lengths between which the spring is slack */
    double friction;               /* [N] */
    double lower, upper;           /* limits of the length, infinite for none; equal: it keeps that length */
} rs_tendon_def;

/* How the activation x of a drive follows its control c, with the numbers n. */
typedef enum {
    RS_DYNAMICS_NONE,         /* x = c */
    RS_DYNAMICS_INTEGRATOR,   /* x' = c */
    RS_DYNAMICS_FILTER,       /* x' = (c - x) / n[0] */
    RS_DYNAMICS_FILTER_EXACT, /* the same, integrated exactly */
    RS_DYNAMICS_MUSCLE        /* times n[0] up and n[1] down, which depend on x; smooth between them over n[2] */
} rs_drive_dynamics;

/* How gain and bias of a drive follow from length and speed, with the numbers n. */
typedef enum {
    RS_LAW_CONSTANT, /* n[0] */
    RS_LAW_AFFINE,   /* n[0] + n[1] * length + n[2] * speed */
    RS_LAW_MUSCLE    /* n: operating range (2), force, scale, least and greatest length, speed, passive force, force when
                        lengthened; see docs/mjcf.md */
} rs_drive_law;

/* A motor that pulls along a tendon: gear * clamp(gain * x + bias), where the length and speed that it sees are gear times
 * the tendon's. */
typedef struct {
    int32_t tendon;
    int32_t dynamics; /* rs_drive_dynamics */
    int32_t gain_law, bias_law;
    int32_t early; /* not 0: the force goes by the activation at the end of the step */
    double gear;
    double dynamics_numbers[3], gain[9], bias[9];
    double control_range[2], activation_range[2], force_range[2]; /* infinite for none */
    double length_range[2]; /* of muscles: lengths at the ends of the operating range, */
    double strength;        /* and acceleration per force at rest, for those without a force of their own */
} rs_drive_def;

typedef struct {
    int32_t object_type; /* free for the caller */
    int32_t link_count;
    const rs_link_def *links;
    int32_t shape_count;
    const rs_link_shape_def *shapes;
    int32_t collide_with_parent; /* nonzero: links collide with their parents too */
    int32_t pin_count;
    const rs_pin_def *pins;
    int32_t coupling_count;
    const rs_coupling_def *couplings;
    int32_t tendon_count;
    const rs_tendon_def *tendons;
    int32_t drive_count;
    const rs_drive_def *drives;
} rs_articulation_def;

void rs_default_link_def(rs_link_def *def);
/* At rest in the zero configuration, base at the world's origin. */
rs_status rs_articulation_create(rs_world *world, const rs_articulation_def *def, rs_object_id *out);

/* Vectors of an articulated system. Those "like q" have q_count entries: floating base position (3) and quaternion
 * w x y z (4), revolute and prismatic 1, spherical quaternion 4. The others have u_count entries: floating base
 * linear velocity of the base link's origin (3) and angular velocity (3), world frame; spherical 3, in the joint frame
 * fixed to the parent. Forces are conjugate to velocities. */
typedef enum {
    RS_FIELD_COORDINATE = 0, /* like q */
    RS_FIELD_VELOCITY,
    RS_FIELD_ACCELERATION,  /* of the last step; read only */
    RS_FIELD_APPLIED_FORCE, /* clamped command of the last step; read only */
    RS_FIELD_FEED_FORWARD,
    RS_FIELD_P_TARGET, /* like q */
    RS_FIELD_D_TARGET,
    RS_FIELD_P_GAIN, /* entries of a floating base are kept at zero */
    RS_FIELD_D_GAIN,
    RS_FIELD_DAMPING,
    RS_FIELD_FRICTION,
    RS_FIELD_ROTOR_INERTIA,
    RS_FIELD_STIFFNESS,
    RS_FIELD_SPRING_MOUNT, /* like q */
    RS_FIELD_LOWER,
    RS_FIELD_UPPER,
    RS_FIELD_VELOCITY_LIMIT,
    RS_FIELD_EFFORT_LOWER,
    RS_FIELD_EFFORT_UPPER,
    RS_FIELD_LIMIT_IMPULSE, /* of joint limits in the last step [N s, N m s]; read only */
    RS_FIELD_COUNT
} rs_articulation_field;
rs_status rs_articulation_read(rs_world *world, rs_object_id id, int32_t field, double *out, int32_t count);
/* Wakes the object; quaternions are normalised. A new coordinate or velocity drops the contacts of the object. */
rs_status rs_articulation_write(rs_world *world, rs_object_id id, int32_t field, const double *values, int32_t count);

/* Two vectors in one call; nothing is written when one of them is refused. */
rs_status rs_articulation_write_two(rs_world *world, rs_object_id id, int32_t field_a, const double *a, int32_t count_a,
                                    int32_t field_b, const double *b, int32_t count_b);
rs_status rs_articulation_read_two(rs_world *world, rs_object_id id, int32_t field_a, double *a, int32_t count_a,
                                   int32_t field_b, double *b, int32_t count_b);

/* A motor: gear * clamp(gain * clamp(control) + bias) is its force on a degree of freedom; or a drive, which takes the
 * control. */
typedef struct {
    int32_t dof;   /* -1 for a drive */
    int32_t drive; /* -1 for a motor of a degree of freedom */
    double gear, gain, bias;
    double control_range[2], force_range[2];
} rs_actuator;
/* Sets the controls of drives, and the feed-forward forces: those of the motors for their controls, zero elsewhere. */
rs_status rs_articulation_actuate(rs_world *world, rs_object_id id, int32_t count, const rs_actuator *actuators,
                                  const double *control);

typedef struct {
    int32_t scheme;       /* rs_integration_scheme */
    int32_t control_mode; /* rs_control_mode */
    double base_position[3], base_quaternion[4]; /* of a fixed base */
    int32_t inverse_dynamics; /* nonzero: every step finds the wrenches in the joints */
} rs_articulation_options;
rs_status rs_articulation_get_options(rs_world *world, rs_object_id id, rs_articulation_options *out);
rs_status rs_articulation_set_options(rs_world *world, rs_object_id id, const rs_articulation_options *options);

/* The functions below refer to the present state; between integrate1 and integrate2 to the configuration at which
 * the step takes its dynamics, and to the velocity that it expects there. */

/* Poses and velocities of all links: origin, rotation (row-major, link to world), velocity of the origin, angular
 * velocity. Any pointer may be NULL. */
rs_status rs_articulation_read_links(rs_world *world, rs_object_id id, double *position, double *rotation,
                                     double *linear_velocity, double *angular_velocity);
/* Joint-space inertia M with rotor inertia, row-major u_count x u_count. */
rs_status rs_articulation_mass_matrix(rs_world *world, rs_object_id id, double *out);
/* Inverse of M + W, where W holds the implicit part of gains, springs and damping at the present time step. */
rs_status rs_articulation_inverse_mass_matrix(rs_world *world, rs_object_id id, double *out);
/* out = M * x, u_count entries. */
rs_status rs_articulation_mass_multiply(rs_world *world, rs_object_id id, const double *x, double *out);
/* h of M * udot + h = tau. */
rs_status rs_articulation_nonlinearities(rs_world *world, rs_object_id id, const double gravity[3], double *out);
/* Accelerations for generalised forces, without motors, springs, dampers and loads. */
rs_status rs_articulation_forward_dynamics(rs_world *world, rs_object_id id, const double gravity[3],
                                           const double *tau, double *udot);
/* Generalised forces for accelerations. wrench (may be NULL): force and moment through each joint on its link, at the
 * link origin, 6 per link. */
rs_status rs_articulation_inverse_dynamics(rs_world *world, rs_object_id id, const double gravity[3],
                                           const double *udot, double *tau, double *wrench);
/* Force and moment through each joint on its link in the last step, at the link origin, world frame, 6 per link; loads
 * and contacts are taken into account, pins are not. RS_WRONG_STATE when options.inverse_dynamics is off. */
rs_status rs_articulation_get_joint_wrenches(rs_world *world, rs_object_id id, double *out);
/* Motor command at the present state, clamped to the effort limits. */
rs_status rs_articulation_command(rs_world *world, rs_object_id id, double *out);
/* Non-zero columns of the Jacobian of a point (world frame) of a link, or of its time derivative: `index` of the degree
 * of freedom, 3 numbers linear and 3 angular per column. Room for u_count columns. */
rs_status rs_articulation_jacobian(rs_world *world, rs_object_id id, int32_t link, const double point[3],
                                   int32_t derivative, int32_t *index, double *linear, double *angular, int32_t *count);
/* Each link with its descendants: mass, centre of mass (world), inertia about it (xx yy zz xy xz yz, world axes). */
rs_status rs_articulation_composites(rs_world *world, rs_object_id id, double *mass, double *com, double *inertia);
/* Kinetic energy, potential energy in the given gravity (zero at the world's origin), energy of the joint springs. */
rs_status rs_articulation_energy(rs_world *world, rs_object_id id, const double gravity[3], double out[3]);
rs_status rs_articulation_momentum(rs_world *world, rs_object_id id, const double about[3], double linear[3],
                                   double angular[3]);

/* Constants of a link: joint placement, axis, mass, centre of mass, inertia; the other members of the definition are
 * not touched (see the fields). */
rs_status rs_articulation_get_link(rs_world *world, rs_object_id id, int32_t link, rs_link_def *out);
rs_status rs_articulation_set_link(rs_world *world, rs_object_id id, int32_t link, const rs_link_def *def);

/* How many contacts two links of the same robot may have with each other; 0: they pass through each other. A link never
 * touches itself. */
rs_status rs_articulation_set_self_contacts(rs_world *world, rs_object_id id, int32_t link_a, int32_t link_b,
                                            int32_t count);
rs_status rs_articulation_get_self_contacts(rs_world *world, rs_object_id id, int32_t link_a, int32_t link_b,
                                        int32_t *count);
/* Which links touch or overlap each other at the coordinates q, whether the two may have contacts or not: link_count x link_count
 * numbers, symmetric, the depth of the overlap [m], negative where the two are apart, or kept so by groups and masks. */
rs_status rs_articulation_overlaps(rs_world *world, rs_object_id id, const double *q, double *depth);

/* cdef end */

#endif
