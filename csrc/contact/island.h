/* Islands: groups of dynamic bodies that touch each other or hang on the same wire, directly or through one another. They are solved apart
 * and sleep together. */
#ifndef RS_CONTACT_ISLAND_H
#define RS_CONTACT_ISLAND_H

#include "contact.h"
#include "wire.h"

/* A part of a list that is ordered by island. */
typedef struct {
    int64_t first, count;
} rs_span;

typedef struct {
    rs_span rows, bodies, wires; /* its touching points, bodies and wires in the lists of rs_islands */
    bool general;                /* has articulated systems, wires or friction against turning: rows_tree.c, not rows_body.c */
    bool pushed;                 /* overlaps are being corrected in this step */
    bool carried;                /* touches or hangs on something that moves by itself */
    bool quiet;                  /* every body has been slow for long enough */
} rs_island;
RS_ARRAY_OF(rs_island);

/* Some of the world's bodies, by their places in it: the dynamic ones of an island, or those that a step looks at. */
typedef struct {
    const int32_t *index;
    int64_t count;
} rs_island_bodies;

typedef struct {
    RS_ARRAY(int32_t) parent;  /* per body: union-find */
    RS_ARRAY(int32_t) of_body; /* per listed body: island, RS_NONE for sleeping, static and kinematic ones */
    RS_ARRAY(rs_island) islands;
    RS_ARRAY(int32_t) order;  /* touching points of awake islands, grouped by island, else in list order */
    RS_ARRAY(int32_t) wires;  /* wires of awake islands, grouped by island */
    RS_ARRAY(int32_t) bodies; /* awake dynamic bodies, grouped by island */
} rs_islands;

void rs_islands_free(rs_islands *islands);
rs_island_bodies rs_islands_bodies(const rs_islands *islands, const rs_island *island);
/* Its wires: indices into the world's list. */
const int32_t *rs_islands_wires(const rs_islands *islands, const rs_island *island);

/* Whether a wire hangs a sleeping body on one that moves. */
bool rs_wires_disturb(const rs_body *bodies, const RS_ARRAY(rs_wire) *wires);
/* Wakes sleepers that touch or hang on something awake or moving, all bodies being listed. They take part in this very
 * step: a blow is felt when it lands. */
rs_status rs_islands_wake(rs_islands *islands, rs_body *bodies, int64_t body_count, const rs_collider *colliders,
                          const RS_ARRAY(rs_touch) *touches, const RS_ARRAY(rs_wire) *wires);

/* Groups the listed bodies and the touching points, places the wires and groups them. */
rs_status rs_islands_build(rs_islands *islands, const rs_body *bodies, int64_t body_count, rs_island_bodies listed,
                           RS_ARRAY(rs_touch) *touches, RS_ARRAY(rs_wire) *wires);

/* After integration: counts quiet steps and puts islands to sleep. `before` holds the velocities at the beginning of
 * the step, `dt` turns their change into accelerations; `pushes` are read where an island was pushed. */
void rs_islands_sleep(rs_islands *islands, const rs_sleep_settings *settings, rs_body *bodies, rs_island_bodies listed,
                      const rs_solver_body *before, const rs_push_body *pushes, double dt);

#endif
