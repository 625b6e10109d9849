#include "general_jump.h"

/* The elimination takes count^3 / 3 multiplications: 20 us for this many unknowns. */
enum { MAX_UNKNOWNS = 48 };
/* Friction closer to the cone than this, and brakes closer to their limit, relatively, slide. */
static const double SLIDE_MARGIN = 1e-9;
/* Added to the diagonal of what is not soft by itself, relative to it: limits and brakes may hold the same thing
 * twice. */
static const double RIDGE = 1e-9;
/* Pivots below this share of the largest mean that there is no solution. */
static const double SINGULAR_SHARE = 1e-14;
/* Impulses that grow by more than this factor mean that the rows contradict each other. */
static const double MAX_GROWTH = 100.0;

/* One unknown change x of an impulse, and the equation that goes with it:
 * speed * (change of the row's velocity) + weight * (change of its impulse) = rhs. */
typedef struct {
    int32_t row;
    bool closes; /* the equation removes an error of the velocity along the unit vector `speed` */
    rs_vec3 direction; /* of the impulse */
    rs_vec3 speed, weight;
    double rhs;
} unknown;

rs_general_jump rs_general_jump_make(void) {
    return (rs_general_jump){.unknowns = rs_array_of(sizeof(unknown)), .matrix = rs_array_of(sizeof(double))};
}

void rs_general_jump_free(rs_general_jump *jump) {
    rs_array_free(&jump->unknowns);
    rs_array_free(&jump->matrix);
}

/* How much speed a row lacks along its axes, its springs included. */
static rs_vec3 lack(const rs_general_row *row) {
    return rs_sub(row->target, rs_madd(rs_general_row_velocity(row), row->softness, row->impulse));
}

/* ---- state ---- */

static unknown *add_unknown(rs_general_jump *jump, int32_t row) {
    unknown *added = jump->unknowns.count < MAX_UNKNOWNS ? rs_array_push(&jump->unknowns) : NULL;
    if (added != NULL)
        *added = (unknown){.row = row};
    return added;
}

/* The row gets its speed along an axis by an impulse along it. */
static bool add_axis(rs_general_jump *jump, const rs_general_row *row, int32_t index, rs_vec3 axis) {
    unknown *added = add_unknown(jump, index);
    if (added == NULL)
        return false;
    added->closes = true;
    added->direction = added->speed = axis;
    added->rhs = rs_dot(axis, lack(row));
    return true;
}

static bool add_three(rs_general_jump *jump, const rs_general_row *row, int32_t index) {
    return add_axis(jump, row, index, rs_v3(1, 0, 0)) && add_axis(jump, row, index, rs_v3(0, 1, 0)) &&
           add_axis(jump, row, index, rs_v3(0, 0, 1));
}

/* Newton's method for friction = -mu * normal * (direction of the slip): along the slip friction follows the load, across
 * it the slip turns with the friction. */
static bool add_sliding(rs_general_jump *jump, const rs_general_row *row, int32_t index, rs_vec3 slip) {
    rs_vec3 p = row->impulse;
    double speed = rs_norm(slip), turn = speed / (row->mu * p.z);
    rs_vec3 along = rs_scale(1.0 / speed, slip), across = rs_v3(-along.y, along.x, 0.0);
    if (!add_axis(jump, row, index, rs_v3(0, 0, 1)))
        return false;
    unknown *first = add_unknown(jump, index);
    if (first == NULL)
        return false;
    first->direction = along;
    first->weight = rs_v3(along.x, along.y, row->mu);
    first->rhs = -rs_dot(first->weight, p);
    unknown *second = add_unknown(jump, index);
    if (second == NULL)
        return false;
    second->direction = second->speed = across;
    second->weight = rs_scale(turn, across);
    second->rhs = -rs_dot(second->weight, p);
    return true;
}

static bool add_contact(rs_general_jump *jump, const rs_general_row *row, int32_t index) {
    rs_vec3 p = row->impulse, missing = lack(row), slip = rs_v3(-missing.x, -missing.y, 0.0);
    double friction = sqrt(p.x * p.x + p.y * p.y), limit = row->mu * p.z;
    if (p.z <= 0.0)
        return true;
    if (limit == 0.0)
        return add_axis(jump, row, index, rs_v3(0, 0, 1));
    if (friction < limit * (1.0 - SLIDE_MARGIN) || rs_norm2(slip) == 0.0)
        return add_three(jump, row, index);
    return add_sliding(jump, row, index, slip);
}

static bool is_between_bounds(const rs_general_row *row) {
    double p = row->impulse.z, margin = SLIDE_MARGIN * fabs(p);
    return p - row->bounds.lower > margin && row->bounds.upper - p > margin;
}

/* False when there are too many. */
static bool list_unknowns(rs_general_jump *jump, const rs_general_row *rows, int64_t count) {
    jump->unknowns.count = 0;
    bool fits = true;
    for (int32_t k = 0; k < count && fits; k++) {
        const rs_general_row *row = &rows[k];
        if (row->kind == RS_ROW_CONTACT)
            fits = add_contact(jump, row, k);
        else if (row->kind == RS_ROW_PIN)
            fits = add_three(jump, row, k);
        else if (is_between_bounds(row))
            fits = add_axis(jump, row, k, rs_v3(0, 0, 1));
    }
    return fits && jump->unknowns.count > 0;
}

/* ---- linear system ---- */

/* What `by` adds to the equation of `of` per unit; `block` couples their rows, as rs_general_row_coupling() does. */
static double coupling(const rs_mat3 *block, const unknown *of, const unknown *by) {
    double sum = rs_dot(of->speed, rs_m3_mulv(block, by->direction));
    return of->row == by->row ? sum + rs_dot(of->weight, by->direction) : sum;
}

static rs_mat3 own_block(const rs_general_row *row) {
    const rs_sym3 *g = &row->g;
    return (rs_mat3){{g->xx, g->xy, g->xz, g->xy, g->yy, g->yz, g->xz, g->yz, g->zz}};
}

static void fill_matrix(const rs_general_jump *jump, const rs_general_row *rows, double *matrix, double *rhs) {
    const unknown *list = RS_ITEMS(unknown, jump->unknowns);
    int64_t n = jump->unknowns.count;
    rs_mat3 block = {{0}}, transposed = {{0}};
    for (int64_t i = 0; i < n; i++) {
        const rs_general_row *row = &rows[list[i].row];
        for (int64_t j = 0; j <= i; j++) {
            bool new_pair = j == 0 || list[j].row != list[j - 1].row;
            if (new_pair) {
                block = list[i].row == list[j].row ? own_block(row) : rs_general_row_coupling(row, &rows[list[j].row]);
                transposed = rs_m3_transpose(&block);
            }
            matrix[i * n + j] = coupling(&block, &list[i], &list[j]);
            matrix[j * n + i] = coupling(&transposed, &list[j], &list[i]);
        }
        if (row->softness == 0.0)
            matrix[i * n + i] *= 1.0 + RIDGE;
        rhs[i] = list[i].rhs;
    }
}

static int64_t find_pivot(const double *a, int64_t n, int64_t column) {
    int64_t best = column;
    for (int64_t i = column + 1; i < n; i++)
        if (fabs(a[i * n + column]) > fabs(a[best * n + column]))
            best = i;
    return best;
}

static void swap_rows(double *a, double *x, int64_t n, int64_t i, int64_t j) {
    for (int64_t k = 0; k < n && i != j; k++) {
        double kept = a[i * n + k];
        a[i * n + k] = a[j * n + k];
        a[j * n + k] = kept;
    }
    double kept = x[i];
    x[i] = x[j];
    x[j] = kept;
}

/* Gaussian elimination: sliding contacts make the matrix unsymmetric. x: right-hand side, then solution. */
static bool eliminate(double *a, double *x, int64_t n) {
    double largest = 0.0;
    for (int64_t column = 0; column < n; column++) {
        int64_t pivot = find_pivot(a, n, column);
        double size = fabs(a[pivot * n + column]);
        largest = rs_max(largest, size);
        if (!(size > SINGULAR_SHARE * largest))
            return false;
        swap_rows(a, x, n, column, pivot);
        const double *from = &a[column * n];
        for (int64_t i = column + 1; i < n; i++) {
            double factor = a[i * n + column] / from[column];
            for (int64_t k = column + 1; k < n && factor != 0.0; k++)
                a[i * n + k] -= factor * from[k];
            x[i] -= factor * x[column];
        }
    }
    for (int64_t i = n - 1; i >= 0; i--) {
        for (int64_t k = i + 1; k < n; k++)
            x[i] -= a[i * n + k] * x[k];
        x[i] /= a[i * n + i];
    }
    return true;
}

/* ---- the way ---- */

static rs_vec3 lawful(const rs_general_row *row, rs_vec3 p) {
    switch (row->kind) {
    case RS_ROW_CONTACT: return rs_contact_onto_cone(p, row->mu);
    case RS_ROW_SCALAR: return rs_v3(0.0, 0.0, rs_clamp(p.z, row->bounds.lower, row->bounds.upper));
    default: return p;
    }
}

/* `way` of every row becomes the way from its impulse to the lawful one next to the solution. */
static void find_way(const rs_general_jump *jump, const double *solution, rs_general_row *rows, int64_t count) {
    for (int64_t k = 0; k < count; k++)
        rows[k].way = rs_v3_zero();
    const unknown *list = RS_ITEMS(unknown, jump->unknowns);
    for (int64_t i = 0; i < jump->unknowns.count; i++)
        rows[list[i].row].way = rs_madd(rows[list[i].row].way, solution[i], list[i].direction);
    for (int64_t k = 0; k < count; k++)
        rows[k].way = rs_sub(lawful(&rows[k], rs_add(rows[k].impulse, rows[k].way)), rows[k].impulse);
}

static bool is_within_reach(const rs_general_row *rows, int64_t count) {
    double way2 = 0.0, size2 = 0.0;
    for (int64_t k = 0; k < count; k++) {
        way2 += rs_norm2(rows[k].way);
        size2 += rs_norm2(rows[k].impulse);
    }
    return way2 <= MAX_GROWTH * MAX_GROWTH * size2;
}

static void move_along(rs_general_row *rows, int64_t count, double share) {
    for (int64_t k = 0; k < count; k++) {
        rs_vec3 step = rs_scale(share, rows[k].way);
        rows[k].impulse = rs_add(rows[k].impulse, step);
        rs_general_row_apply(&rows[k], step);
    }
}

/* How the energy changes along the way: velocity errors times impulses. The friction of sliding contacts is not what
 * makes it least, and does not count. */
static double energy_slope(const rs_general_jump *jump, const rs_general_row *rows) {
    const unknown *list = RS_ITEMS(unknown, jump->unknowns);
    double slope = 0.0;
    rs_vec3 missing = rs_v3_zero();
    for (int64_t i = 0; i < jump->unknowns.count; i++) {
        const rs_general_row *row = &rows[list[i].row];
        if (i == 0 || list[i].row != list[i - 1].row)
            missing = lack(row);
        if (list[i].closes)
            slope -= rs_dot(row->way, list[i].speed) * rs_dot(missing, list[i].speed);
    }
    return slope;
}

double rs_general_jump_take(rs_general_jump *jump, rs_general_row *rows, int64_t count) {
    if (!list_unknowns(jump, rows, count))
        return -1.0;
    int64_t n = jump->unknowns.count;
    if (rs_array_resize(&jump->matrix, n * (n + 1)) != RS_OK)
        return -1.0;
    double *matrix = RS_ITEMS(double, jump->matrix), *solution = matrix + n * n;
    fill_matrix(jump, rows, matrix, solution);
    if (!eliminate(matrix, solution, n))
        return -1.0;
    find_way(jump, solution, rows, count);
    if (!is_within_reach(rows, count))
        return -1.0;
    double before = energy_slope(jump, rows);
    move_along(rows, count, 1.0);
    double after = energy_slope(jump, rows); /* linear along the way */
    double share = after > 0.0 ? rs_max(0.0, before / (before - after)) : 1.0;
    if (share < 1.0)
        move_along(rows, count, share - 1.0);
    return share;
}
