/* Materials and their pairs. See raisim_engine.h. */
#ifndef RAISIM_ENGINE_MATERIALS_H
#define RAISIM_ENGINE_MATERIALS_H

#include "core.h"

/* cdef begin */

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
rs_status rs_material_get_name(rs_world *world, int32_t index, char *out);
rs_status rs_material_set_pair(rs_world *world, int32_t a, int32_t b, const rs_material_pair *pair);
rs_status rs_material_set_default(rs_world *world, const rs_material_pair *pair);
/* The pair's own properties, else the default ones. */
rs_status rs_material_get_pair(rs_world *world, int32_t a, int32_t b, rs_material_pair *out);
void rs_material_get_default(rs_world *world, rs_material_pair *out);
/* Pairs with properties of their own, in a fixed order. */
int64_t rs_material_pair_count(rs_world *world);
rs_status rs_material_pair_at(rs_world *world, int64_t number, int32_t *a, int32_t *b, rs_material_pair *out);
/* Forgets all pairs and puts the default back; names stay. */
rs_status rs_material_clear(rs_world *world);

/* cdef end */

#endif
