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
    bool settled;      /* the impulses that the rows held were as good as any that were found */
    bool restrained;   /* bounces or impulses had to be reduced for that */
    int32_t uneven;    /* solves for which redundant rows do not share their loads anew: positive where some of them would
                          have to let go, negative where they have just done so */
} rs_solve_result;

typedef struct {
    const rs_solver_settings *settings;
    double fall;   /* speed that gravity adds in a step [m/s] */
    bool settled;  /* what the solve of the step before said of itself */
    bool backward; /* direction of the sweeps */
    int32_t uneven; /* of the solve of the step before */
} rs_solve_input;

/* Finds the impulses of the rows and leaves the velocities that go with them. Rows start from the impulses they hold. */
rs_solve_result rs_island_solve(rs_rows *rows, const rs_solve_input *input, rs_newton *newton);

#endif
