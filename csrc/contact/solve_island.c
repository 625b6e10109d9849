#include "solve_progress.h"

/* Violations of the laws relative to the approach speed: below the first, impulses that have settled stay as they are; exact
 * steps go on to the second, so that what is left does not add up to a drift; the others are good enough where only sweeps
 * are left, relative to the root of the threshold that users set: at rest, in motion, and in motion of single bodies. */
static const double EXACT = 1e-9, PERFECT = 1e-12, GOOD = 0.01, GOOD_IN_MOTION = 0.3, GOOD_IN_PILES = 0.9;
/* Nothing is factorised for less than this share of what the impulses of the step before miss, and up to what is good enough in
 * motion no sweeps and paths are made for it either: in the next step they will miss as much again. Nor is anything factorised for
 * a violation less than the second, relative to the approach speed, or the third where they are not near the solution. With a
 * factorisation at hand, steps go on to the other two. */
static const double SHARE_OF_CHANGE = 1e-3, GOOD_IN_CHANGE = 1e-6, COLD = 1e-9, FINE_SHARE = 1e-5, FINE_IN_CHANGE = 1e-8;
/* An island that approaches faster than this times what gravity adds in a step is in motion. */
static const double IN_MOTION = 3.0;
/* Islands of so few rows in motion are solved exactly; in others sweeps find most states of the rows much faster. They start
 * from the impulses of the step before, most of which are right, unless those leave this much more merit than none. */
enum { FEW_ROWS = 12 };
static const double WORTHLESS = 100.0;
/* Below this speed [m/s] nothing moves; it keeps islands without any approach from being solved to the last bit. */
static const double NOTHING = 1e-15;
/* A contact touches that comes apart no faster than this, relative to the approach speed. */
static const double TOUCHING = 1e-6;
/* A contact that slips faster than this, likewise, moves something; what is slower may be what earlier solves have left. */
static const double SLIPPING = 1e-3;
/* Impulses that leave more than this share of the violation before are no better. */
static const double SAME = 0.25;

/* An island whose impulses of the step before leave less than this share of the approach speed, or of what they do themselves,
 * is warm: the states of its rows are known, and sweeps would only spoil how they share their load. */
static const double WARM_SHARE = 0.1;
/* How many times more sweeps are made than are asked for where following paths would cost too much. */
enum { MORE_SWEEPS = 8 };
/* Attempts to share loads anew. */
enum { MAX_SHARINGS = 3 };
/* Solves for which loads stay shared as they are: where they could not be shared anew, and where they just have been. */
enum { PATIENT_SOLVES = 8, EVEN_SOLVES = 8 };
/* What a visit of a row in a sweep costs, in multiplications of a factorisation: Newton's method may take as long as all the
 * sweeps that are allowed. It is cheap while a step costs less than so many sweeps. */
static const double VISIT_WORK = 400.0, CHEAP_SWEEPS = 16.0;
/* If Newton's method can take fewer steps than this within that time, it is not begun; but for the few steps of the last paths, where
 * sweeps have left too much. */
static const double LEAST_NEWTONS = 12.0, LEAST_DEAR_NEWTONS = 4.0;
/* Violations up to this share of the approach speed, and rounding of velocities, relative, may give energy. */
static const double EXCUSED = 1e-4, ROUNDING = 1e-12;
/* Solves with reduced bounces, by bisection. */
enum { MAX_REDUCTIONS = 7 };
/* Stands for none, so that the way back stays open. */
static const double SMALLEST_SHARE = 1e-9;

/* ---- the solve ---- */

static void begin(rs_progress *at) {
    rs_rows *rows = at->rows;
    for (int64_t k = 0; k < rows->count; k++) {
        rs_law *law = rs_rows_law(rows, k);
        law->step.xyz = rs_law_allowed(law, law->impulse.xyz);
    }
    for (int64_t k = 0; k < rows->count; k++) {
        rs_law *law = rs_rows_law(rows, k);
        law->impulse = law->best = (rs_quad){0};
    }
    at->now = rs_rows_measure(rows);
    at->best = at->now;
    at->result.approach = at->now.largest;
    at->touching = TOUCHING * at->now.largest;
    at->exact = EXACT * at->now.largest + NOTHING;
    at->perfect = PERFECT * at->now.largest + NOTHING;
    double threshold = sqrt(at->input->settings->threshold) * at->now.largest;
    at->moving = (rows->layout->of_single_bodies ? GOOD_IN_PILES : GOOD_IN_MOTION) * threshold + NOTHING;
    at->good = at->now.largest > IN_MOTION * at->input->fall ? at->moving : GOOD * threshold + NOTHING;
    for (int64_t k = 0; k < rows->count; k++) {
        rs_law *law = rs_rows_law(rows, k);
        law->free_error = law->error;
    }
    rows->layout->apply(rows, 1.0);
    rs_rows_forget_changes(rows);
    rs_progress_look(at);
    if (at->now.largest < at->result.approach) /* otherwise there was no step before */
        at->good = rs_max(at->good, rs_min(at->moving, SHARE_OF_CHANGE * at->now.largest));
    at->goal = rs_max(at->perfect, rs_min(SHARE_OF_CHANGE * at->now.largest, GOOD_IN_CHANGE * at->result.approach));
    at->fine = rs_max(at->perfect, rs_min(FINE_SHARE * at->now.largest, FINE_IN_CHANGE * at->result.approach));
}

/* How near the impulses of the step before are to the solution. */
typedef enum { WARM, LUKEWARM, NEW } nearness;

/* Where light links bear much, impulses that are off by little leave much speed. Limits, motors and wires do not count: at worst
 * they change sides. */
static nearness nearness_of(const rs_progress *at) {
    nearness found = WARM;
    for (int64_t k = 0; k < at->rows->count; k++) {
        const rs_law *law = rs_rows_law(at->rows, k);
        double most = WARM_SHARE * rs_max(at->result.approach, law->inverse_mass * rs_norm(law->impulse.xyz));
        if (law->kind == RS_ROW_AXIS || rs_law_residual(law) <= most)
            continue;
        if (rs_v3_is_zero(law->impulse.xyz))
            return NEW;
        found = LUKEWARM;
    }
    return found;
}

/* Whether a contact that touches slips and bears nothing: its share of the load decides what moves, so a wheel that spins must
 * not stay without. Slower slips than what is left of the laws may be no slips. Where that could not be helped, it is not asked
 * for a while. */
static bool some_slip_without_load(const rs_progress *at) {
    double touching = at->touching, slipping = rs_max(SLIPPING * at->result.approach, at->now.largest);
    if (at->input->uneven > 0)
        return false;
    for (int64_t k = 0; k < at->rows->count; k++) {
        const rs_law *law = rs_rows_law(at->rows, k);
        rs_vec3 slip = law->error.xyz;
        if (law->kind == RS_ROW_CONTACT && law->inverse_mass * law->impulse.xyz.z <= touching && slip.z <= touching
            && slip.x * slip.x + slip.y * slip.y > slipping * slipping)
            return true;
    }
    return false;
}

static void share_loads(rs_progress *at, bool warm) {
    if (warm && at->input->uneven > 0)
        return;
    if (rs_progress_share_loads(at, warm ? 1 : MAX_SHARINGS))
        at->result.uneven = -EVEN_SOLVES;
    else if (warm)
        at->result.uneven = PATIENT_SOLVES;
}

/* The states of rows as the impulses of the step before leave them, or the descent, say where Newton's method begins. */
static void take_newton_steps(rs_progress *at, bool warm) {
    bool even = warm && at->input->uneven < 0; /* still, but for what has changed since */
    if (even)
        rs_progress_take_exact_steps(at);
    if (!even || at->now.largest > at->goal)
        share_loads(at, warm);
    rs_progress_take_exact_steps(at);
}

/* Newton's method first: it finds how loads are shared, and sweeps would spoil that. Where that has not led to a solution,
 * loads stay shared as they are for a while. */
static void begin_with_newton(rs_progress *at) {
    at->spun = some_slip_without_load(at);
    nearness near = at->spun ? NEW : nearness_of(at);
    if (at->spun) /* however well the laws are obeyed */
        at->best.merit = INFINITY;
    if (near != NEW)
        take_newton_steps(at, near == WARM);
    if (near == NEW || (near == LUKEWARM && at->now.largest > rs_max(at->goal, at->good))) {
        at->goal = rs_max(at->perfect, COLD * at->result.approach);
        at->fine = rs_max(at->perfect, 0.1 * at->goal);
        rs_progress_start_evenly(at);
        take_newton_steps(at, false);
    }
}

/* Whether sweeps are tried before all else: in motion the states of rows change, so that a few impulses may be far off while most
 * are right. */
static bool begins_with_sweeps(const rs_progress *at) {
    bool moves = at->good == at->moving || rs_progress_slips(at);
    return moves && at->rows->layout->of_single_bodies && at->rows->count > FEW_ROWS && nearness_of(at) != WARM;
}

/* Where a factorisation costs a good part of all sweeps, and those have not been enough. */
static void follow_dear_paths(rs_progress *at) {
    rs_progress_find_newton_work(at, at->budget / LEAST_DEAR_NEWTONS);
    if (at->newton_work < INFINITY)
        rs_progress_follow_paths(at, true);
}

/* Where a step of Newton's method costs as much as many sweeps, those go first, and on as long as they help. */
static void iterate(rs_progress *at) {
    int64_t max_sweeps = at->input->settings->max_iterations, first_sweeps = at->rows->layout->first_sweeps;
    bool sweeps_first = begins_with_sweeps(at);
    first_sweeps = first_sweeps < max_sweeps ? first_sweeps : max_sweeps;
    at->sweep_work = VISIT_WORK * (double)at->rows->count;
    at->budget = at->sweep_work * (double)max_sweeps;
    at->result.sweeps = 0;
    at->spun = false;
    if (at->now.merit > (sweeps_first ? WORTHLESS : 1.0) * at->best.merit)
        rs_progress_return_to_best(at);
    if (sweeps_first)
        rs_progress_sweep(at, first_sweeps);
    double cheap_work = CHEAP_SWEEPS * at->sweep_work;
    double most_work = at->budget / LEAST_NEWTONS;
    rs_progress_find_newton_work(at, at->now.largest > rs_progress_fair(at) ? most_work : rs_min(cheap_work, most_work));
    bool able = at->newton_work < INFINITY, cheap = at->newton_work < cheap_work;
    if (cheap && !sweeps_first)
        begin_with_newton(at);
    if (able && !at->rows->layout->of_single_bodies && at->now.largest > rs_progress_fair(at)) {
        rs_progress_go_inside(at);
        if (cheap) /* from states that are nearly right */
            rs_progress_take_exact_steps(at);
    }
    if (!sweeps_first)
        rs_progress_sweep(at, first_sweeps);
    if (able && at->rows->layout->of_single_bodies && at->now.largest > rs_progress_fair(at))
        rs_progress_go_inside(at);
    if (cheap && at->now.largest > rs_progress_fair(at))
        rs_progress_take_exact_steps(at);
    if (able && at->now.largest > rs_progress_fair(at))
        rs_progress_follow_paths(at, false);
    if (able && at->now.largest > rs_max(at->moving, rs_progress_fair(at)))
        rs_progress_follow_arc(at);
    rs_progress_sweep(at, (able ? 1 : MORE_SWEEPS) * max_sweeps - first_sweeps);
    if (!able && at->now.largest > rs_max(at->moving, rs_progress_fair(at)))
        follow_dear_paths(at);
    if (cheap && !at->stuck && at->result.sweeps > 0 && at->now.largest > rs_max(at->exact, at->goal))
        rs_progress_take_exact_steps(at);
    if (at->result.sweeps > 0)
        rs_progress_sum_up_best(at);
    if (at->spun && some_slip_without_load(at))
        at->result.uneven = PATIENT_SOLVES;
}

/* ---- certificate ---- */

typedef struct {
    double work;    /* that the impulses did [J] */
    double allowed; /* by rounding and by the violation that is left [J] */
    double before;  /* sum of impulses times velocities without them */
} energy;

/* What motors and springs do counts as given: velocities "without impulses" are those with theirs. */
static void count_powered_as_given(rs_progress *at) {
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
    rs_progress_forget_momentum(at);
}

static energy energy_of(rs_progress *at) {
    count_powered_as_given(at);
    energy found = {0.0, 0.0, 0.0};
    for (int64_t k = 0; k < at->rows->count; k++) {
        const rs_law *law = rs_rows_law(at->rows, k);
        if (law->powered)
            continue;
        double size = rs_norm(law->impulse.xyz);
        rs_vec3 free = rs_law_before(law);
        found.work += rs_law_work(law);
        found.before += rs_dot(law->impulse.xyz, free);
        found.allowed += size * (rs_min(at->now.largest, EXCUSED * at->result.approach) + ROUNDING * rs_norm(free) + NOTHING);
    }
    return found;
}

/* ---- what must not give energy ---- */

static bool any_bounce(const rs_rows *rows) {
    for (int64_t k = 0; k < rows->count; k++)
        if (rs_law_bounces(rs_rows_law(rows, k)))
            return true;
    return false;
}

/* Bounces that were `from` of what the laws say become `to` of that. */
static void reduce_aims(rs_progress *at, double from, double to) {
    for (int64_t k = 0; k < at->rows->count; k++) {
        rs_law *law = rs_rows_law(at->rows, k);
        rs_vec3 aim = law->aim.xyz, reduced = rs_scale(to / from, aim);
        if (!rs_law_bounces(law))
            continue;
        law->free_error.xyz = rs_add(law->free_error.xyz, rs_sub(aim, reduced));
        if (law->kind == RS_ROW_POINT) /* its gap is closed without velocity, then */
            law->push += rs_norm(aim) - rs_norm(reduced);
        law->aim.xyz = reduced;
    }
    at->now = rs_rows_measure(at->rows);
    at->best = at->now;
    for (int64_t k = 0; k < at->rows->count; k++)
        rs_rows_law(at->rows, k)->best = rs_rows_law(at->rows, k)->impulse;
}

/* The impulses as a whole become smaller until they give no energy: with w = a s + b s^2 / 2 for a share s of them. */
static void scale_impulses(rs_progress *at, const energy *found) {
    double square = 2.0 * (found->work - found->before); /* impulses times the velocity that they add */
    double share = found->before < 0.0 && square > 0.0 ? rs_min(1.0, -2.0 * found->before / square) : 0.0;
    for (int64_t k = 0; k < at->rows->count; k++) {
        rs_law *law = rs_rows_law(at->rows, k);
        law->step.xyz = rs_scale(law->powered ? 1.0 : share, law->impulse.xyz);
    }
    rs_rows_start_from_steps(at->rows);
    at->now = rs_rows_measure(at->rows);
}

static void keep_solution(rs_progress *at) {
    for (int64_t k = 0; k < at->rows->count; k++)
        rs_rows_law(at->rows, k)->kept = rs_rows_law(at->rows, k)->impulse;
}

/* Solved once more the same bounces may have another solution, one that gives energy. */
static energy return_to_kept(rs_progress *at) {
    for (int64_t k = 0; k < at->rows->count; k++)
        rs_rows_law(at->rows, k)->step = rs_rows_law(at->rows, k)->kept;
    rs_rows_start_from_steps(at->rows);
    at->now = rs_rows_measure(at->rows);
    return energy_of(at);
}

/* Restitution together with friction, or several bounces at once, can ask for more energy than there is, or for a motion that
 * there is not, as where a body is squeezed: then all of them are reduced alike, as little as it takes. Without any, laws that
 * are obeyed give no energy; should they not be obeyed well enough, the impulses are reduced. */
static energy restrain(rs_progress *at, energy found) {
    double low = 0.0, high = 1.0, share = 1.0;
    bool poor = rs_progress_is_poor(at);
    at->result.restrained = true;
    for (int k = 0; k < MAX_REDUCTIONS && any_bounce(at->rows); k++) {
        double next = k + 1 < MAX_REDUCTIONS ? 0.5 * (low + high) : low;
        if (next == share)
            break;
        reduce_aims(at, share, rs_max(next, SMALLEST_SHARE));
        share = rs_max(next, SMALLEST_SHARE);
        iterate(at);
        found = energy_of(at);
        if (found.work > found.allowed || (poor && at->now.largest > rs_progress_fair(at))) {
            high = share;
        } else {
            low = share;
            keep_solution(at);
        }
    }
    if (low > 0.0 && high == share) { /* the last one has failed */
        reduce_aims(at, share, low);
        found = return_to_kept(at);
    }
    if (found.work > found.allowed) {
        scale_impulses(at, &found);
        found = energy_of(at);
    }
    return found;
}

rs_solve_result rs_island_solve(rs_rows *rows, const rs_solve_input *input, rs_newton *newton) {
    rs_progress at = {.rows = rows, .newton = newton, .input = input};
    at.result.uneven = input->uneven > 0 ? input->uneven - 1 : input->uneven < 0 ? input->uneven + 1 : 0;
    begin(&at);
    double before = at.now.merit;
    bool near = at.now.largest <= at.exact; /* what changes from step to step is less than what may stay */
    if (at.now.largest > (input->settled ? at.exact : at.perfect) || some_slip_without_load(&at))
        iterate(&at);
    bool same = at.now.merit >= SAME * SAME * before;
    at.result.settled = at.result.sweeps + at.result.newtons == 0 || ((near || same) && at.now.largest <= at.exact);
    energy found = energy_of(&at);
    if (found.work > found.allowed || (rs_progress_is_poor(&at) && any_bounce(rows)))
        found = restrain(&at, found);
    at.result.residual = at.now.largest;
    at.result.work = found.work;
    return at.result;
}
