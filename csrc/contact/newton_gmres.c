/* Fixed points y = first + T y by GMRES, see newton_matrix.h. */
#include "newton_matrix.h"

#include <math.h>
#include <string.h>

/* Iterations of GMRES. */
enum { BASIS = 30 };
/* What is smaller, relative, is rounding. */
static const double BREAKDOWN = 1e-12;

static double norm(const double *x, int64_t count) { return sqrt(rs_newton_dot(x, x, count)); }

/* What it builds up: the Hessenberg matrix, turned into a triangle by Givens rotations. */
typedef struct {
    double h[BASIS + 1][BASIS], rest[BASIS + 1];
    double cosine[BASIS], sine[BASIS];
    int used;
} krylov;

/* Takes the column `j` of products with the basis, of which `left` stands at right angles to it. False when it is nothing
 * but rounding beside `whole`. */
static bool take_column(krylov *k, int j, double left, double whole) {
    for (int i = 0; i < j; i++) {
        double upper = k->h[i][j], lower = k->h[i + 1][j];
        k->h[i][j] = k->cosine[i] * upper + k->sine[i] * lower;
        k->h[i + 1][j] = k->cosine[i] * lower - k->sine[i] * upper;
    }
    double size = sqrt(k->h[j][j] * k->h[j][j] + left * left);
    if (!(size > BREAKDOWN * whole))
        return false;
    k->cosine[j] = k->h[j][j] / size;
    k->sine[j] = left / size;
    k->h[j][j] = size;
    k->rest[j + 1] = -k->sine[j] * k->rest[j];
    k->rest[j] *= k->cosine[j];
    k->used = j + 1;
    return true;
}

/* y = sum of the basis with the weights that leave the least rest. */
static void combine(krylov *k, const double *basis, int64_t count, double *y) {
    double weight[BASIS];
    memset(y, 0, (size_t)count * sizeof *y);
    for (int i = k->used - 1; i >= 0; i--) {
        weight[i] = k->rest[i];
        for (int j = i + 1; j < k->used; j++)
            weight[i] -= k->h[i][j] * weight[j];
        weight[i] /= k->h[i][i];
        for (int64_t m = 0; m < count; m++)
            y[m] += weight[i] * basis[i * count + m];
    }
}

double *rs_newton_gmres_room(rs_newton *n, int64_t count) {
    bool enough = rs_array_resize(&n->loads, count * (BASIS + 2) + n->size) == RS_OK;
    return enough ? n->loads.items : NULL;
}

double *rs_newton_gmres_velocities(const rs_newton *n, int64_t count) {
    return n->loads.items + (BASIS + 2) * count;
}

void rs_newton_gmres(rs_newton *n, const rs_rows *rows, rs_newton_image image, double tolerance, int64_t count, double *y) {
    double *basis = n->loads.items + count, *x = rs_newton_gmres_velocities(n, count);
    krylov k = {.used = 0};
    double length = norm(y, count), left = 1.0;
    if (length == 0.0)
        return;
    k.rest[0] = length;
    for (int64_t m = 0; m < count; m++)
        basis[m] = y[m] / length;
    for (int j = 0; j < BASIS && left > 0.0 && fabs(k.rest[j]) > tolerance * length; j++) {
        double *next = basis + (j + 1) * count, *last = next - count;
        image(n, rows, last, x, next);
        for (int64_t m = 0; m < count; m++)
            next[m] = last[m] - next[m];
        double whole = norm(next, count);
        for (int i = 0; i <= j; i++) {
            const double *other = basis + i * count;
            k.h[i][j] = rs_newton_dot(next, other, count);
            for (int64_t m = 0; m < count; m++)
                next[m] -= k.h[i][j] * other[m];
        }
        left = norm(next, count);
        left = left > BREAKDOWN * whole ? left : 0.0;
        for (int64_t m = 0; m < count && left > 0.0; m++)
            next[m] /= left;
        if (!take_column(&k, j, left, whole))
            break;
    }
    combine(&k, basis, count, y);
}
