/* Per-contact iteration: sweeps over the contacts of an island, solving each one exactly against Coulomb's law while
 * the others stand still (after Hwangbo, Lee, Hutter, RA-L 2018). */
#ifndef RS_CONTACT_CONTACT_SOLVER_H
#define RS_CONTACT_CONTACT_SOLVER_H

#include "contact.h"

typedef struct {
    int32_t iterations;
    double error; /* squared relative change of the impulses in the last sweep */
} rs_solve_result;

/* Impulse (t1, t2, n) of one contact with friction mu: v = g * impulse + c obeys
 * open (v_n > 0), stick (v = 0) or slip (v_n = 0, impulse on the cone, against the slip). `guess` starts the search
 * for the direction of slip. */
rs_vec3 rs_contact_solve_one(const rs_sym3 *g, const rs_sym3 *g_inverse, double mu, rs_vec3 c, rs_vec3 guess);

/* Solves the rows of one island and updates the bodies' velocities. Rows start from the impulses they hold. */
rs_solve_result rs_contact_solve(rs_row *rows, int64_t count, rs_solver_body *bodies,
                                 const rs_solver_settings *settings, bool backward);

#endif
