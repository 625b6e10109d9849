/* What is not symmetric in an exact step: friction follows the load of sliding contacts. */
#include "newton_matrix.h"

#include <math.h>
#include <string.h>

/* Smaller pivots are rounding. */
static const double BREAKDOWN = 1e-12;

/* Changes of velocity (in x) by the friction that goes with changes of the sliding contacts' loads. */
static void move_by_loads(const rs_newton *n, const double *loads, double *x) {
    const rs_newton_row *rows = n->rows.items;
    memset(x, 0, (size_t)n->size * sizeof *x);
    for (int64_t k = 0, at = 0; k < n->rows.count; k++)
        if (rs_newton_follows(&rows[k]))
            rs_newton_pull(n, &rows[k], rs_newton_following(&rows[k], loads[at++]), x);
    rs_newton_matrix_solve(n, x);
}

/* Changes of the sliding contacts' loads that go with changes of velocity. */
static void loads_at(const rs_newton *n, const double *x, double *loads) {
    const rs_newton_row *rows = n->rows.items;
    for (int64_t k = 0, at = 0; k < n->rows.count; k++)
        if (rs_newton_follows(&rows[k]))
            loads[at++] = rs_newton_change_of_load(n, &rows[k], x);
}

static void image_of_loads(const rs_newton *n, const rs_rows *rows, const double *loads, double *x, double *out) {
    (void)rows;
    move_by_loads(n, loads, x);
    loads_at(n, x, out);
}

/* Friction follows the load of sliding contacts, and loads follow from friction: a fixed point, where `first` are the loads of
 * the velocities in x, without friction. In the space of the loads, which are of one kind; x takes over what their friction
 * adds. */
static void follow_many(rs_newton *n, double tolerance, double *x) {
    int64_t count = n->sliding;
    double *loads = rs_newton_gmres_room(n, count);
    if (loads == NULL)
        return;
    double *moved = rs_newton_gmres_velocities(n, count);
    loads_at(n, x, loads);
    rs_newton_gmres(n, NULL, image_of_loads, tolerance, count, loads);
    move_by_loads(n, loads, moved);
    for (int32_t i = 0; i < n->size; i++)
        x[i] += moved[i];
}

/* ---- a few sliding contacts ---- */

/* Where so few slide, what a unit load of each does is found once for all steps of a factorisation; where the sign of the
 * determinant is asked for, where more do. */
enum { FEW_SLIDING = 12, MOST_SLIDING = 48 };

static bool few_slide(const rs_newton *n) {
    return n->sliding > 0 && n->sliding <= (n->asks_for_sign ? MOST_SLIDING : FEW_SLIDING);
}

/* Of `few`: the matrix 1 - T, velocities by a unit of each load. */
static double *few_matrix(const rs_newton *n) { return n->few.items; }
static double *few_moved(const rs_newton *n, int32_t k) {
    return few_matrix(n) + n->sliding * n->sliding + (int64_t)k * n->size;
}

static void swap(double *a, double *b) {
    double kept = *a;
    *a = *b;
    *b = kept;
}

/* x = matrix^-1 * x by elimination with row pivots; the matrix is lost. Returns the sign of its determinant, 0
 * when it is singular. */
static int32_t solve_few(double *matrix, int32_t count, double *x) {
    int32_t sign = 1;
    for (int32_t k = 0; k < count; k++) {
        int32_t pivot = k;
        for (int32_t i = k + 1; i < count; i++)
            if (fabs(matrix[i * count + k]) > fabs(matrix[pivot * count + k]))
                pivot = i;
        if (!(fabs(matrix[pivot * count + k]) > BREAKDOWN))
            return 0;
        sign *= (matrix[pivot * count + k] < 0.0) != (pivot != k) ? -1 : 1;
        for (int32_t j = k; j < count && pivot != k; j++)
            swap(&matrix[k * count + j], &matrix[pivot * count + j]);
        swap(&x[k], &x[pivot]);
        for (int32_t i = k + 1; i < count; i++) {
            double f = matrix[i * count + k] / matrix[k * count + k];
            for (int32_t j = k + 1; j < count; j++)
                matrix[i * count + j] -= f * matrix[k * count + j];
            x[i] -= f * x[k];
        }
    }
    for (int32_t k = count - 1; k >= 0; k--) {
        for (int32_t j = k + 1; j < count; j++)
            x[k] -= matrix[k * count + j] * x[j];
        x[k] /= matrix[k * count + k];
    }
    return sign;
}

/* Of the determinant of 1 - T: that of the whole matrix, whose symmetric part is positive definite. */
static int32_t sign_of_few(const rs_newton *n) {
    double matrix[MOST_SLIDING * MOST_SLIDING], none[MOST_SLIDING] = {0.0};
    memcpy(matrix, few_matrix(n), (size_t)n->sliding * (size_t)n->sliding * sizeof *matrix);
    return solve_few(matrix, n->sliding, none);
}

bool rs_newton_prepare_sliding(rs_newton *n) {
    int32_t count = n->sliding;
    if (!n->skew)
        n->sign = count > 0 ? 0 : 1;
    if (n->skew || !few_slide(n))
        return true;
    if (rs_array_resize(&n->few, count * (count + (int64_t)n->size)) != RS_OK)
        return false;
    double *matrix = few_matrix(n), loads[MOST_SLIDING];
    const rs_newton_row *rows = n->rows.items;
    memset(few_moved(n, 0), 0, (size_t)count * (size_t)n->size * sizeof(double));
    for (int64_t k = 0, at = 0; k < n->rows.count; k++)
        if (rs_newton_follows(&rows[k]))
            rs_newton_pull(n, &rows[k], rs_newton_following(&rows[k], 1.0), few_moved(n, (int32_t)at++));
    rs_newton_matrix_solve_many(n, few_moved(n, 0), count);
    for (int32_t k = 0; k < count; k++) {
        loads_at(n, few_moved(n, k), loads);
        for (int32_t i = 0; i < count; i++)
            matrix[i * count + k] = (i == k ? 1.0 : 0.0) - loads[i];
    }
    if (n->asks_for_sign)
        n->sign = sign_of_few(n);
    return true;
}

static bool follow_few(rs_newton *n, double *x) {
    int32_t count = n->sliding;
    double matrix[MOST_SLIDING * MOST_SLIDING], loads[MOST_SLIDING];
    memcpy(matrix, few_matrix(n), (size_t)count * (size_t)count * sizeof *matrix);
    loads_at(n, x, loads);
    if (solve_few(matrix, count, loads) == 0)
        return false;
    for (int32_t k = 0; k < count; k++) {
        const double *moved = few_moved(n, k);
        for (int32_t i = 0; i < n->size; i++)
            x[i] += loads[k] * moved[i];
    }
    return true;
}

void rs_newton_solve_step(rs_newton *n, double tolerance, double *x) {
    rs_newton_matrix_solve(n, x);
    if (n->sliding > 0 && !n->skew && !(few_slide(n) && follow_few(n, x)))
        follow_many(n, tolerance, x);
}
