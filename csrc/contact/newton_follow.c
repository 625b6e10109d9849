/* What is not symmetric in Newton's method: friction that follows its load, lifts that follow the slip they cause. Both are
 * fixed points y = first + T y in a space of one kind of numbers, found by GMRES; T takes one solve with the factorisation. */
#include "newton_matrix.h"

#include <math.h>
#include <string.h>

/* Iterations of GMRES. */
enum { BASIS = 30 };
/* They end when the error has shrunk by a factor: loads belong to an exact step, lifts will move again. */
static const double LOAD_TOLERANCE = 1e-9, LIFT_TOLERANCE = 1e-3, BREAKDOWN = 1e-12;

static double norm(const double *x, int64_t count) { return sqrt(rs_newton_dot(x, x, count)); }

/* T: from y to `out`, by way of the velocities x. */
typedef void (*image_of)(const rs_newton *n, const rs_rows *rows, const double *y, double *x, double *out);

/* ---- GMRES ---- */

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

/* Room for `count` numbers, the basis and velocities. */
static double *room_for(rs_newton *n, int64_t count) {
    bool enough = rs_array_resize(&n->loads, count * (BASIS + 2) + n->size) == RS_OK;
    return enough ? RS_ITEMS(double, n->loads) : NULL;
}

/* y, which holds `first`, becomes the fixed point; `room` as above, but for the numbers. */
static void find_fixed_point(rs_newton *n, const rs_rows *rows, image_of image, double tolerance, int64_t count, double *y,
                             double *room) {
    double *basis = room, *x = basis + (BASIS + 1) * count;
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

/* ---- loads ---- */

bool rs_newton_follows(const rs_newton_row *row) {
    return row->follow[0] != 0.0 || row->follow[1] != 0.0 || row->follow[2] != 0.0;
}

rs_vec3 rs_newton_following(const rs_newton_row *row, double load) {
    return rs_v3(row->follow[0] * load, row->follow[1] * load, row->follow[2] * load);
}

double rs_newton_load_change(const rs_newton *n, const rs_newton_row *row, const double *x) {
    const rs_newton_row *bearer = RS_ITEM(rs_newton_row, n->rows, row->bearer);
    return -bearer->weight[2][2] * rs_newton_speed(n, bearer, x).z;
}

/* Changes of velocity (in x) by the friction that goes with changes of the sliding contacts' loads. */
static void move_by_loads(const rs_newton *n, const double *loads, double *x) {
    const rs_newton_row *rows = RS_ITEMS(rs_newton_row, n->rows);
    memset(x, 0, (size_t)n->size * sizeof *x);
    for (int64_t k = 0, at = 0; k < n->rows.count; k++)
        if (rs_newton_follows(&rows[k]))
            rs_newton_pull(n, &rows[k], rs_newton_following(&rows[k], loads[at++]), x);
    rs_newton_matrix_solve(n, x);
}

/* Changes of the sliding contacts' loads that go with changes of velocity. */
static void loads_at(const rs_newton *n, const double *x, double *loads) {
    const rs_newton_row *rows = RS_ITEMS(rs_newton_row, n->rows);
    for (int64_t k = 0, at = 0; k < n->rows.count; k++)
        if (rs_newton_follows(&rows[k]))
            loads[at++] = rs_newton_load_change(n, &rows[k], x);
}

static void image_of_loads(const rs_newton *n, const rs_rows *rows, const double *loads, double *x, double *out) {
    (void)rows;
    move_by_loads(n, loads, x);
    loads_at(n, x, out);
}

/* In the space of the loads, which are of one kind. */
void rs_newton_follow_loads(rs_newton *n, double *x) {
    int64_t count = n->sliding;
    double *loads = room_for(n, count);
    if (loads == NULL)
        return;
    double *room = loads + count, *moved = room + (BASIS + 1) * count;
    loads_at(n, x, loads);
    find_fixed_point(n, NULL, image_of_loads, LOAD_TOLERANCE, count, loads, room);
    move_by_loads(n, loads, moved);
    for (int32_t i = 0; i < n->size; i++)
        x[i] += moved[i];
}

/* ---- lifts ---- */

/* Changes of the lifts after a descent by changes of those before. */
static void image_of_lifts(const rs_newton *n, const rs_rows *rows, const double *lifts, double *x, double *out) {
    const rs_newton_row *list = RS_ITEMS(rs_newton_row, n->rows);
    memset(x, 0, (size_t)n->size * sizeof *x);
    for (int64_t k = 0; k < n->rows.count; k++)
        if (list[k].state != RS_ROW_OPEN && lifts[k] != 0.0)
            rs_newton_pull(n, &list[k], rs_newton_weighted(&list[k], rs_v3(0.0, 0.0, lifts[k])), x);
    rs_newton_matrix_solve(n, x);
    for (int64_t k = 0; k < n->rows.count; k++) {
        const rs_law *law = rs_rows_law(rows, k);
        rs_vec3 slip = law->error.xyz;
        double speed = sqrt(slip.x * slip.x + slip.y * slip.y);
        out[k] = 0.0;
        if (law->kind != RS_ROW_CONTACT || speed == 0.0)
            continue;
        rs_vec3 v = rs_newton_speed(n, &list[k], x);
        out[k] = -law->mu * (slip.x * v.x + slip.y * v.y) / speed;
    }
}

void rs_newton_move_lifts(rs_newton *n, const rs_rows *rows, double *moves) {
    double *room = room_for(n, n->rows.count);
    if (room != NULL)
        find_fixed_point(n, rows, image_of_lifts, LIFT_TOLERANCE, n->rows.count, moves, room);
}
