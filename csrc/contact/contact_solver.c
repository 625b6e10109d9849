#include "contact_solver.h"

/* Relative error of the friction cone at which a slipping contact counts as solved. */
static const double CONE_TOLERANCE = 1e-10;
enum { MAX_SLIP_STEPS = 50 };

/* A row is busy while its squared change exceeds this share of the mean that would end the sweeps. */
static const double QUIET_SHARE = 0.01;
/* Sweeps over the busy rows end early when their changes fall below this share of the limit. */
static const double BUSY_STRICTNESS = 0.3;
/* Sweeps over the busy rows between two sweeps over all. */
enum { MAX_BUSY_SWEEPS = 7 };

/* Jumps to the exact solution per solve; more only help where contacts open and close all the time. */
enum { MAX_JUMPS = 4 };
/* Squared relative change at which the sweeps have sorted out well enough which contacts are closed. */
static const double JUMP_ERROR = 1e-2;
/* Islands that stand on faces are solved to this share of the threshold: slow modes hide behind small changes. */
static const double FACES_SHARE = 1e-4;
/* While jumps are left, it takes that much less again to stop. */
static const double EXACT_SHARE = 1e-4;

/* ---- one contact ---- */

/* A slipping contact with the normal eliminated (v_n = 0): tangential velocity v = a * friction + b. Friction opposes
 * slip, v = -s * friction with a resistance s > 0, hence friction = -inverse(a + s) * b. It shrinks from the sticking
 * solution (s = 0, outside the cone) to nothing (s infinite, inside): there is always a resistance at which it lies on
 * the cone. */
typedef struct {
    double a_xx, a_yy, a_xy, b_x, b_y;
    double normal0, tilt_x, tilt_y; /* normal impulse = normal0 + tilt * friction */
    double mu;
} slip_problem;

typedef struct {
    rs_vec3 impulse;
    double miss;  /* mu * normal / friction - 1: nearly linear in s, negative outside the cone */
    double slope; /* of the miss */
} slip_trial;

static slip_problem make_slip_problem(const rs_sym3 *g, double mu, rs_vec3 c) {
    double inverse_zz = 1.0 / g->zz;
    double tilt_x = -g->xz * inverse_zz, tilt_y = -g->yz * inverse_zz;
    return (slip_problem){.a_xx = g->xx + g->xz * tilt_x, .a_yy = g->yy + g->yz * tilt_y, .a_xy = g->xy + g->xz * tilt_y,
                          .b_x = c.x + c.z * tilt_x, .b_y = c.y + c.z * tilt_y,
                          .normal0 = -c.z * inverse_zz, .tilt_x = tilt_x, .tilt_y = tilt_y, .mu = mu};
}

static slip_trial try_resistance(const slip_problem *p, double s) {
    double xx = p->a_xx + s, yy = p->a_yy + s;
    double inverse = 1.0 / (xx * yy - p->a_xy * p->a_xy);
    double fx = inverse * (p->a_xy * p->b_y - yy * p->b_x), fy = inverse * (p->a_xy * p->b_x - xx * p->b_y);
    double fx_s = inverse * (p->a_xy * fy - yy * fx), fy_s = inverse * (p->a_xy * fx - xx * fy); /* d/ds */
    double normal = p->normal0 + p->tilt_x * fx + p->tilt_y * fy;
    double inverse_friction = 1.0 / sqrt(fx * fx + fy * fy);
    double ratio = p->mu * normal * inverse_friction;
    double normal_s = p->tilt_x * fx_s + p->tilt_y * fy_s;
    double shrink = (fx * fx_s + fy * fy_s) * inverse_friction * inverse_friction;
    return (slip_trial){.impulse = rs_v3(fx, fy, normal), .miss = ratio - 1.0,
                        .slope = p->mu * normal_s * inverse_friction - ratio * shrink};
}

/* Newton's method kept between bounds; `resistance` is a guess. */
static rs_vec3 solve_slip(const slip_problem *p, double resistance) {
    double low = 0.0, high = INFINITY, s = resistance;
    slip_trial trial = try_resistance(p, s);
    for (int k = 0; k < MAX_SLIP_STEPS && fabs(trial.miss) > CONE_TOLERANCE; k++) {
        if (trial.miss < 0.0)
            low = s;
        else
            high = s;
        double next = s - trial.miss / trial.slope;
        bool inside = next > low && next < high; /* false for a slope of zero too */
        s = inside ? next : isinf(high) ? 2.0 * s + p->a_xx : 0.5 * (low + high);
        trial = try_resistance(p, s);
    }
    return trial.impulse;
}

static bool in_cone(rs_vec3 impulse, double mu) {
    return impulse.z >= 0.0 && impulse.x * impulse.x + impulse.y * impulse.y <= mu * mu * impulse.z * impulse.z;
}

/* Not inlined: most contacts stick, and their path must stay short. */
__attribute__((noinline)) static rs_vec3 solve_cone(const rs_sym3 *g, double mu, rs_vec3 c, double resistance) {
    if (mu <= 0.0)
        return rs_v3(0.0, 0.0, -c.z / g->zz);
    slip_problem problem = make_slip_problem(g, mu, c);
    return solve_slip(&problem, resistance);
}

rs_vec3 rs_contact_solve_one(const rs_sym3 *g, double mu, rs_vec3 c) {
    if (c.z >= 0.0)
        return rs_v3_zero();
    rs_sym3 g_inverse = rs_sym3_inverse(g);
    rs_vec3 stick = rs_neg(rs_sym3_mulv(&g_inverse, c));
    return in_cone(stick, mu) ? stick : solve_cone(g, mu, c, 0.0);
}

rs_vec3 rs_contact_onto_cone(rs_vec3 p, double mu) {
    if (p.z <= 0.0)
        return rs_v3_zero();
    double friction2 = p.x * p.x + p.y * p.y, limit = mu * p.z;
    double scale = friction2 > limit * limit ? limit / sqrt(friction2) : 1.0;
    return rs_v3(scale * p.x, scale * p.y, p.z);
}

/* ---- sweeps ---- */

/* Summed lane by lane over the rows of a sweep. */
typedef struct {
    rs_v4 change2; /* squared changes of the impulses */
    rs_v4 size2;   /* squared impulses */
    rs_v4 ascent;  /* velocity error along the momentum: positive when the momentum goes the wrong way */
} sweep_sums;

RS_INLINE rs_v4 relative_velocity(const rs_row *row, const rs_solver_body *a, const rs_solver_body *b) {
    return rs_v4_load(&a->v) - rs_v4_load(&b->v) + rs_v4_cross(rs_v4_load(&a->w), rs_v4_load(&row->ra)) -
           rs_v4_cross(rs_v4_load(&b->w), rs_v4_load(&row->rb));
}

/* Adds an impulse at the point r from the centre of mass. */
RS_INLINE void push_body(rs_solver_body *body, const rs_quad *r, rs_v4 p) {
    if (body->inverse_mass == 0.0)
        return;
    rs_v4_store(&body->v, rs_v4_load(&body->v) + rs_v4_all(body->inverse_mass) * p);
    rs_v4 turn = rs_columns_mulv(&body->inverse_inertia, rs_v4_cross(rs_v4_load(r), p));
    rs_v4_store(&body->w, rs_v4_load(&body->w) + turn);
}

/* Adds the impulse (contact frame) on A and its reaction on B. */
RS_INLINE void apply_impulse(const rs_row *row, rs_solver_body *a, rs_solver_body *b, rs_v4 impulse) {
    rs_v4 p = rs_v4_combine(impulse, rs_v4_load(&row->t1), rs_v4_load(&row->t2), rs_v4_load(&row->n));
    push_body(a, &row->ra, p);
    push_body(b, &row->rb, -p);
}

static bool is_zero(const rs_quad *q) { return q->xyz.x == 0.0 && q->xyz.y == 0.0 && q->xyz.z == 0.0; }

/* Ratio of slip to friction before the row is solved: a guess for the one after. */
static double slip_resistance(rs_v4 velocity, rs_v4 impulse) {
    double friction2 = impulse[0] * impulse[0] + impulse[1] * impulse[1];
    return friction2 > 0.0 ? sqrt((velocity[0] * velocity[0] + velocity[1] * velocity[1]) / friction2) : 0.0;
}

static rs_sym3 sym3_of(const rs_columns *m) {
    return (rs_sym3){.xx = m->x.xyz.x, .yy = m->y.xyz.y, .zz = m->z.xyz.z,
                     .xy = m->y.xyz.x, .xz = m->z.xyz.x, .yz = m->z.xyz.y};
}

/* Not inlined: most contacts stick, and their path must stay short. */
__attribute__((noinline)) static void slip_row(rs_row *row, const rs_quad *c, double resistance) {
    rs_sym3 g = sym3_of(&row->g);
    row->impulse.xyz = solve_cone(&g, row->mu, c->xyz, resistance);
}

/* The impulse that solves the row alone; now it holds `start` and misses its target by `error`. */
RS_INLINE rs_v4 solve_row(rs_row *row, rs_v4 start, rs_v4 error) {
    rs_v4 c = error - rs_columns_mulv(&row->g, start);
    if (c[2] >= 0.0)
        return rs_v4_all(0.0);
    rs_v4 stick = start - rs_columns_mulv(&row->g_inverse, error);
    double limit = row->mu * stick[2];
    if (limit >= 0.0 && stick[0] * stick[0] + stick[1] * stick[1] <= limit * limit)
        return stick;
    rs_quad rest;
    rs_v4_store(&rest, c);
    slip_row(row, &rest, slip_resistance(error, start));
    return rs_v4_load(&row->impulse);
}

/* Solves one row against the present velocities and returns the change of its impulse. The bodies already carry the
 * momentum; the row takes its share of it here. */
RS_INLINE rs_v4 relax_row(rs_row *row, rs_solver_body *bodies, double momentum, sweep_sums *sums) {
    rs_solver_body *a = &bodies[row->body_a], *b = &bodies[row->body_b];
    rs_v4 world = relative_velocity(row, a, b);
    rs_v4 along_n = world * rs_v4_load(&row->n);
    if (is_zero(&row->impulse) && is_zero(&row->former) && rs_v4_sum(along_n) > row->target)
        return rs_v4_all(0.0); /* open before and now */
    rs_v4 error = rs_v4_sums(world * rs_v4_load(&row->t1), world * rs_v4_load(&row->t2), along_n);
    error[2] -= row->target;

    rs_v4 before = rs_v4_load(&row->impulse);
    rs_v4 step = rs_v4_all(momentum) * (before - rs_v4_load(&row->former));
    rs_v4 start = before + step;
    rs_v4 solved = solve_row(row, start, error);
    rs_v4 change = solved - start;
    rs_v4_store(&row->former, before);
    rs_v4_store(&row->impulse, solved);
    apply_impulse(row, a, b, change);
    sums->change2 += change * change;
    sums->size2 += solved * solved;
    sums->ascent += error * step;
    return change;
}

/* Moves the bodies on by a share of what the last sweep did: they are linear in the impulses, so that the rows can
 * follow one by one in the next sweep. */
static void add_momentum(const rs_island_bodies *members, rs_solver_body *bodies, double momentum) {
    for (int64_t k = 0; k < members->count; k++) {
        rs_solver_body *body = &bodies[members->index[k]];
        rs_v4 v = rs_v4_load(&body->v), w = rs_v4_load(&body->w);
        rs_v4_store(&body->v, v + rs_v4_all(momentum) * (v - rs_v4_load(&body->v_former)));
        rs_v4_store(&body->w, w + rs_v4_all(momentum) * (w - rs_v4_load(&body->w_former)));
        rs_v4_store(&body->v_former, v);
        rs_v4_store(&body->w_former, w);
    }
}

static void apply_warm_start(rs_row *rows, int64_t count, rs_solver_body *bodies) {
    for (int64_t k = 0; k < count; k++) {
        rs_row *row = &rows[k];
        row->former = row->impulse;
        if (!is_zero(&row->impulse))
            apply_impulse(row, &bodies[row->body_a], &bodies[row->body_b], rs_v4_load(&row->impulse));
    }
}

/* Sweeps over all rows and lists the busy ones: those whose impulse changed by more than `quiet2` (squared). */
static sweep_sums sweep_all(rs_contact_island *island, double momentum, bool backward, double quiet2) {
    sweep_sums sums = {rs_v4_all(0.0), rs_v4_all(0.0), rs_v4_all(0.0)};
    island->busy_count = 0;
    for (int64_t k = 0; k < island->count; k++) {
        int64_t at = backward ? island->count - 1 - k : k;
        rs_row *row = &island->rows[at];
        rs_v4 change = relax_row(row, island->bodies, momentum, &sums);
        if (rs_v4_sum(change * change) > quiet2)
            island->busy[island->busy_count++] = (int32_t)at;
        else
            row->former = row->impulse; /* it leaves its momentum behind */
    }
    return sums;
}

static sweep_sums sweep_busy(rs_contact_island *island, double momentum) {
    sweep_sums sums = {rs_v4_all(0.0), rs_v4_all(0.0), rs_v4_all(0.0)};
    for (int64_t k = 0; k < island->busy_count; k++)
        relax_row(&island->rows[island->busy[k]], island->bodies, momentum, &sums);
    return sums;
}

/* ---- jumps ---- */

/* Several points between two bodies carry moments, and with them the slow modes of stacks; piles of balls have none
 * and are left to the sweeps. */
static bool stands_on_faces(const rs_contact_island *island) {
    int64_t companions = 0;
    for (int64_t k = 1; k < island->count; k++)
        companions += island->rows[k].body_a == island->rows[k - 1].body_a &&
                      island->rows[k].body_b == island->rows[k - 1].body_b;
    return 4 * companions >= island->count;
}

/* Adds a share of the direction in `former` to the impulses. */
static void move_along(rs_contact_island *island, double share) {
    for (int64_t k = 0; k < island->count; k++) {
        rs_row *row = &island->rows[k];
        rs_v4 change = rs_v4_all(share) * rs_v4_load(&row->former);
        rs_v4_store(&row->impulse, rs_v4_load(&row->impulse) + change);
        apply_impulse(row, &island->bodies[row->body_a], &island->bodies[row->body_b], change);
    }
}

/* How the energy of the contacts changes along the direction in `former`: velocity errors times impulses. */
static double energy_slope(const rs_contact_island *island) {
    double slope = 0.0;
    for (int64_t k = 0; k < island->count; k++) {
        const rs_row *row = &island->rows[k];
        rs_v4 step = rs_v4_load(&row->former);
        rs_v4 world = relative_velocity(row, &island->bodies[row->body_a], &island->bodies[row->body_b]);
        rs_v4 p = rs_v4_combine(step, rs_v4_load(&row->t1), rs_v4_load(&row->t2), rs_v4_load(&row->n));
        slope += rs_v4_sum(world * p) - row->target * step[2];
    }
    return slope;
}

/* Moves towards the exact solution for the present state of the contacts, put back onto the cones, as far as the
 * energy falls: the slope is linear along the way. Returns the share of the way, negative when there was no solution
 * to be had. */
static double jump(rs_contact_island *island) {
    if (!rs_direct_solve(island->direct, island->rows, island->count, &island->members, island->bodies,
                         island->world_body_count))
        return -1.0;
    for (int64_t k = 0; k < island->count; k++) {
        rs_row *row = &island->rows[k];
        rs_vec3 goal = rs_contact_onto_cone(rs_add(row->impulse.xyz, row->former.xyz), row->mu);
        row->former.xyz = rs_sub(goal, row->impulse.xyz);
    }
    double before = energy_slope(island);
    move_along(island, 1.0);
    double after = energy_slope(island);
    double share = after > 0.0 ? rs_max(0.0, before / (before - after)) : 1.0;
    if (share < 1.0)
        move_along(island, share - 1.0);
    for (int64_t k = 0; k < island->count; k++)
        island->rows[k].former = island->rows[k].impulse;
    return share;
}

/* ---- the solve ---- */

typedef struct {
    int32_t sweeps;
    int32_t age;         /* sweeps since the momentum started anew */
    int32_t busy_sweeps; /* sweeps over the busy rows since the last over all; MAX_BUSY_SWEEPS: the next is over all */
    int32_t jumps;       /* that may still be tried */
    double limit;        /* sum of squared changes at which to stop */
} progress;

/* Each sweep is a step of Nesterov's method; the momentum starts anew when it leads uphill (O'Donoghue and Candes
 * 2015), and pauses when the busy rows were chosen: those that left took their share of it along. */
static sweep_sums sweep(rs_contact_island *island, progress *at, bool all, bool backward) {
    double momentum = at->age > 1 && at->busy_sweeps > 0 ? (at->age - 1.0) / (at->age + 2.0) : 0.0;
    add_momentum(&island->members, island->bodies, momentum);
    sweep_sums sums = all ? sweep_all(island, momentum, backward, QUIET_SHARE * at->limit / (double)island->count)
                          : sweep_busy(island, momentum);
    at->age = rs_v4_sum(sums.ascent) > 0.0 ? 1 : at->age + 1;
    at->sweeps++;
    return sums;
}

/* After a good jump all rows are looked at again, after a short one the busy ones are sorted out first. */
static void try_jump(rs_contact_island *island, progress *at) {
    double share = jump(island);
    if (share < 0.0) {
        at->jumps = 0;
        return;
    }
    at->jumps--;
    at->age = 0;
    at->busy_sweeps = share > 0.5 ? MAX_BUSY_SWEEPS : 0;
}

/* Sweeps alone are slow: a load travels one body per sweep. In piles momentum helps, and leaving out the rows that are
 * open or done long before the last one. Stacks are solved exactly, once the sweeps have sorted out which contacts are
 * closed; the next sweep is the judge of that. */
rs_solve_result rs_contact_solve(rs_contact_island *island, const rs_solver_settings *settings, bool backward) {
    apply_warm_start(island->rows, island->count, island->bodies);
    bool faces = stands_on_faces(island);
    progress at = {.busy_sweeps = MAX_BUSY_SWEEPS, .jumps = faces ? MAX_JUMPS : 0};
    double error = 0.0;
    while (at.sweeps < settings->max_iterations) {
        bool all = at.busy_sweeps == MAX_BUSY_SWEEPS || at.sweeps == settings->max_iterations - 1;
        sweep_sums sums = sweep(island, &at, all, backward);
        double change2 = rs_v4_sum(sums.change2), size2 = rs_v4_sum(sums.size2);
        if (!all) {
            at.busy_sweeps = change2 <= BUSY_STRICTNESS * at.limit ? MAX_BUSY_SWEEPS : at.busy_sweeps + 1;
            continue;
        }
        at.limit = settings->threshold * size2 * (faces ? FACES_SHARE : 1.0);
        error = size2 > 0.0 ? change2 / size2 : 0.0;
        bool done = at.sweeps > 1 && at.jumps == 0 && change2 <= at.limit;
        if (island->count == 1 || done || change2 <= EXACT_SHARE * at.limit)
            break;
        at.busy_sweeps = at.sweeps > 2 ? 0 : MAX_BUSY_SWEEPS;
        if (at.jumps > 0 && at.sweeps > 1 && at.sweeps < settings->max_iterations && error < JUMP_ERROR)
            try_jump(island, &at);
    }
    return (rs_solve_result){at.sweeps, error};
}
