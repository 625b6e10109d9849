/* The methods among which solve_island.c chooses. Each ends at the best impulses so far. */
#include "solve_progress.h"

/* Sweeps between looks. All rows are visited once in so many sweeps; in between those that changed by more than a share of what
 * is good enough. Sweeps end where all changes are below another. */
enum { ROUND_SWEEPS = 16, BUSY_SWEEPS = 16 };
static const double QUIET_SHARE = 0.1, DONE_SHARE = 0.1;
/* How much more friction counts than what pushes when redundant rows share a load. */
static const double SHEAR = 1e3;
/* Exact steps in a row: all of them, those that help little, the same where the best solution is good already, and repetitions
 * of each with the same factorisation. Steps in a row that lead away from the best solution so far, in search of the states of
 * the rows, and how far, relative to the approach speed. */
enum { MAX_STEPS = 24, MAX_EXACT = 6, MAX_POLISHING = 4, MAX_REPEATS = 5, MAX_DETOURS = 4 };
static const double FARTHEST_DETOUR = 30.0;
/* A step that leads uphill is halved until it does not, but no further than this. */
static const double SHORTEST_STEP = 0.1;
/* A repetition goes on while it removes this much of the violation. */
static const double PROGRESS = 0.25;
/* Compliance of held rows relative to their inverse mass: of exact steps, of an even start, the least. */
static const double COMPLIANCE = 1e-7, EVEN_COMPLIANCE = 1e-2, LEAST_COMPLIANCE = 1e-10;
/* That of paths: of the first, the most and the least, and by how much it grows where one breaks off and shrinks otherwise: much
 * where so few factorisations led to its end. */
static const double PATH_COMPLIANCE = 1e-2, MOST_COMPLIANCE = 0.3, SOFTER = 3.0, STIFFER = 0.5, MUCH_STIFFER = 0.1;
enum { EASY_PATH = 3 };
/* Paths in a row that leave more than this share of the least merit so far until no more are followed, where the violation is fair
 * in motion and where it is not, and how much worse one may end. */
enum { FEW_IN_VAIN = 12, MANY_IN_VAIN = 30 };
static const double GAIN = 0.9, FARTHEST_PATH = 100.0;
/* Starts of the interior-point method: from the best impulses, and with the other kind of lifts in turn, one may lead on where the
 * last one did not. Steps of each: all of them, and in a row that are shorter than a share. A step that leaves up to so many times
 * what is enough is looked at. Single bodies may have that much more than is fair left, which a few sweeps take away: mostly contacts
 * that are a little inside their cones. Where the method does not fit, sweeps go on. */
enum { MAX_STARTS = 3, MAX_INSIDE = 24, MAX_SHORT = 4, LAST_SWEEPS = 32, SWEEPS_INSTEAD = 96 };
static const double TOO_SHORT = 0.1, WORTH_A_LOOK = 2.0, LEFT_FOR_SWEEPS = 4.0;
/* Steps that it mostly takes, and their work in that of Newton's method. Sweeps that get there sooner go on: as long as
 * they have taken only a share of that work, and while the last round promises it. */
static const double USUAL_INSIDE = 12.0, INSIDE_WORK = 2.0, WORK_AT_RISK = 0.25;
/* Work of a row in a Newton step beside the factorisation, in multiplications of that. */
static const double ROW_WORK = 1500.0;
/* Paths may take so many times as long as all sweeps; and the last one where factorisations are dear. */
static const double PATH_SHARE = 24.0, DEAR_PATH_SHARE = 2.4;
/* Arcs, likewise, and where the violation is large; their compliance at the start, and at the end, from where paths mostly lead on
 * in far fewer steps: where they do not, the arc goes farther. */
static const double ARC_SHARE = 24.0, POOR_ARC_SHARE = 240.0;
static const double ARC_COMPLIANCE = 10.0, ARC_END = 1e-4, LAST_ARC_END = 1e-6;
/* Arcs of large islands may not take more multiplications than these: some tenths of a second. */
static const double MOST_ARC_WORK = 4e9;

/* Each sweep is a step of Nesterov's method; the momentum starts anew when it leads uphill (O'Donoghue and Candes
 * 2015), and pauses in the first sweep over new busy rows: those that were left out would not follow it. */
static void sweep(rs_progress *at, int count) {
    bool all = true, chosen = true;
    for (int k = 0; k < count; k++) {
        double momentum = at->age > 1 && !chosen ? (at->age - 1.0) / (at->age + 2.0) : 0.0;
        rs_sweep_result done = at->rows->layout->sweep(at->rows, momentum, at->input->backward,
                                                       all ? QUIET_SHARE * at->good : -1.0);
        at->age = done.ascent > 0.0 ? 1 : at->age + 1;
        at->result.sweeps++;
        if (all && done.largest < DONE_SHARE * at->good)
            break;
        chosen = all;
        all = (k + 1) % BUSY_SWEEPS == 0 || done.largest < DONE_SHARE * at->good;
    }
    rs_progress_look(at);
}

void rs_progress_sweep(rs_progress *at, int64_t most) {
    for (int64_t end = at->result.sweeps + most; at->now.largest > rs_progress_fair(at) && at->result.sweeps < end;) {
        double before = at->now.largest;
        sweep(at, ROUND_SWEEPS);
        at->pace = at->now.largest / before;
    }
    rs_progress_return_to_best(at);
}

void rs_progress_find_newton_work(rs_progress *at, double most_work) {
    double of_rows = ROW_WORK * (double)at->rows->count, most = most_work - of_rows;
    double work = rs_newton_begin(at->newton, at->rows, most);
    at->newton_work = work < 0.0 || work > most ? INFINITY : work + of_rows;
}

/* Pays for a factorisation. */
static bool newton_pays(rs_progress *at) {
    if (at->newton_work > at->budget)
        return false;
    at->budget -= at->newton_work;
    return true;
}

/* The step just taken leads uphill from the merit `last`: a part of it may not. Where that does, too, all of it is taken. */
static void shorten_step(rs_progress *at, double last) {
    double share = 1.0;
    while (share > SHORTEST_STEP && !(at->now.merit < last)) {
        share *= 0.5;
        at->rows->layout->apply(at->rows, -share);
        rs_progress_look(at);
    }
    if (!(at->now.merit < last)) {
        at->rows->layout->apply(at->rows, 1.0 - share);
        rs_progress_look(at);
    }
}

/* Repeats an exact step while it helps; the first leads to impulses that share anew what is not `kept`. */
static void repeat_exact(rs_progress *at, double kept) {
    double goal = at->newton->sliding > 0 ? at->goal : at->fine; /* what slides turns, and the factorisation does not */
    bool anew_pays = at->newton_work <= 2.0 * ROW_WORK * (double)at->rows->count; /* it costs no more than the rest of a step */
    for (int repeat = 0; repeat < MAX_REPEATS && at->now.largest > goal; repeat++) {
        double last = at->now.merit;
        bool anew = kept < 1.0 && repeat == 0;
        rs_newton_step(at->newton, at->rows, anew ? kept : 1.0);
        at->rows->layout->apply(at->rows, 1.0);
        rs_progress_look(at);
        if (!anew && at->now.merit > last)
            shorten_step(at, last);
        bool helped = at->now.merit < PROGRESS * PROGRESS * last;
        if (!helped && (!anew || at->now.largest > at->result.approach))
            break;
        if (anew_pays && at->newton->sliding > 0) /* what is left comes from its turning */
            break;
    }
}

bool rs_progress_share_loads(rs_progress *at, int attempts) {
    double before = at->now.merit;
    for (int k = 0; k < attempts && newton_pays(at); k++) {
        double touching = k == 0 ? at->touching : -1.0;
        if (!rs_newton_factorise(at->newton, at->rows, COMPLIANCE, SHEAR, touching))
            break;
        at->result.newtons++;
        repeat_exact(at, 0.0);
        if (at->now.largest <= at->goal || at->now.merit < before)
            break;
    }
    rs_progress_return_to_best(at);
    return at->now.largest <= at->goal;
}

void rs_progress_take_exact_steps(rs_progress *at) {
    double compliance = COMPLIANCE, start = at->best.merit;
    int detours = 0;
    for (int k = 0, vain = 0; k < MAX_STEPS && vain < (at->best.largest > at->good ? MAX_EXACT : MAX_POLISHING); k++) {
        double before = at->best.merit, last = at->now.merit;
        if (at->now.largest <= at->goal || !newton_pays(at))
            break;
        if (!rs_newton_factorise(at->newton, at->rows, compliance, 1.0, -1.0))
            break;
        at->result.newtons++;
        repeat_exact(at, 1.0);
        vain += !(at->now.merit < PROGRESS * PROGRESS * last);
        detours = at->best.merit < before ? 0 : detours + 1;
        if (detours == MAX_DETOURS || (detours > 0 && at->now.largest > FARTHEST_DETOUR * at->result.approach))
            break;
        if (at->newton->changes == 0 && at->newton->sliding == 0) /* nothing else to do better */
            compliance = rs_max(LEAST_COMPLIANCE, 0.01 * compliance);
    }
    at->stuck = at->best.merit == start;
    rs_progress_return_to_best(at);
    rs_progress_forget_momentum(at);
}

void rs_progress_start_evenly(rs_progress *at) {
    if (!newton_pays(at))
        return;
    int used = rs_newton_descend(at->newton, at->rows, EVEN_COMPLIANCE);
    at->result.newtons += used;
    at->budget -= (used - 1) * at->newton_work;
    at->rows->layout->apply(at->rows, 1.0);
    rs_progress_look(at);
    rs_progress_forget_momentum(at);
}

/* Sweeps as long as they promise to need less work than the interior-point method. */
static void sweep_while_it_pays(rs_progress *at) {
    double fair = rs_progress_fair(at), most = USUAL_INSIDE * INSIDE_WORK * at->newton_work / at->sweep_work;
    /* What is fair may grow with the sweeps, which then make none any more. */
    while (at->now.largest > fair && at->now.largest > rs_progress_fair(at)) {
        double left = at->pace < 1.0 ? ROUND_SWEEPS * log(fair / at->now.largest) / log(at->pace) : INFINITY;
        if (at->result.sweeps >= WORK_AT_RISK * most && at->result.sweeps + left > most)
            break;
        rs_progress_sweep(at, ROUND_SWEEPS);
    }
}

/* Impulses change by the steps of the rows. */
static void take_and_look(rs_progress *at) {
    at->rows->layout->apply(at->rows, 1.0);
    rs_progress_look(at);
}

/* Steps from the start that has been prepared, until the violation is small enough. */
static void step_inside(rs_progress *at, double enough) {
    double left = INFINITY;
    take_and_look(at);
    rs_newton_interior_look(at->newton, at->rows);
    for (int k = 0, too_short = 0; k < MAX_INSIDE && too_short < MAX_SHORT; k++) {
        double share = rs_newton_interior_step(at->newton, &left);
        at->result.newtons++;
        if (share == 0.0)
            break;
        too_short = share < TOO_SHORT ? too_short + 1 : 0;
        if (left > WORTH_A_LOOK * enough)
            continue;
        rs_newton_interior_take(at->newton, at->rows);
        take_and_look(at);
        if (at->now.largest <= enough)
            return;
        rs_newton_interior_look(at->newton, at->rows);
    }
    rs_newton_interior_take(at->newton, at->rows);
    take_and_look(at);
}

void rs_progress_go_inside(rs_progress *at) {
    bool sweeps = at->rows->layout->of_single_bodies;
    sweep_while_it_pays(at);
    if (!(at->now.largest > rs_progress_fair(at)))
        return;
    if (!rs_newton_interior_fits(at->newton, at->rows)) {
        rs_progress_sweep(at, sweeps ? SWEEPS_INSTEAD : 0);
        return;
    }
    double enough = (sweeps ? LEFT_FOR_SWEEPS : 1.0) * rs_progress_fair(at);
    for (int k = 0; k < MAX_STARTS && at->now.largest > enough && rs_newton_interior_begin(at->newton, at->rows, k % 2 == 0); k++) {
        step_inside(at, enough);
        rs_progress_return_to_best(at);
    }
    rs_progress_forget_momentum(at);
    rs_progress_sweep(at, sweeps ? LAST_SWEEPS : 0);
}

/* Follows one path after the other, each from where the last one has led: as stiff as can be followed. */
static void follow_paths_from_here(rs_progress *at, double compliance) {
    double nearest = at->now.merit;
    for (int in_vain = 0; at->budget > 0.0 && at->now.largest > rs_progress_fair(at);) {
        if (in_vain >= (at->best.largest > at->moving ? MANY_IN_VAIN : FEW_IN_VAIN))
            break;
        rs_newton_path path = rs_newton_follow_path(at->newton, at->rows, compliance);
        at->result.newtons += path.used;
        at->budget -= path.used * at->newton_work;
        at->rows->layout->apply(at->rows, 1.0);
        rs_progress_look(at);
        double stiffer = path.used <= EASY_PATH ? MUCH_STIFFER : STIFFER;
        compliance = path.reached < 1.0 ? rs_min(MOST_COMPLIANCE, SOFTER * compliance)
                                        : rs_max(COMPLIANCE, stiffer * compliance);
        in_vain = at->now.merit < GAIN * nearest ? 0 : in_vain + 1;
        if (!(at->now.merit <= FARTHEST_PATH * nearest))
            rs_progress_return_to_best(at);
        nearest = rs_min(nearest, at->now.merit);
    }
    rs_progress_return_to_best(at);
    rs_progress_forget_momentum(at);
}

void rs_progress_follow_paths(rs_progress *at, bool dear) {
    double rest = at->budget;
    at->budget = (dear ? DEAR_PATH_SHARE : PATH_SHARE) * at->sweep_work * (double)at->input->settings->max_iterations;
    follow_paths_from_here(at, PATH_COMPLIANCE);
    if (at->budget > 0.0 && at->now.largest > rs_progress_fair(at)) {
        for (int64_t k = 0; k < at->rows->count; k++)
            rs_rows_law(at->rows, k)->step = (rs_quad){0};
        rs_rows_start_from_steps(at->rows);
        at->now = rs_rows_measure(at->rows);
        follow_paths_from_here(at, PATH_COMPLIANCE);
    }
    at->budget = rest;
}

/* Follows an arc to its end, paid from `arcs`, and paths from there. False when it has not arrived. */
static bool follow_one_arc(rs_progress *at, double end, double *arcs) {
    int used = rs_newton_follow_arc(at->newton, at->rows, ARC_COMPLIANCE, end, (int)(*arcs / at->newton_work));
    bool arrived = at->newton->compliance <= end;
    *arcs -= used * at->newton_work;
    at->result.newtons += used;
    at->rows->layout->apply(at->rows, 1.0);
    rs_progress_look(at);
    at->budget = PATH_SHARE * at->sweep_work * (double)at->input->settings->max_iterations;
    follow_paths_from_here(at, ARC_END);
    return arrived;
}

void rs_progress_follow_arc(rs_progress *at) {
    double rest = at->budget, share = rs_progress_is_poor(at) ? POOR_ARC_SHARE : ARC_SHARE;
    double arcs = rs_min(MOST_ARC_WORK, share * at->sweep_work * (double)at->input->settings->max_iterations);
    if (follow_one_arc(at, ARC_END, &arcs) && at->now.largest > rs_max(at->moving, rs_progress_fair(at)))
        follow_one_arc(at, LAST_ARC_END, &arcs);
    at->budget = rest;
}
