#include "sweep_blocks.h"

#include "coulomb4.h"

#include <stddef.h>
#include <string.h>

enum { LANES = 4, OVERFLOW = RS_SWEEP_COLORS - 1 };
/* What a thread takes at once, and the least that is worth sharing. */
enum { PART_BLOCKS = 32, LEAST_BLOCKS = 4 * PART_BLOCKS, PART_BODIES = 512, LEAST_BODIES = 8 * PART_BODIES };

/* Vectors first, then integers: lanes are copied as a whole. Sides: 0 is A, 1 is B. */
struct sweep_block {
    rs_lanes3 axis[3];    /* t1, t2, n */
    rs_lanes3 arm[2][3];  /* turning of each side about its centre of mass along the axes, scaled */
    rs_v4 root_mass[2];   /* roots of the inverse masses */
    rs_lanes_sym3 g, g_inverse;
    rs_v4 mu, inverse_mass2;
    rs_lanes3 error;      /* at the beginning of the round */
    rs_lanes3 impulse, former;
    rs_v4 change2;        /* squares of what the last sweep changed [m/s] */
    int32_t body[2][LANES]; /* number within the island; the one after the last stands still */
    int32_t from[LANES];  /* row of the island, or lane of all lanes for busy rows; RS_NONE: empty */
};

enum { VECTORS = offsetof(sweep_block, body) / sizeof(rs_v4) };

/* Changes of velocity since the beginning of the round, scaled. */
struct sweep_body {
    rs_quad linear, angular;
};

/* Lower triangle L with inverse inertia = L * L', and the root of the inverse mass. */
struct body_root {
    double xx, yx, yy, zx, zy, zz, mass;
};

/* What the rows of some blocks did. */
struct part_result {
    rs_v4 largest2, ascent;
};

void rs_sweep_blocks_free(rs_sweep_blocks *at) {
    rs_any_array *const arrays[] = {&at->all.blocks.any, &at->busy.blocks.any, &at->bodies.any, &at->former.any,
                                    &at->roots.any, &at->used.any, &at->colors.any, &at->parts.any};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        rs_any_free(arrays[k]);
}

/* ---- packing ---- */

static double root(double square) { return square > 0.0 ? sqrt(square) : 0.0; }
static double over(double value, double by) { return by > 0.0 ? value / by : 0.0; }

static body_root root_of(const rs_solver_body *body) {
    rs_sym3 m = rs_sym3_of_quads(&body->inverse_inertia);
    double xx = root(m.xx), yx = over(m.xy, xx), zx = over(m.xz, xx);
    double yy = root(m.yy - yx * yx), zy = over(m.yz - yx * zx, yy);
    return (body_root){xx, yx, yy, zx, zy, root(m.zz - zx * zx - zy * zy), root(body->inverse_mass)};
}

/* L' * v and L * v */
static rs_vec3 scaled(const body_root *l, rs_vec3 v) {
    return rs_v3(l->xx * v.x + l->yx * v.y + l->zx * v.z, l->yy * v.y + l->zy * v.z, l->zz * v.z);
}
static rs_vec3 unscaled(const body_root *l, rs_vec3 v) {
    return rs_v3(l->xx * v.x, l->yx * v.x + l->yy * v.y, l->zx * v.x + l->zy * v.y + l->zz * v.z);
}

/* Number within the island of a body of the world. */
static int32_t number_of(const rs_body_rows *rows, int32_t body) {
    return rows->bodies[body].inverse_mass > 0.0 ? rows->number[body] : (int32_t)rows->members.count;
}

/* The lowest colour that neither body of the row has. What stands still has none. */
static int32_t color_row(uint64_t *used, int32_t still, int32_t a, int32_t b) {
    uint64_t taken = (a == still ? 0 : used[a]) | (b == still ? 0 : used[b]);
    int32_t color = __builtin_ctzll(~taken | 1ull << OVERFLOW);
    if (color >= OVERFLOW)
        return OVERFLOW;
    used[a] |= 1ull << color;
    used[b] |= 1ull << color;
    return color;
}

/* Colours all rows and finds where the blocks of each colour begin. */
static void color_rows(rs_sweep_blocks *at, const rs_body_rows *rows) {
    int32_t *colors = at->colors.items, still = (int32_t)rows->members.count;
    int64_t counts[RS_SWEEP_COLORS] = {0}, *first = at->all.first;
    memset(at->used.items, 0, (size_t)at->used.count * sizeof(uint64_t));
    for (int64_t k = 0; k < rows->rows.count; k++) {
        const rs_body_row *row = rs_body_row_at(rows, k);
        colors[k] = color_row(at->used.items, still, number_of(rows, row->body_a), number_of(rows, row->body_b));
        counts[colors[k]]++;
    }
    first[0] = 0;
    for (int c = 0; c < RS_SWEEP_COLORS; c++)
        first[c + 1] = first[c] + (c == OVERFLOW ? counts[c] : (counts[c] + LANES - 1) / LANES);
}

static void put3(rs_lanes3 *to, int lane, rs_vec3 v) {
    to->x[lane] = v.x;
    to->y[lane] = v.y;
    to->z[lane] = v.z;
}

static void put_sym3(rs_lanes_sym3 *to, int lane, const rs_columns *from) {
    rs_sym3 m = rs_sym3_of_quads(from);
    to->xx[lane] = m.xx;
    to->yy[lane] = m.yy;
    to->zz[lane] = m.zz;
    to->xy[lane] = m.xy;
    to->xz[lane] = m.xz;
    to->yz[lane] = m.yz;
}

static void put_side(const rs_sweep_blocks *at, sweep_block *to, int side, int lane, int32_t number, rs_vec3 r,
                     const rs_vec3 axes[3]) {
    to->body[side][lane] = number;
    if (number == at->roots.count)
        return;
    const body_root *l = RS_ITEM(at->roots, number);
    to->root_mass[side][lane] = l->mass;
    for (int k = 0; k < 3; k++)
        put3(&to->arm[side][k], lane, scaled(l, rs_cross(r, axes[k])));
}

static void put_row(const rs_sweep_blocks *at, const rs_body_rows *rows, int64_t k, sweep_block *to, int lane) {
    const rs_body_row *row = rs_body_row_at(rows, k);
    const rs_vec3 axes[3] = {row->t1.xyz, row->t2.xyz, row->n.xyz};
    to->from[lane] = (int32_t)k;
    to->mu[lane] = row->law.mu;
    to->inverse_mass2[lane] = row->law.inverse_mass * row->law.inverse_mass;
    for (int a = 0; a < 3; a++)
        put3(&to->axis[a], lane, axes[a]);
    put_sym3(&to->g, lane, &row->g);
    put_sym3(&to->g_inverse, lane, &row->g_inverse);
    put_side(at, to, 0, lane, number_of(rows, row->body_a), row->ra.xyz, axes);
    put_side(at, to, 1, lane, number_of(rows, row->body_b), row->rb.xyz, axes);
}

static sweep_block empty_block(int32_t still) {
    sweep_block block;
    memset(&block, 0, sizeof block);
    for (int k = 0; k < LANES; k++) {
        block.from[k] = RS_NONE;
        block.body[0][k] = block.body[1][k] = still;
    }
    return block;
}

/* Takes the next lane of a colour: `next` counts lanes from the first block of all colours on. */
static int64_t take_lane(int64_t *next, int32_t color) {
    int64_t lane = *next;
    *next += color == OVERFLOW ? LANES : 1;
    return lane;
}

static rs_status make_room(rs_sweep_blocks *at, int64_t bodies, int64_t rows) {
    bool made = rs_array_resize(&at->bodies, bodies + 1) == RS_OK && rs_array_resize(&at->former, bodies + 1) == RS_OK &&
                rs_array_resize(&at->roots, bodies) == RS_OK && rs_array_resize(&at->used, bodies + 1) == RS_OK &&
                rs_array_resize(&at->colors, rows) == RS_OK;
    return made ? RS_OK : RS_OUT_OF_MEMORY;
}

rs_status rs_sweep_blocks_fill(rs_sweep_blocks *at, const rs_body_rows *rows) {
    int64_t bodies = rows->members.count, next[RS_SWEEP_COLORS];
    if (make_room(at, bodies, rows->rows.count) != RS_OK)
        return RS_OUT_OF_MEMORY;
    color_rows(at, rows);
    int64_t blocks = at->all.first[RS_SWEEP_COLORS];
    if (rs_array_resize(&at->all.blocks, blocks) != RS_OK || rs_array_resize(&at->busy.blocks, blocks) != RS_OK ||
        rs_array_resize(&at->parts, blocks / PART_BLOCKS + RS_SWEEP_COLORS) != RS_OK)
        return RS_OUT_OF_MEMORY;
    sweep_block *list = at->all.blocks.items, empty = empty_block((int32_t)bodies);
    for (int64_t k = 0; k < bodies; k++)
        *RS_ITEM(at->roots, k) = root_of(&rows->bodies[rows->members.index[k]]);
    for (int64_t k = 0; k < blocks; k++)
        list[k] = empty;
    for (int c = 0; c < RS_SWEEP_COLORS; c++)
        next[c] = LANES * at->all.first[c];
    for (int64_t k = 0; k < rows->rows.count; k++) {
        int32_t color = at->colors.items[k];
        int64_t lane = take_lane(&next[color], color);
        put_row(at, rows, k, &list[lane / LANES], (int)(lane % LANES));
    }
    at->busy.first[RS_SWEEP_COLORS] = 0;
    return RS_OK;
}

/* ---- busy rows ---- */

static void copy_lane(const sweep_block *from, int lane, sweep_block *to, int place) {
    const rs_v4 *source = (const rs_v4 *)from;
    rs_v4 *target = (rs_v4 *)to;
    for (int k = 0; k < VECTORS; k++)
        target[k][place] = source[k][lane];
    to->body[0][place] = from->body[0][lane];
    to->body[1][place] = from->body[1][lane];
}

/* The rows of all that the last sweep changed by more than `quiet` [m/s]. The others leave their momentum behind. */
static void pick_busy(rs_sweep_blocks *at, double quiet) {
    sweep_block *all = at->all.blocks.items, *busy = at->busy.blocks.items;
    sweep_block empty = empty_block((int32_t)at->roots.count);
    int64_t count = 0;
    for (int32_t c = 0; c < RS_SWEEP_COLORS; c++) {
        int64_t next = LANES * count;
        at->busy.first[c] = count;
        for (int64_t b = at->all.first[c]; b < at->all.first[c + 1]; b++) {
            for (int lane = 0; lane < LANES; lane++) {
                if (!(all[b].change2[lane] > quiet * quiet))
                    continue;
                int64_t place = take_lane(&next, c);
                if (place % LANES == 0)
                    busy[place / LANES] = empty;
                copy_lane(&all[b], lane, &busy[place / LANES], (int)(place % LANES));
                busy[place / LANES].from[place % LANES] = (int32_t)(LANES * b + lane);
            }
            all[b].former = all[b].impulse;
        }
        count = (next + LANES - 1) / LANES;
    }
    at->busy.first[RS_SWEEP_COLORS] = count;
}

static void copy3(const rs_lanes3 *from, int lane, rs_lanes3 *to, int place) {
    put3(to, place, rs_v3(from->x[lane], from->y[lane], from->z[lane]));
}

/* Their impulses go back to all rows. */
static void drop_busy(rs_sweep_blocks *at) {
    sweep_block *all = at->all.blocks.items;
    for (int64_t b = 0; b < at->busy.first[RS_SWEEP_COLORS]; b++) {
        const sweep_block *block = RS_ITEM(at->busy.blocks, b);
        for (int lane = 0; lane < LANES; lane++) {
            int32_t from = block->from[lane];
            if (from == RS_NONE)
                continue;
            copy3(&block->impulse, lane, &all[from / LANES].impulse, from % LANES);
            copy3(&block->former, lane, &all[from / LANES].former, from % LANES);
        }
    }
    at->busy.first[RS_SWEEP_COLORS] = 0;
}

/* ---- rounds ---- */

void rs_sweep_blocks_begin(rs_sweep_blocks *at, const rs_body_rows *rows) {
    memset(at->bodies.items, 0, (size_t)at->bodies.count * sizeof(sweep_body));
    for (int64_t b = 0; b < at->all.blocks.count; b++) {
        sweep_block *block = RS_ITEM(at->all.blocks, b);
        for (int lane = 0; lane < LANES; lane++) {
            if (block->from[lane] == RS_NONE)
                continue;
            const rs_law *law = &rs_body_row_at(rows, block->from[lane])->law;
            put3(&block->error, lane, law->error.xyz);
            put3(&block->impulse, lane, law->impulse.xyz);
        }
        block->former = block->impulse;
    }
}

void rs_sweep_blocks_end(rs_sweep_blocks *at, const rs_body_rows *rows) {
    drop_busy(at);
    for (int64_t k = 0; k < rows->members.count; k++) {
        rs_solver_body *body = &rows->bodies[rows->members.index[k]];
        const sweep_body *change = RS_ITEM(at->bodies, k);
        const body_root *l = RS_ITEM(at->roots, k);
        body->v.xyz = rs_madd(body->v.xyz, l->mass, change->linear.xyz);
        body->w.xyz = rs_add(body->w.xyz, unscaled(l, change->angular.xyz));
    }
    for (int64_t b = 0; b < at->all.blocks.count; b++) {
        const sweep_block *block = RS_ITEM(at->all.blocks, b);
        for (int lane = 0; lane < LANES; lane++)
            if (block->from[lane] != RS_NONE)
                rs_body_row_at(rows, block->from[lane])->law.impulse.xyz =
                    rs_v3(block->impulse.x[lane], block->impulse.y[lane], block->impulse.z[lane]);
    }
}

/* ---- sweeps ---- */

typedef struct {
    rs_lanes3 linear, angular;
} side_motion;

/* Written out: the compiler would take the long way through memory for loops over lanes. */
RS_INLINE side_motion load_side(const sweep_body *bodies, const int32_t number[LANES]) {
    const sweep_body *a = &bodies[number[0]], *b = &bodies[number[1]], *c = &bodies[number[2]], *d = &bodies[number[3]];
    rs_v4 v0 = rs_v4_load(&a->linear), v1 = rs_v4_load(&b->linear), v2 = rs_v4_load(&c->linear), v3 = rs_v4_load(&d->linear);
    rs_v4 w0 = rs_v4_load(&a->angular), w1 = rs_v4_load(&b->angular), w2 = rs_v4_load(&c->angular), w3 = rs_v4_load(&d->angular);
    rs_v4_transpose(&v0, &v1, &v2, &v3);
    rs_v4_transpose(&w0, &w1, &w2, &w3);
    return (side_motion){{v0, v1, v2}, {w0, w1, w2}};
}

RS_INLINE void store_lane(sweep_body *bodies, int32_t number, int32_t still, rs_v4 linear, rs_v4 angular) {
    if (number == still)
        return;
    rs_v4_store(&bodies[number].linear, linear);
    rs_v4_store(&bodies[number].angular, angular);
}

/* What stands still is left alone. */
RS_INLINE void store_side(sweep_body *bodies, const int32_t number[LANES], int32_t still, side_motion m) {
    rs_v4 v3 = rs_v4_all(0.0), w3 = v3;
    rs_v4_transpose(&m.linear.x, &m.linear.y, &m.linear.z, &v3);
    rs_v4_transpose(&m.angular.x, &m.angular.y, &m.angular.z, &w3);
    store_lane(bodies, number[0], still, m.linear.x, m.angular.x);
    store_lane(bodies, number[1], still, m.linear.y, m.angular.y);
    store_lane(bodies, number[2], still, m.linear.z, m.angular.z);
    store_lane(bodies, number[3], still, v3, w3);
}

RS_INLINE rs_v4 dot(rs_lanes3 a, rs_lanes3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

RS_INLINE rs_lanes3 error_of(const sweep_block *b, side_motion own, side_motion other) {
    const rs_v4 *m = b->root_mass;
    rs_lanes3 v = {m[0] * own.linear.x - m[1] * other.linear.x, m[0] * own.linear.y - m[1] * other.linear.y,
                   m[0] * own.linear.z - m[1] * other.linear.z};
    const rs_lanes3 *arm = b->arm[0], *rest = b->arm[1];
    return (rs_lanes3){b->error.x + dot(b->axis[0], v) + dot(arm[0], own.angular) - dot(rest[0], other.angular),
                       b->error.y + dot(b->axis[1], v) + dot(arm[1], own.angular) - dot(rest[1], other.angular),
                       b->error.z + dot(b->axis[2], v) + dot(arm[2], own.angular) - dot(rest[2], other.angular)};
}

/* x * a[0] + y * a[1] + z * a[2] */
RS_INLINE rs_lanes3 combine(const rs_lanes3 a[3], rs_lanes3 s) {
    return (rs_lanes3){s.x * a[0].x + s.y * a[1].x + s.z * a[2].x, s.x * a[0].y + s.y * a[1].y + s.z * a[2].y,
                       s.x * a[0].z + s.y * a[1].z + s.z * a[2].z};
}

RS_INLINE void push_side(side_motion *m, rs_v4 root_mass, rs_lanes3 p, rs_lanes3 turn) {
    m->linear.x += root_mass * p.x;
    m->linear.y += root_mass * p.y;
    m->linear.z += root_mass * p.z;
    m->angular.x += turn.x;
    m->angular.y += turn.y;
    m->angular.z += turn.z;
}

RS_INLINE bool is_zero(rs_lanes3 a) { return !rs_any4(((rs_index4)a.x | (rs_index4)a.y | (rs_index4)a.z) != 0); }

/* Solves each row against the present velocities. The bodies already carry the momentum; the rows take their shares here.
 * Returns the squares of what they changed [m/s]. */
RS_INLINE rs_v4 relax_block(sweep_block *b, sweep_body *bodies, int32_t still, rs_v4 momentum, rs_v4 *ascent) {
    side_motion own = load_side(bodies, b->body[0]), other = load_side(bodies, b->body[1]);
    rs_lanes3 error = error_of(b, own, other), before = b->impulse, former = b->former;
    if (!rs_any4(error.z <= rs_v4_all(0.0)) && is_zero(before) && is_zero(former))
        return rs_v4_all(0.0); /* open before and now */
    rs_lanes3 step = {momentum * (before.x - former.x), momentum * (before.y - former.y), momentum * (before.z - former.z)};
    rs_lanes3 start = {before.x + step.x, before.y + step.y, before.z + step.z};
    rs_lanes3 solved = rs_coulomb4_solve(&b->g, &b->g_inverse, b->mu, start, error);
    rs_lanes3 change = {solved.x - start.x, solved.y - start.y, solved.z - start.z}, back = {-change.x, -change.y, -change.z};
    b->former = before;
    b->impulse = solved;
    push_side(&own, b->root_mass[0], combine(b->axis, change), combine(b->arm[0], change));
    push_side(&other, b->root_mass[1], combine(b->axis, back), combine(b->arm[1], back));
    store_side(bodies, b->body[0], still, own);
    store_side(bodies, b->body[1], still, other);
    *ascent += dot(error, step);
    return b->inverse_mass2 * dot(change, change);
}

typedef struct {
    rs_sweep_blocks *at;
    double momentum;
    sweep_block *blocks;
    int64_t count;     /* of blocks of the colour */
    part_result *parts; /* of the colour */
} sweep_job;

/* Moves bodies on by a share of what the last sweep did: they are linear in the impulses, so that the rows can
 * follow one by one in the next sweep. */
static void add_momentum(void *context, int32_t worker, int64_t item) {
    const sweep_job *job = context;
    enum { NUMBERS = sizeof(sweep_body) / sizeof(double) };
    int64_t all = job->at->bodies.count * NUMBERS, first = item * PART_BODIES * NUMBERS, end = first + PART_BODIES * NUMBERS;
    double *now = job->at->bodies.any.data, *former = job->at->former.any.data, momentum = job->momentum;
    (void)worker;
    for (int64_t k = first; k < (end < all ? end : all); k++) {
        double v = now[k];
        now[k] = momentum > 0.0 ? v + momentum * (v - former[k]) : v;
        former[k] = v;
    }
}

static void sweep_part(void *context, int32_t worker, int64_t item) {
    const sweep_job *job = context;
    sweep_body *bodies = job->at->bodies.items;
    int64_t first = item * PART_BLOCKS, end = first + PART_BLOCKS < job->count ? first + PART_BLOCKS : job->count;
    int32_t still = (int32_t)job->at->roots.count;
    part_result sum = {rs_v4_all(0.0), rs_v4_all(0.0)};
    (void)worker;
    for (int64_t k = first; k < end; k++) {
        sweep_block *block = &job->blocks[k];
        block->change2 = relax_block(block, bodies, still, rs_v4_all(job->momentum), &sum.ascent);
        sum.largest2 = rs_v4_max(block->change2, sum.largest2);
    }
    job->parts[item] = sum;
}

/* Colour by colour: blocks of one share no bodies, those of the overflow do. Sums are taken in the order of the parts. */
static part_result sweep_set(rs_sweep_blocks *at, const rs_block_set *set, double momentum, bool backward) {
    part_result sum = {rs_v4_all(0.0), rs_v4_all(0.0)};
    for (int k = 0; k < RS_SWEEP_COLORS; k++) {
        int color = backward ? RS_SWEEP_COLORS - 1 - k : k;
        int64_t first = set->first[color], count = set->first[color + 1] - first;
        if (count == 0)
            continue;
        int64_t parts = (count + PART_BLOCKS - 1) / PART_BLOCKS;
        sweep_job job = {at, momentum, set->blocks.items + first, count, at->parts.items};
        rs_pool_share(color != OVERFLOW && count >= LEAST_BLOCKS ? at->pool : NULL, parts, sweep_part, &job);
        for (int64_t p = 0; p < parts; p++) {
            sum.largest2 = rs_v4_max(job.parts[p].largest2, sum.largest2);
            sum.ascent += job.parts[p].ascent;
        }
    }
    return sum;
}

rs_sweep_result rs_sweep_blocks_sweep(rs_sweep_blocks *at, double momentum, bool backward, double quiet) {
    bool all = quiet >= 0.0;
    if (all)
        drop_busy(at);
    sweep_job job = {.at = at, .momentum = momentum};
    rs_pool_share(at->bodies.count >= LEAST_BODIES ? at->pool : NULL, (at->bodies.count + PART_BODIES - 1) / PART_BODIES,
                  add_momentum, &job);
    part_result sum = sweep_set(at, all ? &at->all : &at->busy, momentum, backward);
    if (all)
        pick_busy(at, quiet);
    double largest2 = rs_max(rs_max(sum.largest2[0], sum.largest2[1]), rs_max(sum.largest2[2], sum.largest2[3]));
    return (rs_sweep_result){sqrt(largest2), rs_v4_sum(sum.ascent)};
}
