/* The lifts of sliding contacts, which follow the slip that they cause: Newton's method for their fixed point. */
#include "newton_matrix.h"

#include <math.h>
#include <string.h>

/* They will move again. */
static const double TOLERANCE = 1e-3;

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
    if (rs_newton_gmres_room(n, n->rows.count) != NULL)
        rs_newton_gmres(n, rows, image_of_lifts, TOLERANCE, n->rows.count, moves);
}
