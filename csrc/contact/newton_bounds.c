/* Rows of one axis between bounds in the interior-point method, and rows without any. */
#include "newton_interior.h"

#include <math.h>

/* A row starts no nearer to a bound than this share of what lies between its bounds. */
static const double LEAST_ROOM = 0.1;

enum { LOWER, UPPER };
static const double SIGN[2] = {1.0, -1.0};

static bool is_bound(const rs_law *law) { return law->kind == RS_ROW_AXIS && (isfinite(law->lower) || isfinite(law->upper)); }
/* Its impulse is given. */
static bool is_given(const rs_law *law) { return law->kind == RS_ROW_AXIS && !(law->lower < law->upper); }
static bool is_tie(const rs_law *law) { return law->kind == RS_ROW_POINT || (law->kind == RS_ROW_AXIS && !is_bound(law)); }

static bool has(const rs_bound *b, int end) { return isfinite(b->ends[end]); }

/* Distance to the impulse that the error asks for. */
static double missed(const rs_bound *b, double impulse, double error) {
    return fabs(impulse - rs_clamp(impulse - error / b->inverse_mass, b->ends[LOWER], b->ends[UPPER]));
}

void rs_bounds_look(rs_newton *n, const rs_rows *rows) {
    for (int64_t k = 0; k < n->bounds.count; k++)
        RS_ITEM(n->bounds, k)->error = rs_rows_law(rows, RS_ITEM(n->bounds, k)->row)->error.xyz.z;
    for (int64_t k = 0; k < n->ties.count; k++)
        RS_ITEM(n->ties, k)->error = rs_rows_law(rows, RS_ITEM(n->ties, k)->row)->error.xyz;
}

static void take_bound(int64_t row, const rs_law *law, rs_bound *out) {
    *out = (rs_bound){.row = row, .inverse_mass = law->inverse_mass, .softness = law->softness,
                      .ends = {law->lower, law->upper}, .impulse = law->impulse.xyz.z, .error = law->error.xyz.z};
}

bool rs_bounds_take_rows(rs_newton *n, const rs_rows *rows, const double shares[2], double *largest) {
    int64_t bounds = 0, ties = 0;
    for (int64_t k = 0; k < rows->count; k++) {
        const rs_law *law = rs_rows_law(rows, k);
        bounds += is_bound(law) && !is_given(law);
        ties += is_tie(law);
    }
    if (rs_array_resize(&n->bounds, bounds) != RS_OK || rs_array_resize(&n->ties, ties) != RS_OK)
        return false;
    n->bound_ends = bounds = ties = 0;
    for (int64_t k = 0; k < rows->count; k++) {
        rs_law *law = rs_rows_law(rows, k);
        if (is_given(law)) {
            rs_newton_row *row = RS_ITEM(n->rows, k);
            row->state = RS_ROW_OPEN;
            row->impulse = rs_v3_zero();
            law->step = (rs_quad){0};
        } else if (is_bound(law)) {
            rs_bound *b = RS_ITEM(n->bounds, bounds++);
            take_bound(k, law, b);
            n->bound_ends += has(b, LOWER) + has(b, UPPER);
            double present = shares[0] * missed(b, b->impulse, b->error);
            double by_none = shares[1] * missed(b, rs_clamp(0.0, law->lower, law->upper), law->free_error.xyz.z);
            *largest = rs_max(*largest, b->inverse_mass * rs_max(present * present, by_none * by_none));
        } else if (is_tie(law)) {
            rs_tie *tie = RS_ITEM(n->ties, ties++);
            *tie = (rs_tie){.row = k, .inverse_mass = law->inverse_mass, .softness = law->softness,
                            .stiffness = 1.0 / (law->softness + RS_INTERIOR_COMPLIANCE * law->inverse_mass),
                            .impulse = law->impulse.xyz, .kept = law->impulse.xyz, .error = law->error.xyz};
        }
    }
    return true;
}

/* Room to a bound and the velocity that it stands for: both positive, of the given product, and such that their difference is the
 * present one, each in the unit of the root of an energy. */
static double room_at(const rs_bound *b, int end, double product) {
    double root = sqrt(b->inverse_mass), room = SIGN[end] * (b->impulse - b->ends[end]);
    double d = root * room - SIGN[end] * b->error / root, size = sqrt(d * d + 4.0 * product);
    return (d > 0.0 ? 0.5 * (d + size) : 2.0 * product / (size - d)) / root;
}

static void start_bound(rs_bound *b, double product) {
    double range = b->ends[UPPER] - b->ends[LOWER];
    double from_lower = has(b, LOWER) ? room_at(b, LOWER, product) : INFINITY;
    double from_upper = has(b, UPPER) ? room_at(b, UPPER, product) : INFINITY;
    if (isfinite(range)) { /* nearer to the end that it is nearer to */
        double nearer = rs_clamp(rs_min(from_lower, from_upper), LEAST_ROOM * range, 0.5 * range);
        from_lower = from_lower < from_upper ? nearer : range - nearer;
    }
    b->impulse = b->kept = has(b, LOWER) ? b->ends[LOWER] + from_lower : b->ends[UPPER] - from_upper;
    for (int end = 0; end < 2; end++) {
        b->room[end] = SIGN[end] * (b->impulse - b->ends[end]);
        b->push[end] = has(b, end) ? product / b->room[end] : 0.0;
    }
}

void rs_bounds_start(rs_newton *n, double product) {
    for (int64_t k = 0; k < n->bounds.count; k++)
        start_bound(RS_ITEM(n->bounds, k), product);
}

void rs_bounds_put(const rs_newton *n, const rs_rows *rows) {
    for (int64_t k = 0; k < n->bounds.count; k++) {
        const rs_bound *b = RS_ITEM(n->bounds, k);
        rs_law *law = rs_rows_law(rows, b->row);
        law->step.xyz = rs_v3(0.0, 0.0, b->kept - law->impulse.xyz.z);
    }
    for (int64_t k = 0; k < n->ties.count; k++) {
        const rs_tie *tie = RS_ITEM(n->ties, k);
        rs_law *law = rs_rows_law(rows, tie->row);
        law->step.xyz = rs_sub(tie->kept, law->impulse.xyz);
    }
}

static void weigh(rs_newton_row *row, double stiffness, bool open) {
    rs_newton_clear_weight(row);
    row->state = open ? RS_ROW_OPEN : RS_ROW_HELD;
    for (int axis = row->first_axis; axis < 3; axis++)
        row->weight[axis][axis] = stiffness;
}

void rs_bounds_prepare(rs_newton *n) {
    for (int64_t k = 0; k < n->bounds.count; k++) {
        rs_bound *b = RS_ITEM(n->bounds, k);
        double yields = b->softness + RS_INTERIOR_COMPLIANCE * b->inverse_mass;
        for (int end = 0; end < 2; end++)
            yields += has(b, end) ? b->push[end] / b->room[end] : 0.0;
        b->stiffness = 1.0 / yields;
        b->counts = b->stiffness * b->inverse_mass >= RS_INTERIOR_NEGLIGIBLE;
        weigh(RS_ITEM(n->rows, b->row), b->stiffness, !b->counts);
    }
    for (int64_t k = 0; k < n->ties.count; k++)
        weigh(RS_ITEM(n->rows, RS_ITEM(n->ties, k)->row), RS_ITEM(n->ties, k)->stiffness, false);
}

/* What the product of an end misses of the aim, as a velocity, beside its push. */
static double wanted_push(const rs_bound *b, int end, double aim, bool corrected) {
    return (aim - (corrected ? SIGN[end] * b->change * b->push_change[end] : 0.0)) / b->room[end];
}

void rs_bounds_set_goals(rs_newton *n, double aim, bool corrected) {
    for (int64_t k = 0; k < n->bounds.count; k++) {
        rs_bound *b = RS_ITEM(n->bounds, k);
        b->wanted = 0.0;
        for (int end = 0; end < 2; end++) {
            if (!has(b, end))
                continue;
            double push = wanted_push(b, end, aim, corrected);
            b->wanted += SIGN[end] * push;
            b->push_change[end] = push - b->push[end];
        }
        RS_ITEM(n->rows, b->row)->impulse = rs_v3(0.0, 0.0, b->stiffness * (b->wanted - b->error));
    }
    for (int64_t k = 0; k < n->ties.count; k++) {
        const rs_tie *tie = RS_ITEM(n->ties, k);
        RS_ITEM(n->rows, tie->row)->impulse = rs_scale(-tie->stiffness, tie->error);
    }
}

void rs_bounds_take_direction(rs_newton *n) {
    for (int64_t k = 0; k < n->bounds.count; k++) {
        rs_bound *b = RS_ITEM(n->bounds, k);
        b->change = b->stiffness * (b->wanted - b->error - (b->counts ? RS_ITEM(n->rows, b->row)->turn.z : 0.0));
        for (int end = 0; end < 2; end++)
            if (has(b, end))
                b->push_change[end] -= SIGN[end] * b->push[end] / b->room[end] * b->change;
    }
    for (int64_t k = 0; k < n->ties.count; k++) {
        rs_tie *tie = RS_ITEM(n->ties, k);
        tie->change = rs_scale(-tie->stiffness, rs_add(tie->error, RS_ITEM(n->rows, tie->row)->turn));
    }
}

static double way_down(double from, double change) { return change < 0.0 ? -from / change : INFINITY; }

double rs_bounds_way(const rs_newton *n) {
    double way = INFINITY;
    for (int64_t k = 0; k < n->bounds.count; k++) {
        const rs_bound *b = RS_ITEM(n->bounds, k);
        for (int end = 0; end < 2; end++)
            if (has(b, end))
                way = rs_min(way, rs_min(way_down(b->room[end], SIGN[end] * b->change), way_down(b->push[end], b->push_change[end])));
    }
    return way;
}

static double product_at(const rs_bound *b, int end, double share) {
    return (b->room[end] + share * SIGN[end] * b->change) * (b->push[end] + share * b->push_change[end]);
}

double rs_bounds_product(const rs_newton *n, double share) {
    double sum = 0.0;
    for (int64_t k = 0; k < n->bounds.count; k++) {
        const rs_bound *b = RS_ITEM(n->bounds, k);
        for (int end = 0; end < 2; end++)
            sum += has(b, end) ? product_at(b, end, share) : 0.0;
    }
    return sum;
}

bool rs_bounds_hold_together(const rs_newton *n, double share, double least) {
    for (int64_t k = 0; k < n->bounds.count; k++) {
        const rs_bound *b = RS_ITEM(n->bounds, k);
        for (int end = 0; end < 2; end++)
            if (has(b, end) && !(product_at(b, end, share) >= least))
                return false;
    }
    return true;
}

double rs_bounds_go(rs_newton *n, double share) {
    double left = 0.0;
    for (int64_t k = 0; k < n->bounds.count; k++) {
        rs_bound *b = RS_ITEM(n->bounds, k);
        b->error += share * (RS_ITEM(n->rows, b->row)->turn.z + b->softness * b->change);
        b->impulse += share * b->change;
        for (int end = 0; end < 2; end++) {
            b->room[end] += share * SIGN[end] * b->change;
            b->push[end] += has(b, end) ? share * b->push_change[end] : 0.0;
        }
        left = rs_max(left, b->inverse_mass * missed(b, b->impulse, b->error));
    }
    for (int64_t k = 0; k < n->ties.count; k++) {
        rs_tie *tie = RS_ITEM(n->ties, k);
        rs_vec3 turn = rs_madd(RS_ITEM(n->rows, tie->row)->turn, tie->softness, tie->change);
        tie->error = rs_madd(tie->error, share, turn);
        tie->impulse = rs_madd(tie->impulse, share, tie->change);
        left = rs_max(left, rs_norm(tie->error));
    }
    return left;
}

void rs_bounds_keep(rs_newton *n) {
    for (int64_t k = 0; k < n->bounds.count; k++)
        RS_ITEM(n->bounds, k)->kept = RS_ITEM(n->bounds, k)->impulse;
    for (int64_t k = 0; k < n->ties.count; k++)
        RS_ITEM(n->ties, k)->kept = RS_ITEM(n->ties, k)->impulse;
}
