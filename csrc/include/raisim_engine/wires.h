/* Wires. See raisim_engine.h. */
#ifndef RAISIM_ENGINE_WIRES_H
#define RAISIM_ENGINE_WIRES_H

#include "core.h"

/* cdef begin */

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
rs_status rs_wire_get_def(rs_world *world, rs_wire_id id, rs_wire_def *out);
/* Wakes what hangs on the wire. */
rs_status rs_wire_set_properties(rs_world *world, rs_wire_id id, const rs_wire_properties *properties);

typedef struct {
    double point[2][3]; /* ends, world frame [m] */
    double distance;    /* of the ends [m] */
    double stretch;     /* distance - length [m] */
    double normal[3];   /* unit, from the first end to the second; where they coincide, the last one that was known */
    double tension;     /* positive pulls [N]: stiff: mean of the last step; compliant: at this stretch; custom: as set */
} rs_wire_state;
/* At the present poses. */
rs_status rs_wire_get_state(rs_world *world, rs_wire_id id, rs_wire_state *out);

int64_t rs_world_wire_count(rs_world *world);
/* Ids and states in the order in which the wires were made; either pointer may be NULL. */
rs_status rs_world_read_wires(rs_world *world, int64_t capacity, rs_wire_id *ids, rs_wire_state *states);

/* cdef end */

#endif
