#include "coulomb.h"

#include <stdbool.h>

/* Relative error of the friction cone at which a slipping contact counts as solved. */
static const double CONE_TOLERANCE = 1e-10;
enum { MAX_SLIP_STEPS = 50 };

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

/* Newton's method kept between bounds. */
static rs_vec3 solve_slip(const slip_problem *p) {
    double low = 0.0, high = INFINITY, s = 0.0;
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

rs_vec3 rs_coulomb_solve(const rs_sym3 *g, double mu, rs_vec3 c) {
    if (c.z >= 0.0)
        return rs_v3_zero();
    rs_sym3 g_inverse = rs_sym3_inverse(g);
    rs_vec3 stick = rs_neg(rs_sym3_mulv(&g_inverse, c));
    if (in_cone(stick, mu))
        return stick;
    if (mu <= 0.0)
        return rs_v3(0.0, 0.0, -c.z / g->zz);
    slip_problem slip = make_slip_problem(g, mu, c);
    return solve_slip(&slip);
}

void rs_disc_solve(const double a[3], const double b[2], double limit, double *x, double *y) {
    double resistance = 0.0;
    *x = *y = 0.0;
    for (int k = 0; k < MAX_SLIP_STEPS && limit > 0.0; k++) {
        double xx = a[0] + resistance, yy = a[1] + resistance, inverse = 1.0 / (xx * yy - a[2] * a[2]);
        *x = inverse * (a[2] * b[1] - yy * b[0]);
        *y = inverse * (a[2] * b[0] - xx * b[1]);
        double size2 = *x * *x + *y * *y, size = sqrt(size2);
        if (size <= (1.0 + CONE_TOLERANCE) * limit)
            break;
        /* Newton's method on 1 / size, which is concave: it comes from below (More and Sorensen 1983) */
        double shrink = inverse * (yy * *x * *x - 2.0 * a[2] * *x * *y + xx * *y * *y);
        resistance += (size / limit - 1.0) * size2 / shrink;
    }
    double size = sqrt(*x * *x + *y * *y), scale = size > limit ? limit / size : 1.0;
    *x *= scale;
    *y *= scale;
}
