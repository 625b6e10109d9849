/* raisim_engine: rigid-body simulation with hard contacts.
 *
 * SI units, z up, world frame unless stated, quaternions w,x,y,z. Every function that can fail returns a status and
 * leaves the world as it was when the status is not RS_OK; rs_error_text() says what was wrong. A world may be used
 * from several threads: each call takes the world's (recursive) mutex.
 *
 * The part between the two markers is also read by cffi: plain declarations only, constants are enums. */
#ifndef RAISIM_ENGINE_H
#define RAISIM_ENGINE_H

#include <stddef.h>
#include <stdint.h>

/* cdef begin */

typedef enum {
    RS_OK = 0,
    RS_INVALID_VALUE,  /* an argument is out of range, not finite or inconsistent */
    RS_UNKNOWN_OBJECT, /* the object was removed, or never existed */
    RS_WRONG_TYPE,     /* the object cannot do this */
    RS_WRONG_STATE,    /* not now: for example integrate2 without integrate1 */
    RS_OUT_OF_MEMORY,
    RS_DIVERGED        /* an object's state is no longer finite; it was stopped */
} rs_status;

/* Text of the last failure on the calling thread. */
const char *rs_error_text(void);

/* Bytes the engine holds at this moment, over all worlds. */
size_t rs_memory_bytes(void);

/* 1 when this processor and its system run code built for x86-64-v3 (AVX2), else 0. */
int rs_processor_has_v3(void);

typedef struct rs_world rs_world;

/* High 32 bits: serial number, unique in the world's life; low 32 bits: slot. 0 names nothing. */
typedef uint64_t rs_object_id;

/* ---- world ---- */

rs_status rs_world_create(rs_world **out);
void rs_world_destroy(rs_world *world);
/* A copy that goes on to the same bits, with the same ids; meshes are shared. */
rs_status rs_world_clone(rs_world *source, rs_world **out);

rs_status rs_world_lock(rs_world *world);
rs_status rs_world_unlock(rs_world *world);

/* RS_OK, or RS_WRONG_STATE with what is broken inside the world: lists, states, contacts. For tests; it takes time. */
rs_status rs_world_validate(rs_world *world);

/* Advances n steps. On RS_DIVERGED the step that failed is complete: the object named in the text is stopped. */
rs_status rs_world_step(rs_world *world, int64_t n);
/* The same, but ends after the step in which `seconds` of wall time have passed; `*done` is the number of steps made. */
rs_status rs_world_step_within(rs_world *world, int64_t n, double seconds, int64_t *done);
/* First half: midpoint poses, contact detection, contact registration. */
rs_status rs_world_integrate1(rs_world *world);
/* First half without contact detection: no contacts in this step. */
rs_status rs_world_integrate_no_contact_detection(rs_world *world);
/* Second half: forces, contact solve, integration; time advances. What was placed, changed or woken since the first half
 * is kept: the first half is then made again. */
rs_status rs_world_integrate2(rs_world *world);

rs_status rs_world_set_time_step(rs_world *world, double dt);
double rs_world_time_step(rs_world *world);
rs_status rs_world_set_gravity(rs_world *world, const double gravity[3]);
void rs_world_gravity(rs_world *world, double out[3]);
rs_status rs_world_set_time(rs_world *world, double time);
double rs_world_time(rs_world *world);
uint64_t rs_world_step_count(rs_world *world);
/* Counts every add and remove. */
uint64_t rs_world_configuration_number(rs_world *world);

/* FNV-1a over the dynamic state: equal hashes mean equal bits. */
uint64_t rs_world_state_hash(rs_world *world);

/* Wall time spent in the stages of a step, summed since profiling was turned on [s]. */
typedef struct {
    double midpoint, broad_phase, narrow_phase, islands, forces, soft, contact_setup, solve, integrate;
    int64_t steps;
} rs_profile;
/* Off at first: reading the clock costs as much as stepping a small robot. Turning it on clears the sums. */
rs_status rs_world_set_profiling(rs_world *world, int32_t enabled);
void rs_world_profile(rs_world *world, rs_profile *out);

/* What the last step did. */
typedef struct {
    int64_t broad_phase_pairs; /* pairs of colliders handed to the narrow phase */
    int64_t contacts;
    int64_t islands;
    int64_t solver_iterations; /* the most that any island needed */
    double solver_error;       /* the largest violation of the contact laws left in any island [m/s] */
    double solver_relative_error; /* the same relative to the island's violation without impulses */
    double contact_work;       /* energy that contacts, limits, pins and stiff wires gave: not positive but for rounding [J] */
    int64_t restrained_islands; /* islands whose bounces or impulses had to be reduced to give no energy */
    int64_t awake_bodies;
} rs_step_stats;
void rs_world_step_stats(rs_world *world, rs_step_stats *out);

/* ---- settings ---- */

typedef struct {
    double erp, erp2;      /* push-out and its damping, no unit */
    int32_t max_iterations;
    double threshold;      /* sweeps end when violations of the contact laws, squared and relative to the approach speed, fall
                              below about this */
    int32_t fixed_order;   /* nonzero: the sweep direction does not flip between steps */
} rs_solver_settings;
void rs_default_solver_settings(rs_solver_settings *settings);
void rs_world_solver_settings(rs_world *world, rs_solver_settings *out);
rs_status rs_world_set_solver_settings(rs_world *world, const rs_solver_settings *settings);

typedef enum { RS_BROADPHASE_NONE = 0, RS_BROADPHASE_SAP_3_AXIS, RS_BROADPHASE_MULTI_BOX_PRUNE } rs_broadphase_type;

typedef struct {
    int32_t gjk_max_iterations;
    double gjk_tolerance;
    int32_t epa_max_iterations;
    double epa_tolerance;
    int32_t max_contacts_per_pair;       /* 1..8 */
    int32_t swept_ccd_enabled;
    double swept_ccd_min_speed;          /* [m/s] */
    double swept_ccd_speculative_margin; /* [m] */
    int32_t broadphase;                  /* rs_broadphase_type */
    double mbp_world_min[3], mbp_world_max[3], mbp_cell_size[3]; /* [m] */
    double mbp_padding;                  /* [m] */
    int32_t mbp_max_cells_per_axis, mbp_max_cells_per_object;
    int32_t mbp_use_world_bounds;
} rs_contact_settings;
void rs_default_contact_settings(rs_contact_settings *settings);
void rs_world_contact_settings(rs_world *world, rs_contact_settings *out);
rs_status rs_world_set_contact_settings(rs_world *world, const rs_contact_settings *settings);

typedef struct {
    int32_t enabled;
    double linear_threshold;  /* [m/s] */
    double angular_threshold; /* [rad/s] */
    int32_t quiet_steps;
} rs_sleep_settings;
void rs_default_sleep_settings(rs_sleep_settings *settings);
void rs_world_sleep_settings(rs_world *world, rs_sleep_settings *out);
rs_status rs_world_set_sleep_settings(rs_world *world, const rs_sleep_settings *settings);
rs_status rs_world_wake_all(rs_world *world);

/* ---- materials ---- */

typedef struct {
    double friction;
    double restitution;
    double restitution_threshold;              /* slower impacts do not bounce [m/s] */
    double static_friction;
    double static_friction_velocity_threshold; /* above it `friction` holds; 0 turns static friction off [m/s] */
    double rolling_friction;                   /* largest moment against rolling per normal force [m] */
    double spinning_friction;                  /* the same against spinning about the normal [m] */
} rs_material_pair;

/* RS_OK, or which number is out of range. */
rs_status rs_material_pair_valid(const rs_material_pair *pair);
/* Index of a named material; the name is registered at its first use. 0 is "default". */
rs_status rs_material_index(rs_world *world, const char *name, int32_t *out);
/* Copies the name of a registered material; 64 bytes with the zero at its end are enough for every name. */
rs_status rs_material_name(rs_world *world, int32_t index, char *out);
rs_status rs_material_set_pair(rs_world *world, int32_t a, int32_t b, const rs_material_pair *pair);
rs_status rs_material_set_default(rs_world *world, const rs_material_pair *pair);
/* The pair's own properties, else the default ones. */
rs_status rs_material_pair_properties(rs_world *world, int32_t a, int32_t b, rs_material_pair *out);
void rs_material_default(rs_world *world, rs_material_pair *out);
/* Pairs with properties of their own, in a fixed order. */
int64_t rs_material_pair_count(rs_world *world);
rs_status rs_material_pair_at(rs_world *world, int64_t number, int32_t *a, int32_t *b, rs_material_pair *out);
/* Forgets all pairs and puts the default back; names stay. */
rs_status rs_material_clear(rs_world *world);

/* ---- shapes and assets ---- */

typedef enum {
    RS_SHAPE_SPHERE = 0,
    RS_SHAPE_BOX,
    RS_SHAPE_CYLINDER,
    RS_SHAPE_CONE,
    RS_SHAPE_CAPSULE,
    RS_SHAPE_CONVEX,     /* convex hull asset */
    RS_SHAPE_HALF_SPACE, /* the ground: solid below z = 0 of its frame */
    RS_SHAPE_MESH,       /* triangle asset */
    RS_SHAPE_HEIGHTMAP,  /* grid asset */
    RS_SHAPE_TYPE_COUNT
} rs_shape_type;

/* A mesh or heightmap that shapes share. Like object ids, never reused. */
typedef uint64_t rs_asset_id;

/* Convex hull of points [m]; the points need not all be extreme. At least four that do not lie in one plane. */
rs_status rs_asset_create_convex(rs_world *world, int64_t point_count, const double *xyz, rs_asset_id *out);
/* Triangles as given; degenerate ones must have been dropped. Vertices [m], counter-clockwise seen from outside. */
rs_status rs_asset_create_mesh(rs_world *world, int64_t vertex_count, const double *xyz, int64_t triangle_count,
                               const int32_t *indices, rs_asset_id *out);
/* Heights [m], height[iy * x_samples + ix], at x = -x_size/2 + ix * x_size/(x_samples-1), likewise y. */
rs_status rs_asset_create_heightmap(rs_world *world, int32_t x_samples, int32_t y_samples, double x_size,
                                    double y_size, const double *heights, rs_asset_id *out);
/* The creator's hold; the asset lives on while a shape uses it. */
rs_status rs_asset_release(rs_world *world, rs_asset_id asset);

typedef struct {
    int32_t type;        /* rs_shape_type */
    double dim[3];       /* sphere: radius. box: full lengths. cylinder, cone: radius, full height.
                            capsule: radius, distance of the sphere centres [m] */
    rs_asset_id asset;   /* convex, mesh, heightmap */
    double position[3];  /* in the body frame [m] */
    double quaternion[4];
    int32_t material;
} rs_shape_def;

/* ---- single bodies ---- */

typedef enum { RS_BODY_DYNAMIC = 0, RS_BODY_KINEMATIC, RS_BODY_STATIC } rs_body_type;

typedef enum {
    RS_GYRO_ENERGY_CONSERVING = 0, /* implicit midpoint in the body frame: energy and momentum to rounding */
    RS_GYRO_IMPLICIT_BODY,         /* implicit Euler in the body frame: stable, damps */
    RS_GYRO_IMPLICIT_WORLD,        /* implicit Euler in the world frame */
    RS_GYRO_EXPLICIT,
    RS_GYRO_NONE
} rs_gyroscopic_mode;

typedef struct {
    int32_t object_type; /* free for the caller; reported back by rs_object_kind */
    int32_t body_type;   /* rs_body_type */
    double mass;         /* [kg] */
    double com[3];       /* centre of mass in the body frame [m] */
    double inertia[6];   /* xx yy zz xy xz yz about the centre of mass, body frame [kg m^2];
                            all zero: uniform solid, from the shapes */
    double position[3];  /* of the body origin */
    double quaternion[4];
    double linear_velocity[3];  /* of the centre of mass */
    double angular_velocity[3];
    uint64_t collision_group, collision_mask;
    int32_t shape_count;
    const rs_shape_def *shapes;
} rs_body_def;

void rs_default_body_def(rs_body_def *def);
rs_status rs_body_create(rs_world *world, const rs_body_def *def, rs_object_id *out);

typedef struct {
    double position[3];        /* body origin [m] */
    double quaternion[4];
    double linear_velocity[3]; /* of the centre of mass [m/s] */
    double angular_velocity[3];
} rs_body_state;
rs_status rs_body_state_get(rs_world *world, rs_object_id id, rs_body_state *out);
/* Wakes the object. The quaternion is normalised unless it is a unit one within 1e-12. */
rs_status rs_body_state_set(rs_world *world, rs_object_id id, const rs_body_state *state);
/* Acceleration of the centre of mass and angular acceleration in the last step, world frame: zero for bodies that sleep
 * or are static. */
rs_status rs_body_acceleration(rs_world *world, rs_object_id id, double linear[3], double angular[3]);

typedef struct {
    int32_t body_type; /* rs_body_type */
    double mass;
    double com[3];
    double inertia[6];         /* xx yy zz xy xz yz, body frame */
    double linear_damping;     /* air drag [N s/m] */
    double angular_damping[3]; /* per body axis [N m s/rad] */
    int32_t gyroscopic_mode;   /* rs_gyroscopic_mode */
} rs_body_properties;
rs_status rs_body_properties_get(rs_world *world, rs_object_id id, rs_body_properties *out);
rs_status rs_body_properties_set(rs_world *world, rs_object_id id, const rs_body_properties *properties);

/* Adds a force at a point (world frame) and a torque for the next step only. */
rs_status rs_body_add_force(rs_world *world, rs_object_id id, const double force[3], const double point[3]);
rs_status rs_body_add_torque(rs_world *world, rs_object_id id, const double torque[3]);
rs_status rs_body_clear_forces(rs_world *world, rs_object_id id);
/* A force at the centre of mass and a torque that act every step until replaced; zeros end it. */
rs_status rs_body_set_command_wrench(rs_world *world, rs_object_id id, const double force[3], const double torque[3]);

/* Swaps the heightmap's grid (same object, new heights or size) and moves its centre. */
rs_status rs_body_set_heightmap(rs_world *world, rs_object_id id, rs_asset_id asset, const double position[3]);

/* ---- articulated systems ---- */

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

/* A tendon over pulleys on the axes of joints, revolute or prismatic: its length is the sum of their coordinates, each
 * times a coefficient. A spring (slack between two lengths), a damper, friction and limits act along it. */
typedef struct {
    int32_t link; /* that the joint carries */
    double coefficient;
} rs_tendon_term;
typedef struct {
    int32_t term_count;
    const rs_tendon_term *terms;
    double stiffness, damping;     /* [N/m], [N s/m] where its length is in metres */
    double rest_lower, rest_upper; /* lengths between which the spring is slack */
    double friction;               /* [N] */
    double lower, upper;           /* limits of the length, infinite for none */
} rs_tendon_def;

/* A motor that pulls at a tendon: force = feed_forward - p_gain * length - d_gain * speed, kept in its range. */
typedef struct {
    double p_gain, d_gain, feed_forward;
    double effort_lower, effort_upper;
} rs_tendon_servo;

typedef struct {
    int32_t object_type; /* free for the caller; reported back by rs_object_kind */
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

/* A motor: gear * clamp(gain * clamp(control) + bias) is its force on a degree of freedom. */
typedef struct {
    int32_t dof;
    double gear, gain, bias;
    double control_range[2], force_range[2];
} rs_actuator;
/* Sets the feed-forward forces: those of the motors for their controls, zero elsewhere. */
rs_status rs_articulation_actuate(rs_world *world, rs_object_id id, int32_t count, const rs_actuator *actuators,
                                  const double *control);

typedef struct {
    int32_t scheme;       /* rs_integration_scheme */
    int32_t control_mode; /* rs_control_mode */
    double base_position[3], base_quaternion[4]; /* of a fixed base */
    int32_t inverse_dynamics; /* nonzero: every step finds the wrenches in the joints */
} rs_articulation_options;
rs_status rs_articulation_options_get(rs_world *world, rs_object_id id, rs_articulation_options *out);
rs_status rs_articulation_options_set(rs_world *world, rs_object_id id, const rs_articulation_options *options);

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
rs_status rs_articulation_joint_wrenches(rs_world *world, rs_object_id id, double *out);
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
rs_status rs_articulation_link_get(rs_world *world, rs_object_id id, int32_t link, rs_link_def *out);
rs_status rs_articulation_link_set(rs_world *world, rs_object_id id, int32_t link, const rs_link_def *def);

/* How many contacts two links of the same robot may have with each other; 0: they pass through each other. A link never
 * touches itself. */
rs_status rs_articulation_set_self_contacts(rs_world *world, rs_object_id id, int32_t link_a, int32_t link_b,
                                            int32_t count);
rs_status rs_articulation_self_contacts(rs_world *world, rs_object_id id, int32_t link_a, int32_t link_b,
                                        int32_t *count);
/* Which links touch or overlap each other at the coordinates q, whether they may collide or not: link_count x link_count
 * numbers, symmetric, the depth of the overlap [m], negative where the two are apart. */
rs_status rs_articulation_overlaps(rs_world *world, rs_object_id id, const double *q, double *depth);

/* ---- tendons ---- */

rs_status rs_articulation_set_tendon_servo(rs_world *world, rs_object_id id, int32_t tendon, const rs_tendon_servo *servo);
rs_status rs_articulation_tendon_servo(rs_world *world, rs_object_id id, int32_t tendon, rs_tendon_servo *out);
/* Length, speed, and the force along it in the last step of the servo, of spring and damper, friction and limits. */
rs_status rs_articulation_tendon(rs_world *world, rs_object_id id, int32_t tendon, double out[6]);

/* Loads for the next step only. The point is in the link frame and moves with the link; the force is in the world
 * frame. */
rs_status rs_articulation_add_force(rs_world *world, rs_object_id id, int32_t link, const double point[3],
                                    const double force[3]);
rs_status rs_articulation_add_torque(rs_world *world, rs_object_id id, int32_t link, const double torque[3],
                                     int32_t in_link_frame);
rs_status rs_articulation_clear_loads(rs_world *world, rs_object_id id);
/* Force at a link's centre of mass and torque on it, world frame, in every step until replaced. */
rs_status rs_articulation_set_command_wrench(rs_world *world, rs_object_id id, int32_t link, const double force[3],
                                             const double torque[3]);

/* ---- commanded poses ---- */

/* Gains of the controller that makes a body follow a pose. Forces act at the centre of mass, of a robot's base link. */
typedef struct {
    double linear[3];        /* p, i, d of the position [N/m, N/(m s), N s/m] */
    double angular[3];       /* p, i, d of the rotation vector, each times angular_shape */
    double angular_shape[6]; /* xx yy zz xy xz yz, body frame. Identity: the gains are torques [N m/rad, ...]; the
                                inertia: they are angular accelerations [1/s^2, 1/s^3, 1/s] */
    double carried_mass;     /* its weight is added to the force [kg] */
    double force_limit, torque_limit; /* most that an integral adds up to [N, N m] */
} rs_pose_gains;

/* Pose and velocity of the body origin; the pose moves on with the velocity. */
typedef struct {
    double position[3], quaternion[4], linear_velocity[3], angular_velocity[3];
    int32_t velocity_only; /* nonzero: the pose is not read. It begins where the body is, goes on with every new velocity,
                              and never runs ahead farther than force_limit and torque_limit allow p to pull */
} rs_pose_target;

/* A dynamic body, or a robot with a floating base, follows the target in every step until the next command; this ends a
 * command wrench, as a command wrench ends this. */
rs_status rs_object_set_command_pose(rs_world *world, rs_object_id id, const rs_pose_gains *gains,
                                     const rs_pose_target *target);

/* ---- wires ---- */

/* Unique in the world's life, never reused; 0 names nothing. */
typedef uint64_t rs_wire_id;

typedef enum {
    RS_WIRE_STIFF = 0, /* does not give way */
    RS_WIRE_COMPLIANT, /* spring without damping */
    RS_WIRE_CUSTOM     /* pulls with the tension that the user sets, whatever its stretch */
} rs_wire_type;

typedef enum { RS_WIRE_STRETCH_ONLY = 0, RS_WIRE_COMPRESSION_ONLY, RS_WIRE_BOTH } rs_wire_stretch_type;

typedef struct {
    int32_t type;            /* rs_wire_type; constant after creation */
    int32_t stretch_type;    /* rs_wire_stretch_type: what stiff and compliant wires resist */
    double length;           /* at rest [m] */
    double stiffness;        /* of a compliant wire [N/m] */
    double tension;          /* of a custom wire, positive pulls [N] */
    int32_t explicit_spring; /* nonzero: a compliant wire pulls with the force of the midpoint instead of the implicit
                                mean over the step; unstable when dt * sqrt(stiffness / mass) exceeds 2 */
} rs_wire_properties;

/* Ends of a wire: an object, its body or link (0 for single bodies) and a point in the frame of that [m]. */
typedef struct {
    rs_object_id object[2];
    int32_t local[2];
    double point[2][3];
    rs_wire_properties properties;
} rs_wire_def;

void rs_default_wire_def(rs_wire_def *def);
/* The two ends must be different bodies or links. */
rs_status rs_wire_create(rs_world *world, const rs_wire_def *def, rs_wire_id *out);
/* A wire also vanishes with either of its objects. */
rs_status rs_wire_remove(rs_world *world, rs_wire_id id);
int32_t rs_wire_is_alive(rs_world *world, rs_wire_id id);
rs_status rs_wire_def_get(rs_world *world, rs_wire_id id, rs_wire_def *out);
/* Wakes what hangs on the wire. */
rs_status rs_wire_properties_set(rs_world *world, rs_wire_id id, const rs_wire_properties *properties);

typedef struct {
    double point[2][3]; /* ends, world frame [m] */
    double distance;    /* of the ends [m] */
    double stretch;     /* distance - length [m] */
    double normal[3];   /* unit, from the first end to the second; where they coincide, the last one that was known */
    double tension;     /* positive pulls [N]: stiff: mean of the last step; compliant: at this stretch; custom: as set */
} rs_wire_state;
/* At the present poses. */
rs_status rs_wire_state_get(rs_world *world, rs_wire_id id, rs_wire_state *out);

int64_t rs_world_wire_count(rs_world *world);
/* Ids and states in the order in which the wires were made; either pointer may be NULL. */
rs_status rs_world_read_wires(rs_world *world, int64_t capacity, rs_wire_id *ids, rs_wire_state *states);

/* ---- soft objects: many particles in one object ---- */

/* What grains are made of. Of two materials springs and dampers act in series, friction and cohesion are geometric means. */
typedef struct {
    double density;              /* [kg/m^3] */
    double normal_stiffness;     /* [N/m]; with Hertz' law [N/m^2]: force = k * sqrt(radius) * overlap^1.5 */
    double normal_damping;       /* [N s/m] */
    double tangential_stiffness; /* [N/m]; 0: half of the normal one */
    double tangential_damping;   /* [N s/m] */
    double friction;
    double rolling_friction;     /* largest torque = rolling friction * normal force * radius */
    double cohesion_stiffness;   /* [N/m] */
    double cohesion_distance;    /* surfaces nearer than this pull: force = stiffness * (distance - gap) [m] */
    int32_t hertz;
} rs_grain_material;
void rs_default_grain_material(rs_grain_material *material);

typedef struct {
    int32_t object_type;
    int64_t count;
    const double *positions;  /* x y z each [m] */
    const double *radii;      /* [m] */
    const double *velocities; /* or NULL: at rest */
    rs_grain_material material;
    int32_t substeps;         /* least number in a step; more are made where stiffness asks for them */
    int32_t contact_material; /* whose friction with bodies counts, as geometric mean with that of the grains */
    uint64_t collision_group, collision_mask;
} rs_grains_def;
void rs_default_grains_def(rs_grains_def *def);
rs_status rs_grains_create(rs_world *world, const rs_grains_def *def, rs_object_id *out);

/* Adds grains of a material at the end. */
rs_status rs_grains_add(rs_world *world, rs_object_id id, int64_t count, const double *positions, const double *radii,
                        const double *velocities, const rs_grain_material *material);
/* The last grain takes the number of the removed one. */
rs_status rs_grains_remove(rs_world *world, rs_object_id id, int64_t index);
rs_status rs_grains_clear(rs_world *world, rs_object_id id);
/* A fixed grain stays where it is, whatever hits it. */
rs_status rs_grains_set_fixed(rs_world *world, rs_object_id id, int64_t index, int32_t fixed);
rs_status rs_grains_set_material(rs_world *world, rs_object_id id, int64_t index, const rs_grain_material *material);
/* Of ground plane and container: friction and rolling friction count. */
rs_status rs_grains_set_boundary_material(rs_world *world, rs_object_id id, const rs_grain_material *material);
/* A plane for these grains alone. */
rs_status rs_grains_set_ground(rs_world *world, rs_object_id id, int32_t enabled, double height);
/* Walls for these grains alone: min, then max [m]. */
rs_status rs_grains_set_container(rs_world *world, rs_object_id id, int32_t enabled, const double box[6]);
/* Axes along which grains that leave the box on one side enter it on the other. */
rs_status rs_grains_set_periodic(rs_world *world, rs_object_id id, const int32_t axes[3], const double box[6]);

/* All that was set. */
typedef struct {
    int32_t substeps, contact_material;
    uint64_t collision_group, collision_mask;
    int32_t material_count;
    rs_grain_material boundary;
    int32_t has_ground, has_container, periodic[3];
    double ground, container[6], domain[6];
} rs_grains_settings;
rs_status rs_grains_settings_get(rs_world *world, rs_object_id id, rs_grains_settings *out);
rs_status rs_grains_set_substeps(rs_world *world, rs_object_id id, int32_t substeps);
rs_status rs_grains_material_get(rs_world *world, rs_object_id id, int32_t index, rs_grain_material *out);
/* Per grain: radius [m], number of its material, whether it is fixed, angular velocity. Any pointer may be NULL. */
rs_status rs_grains_read(rs_world *world, rs_object_id id, int64_t capacity, double *radii, int32_t *materials,
                         uint8_t *fixed, double *angular_velocities);
/* What the last step did. */
typedef struct {
    int32_t substeps, contacts, pairs, rebuilds;
    double largest_overlap; /* relative to the smaller radius */
    double largest_speed;   /* [m/s] */
} rs_grains_stats;
rs_status rs_grains_stats_get(rs_world *world, rs_object_id id, rs_grains_stats *out);

/* Cloth and other deformable objects: particles held together by springs without length but at rest. */
typedef struct {
    double damping;       /* rate at which velocities decay [1/s] */
    double air_drag;      /* pressure across the surface = air_drag * (speed against the wind)^2 [kg/m^3] */
    double wind[3];       /* world frame [m/s] */
    double collision_radius; /* of each particle [m] */
    int32_t iterations;   /* sweeps over the constraints in a substep */
    int32_t substeps;     /* least number in a step; more are made where stiffness asks for them */
} rs_deformable_settings;
typedef struct {
    int32_t object_type;
    int64_t count;
    const double *positions, *velocities; /* velocities may be NULL */
    const double *masses;     /* [kg] */
    const uint8_t *pinned;    /* per particle, or NULL */
    int64_t strut_count;
    const int32_t *struts;    /* pairs of particles */
    const double *compliances; /* of the struts [m/N]; 0: stiff */
    int64_t hinge_count;
    const int32_t *hinges;    /* four particles: the edge, then the two corners opposite */
    double bend_compliance;   /* 1 / flexural rigidity [1/(N m)] */
    int64_t triangle_count;
    const int32_t *triangles; /* what is seen, and what the air presses on */
    rs_deformable_settings settings;
    int32_t contact_material;
    uint64_t collision_group, collision_mask;
} rs_deformable_def;
rs_status rs_deformable_create(rs_world *world, const rs_deformable_def *def, rs_object_id *out);
rs_status rs_deformable_settings_get(rs_world *world, rs_object_id id, rs_deformable_settings *out);
rs_status rs_deformable_settings_set(rs_world *world, rs_object_id id, const rs_deformable_settings *settings);
/* A pinned particle stays where it is put. */
rs_status rs_deformable_pin(rs_world *world, rs_object_id id, int64_t index, int32_t pinned, const double position[3]);
/* Struts at the present distances. */
rs_status rs_deformable_add_struts(rs_world *world, rs_object_id id, int64_t count, const int32_t *struts,
                                   const double *compliances);
rs_status rs_deformable_counts(rs_world *world, rs_object_id id, int64_t *struts, int64_t *hinges, int64_t *triangles);
rs_status rs_deformable_read(rs_world *world, rs_object_id id, uint8_t *pinned, double *masses);

int64_t rs_soft_particle_count(rs_world *world, rs_object_id id);
/* x y z of each particle; either pointer may be NULL. */
rs_status rs_soft_read(rs_world *world, rs_object_id id, int64_t capacity, double *positions, double *velocities);
/* Places or moves all particles; NULL leaves what is there. Angular velocities of grains only. */
rs_status rs_soft_write(rs_world *world, rs_object_id id, int64_t count, const double *positions, const double *velocities,
                        const double *angular_velocities);
typedef struct {
    double mass;
    double kinetic_energy, potential_energy, elastic_energy; /* [J] */
    double linear_momentum[3], angular_momentum[3];          /* angular about the world's origin */
    double centre_of_mass[3];
} rs_soft_totals;
rs_status rs_soft_totals_get(rs_world *world, rs_object_id id, rs_soft_totals *out);
/* Impulses of the last step on bodies and links [N s], their moments about the centre of mass of a body or the origin of a
 * link [N m s]. *count tells how many there are; at most `capacity` are written. */
typedef struct {
    rs_object_id object;
    int32_t local;
    double impulse[3], moment[3];
} rs_soft_contact;
rs_status rs_soft_read_contacts(rs_world *world, rs_object_id id, int64_t capacity, rs_soft_contact *out, int64_t *count);

/* ---- objects of every kind ---- */

rs_status rs_object_remove(rs_world *world, rs_object_id id);
/* Adds a copy at the same place: shapes, masses, state, joints, gains, materials and filters. It is awake, and neither loads
 * nor commanded wrenches act on it. */
rs_status rs_object_clone(rs_world *world, rs_object_id id, rs_object_id *out);
int32_t rs_object_is_alive(rs_world *world, rs_object_id id);
int64_t rs_world_object_count(rs_world *world);
/* Ids in list order; removal moves the last object into the hole. */
rs_status rs_world_object_ids(rs_world *world, rs_object_id *out, int64_t capacity);
/* Position in the list, or -1. */
int64_t rs_object_index(rs_world *world, rs_object_id id);
rs_status rs_object_kind(rs_world *world, rs_object_id id, int32_t *object_type);

/* Replaces shape and placement (in its body or link frame) of one collision body, counted within the object. */
rs_status rs_object_set_shape(rs_world *world, rs_object_id id, int32_t number, const rs_shape_def *shape);
/* local = -1 means every collision body of the object. */
rs_status rs_object_set_filter(rs_world *world, rs_object_id id, int32_t local, uint64_t group, uint64_t mask);
rs_status rs_object_filter(rs_world *world, rs_object_id id, int32_t local, uint64_t *group, uint64_t *mask);
rs_status rs_object_set_material(rs_world *world, rs_object_id id, int32_t local, int32_t material);
rs_status rs_object_material(rs_world *world, rs_object_id id, int32_t local, int32_t *material);
/* One material per collision body, in order; `count` must be their number. */
rs_status rs_object_set_materials(rs_world *world, rs_object_id id, const int32_t *materials, int32_t count);
rs_status rs_object_materials(rs_world *world, rs_object_id id, int32_t *materials, int32_t count);
/* Group and mask of each collision body, in order; `count` must be their number. */
rs_status rs_object_filters(rs_world *world, rs_object_id id, uint64_t *groups, uint64_t *masks, int32_t count);
rs_status rs_object_wake(rs_world *world, rs_object_id id);
int32_t rs_object_is_sleeping(rs_world *world, rs_object_id id);

/* ---- bulk reads: one call for the whole world, rows in list order ---- */

/* pose: x y z qx qy qz qw; twist: linear at the body origin, angular; wrench at the centre of mass applied in the
 * last step by commands and external forces; all in the world frame. Any pointer may be NULL. */
rs_status rs_world_read_states(rs_world *world, int64_t capacity, double *pose, double *twist, double *wrench,
                               uint8_t *sleeping);
/* All articulated systems one behind the other. link_pose, link_twist and link_wrench: 7, 6 and 6 numbers per link as
 * above, the base link first, wrenches of commands only; q, u and applied_force (of the last step) as in the fields. Any
 * pointer may be NULL; the capacities count links, coordinates and velocities. */
rs_status rs_world_read_articulations(rs_world *world, int64_t link_capacity, int64_t q_capacity, int64_t u_capacity,
                                      double *link_pose, double *link_twist, double *link_wrench, double *q, double *u,
                                      double *applied_force);

typedef struct {
    rs_object_id object_a, object_b;
    int32_t local_a, local_b;       /* local body indices */
    int32_t collider_a, collider_b; /* collision bodies, counted within the object */
    double position[3];
    double frame[9];   /* rows: tangent 1, tangent 2, normal (towards A) */
    double impulse[3]; /* on A, in the contact frame [N s] */
    double moment[3];  /* of rolling and spinning friction on A, as an impulse, in the contact frame [N m s] */
    double depth;      /* [m], negative when penetrating */
    double velocity[3]; /* of A against B before the solve, contact frame [m/s] */
    double inverse_inertia[6]; /* effective inverse mass, xx yy zz xy xz yz in the contact frame [1/kg] */
    double friction, restitution;
    int32_t island;
    int32_t feature;
} rs_contact;
int64_t rs_world_contact_count(rs_world *world);
rs_status rs_world_read_contacts(rs_world *world, rs_contact *out, int64_t capacity);

/* ---- rays: at the present poses, from either side of surfaces ---- */

/* What rays pass through, and what they see. */
typedef struct {
    rs_object_id ignored;  /* 0: nothing */
    int32_t ignored_local; /* body of the ignored object; -1: all of it */
    uint64_t mask;         /* groups that are seen */
} rs_ray_rule;

/* Nearest hits of `count` rays. Origins: x y z each, or one for all when `shared_origin` is set. Directions need not be
 * unit. Outputs per ray, any may be NULL: distance [m] (NaN: nothing within `length`), object (0: none) and its local
 * body, outward unit normal. */
rs_status rs_world_cast_rays(rs_world *world, int64_t count, const double *origins, int32_t shared_origin,
                             const double *directions, double length, const rs_ray_rule *rule, double *distances,
                             rs_object_id *objects, int32_t *locals, double *normals);

typedef enum { RS_NOISE_NONE = 0, RS_NOISE_GAUSSIAN, RS_NOISE_UNIFORM } rs_noise_type;
/* Added to each measured distance. The same seed and frame give the same noise. */
typedef struct {
    int32_t type;
    double mean, spread; /* gaussian: mean and standard deviation; uniform: mean +- spread [m] */
    double dropout;      /* share of returns that are lost, 0..1 */
    uint64_t seed, frame;
} rs_noise;

/* A spinning lidar: +x forward, y left, z up. Yaw angles are index * increment * direction (+1 or -1). One that moves
 * while it turns casts column k of the scan at the share first_share + k * share_increment of the way from its pose to
 * the end pose; points are in the frame of the sensor at that moment. */
typedef struct {
    double position[3], quaternion[4]; /* world frame */
    int32_t moves;
    double end_position[3], end_quaternion[4];
    double first_share, share_increment;
    int32_t yaw_first, yaw_last;       /* indices, both included */
    double yaw_increment;              /* [rad] */
    int32_t spin_direction;
    int32_t pitch_samples;
    double pitch_min, pitch_increment; /* [rad] */
    double range_min, range_max;       /* [m]; nearer hits are dropped */
    rs_noise noise;
} rs_lidar;
/* RS_OK, or what is wrong with the numbers; likewise for cameras. */
rs_status rs_lidar_valid(const rs_lidar *lidar);
/* Points in the sensor frame, yaw outer, pitch inner, misses left out. Room for all rays. */
rs_status rs_world_scan_lidar(rs_world *world, const rs_lidar *lidar, const rs_ray_rule *rule, double *points,
                              int64_t *count);

/* Where the single-precision numbers of a scan go: bytes from column to column and from row to row, and the place of
 * each number within a point; -1 leaves it out. */
typedef struct {
    int64_t yaw_stride, pitch_stride;
    int64_t x, y, z;   /* sensor frame [m]; NaN: no return */
    int64_t range;     /* [m]; -infinity: nearer than range_min, +infinity: no return (REP 117) */
    int64_t intensity; /* cosine of the angle of incidence; 0: no return */
} rs_cloud_layout;
/* Every ray has its place in `out`; *returns counts those that are valid. */
rs_status rs_world_scan_cloud(rs_world *world, const rs_lidar *lidar, const rs_ray_rule *rule,
                              const rs_cloud_layout *layout, void *out, int64_t *returns);

/* A camera: +x forward, y left, z up; square pixels, the first row on top. */
typedef struct {
    double position[3], quaternion[4]; /* world frame */
    int32_t width, height;
    double horizontal_fov; /* full angle [rad] */
    double near, far;      /* along +x [m] */
    int32_t tell_range;    /* nonzero: depth is -infinity nearer than `near`, +infinity without return (REP 117) */
    rs_noise noise;        /* of the depth */
} rs_depth_camera;
rs_status rs_depth_camera_valid(const rs_depth_camera *camera);
/* Per pixel: depth along +x (NaN: nothing within near..far), place of the object in the list (-1: none), its local body
 * (0 for a single one, -1: none) and world point (NaN). Any pointer may be NULL. */
rs_status rs_world_scan_depth(rs_world *world, const rs_depth_camera *camera, const rs_ray_rule *rule, float *depth,
                              int32_t *object_index, int32_t *local_index, double *points);

/* Light from far away, or from a point. */
typedef struct {
    double direction[3];  /* of the light, world frame, unit */
    int32_t near;         /* nonzero: it shines from `position` */
    double position[3];   /* world frame [m] */
    double cos_cutoff;    /* near: nothing is lit beyond this angle to `direction`; -1: all around */
    double color[3];      /* red, green, blue, 0..1 */
    double ambient;       /* share of the light that comes from everywhere, 0..1 */
    double background[3]; /* red, green, blue where nothing is, 0..1 */
    int32_t shadows;
    double shadow_reach;  /* things farther away than this from a point do not shade it [m] */
} rs_light;
/* An image on a mesh. */
typedef struct {
    int32_t width, height;
    const uint8_t *rgb; /* rows from the top */
    const float *uv;    /* 6 per triangle, in the order in which the mesh was given: where its corners lie in the image, which
                           is 0..1 wide (u, to the right) and high (v, up) and repeats itself */
} rs_texture;
/* What the objects in the list look like. Those of object i are the rows first[i] to first[i + 1] - 1 of `rgb`: one for
 * each of its shapes, or one for each sample of its heightmap; an object without rows is not seen. */
typedef struct {
    int64_t object_count;
    const int64_t *first; /* object_count + 1 numbers */
    const float *rgb;     /* red, green, blue, 0..1 */
    const int32_t *image; /* number of the texture of each row, -1: plain; NULL: all are */
    const rs_texture *textures;
    const float *shares; /* 256 numbers: what the bytes of textures stand for, 0..1 */
} rs_looks;
/* Colours, 3 bytes per pixel. */
rs_status rs_world_scan_color(rs_world *world, const rs_depth_camera *camera, const rs_ray_rule *rule,
                              const rs_light *light, const rs_looks *looks, uint8_t *rgb);

/* How a picture for people is lit. Colours are shares of light (linear), red, green, blue. */
typedef struct {
    double sun[3];        /* towards it, world frame */
    double sun_size;      /* half the angle under which it is seen [rad]: the softness of shadows */
    double sun_light[3];
    double sky_light[3];  /* from above */
    double bounce[3];     /* from below */
    double zenith[3];     /* what the sky looks like */
    double horizon[3];
    double gloss;         /* share of the sun that surfaces mirror */
    double tile;          /* edge of the tiles on endless planes [m]; 0: none */
    double fade;          /* distance at which things go over into the horizon [m] */
    int32_t samples;      /* rays through a pixel that is refined */
    int32_t everywhere;   /* nonzero: all are, otherwise edges and borders of shadows */
    int32_t occlusion;    /* nonzero: what stands around a point takes light of the sky away */
} rs_picture;
/* A picture, 3 bytes per pixel (sRGB). The rgb of `looks` are shares of light. `scratch` has room for two numbers per pixel. */
rs_status rs_world_paint(rs_world *world, const rs_depth_camera *camera, const rs_ray_rule *rule,
                         const rs_picture *style, const rs_looks *looks, uint32_t *scratch, uint8_t *rgb);

/* ---- snapshots ---- */

typedef struct rs_snapshot rs_snapshot;
/* A deep copy of everything that decides the future. */
rs_status rs_snapshot_save(rs_world *world, rs_snapshot **out);
/* Objects removed since come back under their old ids, objects added since are gone; their ids are not reused. */
rs_status rs_snapshot_restore(rs_world *world, const rs_snapshot *snapshot);
void rs_snapshot_destroy(rs_snapshot *snapshot);

/* ---- batches: many copies of one world, stepped by threads in one call ---- */

typedef struct rs_batch rs_batch;

/* `count` copies of a world, which share its meshes. The state of the world at this moment is the start to which members
 * return. One call at a time for a batch and its members. */
rs_status rs_batch_create(rs_world *source, int64_t count, int32_t threads, rs_batch **out);
void rs_batch_destroy(rs_batch *batch);
/* A member, which lives as long as the batch. */
rs_world *rs_batch_member(rs_batch *batch, int64_t index);

/* What an array of a batch holds: a row per member. Rows that can be written are carried over to their members before a
 * step, when they differ from what was read. Poses: x y z, quaternion w x y z. */
typedef enum {
    RS_CHANNEL_FIELD = 0,   /* rs_articulation_field `field` */
    RS_CHANNEL_POSE,        /* of an object; that of a floating base can only be read */
    RS_CHANNEL_TWIST,       /* velocity of the centre of mass (articulated: of the base's origin) and angular velocity;
                               that of an articulated system can only be read */
    RS_CHANNEL_LINK_POSE,   /* of each of `links`; read only */
    RS_CHANNEL_LINK_TWIST,  /* velocity of the origin, angular velocity, of each of `links`; read only */
    RS_CHANNEL_LINK_FORCE,  /* sum of the contact forces on each of `links` in the last step, world frame [N]; read only */
    RS_CHANNEL_LINK_WRENCH, /* commanded wrench on each of `links`: force at its centre of mass, torque, world frame */
    RS_CHANNEL_MASS,        /* of each of `links` [kg] */
    RS_CHANNEL_COM,         /* centre of mass of each of `links`, its frame [m] */
    RS_CHANNEL_INERTIA,     /* of each of `links`: xx yy zz xy xz yz about its centre of mass, its axes [kg m^2] */
    RS_CHANNEL_MATERIAL,    /* rs_material_pair of `material_a` and `material_b`: its numbers */
    RS_CHANNEL_GRAVITY,     /* 3 numbers */
    RS_CHANNEL_TIME,        /* 1 number; read only */
    RS_CHANNEL_IMU,         /* specific force and angular velocity at the mount, its axes; read only */
    RS_CHANNEL_RAYS,        /* distances along rays that are fixed to the mount, at most ray_length; read only */
    RS_CHANNEL_DEPTH,       /* float per pixel of a camera at the mount; read only */
    RS_CHANNEL_KIND_COUNT
} rs_channel_kind;

typedef struct {
    int32_t kind;         /* rs_channel_kind */
    rs_object_id object;  /* of all but materials, gravity and time */
    int32_t field;
    int32_t link_count;
    const int32_t *links; /* 0 of a single body */
    int32_t material_a, material_b;
    int32_t mount_link;   /* sensors: the link that carries them, and where */
    double mount_position[3], mount_quaternion[4];
    int32_t ray_count;
    const double *ray_origins, *ray_directions; /* 3 numbers each, mount frame; directions are unit vectors */
    double ray_length, ray_offset; /* the offset is subtracted from all distances [m] */
    int32_t ray_level;    /* nonzero: only the heading of the link turns the rays */
    rs_depth_camera camera; /* its pose is not read; the member's number is added to the seed of its noise */
    int32_t see_carrier;  /* nonzero: rays and cameras see the object that carries them */
} rs_channel_def;
void rs_default_channel_def(rs_channel_def *def);

/* The array of a channel: `count` rows of `width` numbers (double; float for depth), owned by the batch. */
typedef struct {
    void *data;
    int64_t width;
    int32_t writable;
} rs_channel_view;
rs_status rs_batch_add_channel(rs_batch *batch, const rs_channel_def *def, rs_channel_view *out);

/* Members are named by `members` (NULL: all, and `number` is not read). An error names the member. */

/* Carries changed rows over to the members, advances all of them by n steps and reads all arrays. A row that is refused
 * is an error before any member is stepped. A member that diverges returns to the start and is marked. */
rs_status rs_batch_step(rs_batch *batch, int64_t n);
/* Carries changed rows over and reads all arrays. */
rs_status rs_batch_refresh(rs_batch *batch, int64_t number, const int64_t *members);
/* States, commands and time return to those of a snapshot of a member, or of the start when it is NULL; parameters and what
 * is static stay. */
rs_status rs_batch_reset(rs_batch *batch, int64_t number, const int64_t *members, const rs_snapshot *snapshot);
/* All of a member returns to a snapshot of a member. */
rs_status rs_batch_restore(rs_batch *batch, int64_t index, const rs_snapshot *snapshot);
/* Members take heightmap `choice[k]` of `map_count`, all of the size and number of samples of the present one. */
rs_status rs_batch_set_heightmap(rs_batch *batch, int64_t number, const int64_t *members, rs_object_id object,
                                 int64_t map_count, int64_t samples, const double *heights, const int64_t *choice);
/* One byte per member: 1 when it diverged in the last call of rs_batch_step(). */
const uint8_t *rs_batch_diverged(rs_batch *batch);

/* ---- tools ---- */

typedef struct {
    double position[3];
    double normal[3]; /* towards A */
    double gap;       /* negative when penetrating [m] */
} rs_contact_point;
/* Contact points of two shapes on their own (poses in the world frame, shape frames ignored), without a step. Points
 * closer than `margin` are reported, at most 8. */
rs_status rs_world_collide_shapes(rs_world *world, const rs_shape_def *a, const rs_shape_def *b, double margin,
                                  rs_contact_point *out, int32_t *count);

/* cdef end */

#endif
