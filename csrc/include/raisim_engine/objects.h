/* Objects of every kind, one by one and all at once. See raisim_engine.h. */
#ifndef RAISIM_ENGINE_OBJECTS_H
#define RAISIM_ENGINE_OBJECTS_H

#include "core.h"
#include "shapes.h"

/* cdef begin */

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

/* Replaces shape and placement (in its body or link frame) of one collision body, counted within the object. */
rs_status rs_object_set_shape(rs_world *world, rs_object_id id, int32_t number, const rs_shape_def *shape);
/* local = -1 means every collision body of the object. */
rs_status rs_object_set_filter(rs_world *world, rs_object_id id, int32_t local, uint64_t group, uint64_t mask);
rs_status rs_object_get_filter(rs_world *world, rs_object_id id, int32_t local, uint64_t *group, uint64_t *mask);
rs_status rs_object_set_material(rs_world *world, rs_object_id id, int32_t local, int32_t material);
rs_status rs_object_get_material(rs_world *world, rs_object_id id, int32_t local, int32_t *material);
/* One material per collision body, in order; `count` must be their number. */
rs_status rs_object_set_materials(rs_world *world, rs_object_id id, const int32_t *materials, int32_t count);
rs_status rs_object_get_materials(rs_world *world, rs_object_id id, int32_t *materials, int32_t count);
/* Group and mask of each collision body, in order; `count` must be their number. */
rs_status rs_object_get_filters(rs_world *world, rs_object_id id, uint64_t *groups, uint64_t *masks, int32_t count);
rs_status rs_object_wake(rs_world *world, rs_object_id id);
int32_t rs_object_is_sleeping(rs_world *world, rs_object_id id);

/* ---- bulk reads: one call for the whole world, rows in list order ---- */
/* Rows for all objects; any pointer may be NULL. World frame. */
typedef struct {
    uint64_t configuration_number; /* of the world whose objects there is room for */
    int32_t w_last;                /* quaternions are x y z w, as messages have them, not w x y z */
    double *pose;                  /* x y z and quaternion */
    double *twist;                 /* linear at the body origin, angular */
    double *wrench;                /* at the centre of mass, of commands and external forces in the last step */
    uint8_t *sleeping;
} rs_state_rows;
/* RS_WRONG_STATE, and nothing written: since the rows were made, something was added or removed. */
rs_status rs_world_read_states(rs_world *world, const rs_state_rows *out);
/* The same for all articulated systems one behind the other. */
typedef struct {
    uint64_t configuration_number;
    int32_t w_last;
    double *link_pose, *link_twist, *link_wrench; /* 7, 6 and 6 numbers per link as above, the base link first; wrenches of
                                                     commands only */
    double *q, *u, *applied_force;                /* as in the fields; forces of the last step */
} rs_articulation_rows;
rs_status rs_world_read_articulations(rs_world *world, const rs_articulation_rows *out);

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

/* cdef end */

#endif
