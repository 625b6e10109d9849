/* The one policy by which all islands are solved, and the certificate of each solve. */
#ifndef RS_CONTACT_SOLVE_ISLAND_H
#define RS_CONTACT_SOLVE_ISLAND_H

#include "../include/raisim_engine.h"
#include "newton.h"

/* What is known about a solve. */
typedef struct {
    int32_t sweeps, newtons; /* how often each method was used */
    double approach;   /* largest violation of the laws without any impulse [m/s] */
    double residual;   /* and with the impulses found [m/s] */
    double work;       /* energy that the impulses gave to the island; never more than rounding and the residual allow [J] */
    bool restrained;   /* bounces or impulses had to be reduced for that */
    bool uneven;       /* redundant rows could not share their loads anew: some of them would have to let go */
} rs_solve_result;

typedef struct {
    const rs_solver_settings *settings;
    double fall;   /* speed that gravity adds in a step [m/s] */
    bool settled;  /* the impulses of the step before needed no change then */
    bool backward; /* direction of the sweeps */
    bool uneven;   /* not long ago rows could not share their loads anew */
} rs_solve_input;

/* Finds the impulses of the rows and leaves the velocities that go with them. Rows start from the impulses they hold. */
rs_solve_result rs_island_solve(rs_rows *rows, const rs_solve_input *input, rs_newton *newton);

#endif
