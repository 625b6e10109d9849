#include "rows_body.h"

#include "coulomb.h"

static rs_body_row *row_at(const rs_rows *rows, int64_t k) { return &((rs_body_row *)(void *)rows->first)[k]; }

RS_INLINE rs_v4 relative_velocity(const rs_body_row *row, const rs_solver_body *a, const rs_solver_body *b) {
    return rs_v4_load(&a->v) - rs_v4_load(&b->v) + rs_v4_cross(rs_v4_load(&a->w), rs_v4_load(&row->ra)) -
           rs_v4_cross(rs_v4_load(&b->w), rs_v4_load(&row->rb));
}

/* Velocity minus target, contact frame. */
RS_INLINE rs_v4 error_of(const rs_body_row *row, const rs_solver_body *bodies) {
    rs_v4 world = relative_velocity(row, &bodies[row->body_a], &bodies[row->body_b]);
    rs_v4 error = rs_v4_sums(world * rs_v4_load(&row->t1), world * rs_v4_load(&row->t2), world * rs_v4_load(&row->n));
    return error - rs_v4_load(&row->law.aim);
}

/* Adds an impulse at the point r from the centre of mass. */
RS_INLINE void push_body(rs_solver_body *body, const rs_quad *r, rs_v4 p) {
    if (body->inverse_mass == 0.0)
        return;
    rs_v4_store(&body->v, rs_v4_load(&body->v) + rs_v4_all(body->inverse_mass) * p);
    rs_v4 turn = rs_columns_mulv(&body->inverse_inertia, rs_v4_cross(rs_v4_load(r), p));
    rs_v4_store(&body->w, rs_v4_load(&body->w) + turn);
}

/* Adds the impulse (contact frame) on A and its reaction on B. */
RS_INLINE void apply_impulse(const rs_body_row *row, rs_solver_body *bodies, rs_v4 impulse) {
    rs_v4 p = rs_v4_combine(impulse, rs_v4_load(&row->t1), rs_v4_load(&row->t2), rs_v4_load(&row->n));
    push_body(&bodies[row->body_a], &row->ra, p);
    push_body(&bodies[row->body_b], &row->rb, -p);
}

static bool is_zero(const rs_quad *q) { return q->xyz.x == 0.0 && q->xyz.y == 0.0 && q->xyz.z == 0.0; }

/* ---- the layout ---- */

static void release(rs_rows *rows) {
    const rs_body_rows *self = (const rs_body_rows *)rows;
    for (int64_t k = 0; k < self->members.count; k++) {
        rs_solver_body *body = &self->bodies[self->members.index[k]];
        body->v = body->v_former = body->v_free;
        body->w = body->w_former = body->w_free;
    }
}

static void look(rs_rows *rows) {
    const rs_body_rows *self = (const rs_body_rows *)rows;
    for (int64_t k = 0; k < rows->count; k++) {
        rs_body_row *row = row_at(rows, k);
        rs_v4_store(&row->law.error, error_of(row, self->bodies));
    }
}

static void apply(rs_rows *rows, double share) {
    const rs_body_rows *self = (const rs_body_rows *)rows;
    for (int64_t k = 0; k < rows->count; k++) {
        rs_body_row *row = row_at(rows, k);
        if (is_zero(&row->law.step))
            continue;
        rs_v4 change = rs_v4_all(share) * rs_v4_load(&row->law.step);
        rs_v4_store(&row->law.impulse, rs_v4_load(&row->law.impulse) + change);
        apply_impulse(row, self->bodies, change);
    }
}

/* Ratio of slip to friction before the row is solved: a guess for the one after. */
static double slip_resistance(rs_v4 velocity, rs_v4 impulse) {
    double friction2 = impulse[0] * impulse[0] + impulse[1] * impulse[1];
    return friction2 > 0.0 ? sqrt((velocity[0] * velocity[0] + velocity[1] * velocity[1]) / friction2) : 0.0;
}

/* Not inlined: most contacts stick, and their path must stay short. */
__attribute__((noinline)) static void slip_row(rs_body_row *row, const rs_quad *c, double resistance) {
    rs_sym3 g = rs_sym3_of_quads(&row->g);
    row->law.impulse.xyz = rs_coulomb_slip(&g, row->law.mu, c->xyz, resistance);
}

/* The impulse that solves the row alone; now it holds `start` and misses its target by `error`. */
RS_INLINE rs_v4 solve_row(rs_body_row *row, rs_v4 start, rs_v4 error) {
    rs_v4 c = error - rs_columns_mulv(&row->g, start);
    if (c[2] >= 0.0)
        return rs_v4_all(0.0);
    rs_v4 stick = start - rs_columns_mulv(&row->g_inverse, error);
    double limit = row->law.mu * stick[2];
    if (limit >= 0.0 && stick[0] * stick[0] + stick[1] * stick[1] <= limit * limit)
        return stick;
    rs_quad rest;
    rs_v4_store(&rest, c);
    slip_row(row, &rest, slip_resistance(error, start));
    return rs_v4_load(&row->law.impulse);
}

/* Solves one row against the present velocities. The bodies already carry the momentum; the row takes its share here.
 * Returns the square of what it changed [m/s]. */
RS_INLINE double relax_row(rs_body_row *row, rs_solver_body *bodies, double momentum, rs_v4 *ascent) {
    rs_v4 error = error_of(row, bodies);
    if (is_zero(&row->law.impulse) && is_zero(&row->law.former) && error[2] > 0.0)
        return 0.0; /* open before and now */
    rs_v4 before = rs_v4_load(&row->law.impulse);
    rs_v4 step = rs_v4_all(momentum) * (before - rs_v4_load(&row->law.former));
    rs_v4 start = before + step;
    rs_v4 solved = solve_row(row, start, error), change = solved - start;
    rs_v4_store(&row->law.former, before);
    rs_v4_store(&row->law.impulse, solved);
    apply_impulse(row, bodies, change);
    *ascent += error * step;
    return row->law.inverse_mass * row->law.inverse_mass * rs_v4_sum(change * change);
}

/* Moves the bodies on by a share of what the last sweep did: they are linear in the impulses, so that the rows can
 * follow one by one in the next sweep. */
static void add_momentum(const rs_body_rows *self, double momentum) {
    for (int64_t k = 0; k < self->members.count; k++) {
        rs_solver_body *body = &self->bodies[self->members.index[k]];
        rs_v4 v = rs_v4_load(&body->v), w = rs_v4_load(&body->w);
        rs_v4_store(&body->v, v + rs_v4_all(momentum) * (v - rs_v4_load(&body->v_former)));
        rs_v4_store(&body->w, w + rs_v4_all(momentum) * (w - rs_v4_load(&body->w_former)));
        rs_v4_store(&body->v_former, v);
        rs_v4_store(&body->w_former, w);
    }
}

/* Rows that leave the busy ones leave their momentum behind. */
static double sweep_all(rs_body_rows *self, double momentum, bool backward, double quiet, rs_v4 *ascent) {
    double largest2 = 0.0;
    self->busy_count = 0;
    for (int64_t k = 0; k < self->rows.count; k++) {
        int64_t at = backward ? self->rows.count - 1 - k : k;
        rs_body_row *row = row_at(&self->rows, at);
        double change2 = relax_row(row, self->bodies, momentum, ascent);
        largest2 = rs_max(largest2, change2);
        if (change2 > quiet * quiet)
            self->busy[self->busy_count++] = (int32_t)at;
        else
            row->law.former = row->law.impulse;
    }
    return largest2;
}

static double sweep_busy(rs_body_rows *self, double momentum, rs_v4 *ascent) {
    double largest2 = 0.0;
    for (int64_t k = 0; k < self->busy_count; k++)
        largest2 = rs_max(largest2, relax_row(row_at(&self->rows, self->busy[k]), self->bodies, momentum, ascent));
    return largest2;
}

static rs_sweep_result sweep(rs_rows *rows, double momentum, bool backward, double quiet) {
    rs_body_rows *self = (rs_body_rows *)rows;
    rs_v4 ascent = rs_v4_all(0.0);
    add_momentum(self, momentum);
    double largest2 = quiet >= 0.0 ? sweep_all(self, momentum, backward, quiet, &ascent)
                                   : sweep_busy(self, momentum, &ascent);
    return (rs_sweep_result){sqrt(largest2), rs_v4_sum(ascent)};
}

static void clear_push(rs_rows *rows) {
    const rs_body_rows *self = (const rs_body_rows *)rows;
    for (int64_t k = 0; k < rows->count; k++) {
        const rs_body_row *row = row_at(rows, k);
        self->pushes[row->body_a] = self->pushes[row->body_b] = (rs_push_body){0};
    }
    for (int64_t k = 0; k < self->members.count; k++)
        self->pushes[self->members.index[k]] = (rs_push_body){0};
}

static void add_push(rs_push_body *push, const rs_solver_body *body, rs_vec3 r, rs_vec3 p) {
    if (body->inverse_mass == 0.0)
        return;
    push->v = rs_madd(push->v, body->inverse_mass, p);
    push->w = rs_add(push->w, rs_columns_mul3(&body->inverse_inertia, rs_cross(r, p)));
}

static void sweep_push(rs_rows *rows) {
    const rs_body_rows *self = (const rs_body_rows *)rows;
    for (int64_t k = 0; k < rows->count; k++) {
        rs_body_row *row = row_at(rows, k);
        rs_push_body *a = &self->pushes[row->body_a], *b = &self->pushes[row->body_b];
        rs_vec3 v = rs_sub(rs_add(a->v, rs_cross(a->w, row->ra.xyz)), rs_add(b->v, rs_cross(b->w, row->rb.xyz)));
        double missing = row->law.push - rs_dot(v, row->n.xyz);
        double impulse = rs_max(0.0, row->law.push_impulse + missing / row->g.z.xyz.z);
        double change = impulse - row->law.push_impulse;
        if (change == 0.0)
            continue;
        row->law.push_impulse = impulse;
        add_push(a, &self->bodies[row->body_a], row->ra.xyz, rs_scale(change, row->n.xyz));
        add_push(b, &self->bodies[row->body_b], row->rb.xyz, rs_scale(-change, row->n.xyz));
    }
}

static int32_t object_size(const rs_rows *rows, int32_t object) {
    (void)rows;
    (void)object;
    return 6;
}

static void inertia(const rs_rows *rows, int32_t object, double *out) {
    const rs_body_rows *self = (const rs_body_rows *)rows;
    rs_solver_body_inertia(&self->bodies[self->members.index[object]], out);
}

static void fill_side(const rs_body_rows *self, int32_t body, rs_vec3 r, const rs_vec3 axes[3], double sign,
                      rs_side_jacobian *out) {
    out->object = self->bodies[body].inverse_mass > 0.0 ? self->number[body] : RS_NONE;
    out->size = 6;
    rs_vec3 turns[3] = {rs_cross(r, axes[0]), rs_cross(r, axes[1]), rs_cross(r, axes[2])};
    for (int k = 0; k < 3; k++) {
        rs_vec3 linear = rs_v3(rs_v3_get(axes[0], k), rs_v3_get(axes[1], k), rs_v3_get(axes[2], k));
        rs_vec3 angular = rs_v3(rs_v3_get(turns[0], k), rs_v3_get(turns[1], k), rs_v3_get(turns[2], k));
        out->columns[k] = (rs_quad){rs_scale(sign, linear), 0.0};
        out->columns[3 + k] = (rs_quad){rs_scale(sign, angular), 0.0};
        out->index[k] = k;
        out->index[3 + k] = 3 + k;
    }
}

static void jacobian(const rs_rows *rows, int64_t k, rs_side_jacobian sides[2]) {
    const rs_body_rows *self = (const rs_body_rows *)rows;
    const rs_body_row *row = row_at(rows, k);
    const rs_vec3 axes[3] = {row->t1.xyz, row->t2.xyz, row->n.xyz};
    fill_side(self, row->body_a, row->ra.xyz, axes, 1.0, &sides[0]);
    fill_side(self, row->body_b, row->rb.xyz, axes, -1.0, &sides[1]);
}

static const rs_row_layout LAYOUT = {release,    look,        apply,   sweep,   clear_push,
                                     sweep_push, object_size, inertia, jacobian};

rs_body_rows rs_body_rows_make(rs_body_row *first, int64_t count, rs_island_bodies members, rs_solver_body *bodies,
                               rs_push_body *pushes, int32_t *number, int32_t *busy) {
    for (int32_t k = 0; k < members.count; k++) {
        rs_solver_body *body = &bodies[members.index[k]];
        number[members.index[k]] = k;
        body->v_free = body->v;
        body->w_free = body->w;
    }
    return (rs_body_rows){{&LAYOUT, (char *)first, sizeof *first, count, (int32_t)members.count},
                          members, bodies, pushes, number, busy, 0};
}
