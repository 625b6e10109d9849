/* Rows of islands that consist of single bodies: contacts, packed for the inner loop. */
#ifndef RS_CONTACT_ROWS_BODY_H
#define RS_CONTACT_ROWS_BODY_H

#include "../dynamics/rigid_body.h"
#include "island.h"
#include "row.h"

/* One contact: 3 unknown impulses (t1, t2, n). Relative velocity v = G * impulse + (all the rest). */
typedef struct {
    rs_law law;
    rs_quad ra, rb;    /* contact point from the centres of mass */
    rs_quad n;
    int32_t body_a, body_b;
    rs_quad t1, t2;
    rs_columns g, g_inverse;
    int32_t touch;     /* where the result goes */
} rs_body_row;
RS_ARRAY_OF(rs_body_row);

typedef struct {
    rs_rows rows; /* of rs_body_row */
    rs_island_bodies members;
    rs_solver_body *bodies; /* of the whole world */
    rs_push_body *pushes;   /* likewise; zero where nothing can move */
    int32_t *number;        /* per body of the world: its number within the island; filled here */
    struct rs_sweep_blocks *blocks; /* what sweeps work on */
    bool packed;            /* into blocks */
    bool sweeping;          /* impulses and velocities lie there */
    bool failed;            /* no memory for them */
} rs_body_rows;

static inline rs_body_row *rs_body_row_at(const rs_body_rows *self, int64_t k) {
    return &((rs_body_row *)(void *)self->rows.first)[k];
}

/* The rows of an island, which lie behind one another from `first`. */
rs_body_rows rs_body_rows_make(rs_body_row *first, int64_t count, rs_island_bodies members, rs_solver_body *bodies,
                               rs_push_body *pushes, int32_t *number, struct rs_sweep_blocks *blocks);

#endif
