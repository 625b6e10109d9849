#include "direct_solver.h"

/* Compliance of a constraint relative to its inverse mass: four-point contacts are redundant, so that the problem has
 * no unique solution without it. */
static const double COMPLIANCE = 1e-6;
/* Refinements remove what the compliance leaves over, and let the friction of sliding contacts follow their load. */
enum { REFINEMENTS = 2, SLIDING_REFINEMENTS = 8 };
/* Friction impulses closer to the cone than this, relatively, slide. */
static const double CONE_MARGIN = 1e-9;
/* Multiplications of a factorisation, per row, beyond which sweeps are faster. */
static const double MAX_WORK = 400.0;

enum { DOF = 6 };

/* One closed contact: up to three constraints. */
typedef struct {
    int32_t row;
    int32_t place_a, place_b; /* places in the order of elimination, RS_NONE for a body whose velocity is given */
    int32_t constraints;      /* 1: normal; 3: normal and both tangents */
    double stiffness[3];      /* per constraint */
    double jacobian_a[3][DOF], jacobian_b[3][DOF];
    double miss[3];           /* target minus velocity */
    double change[3];         /* of the impulse: n, t1, t2 */
    double slide[2];          /* of a sliding contact: friction along t1 and t2 per normal impulse */
    double follow;            /* last change of its normal impulse, which friction has yet to follow */
} rs_direct_row;

rs_direct_solver rs_direct_solver_make(void) {
    return (rs_direct_solver){.place = rs_array_of(sizeof(int32_t)),
                              .links = rs_array_of(sizeof(int32_t)),
                              .link_start = rs_array_of(sizeof(int32_t)),
                              .order = rs_array_of(sizeof(int32_t)),
                              .rows = rs_array_of(sizeof(rs_direct_row)),
                              .first = rs_array_of(sizeof(int32_t)),
                              .start = rs_array_of(sizeof(int64_t)),
                              .matrix = rs_array_of(sizeof(double)),
                              .rhs = rs_array_of(sizeof(double))};
}

void rs_direct_solver_free(rs_direct_solver *s) {
    rs_array *arrays[] = {&s->place, &s->links, &s->link_start, &s->order, &s->rows,
                          &s->first, &s->start, &s->matrix,     &s->rhs};
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
        rs_array_free(arrays[k]);
}

/* ---- order of elimination ---- */

static bool is_closed(const rs_row *row) { return row->impulse.xyz.z > 0.0; }

/* Two dynamic bodies, and not the pair of the row before: the points of a manifold follow each other. */
static bool is_new_link(const rs_row *rows, int64_t k, const rs_solver_body *bodies) {
    const rs_row *row = &rows[k];
    if (!is_closed(row) || bodies[row->body_a].inverse_mass == 0.0 || bodies[row->body_b].inverse_mass == 0.0)
        return false;
    return k == 0 || !is_closed(&rows[k - 1]) || rows[k - 1].body_a != row->body_a ||
           rows[k - 1].body_b != row->body_b;
}

/* Lists for every body those it touches. */
static bool list_links(rs_direct_solver *s, const rs_row *rows, int64_t count, const rs_island_bodies *members,
                       const rs_solver_body *bodies) {
    if (rs_array_resize(&s->link_start, members->count + 2) != RS_OK)
        return false;
    int32_t *place = RS_ITEMS(int32_t, s->place), *start = RS_ITEMS(int32_t, s->link_start);
    for (int32_t k = 0; k < members->count; k++)
        place[members->index[k]] = k;
    memset(start, 0, (size_t)(members->count + 2) * sizeof *start);
    for (int64_t k = 0; k < count; k++)
        if (is_new_link(rows, k, bodies)) {
            start[place[rows[k].body_a] + 2]++;
            start[place[rows[k].body_b] + 2]++;
        }
    for (int64_t k = 0; k < members->count; k++)
        start[k + 2] += start[k + 1];
    if (rs_array_resize(&s->links, start[members->count + 1]) != RS_OK)
        return false;
    int32_t *links = RS_ITEMS(int32_t, s->links);
    for (int64_t k = 0; k < count; k++)
        if (is_new_link(rows, k, bodies)) {
            int32_t a = place[rows[k].body_a], b = place[rows[k].body_b];
            links[start[a + 1]++] = b;
            links[start[b + 1]++] = a;
        }
    return true;
}

/* Appends the neighbours of a body that are not numbered yet, those with few neighbours first. */
static int64_t append_neighbours(rs_direct_solver *s, int32_t body, int32_t *number, int64_t end) {
    const int32_t *links = RS_ITEMS(int32_t, s->links), *start = RS_ITEMS(int32_t, s->link_start);
    int32_t *order = RS_ITEMS(int32_t, s->order);
    int64_t begin = end;
    for (int32_t k = start[body]; k < start[body + 1]; k++) {
        int32_t other = links[k];
        if (number[other] != RS_NONE)
            continue;
        number[other] = 0;
        int64_t hole = end++;
        int32_t degree = start[other + 1] - start[other];
        for (; hole > begin && start[order[hole - 1] + 1] - start[order[hole - 1]] > degree; hole--)
            order[hole] = order[hole - 1];
        order[hole] = other;
    }
    return end;
}

/* Cuthill-McKee: neighbours get close numbers, so that the matrix has a narrow profile. Afterwards `place` holds the
 * place of each body in that order. */
static bool order_bodies(rs_direct_solver *s, const rs_island_bodies *members) {
    if (rs_array_resize(&s->order, members->count) != RS_OK || rs_array_resize(&s->first, members->count) != RS_OK)
        return false;
    int32_t *order = RS_ITEMS(int32_t, s->order), *number = RS_ITEMS(int32_t, s->first);
    const int32_t *start = RS_ITEMS(int32_t, s->link_start);
    for (int64_t k = 0; k < members->count; k++)
        number[k] = RS_NONE;
    int64_t end = 0;
    for (int64_t done = 0; done < members->count; done++) {
        if (done == end) { /* a part of its own begins at the body with the fewest neighbours */
            int32_t best = RS_NONE;
            for (int32_t k = 0; k < members->count; k++)
                if (number[k] == RS_NONE &&
                    (best == RS_NONE || start[k + 1] - start[k] < start[best + 1] - start[best]))
                    best = k;
            number[best] = 0;
            order[end++] = best;
        }
        end = append_neighbours(s, order[done], number, end);
    }
    for (int32_t k = 0; k < members->count; k++)
        RS_ITEMS(int32_t, s->place)[members->index[order[k]]] = (int32_t)(members->count - 1) - k; /* reversed */
    return true;
}

/* ---- matrix ---- */

/* Finds the profile and makes room; false when the factorisation would cost too much. */
static bool make_profile(rs_direct_solver *s, int64_t body_count, int64_t row_count) {
    if (rs_array_resize(&s->first, body_count * DOF) != RS_OK || rs_array_resize(&s->start, body_count * DOF) != RS_OK ||
        rs_array_resize(&s->rhs, body_count * DOF) != RS_OK)
        return false;
    int32_t *first = RS_ITEMS(int32_t, s->first);
    for (int32_t i = 0; i < body_count * DOF; i++)
        first[i] = i / DOF * DOF;
    const rs_direct_row *rows = RS_ITEMS(rs_direct_row, s->rows);
    for (int64_t k = 0; k < s->rows.count; k++) {
        int32_t a = rows[k].place_a, b = rows[k].place_b;
        if (a == RS_NONE || b == RS_NONE)
            continue;
        int32_t low = a < b ? a : b, high = a < b ? b : a;
        for (int32_t i = high * DOF; i < high * DOF + DOF; i++)
            if (low * DOF < first[i])
                first[i] = low * DOF;
    }
    int64_t total = 0;
    double work = 0.0;
    for (int32_t i = 0; i < body_count * DOF; i++) {
        RS_ITEMS(int64_t, s->start)[i] = total - first[i];
        int32_t width = i - first[i] + 1;
        total += width;
        work += 0.5 * width * width;
    }
    if (work > MAX_WORK * (double)row_count || rs_array_resize(&s->matrix, total) != RS_OK)
        return false;
    memset(s->matrix.data, 0, (size_t)total * sizeof(double));
    return true;
}

static double *entry(rs_direct_solver *s, int32_t i, int32_t j) {
    return RS_ITEMS(double, s->matrix) + RS_ITEMS(int64_t, s->start)[i] + j;
}

static void add_mass(rs_direct_solver *s, const rs_island_bodies *members, const rs_solver_body *bodies) {
    for (int64_t k = 0; k < members->count; k++) {
        const rs_solver_body *body = &bodies[members->index[k]];
        int32_t i = RS_ITEMS(int32_t, s->place)[members->index[k]] * DOF;
        if (body->inverse_mass == 0.0) { /* its velocity is given: any mass will do */
            for (int32_t d = 0; d < DOF; d++)
                *entry(s, i + d, i + d) = 1.0;
            continue;
        }
        const rs_columns *c = &body->inverse_inertia;
        rs_sym3 inverse = {c->x.xyz.x, c->y.xyz.y, c->z.xyz.z, c->y.xyz.x, c->z.xyz.x, c->z.xyz.y};
        rs_sym3 inertia = rs_sym3_inverse(&inverse);
        for (int32_t axis = 0; axis < 3; axis++)
            *entry(s, i + axis, i + axis) = 1.0 / body->inverse_mass;
        *entry(s, i + 3, i + 3) = inertia.xx;
        *entry(s, i + 4, i + 4) = inertia.yy;
        *entry(s, i + 5, i + 5) = inertia.zz;
        *entry(s, i + 4, i + 3) = inertia.xy;
        *entry(s, i + 5, i + 3) = inertia.xz;
        *entry(s, i + 5, i + 4) = inertia.yz;
    }
}

/* Adds stiffness * u * transpose(v) to the block (i, j), on and below the diagonal. */
static void add_block(rs_direct_solver *s, int32_t i, int32_t j, double stiffness, const double *u, const double *v) {
    for (int32_t r = 0; r < DOF; r++) {
        double *to = entry(s, i * DOF + r, j * DOF);
        double factor = stiffness * u[r];
        int32_t end = i == j ? r + 1 : DOF;
        for (int32_t c = 0; c < end; c++)
            to[c] += factor * v[c];
    }
}

static void add_constraints(rs_direct_solver *s) {
    const rs_direct_row *rows = RS_ITEMS(rs_direct_row, s->rows);
    for (int64_t k = 0; k < s->rows.count; k++) {
        const rs_direct_row *row = &rows[k];
        int32_t a = row->place_a, b = row->place_b;
        for (int c = 0; c < row->constraints; c++) {
            const double *ja = row->jacobian_a[c], *jb = row->jacobian_b[c];
            if (a != RS_NONE)
                add_block(s, a, a, row->stiffness[c], ja, ja);
            if (b != RS_NONE)
                add_block(s, b, b, row->stiffness[c], jb, jb);
            if (a != RS_NONE && b != RS_NONE)
                add_block(s, a > b ? a : b, a > b ? b : a, row->stiffness[c], a > b ? ja : jb, a > b ? jb : ja);
        }
    }
}

static double dot(const double *a, const double *b, int64_t n) {
    rs_v4 sum0 = rs_v4_all(0.0), sum1 = rs_v4_all(0.0);
    int64_t k = 0;
    for (; k + 8 <= n; k += 8) {
        rs_v4 a0, b0, a1, b1;
        memcpy(&a0, a + k, sizeof a0);
        memcpy(&b0, b + k, sizeof b0);
        memcpy(&a1, a + k + 4, sizeof a1);
        memcpy(&b1, b + k + 4, sizeof b1);
        sum0 += a0 * b0;
        sum1 += a1 * b1;
    }
    double sum = rs_v4_sum(sum0 + sum1);
    for (; k < n; k++)
        sum += a[k] * b[k];
    return sum;
}

/* Cholesky within the profile; the diagonal of the factor is stored inverted. */
static void factorise(rs_direct_solver *s) {
    const int32_t *first = RS_ITEMS(int32_t, s->first);
    int32_t n = (int32_t)s->rhs.count;
    for (int32_t i = 0; i < n; i++) {
        double *row = entry(s, i, 0);
        for (int32_t j = first[i]; j < i; j++) {
            int32_t from = first[i] > first[j] ? first[i] : first[j];
            const double *other = entry(s, j, 0);
            row[j] = (row[j] - dot(row + from, other + from, j - from)) * other[j];
        }
        row[i] = 1.0 / sqrt(row[i] - dot(row + first[i], row + first[i], i - first[i]));
    }
}

static void substitute(rs_direct_solver *s) {
    const int32_t *first = RS_ITEMS(int32_t, s->first);
    double *x = RS_ITEMS(double, s->rhs);
    int32_t n = (int32_t)s->rhs.count;
    for (int32_t i = 0; i < n; i++) {
        const double *row = entry(s, i, 0);
        x[i] = (x[i] - dot(row + first[i], x + first[i], i - first[i])) * row[i];
    }
    for (int32_t i = n - 1; i >= 0; i--) {
        const double *row = entry(s, i, 0);
        x[i] *= row[i];
        for (int32_t j = first[i]; j < i; j++)
            x[j] -= row[j] * x[i];
    }
}

/* ---- contacts ---- */

static void fill_jacobian(double out[DOF], rs_vec3 axis, rs_vec3 r, double sign) {
    rs_v3_store(out, rs_scale(sign, axis));
    rs_v3_store(out + 3, rs_scale(sign, rs_cross(r, axis)));
}

static bool slides(const rs_row *row) {
    rs_vec3 p = row->impulse.xyz;
    double limit = row->mu * p.z * (1.0 - CONE_MARGIN);
    return p.x * p.x + p.y * p.y >= limit * limit;
}

static rs_vec3 velocity_at(const rs_solver_body *body, rs_vec3 r) {
    return rs_add(body->v.xyz, rs_cross(body->w.xyz, r));
}

static void fill_row(rs_direct_row *out, const rs_row *row, int32_t index, const int32_t *place,
                     const rs_solver_body *bodies) {
    const rs_solver_body *a = &bodies[row->body_a], *b = &bodies[row->body_b];
    out->row = index;
    out->place_a = a->inverse_mass > 0.0 ? place[row->body_a] : RS_NONE;
    out->place_b = b->inverse_mass > 0.0 ? place[row->body_b] : RS_NONE;
    out->constraints = slides(row) ? 1 : 3;
    rs_vec3 axes[3] = {row->n.xyz, row->t1.xyz, row->t2.xyz};
    double inverse_mass[3] = {row->g.z.xyz.z, row->g.x.xyz.x, row->g.y.xyz.y};
    rs_vec3 velocity = rs_sub(velocity_at(a, row->ra.xyz), velocity_at(b, row->rb.xyz));
    for (int c = 0; c < 3; c++) {
        fill_jacobian(out->jacobian_a[c], axes[c], row->ra.xyz, 1.0);
        fill_jacobian(out->jacobian_b[c], axes[c], row->rb.xyz, -1.0);
        out->stiffness[c] = 1.0 / (COMPLIANCE * inverse_mass[c]);
        out->miss[c] = (c == 0 ? row->target : 0.0) - rs_dot(velocity, axes[c]);
        out->change[c] = 0.0;
    }
    out->slide[0] = row->impulse.xyz.x / row->impulse.xyz.z;
    out->slide[1] = row->impulse.xyz.y / row->impulse.xyz.z;
    out->follow = 0.0;
}

static void add_impulse(double *rhs, const rs_direct_row *row, int constraint, double impulse) {
    for (int d = 0; d < DOF; d++) {
        if (row->place_a != RS_NONE)
            rhs[row->place_a * DOF + d] += impulse * row->jacobian_a[constraint][d];
        if (row->place_b != RS_NONE)
            rhs[row->place_b * DOF + d] += impulse * row->jacobian_b[constraint][d];
    }
}

static double velocity_along(const double *x, const rs_direct_row *row, int constraint) {
    double sum = 0.0;
    for (int d = 0; d < DOF; d++) {
        if (row->place_a != RS_NONE)
            sum += x[row->place_a * DOF + d] * row->jacobian_a[constraint][d];
        if (row->place_b != RS_NONE)
            sum += x[row->place_b * DOF + d] * row->jacobian_b[constraint][d];
    }
    return sum;
}

/* Right-hand side: what the constraints pull with, and the friction that follows its load. */
static void gather_pulls(rs_direct_solver *s) {
    memset(s->rhs.data, 0, (size_t)s->rhs.count * sizeof(double));
    double *rhs = RS_ITEMS(double, s->rhs);
    rs_direct_row *rows = RS_ITEMS(rs_direct_row, s->rows);
    for (int64_t k = 0; k < s->rows.count; k++) {
        rs_direct_row *row = &rows[k];
        for (int c = 0; c < row->constraints; c++)
            add_impulse(rhs, row, c, row->stiffness[c] * row->miss[c]);
        for (int c = 1; c < 3 && row->constraints == 1; c++) {
            double friction = row->slide[c - 1] * row->follow;
            add_impulse(rhs, row, c, friction);
            row->change[c] += friction;
        }
    }
}

/* Takes the velocity change in `rhs` off the misses; what is left is what the compliance gave way. */
static void take_solution(rs_direct_solver *s) {
    const double *x = RS_ITEMS(double, s->rhs);
    rs_direct_row *rows = RS_ITEMS(rs_direct_row, s->rows);
    for (int64_t k = 0; k < s->rows.count; k++) {
        for (int c = 0; c < rows[k].constraints; c++) {
            rows[k].miss[c] -= velocity_along(x, &rows[k], c);
            rows[k].change[c] += rows[k].stiffness[c] * rows[k].miss[c];
        }
        rows[k].follow = rows[k].stiffness[0] * rows[k].miss[0];
    }
}

static bool any_sliding(const rs_direct_solver *s) {
    for (int64_t k = 0; k < s->rows.count; k++)
        if (RS_ITEMS(rs_direct_row, s->rows)[k].constraints == 1)
            return true;
    return false;
}

bool rs_direct_solve(rs_direct_solver *s, rs_row *rows, int64_t count, const rs_island_bodies *members,
                     const rs_solver_body *bodies, int64_t body_count) {
    s->rows.count = 0;
    if (rs_array_resize(&s->place, body_count) != RS_OK || !list_links(s, rows, count, members, bodies) ||
        !order_bodies(s, members) || rs_array_reserve(&s->rows, count) != RS_OK)
        return false;
    for (int32_t k = 0; k < count; k++)
        if (is_closed(&rows[k]))
            fill_row(&RS_ITEMS(rs_direct_row, s->rows)[s->rows.count++], &rows[k], k, RS_ITEMS(int32_t, s->place),
                     bodies);
    if (!make_profile(s, members->count, count))
        return false;
    add_mass(s, members, bodies);
    add_constraints(s);
    factorise(s);
    int refinements = any_sliding(s) ? SLIDING_REFINEMENTS : REFINEMENTS;
    for (int k = 0; k <= refinements; k++) {
        gather_pulls(s);
        substitute(s);
        take_solution(s);
    }
    for (int64_t k = 0; k < count; k++)
        rows[k].former = (rs_quad){0};
    const rs_direct_row *solved = RS_ITEMS(rs_direct_row, s->rows);
    for (int64_t k = 0; k < s->rows.count; k++)
        rows[solved[k].row].former.xyz = rs_v3(solved[k].change[1], solved[k].change[2], solved[k].change[0]);
    return true;
}
