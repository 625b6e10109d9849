#include "block_start.h"

/* The factorisation takes count^3 / 6 multiplications: 1 ms for this many rows. */
enum { MAX_ROWS = 200, MAX_GUESSES = 8 };

/* Added to the diagonal, relative to it: rods may hold the same thing twice. */
static const double RIDGE = 1e-9;

int64_t rs_block_start_room(int64_t count) { return count <= MAX_ROWS ? count * (count + 2) : 0; }

/* How much speed a row lacks, its spring included. */
static double lack(const rs_general_row *row) {
    return row->target.z - rs_general_row_velocity(row).z - row->softness * row->impulse.z;
}

static bool acts(const rs_general_row *row) {
    bool given = row->bounds.lower == row->bounds.upper;
    return !given && (row->impulse.z > row->bounds.lower || lack(row) > 0.0);
}

static void add_impulse(rs_general_row *row, double change) {
    row->impulse.z += change;
    rs_general_row_apply(row, rs_v3(0.0, 0.0, change));
}

/* Cholesky factorisation of the lower triangle in place; false when it is not positive definite. */
static bool factorise(double *a, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) {
            double sum = a[i * n + j];
            for (int64_t k = 0; k < j; k++)
                sum -= a[i * n + k] * a[j * n + k];
            if (i == j && !(sum > 0.0))
                return false;
            a[i * n + j] = i == j ? sqrt(sum) : sum / a[j * n + j];
        }
    return true;
}

static void solve(const double *a, int64_t n, double *x) {
    for (int64_t i = 0; i < n; i++) {
        for (int64_t k = 0; k < i; k++)
            x[i] -= a[i * n + k] * x[k];
        x[i] /= a[i * n + i];
    }
    for (int64_t i = n - 1; i >= 0; i--) {
        for (int64_t k = i + 1; k < n; k++)
            x[i] -= a[k * n + i] * x[k];
        x[i] /= a[i * n + i];
    }
}

/* Impulses that give every acting row its speed; `places` lists them. False when that is not possible. */
static bool solve_guess(rs_general_row *rows, const double *places, int64_t n, double *matrix, double *x) {
    for (int64_t i = 0; i < n; i++) {
        rs_general_row *row = &rows[(int64_t)places[i]];
        for (int64_t j = 0; j < i; j++)
            matrix[i * n + j] = rs_general_row_coupling(row, &rows[(int64_t)places[j]]).m[8];
        matrix[i * n + i] = row->g.zz * (1.0 + RIDGE);
        x[i] = lack(row);
    }
    if (!factorise(matrix, n))
        return false;
    solve(matrix, n, x);
    for (int64_t i = 0; i < n; i++)
        add_impulse(&rows[(int64_t)places[i]], x[i]);
    return true;
}

void rs_block_start(rs_general_row *rows, int64_t count, double *scratch) {
    if (count < 2 || count > MAX_ROWS)
        return;
    double *matrix = scratch, *x = scratch + count * count, *places = x + count;
    for (int guess = 0; guess < MAX_GUESSES; guess++) {
        int64_t n = 0;
        for (int64_t k = 0; k < count; k++)
            if (acts(&rows[k]))
                places[n++] = (double)k;
        if (!solve_guess(rows, places, n, matrix, x))
            return;
        bool changed = false; /* rows that pull the wrong way let go; others may have to act now */
        for (int64_t k = 0; k < count; k++) {
            bool wrong = rows[k].impulse.z < rows[k].bounds.lower;
            if (wrong)
                add_impulse(&rows[k], rows[k].bounds.lower - rows[k].impulse.z);
            changed |= wrong;
        }
        for (int64_t k = 0; k < count && !changed; k++)
            changed = rows[k].impulse.z == rows[k].bounds.lower && acts(&rows[k]);
        if (!changed)
            return;
    }
}
