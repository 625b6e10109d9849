/* Tendons and drives of articulated systems, and poses that objects are commanded to. See raisim_engine.h. */
#ifndef RAISIM_ENGINE_DRIVES_H
#define RAISIM_ENGINE_DRIVES_H

#include "core.h"

/* cdef begin */

/* ---- tendons and drives ---- */
/* Length, speed, and the force along it in the last step of drives, of spring and damper, friction and limits. */
rs_status rs_articulation_get_tendon(rs_world *world, rs_object_id id, int32_t tendon, double out[6]);
/* How the length of a tendon changes with each degree of freedom; u_count numbers. */
rs_status rs_articulation_tendon_arms(rs_world *world, rs_object_id id, int32_t tendon, double *out);
/* Controls and activations of all drives; the latter are zero where a drive has no dynamics. */
rs_status rs_articulation_get_drives(rs_world *world, rs_object_id id, int32_t count, double *controls, double *activations);
rs_status rs_articulation_activate(rs_world *world, rs_object_id id, int32_t count, const double *activations);

/* Loads for the next step only. The point is in the link frame and moves with the link; the force is in the world
 * frame. */
rs_status rs_articulation_add_force(rs_world *world, rs_object_id id, int32_t link, const double point[3],
                                    const double force[3]);
rs_status rs_articulation_add_torque(rs_world *world, rs_object_id id, int32_t link, const double torque[3],
                                     int32_t in_link_frame);

/* ---- commands to bodies and links ---- */
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

/* Force at the centre of mass of a link, 0 for a single body, and torque on it, world frame, in every step until replaced;
 * zeros end it. */
rs_status rs_object_set_command_wrench(rs_world *world, rs_object_id id, int32_t link, const double force[3],
                                       const double torque[3]);
/* Drops the forces and torques that were added for the next step. */
rs_status rs_object_clear_loads(rs_world *world, rs_object_id id);
/* A dynamic body, or a robot with a floating base, follows the target in every step until the next command; this ends a
 * command wrench, as a command wrench ends this. */
rs_status rs_object_set_command_pose(rs_world *world, rs_object_id id, const rs_pose_gains *gains,
                                     const rs_pose_target *target);

/* cdef end */

#endif
