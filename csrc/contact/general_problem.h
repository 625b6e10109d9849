/* Rows of an island that holds articulated systems or wires: contacts of links and bodies, wires, joint limits, joint
 * friction and motors. */
#ifndef RS_CONTACT_GENERAL_PROBLEM_H
#define RS_CONTACT_GENERAL_PROBLEM_H

#include "../dynamics/joint_rows.h"
#include "contact_problem.h"
#include "general_solver.h"
#include "island.h"
#include "wire.h"

typedef struct {
    rs_array rows;    /* rs_general_row */
    rs_array sources; /* rs_row_source: where the results go */
    rs_array numbers; /* double: entries of rows and velocities of single bodies; never grows while rows are made */
    rs_array places;  /* int32_t per body: where a single body's velocity lies in `numbers`, or RS_NONE */
    rs_array joints;  /* rs_joint_row: of one articulated system */
    rs_array matrix;  /* double: scratch of the start values of wires */
    rs_general_jump jump;
    int64_t used;     /* of `numbers` */
} rs_general_problem;

rs_general_problem rs_general_problem_new(void);
void rs_general_problem_free(rs_general_problem *problem);

typedef struct {
    rs_problem_input common;
    rs_body *bodies;
    int64_t body_count;
    rs_touch *touches;
    rs_wire *wires;
    const rs_islands *islands;
    rs_solver_body *solver_bodies;
    rs_push_body *pushes;
    bool backward;
} rs_general_input;

/* Builds and solves one island; velocities of its bodies and articulations, and impulses of its contacts, wires, limits
 * and frictions are updated. `pushed`: something overlaps, and the motion that removes it was written into `pushes` and
 * the articulations. */
rs_status rs_general_island_solve(rs_general_problem *problem, const rs_general_input *input, int32_t island,
                                  rs_solve_result *result, bool *pushed);

#endif
