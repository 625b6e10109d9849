#include "solve_island.h"

/* Violations of the laws relative to the approach speed: below the first, impulses that have settled stay as they are; exact
 * steps go on to the second, so that what is left does not add up to a drift; the others are good enough where only sweeps
 * are left, relative to the root of the threshold that users set. */
static const double EXACT = 1e-9, PERFECT = 1e-12, GOOD = 0.01, GOOD_IN_MOTION = 0.9;
/* Nothing is factorised for less than this share of what the impulses of the step before miss: in the next step they will miss
 * as much again. Nor for a violation less than the second, relative to the approach speed, or the third where they are not near
 * the solution. With a factorisation at hand, steps go on to the other two. */
static const double SHARE_OF_CHANGE = 1e-3, GOOD_IN_CHANGE = 1e-6, COLD = 1e-9, FINE_SHARE = 1e-5, FINE_IN_CHANGE = 1e-8;
/* An island that approaches faster than this times what gravity adds in a step is in motion. */
static const double IN_MOTION = 3.0;
/* Islands of so few rows in motion are solved exactly; in others sweeps find most states of the rows much faster. They start
 * from the impulses of the step before, most of which are right, unless those leave this much more merit than none. */
enum { FEW_ROWS = 12 };
static const double WORTHLESS = 100.0;
/* Below this speed [m/s] nothing moves; it keeps islands without any approach from being solved to the last bit. */
static const double NOTHING = 1e-15;

/* An island whose impulses of the step before leave less than this share of the approach speed, or of what they do themselves,
 * is warm: the states of its rows are known, and sweeps would only spoil how they share their load. */
static const double WARM = 0.1;
/* How much more friction counts than what pushes when redundant rows share a load. */
static const double SHEAR = 1e3;
/* Sweeps between looks; sweeps before a path is followed; how many times more are made than are asked for where that would cost
 * too much. */
enum { ROUND_SWEEPS = 16, FIRST_SWEEPS = 128, MORE_SWEEPS = 4 };
/* All rows are visited once in so many sweeps; in between those that changed by more than a share of what is good enough.
 * Sweeps end where all changes are below another. */
enum { BUSY_SWEEPS = 16 };
static const double QUIET_SHARE = 0.1, DONE_SHARE = 0.1;
/* Exact steps in a row, in all and where the best solution is good already, and repetitions of each with the same
 * factorisation. Steps in a row that lead away from the best
 * solution so far, in search of the states of the rows, and how far, relative to the approach speed. */
enum { MAX_EXACT = 6, MAX_POLISHING = 4, MAX_REPEATS = 5, MAX_DETOURS = 4 };
static const double FARTHEST_DETOUR = 30.0;
/* A step that leads uphill is halved until it does not, but no further than this. */
static const double SHORTEST_STEP = 0.1;
/* Attempts to share loads anew, and the speed below which a contact touches, relative to the approach speed. */
enum { MAX_SHARINGS = 3 };
static const double TOUCHING = 1e-6;
/* Solves for which loads stay shared as they are where they could not be shared anew. */
enum { PATIENT_SOLVES = 8 };
/* A repetition goes on while it removes this much of the violation. */
static const double PROGRESS = 0.25;
/* Compliance of held rows relative to their inverse mass: of exact steps, of an even start, the least. */
static const double COMPLIANCE = 1e-7, EVEN_COMPLIANCE = 1e-2, LEAST_COMPLIANCE = 1e-10;
/* That of paths: of the first, the most and the least, and by how much it grows where one breaks off and shrinks otherwise. */
static const double PATH_COMPLIANCE = 1e-2, MOST_COMPLIANCE = 0.3, SOFTER = 3.0, STIFFER = 0.5;
/* Paths in a row that leave more than this share of the least merit so far until no more are followed, and how much worse one
 * may end. */
enum { MAX_IN_VAIN = 12 };
static const double GAIN = 0.9, FARTHEST_PATH = 100.0;
/* What a visit of a row in a sweep costs, and a row in a Newton step beside the factorisation, in multiplications of one:
 * Newton's method may take as long as all the sweeps that are allowed. */
static const double VISIT_WORK = 400.0, ROW_WORK = 1500.0;
/* Paths may take so many times as long; for each factorisation they solve so often that it counts twice. */
static const double PATH_SHARE = 24.0, PATH_WORK = 2.0;
/* If it can take fewer steps than this, it is not begun. It is cheap while it costs less than so many sweeps. */
static const double LEAST_NEWTONS = 12.0, CHEAP_SWEEPS = 16.0;
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
    double exact, perfect, good, moving, goal, fine; /* [m/s] */
    double sweep_work;  /* of all rows, in multiplications */
    double budget;      /* of Newton's method, likewise */
    int32_t age;        /* sweeps since the momentum started anew */
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

/* The merit decides, but what obeys the laws well enough in motion is not given up for what does not. */
static void keep_best(progress *at) {
    bool worse = at->best.largest <= at->moving && at->now.largest > at->moving;
    if (worse || !(at->now.merit < at->best.merit))
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

static void sum_up_best(progress *at) {
    for (int64_t k = 0; k < at->rows->count; k++) {
        rs_law *law = rs_rows_law(at->rows, k);
        law->step = law->best;
    }
    start_from_steps(at->rows);
    at->age = 0;
    at->now = look(at->rows);
}

static void return_to_best(progress *at) {
    if (at->now.merit != at->best.merit || at->now.largest != at->best.largest)
        sum_up_best(at);
}

/* ---- methods ---- */

/* Each sweep is a step of Nesterov's method; the momentum starts anew when it leads uphill (O'Donoghue and Candes
 * 2015), and pauses in the first sweep over new busy rows: those that were left out would not follow it. */
static void sweep(progress *at, int count) {
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

/* The step just taken leads uphill from the merit `last`: a part of it may not. Where that does, too, all of it is taken. */
static void shorten_step(progress *at, double last) {
    double share = 1.0;
    while (share > SHORTEST_STEP && !(at->now.merit < last)) {
        share *= 0.5;
        at->rows->layout->apply(at->rows, -share);
        look_again(at);
    }
    if (!(at->now.merit < last)) {
        at->rows->layout->apply(at->rows, 1.0 - share);
        look_again(at);
    }
}

/* Repeats an exact step while it helps; the first leads to impulses that share anew what is not `kept`. */
static void repeat_exact(progress *at, double kept) {
    double goal = at->newton->sliding > 0 ? at->goal : at->fine; /* what slides turns, and the factorisation does not */
    for (int repeat = 0; repeat < MAX_REPEATS && at->now.largest > goal; repeat++) {
        double last = at->now.merit;
        bool anew = kept < 1.0 && repeat == 0;
        rs_newton_step(at->newton, at->rows, anew ? kept : 1.0);
        at->rows->layout->apply(at->rows, 1.0);
        look_again(at);
        if (!anew && at->now.merit > last)
            shorten_step(at, last);
        bool helped = at->now.merit < PROGRESS * PROGRESS * last;
        if (!helped && (!anew || at->now.largest > at->result.approach))
            break;
    }
}

/* Redundant rows share their load anew, those that touch without any load too, until none of them has to let go. True when
 * that leads to a solution at once. */
static bool share_loads(progress *at, int attempts) {
    double before = at->now.merit;
    for (int k = 0; k < attempts && newton_pays(at); k++) {
        double touching = k == 0 ? TOUCHING * at->result.approach : -1.0;
        if (!rs_newton_factorise(at->newton, at->rows, COMPLIANCE, SHEAR, touching))
            break;
        at->result.newtons++;
        repeat_exact(at, 0.0);
        if (at->now.largest <= at->goal || at->now.merit < before)
            break;
    }
    return_to_best(at);
    return at->now.largest <= at->goal;
}

/* Exact steps until the laws are obeyed, or they lead nowhere. */
static void exact_steps(progress *at) {
    double compliance = COMPLIANCE, start = at->best.merit;
    int detours = 0;
    for (int k = 0; k < (at->best.largest > at->good ? MAX_EXACT : MAX_POLISHING); k++) {
        double before = at->best.merit;
        if (at->now.largest <= at->goal || !newton_pays(at))
            break;
        if (!rs_newton_factorise(at->newton, at->rows, compliance, 1.0, -1.0))
            break;
        at->result.newtons++;
        repeat_exact(at, 1.0);
        detours = at->best.merit < before ? 0 : detours + 1;
        if (detours == MAX_DETOURS || (detours > 0 && at->now.largest > FARTHEST_DETOUR * at->result.approach))
            break;
        if (at->newton->changes == 0 && at->newton->sliding == 0) /* nothing else to do better */
            compliance = rs_max(LEAST_COMPLIANCE, 0.01 * compliance);
    }
    at->stuck = at->best.merit == start;
    return_to_best(at);
    forget_momentum(at);
}

/* A start for rows whose impulses are not known: all share the load evenly, as if they were soft. Sweeps would begin with
 * the first row, and friction might hold on to what it finds there. */
static void start_evenly(progress *at) {
    if (!newton_pays(at))
        return;
    int used = rs_newton_descend(at->newton, at->rows, EVEN_COMPLIANCE);
    at->result.newtons += used;
    at->budget -= (used - 1) * at->newton_work;
    at->rows->layout->apply(at->rows, 1.0);
    look_again(at);
    forget_momentum(at);
}

/* Whether something slips faster than gravity could make it in a step. */
static bool some_slip(const progress *at) {
    double fall2 = at->input->fall * at->input->fall;
    for (int64_t k = 0; k < at->rows->count; k++) {
        const rs_law *law = rs_rows_law(at->rows, k);
        rs_vec3 slip = law->error.xyz;
        if (law->kind == RS_ROW_CONTACT && slip.x * slip.x + slip.y * slip.y > fall2)
            return true;
    }
    return false;
}

/* What costly methods aim for: what rests must not creep. */
static double fair(const progress *at) { return some_slip(at) ? rs_max(at->good, at->moving) : at->good; }

/* Follows one path after the other, each from where the last one has led: as stiff as can be followed. */
static void follow_paths_from_here(progress *at) {
    double compliance = PATH_COMPLIANCE, nearest = at->now.merit;
    for (int in_vain = 0; in_vain < MAX_IN_VAIN && at->budget > 0.0 && at->now.largest > fair(at);) {
        rs_newton_path path = rs_newton_follow_path(at->newton, at->rows, compliance);
        at->result.newtons += path.used;
        at->budget -= PATH_WORK * path.used * at->newton_work;
        at->rows->layout->apply(at->rows, 1.0);
        look_again(at);
        compliance = path.reached < 1.0 ? rs_min(MOST_COMPLIANCE, SOFTER * compliance)
                                        : rs_max(COMPLIANCE, STIFFER * compliance);
        in_vain = at->now.merit < GAIN * nearest ? 0 : in_vain + 1;
        if (!(at->now.merit <= FARTHEST_PATH * nearest))
            return_to_best(at);
        nearest = rs_min(nearest, at->now.merit);
    }
    return_to_best(at);
    forget_momentum(at);
}

/* From the best impulses, and where that leads nowhere from none. */
static void follow_paths(progress *at) {
    double rest = at->budget;
    at->budget = PATH_SHARE * at->sweep_work * (double)at->input->settings->max_iterations;
    follow_paths_from_here(at);
    if (at->budget > 0.0 && at->now.largest > fair(at)) {
        for (int64_t k = 0; k < at->rows->count; k++)
            rs_rows_law(at->rows, k)->step = (rs_quad){0};
        start_from_steps(at->rows);
        at->now = look(at->rows);
        follow_paths_from_here(at);
    }
    at->budget = rest;
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
        law->former = law->error;
        law->step = law->powered ? law->impulse : (rs_quad){0};
        law->impulse = (rs_quad){0};
    }
    at->rows->layout->release(at->rows);
    at->rows->layout->apply(at->rows, 1.0);
    at->rows->layout->look(at->rows);
    for (int64_t k = 0; k < at->rows->count; k++) { /* and back again */
        rs_law *law = rs_rows_law(at->rows, k);
        law->free_error = law->error;
        law->error = law->former;
        law->step = law->powered ? (rs_quad){0} : law->best;
    }
    at->rows->layout->apply(at->rows, 1.0);
    forget_momentum(at);
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
    double threshold = sqrt(at->input->settings->threshold) * at->now.largest;
    at->moving = GOOD_IN_MOTION * threshold + NOTHING;
    at->good = at->now.largest > IN_MOTION * at->input->fall ? at->moving : GOOD * threshold + NOTHING;
    for (int64_t k = 0; k < rows->count; k++) {
        rs_law *law = rs_rows_law(rows, k);
        law->free_error = law->error;
    }
    rows->layout->apply(rows, 1.0);
    forget_changes(rows);
    look_again(at);
    at->goal = rs_max(at->perfect, rs_min(SHARE_OF_CHANGE * at->now.largest, GOOD_IN_CHANGE * at->result.approach));
    at->fine = rs_max(at->perfect, rs_min(FINE_SHARE * at->now.largest, FINE_IN_CHANGE * at->result.approach));
}

/* Whether the impulses of the step before are near the solution. Where light links bear much, impulses that are off by little
 * leave much speed. Limits, motors and wires do not count: at worst they change sides. */
static bool is_warm(const progress *at) {
    for (int64_t k = 0; k < at->rows->count; k++) {
        const rs_law *law = rs_rows_law(at->rows, k);
        double most = WARM * rs_max(at->result.approach, law->inverse_mass * rs_norm(law->impulse.xyz));
        if (law->kind != RS_ROW_AXIS && rs_law_residual(law) > most)
            return false;
    }
    return true;
}

/* Whether a contact that touches slips and bears nothing: its share of the load decides what moves, so a wheel that spins must
 * not stay without. Where that could not be helped, it is not asked for a while. */
static bool some_slip_without_load(const progress *at) {
    double touching = TOUCHING * at->result.approach;
    if (at->input->uneven > 0)
        return false;
    for (int64_t k = 0; k < at->rows->count; k++) {
        const rs_law *law = rs_rows_law(at->rows, k);
        rs_vec3 slip = law->error.xyz;
        if (law->kind == RS_ROW_CONTACT && law->inverse_mass * law->impulse.xyz.z <= touching && slip.z <= touching
            && slip.x * slip.x + slip.y * slip.y > touching * touching)
            return true;
    }
    return false;
}

/* Newton's method first: it finds how loads are shared, and sweeps would spoil that. Where that has not led to a solution,
 * loads stay shared as they are for a while. */
static void begin_with_newton(progress *at) {
    bool spins = some_slip_without_load(at), warm = is_warm(at) && !spins;
    if (spins) /* however well the laws are obeyed */
        at->best.merit = INFINITY;
    if (!warm) {
        at->goal = rs_max(at->perfect, COLD * at->result.approach);
        at->fine = rs_max(at->perfect, 0.1 * at->goal);
        start_evenly(at);
    }
    if (!(warm && at->input->uneven > 0) && !share_loads(at, warm ? 1 : MAX_SHARINGS) && warm)
        at->result.uneven = PATIENT_SOLVES;
    exact_steps(at);
    if (spins && some_slip_without_load(at))
        at->result.uneven = PATIENT_SOLVES;
}

/* At most so many sweeps, until the violation is fair. */
static void sweep_on(progress *at, int64_t most) {
    for (int64_t end = at->result.sweeps + most; at->now.largest > fair(at) && at->result.sweeps < end;)
        sweep(at, ROUND_SWEEPS);
    return_to_best(at);
}

/* Whether sweeps are tried before all else: in motion the states of rows change, so that a few impulses may be far off while most
 * are right. */
static bool begins_with_sweeps(const progress *at) {
    bool moves = at->good == at->moving || some_slip(at);
    return moves && at->rows->layout->sweeps_are_fast && at->rows->count > FEW_ROWS && !is_warm(at);
}

/* Where a step of Newton's method costs as much as many sweeps, those go first, and on as long as they help. */
static void iterate(progress *at) {
    int64_t max_sweeps = at->input->settings->max_iterations, first_sweeps = max_sweeps < FIRST_SWEEPS ? max_sweeps : FIRST_SWEEPS;
    bool sweeps_first = begins_with_sweeps(at);
    at->sweep_work = VISIT_WORK * (double)at->rows->count;
    at->budget = at->sweep_work * (double)max_sweeps;
    at->result.sweeps = 0;
    if (at->now.merit > (sweeps_first ? WORTHLESS : 1.0) * at->best.merit)
        return_to_best(at);
    find_newton_work(at);
    bool able = at->newton_work < INFINITY, cheap = at->newton_work < CHEAP_SWEEPS * at->sweep_work;
    if (cheap && !sweeps_first)
        begin_with_newton(at);
    sweep_on(at, first_sweeps);
    if (able && at->now.largest > fair(at))
        follow_paths(at);
    sweep_on(at, (able ? 1 : MORE_SWEEPS) * max_sweeps - first_sweeps);
    if (cheap && !at->stuck && at->result.sweeps > 0 && at->now.largest > rs_max(at->exact, at->goal))
        exact_steps(at);
    if (at->result.sweeps > 0)
        sum_up_best(at);
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
    at.result.uneven = input->uneven > 0 ? input->uneven - 1 : 0;
    begin(&at);
    double before = at.now.merit;
    if (at.now.largest > (input->settled ? at.exact : at.perfect) || some_slip_without_load(&at))
        iterate(&at);
    bool same = at.now.merit >= PROGRESS * PROGRESS * before;
    at.result.settled = at.result.sweeps + at.result.newtons == 0 || (same && at.now.largest <= at.exact);
    energy found = energy_of(&at);
    if (found.work > found.allowed)
        found = restrain(&at, found);
    at.result.residual = at.now.largest;
    at.result.work = found.work;
    return at.result;
}
