#include "push_out.h"

/* Overlaps shrink over several steps anyway: a rough solution is enough. */
enum { SWEEPS = 8 };

static bool any_overlap(const rs_row *rows, int64_t count) {
    for (int64_t k = 0; k < count; k++)
        if (rows[k].push > 0.0)
            return true;
    return false;
}

static void add_push(rs_push_body *push, const rs_solver_body *body, rs_vec3 r, rs_vec3 p) {
    if (body->inverse_mass == 0.0)
        return;
    push->v = rs_madd(push->v, body->inverse_mass, p);
    push->w = rs_add(push->w, rs_columns_mul3(&body->inverse_inertia, rs_cross(r, p)));
}

static void relax_row(rs_row *row, const rs_solver_body *bodies, rs_push_body *pushes) {
    rs_push_body *a = &pushes[row->body_a], *b = &pushes[row->body_b];
    rs_vec3 v = rs_sub(rs_add(a->v, rs_cross(a->w, row->ra.xyz)), rs_add(b->v, rs_cross(b->w, row->rb.xyz)));
    double impulse = rs_max(0.0, row->push_impulse + (row->push - rs_dot(v, row->n.xyz)) / row->g.z.xyz.z);
    double change = impulse - row->push_impulse;
    if (change == 0.0)
        return;
    row->push_impulse = impulse;
    add_push(a, &bodies[row->body_a], row->ra.xyz, rs_scale(change, row->n.xyz));
    add_push(b, &bodies[row->body_b], row->rb.xyz, rs_scale(-change, row->n.xyz));
}

bool rs_push_out(rs_row *rows, int64_t count, const rs_solver_body *bodies, rs_push_body *pushes) {
    if (!any_overlap(rows, count))
        return false;
    for (int64_t k = 0; k < count; k++) {
        rows[k].push_impulse = 0.0;
        pushes[rows[k].body_a] = pushes[rows[k].body_b] = (rs_push_body){0};
    }
    for (int sweep = 0; sweep < SWEEPS; sweep++)
        for (int64_t k = 0; k < count; k++)
            relax_row(&rows[k], bodies, pushes);
    return true;
}
