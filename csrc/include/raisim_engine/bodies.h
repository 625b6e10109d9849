/* Single bodies. See raisim_engine.h. */
#ifndef RAISIM_ENGINE_BODIES_H
#define RAISIM_ENGINE_BODIES_H

#include "core.h"
#include "shapes.h"

/* cdef begin */

typedef enum { RS_BODY_DYNAMIC = 0, RS_BODY_KINEMATIC, RS_BODY_STATIC } rs_body_type;

typedef enum {
    RS_GYRO_ENERGY_CONSERVING = 0, /* implicit midpoint in the body frame: energy and momentum to rounding */
    RS_GYRO_IMPLICIT_BODY,         /* implicit Euler in the body frame: stable, damps */
    RS_GYRO_IMPLICIT_WORLD,        /* implicit Euler in the world frame */
    RS_GYRO_EXPLICIT,
    RS_GYRO_NONE
} rs_gyroscopic_mode;

typedef struct {
    int32_t body_type; /* rs_body_type */
    double mass;       /* [kg] */
    double com[3];     /* centre of mass in the body frame [m] */
    double inertia[6]; /* xx yy zz xy xz yz about the centre of mass, body frame [kg m^2]; in an rs_body_def all zero: that
                          of a uniform solid, from the shapes */
    double linear_damping;     /* air drag [N s/m] */
    double angular_damping[3]; /* per body axis [N m s/rad] */
    int32_t gyroscopic_mode;   /* rs_gyroscopic_mode */
} rs_body_properties;

typedef struct {
    double position[3];        /* body origin [m] */
    double quaternion[4];
    double linear_velocity[3]; /* of the centre of mass [m/s] */
    double angular_velocity[3];
} rs_body_state;

typedef struct {
    int32_t object_type; /* free for the caller */
    rs_body_properties properties;
    rs_body_state state;
    uint64_t collision_group, collision_mask;
    int32_t shape_count;
    const rs_shape_def *shapes;
} rs_body_def;

void rs_default_body_def(rs_body_def *def);
rs_status rs_body_create(rs_world *world, const rs_body_def *def, rs_object_id *out);

rs_status rs_body_get_state(rs_world *world, rs_object_id id, rs_body_state *out);
/* Wakes the object. The quaternion is normalised unless it is a unit one within 1e-12. */
rs_status rs_body_set_state(rs_world *world, rs_object_id id, const rs_body_state *state);
/* Acceleration of the centre of mass and angular acceleration in the last step, world frame: zero for bodies that sleep
 * or are static. */
rs_status rs_body_get_acceleration(rs_world *world, rs_object_id id, double linear[3], double angular[3]);

rs_status rs_body_get_properties(rs_world *world, rs_object_id id, rs_body_properties *out);
rs_status rs_body_set_properties(rs_world *world, rs_object_id id, const rs_body_properties *properties);

/* Adds a force at a point (world frame) and a torque for the next step only. */
rs_status rs_body_add_force(rs_world *world, rs_object_id id, const double force[3], const double point[3]);
rs_status rs_body_add_torque(rs_world *world, rs_object_id id, const double torque[3]);

/* Swaps the heightmap's grid (same object, new heights or size) and moves its centre. */
rs_status rs_body_set_heightmap(rs_world *world, rs_object_id id, rs_asset_id asset, const double position[3]);

/* cdef end */

#endif
