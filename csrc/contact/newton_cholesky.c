#include "newton_matrix.h"

#include <math.h>
#include <string.h>

/* Cholesky within the profile, row by row. Rows come in pairs that reach back equally far, and columns in fours: each number of a
 * row that was loaded serves several products. */

enum { TILE = 4 };

RS_INLINE rs_v4 load4(const double *from) {
    rs_v4 v;
    memcpy(&v, from, sizeof v);
    return v;
}

/* Four sums: (sum of a, sum of b, sum of c, sum of d). */
RS_INLINE rs_v4 sums4(rs_v4 a, rs_v4 b, rs_v4 c, rs_v4 d) {
    rs_v4_transpose(&a, &b, &c, &d);
    return (a + b) + (c + d);
}

/* Products of one row, or two, with four others over `count` numbers. */
static void dots1x4(const double *a, const double *const b[TILE], int64_t count, double out[TILE]) {
    rs_v4 s0 = rs_v4_all(0.0), s1 = s0, s2 = s0, s3 = s0;
    int64_t k = 0;
    for (; k + 4 <= count; k += 4) {
        rs_v4 x = load4(a + k);
        s0 += x * load4(b[0] + k);
        s1 += x * load4(b[1] + k);
        s2 += x * load4(b[2] + k);
        s3 += x * load4(b[3] + k);
    }
    rs_v4 sum = sums4(s0, s1, s2, s3);
    for (; k < count; k++)
        sum += rs_v4_all(a[k]) * (rs_v4){b[0][k], b[1][k], b[2][k], b[3][k]};
    memcpy(out, &sum, sizeof sum);
}

static void dots2x4(const double *a, const double *c, const double *const b[TILE], int64_t count, double out[2][TILE]) {
    rs_v4 s0 = rs_v4_all(0.0), s1 = s0, s2 = s0, s3 = s0, t0 = s0, t1 = s0, t2 = s0, t3 = s0;
    int64_t k = 0;
    for (; k + 4 <= count; k += 4) {
        rs_v4 x = load4(a + k), y = load4(c + k), z = load4(b[0] + k);
        s0 += x * z;
        t0 += y * z;
        z = load4(b[1] + k);
        s1 += x * z;
        t1 += y * z;
        z = load4(b[2] + k);
        s2 += x * z;
        t2 += y * z;
        z = load4(b[3] + k);
        s3 += x * z;
        t3 += y * z;
    }
    rs_v4 first = sums4(s0, s1, s2, s3), second = sums4(t0, t1, t2, t3);
    for (; k < count; k++) {
        rs_v4 column = {b[0][k], b[1][k], b[2][k], b[3][k]};
        first += rs_v4_all(a[k]) * column;
        second += rs_v4_all(c[k]) * column;
    }
    memcpy(out[0], &first, sizeof first);
    memcpy(out[1], &second, sizeof second);
}

typedef struct {
    double *matrix;
    const int64_t *start;
    const int32_t *first;
} profile;

static double *row_of(const profile *p, int32_t i) { return p->matrix + p->start[i]; }
static int32_t later(int32_t a, int32_t b) { return a > b ? a : b; }

/* Whether four columns from j on reach back to the same one, and lie before row i. */
static bool is_tile(const profile *p, int32_t j, int32_t i) {
    const int32_t *first = p->first;
    return j + TILE <= i && first[j] == first[j + 1] && first[j] == first[j + 2] && first[j] == first[j + 3];
}

/* Entry j of a row, which still lacks the products from `from` on. */
static void end_entry(const profile *p, double *row, int32_t from, int32_t j) {
    const double *other = row_of(p, j);
    row[j] = (row[j] - rs_newton_dot(row + from, other + from, j - from)) * other[j];
}

/* Entries j .. j+3 of `count` rows that reach back to `back`. */
static void end_tile(const profile *p, double *const rows[2], int count, int32_t back, int32_t j) {
    int32_t from = later(back, p->first[j]);
    const double *const others[TILE] = {row_of(p, j) + from, row_of(p, j + 1) + from, row_of(p, j + 2) + from,
                                        row_of(p, j + 3) + from};
    double sums[2][TILE];
    if (count == 2)
        dots2x4(rows[0] + from, rows[1] + from, others, j - from, sums);
    else
        dots1x4(rows[0] + from, others, j - from, sums[0]);
    for (int r = 0; r < count; r++)
        for (int k = 0; k < TILE; k++) {
            rows[r][j + k] -= sums[r][k];
            end_entry(p, rows[r], j, j + k);
        }
}

static bool end_diagonal(const profile *p, int32_t i) {
    double *row = row_of(p, i);
    int32_t from = p->first[i];
    double pivot = row[i] - rs_newton_dot(row + from, row + from, i - from);
    if (!(pivot > 0.0))
        return false;
    row[i] = 1.0 / sqrt(pivot);
    return true;
}

bool rs_newton_cholesky(rs_newton *n) {
    profile p = {n->matrix.items, n->start.items, n->first.items};
    for (int32_t i = 0; i < n->size;) {
        int32_t back = p.first[i];
        int count = i + 1 < n->size && p.first[i + 1] == back ? 2 : 1;
        double *const rows[2] = {row_of(&p, i), count == 2 ? row_of(&p, i + 1) : NULL};
        for (int32_t j = back; j < i;) {
            if (is_tile(&p, j, i)) {
                end_tile(&p, rows, count, back, j);
                j += TILE;
                continue;
            }
            for (int r = 0; r < count; r++)
                end_entry(&p, rows[r], later(back, p.first[j]), j);
            j++;
        }
        if (!end_diagonal(&p, i))
            return false;
        if (count == 2) {
            end_entry(&p, rows[1], later(back, p.first[i]), i);
            if (!end_diagonal(&p, i + 1))
                return false;
        }
        i += count;
    }
    return true;
}
