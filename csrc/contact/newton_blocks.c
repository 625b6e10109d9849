/* Islands of single bodies: M + J' K J and its factors in blocks of 6 x 6, only those that are not zero. K is symmetric but for
 * the friction that follows loads: without any, the factors are Cholesky's; otherwise A = L * D * U, where the blocks of U are
 * kept transposed beside those of L. */
#include "newton_matrix.h"

#include "../base/band.h"

#include <math.h>
#include <string.h>

/* A block lies in memory column by column, each filled up to eight numbers with zeros. */
enum { SPAN = RS_BODY_SPAN, COLUMN = RS_BODY_COLUMN, BLOCK = SPAN * COLUMN };

typedef struct {
    rs_v4 low, high;
} eight;

RS_INLINE eight load8(const double *from) { return (eight){rs_v4_read(from), rs_v4_read(from + 4)}; }

RS_INLINE void store8(double *to, eight v) {
    memcpy(to, &v.low, sizeof v.low);
    memcpy(to + 4, &v.high, sizeof v.high);
}

static double *block_at(const rs_newton *n, int64_t b) { return n->matrix.items + BLOCK * b; }
static double *mirror_of(const rs_newton *n, int64_t b) { return block_at(n, n->column.count + b); }

/* ---- the matrix ---- */

static void place_inertias(rs_newton *n) {
    double *band = n->bands.items;
    for (int64_t k = 0; k < n->spans.count; k++, band += RS_BAND_WIDTH * SPAN) {
        double *block = block_at(n, n->column_start.items[n->offset.items[k] / SPAN]);
        for (int32_t i = 0; i < SPAN; i++)
            for (int32_t j = 0; j <= i; j++)
                block[COLUMN * j + i] = block[COLUMN * i + j] = *rs_band_at(band, i, j);
    }
}

/* block += high' * low, by axis. */
static void add_products(double *block, const double (*high)[COLUMN], const double (*low)[COLUMN], int first_axis) {
    eight h[3] = {load8(high[0]), load8(high[1]), load8(high[2])};
    for (int c = 0; c < SPAN; c++) {
        eight sum = load8(block + COLUMN * c);
        for (int a = first_axis; a < 3; a++) {
            rs_v4 w = rs_v4_all(low[a][c]);
            sum = (eight){sum.low + h[a].low * w, sum.high + h[a].high * w};
        }
        store8(block + COLUMN * c, sum);
    }
}

/* weighted = weight * J */
static void weigh(const rs_newton_row *row, const double (*axes)[COLUMN], double weighted[3][COLUMN]) {
    eight x = load8(axes[0]), y = load8(axes[1]), z = load8(axes[2]);
    for (int a = row->first_axis; a < 3; a++) {
        rs_v4 wx = rs_v4_all(row->weight[a][0]), wy = rs_v4_all(row->weight[a][1]), wz = rs_v4_all(row->weight[a][2]);
        store8(weighted[a], (eight){wx * x.low + wy * y.low + wz * z.low, wx * x.high + wy * y.high + wz * z.high});
    }
}

/* Friction that follows a load: the speed of the bearer along its normal gives an impulse. */
static void add_following(const rs_newton *n, const rs_newton_row *row, int s, double weighted[3][COLUMN]) {
    double stiffness = RS_ITEM(n->rows, row->bearer)->weight[2][2];
    eight normal = load8(rs_newton_axes(n, row->bearer, s)[2]);
    for (int a = 0; a < 3; a++) {
        eight sum = load8(weighted[a]);
        rs_v4 w = rs_v4_all(row->follow[a] * stiffness);
        store8(weighted[a], (eight){sum.low + normal.low * w, sum.high + normal.high * w});
    }
}

static void add_row(rs_newton *n, int64_t k, const rs_newton_row *row) {
    const int32_t *start = n->column_start.items, *offset = n->offset.items;
    double weighted[3][COLUMN];
    bool follows = n->skew && rs_newton_follows(row);
    for (int s = 0; s < 2; s++) {
        int32_t own = row->sides[s].object, other = row->sides[1 - s].object;
        if (own < 0)
            continue;
        const double(*axes)[COLUMN] = rs_newton_axes(n, k, s), (*others)[COLUMN] = rs_newton_axes(n, k, 1 - s);
        weigh(row, axes, weighted);
        if (follows)
            add_following(n, row, s, weighted);
        add_products(block_at(n, start[offset[own] / SPAN]), axes, weighted, row->first_axis);
        if (other < 0)
            continue;
        if (offset[other] > offset[own])
            add_products(block_at(n, row->between), others, weighted, row->first_axis);
        else if (n->skew)
            add_products(mirror_of(n, row->between), weighted, others, row->first_axis);
    }
}

/* ---- factors ---- */

static void swap(double *a, double *b) {
    double kept = *a;
    *a = *b;
    *b = kept;
}

/* c -= a * b' */
static void subtract_product(double *c, const double *a, const double *b) {
    eight sum[SPAN];
    for (int j = 0; j < SPAN; j++)
        sum[j] = load8(c + COLUMN * j);
    for (int k = 0; k < SPAN; k++) {
        eight column = load8(a + COLUMN * k);
        for (int j = 0; j < SPAN; j++) {
            rs_v4 factor = rs_v4_all(b[COLUMN * k + j]);
            sum[j].low -= column.low * factor;
            sum[j].high -= column.high * factor;
        }
    }
    for (int j = 0; j < SPAN; j++)
        store8(c + COLUMN * j, sum[j]);
}

/* Cholesky's factor of a block of the diagonal; its own diagonal is stored inverted. False when it is not positive definite. */
static bool find_root(double *block) {
    for (int j = 0; j < SPAN; j++) {
        double *own = block + COLUMN * j;
        for (int k = 0; k < j; k++) {
            const double *before = block + COLUMN * k;
            for (int i = j; i < SPAN; i++)
                own[i] -= before[i] * before[j];
        }
        if (!(own[j] > 0.0))
            return false;
        own[j] = 1.0 / sqrt(own[j]);
        for (int i = j + 1; i < SPAN; i++)
            own[i] *= own[j];
    }
    return true;
}

/* block = block * root^-T */
static void divide_by_root(double *block, const double *root) {
    for (int j = 0; j < SPAN; j++) {
        eight own = load8(block + COLUMN * j);
        for (int k = 0; k < j; k++) {
            eight before = load8(block + COLUMN * k);
            rs_v4 factor = rs_v4_all(root[COLUMN * k + j]);
            own.low -= before.low * factor;
            own.high -= before.high * factor;
        }
        rs_v4 inverse = rs_v4_all(root[COLUMN * j + j]);
        store8(block + COLUMN * j, (eight){own.low * inverse, own.high * inverse});
    }
}

/* Inverts a block by Gauss and Jordan with pivots. Returns the sign of its determinant, 0 when it is singular. */
static int32_t invert(double *block) {
    int32_t pivots[SPAN], sign = 1;
    for (int k = 0; k < SPAN; k++) {
        int pivot = k;
        for (int i = k + 1; i < SPAN; i++)
            if (fabs(block[COLUMN * k + i]) > fabs(block[COLUMN * k + pivot]))
                pivot = i;
        pivots[k] = pivot;
        for (int j = 0; j < SPAN && pivot != k; j++)
            swap(&block[COLUMN * j + k], &block[COLUMN * j + pivot]);
        double inverse = 1.0 / block[COLUMN * k + k];
        if (!isfinite(inverse))
            return 0;
        sign *= (inverse < 0.0) != (pivot != k) ? -1 : 1;
        eight factors = load8(block + COLUMN * k);
        block[COLUMN * k + k] = 1.0;
        for (int j = 0; j < SPAN; j++) {
            double top = block[COLUMN * j + k] *= inverse;
            if (j == k)
                for (int i = 0; i < SPAN; i++)
                    block[COLUMN * j + i] = i == k ? top : 0.0;
            eight own = load8(block + COLUMN * j);
            store8(block + COLUMN * j, (eight){own.low - factors.low * rs_v4_all(top), own.high - factors.high * rs_v4_all(top)});
            block[COLUMN * j + k] = top;
        }
    }
    for (int k = SPAN - 1; k >= 0; k--)
        for (int i = 0; i < SPAN && pivots[k] != k; i++)
            swap(&block[COLUMN * k + i], &block[COLUMN * pivots[k] + i]);
    return sign;
}

/* block = block * inverse */
static void multiply(double *block, const double *inverse) {
    eight old[SPAN];
    for (int k = 0; k < SPAN; k++)
        old[k] = load8(block + COLUMN * k);
    for (int j = 0; j < SPAN; j++) {
        eight sum = {rs_v4_all(0.0), rs_v4_all(0.0)};
        for (int k = 0; k < SPAN; k++) {
            rs_v4 factor = rs_v4_all(inverse[COLUMN * j + k]);
            sum.low += old[k].low * factor;
            sum.high += old[k].high * factor;
        }
        store8(block + COLUMN * j, sum);
    }
}

/* What a column before, in which the row j has the block `own`, does to column j, and to row j of U. */
static void take_from_before(rs_newton *n, int32_t j, int32_t own, const int32_t *where) {
    const int32_t *start = n->column_start.items, *column = n->column.items;
    int32_t k = n->column_of.items[own];
    const double *left = block_at(n, own), *up = n->skew ? mirror_of(n, own) : left;
    for (int32_t b = start[k] + 1; b < start[k + 1]; b++) {
        if (column[b] < j)
            continue;
        subtract_product(block_at(n, where[column[b]]), block_at(n, b), up);
        if (n->skew && column[b] > j)
            subtract_product(mirror_of(n, where[column[b]]), mirror_of(n, b), left);
    }
}

static bool end_column(rs_newton *n, int32_t first, int32_t end) {
    double *diagonal = block_at(n, first);
    n->sign *= n->skew ? invert(diagonal) : find_root(diagonal);
    if (n->sign == 0)
        return false;
    for (int32_t b = first + 1; b < end; b++)
        if (n->skew)
            multiply(block_at(n, b), diagonal);
        else
            divide_by_root(block_at(n, b), diagonal);
    return true;
}

static bool factorise(rs_newton *n) {
    const int32_t *start = n->column_start.items, *column = n->column.items;
    const int32_t *row_start = n->row_start.items, *row_blocks = n->row_blocks.items;
    int32_t objects = (int32_t)n->spans.count, *where = n->order.items;
    n->sign = 1;
    for (int32_t j = 0; j < objects; j++) {
        for (int32_t b = start[j]; b < start[j + 1]; b++)
            where[column[b]] = b;
        for (int32_t r = row_start[j]; r < row_start[j + 1]; r++)
            take_from_before(n, j, row_blocks[r], where);
        if (!end_column(n, start[j], start[j + 1]))
            return false;
    }
    return true;
}

bool rs_newton_blocks_factorise(rs_newton *n) {
    if (rs_array_resize(&n->matrix, BLOCK * n->column.count * (n->skew ? 2 : 1)) != RS_OK)
        return false;
    memset(n->matrix.items, 0, (size_t)n->matrix.count * sizeof(double));
    place_inertias(n);
    for (int64_t k = 0; k < n->rows.count; k++) {
        const rs_newton_row *row = RS_ITEM(n->rows, k);
        if (row->state != RS_ROW_OPEN)
            add_row(n, k, row);
    }
    return factorise(n);
}

/* ---- solution ---- */

/* x = root^-1 * x, and x = root^-T * x */
static void solve_forward(const double *root, double *x) {
    for (int j = 0; j < SPAN; j++) {
        x[j] *= root[COLUMN * j + j];
        for (int i = j + 1; i < SPAN; i++)
            x[i] -= root[COLUMN * j + i] * x[j];
    }
}

static void solve_backward(const double *root, double *x) {
    for (int j = SPAN - 1; j >= 0; j--) {
        for (int i = j + 1; i < SPAN; i++)
            x[j] -= root[COLUMN * j + i] * x[i];
        x[j] *= root[COLUMN * j + j];
    }
}

/* block * x */
RS_INLINE eight image_of(const double *block, const double *x) {
    eight sum = {rs_v4_all(0.0), rs_v4_all(0.0)};
    for (int j = 0; j < SPAN; j++) {
        eight column = load8(block + COLUMN * j);
        sum.low += column.low * rs_v4_all(x[j]);
        sum.high += column.high * rs_v4_all(x[j]);
    }
    return sum;
}

static void subtract_image(const double *block, const double *x, double *to) {
    eight image = image_of(block, x);
    for (int i = 0; i < SPAN; i++)
        to[i] -= i < 4 ? image.low[i] : image.high[i - 4];
}

static void replace_by_image(const double *block, double *x) {
    eight image = image_of(block, x);
    for (int i = 0; i < SPAN; i++)
        x[i] = i < 4 ? image.low[i] : image.high[i - 4];
}

/* to -= block' * x */
static void subtract_transposed(const double *block, const double *x, double *to) {
    rs_v4 low = {x[0], x[1], x[2], x[3]}, high = {x[4], x[5], 0.0, 0.0};
    for (int j = 0; j < SPAN; j++) {
        eight column = load8(block + COLUMN * j);
        to[j] -= rs_v4_sum(column.low * low + column.high * high);
    }
}

void rs_newton_blocks_solve(const rs_newton *n, double *x) {
    const int32_t *start = n->column_start.items, *column = n->column.items;
    int32_t objects = (int32_t)n->spans.count;
    for (int32_t j = 0; j < objects; j++) {
        if (!n->skew)
            solve_forward(block_at(n, start[j]), x + SPAN * j);
        for (int32_t b = start[j] + 1; b < start[j + 1]; b++)
            subtract_image(block_at(n, b), x + SPAN * j, x + SPAN * column[b]);
    }
    for (int32_t j = objects - 1; j >= 0; j--) {
        for (int32_t b = start[j] + 1; b < start[j + 1]; b++)
            subtract_transposed(n->skew ? mirror_of(n, b) : block_at(n, b), x + SPAN * column[b], x + SPAN * j);
        if (n->skew)
            replace_by_image(block_at(n, start[j]), x + SPAN * j);
        else
            solve_backward(block_at(n, start[j]), x + SPAN * j);
    }
}

/* ---- rows ---- */

bool rs_newton_blocks_take_rows(rs_newton *n) {
    if (rs_array_resize(&n->axes, 2 * 3 * COLUMN * n->rows.count) != RS_OK)
        return false;
    memset(n->axes.items, 0, (size_t)n->axes.count * sizeof(double));
    for (int64_t k = 0; k < n->rows.count; k++)
        for (int s = 0; s < 2; s++) {
            const rs_side_jacobian *side = &RS_ITEM(n->rows, k)->sides[s];
            double(*axes)[COLUMN] = rs_newton_axes(n, k, s);
            for (int32_t e = 0; side->object >= 0 && e < side->size; e++) {
                axes[0][side->index[e]] = side->columns[e].xyz.x;
                axes[1][side->index[e]] = side->columns[e].xyz.y;
                axes[2][side->index[e]] = side->columns[e].xyz.z;
            }
        }
    return true;
}

void rs_newton_blocks_find_places(rs_newton *n) {
    const int32_t *start = n->column_start.items, *column = n->column.items;
    const int32_t *offset = n->offset.items;
    rs_newton_row *rows = n->rows.items;
    for (int64_t k = 0; k < n->rows.count; k++) {
        const rs_side_jacobian *sides = rows[k].sides;
        if (sides[0].object < 0 || sides[1].object < 0)
            continue;
        int32_t a = offset[sides[0].object] / SPAN, b = offset[sides[1].object] / SPAN;
        int32_t low = a < b ? a : b, high = a < b ? b : a;
        rows[k].between = start[low];
        while (column[rows[k].between] != high)
            rows[k].between++;
    }
}
