/* An interior-point method for islands of single bodies whose rows are contacts.
 *
 * With x = (friction, mu * load) and z = (slip, lift / mu), each in the unit of the root of an energy, Coulomb's law says that both
 * lie in the cone |(x, y)| <= z of a vector and stand at right angles to each other, where the lift is the speed of separation and
 * mu times the slip (De Saxce and Feng 1998). Inside the cones every row has a product of both; from step to step all of these
 * shrink together. Directions are those of Nesterov and Todd with Mehrotra's correction; the lift is that of the present slip and
 * turns with it, which makes the matrix unsymmetric. As far as lifts do not change this is a convex problem, and the number of
 * steps hardly depends on its size or condition: some ten, where paths take hundreds. Where lifts decide what moves, steps become
 * short: then others must go on. */
#include "newton_matrix.h"

#include <math.h>
#include <string.h>

/* The start: products are the square of so many times the largest violation, but of no less than a share of what it is without
 * impulses. Nearer to the solution, the boundary is in the way. */
static const double START = 3.0, LEAST_START = 0.3;
/* Steps go so far towards the boundary, and no product may be less than this share of their mean. */
static const double NEARLY = 0.95, LEAST_PRODUCT = 1e-3, CUT = 0.7;
enum { MAX_CUTS = 12 };
/* Rows whose stiffness is less than this share of their mass have no part in the matrix: those that are about to come apart. */
static const double NEGLIGIBLE = 1e-3;
/* Farther than any step goes. */
static const double FARTHEST = 1.1;
/* The correction aims at the share of the products that a step without it would leave, to the third power, but at no less. */
static const double LEAST_AIM = 1e-6;
/* Lifts that turn with the slips make steps short where they turn about: after a step shorter than this, the next counts on half of
 * the turning, but no less than a share, and after others on more again. */
static const double SHORT = 0.3, HALF = 0.5, LEAST_TURNING = 0.25, MORE_TURNING = 1.4;
/* Where a step is shorter than this, another is tried that keeps half of the products. */
static const double VERY_SHORT = 0.05;

/* ---- the algebra of the cones: vectors (x, y, z), where z is the axis ---- */

static double slip_of(rs_vec3 v) { return sqrt(v.x * v.x + v.y * v.y); }
static double determinant(rs_vec3 v) { return (v.z - slip_of(v)) * (v.z + slip_of(v)); }
static rs_vec3 product(rs_vec3 a, rs_vec3 b) {
    return rs_v3(a.z * b.x + b.z * a.x, a.z * b.y + b.z * a.y, rs_dot(a, b));
}
/* The vector whose product with a is b. */
static rs_vec3 quotient(rs_vec3 a, rs_vec3 b) {
    double z = (a.z * b.z - a.x * b.x - a.y * b.y) / determinant(a);
    return rs_v3((b.x - z * a.x) / a.z, (b.y - z * a.y) / a.z, z);
}
/* H(w) * v: with w of determinant one, the root of 2 w w' - diag(-1, -1, 1). Its inverse is H of the mirrored w. */
static rs_vec3 turned(rs_vec3 w, rs_vec3 v) {
    double along = w.x * v.x + w.y * v.y, f = along / (1.0 + w.z) + v.z;
    return rs_v3(v.x + f * w.x, v.y + f * w.y, w.z * v.z + along);
}
static rs_vec3 mirrored(rs_vec3 w) { return rs_v3(-w.x, -w.y, w.z); }

/* The vectors that differ by d and whose product is `square` on the axis. */
static void split(rs_vec3 d, double square, rs_vec3 *x, rs_vec3 *z) {
    double slip = slip_of(d), part[2][2];
    for (int k = 0; k < 2; k++) {
        double value = k == 0 ? d.z - slip : d.z + slip, root = sqrt(value * value + 4.0 * square);
        part[k][0] = value > 0.0 ? 0.5 * (value + root) : 2.0 * square / (root - value);
        part[k][1] = value < 0.0 ? 0.5 * (root - value) : 2.0 * square / (root + value);
    }
    double cosine = slip > 0.0 ? d.x / slip : 0.0, sine = slip > 0.0 ? d.y / slip : 0.0;
    double across_x = 0.5 * (part[1][0] - part[0][0]), across_z = 0.5 * (part[0][1] - part[1][1]);
    *x = rs_v3(across_x * cosine, across_x * sine, 0.5 * (part[0][0] + part[1][0]));
    *z = rs_v3(-across_z * cosine, -across_z * sine, 0.5 * (part[0][1] + part[1][1]));
}

/* How far x may go in a direction until it leaves the cone; infinite where that is farther than steps go. */
static double way_out(rs_vec3 x, double margin, rs_vec3 d) {
    if (margin > FARTHEST * (fabs(d.x) + fabs(d.y) - d.z))
        return INFINITY;
    double a = d.z * d.z - d.x * d.x - d.y * d.y, b = x.z * d.z - x.x * d.x - x.y * d.y, c = determinant(x);
    double square = b * b - a * c, best = d.z < 0.0 ? -x.z / d.z : INFINITY;
    if (square < 0.0)
        return best;
    double q = -(b + (b < 0.0 ? -sqrt(square) : sqrt(square))), ends[2] = {a != 0.0 ? q / a : 0.0, q != 0.0 ? c / q : 0.0};
    for (int k = 0; k < 2; k++)
        if (ends[k] > 0.0)
            best = rs_min(best, ends[k]);
    return best;
}

/* The smaller eigenvalue of what both make together. */
static double least_product(rs_vec3 x, rs_vec3 z) {
    double half = rs_dot(x, z), both = determinant(x) * determinant(z);
    return both / (half + sqrt(rs_max(half * half - both, 0.0)));
}

/* ---- rows ---- */

/* The units of x and z: a row's impulse is scale * x, its z is scale * velocity. Without friction only the axis is left. */
static rs_vec3 scale_of(const rs_law *law) {
    double root = 1.0 / sqrt(law->inverse_mass);
    return law->mu > 0.0 ? rs_v3(root, root, root / law->mu) : rs_v3(0.0, 0.0, root);
}

bool rs_newton_interior_fits(const rs_newton *n, const rs_rows *rows) {
    for (int64_t k = 0; k < rows->count; k++)
        if (rs_rows_law(rows, k)->kind != RS_ROW_CONTACT || rs_rows_law(rows, k)->softness != 0.0)
            return false;
    return n->in_blocks;
}

/* z at a velocity, with the lift. */
static rs_vec3 lifted(const rs_law *law, rs_vec3 velocity) {
    rs_vec3 z = rs_mul(scale_of(law), velocity);
    z.z += slip_of(z);
    return z;
}

bool rs_newton_interior_begin(rs_newton *n, const rs_rows *rows) {
    if (rs_array_resize(&n->interior, rows->count) != RS_OK)
        return false;
    double largest = 0.0; /* squares */
    for (int64_t k = 0; k < rows->count; k++) {
        const rs_law *law = rs_rows_law(rows, k);
        rs_interior_row *row = RS_ITEM(n->interior, k);
        row->scale = scale_of(law);
        row->z = lifted(law, law->error.xyz);
        row->x = rs_scale(sqrt(law->inverse_mass), law->impulse.xyz);
        row->x = law->mu > 0.0 ? rs_v3(row->x.x, row->x.y, law->mu * row->x.z) : rs_v3(0.0, 0.0, row->x.z);
        double cone = law->mu > 0.0 ? 1.0 : 0.0;
        rs_vec3 missed = rs_sub(row->x, rs_coulomb_project(rs_sub(row->x, row->z), cone));
        rs_vec3 missed_by_none = rs_coulomb_project(rs_neg(lifted(law, law->free_error.xyz)), cone);
        largest = rs_max(largest, START * START * rs_norm2(missed));
        largest = rs_max(largest, LEAST_START * LEAST_START * rs_norm2(missed_by_none));
    }
    for (int64_t k = 0; k < rows->count; k++) {
        rs_law *law = rs_rows_law(rows, k);
        rs_interior_row *row = RS_ITEM(n->interior, k);
        split(rs_sub(row->x, row->z), largest, &row->x, &row->z);
        row->dx = row->dz = rs_v3_zero(); /* what another island left there may not even be finite */
        law->step.xyz = rs_sub(rs_mul(row->scale, row->x), law->impulse.xyz);
    }
    n->turning_lifts = 1.0;
    return true;
}

/* ---- directions ---- */

/* What velocities must change by, beside what they change by anyway: w, its length and the weight of the row in the matrix. */
static void prepare(rs_newton *n, int64_t k, const rs_law *law) {
    rs_interior_row *in = RS_ITEM(n->interior, k);
    rs_newton_row *row = RS_ITEM(n->rows, k);
    double friction = slip_of(in->x), slip = slip_of(in->z);
    in->margin_x = in->x.z - friction;
    in->margin_z = in->z.z - slip;
    double size_x = sqrt(in->margin_x * (in->x.z + friction)), size_z = sqrt(in->margin_z * (in->z.z + slip));
    rs_vec3 x = rs_scale(1.0 / size_x, in->x), z = rs_scale(1.0 / size_z, in->z);
    in->w = rs_scale(1.0 / sqrt(2.0 * (1.0 + rs_dot(x, z))), rs_add(x, mirrored(z)));
    in->stretch = sqrt(size_x / size_z);
    in->rest = rs_sub(rs_mul(in->scale, law->error.xyz), in->z);
    in->rest.z += slip;
    double turn = slip > 0.0 ? n->turning_lifts / slip : 0.0;
    in->lift[0] = turn * in->z.x;
    in->lift[1] = turn * in->z.y;
    const double w[3] = {in->w.x, in->w.y, in->w.z}, s[3] = {in->scale.x, in->scale.y, in->scale.z};
    double square = in->stretch * in->stretch;
    for (int i = 0; i < 3; i++) {
        double axis = square * (2.0 * w[i] * w[2] - (i == 2 ? 1.0 : 0.0));
        for (int j = 0; j < 3; j++) {
            double own = square * (2.0 * w[i] * w[j] + (i == j ? (i == 2 ? -1.0 : 1.0) : 0.0));
            in->stiffness[i][j] = own + (j < 2 ? axis * in->lift[j] : 0.0);
            row->weight[i][j] = s[i] * in->stiffness[i][j] * s[j];
        }
    }
    row->follow[0] = row->follow[1] = row->follow[2] = 0.0;
    bool open = row->weight[0][0] + row->weight[1][1] + row->weight[2][2] < NEGLIGIBLE / law->inverse_mass;
    row->state = open ? RS_ROW_OPEN : RS_ROW_HELD;
}

/* Changes of x and z that go with the goals of the rows: where z kept still, x would change by them. */
static void find_direction(rs_newton *n) {
    double *change = n->vectors.items;
    memset(change, 0, (size_t)n->size * sizeof *change);
    for (int64_t k = 0; k < n->rows.count; k++) {
        const rs_interior_row *in = RS_ITEM(n->interior, k);
        rs_newton_pull(n, RS_ITEM(n->rows, k), rs_mul(in->scale, rs_sub(in->goal, rs_rows3_mulv(in->stiffness, in->rest))), change);
    }
    rs_newton_matrix_solve(n, change);
    for (int64_t k = 0; k < n->rows.count; k++) {
        rs_interior_row *in = RS_ITEM(n->interior, k);
        rs_vec3 q = rs_add(rs_mul(in->scale, rs_newton_speed(n, RS_ITEM(n->rows, k), change)), in->rest);
        in->dx = rs_sub(in->goal, rs_rows3_mulv(in->stiffness, q));
        in->dz = rs_v3(q.x, q.y, q.z + in->lift[0] * q.x + in->lift[1] * q.y);
    }
}

static double longest_step(const rs_newton *n) {
    double way = INFINITY;
    for (int64_t k = 0; k < n->rows.count; k++) {
        const rs_interior_row *in = RS_ITEM(n->interior, k);
        way = rs_min(way, rs_min(way_out(in->x, in->margin_x, in->dx), way_out(in->z, in->margin_z, in->dz)));
    }
    return way;
}

/* The mean of x * z after a share of the step. */
static double mean_product(const rs_newton *n, double share) {
    double sum = 0.0;
    for (int64_t k = 0; k < n->rows.count; k++) {
        const rs_interior_row *in = RS_ITEM(n->interior, k);
        sum += rs_dot(rs_madd(in->x, share, in->dx), rs_madd(in->z, share, in->dz));
    }
    return sum / (double)n->rows.count;
}

/* Goals that lead to products of `aim`, with the correction for what the present direction leaves of second order, or not. */
static void set_goals(rs_newton *n, double aim, bool corrected) {
    for (int64_t k = 0; k < n->rows.count; k++) {
        rs_interior_row *in = RS_ITEM(n->interior, k);
        rs_vec3 middle = rs_scale(in->stretch, turned(in->w, in->z)), wanted = rs_neg(product(middle, middle));
        if (corrected)
            wanted = rs_sub(wanted, product(rs_scale(1.0 / in->stretch, turned(mirrored(in->w), in->dx)),
                                            rs_scale(in->stretch, turned(in->w, in->dz))));
        wanted.z += aim;
        in->goal = rs_scale(in->stretch, turned(in->w, quotient(middle, wanted)));
    }
}

/* Steps must not leave single products behind. */
static double cut_for_products(const rs_newton *n, double share) {
    for (int cut = 0; cut < MAX_CUTS; cut++, share *= CUT) {
        double least = LEAST_PRODUCT * mean_product(n, share);
        int64_t k = 0;
        for (; k < n->rows.count; k++) {
            const rs_interior_row *in = RS_ITEM(n->interior, k);
            if (!(least_product(rs_madd(in->x, share, in->dx), rs_madd(in->z, share, in->dz)) >= least))
                break;
        }
        if (k == n->rows.count)
            break;
    }
    return share;
}

double rs_newton_interior_step(rs_newton *n, const rs_rows *rows) {
    for (int64_t k = 0; k < rows->count; k++)
        prepare(n, k, rs_rows_law(rows, k));
    if (!rs_newton_factorise_skew(n))
        return 0.0;
    double mean = mean_product(n, 0.0);
    set_goals(n, 0.0, false);
    find_direction(n);
    double left = rs_max(0.0, mean_product(n, rs_min(1.0, longest_step(n)))) / mean;
    set_goals(n, rs_clamp(left * left * left, LEAST_AIM, 1.0) * mean, true);
    find_direction(n);
    double share = rs_min(1.0, NEARLY * longest_step(n));
    if (share < VERY_SHORT) {
        set_goals(n, HALF * mean, false);
        find_direction(n);
        share = rs_min(1.0, NEARLY * longest_step(n));
    }
    n->turning_lifts = share < SHORT ? rs_max(LEAST_TURNING, HALF * n->turning_lifts) : rs_min(1.0, MORE_TURNING * n->turning_lifts);
    share = cut_for_products(n, share);
    for (int64_t k = 0; k < rows->count; k++) {
        rs_interior_row *in = RS_ITEM(n->interior, k);
        in->x = rs_madd(in->x, share, in->dx);
        in->z = rs_madd(in->z, share, in->dz);
        rs_rows_law(rows, k)->step.xyz = rs_scale(share, rs_mul(in->scale, in->dx));
    }
    return share;
}
