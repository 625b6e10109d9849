#include "newton.h"

#include "coulomb.h"

#include <math.h>
#include <string.h>
#include <stdio.h>
#include <stdlib.h>

/* Friction follows the load of sliding contacts: the part of the matrix that is not symmetric is left to this many
 * iterations of GMRES, until its error has shrunk by a factor. */
enum { MAX_BASIS = 60 };
static const double GMRES_TOLERANCE = 1e-9;

/* Factorisations of a descent, and evaluations of its slope along a direction. */
enum { MAX_DESCENTS = 30, MAX_TRIALS = 12 };
/* The slope along a direction has shrunk enough. */
static const double FLAT = 0.1;
/* A descent ends where the error of its impulses, as a velocity, is the root of this share of the violation that it began
 * with. */
static const double DECREMENT = 1e-4;

enum { NONE = -1 };

typedef struct {
    int32_t first_axis;  /* 0: three axes; 2: one */
    rs_side_jacobian sides[2];
    rs_row_state state;
    double weight[3][3]; /* impulse per velocity, symmetric */
    double follow[2];    /* sliding: friction per normal impulse */
    rs_vec3 centre;      /* descent: impulse around which the law is smoothed */
    rs_vec3 speed, turn; /* descent: error without softness at the present velocities, its change along the direction */
    double lift;         /* descent: De Saxce's correction of the normal speed */
} newton_row;

rs_newton rs_newton_make(void) {
    return (rs_newton){.rows = rs_array_of(sizeof(newton_row)),
                       .numbers = rs_array_of(sizeof(double)),
                       .indices = rs_array_of(sizeof(int32_t)),
                       .links = rs_array_of(sizeof(int32_t)),
                       .link_start = rs_array_of(sizeof(int32_t)),
                       .order = rs_array_of(sizeof(int32_t)),
                       .offset = rs_array_of(sizeof(int32_t)),
                       .first = rs_array_of(sizeof(int32_t)),
                       .start = rs_array_of(sizeof(int64_t)),
                       .matrix = rs_array_of(sizeof(double)),
                       .block = rs_array_of(sizeof(double)),
                       .vectors = rs_array_of(sizeof(double))};
}

void rs_newton_free(rs_newton *n) {
    rs_array *arrays[] = {&n->rows,   &n->numbers, &n->indices, &n->links,  &n->link_start, &n->order,
                          &n->offset, &n->first,   &n->start,   &n->matrix, &n->block,      &n->vectors};
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
        rs_array_free(arrays[k]);
}

/* ---- rows ---- */

static bool list_rows(rs_newton *n, const rs_rows *rows) {
    n->widest = 0;
    for (int32_t k = 0; k < rows->object_count; k++) {
        int32_t size = rows->layout->object_size(rows, k);
        n->widest = size > n->widest ? size : n->widest;
    }
    if (rs_array_resize(&n->rows, rows->count) != RS_OK ||
        rs_array_resize(&n->numbers, 6 * (int64_t)n->widest * rows->count) != RS_OK ||
        rs_array_resize(&n->indices, 2 * (int64_t)n->widest * rows->count) != RS_OK)
        return false;
    for (int64_t k = 0; k < rows->count; k++) {
        newton_row *out = &RS_ITEMS(newton_row, n->rows)[k];
        *out = (newton_row){.first_axis = rs_rows_law(rows, k)->kind == RS_ROW_AXIS ? 2 : 0};
        for (int64_t s = 0; s < 2; s++) {
            out->sides[s].index = RS_ITEMS(int32_t, n->indices) + (2 * k + s) * n->widest;
            out->sides[s].values = RS_ITEMS(double, n->numbers) + 3 * (2 * k + s) * n->widest;
        }
        rows->layout->jacobian(rows, k, out->sides);
    }
    return true;
}

/* ---- order of elimination ---- */

/* Two objects, and not those of the row before: the points of a manifold follow each other. */
static bool is_new_link(const newton_row *rows, int64_t k) {
    const newton_row *row = &rows[k];
    if (row->sides[0].object == NONE || row->sides[1].object == NONE)
        return false;
    return k == 0 || rows[k - 1].sides[0].object != row->sides[0].object ||
           rows[k - 1].sides[1].object != row->sides[1].object;
}

/* Lists for every object those it shares rows with. */
static bool list_links(rs_newton *n, int32_t objects) {
    if (rs_array_resize(&n->link_start, objects + 2) != RS_OK)
        return false;
    const newton_row *rows = RS_ITEMS(newton_row, n->rows);
    int32_t *start = RS_ITEMS(int32_t, n->link_start);
    memset(start, 0, (size_t)(objects + 2) * sizeof *start);
    for (int64_t k = 0; k < n->rows.count; k++)
        for (int s = 0; s < 2 && is_new_link(rows, k); s++)
            start[rows[k].sides[s].object + 2]++;
    for (int32_t k = 0; k < objects; k++)
        start[k + 2] += start[k + 1];
    if (rs_array_resize(&n->links, start[objects + 1]) != RS_OK)
        return false;
    int32_t *links = RS_ITEMS(int32_t, n->links);
    for (int64_t k = 0; k < n->rows.count; k++)
        for (int s = 0; s < 2 && is_new_link(rows, k); s++)
            links[start[rows[k].sides[s].object + 1]++] = rows[k].sides[1 - s].object;
    return true;
}

/* Appends the neighbours of an object that are not numbered yet, those with few neighbours first. */
static int64_t append_neighbours(rs_newton *n, int32_t object, int32_t *number, int64_t end) {
    const int32_t *links = RS_ITEMS(int32_t, n->links), *start = RS_ITEMS(int32_t, n->link_start);
    int32_t *order = RS_ITEMS(int32_t, n->order);
    int64_t begin = end;
    for (int32_t k = start[object]; k < start[object + 1]; k++) {
        int32_t other = links[k];
        if (number[other] != NONE)
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

/* Cuthill-McKee, reversed: neighbours get close numbers, so that the matrix has a narrow profile. */
static bool order_objects(rs_newton *n, const rs_rows *rows) {
    int32_t objects = rows->object_count;
    if (rs_array_resize(&n->order, objects) != RS_OK || rs_array_resize(&n->offset, objects) != RS_OK)
        return false;
    int32_t *order = RS_ITEMS(int32_t, n->order), *offset = RS_ITEMS(int32_t, n->offset);
    const int32_t *start = RS_ITEMS(int32_t, n->link_start);
    for (int32_t k = 0; k < objects; k++)
        offset[k] = NONE; /* serves as the mark "not numbered" here */
    int64_t end = 0;
    for (int32_t done = 0; done < objects; done++) {
        if (done == end) { /* a part of its own begins at the object with the fewest neighbours */
            int32_t best = NONE;
            for (int32_t k = 0; k < objects; k++)
                if (offset[k] == NONE && (best == NONE || start[k + 1] - start[k] < start[best + 1] - start[best]))
                    best = k;
            offset[best] = 0;
            order[end++] = best;
        }
        end = append_neighbours(n, order[done], offset, end);
    }
    n->size = 0;
    for (int32_t k = objects - 1; k >= 0; k--) {
        offset[order[k]] = n->size;
        n->size += rows->layout->object_size(rows, order[k]);
    }
    return true;
}

/* ---- matrix ---- */

/* The first columns, and where the rows of the matrix lie. Returns the work of a factorisation. */
static double find_profile(rs_newton *n, const rs_rows *rows) {
    if (rs_array_resize(&n->first, n->size) != RS_OK || rs_array_resize(&n->start, n->size) != RS_OK)
        return -1.0;
    int32_t *first = RS_ITEMS(int32_t, n->first);
    const int32_t *offset = RS_ITEMS(int32_t, n->offset);
    for (int32_t k = 0; k < rows->object_count; k++)
        for (int32_t i = offset[k]; i < offset[k] + rows->layout->object_size(rows, k); i++)
            first[i] = offset[k];
    const newton_row *list = RS_ITEMS(newton_row, n->rows);
    for (int64_t k = 0; k < n->rows.count; k++) {
        if (!is_new_link(list, k))
            continue;
        int32_t a = list[k].sides[0].object, b = list[k].sides[1].object;
        int32_t low = offset[a] < offset[b] ? a : b, high = low == a ? b : a;
        for (int32_t i = offset[high]; i < offset[high] + rows->layout->object_size(rows, high); i++)
            first[i] = offset[low] < first[i] ? offset[low] : first[i];
    }
    double work = 0.0;
    n->profile = 0;
    for (int32_t i = 0; i < n->size; i++) {
        RS_ITEMS(int64_t, n->start)[i] = n->profile - first[i];
        int32_t width = i - first[i] + 1;
        n->profile += width;
        work += 0.5 * width * width;
    }
    return work;
}

double rs_newton_begin(rs_newton *n, const rs_rows *rows) {
    if (!list_rows(n, rows) || !list_links(n, rows->object_count) || !order_objects(n, rows))
        return -1.0;
    return find_profile(n, rows);
}

static inline double *entry(const rs_newton *n, int32_t i, int32_t j) {
    return RS_ITEMS(double, n->matrix) + RS_ITEMS(int64_t, n->start)[i] + j;
}

static bool add_inertia(rs_newton *n, const rs_rows *rows) {
    for (int32_t k = 0; k < rows->object_count; k++) {
        int32_t size = rows->layout->object_size(rows, k), at = RS_ITEMS(int32_t, n->offset)[k];
        if (rs_array_resize(&n->block, (int64_t)size * size) != RS_OK)
            return false;
        double *block = RS_ITEMS(double, n->block);
        memset(block, 0, (size_t)size * (size_t)size * sizeof *block);
        rows->layout->inertia(rows, k, block);
        for (int32_t i = 0; i < size; i++)
            memcpy(entry(n, at + i, at), &block[i * size], (size_t)(i + 1) * sizeof(double));
    }
    return true;
}

/* weighted = weight * J, by axis. */
static void weigh(const newton_row *row, const rs_side_jacobian *side, double *weighted) {
    for (int a = row->first_axis; a < 3; a++)
        for (int32_t k = 0; k < side->size; k++) {
            double sum = 0.0;
            for (int b = row->first_axis; b < 3; b++)
                sum += row->weight[a][b] * side->values[b * side->size + k];
            weighted[a * side->size + k] = sum;
        }
}

/* Adds J' * weighted to the block of two objects; only what lies on and below the diagonal. */
static void add_block(rs_newton *n, const newton_row *row, const rs_side_jacobian *high, const rs_side_jacobian *low,
                      const double *weighted) {
    int32_t at_high = RS_ITEMS(int32_t, n->offset)[high->object], at_low = RS_ITEMS(int32_t, n->offset)[low->object];
    bool same = high->object == low->object;
    for (int32_t i = 0; i < high->size; i++) {
        double *to = entry(n, at_high + high->index[i], at_low);
        for (int a = row->first_axis; a < 3; a++) {
            double factor = high->values[a * high->size + i];
            const double *from = &weighted[a * low->size];
            for (int32_t j = 0; j < low->size; j++)
                if (!same || low->index[j] <= high->index[i])
                    to[low->index[j]] += factor * from[j];
        }
    }
}

/* The same for two single bodies, whose six velocities come in order. */
static void add_block6(rs_newton *n, const rs_side_jacobian *high, const rs_side_jacobian *low, const double *weighted) {
    int32_t at_high = RS_ITEMS(int32_t, n->offset)[high->object], at_low = RS_ITEMS(int32_t, n->offset)[low->object];
    bool same = high->object == low->object;
    for (int32_t i = 0; i < 6; i++) {
        double *to = entry(n, at_high + i, at_low), sum[6];
        double f0 = high->values[i], f1 = high->values[6 + i], f2 = high->values[12 + i];
        for (int32_t j = 0; j < 6; j++)
            sum[j] = f0 * weighted[j] + f1 * weighted[6 + j] + f2 * weighted[12 + j];
        for (int32_t j = 0; j < (same ? i + 1 : 6); j++)
            to[j] += sum[j];
    }
}

static void add_row_block(rs_newton *n, const newton_row *row, const rs_side_jacobian *high, const rs_side_jacobian *low,
                          const double *weighted) {
    if (high->size == 6 && low->size == 6 && row->first_axis == 0 && high->index[0] == 0 && low->index[0] == 0 &&
        high->index[5] == 5 && low->index[5] == 5)
        add_block6(n, high, low, weighted);
    else
        add_block(n, row, high, low, weighted);
}

static bool add_rows(rs_newton *n) {
    if (rs_array_resize(&n->block, 3 * (int64_t)n->widest) != RS_OK)
        return false;
    double *weighted = RS_ITEMS(double, n->block);
    const newton_row *rows = RS_ITEMS(newton_row, n->rows);
    const int32_t *offset = RS_ITEMS(int32_t, n->offset);
    for (int64_t k = 0; k < n->rows.count; k++) {
        const newton_row *row = &rows[k];
        if (row->state == RS_ROW_OPEN)
            continue;
        for (int s = 0; s < 2; s++) {
            const rs_side_jacobian *side = &row->sides[s], *other = &row->sides[1 - s];
            if (side->object == NONE)
                continue;
            weigh(row, side, weighted);
            add_row_block(n, row, side, side, weighted);
            if (other->object != NONE && offset[other->object] > offset[side->object])
                add_row_block(n, row, other, side, weighted);
        }
    }
    return true;
}

static double dot(const double *a, const double *b, int64_t count) {
    rs_v4 sum0 = rs_v4_all(0.0), sum1 = rs_v4_all(0.0);
    int64_t k = 0;
    for (; k + 8 <= count; k += 8) {
        rs_v4 a0, b0, a1, b1;
        memcpy(&a0, a + k, sizeof a0);
        memcpy(&b0, b + k, sizeof b0);
        memcpy(&a1, a + k + 4, sizeof a1);
        memcpy(&b1, b + k + 4, sizeof b1);
        sum0 += a0 * b0;
        sum1 += a1 * b1;
    }
    double sum = rs_v4_sum(sum0 + sum1);
    for (; k < count; k++)
        sum += a[k] * b[k];
    return sum;
}

/* Cholesky within the profile; the diagonal of the factor is stored inverted. */
static bool cholesky(rs_newton *n) {
    const int32_t *first = RS_ITEMS(int32_t, n->first);
    for (int32_t i = 0; i < n->size; i++) {
        double *row = entry(n, i, 0);
        for (int32_t j = first[i]; j < i; j++) {
            int32_t from = first[i] > first[j] ? first[i] : first[j];
            const double *other = entry(n, j, 0);
            row[j] = (row[j] - dot(row + from, other + from, j - from)) * other[j];
        }
        double pivot = row[i] - dot(row + first[i], row + first[i], i - first[i]);
        if (!(pivot > 0.0))
            return false;
        row[i] = 1.0 / sqrt(pivot);
    }
    return true;
}

static void substitute(const rs_newton *n, double *x) {
    const int32_t *first = RS_ITEMS(int32_t, n->first);
    for (int32_t i = 0; i < n->size; i++) {
        const double *row = entry(n, i, 0);
        x[i] = (x[i] - dot(row + first[i], x + first[i], i - first[i])) * row[i];
    }
    for (int32_t i = n->size - 1; i >= 0; i--) {
        const double *row = entry(n, i, 0);
        x[i] *= row[i];
        for (int32_t j = first[i]; j < i; j++)
            x[j] -= row[j] * x[i];
    }
}

/* For the weights of the rows. */
static bool factorise(rs_newton *n, const rs_rows *rows) {
    if (rs_array_resize(&n->matrix, n->profile) != RS_OK ||
        rs_array_resize(&n->vectors, (int64_t)n->size * (MAX_BASIS + 2)) != RS_OK)
        return false;
    memset(n->matrix.data, 0, (size_t)n->profile * sizeof(double));
    return add_inertia(n, rows) && add_rows(n) && cholesky(n);
}

/* ---- vectors ---- */

static rs_vec3 speed_of(const rs_newton *n, const newton_row *row, const double *x) {
    double v[3] = {0.0, 0.0, 0.0};
    for (int s = 0; s < 2; s++) {
        const rs_side_jacobian *side = &row->sides[s];
        if (side->object == NONE)
            continue;
        const double *own = x + RS_ITEMS(int32_t, n->offset)[side->object];
        for (int a = row->first_axis; a < 3; a++)
            for (int32_t k = 0; k < side->size; k++)
                v[a] += side->values[a * side->size + k] * own[side->index[k]];
    }
    return rs_v3(v[0], v[1], v[2]);
}

/* x += J' * impulse */
static void add_impulse(const rs_newton *n, const newton_row *row, rs_vec3 impulse, double *x) {
    double p[3] = {impulse.x, impulse.y, impulse.z};
    for (int s = 0; s < 2; s++) {
        const rs_side_jacobian *side = &row->sides[s];
        if (side->object == NONE)
            continue;
        double *own = x + RS_ITEMS(int32_t, n->offset)[side->object];
        for (int a = row->first_axis; a < 3; a++)
            for (int32_t k = 0; k < side->size; k++)
                own[side->index[k]] += side->values[a * side->size + k] * p[a];
    }
}

static rs_vec3 weighted(const newton_row *row, rs_vec3 v) {
    const double (*w)[3] = row->weight;
    return rs_v3(w[0][0] * v.x + w[0][1] * v.y + w[0][2] * v.z, w[1][0] * v.x + w[1][1] * v.y + w[1][2] * v.z,
                 w[2][0] * v.x + w[2][1] * v.y + w[2][2] * v.z);
}

/* x becomes the preconditioned product: x + (matrix)^-1 * (friction that follows the load at velocities x). */
static void follow_loads(const rs_newton *n, const double *x, double *out) {
    memset(out, 0, (size_t)n->size * sizeof *out);
    const newton_row *rows = RS_ITEMS(newton_row, n->rows);
    for (int64_t k = 0; k < n->rows.count; k++) {
        const newton_row *row = &rows[k];
        if (row->follow[0] == 0.0 && row->follow[1] == 0.0)
            continue;
        double load = row->weight[2][2] * speed_of(n, row, x).z;
        add_impulse(n, row, rs_v3(row->follow[0] * load, row->follow[1] * load, 0.0), out);
    }
    substitute(n, out);
    for (int32_t i = 0; i < n->size; i++)
        out[i] += x[i];
}

static double norm(const double *x, int32_t count) { return sqrt(dot(x, x, count)); }

/* Solves matrix * (1 + follow) x = rhs where `x` holds (matrix)^-1 * rhs: GMRES with Givens rotations. */
static void gmres(const rs_newton *n, double *x) {
    double *basis = RS_ITEMS(double, n->vectors) + n->size;
    double h[MAX_BASIS + 1][MAX_BASIS], cosine[MAX_BASIS], sine[MAX_BASIS], rest[MAX_BASIS + 1] = {0}, y[MAX_BASIS];
    double length = norm(x, n->size);
    if (length == 0.0)
        return;
    for (int32_t i = 0; i < n->size; i++)
        basis[i] = x[i] / length;
    rest[0] = length;
    int used = 0;
    while (used < MAX_BASIS && fabs(rest[used]) > GMRES_TOLERANCE * length) {
        const int j = used++;
        double *next = basis + (int64_t)(j + 1) * n->size;
        follow_loads(n, basis + (int64_t)j * n->size, next);
        for (int i = 0; i <= j; i++) {
            const double *other = basis + (int64_t)i * n->size;
            h[i][j] = dot(next, other, n->size);
            for (int32_t k = 0; k < n->size; k++)
                next[k] -= h[i][j] * other[k];
        }
        double left = norm(next, n->size);
        for (int32_t k = 0; k < n->size && left > 0.0; k++)
            next[k] /= left;
        for (int i = 0; i < j; i++) {
            double upper = h[i][j], lower = h[i + 1][j];
            h[i][j] = cosine[i] * upper + sine[i] * lower;
            h[i + 1][j] = cosine[i] * lower - sine[i] * upper;
        }
        double size = sqrt(h[j][j] * h[j][j] + left * left);
        if (size == 0.0) {
            used = j;
            break;
        }
        cosine[j] = h[j][j] / size;
        sine[j] = left / size;
        h[j][j] = size;
        rest[j + 1] = -sine[j] * rest[j];
        rest[j] *= cosine[j];
        if (left == 0.0)
            break;
    }
    for (int i = used - 1; i >= 0; i--) {
        y[i] = rest[i];
        for (int j = i + 1; j < used; j++)
            y[i] -= h[i][j] * y[j];
        y[i] /= h[i][i];
    }
    memset(x, 0, (size_t)n->size * sizeof *x);
    for (int j = 0; j < used; j++)
        for (int32_t k = 0; k < n->size; k++)
            x[k] += y[j] * basis[(int64_t)j * n->size + k];
}

/* ---- exact steps ---- */

/* What a held row yields per unit impulse along an axis, beside its softness. */
static double yield_of(const rs_newton *n, const rs_law *law, int axis) {
    bool friction = law->kind == RS_ROW_CONTACT && axis < 2;
    return n->compliance * law->normal_inverse_mass * (friction ? n->shear : 1.0);
}

static double stiffness_of(const rs_newton *n, const rs_law *law, int axis) {
    return 1.0 / (yield_of(n, law, axis) + law->softness);
}

/* Impulse per velocity of the row in its state, without what makes it unsymmetric. */
static void set_weight(const rs_newton *n, newton_row *out, const rs_law *law, const double direction[2]) {
    memset(out->weight, 0, sizeof out->weight);
    out->follow[0] = out->follow[1] = 0.0;
    if (out->state == RS_ROW_OPEN)
        return;
    double stiffness = stiffness_of(n, law, 2);
    for (int axis = out->state == RS_ROW_SLIDING ? 2 : out->first_axis; axis < 3; axis++)
        out->weight[axis][axis] = stiffness_of(n, law, axis);
    if (out->state != RS_ROW_SLIDING || law->mu == 0.0)
        return;
    /* Across the slip, friction turns with it. */
    rs_vec3 slip = law->error.xyz;
    double speed = sqrt(slip.x * slip.x + slip.y * slip.y), limit = law->mu * law->impulse.xyz.z;
    double turn = limit < stiffness * speed ? rs_max(limit, 0.0) / speed : stiffness;
    double across[2] = {-direction[1], direction[0]};
    for (int i = 0; i < 2; i++) {
        out->follow[i] = law->mu * direction[i];
        for (int j = 0; j < 2; j++)
            out->weight[i][j] = turn * across[i] * across[j];
    }
}

bool rs_newton_factorise(rs_newton *n, const rs_rows *rows, double compliance, double shear) {
    n->sliding = n->changes = 0;
    n->compliance = compliance;
    n->shear = shear;
    for (int64_t k = 0; k < rows->count; k++) {
        const rs_law *law = rs_rows_law(rows, k);
        newton_row *row = &RS_ITEMS(newton_row, n->rows)[k];
        double direction[2] = {0.0, 0.0};
        rs_row_state before = row->state;
        row->state = rs_law_state(law, direction);
        set_weight(n, row, law, direction);
        n->changes += row->state != before;
        n->sliding += row->follow[0] != 0.0 || row->follow[1] != 0.0;
    }
    return factorise(n, rows);
}

/* The impulse that the row would have if no velocity changed. */
static rs_vec3 predicted(const rs_newton *n, const newton_row *row, const rs_law *law, double kept) {
    rs_vec3 p = law->impulse.xyz;
    if (row->state == RS_ROW_OPEN && law->kind == RS_ROW_AXIS)
        return rs_v3(0.0, 0.0, rs_clamp(p.z - law->error.xyz.z / law->inverse_mass, law->lower, law->upper));
    if (row->state == RS_ROW_OPEN)
        return rs_v3_zero();
    double across = stiffness_of(n, law, 0) * (law->softness + kept * yield_of(n, law, 0));
    double along = stiffness_of(n, law, 2) * (law->softness + kept * yield_of(n, law, 2));
    rs_vec3 turned = weighted(row, law->error.xyz), q = rs_sub(rs_v3(across * p.x, across * p.y, along * p.z), turned);
    if (row->state == RS_ROW_SLIDING)
        return rs_v3(row->follow[0] * q.z - turned.x, row->follow[1] * q.z - turned.y, q.z);
    return row->first_axis == 2 ? rs_v3(0.0, 0.0, q.z) : q;
}

static bool is_zero(rs_vec3 v) { return v.x == 0.0 && v.y == 0.0 && v.z == 0.0; }

void rs_newton_step(rs_newton *n, const rs_rows *rows, double kept) {
    double *x = RS_ITEMS(double, n->vectors);
    const newton_row *list = RS_ITEMS(newton_row, n->rows);
    memset(x, 0, (size_t)n->size * sizeof *x);
    for (int64_t k = 0; k < rows->count; k++) {
        rs_law *law = rs_rows_law(rows, k);
        law->step.xyz = predicted(n, &list[k], law, kept);
        rs_vec3 change = rs_sub(law->step.xyz, law->impulse.xyz);
        if (!is_zero(change))
            add_impulse(n, &list[k], change, x);
    }
    substitute(n, x);
    if (n->sliding > 0)
        gmres(n, x);
    for (int64_t k = 0; k < rows->count; k++) {
        const newton_row *row = &list[k];
        rs_law *law = rs_rows_law(rows, k);
        if (row->state != RS_ROW_OPEN) {
            rs_vec3 speed = speed_of(n, row, x);
            double load = row->weight[2][2] * speed.z;
            law->step.xyz = rs_sub(law->step.xyz, weighted(row, speed));
            law->step.xyz = rs_sub(law->step.xyz, rs_v3(row->follow[0] * load, row->follow[1] * load, 0.0));
        }
        law->step.xyz = rs_sub(rs_law_allowed(law, law->step.xyz), law->impulse.xyz);
    }
}

/* ---- descent ---- */

/* The impulse that the smoothed law asks for at a speed; not yet inside its bounds. */
static rs_vec3 smooth_asked(const rs_newton *n, const newton_row *row, const rs_law *law, rs_vec3 speed) {
    double yields = n->compliance * law->normal_inverse_mass;
    rs_vec3 asked = rs_sub(rs_scale(yields, row->centre), speed);
    asked.z -= row->lift;
    return rs_scale(1.0 / (yields + law->softness), asked);
}

static rs_vec3 onto_law(const rs_law *law, rs_vec3 p) {
    return law->kind == RS_ROW_CONTACT ? rs_coulomb_project(p, law->mu) : rs_law_allowed(law, p);
}

/* Derivative of the smoothed law's impulse by the speed, negative: symmetric and not negative. */
static void set_smooth_weight(const rs_newton *n, newton_row *row, const rs_law *law) {
    double stiffness = stiffness_of(n, law, 2), mu = law->mu;
    rs_vec3 p = smooth_asked(n, row, law, row->speed);
    double friction = sqrt(p.x * p.x + p.y * p.y);
    memset(row->weight, 0, sizeof row->weight);
    bool free = law->kind == RS_ROW_POINT || (law->kind == RS_ROW_CONTACT && mu > 0.0 && friction <= mu * p.z) ||
                (law->kind == RS_ROW_AXIS && p.z > law->lower && p.z < law->upper);
    bool open = law->kind == RS_ROW_AXIS ? !free : law->kind == RS_ROW_CONTACT && p.z + mu * friction <= 0.0;
    bool polar = law->kind == RS_ROW_CONTACT && mu * friction <= -p.z;
    row->state = free ? RS_ROW_HELD : open || polar ? RS_ROW_OPEN : RS_ROW_SLIDING;
    if (free)
        for (int axis = row->first_axis; axis < 3; axis++)
            row->weight[axis][axis] = stiffness;
    if (row->state != RS_ROW_SLIDING)
        return;
    double t[2] = {friction > 0.0 ? p.x / friction : 0.0, friction > 0.0 ? p.y / friction : 0.0};
    double edge[3] = {mu * t[0], mu * t[1], 1.0}, along = stiffness / (1.0 + mu * mu);
    double height = (p.z + mu * friction) / (1.0 + mu * mu);
    double across = friction > 0.0 ? stiffness * mu * height / friction : 0.0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            row->weight[i][j] = along * edge[i] * edge[j];
    row->weight[0][0] += across * t[1] * t[1];
    row->weight[1][1] += across * t[0] * t[0];
    row->weight[0][1] -= across * t[0] * t[1];
    row->weight[1][0] -= across * t[0] * t[1];
}

/* Slope of the objective at a share of the direction: `inertial` is that of the kinetic part at 0, `bend` its growth. */
static double slope_at(const rs_newton *n, const rs_rows *rows, double inertial, double bend, double share) {
    const newton_row *list = RS_ITEMS(newton_row, n->rows);
    double slope = inertial + share * bend;
    for (int64_t k = 0; k < rows->count; k++) {
        const rs_law *law = rs_rows_law(rows, k);
        rs_vec3 speed = rs_madd(list[k].speed, share, list[k].turn);
        slope -= rs_dot(list[k].turn, onto_law(law, smooth_asked(n, &list[k], law, speed)));
    }
    return slope;
}

/* Where the slope along the direction is nearly zero: it grows along the way. */
static double best_share(const rs_newton *n, const rs_rows *rows, double inertial, double bend) {
    double before = slope_at(n, rows, inertial, bend, 0.0), after = slope_at(n, rows, inertial, bend, 1.0);
    if (!(before < 0.0))
        return 0.0;
    if (after <= -FLAT * before)
        return 1.0;
    double low = 0.0, high = 1.0, low_slope = before, high_slope = after, share = 1.0;
    int side = 0;
    for (int k = 0; k < MAX_TRIALS; k++) { /* Illinois' variant of regula falsi */
        share = (low * high_slope - high * low_slope) / (high_slope - low_slope);
        double slope = slope_at(n, rows, inertial, bend, share);
        if (fabs(slope) <= -FLAT * before)
            break;
        if (slope > 0.0) {
            high = share;
            high_slope = slope;
            low_slope *= side == 1 ? 0.5 : 1.0;
            side = 1;
        } else {
            low = share;
            low_slope = slope;
            high_slope *= side == -1 ? 0.5 : 1.0;
            side = -1;
        }
    }
    return share;
}

static void begin_descent(rs_newton *n, const rs_rows *rows, double compliance, double kept) {
    n->compliance = compliance;
    n->shear = 1.0;
    for (int64_t k = 0; k < rows->count; k++) {
        const rs_law *law = rs_rows_law(rows, k);
        newton_row *row = &RS_ITEMS(newton_row, n->rows)[k];
        rs_vec3 error = law->error.xyz;
        row->centre = rs_scale(kept, law->impulse.xyz);
        row->speed = rs_madd(error, -law->softness, law->impulse.xyz);
        bool slides = law->kind == RS_ROW_CONTACT && kept > 0.0; /* a start from nothing supposes that all contacts stick */
        row->lift = slides ? law->mu * sqrt(error.x * error.x + error.y * error.y) : 0.0;
        row->state = RS_ROW_OPEN;
    }
}

int rs_newton_descend(rs_newton *n, const rs_rows *rows, double compliance, double kept) {
    newton_row *list = RS_ITEMS(newton_row, n->rows);
    begin_descent(n, rows, compliance, kept);
    if (rs_array_resize(&n->vectors, (int64_t)n->size * (MAX_BASIS + 2)) != RS_OK)
        return 0;
    double *momentum = RS_ITEMS(double, n->vectors), *way = momentum + n->size, *pull = way + n->size;
    memset(momentum, 0, (size_t)n->size * sizeof(double)); /* M * (v - v_free) */
    for (int64_t k = 0; k < rows->count; k++)
        add_impulse(n, &list[k], rs_rows_law(rows, k)->impulse.xyz, momentum);
    double enough = 0.0;
    for (int64_t k = 0; k < rows->count; k++) {
        const rs_law *law = rs_rows_law(rows, k);
        double residual = rs_law_residual(law);
        enough += DECREMENT * compliance * residual * residual / law->inverse_mass;
    }
    int count = 0;
    while (count < MAX_DESCENTS) {
        int changes = 0;
        memcpy(way, momentum, (size_t)n->size * sizeof(double)); /* the gradient, negative */
        for (int32_t i = 0; i < n->size; i++)
            way[i] = -way[i];
        for (int64_t k = 0; k < rows->count; k++) {
            const rs_law *law = rs_rows_law(rows, k);
            rs_row_state before = list[k].state;
            set_smooth_weight(n, &list[k], law);
            changes += list[k].state != before;
            rs_vec3 p = onto_law(law, smooth_asked(n, &list[k], law, list[k].speed));
            if (!is_zero(p))
                add_impulse(n, &list[k], p, way);
        }
        memcpy(pull, way, (size_t)n->size * sizeof(double));
        count++;
        if (!factorise(n, rows))
            break;
        substitute(n, way);
        if (dot(way, pull, n->size) <= enough)
            break;
        /* M * way = pull - J' * weight * J * way */
        for (int64_t k = 0; k < rows->count; k++) {
            list[k].turn = speed_of(n, &list[k], way);
            if (list[k].state != RS_ROW_OPEN)
                add_impulse(n, &list[k], rs_neg(weighted(&list[k], list[k].turn)), pull);
        }
        double share = best_share(n, rows, dot(way, momentum, n->size), dot(way, pull, n->size));
        if (0) fprintf(stderr, "      inner changes %d decrement %.3g share %.3g slope0 %.3g slope1 %.3g\n", changes, 0.0, share, slope_at(n, rows, dot(way, momentum, n->size), dot(way, pull, n->size),0), slope_at(n, rows, dot(way, momentum, n->size), dot(way, pull, n->size),1));
        for (int32_t i = 0; i < n->size; i++)
            momentum[i] += share * pull[i];
        for (int64_t k = 0; k < rows->count; k++)
            list[k].speed = rs_madd(list[k].speed, share, list[k].turn);
        if (share == 0.0)
            break;
    }
    for (int64_t k = 0; k < rows->count; k++) {
        rs_law *law = rs_rows_law(rows, k);
        rs_vec3 goal = onto_law(law, smooth_asked(n, &list[k], law, list[k].speed));
        law->step.xyz = rs_sub(goal, law->impulse.xyz);
    }
    return count;
}
