/* Tools that need no object. See raisim_engine.h. */
#ifndef RAISIM_ENGINE_TOOLS_H
#define RAISIM_ENGINE_TOOLS_H

#include "core.h"
#include "shapes.h"

/* cdef begin */

typedef struct {
    double position[3];
    double normal[3]; /* towards A */
    double gap;       /* negative when penetrating [m] */
} rs_contact_point;
/* Contact points of two shapes on their own (poses in the world frame, shape frames ignored), without a step. Points
 * closer than `margin` are reported, at most 8. */
rs_status rs_world_collide_shapes(rs_world *world, const rs_shape_def *a, const rs_shape_def *b, double margin,
                                  rs_contact_point *out, int32_t *count);

/* Calls a function of another C library, `int function(void *, void *)` or, with three arguments, with NULL behind them,
 * for first[i] and second[i]; how many calls did not return 0. From Python a thousand calls would cost more than what
 * they do. */
int64_t rs_call_each(void (*function)(void), int32_t arguments, int64_t count, void *const *first, void *const *second);

/* A function that other C libraries may call, on any thread, when something has happened: adds to the int64_t at
 * `counter`. So Python need not ask a thousand of them again and again. */
void rs_add_to_counter(const void *counter, size_t happened);

/* cdef end */

#endif
