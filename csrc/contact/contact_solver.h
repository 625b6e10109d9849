/* Per-contact iteration: sweeps over the contacts of an island, solving each one exactly against Coulomb's law while
 * the others stand still (after Hwangbo, Lee, Hutter, RA-L 2018). Stacks take a shortcut: see direct_solver.h. */
#ifndef RS_CONTACT_CONTACT_SOLVER_H
#define RS_CONTACT_CONTACT_SOLVER_H

#include "contact.h"
#include "direct_solver.h"
#include "island.h"

typedef struct {
    int32_t iterations;
    double error; /* squared relative change of the impulses in the last sweep */
} rs_solve_result;

/* Impulse (t1, t2, n) of one contact with friction mu: v = g * impulse + c obeys
 * open (v_n > 0), stick (v = 0) or slip (v_n = 0, impulse on the cone, against the slip). */
rs_vec3 rs_contact_solve_one(const rs_sym3 *g, double mu, rs_vec3 c);
/* An impulse put back onto the friction cone, at the same height. */
rs_vec3 rs_contact_onto_cone(rs_vec3 impulse, double mu);

/* What belongs to one island. */
typedef struct {
    rs_row *rows;
    int64_t count;
    rs_island_bodies members;
    rs_solver_body *bodies; /* of the whole world */
    int64_t world_body_count;
    rs_direct_solver *direct;
    int32_t *busy;          /* scratch, one entry per row */
    int64_t busy_count;
} rs_contact_island;

/* Solves the rows of one island and updates the bodies' velocities. Rows start from the impulses they hold. */
rs_solve_result rs_contact_solve(rs_contact_island *island, const rs_solver_settings *settings, bool backward);

#endif
