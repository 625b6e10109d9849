/* Makes a body follow a commanded pose: PID on the place of its centre of mass and on its orientation.
 *
 * The step's mean position and velocity enter the force (trapezoidal rule), so that any gains are stable: the force is
 * the one at the beginning, and what the step's own acceleration changes about it appears as additional mass. */
#ifndef RS_DYNAMICS_POSE_CONTROLLER_H
#define RS_DYNAMICS_POSE_CONTROLLER_H

#include "articulated.h"
#include "rigid_body.h"

typedef struct {
    int32_t body; /* index in the world */
    rs_pose_gains gains;
    bool follows_velocity; /* the target moves only as far ahead as its force may become large */

    /* target: pose and velocity of the body origin, world frame */
    rs_vec3 position;
    rs_quat quaternion;
    rs_vec3 velocity, omega;

    rs_vec3 integral, angular_integral; /* of the errors, world frame [m s, rad s] */

    /* of an articulated system, when the command came */
    double robot_mass;    /* [kg] */
    double robot_inertia; /* mean moment about its centre of mass [kg m^2] */

    /* written in each step: force at the centre of mass and torque, before what the step's acceleration takes away */
    rs_vec3 force, torque;
    rs_vec3 carried;        /* force that carries the weight; nothing takes it away */
    double weight;          /* what it takes away per acceleration [kg] */
    rs_sym3 angular_weight; /* world frame [kg m^2] */
} rs_pose_controller;
RS_ARRAY_OF(rs_pose_controller);

/* The target is where the body is now. */
void rs_pose_controller_anchor(rs_pose_controller *controller, const rs_body *body);

/* Force and weight for the step that begins at the body's present state; the target and the integrals move on. */
void rs_pose_controller_update(rs_pose_controller *controller, const rs_body *body, rs_vec3 gravity, double dt);

/* Lets the controller act on a single body whose free velocity is known. */
void rs_pose_controller_drive(const rs_pose_controller *controller, const rs_body *body, double dt,
                              rs_solver_body *out);
/* After the step: adds what the controller applied to a single body to the loads that are reported. */
void rs_pose_controller_report(const rs_pose_controller *controller, rs_body *body);

/* Force and torque for the base link of an articulated system, softened as if the robot were one rigid body. */
rs_pair6 rs_pose_controller_base_wrench(const rs_pose_controller *controller);

#endif
