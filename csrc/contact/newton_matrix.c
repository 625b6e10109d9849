#include "newton_matrix.h"

#include "../base/band.h"

#include <math.h>
#include <string.h>

enum { NONE = -1 };

void rs_newton_free(rs_newton *n) {
    rs_any_array *arrays[] = {&n->rows.any, &n->columns.any, &n->indices.any, &n->links.any, &n->link_start.any,
                              &n->order.any, &n->offset.any, &n->spans.any, &n->first.any, &n->pivots.any, &n->start.any,
                              &n->matrix.any, &n->bands.any, &n->block.any, &n->vectors.any, &n->loads.any,
                              &n->few.any, &n->cones.any, &n->bounds.any, &n->ties.any, &n->inertias.any, &n->near.any, &n->column.any,
                              &n->column_start.any, &n->column_of.any, &n->row_start.any, &n->row_blocks.any, &n->axes.any};
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
        rs_any_free(arrays[k]);
}

/* ---- rows ---- */

/* Where the velocity k of an object stands among its own. The last one of a tree comes first: that of a leaf before those of
 * the joints on its way to the root, which are all that its rows know. Eliminated in this order, branches stay apart. */
static inline int32_t place_of(int32_t k, int32_t span) { return span > RS_BAND_WIDTH ? span - 1 - k : k; }

/* Velocities by their place. Returns the lowest. */
static int32_t find_places(rs_side_jacobian *side, int32_t span) {
    int32_t low = span;
    for (int32_t k = 0; k < side->size; k++) {
        side->index[k] = place_of(side->index[k], span);
        low = side->index[k] < low ? side->index[k] : low;
    }
    return low;
}

static bool list_rows(rs_newton *n, const rs_rows *rows) {
    if (rs_array_resize(&n->spans, rows->object_count) != RS_OK)
        return false;
    int32_t *spans = n->spans.items;
    n->widest = 0;
    for (int32_t k = 0; k < rows->object_count; k++) {
        spans[k] = rows->layout->object_size(rows, k);
        n->widest = spans[k] > n->widest ? spans[k] : n->widest;
    }
    if (rs_array_resize(&n->rows, rows->count) != RS_OK ||
        rs_array_resize(&n->columns, 2 * (int64_t)n->widest * rows->count) != RS_OK ||
        rs_array_resize(&n->indices, 2 * (int64_t)n->widest * rows->count) != RS_OK)
        return false;
    for (int64_t k = 0; k < rows->count; k++) {
        rs_newton_row *out = RS_ITEM(n->rows, k);
        *out = (rs_newton_row){.first_axis = rs_rows_law(rows, k)->kind == RS_ROW_AXIS ? 2 : 0};
        for (int64_t s = 0; s < 2; s++) {
            out->sides[s].index = n->indices.items + (2 * k + s) * n->widest;
            out->sides[s].columns = n->columns.items + (2 * k + s) * n->widest;
        }
        rows->layout->jacobian(rows, k, out->sides);
        for (int s = 0; s < 2; s++)
            if (out->sides[s].object != NONE)
                out->low[s] = find_places(&out->sides[s], spans[out->sides[s].object]);
    }
    return true;
}

/* ---- order of elimination ---- */

/* Two objects, and not those of the row before: the points of a manifold follow each other. */
static bool is_new_link(const rs_newton_row *rows, int64_t k) {
    const rs_newton_row *row = &rows[k];
    if (row->sides[0].object == NONE || row->sides[1].object == NONE)
        return false;
    return k == 0 || rows[k - 1].sides[0].object != row->sides[0].object ||
           rows[k - 1].sides[1].object != row->sides[1].object;
}

/* Lists for every object those it shares rows with. */
static bool list_links(rs_newton *n, int32_t objects) {
    if (rs_array_resize(&n->link_start, objects + 2) != RS_OK)
        return false;
    const rs_newton_row *rows = n->rows.items;
    int32_t *start = n->link_start.items;
    memset(start, 0, (size_t)(objects + 2) * sizeof *start);
    for (int64_t k = 0; k < n->rows.count; k++)
        for (int s = 0; s < 2 && is_new_link(rows, k); s++)
            start[rows[k].sides[s].object + 2]++;
    for (int32_t k = 0; k < objects; k++)
        start[k + 2] += start[k + 1];
    if (rs_array_resize(&n->links, start[objects + 1]) != RS_OK)
        return false;
    int32_t *links = n->links.items;
    for (int64_t k = 0; k < n->rows.count; k++)
        for (int s = 0; s < 2 && is_new_link(rows, k); s++)
            links[start[rows[k].sides[s].object + 1]++] = rows[k].sides[1 - s].object;
    return true;
}

/* Appends the neighbours of an object that are not numbered yet, those with few neighbours first. */
static int64_t append_neighbours(rs_newton *n, int32_t object, int32_t *number, int64_t end) {
    const int32_t *links = n->links.items, *start = n->link_start.items;
    int32_t *order = n->order.items;
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
    int32_t *order = n->order.items, *offset = n->offset.items;
    const int32_t *start = n->link_start.items;
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
        n->size += n->spans.items[order[k]];
    }
    return true;
}

/* ---- matrix ---- */

static void lower_first(int32_t *first, int32_t column) { *first = column < *first ? column : *first; }

/* Where the inertia of the velocities i and j of an object at `at` lies, on or below the diagonal. */
typedef struct {
    int32_t row, column;
} cell;
static cell cell_of(int32_t i, int32_t j, int32_t at, int32_t span) {
    int32_t a = at + place_of(i, span), b = at + place_of(j, span);
    return a > b ? (cell){a, b} : (cell){b, a};
}

/* Inertias of the objects one behind the other. */
static bool list_inertias(rs_newton *n, const rs_rows *rows) {
    if (rs_array_resize(&n->bands, RS_BAND_WIDTH * (int64_t)n->size) != RS_OK)
        return false;
    double *band = n->bands.items;
    memset(band, 0, (size_t)n->bands.count * sizeof *band);
    for (int32_t k = 0; k < rows->object_count; k++) {
        rows->layout->inertia(rows, k, band);
        band += RS_BAND_WIDTH * n->spans.items[k];
    }
    return true;
}

/* The columns that the inertias reach back to. */
static void reach_back_within_objects(rs_newton *n) {
    double *band = n->bands.items;
    for (int64_t k = 0; k < n->spans.count; k++) {
        int32_t span = n->spans.items[k], at = n->offset.items[k];
        for (int32_t i = 0; i < span; i++)
            for (int32_t j = i < RS_BAND_WIDTH ? 0 : i - RS_BAND_WIDTH + 1; j < i; j++)
                if (*rs_band_at(band, i, j) != 0.0) {
                    cell c = cell_of(i, j, at, span);
                    lower_first(RS_ITEM(n->first, c.row), c.column);
                }
        band += RS_BAND_WIDTH * span;
    }
}

/* The columns that the rows of the matrix reach back to: to the lowest velocity of every row of the island. */
static void reach_back(rs_newton *n) {
    int32_t *first = n->first.items;
    const int32_t *offset = n->offset.items;
    for (int64_t k = 0; k < n->rows.count; k++) {
        const rs_newton_row *row = RS_ITEM(n->rows, k);
        int32_t lowest = n->size;
        for (int s = 0; s < 2; s++)
            if (row->sides[s].object != NONE)
                lower_first(&lowest, offset[row->sides[s].object] + row->low[s]);
        for (int s = 0; s < 2; s++)
            for (int32_t e = 0; row->sides[s].object != NONE && e < row->sides[s].size; e++)
                lower_first(&first[offset[row->sides[s].object] + row->sides[s].index[e]], lowest);
    }
}

/* The first columns, and where the rows of the matrix lie. Returns the work of a factorisation. */
static double find_profile(rs_newton *n, const rs_rows *rows) {
    if (rs_array_resize(&n->first, n->size) != RS_OK || rs_array_resize(&n->start, n->size) != RS_OK)
        return -1.0;
    int32_t *first = n->first.items;
    for (int32_t i = 0; i < n->size; i++)
        first[i] = i;
    if (!list_inertias(n, rows))
        return -1.0;
    reach_back_within_objects(n);
    reach_back(n);
    double work = 0.0;
    n->profile = 0;
    for (int32_t i = 0; i < n->size; i++) {
        n->start.items[i] = n->profile - first[i];
        int32_t width = i - first[i] + 1;
        n->profile += width;
        work += 0.5 * width * width;
    }
    return work;
}

static inline double *entry(const rs_newton *n, int32_t i, int32_t j) {
    return n->matrix.items + n->start.items[i] + j;
}

/* The matrix without any row. */
static void place_inertias(rs_newton *n) {
    memset(n->matrix.items, 0, (size_t)n->profile * sizeof(double));
    double *band = n->bands.items;
    for (int64_t k = 0; k < n->spans.count; k++) {
        int32_t span = n->spans.items[k], at = n->offset.items[k];
        for (int32_t i = 0; i < span; i++)
            for (int32_t j = i < RS_BAND_WIDTH ? 0 : i - RS_BAND_WIDTH + 1; j <= i; j++)
                if (*rs_band_at(band, i, j) != 0.0) {
                    cell c = cell_of(i, j, at, span);
                    *entry(n, c.row, c.column) = *rs_band_at(band, i, j);
                }
        band += RS_BAND_WIDTH * span;
    }
}

static bool has_single_bodies_only(const rs_newton *n) {
    for (int64_t k = 0; k < n->spans.count; k++)
        if (n->spans.items[k] != RS_BODY_SPAN)
            return false;
    return true;
}

static double begin_blocks(rs_newton *n, const rs_rows *rows, double most) {
    double work = rs_newton_order_blocks(n, most);
    if (work < 0.0 || work > most)
        return work;
    rs_newton_blocks_find_places(n);
    return rs_newton_blocks_take_rows(n) && list_inertias(n, rows) ? work : -1.0;
}

/* The inertias of a matrix that is kept whole. */
static bool fill_dense(rs_newton *n) {
    if (!rs_newton_small_begin(n))
        return false;
    double *band = n->bands.items;
    for (int64_t k = 0; k < n->spans.count; k++) {
        int32_t span = n->spans.items[k], at = n->offset.items[k];
        for (int32_t i = 0; i < span; i++)
            for (int32_t j = i < RS_BAND_WIDTH ? 0 : i - RS_BAND_WIDTH + 1; j <= i; j++)
                if (*rs_band_at(band, i, j) != 0.0)
                    rs_newton_small_put_inertia(n, at + place_of(i, span), at + place_of(j, span), *rs_band_at(band, i, j));
        band += RS_BAND_WIDTH * span;
    }
    n->dense = true;
    return true;
}

/* Of a small island, whose factorisation takes four multiplications at a time. */
static double begin_small(rs_newton *n, const rs_rows *rows) {
    return list_inertias(n, rows) && fill_dense(n) ? (double)n->size * n->size * n->size / 24.0 : -1.0;
}

double rs_newton_begin(rs_newton *n, const rs_rows *rows, double most) {
    if (!list_rows(n, rows) || !list_links(n, rows->object_count))
        return -1.0;
    n->in_blocks = has_single_bodies_only(n);
    if (n->in_blocks)
        return begin_blocks(n, rows, most);
    if (!order_objects(n, rows))
        return -1.0;
    n->skew = n->dense = false;
    return rs_newton_is_small(n) ? begin_small(n, rows) : find_profile(n, rows);
}

/* weighted = weight * J, by axis, `span` numbers each, from the lowest velocity of the side on: zero where the row has
 * nothing to do with a velocity. */
static void weigh(const rs_newton_row *row, int s, int32_t span, double *weighted) {
    const rs_side_jacobian *side = &row->sides[s];
    const double (*w)[3] = row->weight;
    rs_v4 x = {w[0][0], w[1][0], w[2][0], 0.0}, y = {w[0][1], w[1][1], w[2][1], 0.0}, z = {w[0][2], w[1][2], w[2][2], 0.0};
    for (int a = row->first_axis; a < 3; a++)
        memset(weighted + a * span + row->low[s], 0, (size_t)(span - row->low[s]) * sizeof *weighted);
    for (int32_t k = 0; k < side->size; k++) {
        rs_v4 product = rs_v4_combine(rs_v4_load(&side->columns[k]), x, y, z);
        for (int a = row->first_axis; a < 3; a++)
            weighted[a * span + side->index[k]] = product[a];
    }
}

/* Adds J' * weighted to the block of two objects, where `weighted` begins at the velocity `from` of the second; only what
 * lies on and below the diagonal. */
static void add_block(rs_newton *n, const rs_newton_row *row, const rs_side_jacobian *high, const rs_side_jacobian *low,
                      int32_t from, int32_t span, const double *weighted) {
    int32_t at_high = n->offset.items[high->object], at_low = n->offset.items[low->object];
    const double *restrict w0 = weighted, *restrict w1 = weighted + span, *restrict w2 = weighted + 2 * span;
    for (int32_t i = 0; i < high->size; i++) {
        double *restrict to = entry(n, at_high + high->index[i], at_low);
        int32_t end = high->object == low->object ? high->index[i] + 1 : span;
        rs_vec3 f = high->columns[i].xyz;
        if (row->first_axis == 2) {
            for (int32_t j = from; j < end; j++)
                to[j] += f.z * w2[j];
            continue;
        }
        for (int32_t j = from; j < end; j++)
            to[j] += f.x * w0[j] + f.y * w1[j] + f.z * w2[j];
    }
}

static bool add_rows(rs_newton *n) {
    if (rs_array_resize(&n->block, 3 * (int64_t)n->widest) != RS_OK)
        return false;
    double *weighted = n->block.items;
    const rs_newton_row *rows = n->rows.items;
    const int32_t *offset = n->offset.items;
    for (int64_t k = 0; k < n->rows.count; k++) {
        const rs_newton_row *row = &rows[k];
        if (row->state == RS_ROW_OPEN)
            continue;
        for (int s = 0; s < 2; s++) {
            const rs_side_jacobian *side = &row->sides[s], *other = &row->sides[1 - s];
            if (side->object == NONE)
                continue;
            int32_t span = n->spans.items[side->object];
            weigh(row, s, span, weighted);
            add_block(n, row, side, side, row->low[s], span, weighted);
            if (other->object != NONE && offset[other->object] > offset[side->object])
                add_block(n, row, other, side, row->low[s], span, weighted);
        }
    }
    return true;
}

/* a -= f * b */
static inline void subtract(double *restrict a, double f, const double *restrict b, int64_t count) {
    for (int64_t k = 0; k < count; k++)
        a[k] -= f * b[k];
}

void rs_newton_matrix_solve(const rs_newton *n, double *x) {
    if (n->in_blocks) {
        rs_newton_blocks_solve(n, x);
        return;
    }
    if (rs_newton_is_small(n)) {
        rs_newton_small_solve(n, x);
        return;
    }
    const int32_t *first = n->first.items;
    for (int32_t i = 0; i < n->size; i++) {
        const double *row = entry(n, i, 0);
        x[i] = (x[i] - rs_newton_dot(row + first[i], x + first[i], i - first[i])) * row[i];
    }
    for (int32_t i = n->size - 1; i >= 0; i--) {
        const double *row = entry(n, i, 0);
        subtract(x + first[i], x[i] *= row[i], row + first[i], i - first[i]);
    }
}

void rs_newton_matrix_solve_many(const rs_newton *n, double *x, int32_t count) {
    if (rs_newton_is_small(n)) {
        rs_newton_small_solve_many(n, x, count);
        return;
    }
    for (int32_t k = 0; k < count; k++)
        rs_newton_matrix_solve(n, x + (int64_t)k * n->size);
}

static bool factorise(rs_newton *n, bool skew) {
    n->skew = skew;
    if (rs_array_resize(&n->vectors, (int64_t)n->size * RS_NEWTON_VECTORS) != RS_OK)
        return false;
    if (n->in_blocks)
        return rs_newton_blocks_factorise(n);
    if (rs_newton_is_small(n))
        return (n->dense || fill_dense(n)) && rs_newton_small_factorise(n);
    if (rs_array_resize(&n->matrix, n->profile) != RS_OK)
        return false;
    place_inertias(n);
    return add_rows(n) && rs_newton_cholesky(n);
}

bool rs_newton_matrix_factorise(rs_newton *n) { return factorise(n, false); }

bool rs_newton_factorise_skew(rs_newton *n) { return factorise(n, true); }

bool rs_newton_factorise_for_steps(rs_newton *n) {
    return factorise(n, n->in_blocks && n->sliding > 0) && rs_newton_prepare_sliding(n);
}
