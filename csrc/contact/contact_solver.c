#include "contact_solver.h"

/* Angle between friction and the reverse of slip that counts as none [rad]. */
static const double ANGLE_TOLERANCE = 1e-8;
/* Largest turn of one step of the search [rad]. */
static const double MAX_TURN = 0.5;
/* Tangent of one turn of the search all around: SEARCH_DIRECTIONS of them make a little more than a full circle. */
static const double SEARCH_TURN = 0.0246;
enum { MAX_SECANT_STEPS = 12, SEARCH_DIRECTIONS = 256, MAX_HALVINGS = 40 };

/* ---- one contact ---- */

typedef struct {
    const rs_sym3 *g;
    double mu;
    rs_vec3 c;
} slip_problem;

typedef struct {
    double x, y; /* unit vector in the tangent plane */
} direction;

typedef struct {
    rs_vec3 impulse;
    double miss; /* sine of the angle from the friction direction to the one that opposes slip; +-1 beyond 90 degrees */
    bool valid;  /* the cone and the plane v_n = 0 meet in this direction */
} slip_trial;

static direction unit(double x, double y) {
    double length = sqrt(x * x + y * y);
    return length > 0.0 ? (direction){x / length, y / length} : (direction){1.0, 0.0};
}

/* Turns by the angle whose tangent is `tangent`. */
static direction turned(direction d, double tangent) { return unit(d.x - tangent * d.y, d.y + tangent * d.x); }

/* Impulse on the friction cone in direction `d` with v_n = 0, and how far it is from opposing the slip. */
static slip_trial try_direction(const slip_problem *p, direction d) {
    double denominator = p->g->zz + p->mu * (p->g->xz * d.x + p->g->yz * d.y);
    slip_trial trial = {.valid = denominator > 0.0};
    if (!trial.valid)
        return trial;
    double normal = -p->c.z / denominator, r = p->mu * normal;
    trial.impulse = rs_v3(r * d.x, r * d.y, normal);
    double vx = p->g->xx * trial.impulse.x + p->g->xy * trial.impulse.y + p->g->xz * normal + p->c.x;
    double vy = p->g->xy * trial.impulse.x + p->g->yy * trial.impulse.y + p->g->yz * normal + p->c.y;
    double along = -(d.x * vx + d.y * vy), across = d.y * vx - d.x * vy;
    double speed = sqrt(vx * vx + vy * vy);
    trial.miss = along > 0.0 ? across / speed : across == 0.0 && along == 0.0 ? 0.0 : copysign(1.0, across);
    return trial;
}

/* Halves the angle between two directions whose misses have different signs. */
static slip_trial bisect_direction(const slip_problem *p, direction low, direction high) {
    slip_trial middle = {.valid = false};
    for (int k = 0; k < MAX_HALVINGS; k++) {
        direction d = unit(low.x + high.x, low.y + high.y);
        middle = try_direction(p, d);
        if (!middle.valid || fabs(middle.miss) < ANGLE_TOLERANCE)
            break;
        if (middle.miss > 0.0)
            low = d;
        else
            high = d;
    }
    return middle;
}

static double energy_change(const slip_problem *p, rs_vec3 impulse) {
    return rs_dot(impulse, rs_add(rs_scale(0.5, rs_sym3_mulv(p->g, impulse)), p->c));
}

/* Looks all around for the direction that opposes the slip: there the miss falls through zero as the direction turns.
 * Where it jumps, friction points along the slip, or the cone leaves the plane v_n = 0: that is no root. Without a
 * root (very rare) the impulse that takes most energy away. */
static rs_vec3 search_direction(const slip_problem *p, direction d) {
    slip_trial trial = try_direction(p, d);
    rs_vec3 best = rs_v3_zero();
    for (int k = 0; k < SEARCH_DIRECTIONS; k++) {
        direction next_d = turned(d, SEARCH_TURN);
        slip_trial next = try_direction(p, next_d);
        if (trial.valid && next.valid && trial.miss > 0.0 && next.miss <= 0.0) {
            slip_trial root = bisect_direction(p, d, next_d);
            if (root.valid && fabs(root.miss) < 1e3 * ANGLE_TOLERANCE)
                return root.impulse;
        }
        if (next.valid && energy_change(p, next.impulse) < energy_change(p, best))
            best = next.impulse;
        d = next_d;
        trial = next;
    }
    return best;
}

/* Secant steps from a good guess nearly always arrive in a few evaluations; the search is for the rest. */
static rs_vec3 solve_slip(const slip_problem *p, direction start) {
    direction d = start;
    slip_trial trial = try_direction(p, d);
    double slope = 1.0; /* of the miss against the turn, when the slip does not depend on the impulse */
    for (int k = 0; k < MAX_SECANT_STEPS && trial.valid; k++) {
        if (fabs(trial.miss) < ANGLE_TOLERANCE)
            return trial.impulse;
        double step = rs_clamp(trial.miss / slope, -MAX_TURN, MAX_TURN);
        d = turned(d, step);
        slip_trial next = try_direction(p, d);
        double measured = (trial.miss - next.miss) / step;
        slope = measured > 0.2 ? measured : 1.0;
        trial = next;
    }
    return search_direction(p, start);
}

rs_vec3 rs_contact_solve_one(const rs_sym3 *g, const rs_sym3 *g_inverse, double mu, rs_vec3 c, rs_vec3 guess) {
    if (c.z > 0.0)
        return rs_v3_zero();
    if (mu <= 0.0)
        return rs_v3(0.0, 0.0, -c.z / g->zz);
    rs_vec3 stick = rs_neg(rs_sym3_mulv(g_inverse, c));
    double stick_t2 = stick.x * stick.x + stick.y * stick.y;
    if (stick.z >= 0.0 && stick_t2 <= mu * mu * stick.z * stick.z)
        return stick;
    slip_problem problem = {g, mu, c};
    bool has_guess = guess.x != 0.0 || guess.y != 0.0;
    return solve_slip(&problem, has_guess ? unit(guess.x, guess.y) : unit(stick.x, stick.y));
}

/* ---- sweeps ---- */

static rs_vec3 row_velocity(const rs_row *row, const rs_solver_body *a, const rs_solver_body *b) {
    rs_vec3 v = rs_sub(rs_add(a->v, rs_cross(a->w, row->ra)), rs_add(b->v, rs_cross(b->w, row->rb)));
    return rs_v3(rs_dot(v, row->t1), rs_dot(v, row->t2), rs_dot(v, row->n));
}

/* Adds the impulse (contact frame) on A and its reaction on B. */
static void apply_impulse(const rs_row *row, rs_solver_body *a, rs_solver_body *b, rs_vec3 impulse) {
    rs_vec3 p = rs_madd(rs_madd(rs_scale(impulse.x, row->t1), impulse.y, row->t2), impulse.z, row->n);
    if (a->inverse_mass > 0.0) {
        a->v = rs_madd(a->v, a->inverse_mass, p);
        a->w = rs_add(a->w, rs_sym3_mulv(&a->inverse_inertia, rs_cross(row->ra, p)));
    }
    if (b->inverse_mass > 0.0) {
        b->v = rs_madd(b->v, -b->inverse_mass, p);
        b->w = rs_sub(b->w, rs_sym3_mulv(&b->inverse_inertia, rs_cross(row->rb, p)));
    }
}

/* Solves one row against the present velocities. */
static void relax_row(rs_row *row, rs_solver_body *bodies) {
    rs_solver_body *a = &bodies[row->body_a], *b = &bodies[row->body_b];
    rs_vec3 c = rs_sub(row_velocity(row, a, b), rs_sym3_mulv(&row->g, row->impulse));
    c.z -= row->target;
    rs_vec3 solved = rs_contact_solve_one(&row->g, &row->g_inverse, row->mu, c, row->impulse);
    row->change = rs_sub(solved, row->impulse);
    row->impulse = solved;
    if (rs_norm2(row->change) > 0.0)
        apply_impulse(row, a, b, row->change);
}

/* Moves all impulses along the search directions: the conjugate-gradient part. */
static void extrapolate(rs_row *rows, int64_t count, rs_solver_body *bodies, double beta) {
    for (int64_t k = 0; k < count; k++) {
        rs_row *row = &rows[k];
        rs_vec3 step = rs_scale(beta, row->direction);
        row->direction = rs_add(step, row->change);
        row->impulse = rs_add(row->impulse, step);
        apply_impulse(row, &bodies[row->body_a], &bodies[row->body_b], step);
    }
}

static void restart(rs_row *rows, int64_t count) {
    for (int64_t k = 0; k < count; k++)
        rows[k].direction = rs_v3_zero();
}

/* The change that is still to come is the last one times 1 / (1 - rate): when sweeps converge slowly, a small change
 * does not mean that little is left. Squared, and limited: rounding alone changes at a rate of 1. */
static double strictness(double residual, double residual_before) {
    double left = residual_before > 0.0 ? 1.0 - sqrt(residual / residual_before) : 1.0;
    return rs_max(left, 0.1) * rs_max(left, 0.1);
}

/* Sweeps alone converge slowly in stacks: a load travels one body per sweep. Each sweep is therefore taken as a
 * gradient step of a nonlinear conjugate-gradient method (Silcowitz, Niebe, Erleben 2010), which restarts when the
 * residual grows. */
rs_solve_result rs_contact_solve(rs_row *rows, int64_t count, rs_solver_body *bodies,
                                 const rs_solver_settings *settings, bool backward) {
    for (int64_t k = 0; k < count; k++) {
        rows[k].direction = rs_v3_zero();
        apply_impulse(&rows[k], &bodies[rows[k].body_a], &bodies[rows[k].body_b], rows[k].impulse);
    }
    rs_solve_result result = {0, 0.0};
    double residual_before = 0.0;
    while (result.iterations < settings->max_iterations) {
        double change2 = 0.0, size2 = 0.0, residual = 0.0;
        for (int64_t k = 0; k < count; k++) {
            rs_row *row = &rows[backward ? count - 1 - k : k];
            relax_row(row, bodies);
            change2 += rs_norm2(row->change);
            size2 += rs_norm2(row->impulse);
            residual += rs_dot(row->change, rs_sym3_mulv(&row->g, row->change));
        }
        result.iterations++;
        result.error = size2 > 0.0 ? change2 / size2 : 0.0;
        if (count == 1 || result.iterations == settings->max_iterations ||
            (result.iterations > 1 && change2 <= settings->threshold * size2 * strictness(residual, residual_before)))
            break;
        if (residual < residual_before)
            extrapolate(rows, count, bodies, residual / residual_before);
        else if (result.iterations == 1)
            extrapolate(rows, count, bodies, 0.0);
        else
            restart(rows, count);
        residual_before = residual;
    }
    return result;
}
