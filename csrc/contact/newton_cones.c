/* Contacts in the interior-point method, four at a time. Cones are those of vectors (x, y, z) with |(x, y)| <= z. */
#include "newton_interior.h"

#include <math.h>

static rs_cones *block(const rs_newton *n, int64_t b) { return RS_ITEM(n->cones, b); }

/* ---- lanes ---- */

RS_INLINE rs_lanes3 plus(rs_lanes3 a, rs_lanes3 b) { return (rs_lanes3){a.x + b.x, a.y + b.y, a.z + b.z}; }
RS_INLINE rs_lanes3 minus(rs_lanes3 a, rs_lanes3 b) { return (rs_lanes3){a.x - b.x, a.y - b.y, a.z - b.z}; }
RS_INLINE rs_lanes3 times(rs_v4 s, rs_lanes3 a) { return (rs_lanes3){s * a.x, s * a.y, s * a.z}; }
RS_INLINE rs_lanes3 each(rs_lanes3 a, rs_lanes3 b) { return (rs_lanes3){a.x * b.x, a.y * b.y, a.z * b.z}; }
RS_INLINE rs_v4 dot(rs_lanes3 a, rs_lanes3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
RS_INLINE rs_lanes3 choose(rs_index4 mask, rs_lanes3 yes, rs_lanes3 no) {
    return (rs_lanes3){rs_v4_choose(mask, yes.x, no.x), rs_v4_choose(mask, yes.y, no.y), rs_v4_choose(mask, yes.z, no.z)};
}
RS_INLINE rs_lanes3 image(const rs_v4 m[3][3], rs_lanes3 v) {
    return (rs_lanes3){m[0][0] * v.x + m[0][1] * v.y + m[0][2] * v.z, m[1][0] * v.x + m[1][1] * v.y + m[1][2] * v.z,
                       m[2][0] * v.x + m[2][1] * v.y + m[2][2] * v.z};
}
RS_INLINE double least_of(rs_v4 a) { return rs_min(rs_min(a[0], a[1]), rs_min(a[2], a[3])); }
RS_INLINE double largest_of(rs_v4 a) { return rs_max(rs_max(a[0], a[1]), rs_max(a[2], a[3])); }
RS_INLINE rs_lanes3 lanes_of(rs_vec3 a, rs_vec3 b, rs_vec3 c, rs_vec3 d) {
    return (rs_lanes3){{a.x, b.x, c.x, d.x}, {a.y, b.y, c.y, d.y}, {a.z, b.z, c.z, d.z}};
}
RS_INLINE rs_vec3 lane(rs_lanes3 a, int k) { return rs_v3(a.x[k], a.y[k], a.z[k]); }

/* ---- the algebra of the cones ---- */

RS_INLINE rs_v4 slip_of(rs_lanes3 v) { return rs_v4_sqrt(v.x * v.x + v.y * v.y); }
RS_INLINE rs_v4 determinant(rs_lanes3 v) {
    rs_v4 slip = slip_of(v);
    return (v.z - slip) * (v.z + slip);
}
RS_INLINE rs_lanes3 product(rs_lanes3 a, rs_lanes3 b) {
    return (rs_lanes3){a.z * b.x + b.z * a.x, a.z * b.y + b.z * a.y, dot(a, b)};
}
/* The vector whose product with a is b. */
RS_INLINE rs_lanes3 quotient(rs_lanes3 a, rs_lanes3 b) {
    rs_v4 inverse = rs_v4_all(1.0) / a.z, z = (a.z * b.z - a.x * b.x - a.y * b.y) / determinant(a);
    return (rs_lanes3){(b.x - z * a.x) * inverse, (b.y - z * a.y) * inverse, z};
}
RS_INLINE rs_lanes3 mirrored(rs_lanes3 w) { return (rs_lanes3){-w.x, -w.y, w.z}; }
/* H(w) * v: with w of determinant one, the root of 2 w w' - diag(-1, -1, 1). Its inverse is H of the mirrored w. */
RS_INLINE rs_lanes3 turned(rs_lanes3 w, rs_lanes3 v) {
    rs_v4 along = w.x * v.x + w.y * v.y, f = along / (rs_v4_all(1.0) + w.z) + v.z;
    return (rs_lanes3){v.x + f * w.x, v.y + f * w.y, w.z * v.z + along};
}

/* Square of how far x is from what the law asks for where z belongs to it. */
RS_INLINE rs_v4 missed2(rs_lanes3 x, rs_lanes3 z) {
    rs_v4 zero = rs_v4_all(0.0);
    rs_lanes3 v = minus(x, z);
    rs_v4 slip = slip_of(v), low = v.z - slip, high = v.z + slip, half = rs_v4_all(0.5) * high;
    rs_v4 ratio = rs_v4_choose(slip > zero, half / slip, zero);
    rs_lanes3 nearest = choose(low >= zero, v, (rs_lanes3){ratio * v.x, ratio * v.y, half});
    nearest = choose(high <= zero, (rs_lanes3){zero, zero, zero}, nearest);
    rs_lanes3 off = minus(x, nearest);
    return dot(off, off);
}

/* The two numbers that differ by `value` and whose product is `square`. */
RS_INLINE void split_number(rs_v4 value, rs_v4 square, rs_v4 *more, rs_v4 *less) {
    rs_v4 half = rs_v4_all(0.5), two = square + square, zero = rs_v4_all(0.0);
    rs_v4 root = rs_v4_sqrt(value * value + two + two);
    *more = rs_v4_choose(value > zero, half * (value + root), two / (root - value));
    *less = rs_v4_choose(value < zero, half * (root - value), two / (root + value));
}

/* The vectors that differ by d and whose product is `square` on the axis. */
static void split(rs_lanes3 d, rs_v4 square, rs_lanes3 *x, rs_lanes3 *z) {
    rs_v4 half = rs_v4_all(0.5), zero = rs_v4_all(0.0), slip = slip_of(d), low_x, low_z, high_x, high_z;
    split_number(d.z - slip, square, &low_x, &low_z);
    split_number(d.z + slip, square, &high_x, &high_z);
    rs_v4 inverse = rs_v4_choose(slip > zero, rs_v4_all(1.0) / slip, zero);
    rs_v4 across_x = half * (high_x - low_x) * inverse, across_z = half * (high_z - low_z) * inverse;
    *x = (rs_lanes3){across_x * d.x, across_x * d.y, half * (low_x + high_x)};
    *z = (rs_lanes3){across_z * d.x, across_z * d.y, half * (low_z + high_z)};
}

/* How far x may go in a direction until it leaves the cone; infinite where that is farther than steps go. */
RS_INLINE double way_out(rs_lanes3 x, rs_v4 margin, rs_lanes3 d) {
    rs_v4 zero = rs_v4_all(0.0), infinite = rs_v4_all(INFINITY);
    rs_index4 near = margin <= rs_v4_all(RS_INTERIOR_FARTHEST) * (rs_v4_abs(d.x) + rs_v4_abs(d.y) - d.z);
    if (!rs_any4(near))
        return INFINITY;
    rs_v4 a = d.z * d.z - d.x * d.x - d.y * d.y, b = x.z * d.z - x.x * d.x - x.y * d.y, c = determinant(x);
    rs_v4 square = b * b - a * c, root = rs_v4_sqrt(rs_v4_max(square, zero));
    rs_v4 q = -(b + rs_v4_choose(b < zero, -root, root)), first = q / a, second = c / q;
    rs_v4 best = rs_v4_choose(d.z < zero, -x.z / d.z, infinite);
    rs_index4 crosses = square >= zero;
    best = rs_v4_min(rs_v4_choose(crosses & (a != zero) & (first > zero), first, infinite), best);
    best = rs_v4_min(rs_v4_choose(crosses & (q != zero) & (second > zero), second, infinite), best);
    return least_of(rs_v4_choose(near, best, infinite));
}

/* ---- rows ---- */

RS_INLINE rs_lanes3 lifted(const rs_cones *c, rs_lanes3 error) {
    rs_lanes3 z = each(c->scale, error);
    z.z += slip_of(z);
    return z;
}

static void look(rs_cones *c, const rs_rows *rows) {
    const rs_law *l[4];
    for (int k = 0; k < 4; k++)
        l[k] = rs_rows_law(rows, c->rows[k]);
    c->error = lanes_of(l[0]->error.xyz, l[1]->error.xyz, l[2]->error.xyz, l[3]->error.xyz);
}

void rs_cones_look(rs_newton *n, const rs_rows *rows) {
    for (int64_t b = 0; b < n->cones.count; b++)
        look(block(n, b), rows);
}

/* Without friction only the axis is left. Returns the violation without impulses, squared. */
static rs_v4 take_four(rs_cones *c, const rs_rows *rows) {
    const rs_law *l[4];
    for (int k = 0; k < 4; k++)
        l[k] = rs_rows_law(rows, c->rows[k]);
    rs_v4 one = rs_v4_all(1.0), zero = rs_v4_all(0.0), mu = {l[0]->mu, l[1]->mu, l[2]->mu, l[3]->mu};
    rs_index4 rough = mu > zero;
    c->root_mass = rs_v4_sqrt((rs_v4){l[0]->inverse_mass, l[1]->inverse_mass, l[2]->inverse_mass, l[3]->inverse_mass});
    c->softness = (rs_v4){l[0]->softness, l[1]->softness, l[2]->softness, l[3]->softness};
    rs_v4 root = one / c->root_mass, across = rs_v4_choose(rough, root, zero);
    c->scale = (rs_lanes3){across, across, rs_v4_choose(rough, root / mu, root)};
    rs_v4 yields = c->softness + rs_v4_all(RS_INTERIOR_COMPLIANCE) * c->root_mass * c->root_mass;
    c->yields = times(yields, each(c->scale, c->scale));
    rs_lanes3 impulse = lanes_of(l[0]->impulse.xyz, l[1]->impulse.xyz, l[2]->impulse.xyz, l[3]->impulse.xyz);
    rs_lanes3 free = lanes_of(l[0]->free_error.xyz, l[1]->free_error.xyz, l[2]->free_error.xyz, l[3]->free_error.xyz);
    look(c, rows);
    rs_v4 turn = rs_v4_choose(rough, c->root_mass, zero);
    c->x = (rs_lanes3){turn * impulse.x, turn * impulse.y, rs_v4_choose(rough, mu * c->root_mass, c->root_mass) * impulse.z};
    c->z = lifted(c, c->error);
    return missed2((rs_lanes3){zero, zero, zero}, lifted(c, free));
}

bool rs_cones_take_rows(rs_newton *n, const rs_rows *rows, const double shares[2], double *largest) {
    int64_t count = 0;
    for (int64_t k = 0; k < rows->count; k++)
        count += rs_rows_law(rows, k)->kind == RS_ROW_CONTACT;
    n->contacts = count;
    if (rs_array_resize(&n->cones, (count + 3) / 4) != RS_OK)
        return false;
    int64_t at = 0;
    for (int64_t k = 0; k < rows->count; k++)
        if (rs_rows_law(rows, k)->kind == RS_ROW_CONTACT) {
            rs_cones *c = block(n, at / 4);
            for (int64_t j = at % 4; j < 4; j++)
                c->rows[j] = at % 4 == 0 || j == at % 4 ? k : c->rows[0];
            c->count = (int32_t)(at++ % 4 + 1);
        }
    for (int64_t b = 0; b < n->cones.count; b++) {
        rs_cones *c = block(n, b);
        rs_v4 by_none = take_four(c, rows), by_present = missed2(c->x, c->z);
        *largest = rs_max(*largest, rs_max(shares[0] * shares[0] * largest_of(by_present), shares[1] * shares[1] * largest_of(by_none)));
    }
    return true;
}

void rs_cones_start(rs_newton *n, double square) {
    rs_v4 zero = rs_v4_all(0.0);
    for (int64_t b = 0; b < n->cones.count; b++) {
        rs_cones *c = block(n, b);
        split(minus(c->x, c->z), rs_v4_all(square), &c->x, &c->z);
        c->kept = c->x;
        c->dx = c->dz = (rs_lanes3){zero, zero, zero};
    }
}

void rs_cones_put(const rs_newton *n, const rs_rows *rows) {
    for (int64_t b = 0; b < n->cones.count; b++) {
        const rs_cones *c = block(n, b);
        rs_lanes3 impulse = each(c->scale, c->kept);
        for (int k = 0; k < c->count; k++) {
            rs_law *law = rs_rows_law(rows, c->rows[k]);
            law->step.xyz = rs_sub(lane(impulse, k), law->impulse.xyz);
        }
    }
}

/* ---- directions ---- */

/* out = inverse of 1 + stiffness * diag(d) */
RS_INLINE void find_yielding(const rs_v4 k[3][3], rs_lanes3 d, rs_v4 out[3][3]) {
    rs_v4 one = rs_v4_all(1.0);
    rs_v4 m[3][3] = {{one + k[0][0] * d.x, k[0][1] * d.y, k[0][2] * d.z},
                     {k[1][0] * d.x, one + k[1][1] * d.y, k[1][2] * d.z},
                     {k[2][0] * d.x, k[2][1] * d.y, one + k[2][2] * d.z}};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            int r = (j + 1) % 3, s = (j + 2) % 3, t = (i + 1) % 3, u = (i + 2) % 3;
            out[i][j] = m[r][t] * m[s][u] - m[r][u] * m[s][t];
        }
    rs_v4 inverse = one / (m[0][0] * out[0][0] + m[0][1] * out[1][0] + m[0][2] * out[2][0]);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            out[i][j] *= inverse;
}

/* The stiffness with the softness in series. */
static void soften(rs_cones *c) {
    rs_v4 sum[3][3];
    find_yielding((const rs_v4(*)[3])c->stiffness, c->yields, c->yielding);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            sum[i][j] = c->yielding[i][0] * c->stiffness[0][j] + c->yielding[i][1] * c->stiffness[1][j] + c->yielding[i][2] * c->stiffness[2][j];
    memcpy(c->stiffness, sum, sizeof sum);
}

/* What velocities must change by, beside what they change by anyway: w, its length and the weight of the row in the matrix. */
static void prepare(const rs_newton *n, rs_cones *c) {
    rs_v4 one = rs_v4_all(1.0), two = rs_v4_all(2.0), zero = rs_v4_all(0.0);
    rs_v4 friction = slip_of(c->x), slip = slip_of(c->z);
    c->margin_x = c->x.z - friction;
    c->gap = c->z.z - slip;
    rs_v4 size_x = rs_v4_sqrt(c->margin_x * (c->x.z + friction)), size_z = rs_v4_sqrt(c->gap * (c->z.z + slip));
    rs_lanes3 x = times(one / size_x, c->x), z = times(one / size_z, c->z);
    c->w = times(one / rs_v4_sqrt(two * (one + dot(x, z))), plus(x, mirrored(z)));
    rs_v4 square = size_x / size_z;
    c->stretch = rs_v4_sqrt(square);
    c->middle = times(c->stretch, turned(c->w, c->z));
    c->rest = minus(each(c->scale, c->error), c->z);
    c->rest.z += slip;
    rs_v4 turn = rs_v4_choose(slip > zero, rs_v4_all(n->turning_lifts) / slip, zero);
    c->lift_x = turn * c->z.x;
    c->lift_y = turn * c->z.y;
    const rs_v4 w[3] = {c->w.x, c->w.y, c->w.z};
    for (int i = 0; i < 3; i++) {
        rs_v4 doubled = two * square * w[i], axis = doubled * w[2] - (i == 2 ? square : zero);
        for (int j = 0; j < 3; j++)
            c->stiffness[i][j] = doubled * w[j] + (i != j ? zero : i == 2 ? -square : square);
        c->stiffness[i][0] += axis * c->lift_x;
        c->stiffness[i][1] += axis * c->lift_y;
    }
    soften(c);
}

static void weigh(rs_newton *n, rs_cones *c) {
    const rs_v4 s[3] = {c->scale.x, c->scale.y, c->scale.z};
    rs_v4 weight[3][3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            weight[i][j] = s[i] * c->stiffness[i][j] * s[j];
    rs_v4 most = (weight[0][0] + weight[1][1] + weight[2][2]) * c->root_mass * c->root_mass;
    c->counts = most >= rs_v4_all(RS_INTERIOR_NEGLIGIBLE);
    for (int k = 0; k < c->count; k++) {
        rs_newton_row *row = RS_ITEM(n->rows, c->rows[k]);
        row->follow[0] = row->follow[1] = row->follow[2] = 0.0;
        row->state = c->counts[k] ? RS_ROW_HELD : RS_ROW_OPEN;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                row->weight[i][j] = weight[i][j][k];
    }
}

void rs_cones_prepare(rs_newton *n) {
    for (int64_t b = 0; b < n->cones.count; b++) {
        prepare(n, block(n, b));
        weigh(n, block(n, b));
    }
}

void rs_cones_set_goals(rs_newton *n, double aim, bool corrected) {
    for (int64_t b = 0; b < n->cones.count; b++) {
        rs_cones *c = block(n, b);
        rs_lanes3 wanted = times(rs_v4_all(-1.0), product(c->middle, c->middle));
        if (corrected)
            wanted = minus(wanted, product(times(rs_v4_all(1.0) / c->stretch, turned(mirrored(c->w), c->dx)),
                                           times(c->stretch, turned(c->w, c->dz))));
        wanted.z += rs_v4_all(aim);
        c->goal = times(c->stretch, turned(c->w, quotient(c->middle, wanted)));
        c->goal = image((const rs_v4(*)[3])c->yielding, c->goal);
        rs_lanes3 pull = each(c->scale, minus(c->goal, image((const rs_v4(*)[3])c->stiffness, c->rest)));
        for (int k = 0; k < c->count; k++)
            RS_ITEM(n->rows, c->rows[k])->impulse = lane(pull, k);
    }
}

void rs_cones_take_direction(rs_newton *n) {
    const rs_newton_row *rows = n->rows.items;
    for (int64_t b = 0; b < n->cones.count; b++) {
        rs_cones *c = block(n, b);
        rs_lanes3 turn = lanes_of(rows[c->rows[0]].turn, rows[c->rows[1]].turn, rows[c->rows[2]].turn, rows[c->rows[3]].turn);
        rs_lanes3 none = {rs_v4_all(0.0), rs_v4_all(0.0), rs_v4_all(0.0)}, moves = each(c->scale, turn);
        c->dx = minus(c->goal, image((const rs_v4(*)[3])c->stiffness, plus(choose(c->counts, moves, none), c->rest)));
        rs_lanes3 q = plus(plus(moves, c->rest), each(c->yields, c->dx));
        c->gap_change = q.z;
        c->dz = (rs_lanes3){q.x, q.y, q.z + c->lift_x * q.x + c->lift_y * q.y};
    }
}

/* ---- steps ---- */

/* The same for z: with the lift of its slip it stays in its cone as long as its gap is open. */
static double way_of_z(const rs_newton *n, const rs_cones *c) {
    if (!n->bent_lifts)
        return way_out(c->z, c->gap, c->dz);
    rs_v4 zero = rs_v4_all(0.0);
    return least_of(rs_v4_choose(c->gap_change < zero, -c->gap / c->gap_change, rs_v4_all(INFINITY)));
}

double rs_cones_way(const rs_newton *n) {
    double way = INFINITY;
    for (int64_t b = 0; b < n->cones.count; b++) {
        const rs_cones *c = block(n, b);
        way = rs_min(way, rs_min(way_out(c->x, c->margin_x, c->dx), way_of_z(n, c)));
    }
    return way;
}

RS_INLINE rs_lanes3 ahead(rs_lanes3 a, double share, rs_lanes3 d) { return plus(a, times(rs_v4_all(share), d)); }

RS_INLINE rs_lanes3 z_ahead(const rs_newton *n, const rs_cones *c, double share) {
    rs_lanes3 z = ahead(c->z, share, c->dz);
    if (n->bent_lifts)
        z.z = slip_of(z) + c->gap + rs_v4_all(share) * c->gap_change;
    return z;
}

double rs_cones_product(const rs_newton *n, double share) {
    double sum = 0.0;
    for (int64_t b = 0; b < n->cones.count; b++) {
        const rs_cones *c = block(n, b);
        rs_v4 both = dot(ahead(c->x, share, c->dx), z_ahead(n, c, share));
        for (int k = 0; k < c->count; k++)
            sum += both[k];
    }
    return sum;
}

/* Of what both make together, the smaller eigenvalue counts. */
bool rs_cones_hold_together(const rs_newton *n, double share, double least) {
    for (int64_t b = 0; b < n->cones.count; b++) {
        const rs_cones *c = block(n, b);
        rs_lanes3 x = ahead(c->x, share, c->dx), z = z_ahead(n, c, share);
        rs_v4 half = dot(x, z), both = determinant(x) * determinant(z);
        rs_v4 smaller = both / (half + rs_v4_sqrt(rs_v4_max(half * half - both, rs_v4_all(0.0))));
        if (rs_any4(~(smaller >= rs_v4_all(least))))
            return false;
    }
    return true;
}

double rs_cones_go(rs_newton *n, double share) {
    const rs_newton_row *rows = n->rows.items;
    rs_v4 left = rs_v4_all(0.0);
    for (int64_t b = 0; b < n->cones.count; b++) {
        rs_cones *c = block(n, b);
        rs_lanes3 turn = lanes_of(rows[c->rows[0]].turn, rows[c->rows[1]].turn, rows[c->rows[2]].turn, rows[c->rows[3]].turn);
        turn = plus(turn, times(c->softness, each(c->scale, c->dx)));
        c->error = ahead(c->error, share, turn);
        c->x = ahead(c->x, share, c->dx);
        c->z = z_ahead(n, c, share);
        left = rs_v4_max(rs_v4_sqrt(missed2(c->x, lifted(c, c->error))) * c->root_mass, left);
    }
    return largest_of(left);
}

void rs_cones_keep(rs_newton *n) {
    for (int64_t b = 0; b < n->cones.count; b++)
        block(n, b)->kept = block(n, b)->x;
}
