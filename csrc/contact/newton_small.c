/* The matrix of an island with few velocities, in rows of whole fours. Where it is symmetric only its upper triangle has a
 * meaning; otherwise all of it, and `pivots` has the row that each row changed places with. Rows are taken four at a time, too:
 * what they have in common is loaded once. */
#include "newton_matrix.h"

#include <math.h>
#include <string.h>

enum { FOUR = 4 };

static double *row_of(const rs_newton *n, int32_t i) { return n->matrix.items + (int64_t)i * n->stride; }
static double *inverses_of(const rs_newton *n) { return row_of(n, n->stride); } /* of the pivots */

/* Beyond the velocities there are as many empty ones as it takes. */
bool rs_newton_small_begin(rs_newton *n) {
    n->stride = (n->size + FOUR - 1) / FOUR * FOUR;
    int64_t count = (int64_t)n->stride * (n->stride + 1);
    if (rs_array_resize(&n->inertias, count) != RS_OK || rs_array_resize(&n->pivots, n->stride) != RS_OK)
        return false;
    memset(n->inertias.items, 0, (size_t)count * sizeof(double));
    return true;
}

void rs_newton_small_put_inertia(rs_newton *n, int32_t i, int32_t j, double value) {
    *RS_ITEM(n->inertias, (int64_t)i * n->stride + j) = *RS_ITEM(n->inertias, (int64_t)j * n->stride + i) = value;
}

/* ---- rows ---- */

/* weight * J of a row, by axis, from the four of its first velocity on. */
typedef struct {
    int32_t from;
    double axis[3][RS_NEWTON_DENSE];
} weighted_row;

static void weigh(const rs_newton *n, const rs_newton_row *row, weighted_row *out) {
    const double (*w)[3] = row->weight;
    rs_v4 x = {w[0][0], w[1][0], w[2][0], 0.0}, y = {w[0][1], w[1][1], w[2][1], 0.0}, z = {w[0][2], w[1][2], w[2][2], 0.0};
    out->from = n->stride;
    for (int s = 0; s < 2; s++)
        if (row->sides[s].object >= 0) {
            int32_t low = (n->offset.items[row->sides[s].object] + row->low[s]) / FOUR * FOUR;
            out->from = low < out->from ? low : out->from;
        }
    for (int a = row->first_axis; a < 3; a++)
        memset(out->axis[a] + out->from, 0, (size_t)(n->stride - out->from) * sizeof(double));
    for (int s = 0; s < 2; s++) {
        const rs_side_jacobian *side = &row->sides[s];
        int32_t offset = side->object >= 0 ? n->offset.items[side->object] : 0;
        for (int32_t k = 0; side->object >= 0 && k < side->size; k++) {
            rs_v4 product = rs_v4_combine(rs_v4_load(&side->columns[k]), x, y, z);
            for (int a = row->first_axis; a < 3; a++)
                out->axis[a][offset + side->index[k]] = product[a];
        }
    }
}

/* Adds J' * weighted, row by row of the matrix. */
static void add_row(rs_newton *n, const rs_newton_row *row, const weighted_row *weighted) {
    for (int s = 0; s < 2; s++) {
        const rs_side_jacobian *side = &row->sides[s];
        for (int32_t k = 0; side->object >= 0 && k < side->size; k++) {
            int32_t i = n->offset.items[side->object] + side->index[k];
            int32_t from = n->skew ? weighted->from : i / FOUR * FOUR;
            double *to = row_of(n, i);
            rs_vec3 c = side->columns[k].xyz;
            rs_v4 x = rs_v4_all(c.x), y = rs_v4_all(c.y), z = rs_v4_all(c.z);
            if (row->first_axis == 2)
                for (int32_t j = from; j < n->stride; j += FOUR)
                    rs_v4_write(to + j, rs_v4_read(to + j) + z * rs_v4_read(weighted->axis[2] + j));
            else
                for (int32_t j = from; j < n->stride; j += FOUR)
                    rs_v4_write(to + j, rs_v4_read(to + j) + (x * rs_v4_read(weighted->axis[0] + j) +
                                                         y * rs_v4_read(weighted->axis[1] + j) +
                                                         z * rs_v4_read(weighted->axis[2] + j)));
        }
    }
}

static void assemble(rs_newton *n) {
    weighted_row weighted;
    memcpy(n->matrix.items, n->inertias.items, (size_t)n->inertias.count * sizeof(double));
    for (int64_t k = 0; k < n->rows.count; k++) {
        const rs_newton_row *row = RS_ITEM(n->rows, k);
        if (row->state == RS_ROW_OPEN)
            continue;
        weigh(n, row, &weighted);
        add_row(n, row, &weighted);
    }
}

/* ---- factorisation ---- */

/* a -= f * b from the column `from` on */
RS_INLINE void subtract(double *a, double f, const double *b, int32_t from, int32_t end) {
    for (int32_t j = from; j < end; j += FOUR)
        rs_v4_write(a + j, rs_v4_read(a + j) - rs_v4_all(f) * rs_v4_read(b + j));
}

/* The four rows from `at` on among each other. False when a pivot is not positive. */
static bool eliminate_four(const rs_newton *n, int32_t at, double *const rows[FOUR], double *inverse) {
    for (int k = 0; k < FOUR && at + k < n->size; k++) {
        double pivot = rows[k][at + k];
        if (!(pivot > 0.0))
            return false;
        inverse[k] = 1.0 / pivot;
        for (int i = k + 1; i < FOUR; i++)
            subtract(rows[i], inverse[k] * rows[k][at + i], rows[k], at, n->stride);
    }
    return true;
}

/* Matrix = U' D^-1 U: U stays in its place, and D^-1 beside it. */
static bool factorise_symmetric(rs_newton *n) {
    for (int32_t at = 0; at < n->stride; at += FOUR) {
        double *const rows[FOUR] = {row_of(n, at), row_of(n, at + 1), row_of(n, at + 2), row_of(n, at + 3)};
        double *inverse = inverses_of(n) + at;
        if (!eliminate_four(n, at, rows, inverse))
            return false;
        for (int32_t i = at + FOUR; i < n->size; i++) {
            double *to = row_of(n, i);
            double f[FOUR] = {rows[0][i], rows[1][i], rows[2][i], rows[3][i]};
            if (f[0] == 0.0 && f[1] == 0.0 && f[2] == 0.0 && f[3] == 0.0) /* of another branch */
                continue;
            rs_v4 f0 = rs_v4_all(f[0] * inverse[0]), f1 = rs_v4_all(f[1] * inverse[1]), f2 = rs_v4_all(f[2] * inverse[2]),
                  f3 = rs_v4_all(f[3] * inverse[3]);
            for (int32_t j = i / FOUR * FOUR; j < n->stride; j += FOUR)
                rs_v4_write(to + j, rs_v4_read(to + j) - ((f0 * rs_v4_read(rows[0] + j) + f1 * rs_v4_read(rows[1] + j)) +
                                                     (f2 * rs_v4_read(rows[2] + j) + f3 * rs_v4_read(rows[3] + j))));
        }
    }
    return true;
}

static void solve_symmetric(const rs_newton *n, double *x) {
    double y[RS_NEWTON_DENSE] = {0.0};
    const double *inverses = inverses_of(n);
    memcpy(y, x, (size_t)n->size * sizeof(double));
    for (int32_t at = 0; at < n->stride; at += FOUR) {
        const double *const r[FOUR] = {row_of(n, at), row_of(n, at + 1), row_of(n, at + 2), row_of(n, at + 3)};
        const double *d = inverses + at;
        rs_v4 v = rs_v4_read(y + at);
        double y0 = v[0] * d[0], y1 = (v[1] - r[0][at + 1] * y0) * d[1];
        double y2 = (v[2] - r[0][at + 2] * y0 - r[1][at + 2] * y1) * d[2];
        double y3 = (v[3] - r[0][at + 3] * y0 - r[1][at + 3] * y1 - r[2][at + 3] * y2) * d[3];
        rs_v4_write(y + at, (rs_v4){y0, y1, y2, y3});
        for (int32_t j = at + FOUR; j < n->stride; j += FOUR)
            rs_v4_write(y + j, rs_v4_read(y + j) - ((rs_v4_all(y0) * rs_v4_read(r[0] + j) + rs_v4_all(y1) * rs_v4_read(r[1] + j)) +
                                               (rs_v4_all(y2) * rs_v4_read(r[2] + j) + rs_v4_all(y3) * rs_v4_read(r[3] + j))));
    }
    for (int32_t at = n->stride - FOUR; at >= 0; at -= FOUR) {
        const double *const r[FOUR] = {row_of(n, at), row_of(n, at + 1), row_of(n, at + 2), row_of(n, at + 3)};
        const double *d = inverses + at;
        rs_v4 s0 = rs_v4_all(0.0), s1 = s0, s2 = s0, s3 = s0;
        for (int32_t j = at + FOUR; j < n->stride; j += FOUR) {
            rs_v4 v = rs_v4_read(y + j);
            s0 += rs_v4_read(r[0] + j) * v;
            s1 += rs_v4_read(r[1] + j) * v;
            s2 += rs_v4_read(r[2] + j) * v;
            s3 += rs_v4_read(r[3] + j) * v;
        }
        rs_v4_transpose(&s0, &s1, &s2, &s3);
        rs_v4 sum = (s0 + s1) + (s2 + s3), v = rs_v4_read(y + at);
        double y3 = v[3] - d[3] * sum[3], y2 = v[2] - d[2] * (sum[2] + r[2][at + 3] * y3);
        double y1 = v[1] - d[1] * (sum[1] + r[1][at + 2] * y2 + r[1][at + 3] * y3);
        double y0 = v[0] - d[0] * (sum[0] + r[0][at + 1] * y1 + r[0][at + 2] * y2 + r[0][at + 3] * y3);
        rs_v4_write(y + at, (rs_v4){y0, y1, y2, y3});
    }
    memcpy(x, y, (size_t)n->size * sizeof(double));
}

/* Four vectors at once, lane by lane. */
static void solve_lanes(const rs_newton *n, rs_v4 *x) {
    const double *inverses = inverses_of(n);
    for (int32_t k = 0; k < n->size; k++) {
        const double *row = row_of(n, k);
        rs_v4 own = x[k] *= rs_v4_all(inverses[k]);
        for (int32_t j = k + 1; j < n->size; j++)
            x[j] -= rs_v4_all(row[j]) * own;
    }
    for (int32_t k = n->size - 1; k >= 0; k--) {
        const double *row = row_of(n, k);
        rs_v4 sum = rs_v4_all(0.0);
        for (int32_t j = k + 1; j < n->size; j++)
            sum += rs_v4_all(row[j]) * x[j];
        x[k] -= rs_v4_all(inverses[k]) * sum;
    }
}

void rs_newton_small_solve_many(const rs_newton *n, double *x, int32_t count) {
    int32_t done = 0;
    for (; done + 1 < count; done += FOUR) {
        rs_v4 lanes[RS_NEWTON_SMALL];
        int used = count - done < FOUR ? count - done : FOUR;
        for (int32_t i = 0; i < n->size; i++) {
            double four[FOUR] = {0.0};
            for (int k = 0; k < used; k++)
                four[k] = x[(int64_t)(done + k) * n->size + i];
            lanes[i] = rs_v4_read(four);
        }
        solve_lanes(n, lanes);
        for (int k = 0; k < used; k++)
            for (int32_t i = 0; i < n->size; i++)
                x[(int64_t)(done + k) * n->size + i] = lanes[i][k];
    }
    if (done < count)
        solve_symmetric(n, x + (int64_t)done * n->size);
}

/* ---- the same where the matrix is not symmetric ---- */

static void exchange_rows(rs_newton *n, int32_t i, int32_t j) {
    double *a = row_of(n, i), *b = row_of(n, j);
    for (int32_t k = 0; k < n->stride; k += FOUR) {
        rs_v4 kept = rs_v4_read(a + k);
        rs_v4_write(a + k, rs_v4_read(b + k));
        rs_v4_write(b + k, kept);
    }
}

/* One of the four columns from `at` on, among themselves. False when the matrix is singular. */
static bool eliminate_column(rs_newton *n, int32_t at, int32_t column) {
    int32_t pivot = column, end = at + FOUR;
    for (int32_t i = column + 1; i < n->size; i++)
        if (fabs(row_of(n, i)[column]) > fabs(row_of(n, pivot)[column]))
            pivot = i;
    n->pivots.items[column] = pivot;
    if (pivot != column)
        exchange_rows(n, column, pivot);
    const double *top = row_of(n, column);
    double inverse = 1.0 / top[column];
    if (!isfinite(inverse))
        return false;
    n->sign *= (inverse < 0.0) != (pivot != column) ? -1 : 1;
    inverses_of(n)[column] = inverse;
    for (int32_t i = column + 1; i < n->size; i++) {
        double *row = row_of(n, i), f = row[column] * inverse;
        row[column] = f;
        for (int32_t j = column + 1; j < end; j++)
            row[j] -= f * top[j];
    }
    return true;
}

/* What four columns that are done do to a row behind them. */
RS_INLINE void take_four(double *row, double *const above[FOUR], int32_t at, int32_t end) {
    if (row[at] == 0.0 && row[at + 1] == 0.0 && row[at + 2] == 0.0 && row[at + 3] == 0.0) /* of another branch */
        return;
    rs_v4 f0 = rs_v4_all(row[at]), f1 = rs_v4_all(row[at + 1]), f2 = rs_v4_all(row[at + 2]), f3 = rs_v4_all(row[at + 3]);
    for (int32_t j = at + FOUR; j < end; j += FOUR)
        rs_v4_write(row + j, rs_v4_read(row + j) - ((f0 * rs_v4_read(above[0] + j) + f1 * rs_v4_read(above[1] + j)) +
                                               (f2 * rs_v4_read(above[2] + j) + f3 * rs_v4_read(above[3] + j))));
}

/* Rows in another order = L U with ones on the diagonal of L: both stay in their place, and the inverse pivots beside them. */
static bool factorise_skew(rs_newton *n) {
    n->sign = 1;
    for (int32_t at = 0; at < n->stride; at += FOUR) {
        double *const rows[FOUR] = {row_of(n, at), row_of(n, at + 1), row_of(n, at + 2), row_of(n, at + 3)};
        for (int32_t k = 0; k < FOUR && at + k < n->size; k++)
            if (!eliminate_column(n, at, at + k))
                return false;
        for (int k = 1; k < FOUR; k++)
            for (int m = 0; m < k; m++)
                subtract(rows[k], rows[k][at + m], rows[m], at + FOUR, n->stride);
        for (int32_t i = at + FOUR; i < n->size; i++)
            take_four(row_of(n, i), rows, at, n->stride);
    }
    return true;
}

static void solve_skew(const rs_newton *n, double *x) {
    double y[RS_NEWTON_DENSE] = {0.0};
    const double *inverses = inverses_of(n);
    memcpy(y, x, (size_t)n->size * sizeof(double));
    for (int32_t i = 0; i < n->size; i++) {
        int32_t other = n->pivots.items[i];
        double kept = y[i];
        y[i] = y[other];
        y[other] = kept;
    }
    for (int32_t i = 1; i < n->size; i++)
        y[i] -= rs_newton_dot(row_of(n, i), y, i);
    for (int32_t i = n->size - 1; i >= 0; i--)
        y[i] = (y[i] - rs_newton_dot(row_of(n, i) + i + 1, y + i + 1, n->size - i - 1)) * inverses[i];
    memcpy(x, y, (size_t)n->size * sizeof(double));
}

/* ---- either ---- */

bool rs_newton_small_factorise(rs_newton *n) {
    if (rs_array_resize(&n->matrix, n->inertias.count) != RS_OK)
        return false;
    assemble(n);
    return n->skew ? factorise_skew(n) : factorise_symmetric(n);
}

void rs_newton_small_solve(const rs_newton *n, double *x) {
    if (n->skew)
        solve_skew(n, x);
    else
        solve_symmetric(n, x);
}
