#include "contact_solver.h"

/* Angle between friction and the reverse of slip that counts as none [rad]. */
static const double ANGLE_TOLERANCE = 1e-8;
static const double PI = 3.14159265358979323846;
enum { MAX_SECANT_STEPS = 12, MAX_SEARCH_STEPS = 64 };

/* ---- one contact ---- */

typedef struct {
    const rs_sym3 *g;
    double mu;
    rs_vec3 c;
} slip_problem;

typedef struct {
    rs_vec3 impulse;
    double miss; /* signed angle from the friction direction to the one that opposes slip [rad] */
    bool valid;  /* the cone and the plane v_n = 0 meet in this direction */
} slip_trial;

/* Impulse on the friction cone in direction `theta` with v_n = 0, and how far it is from opposing the slip. */
static slip_trial try_direction(const slip_problem *p, double theta) {
    double cosine = cos(theta), sine = sin(theta);
    double denominator = p->g->zz / p->mu + p->g->xz * cosine + p->g->yz * sine;
    slip_trial trial = {.valid = denominator > 0.0};
    if (!trial.valid)
        return trial;
    double r = -p->c.z / denominator;
    trial.impulse = rs_v3(r * cosine, r * sine, r / p->mu);
    rs_vec3 v = rs_add(rs_sym3_mulv(p->g, trial.impulse), p->c);
    trial.miss = atan2(sine * v.x - cosine * v.y, -(cosine * v.x + sine * v.y));
    return trial;
}

/* March from `theta` towards the side that the slip asks for until the miss changes sign, then halve. */
static rs_vec3 search_direction(const slip_problem *p, double theta) {
    slip_trial low = try_direction(p, theta);
    while (!low.valid) { /* only a wide fan of directions can be invalid: leave it */
        theta += 0.5;
        low = try_direction(p, theta);
    }
    double step = copysign(0.01, low.miss);
    double low_theta = theta, high_theta = theta;
    slip_trial high = low;
    bool bracketed = false;
    for (int k = 0; k < MAX_SEARCH_STEPS && !bracketed; k++) {
        double next_theta = low_theta + step;
        slip_trial next = try_direction(p, next_theta);
        if (!next.valid) {
            step *= 0.5;
            continue;
        }
        /* A jump from +pi to -pi is not a root: the miss must be small on both sides. */
        if (next.miss * low.miss <= 0.0 && fabs(next.miss - low.miss) < PI) {
            bracketed = true;
            high = next;
            high_theta = next_theta;
        } else {
            low = next;
            low_theta = next_theta;
            step *= 1.3;
        }
    }
    for (int k = 0; k < MAX_SEARCH_STEPS && bracketed && fabs(high_theta - low_theta) > ANGLE_TOLERANCE; k++) {
        double middle_theta = 0.5 * (low_theta + high_theta);
        slip_trial middle = try_direction(p, middle_theta);
        if (middle.miss * low.miss > 0.0) {
            low = middle;
            low_theta = middle_theta;
        } else {
            high = middle;
            high_theta = middle_theta;
        }
    }
    return high.impulse;
}

/* Secant steps from a good guess nearly always arrive in a few evaluations; the search is for the rest. */
static rs_vec3 solve_slip(const slip_problem *p, double theta) {
    const double start = theta;
    slip_trial trial = try_direction(p, theta);
    double slope = 1.0; /* d(miss)/d(-theta) when the slip does not depend on the impulse */
    for (int k = 0; k < MAX_SECANT_STEPS && trial.valid; k++) {
        if (fabs(trial.miss) < ANGLE_TOLERANCE)
            return trial.impulse;
        double step = rs_clamp(trial.miss / slope, -0.5, 0.5);
        slip_trial next = try_direction(p, theta + step);
        double measured = (trial.miss - next.miss) / step;
        slope = measured > 0.2 ? measured : 1.0;
        theta += step;
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
    return solve_slip(&problem, has_guess ? atan2(guess.y, guess.x) : atan2(stick.y, stick.x));
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
        if (change2 <= settings->threshold * size2 || result.iterations == settings->max_iterations)
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
