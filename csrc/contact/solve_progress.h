/* What the files of the solve of an island share: how far it has come (solve_progress.c) and the methods among which the policy
 * of solve_island.c chooses (solve_methods.c). */
#ifndef RS_CONTACT_SOLVE_PROGRESS_H
#define RS_CONTACT_SOLVE_PROGRESS_H

#include "solve_island.h"

typedef struct {
    double largest; /* violation [m/s] */
    double merit;   /* sum of their squares */
} rs_measure;

typedef struct {
    rs_rows *rows;
    rs_newton *newton;
    const rs_solve_input *input;
    rs_solve_result result;
    rs_measure now, best;
    double exact, perfect, good, moving, goal, fine, touching; /* [m/s] */
    double sweep_work;  /* of all rows, in multiplications */
    double budget;      /* of Newton's method, likewise */
    int32_t age;        /* sweeps since the momentum started anew */
    double newton_work; /* of one of its steps; infinite where it cannot be used */
    double pace;        /* of sweeps: the share of the violation that the last round has left */
    bool stuck;         /* exact steps from the best solution so far lead nowhere */
    bool spun;          /* some contact slipped without load when Newton's method began */
} rs_progress;

/* ---- solve_progress.c ---- */

/* Finds the errors of the rows. */
rs_measure rs_rows_measure(rs_rows *rows);
/* The next sweep begins without momentum. */
void rs_rows_forget_changes(rs_rows *rows);
void rs_progress_forget_momentum(rs_progress *at);
/* Velocities that belong to the impulses in `step`, summed up anew: they carry no trace of how the impulses were found. */
void rs_rows_start_from_steps(rs_rows *rows);
/* Measures the present impulses, and keeps them if they are the best. */
void rs_progress_look(rs_progress *at);
/* The best impulses, and their velocities summed up anew: always, or unless they are the present ones. */
void rs_progress_sum_up_best(rs_progress *at);
void rs_progress_return_to_best(rs_progress *at);
/* Whether something slips faster than gravity could make it in a step. */
bool rs_progress_slips(const rs_progress *at);
/* The violation that sweeps and paths aim for: what rests must not creep [m/s]. */
double rs_progress_fair(const rs_progress *at);
/* Whether it is large beside the approach speed: worth much more work. */
bool rs_progress_is_poor(const rs_progress *at);

/* ---- solve_methods.c: paths and exact steps count against the budget ---- */

/* At most so many sweeps, until the violation is fair. */
void rs_progress_sweep(rs_progress *at, int64_t most);
/* Prepares Newton's method, if a step takes no more than `most_work`. */
void rs_progress_find_newton_work(rs_progress *at, double most_work);
/* Redundant rows share their load anew, those that touch without any load too, until none of them has to let go. True when
 * that leads to a solution at once. */
bool rs_progress_share_loads(rs_progress *at, int attempts);
/* Exact steps until the laws are obeyed, or they lead nowhere. */
void rs_progress_take_exact_steps(rs_progress *at);
/* A start for rows whose impulses are not known: all share the load evenly, as if they were soft. Sweeps would begin with
 * the first row, and friction might hold on to what it finds there. */
void rs_progress_start_evenly(rs_progress *at);
/* Sweeps while they pay, then the interior-point method; of single bodies a few more after it, and where it does not fit. */
void rs_progress_go_inside(rs_progress *at);
/* Paths from the best impulses, and where that leads nowhere from none; with a budget of their own, a smaller one where they are
 * `dear`. */
void rs_progress_follow_paths(rs_progress *at, bool dear);
/* An arc, and paths from its end; likewise. */
void rs_progress_follow_arc(rs_progress *at);

#endif
