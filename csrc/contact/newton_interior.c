/* An interior-point method for islands without rolling friction.
 *
 * With x = (friction, mu * load) and z = (slip, lift / mu), each in the unit of the root of an energy, Coulomb's law says that both
 * lie in the cone |(x, y)| <= z of a vector and stand at right angles to each other, where the lift is the speed of separation and
 * mu times the slip (De Saxce and Feng 1998). A bound of an impulse is the same with numbers in place of vectors: the room up to it,
 * and the speed that it stands for. Inside the cones every row has a product of both; from step to step all of these shrink
 * together. Directions are those of Nesterov and Todd with Mehrotra's correction; the lift is that of the present slip and
 * turns with it, which makes the matrix unsymmetric. As far as lifts do not change this is a convex problem, and the number of
 * steps hardly depends on its size or condition: some ten, where paths take hundreds. Where lifts decide what moves, steps may become
 * short: then others must go on, from the best impulses so far, or this one with the other kind of lifts: along a direction they grow
 * in a straight line, or are those of the slips everywhere (bent).
 *
 * Impulses and velocities belong together all the time, so that the errors of rows follow from the directions. */
#include "newton_interior.h"

#include <math.h>
#include <string.h>

/* The start: products are the square of so many times the largest violation, but of no less than a share of what it is without
 * impulses. Nearer to the solution, the boundary is in the way. */
static const double START_SHARES[2] = {3.0, 0.1};
/* Steps go so far towards the boundary, and no product may be less than this share of their mean. */
static const double NEARLY = 0.95, LEAST_PRODUCT = 1e-3, CUT = 0.7;
enum { MAX_CUTS = 12 };
/* The correction aims at the share of the products that a step without it would leave, to the third power, but at no less. */
static const double LEAST_AIM = 1e-6;
/* Lifts in a straight line make steps short where the slips turn about: after a step shorter than this, the next counts on half of
 * the turning, but no less than a share, and after others on more again. */
static const double SHORT = 0.3, HALF = 0.5, LEAST_TURNING = 0.25, MORE_TURNING = 1.4;
/* Where a step is shorter than this, another is tried that keeps half of the products. */
static const double VERY_SHORT = 0.05;

bool rs_newton_interior_fits(const rs_newton *n, const rs_rows *rows) {
    for (int64_t k = 0; k < rows->count; k++)
        if (rs_rows_law(rows, k)->kind == RS_ROW_TURN)
            return false;
    return rs_newton_may_be_skew(n);
}

bool rs_newton_interior_begin(rs_newton *n, const rs_rows *rows, bool bent_lifts) {
    double largest = 0.0; /* square */
    if (!rs_cones_take_rows(n, rows, START_SHARES, &largest) || !rs_bounds_take_rows(n, rows, START_SHARES, &largest))
        return false;
    rs_cones_start(n, largest);
    rs_bounds_start(n, largest);
    rs_newton_interior_take(n, rows);
    n->turning_lifts = 1.0;
    n->bent_lifts = bent_lifts;
    return true;
}

void rs_newton_interior_look(rs_newton *n, const rs_rows *rows) {
    rs_cones_look(n, rows);
    rs_bounds_look(n, rows);
    n->interior_left = INFINITY; /* what was told before may have been less than there was */
}

void rs_newton_interior_take(const rs_newton *n, const rs_rows *rows) {
    rs_cones_put(n, rows);
    rs_bounds_put(n, rows);
}

/* ---- directions ---- */

/* Changes of impulses and velocities that lead to products of `aim`. */
static void find_direction(rs_newton *n, double aim, bool corrected) {
    double *change = n->vectors.items;
    rs_cones_set_goals(n, aim, corrected);
    rs_bounds_set_goals(n, aim, corrected);
    memset(change, 0, (size_t)n->size * sizeof *change);
    for (int64_t k = 0; k < n->rows.count; k++)
        rs_newton_pull(n, RS_ITEM(n->rows, k), RS_ITEM(n->rows, k)->impulse, change);
    rs_newton_matrix_solve(n, change);
    for (int64_t k = 0; k < n->rows.count; k++)
        RS_ITEM(n->rows, k)->turn = rs_newton_speed(n, RS_ITEM(n->rows, k), change);
    rs_cones_take_direction(n);
    rs_bounds_take_direction(n);
}

static double longest_step(const rs_newton *n) { return rs_min(rs_cones_way(n), rs_bounds_way(n)); }

/* After a share of the direction. Rows without bounds have none. */
static double mean_product(const rs_newton *n, double share) {
    int64_t count = n->contacts + n->bound_ends;
    return count > 0 ? (rs_cones_product(n, share) + rs_bounds_product(n, share)) / (double)count : 0.0;
}

/* Steps must not leave single products behind. */
static double cut_for_products(const rs_newton *n, double share) {
    for (int cut = 0; cut < MAX_CUTS; cut++, share *= CUT) {
        double least = LEAST_PRODUCT * mean_product(n, share);
        if (rs_cones_hold_together(n, share, least) && rs_bounds_hold_together(n, share, least))
            break;
    }
    return share;
}

double rs_newton_interior_step(rs_newton *n, double *left) {
    rs_cones_prepare(n);
    rs_bounds_prepare(n);
    if (!rs_newton_factorise_skew(n))
        return 0.0;
    double mean = mean_product(n, 0.0);
    find_direction(n, 0.0, false);
    double then = rs_max(0.0, mean_product(n, rs_min(1.0, longest_step(n))));
    double aim = mean > 0.0 ? rs_clamp(then * then * then / (mean * mean), LEAST_AIM * mean, mean) : 0.0;
    find_direction(n, aim, true);
    double share = rs_min(1.0, NEARLY * longest_step(n));
    if (!n->bent_lifts) {
        if (share < VERY_SHORT) {
            find_direction(n, HALF * mean, false);
            share = rs_min(1.0, NEARLY * longest_step(n));
        }
        n->turning_lifts = share < SHORT ? rs_max(LEAST_TURNING, HALF * n->turning_lifts) : rs_min(1.0, MORE_TURNING * n->turning_lifts);
    }
    share = cut_for_products(n, share);
    *left = rs_max(rs_cones_go(n, share), rs_bounds_go(n, share));
    if (*left < n->interior_left) {
        rs_cones_keep(n);
        rs_bounds_keep(n);
        n->interior_left = *left;
    }
    return isfinite(*left) ? share : 0.0;
}
