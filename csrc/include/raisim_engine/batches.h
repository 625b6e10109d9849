/* Batches: many copies of one world, stepped by threads in one call. See raisim_engine.h. */
#ifndef RAISIM_ENGINE_BATCHES_H
#define RAISIM_ENGINE_BATCHES_H

#include "articulations.h"
#include "core.h"
#include "sensors.h"
#include "snapshots.h"

/* cdef begin */

typedef struct rs_batch rs_batch;

/* `count` copies of a world, which share its meshes. The state of the world at this moment is the start to which members
 * return. Calls of several threads wait for one another; what they write to rows meanwhile is theirs to order. */
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
    RS_CHANNEL_CONTROL,     /* of each of `actuators`: acts from the next step on; zero after resets. Never read from the
                               world: forces that were set otherwise are replaced */
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
    int32_t actuator_count;
    const rs_actuator *actuators;
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
 * is an error before any member is stepped. A member that diverges returns to the start and is marked.
 *
 * Only as many of the n steps as take about so many seconds are made, at least one: `done`. The same again, with `go_on` and
 * what is left of n, until all are made; arrays are read by the last call, and members that diverged wait at the start. */
rs_status rs_batch_step(rs_batch *batch, int64_t n, double seconds, int32_t go_on, int64_t *done);
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

/* cdef end */

#endif
