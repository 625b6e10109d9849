/* Islands of single bodies: the order in which they are eliminated, and which blocks of the factor that fills. */
#include "newton_matrix.h"

#include <string.h>

enum { WORD = 64 };
/* Multiplications of a product of two blocks, for each of both factors. */
static const double PRODUCT = 2.0 * 216.0;

/* The graph of those that are left: bit j of row i is set where i and j are linked, or became so by an elimination. */
typedef struct {
    uint64_t *near;
    int32_t *degree, *left; /* `left`: those that are */
    int64_t words;
    int32_t count;          /* of them */
    int32_t least;          /* degree of the last one that was taken out */
} graph;

static uint64_t *near_of(const graph *g, int32_t k) { return g->near + k * g->words; }
static void set_bit(uint64_t *bits, int32_t k) { bits[k / WORD] |= (uint64_t)1 << (k % WORD); }
static void clear_bit(uint64_t *bits, int32_t k) { bits[k / WORD] &= ~((uint64_t)1 << (k % WORD)); }

static int32_t count_bits(const uint64_t *bits, int64_t words) {
    int32_t count = 0;
    for (int64_t w = 0; w < words; w++)
        count += __builtin_popcountll(bits[w]);
    return count;
}

static bool make_graph(rs_newton *n, graph *g) {
    int32_t objects = (int32_t)n->spans.count;
    *g = (graph){.words = (objects + WORD - 1) / WORD, .count = objects};
    if (rs_array_resize(&n->near, objects * g->words) != RS_OK || rs_array_resize(&n->first, 2 * (int64_t)objects) != RS_OK)
        return false;
    const int32_t *links = n->links.items, *start = n->link_start.items;
    g->near = n->near.items;
    g->degree = n->first.items;
    g->left = g->degree + objects;
    memset(g->near, 0, (size_t)(objects * g->words) * sizeof *g->near);
    for (int32_t k = 0; k < objects; k++) {
        for (int32_t e = start[k]; e < start[k + 1]; e++)
            if (links[e] != k)
                set_bit(near_of(g, k), links[e]);
        g->degree[k] = count_bits(near_of(g, k), g->words);
        g->left[k] = k;
    }
    return true;
}

/* Takes out the one with the fewest neighbours; none has fewer than one less than the last one had. */
static int32_t take_least(graph *g) {
    int32_t best = 0;
    for (int32_t k = 1; k < g->count && g->degree[g->left[best]] >= g->least; k++)
        if (g->degree[g->left[k]] < g->degree[g->left[best]])
            best = k;
    int32_t object = g->left[best];
    g->least = g->degree[object];
    g->left[best] = g->left[--g->count];
    return object;
}

/* Its neighbours become neighbours of each other, and rows of its column. */
static bool eliminate(rs_newton *n, graph *g, int32_t object) {
    int64_t end = n->column.count;
    if (rs_array_resize(&n->column, end + 1 + g->degree[object]) != RS_OK)
        return false;
    int32_t *column = n->column.items;
    const uint64_t *own = near_of(g, object);
    column[end++] = object;
    for (int64_t w = 0; w < g->words; w++)
        for (uint64_t bits = own[w]; bits != 0; bits &= bits - 1) {
            int32_t other = (int32_t)(WORD * w) + __builtin_ctzll(bits);
            uint64_t *theirs = near_of(g, other);
            for (int64_t v = 0; v < g->words; v++)
                theirs[v] |= own[v];
            clear_bit(theirs, other);
            clear_bit(theirs, object);
            g->degree[other] = count_bits(theirs, g->words);
            column[end++] = other;
        }
    return true;
}

/* Least degree first. Returns the work, or that so far when it is certain to exceed `most`. */
static double eliminate_all(rs_newton *n, graph *g, double most) {
    int32_t *start = n->column_start.items, *order = n->order.items;
    double work = 0.0;
    n->column.count = 0;
    for (int32_t k = 0; g->count > 0; k++) {
        int32_t object = take_least(g);
        double degree = g->degree[object]; /* all that are left have at least as many: a dense core of that size remains */
        work += PRODUCT * (0.5 * degree * (degree + 1.0) + 0.5 * degree + 0.2);
        if (work + PRODUCT * degree * degree * degree / 6.0 > most)
            return 2.0 * most;
        order[k] = object;
        start[k] = (int32_t)n->column.count;
        if (!eliminate(n, g, object))
            return -1.0;
        start[k + 1] = (int32_t)n->column.count;
    }
    return work;
}

/* Columns name their rows by place in the order, no longer by object; and lists for each row its blocks beside the diagonal. */
static bool list_by_row(rs_newton *n) {
    int32_t objects = (int32_t)n->spans.count, *column = n->column.items;
    const int32_t *start = n->column_start.items, *offset = n->offset.items;
    if (rs_array_resize(&n->row_start, objects + 2) != RS_OK ||
        rs_array_resize(&n->row_blocks, n->column.count) != RS_OK || rs_array_resize(&n->column_of, n->column.count) != RS_OK)
        return false;
    int32_t *row_start = n->row_start.items, *blocks = n->row_blocks.items;
    memset(row_start, 0, (size_t)(objects + 2) * sizeof *row_start);
    for (int32_t k = 0; k < objects; k++)
        for (int32_t b = start[k]; b < start[k + 1]; b++) {
            column[b] = offset[column[b]] / RS_BODY_SPAN;
            n->column_of.items[b] = k;
            if (b > start[k])
                row_start[column[b] + 2]++;
        }
    for (int32_t k = 0; k < objects; k++)
        row_start[k + 2] += row_start[k + 1];
    for (int32_t k = 0; k < objects; k++)
        for (int32_t b = start[k] + 1; b < start[k + 1]; b++)
            blocks[row_start[column[b] + 1]++] = b;
    return true;
}

double rs_newton_order_blocks(rs_newton *n, double most) {
    int32_t objects = (int32_t)n->spans.count;
    graph g;
    if (rs_array_resize(&n->order, objects) != RS_OK || rs_array_resize(&n->offset, objects) != RS_OK ||
        rs_array_resize(&n->column_start, objects + 1) != RS_OK || !make_graph(n, &g))
        return -1.0;
    double work = eliminate_all(n, &g, most);
    if (work < 0.0 || work > most)
        return work;
    for (int32_t k = 0; k < objects; k++)
        n->offset.items[n->order.items[k]] = RS_BODY_SPAN * k;
    n->size = RS_BODY_SPAN * objects;
    return list_by_row(n) ? work : -1.0;
}
