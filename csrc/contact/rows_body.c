#include "rows_body.h"

#include "sweep_blocks.h"

static rs_body_row *row_at(const rs_rows *rows, int64_t k) { return rs_body_row_at((const rs_body_rows *)rows, k); }

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

/* ---- the layout ---- */

/* Sweeps work on the blocks. */
static rs_sweep_result sweep(rs_rows *rows, double momentum, bool backward, double quiet) {
    rs_body_rows *self = (rs_body_rows *)rows;
    if (!self->packed && rs_sweep_blocks_fill(self->blocks, self) != RS_OK) {
        self->failed = true;
        return (rs_sweep_result){0.0, 0.0};
    }
    self->packed = true;
    if (!self->sweeping)
        rs_sweep_blocks_begin(self->blocks, self);
    self->sweeping = true;
    return rs_sweep_blocks_sweep(self->blocks, momentum, backward, quiet);
}

/* Before anything else is done with impulses or velocities. */
static void end_sweeps(rs_rows *rows) {
    rs_body_rows *self = (rs_body_rows *)rows;
    if (self->sweeping)
        rs_sweep_blocks_end(self->blocks, self);
    self->sweeping = false;
}

static void release(rs_rows *rows) {
    const rs_body_rows *self = (const rs_body_rows *)rows;
    end_sweeps(rows);
    for (int64_t k = 0; k < self->members.count; k++) {
        rs_solver_body *body = &self->bodies[self->members.index[k]];
        body->v = body->v_free;
        body->w = body->w_free;
    }
}

/* Rows that a thread looks at at once, and the least that are worth sharing. */
enum { PART_ROWS = 256, LEAST_ROWS = 8 * PART_ROWS };

static void look_at_part(void *context, int32_t worker, int64_t item) {
    const rs_rows *rows = context;
    const rs_body_rows *self = context;
    int64_t first = item * PART_ROWS, end = first + PART_ROWS < rows->count ? first + PART_ROWS : rows->count;
    (void)worker;
    for (int64_t k = first; k < end; k++) {
        rs_body_row *row = row_at(rows, k);
        rs_v4_store(&row->law.error, error_of(row, self->bodies));
    }
}

static void look(rs_rows *rows) {
    const rs_body_rows *self = (const rs_body_rows *)rows;
    end_sweeps(rows);
    rs_pool_share(rows->count >= LEAST_ROWS ? self->blocks->pool : NULL, (rows->count + PART_ROWS - 1) / PART_ROWS, look_at_part,
                  rows);
}

static void apply(rs_rows *rows, double share) {
    const rs_body_rows *self = (const rs_body_rows *)rows;
    end_sweeps(rows);
    for (int64_t k = 0; k < rows->count; k++) {
        rs_body_row *row = row_at(rows, k);
        if (rs_v3_is_zero(row->law.step.xyz))
            continue;
        rs_v4 change = rs_v4_all(share) * rs_v4_load(&row->law.step);
        rs_v4_store(&row->law.impulse, rs_v4_load(&row->law.impulse) + change);
        apply_impulse(row, self->bodies, change);
    }
}

static void clear_push(rs_rows *rows) {
    const rs_body_rows *self = (const rs_body_rows *)rows;
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

/* Four contacts at a time, they cost little. */
enum { FIRST_SWEEPS = 32 };

static const rs_row_layout LAYOUT = {release,    look,        apply,   sweep,   clear_push,
                                     sweep_push, object_size, inertia, jacobian, FIRST_SWEEPS, true};

rs_body_rows rs_body_rows_make(rs_body_row *first, int64_t count, rs_island_bodies members, rs_solver_body *bodies,
                               rs_push_body *pushes, int32_t *number, rs_sweep_blocks *blocks) {
    for (int32_t k = 0; k < members.count; k++) {
        rs_solver_body *body = &bodies[members.index[k]];
        number[members.index[k]] = k;
        body->v_free = body->v;
        body->w_free = body->w;
    }
    return (rs_body_rows){{&LAYOUT, (char *)first, sizeof *first, count, (int32_t)members.count},
                          members, bodies, pushes, number, blocks, false, false, false};
}
