#include "solve_island.h"

/* Violations of the laws relative to the approach speed: below the first, impulses that have settled stay as they are; exact
 * steps go on to the second, so that what is left does not add up to a drift; the others are good enough where only sweeps
 * are left, relative to the root of the threshold that users set. */
static const double EXACT = 1e-9, PERFECT = 1e-12, GOOD = 0.01, GOOD_IN_MOTION = 0.3;
/* Where the impulses of the step before miss by more than the first, loads change: the second is exact enough. */
static const double CHANGING = 1e-5, EXACT_IN_CHANGE = 1e-10;
/* An island that approaches faster than this times what gravity adds in a step is in motion. */
static const double IN_MOTION = 3.0;
/* Below this speed [m/s] nothing moves; it keeps islands without any approach from being solved to the last bit. */
static const double NOTHING = 1e-15;

/* An island whose impulses of the step before leave less than this share of the approach speed is warm: the states of its
 * rows are known, and sweeps would only spoil how they share their load. */
static const double WARM = 0.1;
/* How much more friction counts than what pushes when redundant rows share a load. */
static const double SHEAR = 1e3;
/* Sweeps between attempts of Newton's method, and those that mend what one of its steps broke. */
enum { ROUND_SWEEPS = 16, MENDING_SWEEPS = 4 };
/* Sweeps before Newton's method looks for the lifts; how many more are made than are asked for where nothing has helped, until
 * the violation relative to the approach speed is fair. */
enum { FIRST_SWEEPS = 48, MORE_SWEEPS = 4 };
static const double FAIR = 5e-5;
/* All rows are visited once in so many sweeps; in between those that changed by more than a share of what is good enough.
 * Sweeps end where all changes are below another. */
enum { BUSY_SWEEPS = 16 };
static const double QUIET_SHARE = 0.1, DONE_SHARE = 0.1;
/* Exact steps in a row, and repetitions of each with the same factorisation. */
enum { MAX_EXACT = 6, MAX_REPEATS = 5 };
/* Attempts to share loads anew, and the speed below which a contact touches, relative to the approach speed. */
enum { MAX_SHARINGS = 3 };
static const double TOUCHING = 1e-6;
/* A repetition goes on while it removes this much of the violation. */
static const double PROGRESS = 0.25;
/* Damped steps in a row, of which so many may fail; factorisations of a descent that was hard or easy. */
enum { MAX_DAMPED = 8, MAX_FAILURES = 2, HARD_DESCENT = 14, EASY_DESCENT = 8 };
/* Compliance of held rows relative to their inverse mass: of exact steps, of an even start, of the first damped step or
 * descent, the most and the least of descents, and the least. */
static const double COMPLIANCE = 1e-7, EVEN_COMPLIANCE = 1e-2, FIRST_COMPLIANCE = 1e-3, MOST_COMPLIANCE = 0.1,
                    LIFT_COMPLIANCE = 1e-6, LEAST_COMPLIANCE = 1e-10;
/* What a visit of a row in a sweep costs, and a row in a Newton step beside the factorisation, in multiplications of one:
 * Newton's method may take as long as all the sweeps that are allowed. */
static const double VISIT_WORK = 400.0, ROW_WORK = 1500.0;
/* Newton's method for the lifts may take so many times as long, and so many points. */
static const double LIFT_SHARE = 8.0;
enum { MAX_LIFTS = 25 };
/* If it can take fewer steps than this, it is not begun. It is cheap while it costs less than so many sweeps. */
static const double LEAST_NEWTONS = 12.0, CHEAP_SWEEPS = 16.0;
/* Sweeps are stuck when a round of them leaves this much of the squared violation. */
static const double STUCK = 0.1;

/* Violations up to this share of the approach speed, and rounding of velocities, relative, may give energy. */
static const double EXCUSED = 1e-4, ROUNDING = 1e-12;
/* Solves with reduced bounces, by bisection. */
enum { MAX_REDUCTIONS = 7 };
/* Stands for none, so that the way back stays open. */
static const double SMALLEST_SHARE = 1e-9;

typedef struct {
    double largest; /* violation [m/s] */
    double merit;   /* sum of their squares */
} measure;

typedef struct {
    rs_rows *rows;
    rs_newton *newton;
    const rs_solve_input *input;
    rs_solve_result result;
    measure now, best;
    double exact, perfect, good, goal; /* [m/s] */
    double sweep_work;  /* of all rows, in multiplications */
    double budget;      /* of Newton's method, likewise */
    int32_t age;        /* sweeps since the momentum started anew */
    double compliance;  /* of damped steps */
    double newton_work; /* of one of its steps */
    bool stuck;         /* exact steps from the best solution so far lead nowhere */
} progress;

/* ---- looking ---- */

static measure look(rs_rows *rows) {
    measure found = {0.0, 0.0};
    rows->layout->look(rows);
    for (int64_t k = 0; k < rows->count; k++) {
        double residual = rs_law_residual(rs_rows_law(rows, k));
        found.largest = rs_max(found.largest, residual);
        found.merit += residual * residual;
    }
    return found;
}

static void keep_best(progress *at) {
    if (!(at->now.merit < at->best.merit))
        return;
    at->best = at->now;
    at->stuck = false;
    for (int64_t k = 0; k < at->rows->count; k++) {
        rs_law *law = rs_rows_law(at->rows, k);
        law->best = law->impulse;
    }
}

static void look_again(progress *at) {
    at->now = look(at->rows);
    keep_best(at);
}

/* The next sweep begins without momentum. */
static void forget_changes(rs_rows *rows) {
    for (int64_t k = 0; k < rows->count; k++) {
        rs_law *law = rs_rows_law(rows, k);
        law->former = law->impulse;
    }
}

/* Velocities that belong to the impulses in `step`, summed up anew: they carry no trace of how the impulses were found. */
static void start_from_steps(rs_rows *rows) {
    for (int64_t k = 0; k < rows->count; k++) {
        rs_law *law = rs_rows_law(rows, k);
        law->impulse = (rs_quad){0};
    }
    rows->layout->release(rows);
    rows->layout->apply(rows, 1.0);
    forget_changes(rows);
}

static void return_to_best(progress *at) {
    for (int64_t k = 0; k < at->rows->count; k++) {
        rs_law *law = rs_rows_law(at->rows, k);
        law->step = law->best;
    }
    start_from_steps(at->rows);
    at->age = 0;
    at->now = look(at->rows);
}

/* ---- methods ---- */

/* Each sweep is a step of Nesterov's method; the momentum starts anew when it leads uphill (O'Donoghue and Candes
 * 2015), and pauses when the busy rows were chosen: those that left took their share of it along. */
static void sweep(progress *at, int count) {
    bool all = true;
    for (int k = 0; k < count; k++) {
        double momentum = at->age > 1 && !all ? (at->age - 1.0) / (at->age + 2.0) : 0.0;
        rs_sweep_result done = at->rows->layout->sweep(at->rows, momentum, at->input->backward,
                                                       all ? QUIET_SHARE * at->good : -1.0);
        at->age = done.ascent > 0.0 ? 1 : at->age + 1;
        at->result.sweeps++;
        if (all && done.largest < DONE_SHARE * at->good)
            break;
        all = (k + 1) % BUSY_SWEEPS == 0 || done.largest < DONE_SHARE * at->good;
    }
    look_again(at);
}

static void forget_momentum(progress *at) {
    at->age = 0;
    forget_changes(at->rows);
}

/* Prepares Newton's method. */
static void find_newton_work(progress *at) {
    double work = rs_newton_begin(at->newton, at->rows);
    at->newton_work = work < 0.0 ? INFINITY : work + ROW_WORK * (double)at->rows->count;
    if (LEAST_NEWTONS * at->newton_work > at->budget)
        at->newton_work = INFINITY;
}

/* Pays for a factorisation. */
static bool newton_pays(progress *at) {
    if (at->newton_work > at->budget)
        return false;
    at->budget -= at->newton_work;
    return true;
}

/* Repeats an exact step while it helps; the first leads to impulses that share anew what is not `kept`. */
static void repeat_exact(progress *at, double kept) {
    for (int repeat = 0; repeat < MAX_REPEATS && at->now.largest > at->goal; repeat++) {
        double last = at->now.merit;
        bool anew = kept < 1.0 && repeat == 0;
        rs_newton_step(at->newton, at->rows, anew ? kept : 1.0);
        at->rows->layout->apply(at->rows, 1.0);
        look_again(at);
        bool helped = at->now.merit < PROGRESS * PROGRESS * last;
        if (!helped && (!anew || at->now.largest > at->result.approach))
            break;
    }
}

/* Redundant rows share their load anew, those that touch without any load too, until none of them has to let go. */
static void share_loads(progress *at) {
    double before = at->now.merit;
    for (int k = 0; k < MAX_SHARINGS && newton_pays(at); k++) {
        double touching = k == 0 ? TOUCHING * at->result.approach : -1.0;
        if (!rs_newton_factorise(at->newton, at->rows, COMPLIANCE, SHEAR, touching))
            break;
        at->result.newtons++;
        repeat_exact(at, 0.0);
        if (at->now.largest <= at->goal || at->now.merit < before)
            break;
    }
}

/* Exact steps until the laws are obeyed, or they lead nowhere. */
static void exact_steps(progress *at) {
    double compliance = COMPLIANCE, start = at->best.merit;
    for (int k = 0; k < MAX_EXACT && at->now.largest > at->goal && newton_pays(at); k++) {
        double before = at->now.merit;
        if (!rs_newton_factorise(at->newton, at->rows, compliance, 1.0, -1.0))
            break;
        at->result.newtons++;
        repeat_exact(at, 1.0);
        if (at->now.merit > before)
            break;
        if (at->newton->changes == 0)
            compliance = rs_max(LEAST_COMPLIANCE, 0.01 * compliance);
    }
    at->stuck = at->best.merit == start;
    if (at->now.merit > at->best.merit)
        return_to_best(at);
    forget_momentum(at);
}

/* Exact steps that change impulses little where they are not determined: the more compliant, the shorter. Each is judged
 * after a few sweeps, which mend what it broke nearby. */
static void damped_steps(progress *at) {
    for (int k = 0, failures = 0; k < MAX_DAMPED && at->now.largest > at->good && failures < MAX_FAILURES; k++) {
        double last = at->now.merit;
        if (!newton_pays(at) || !rs_newton_factorise(at->newton, at->rows, at->compliance, 1.0, -1.0))
            break;
        at->result.newtons++;
        rs_newton_step(at->newton, at->rows, 1.0);
        at->rows->layout->apply(at->rows, 1.0);
        look_again(at);
        forget_momentum(at);
        if (at->now.merit > PROGRESS * last)
            sweep(at, MENDING_SWEEPS);
        if (at->now.merit < last) {
            if (at->now.merit < PROGRESS * last)
                at->compliance = rs_max(LEAST_COMPLIANCE, 0.1 * at->compliance);
        } else {
            return_to_best(at);
            at->compliance *= 10.0;
            failures++;
        }
    }
}

/* A start for rows whose impulses are not known: all share the load evenly, as if they were soft. Sweeps would begin with
 * the first row, and friction might hold on to what it finds there. */
static void start_evenly(progress *at) {
    if (!newton_pays(at))
        return;
    int used = rs_newton_descend(at->newton, at->rows, EVEN_COMPLIANCE, 0.0, NULL);
    at->result.newtons += used;
    at->budget -= (used - 1) * at->newton_work;
    at->rows->layout->apply(at->rows, 1.0);
    look_again(at);
    forget_momentum(at);
}

/* The lifts that belong to the present slip. */
static void find_lifts(const rs_rows *rows, double *lifts) {
    for (int64_t k = 0; k < rows->count; k++) {
        const rs_law *law = rs_rows_law(rows, k);
        rs_vec3 slip = law->error.xyz;
        lifts[k] = law->kind == RS_ROW_CONTACT ? law->mu * sqrt(slip.x * slip.x + slip.y * slip.y) : 0.0;
    }
}

/* One descent with given lifts. Returns its factorisations. */
static int descend(progress *at, double compliance, const double *lifts) {
    int used = rs_newton_descend(at->newton, at->rows, compliance, 1.0, lifts);
    at->result.newtons += used;
    at->budget -= (used - 1) * at->newton_work;
    at->rows->layout->apply(at->rows, 1.0);
    look_again(at);
    return used;
}

/* Newton's method for the lifts, with a descent for each point. It is let go uphill: most problems are solved on the way, and
 * a descent in the distance of the lifts gets stuck. The more compliant, the faster a descent converges and the slower the
 * lifts. */
static void follow_lifts(progress *at) {
    int64_t count = at->rows->count;
    double rest = at->budget;
    if (rs_array_resize(&at->newton->lifts, 2 * count) != RS_OK)
        return;
    at->budget = LIFT_SHARE * at->sweep_work * (double)at->input->settings->max_iterations;
    double *lifts = RS_ITEMS(double, at->newton->lifts), *moves = lifts + count, compliance = FIRST_COMPLIANCE;
    find_lifts(at->rows, lifts);
    for (int k = 0; k < MAX_LIFTS && at->now.largest > at->good && newton_pays(at); k++) {
        int used = descend(at, compliance, lifts);
        if (used > HARD_DESCENT)
            compliance = rs_min(MOST_COMPLIANCE, 10.0 * compliance);
        else if (used < EASY_DESCENT)
            compliance = rs_max(LIFT_COMPLIANCE, 0.1 * compliance);
        if (used == RS_NEWTON_MAX_DESCENT || !isfinite(at->now.merit)) {
            return_to_best(at);
            find_lifts(at->rows, lifts);
            continue;
        }
        find_lifts(at->rows, moves);
        for (int64_t m = 0; m < count; m++)
            moves[m] -= lifts[m];
        rs_newton_move_lifts(at->newton, at->rows, moves);
        for (int64_t m = 0; m < count; m++)
            lifts[m] = rs_max(0.0, lifts[m] + moves[m]);
    }
    exact_steps(at);
    at->budget = rest;
}

/* Impulses start anew from nothing. */
static void start_from_nothing(progress *at) {
    for (int64_t k = 0; k < at->rows->count; k++)
        rs_rows_law(at->rows, k)->step = (rs_quad){0};
    start_from_steps(at->rows);
    at->now = look(at->rows);
}

/* ---- certificate ---- */

typedef struct {
    double work;    /* that the impulses did [J] */
    double allowed; /* by rounding and by the violation that is left [J] */
    double before;  /* sum of impulses times velocities without them */
} energy;

/* What motors and springs do counts as given: velocities "without impulses" are those with theirs. */
static void count_powered_as_given(progress *at) {
    bool any = false;
    for (int64_t k = 0; k < at->rows->count; k++)
        any |= rs_rows_law(at->rows, k)->powered && rs_norm2(rs_rows_law(at->rows, k)->impulse.xyz) > 0.0;
    if (!any)
        return;
    for (int64_t k = 0; k < at->rows->count; k++) {
        rs_law *law = rs_rows_law(at->rows, k);
        law->best = law->impulse;
        law->step = law->powered ? law->impulse : (rs_quad){0};
    }
    start_from_steps(at->rows);
    at->rows->layout->look(at->rows);
    for (int64_t k = 0; k < at->rows->count; k++) {
        rs_law *law = rs_rows_law(at->rows, k);
        law->free_error = law->error;
    }
    return_to_best(at);
}

static energy energy_of(progress *at) {
    count_powered_as_given(at);
    energy found = {0.0, 0.0, 0.0};
    for (int64_t k = 0; k < at->rows->count; k++) {
        const rs_law *law = rs_rows_law(at->rows, k);
        if (law->powered)
            continue;
        double size = rs_norm(law->impulse.xyz);
        rs_vec3 free = law->free_error.xyz;
        if (law->kind == RS_ROW_CONTACT)
            free = rs_add(free, law->aim.xyz);
        found.work += rs_law_work(law);
        found.before += rs_dot(law->impulse.xyz, free);
        found.allowed += size * (rs_min(at->now.largest, EXCUSED * at->result.approach) + ROUNDING * rs_norm(free) + NOTHING);
    }
    return found;
}

/* ---- the solve ---- */

static void begin(progress *at) {
    rs_rows *rows = at->rows;
    for (int64_t k = 0; k < rows->count; k++) {
        rs_law *law = rs_rows_law(rows, k);
        law->step.xyz = rs_law_allowed(law, law->impulse.xyz);
    }
    for (int64_t k = 0; k < rows->count; k++) {
        rs_law *law = rs_rows_law(rows, k);
        law->impulse = law->best = (rs_quad){0};
    }
    at->now = look(rows);
    at->best = at->now;
    at->result.approach = at->now.largest;
    at->exact = EXACT * at->now.largest + NOTHING;
    at->perfect = PERFECT * at->now.largest + NOTHING;
    double good = at->now.largest > IN_MOTION * at->input->fall ? GOOD_IN_MOTION : GOOD;
    at->good = good * sqrt(at->input->settings->threshold) * at->now.largest + NOTHING;
    for (int64_t k = 0; k < rows->count; k++) {
        rs_law *law = rs_rows_law(rows, k);
        law->free_error = law->error;
    }
    rows->layout->apply(rows, 1.0);
    forget_changes(rows);
    look_again(at);
    bool changing = at->now.largest > CHANGING * at->result.approach;
    at->goal = changing ? EXACT_IN_CHANGE * at->result.approach : at->perfect;
}

/* Whether all contacts stick and bear something. One that touches without load may have to take its share, and how loads
 * are shared decides what those that slide do: wheels that slip must not stay without load. */
static bool all_bear_and_stick(const progress *at) {
    double touching = TOUCHING * at->result.approach;
    for (int64_t k = 0; k < at->rows->count; k++) {
        const rs_law *law = rs_rows_law(at->rows, k);
        rs_vec3 error = law->error.xyz;
        bool slides = error.x * error.x + error.y * error.y > touching * touching;
        if (law->kind == RS_ROW_CONTACT && error.z <= touching && (slides || law->impulse.xyz.z == 0.0))
            return false;
    }
    return true;
}

/* Newton's method first: it finds how loads are shared, and sweeps would spoil that. */
static void begin_with_newton(progress *at) {
    bool warm = at->now.largest <= WARM * at->result.approach;
    if (!warm)
        start_evenly(at);
    if (warm && at->input->uneven && all_bear_and_stick(at)) { /* loads stay shared as in the step before */
        exact_steps(at);
        follow_lifts(at);
        if (at->now.largest <= at->good)
            return;
    }
    double before = at->best.merit;
    share_loads(at);
    exact_steps(at);
    at->result.uneven = warm && at->best.merit == before;
}

/* Sweeps, and damped steps where those are stuck, until the violation is `enough`. */
static void alternate(progress *at, int32_t max_sweeps, bool cheap, double enough) {
    while (at->now.largest > enough && at->result.sweeps < max_sweeps) {
        double before = at->now.merit;
        sweep(at, ROUND_SWEEPS);
        if (cheap || at->now.merit > STUCK * before)
            damped_steps(at);
    }
    if (at->now.largest > rs_max(at->exact, at->goal) && cheap && !at->stuck)
        exact_steps(at);
    if (!(at->now.merit <= at->best.merit))
        return_to_best(at);
}

/* Where a step of Newton's method costs as much as many sweeps, those go first, and on as long as they help. */
static void iterate(progress *at) {
    int32_t max_sweeps = at->input->settings->max_iterations;
    at->sweep_work = VISIT_WORK * (double)at->rows->count;
    at->budget = at->sweep_work * (double)max_sweeps;
    at->compliance = FIRST_COMPLIANCE;
    at->result.sweeps = 0;
    if (at->now.merit > at->best.merit)
        return_to_best(at);
    find_newton_work(at);
    bool able = at->newton_work < INFINITY, cheap = at->newton_work < CHEAP_SWEEPS * at->sweep_work;
    if (cheap)
        begin_with_newton(at);
    alternate(at, able && max_sweeps > FIRST_SWEEPS ? FIRST_SWEEPS : max_sweeps, cheap, at->good);
    if (able && at->now.largest > at->good)
        follow_lifts(at);
    alternate(at, max_sweeps, cheap, at->good);
    if (able && at->now.largest > at->good) {
        start_from_nothing(at);
        follow_lifts(at);
    }
    alternate(at, MORE_SWEEPS * max_sweeps, false, rs_max(at->good, FAIR * at->result.approach));
    if (at->result.sweeps > 0)
        return_to_best(at);
}

/* ---- what must not give energy ---- */

static bool any_bounce(const rs_rows *rows) {
    for (int64_t k = 0; k < rows->count; k++)
        if (rs_rows_law(rows, k)->kind == RS_ROW_CONTACT && rs_rows_law(rows, k)->aim.xyz.z > 0.0)
            return true;
    return false;
}

/* Bounces that were `from` of what the laws say become `to` of that. */
static void reduce_aims(progress *at, double from, double to) {
    for (int64_t k = 0; k < at->rows->count; k++) {
        rs_law *law = rs_rows_law(at->rows, k);
        rs_vec3 aim = law->aim.xyz, reduced = rs_scale(to / from, aim);
        if (law->kind != RS_ROW_CONTACT || aim.z <= 0.0) /* a gap may still close */
            continue;
        law->free_error.xyz = rs_add(law->free_error.xyz, rs_sub(aim, reduced));
        law->aim.xyz = reduced;
    }
    at->now = look(at->rows);
    at->best = at->now;
    for (int64_t k = 0; k < at->rows->count; k++)
        rs_rows_law(at->rows, k)->best = rs_rows_law(at->rows, k)->impulse;
}

/* The impulses as a whole become smaller until they give no energy: with w = a s + b s^2 / 2 for a share s of them. */
static void scale_impulses(progress *at, const energy *found) {
    double square = 2.0 * (found->work - found->before); /* impulses times the velocity that they add */
    double share = found->before < 0.0 && square > 0.0 ? rs_min(1.0, -2.0 * found->before / square) : 0.0;
    for (int64_t k = 0; k < at->rows->count; k++) {
        rs_law *law = rs_rows_law(at->rows, k);
        law->step.xyz = rs_scale(law->powered ? 1.0 : share, law->impulse.xyz);
    }
    start_from_steps(at->rows);
    at->now = look(at->rows);
}

/* Restitution together with friction, or several bounces at once, can ask for more energy than there is: then all of
 * them are reduced alike, as little as it takes. Without any, laws that are obeyed give no energy; should they not be
 * obeyed well enough, the impulses are reduced. */
static energy restrain(progress *at, energy found) {
    double low = 0.0, high = 1.0, share = 1.0;
    at->result.restrained = true;
    for (int k = 0; k < MAX_REDUCTIONS && any_bounce(at->rows); k++) {
        double next = k + 1 < MAX_REDUCTIONS ? 0.5 * (low + high) : low;
        if (next == share)
            break;
        reduce_aims(at, share, rs_max(next, SMALLEST_SHARE));
        share = rs_max(next, SMALLEST_SHARE);
        iterate(at);
        found = energy_of(at);
        if (found.work <= found.allowed)
            low = share;
        else
            high = share;
    }
    if (found.work > found.allowed) {
        scale_impulses(at, &found);
        found = energy_of(at);
    }
    return found;
}

rs_solve_result rs_island_solve(rs_rows *rows, const rs_solve_input *input, rs_newton *newton) {
    progress at = {.rows = rows, .newton = newton, .input = input};
    begin(&at);
    if (at.now.largest > (input->settled ? at.exact : at.perfect))
        iterate(&at);
    energy found = energy_of(&at);
    if (found.work > found.allowed)
        found = restrain(&at, found);
    at.result.residual = at.now.largest;
    at.result.work = found.work;
    return at.result;
}
