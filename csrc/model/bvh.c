#include "bvh.h"

#include <float.h>
#include <string.h>

#include "../base/memory.h"

enum {
    BIN_COUNT = 16,
    SAH_DEPTH = RS_BVH_MAX_DEPTH - 32 /* below it ranges are halved: at most 32 levels more for 2^32 items */
};

typedef struct {
    const rs_aabb *boxes;
    uint32_t *order;
    RS_ARRAY(rs_bvh_node) nodes;
} builder;

typedef struct {
    uint32_t begin, end;
    int depth; /* two-way splits above this range */
    rs_aabb box;
} range;

/* ---- boxes ---- */

static const rs_aabb EMPTY_BOX = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};

/* Without fmin's care for NaN this is one instruction; it is where building spends its time. */
static double lesser(double a, double b) { return a < b ? a : b; }
static double greater(double a, double b) { return a > b ? a : b; }

static rs_aabb box_union(rs_aabb a, rs_aabb b) {
    return (rs_aabb){{lesser(a.min.x, b.min.x), lesser(a.min.y, b.min.y), lesser(a.min.z, b.min.z)},
                     {greater(a.max.x, b.max.x), greater(a.max.y, b.max.y), greater(a.max.z, b.max.z)}};
}

static double half_area(const rs_aabb *box) {
    rs_vec3 s = rs_sub(box->max, box->min);
    return s.x < 0.0 ? 0.0 : s.x * s.y + s.y * s.z + s.z * s.x;
}

static double center(const rs_aabb *box, int axis) {
    return 0.5 * rs_v3_get(box->min, axis) + 0.5 * rs_v3_get(box->max, axis);
}

float rs_float_below(double x) {
    float f = (float)x;
    return (double)f > x ? nextafterf(f, -INFINITY) : f;
}

float rs_float_above(double x) {
    float f = (float)x;
    return (double)f < x ? nextafterf(f, INFINITY) : f;
}

/* ---- splitting a range in two ---- */

typedef struct {
    int axis;
    int bin;     /* bins up to this one go left */
    double cost; /* sum of half area times items */
    double origin, scale; /* bin = (centre - origin) * scale */
} split;

static int bin_of(const rs_aabb *box, const split *s) {
    int bin = (int)((center(box, s->axis) - s->origin) * s->scale);
    return bin < 0 ? 0 : bin >= BIN_COUNT ? BIN_COUNT - 1 : bin;
}

/* Cheapest of the BIN_COUNT - 1 cuts along one axis; an infinite cost when all centres coincide. */
static split best_cut(const builder *b, range r, int axis, double lo, double hi) {
    split s = {axis, 0, INFINITY, lo, BIN_COUNT / (hi - lo)};
    if (!(hi > lo) || !isfinite(s.scale)) return s;
    rs_aabb boxes[BIN_COUNT];
    uint32_t counts[BIN_COUNT] = {0};
    for (int i = 0; i < BIN_COUNT; i++) boxes[i] = EMPTY_BOX;
    for (uint32_t i = r.begin; i < r.end; i++) {
        const rs_aabb *box = &b->boxes[b->order[i]];
        int bin = bin_of(box, &s);
        boxes[bin] = box_union(boxes[bin], *box);
        counts[bin]++;
    }
    /* sweep from the right, then from the left */
    double right_cost[BIN_COUNT];
    rs_aabb grown = EMPTY_BOX;
    uint32_t items = 0;
    for (int i = BIN_COUNT - 1; i > 0; i--) {
        grown = box_union(grown, boxes[i]);
        items += counts[i];
        right_cost[i] = items ? half_area(&grown) * items : INFINITY;
    }
    grown = EMPTY_BOX;
    items = 0;
    for (int i = 0; i < BIN_COUNT - 1; i++) {
        grown = box_union(grown, boxes[i]);
        items += counts[i];
        double cost = items ? half_area(&grown) * items + right_cost[i + 1] : INFINITY;
        if (cost < s.cost) {
            s.cost = cost;
            s.bin = i;
        }
    }
    return s;
}

static uint32_t partition(builder *b, range r, const split *s) {
    uint32_t mid = r.begin;
    for (uint32_t i = r.begin; i < r.end; i++) {
        uint32_t item = b->order[i];
        if (bin_of(&b->boxes[item], s) <= s->bin) {
            b->order[i] = b->order[mid];
            b->order[mid++] = item;
        }
    }
    return mid;
}

static range measure(const builder *b, uint32_t begin, uint32_t end, int depth) {
    range r = {begin, end, depth, EMPTY_BOX};
    for (uint32_t i = begin; i < end; i++) r.box = box_union(r.box, b->boxes[b->order[i]]);
    return r;
}

static void split_range(builder *b, range r, range *left, range *right) {
    uint32_t mid = r.begin + (r.end - r.begin) / 2;
    if (r.depth < SAH_DEPTH) {
        split best = {0, 0, INFINITY, 0.0, 0.0};
        for (int axis = 0; axis < 3; axis++) {
            double lo = INFINITY, hi = -INFINITY;
            for (uint32_t i = r.begin; i < r.end; i++) {
                double c = center(&b->boxes[b->order[i]], axis);
                lo = lesser(lo, c);
                hi = greater(hi, c);
            }
            split s = best_cut(b, r, axis, lo, hi);
            if (s.cost < best.cost) best = s;
        }
        if (isfinite(best.cost)) mid = partition(b, r, &best);
    }
    *left = measure(b, r.begin, mid, r.depth + 1);
    *right = measure(b, mid, r.end, r.depth + 1);
}

/* ---- four-way nodes ---- */

/* Splits the largest child that is still too big, until there are four or all are leaves. */
static int split_into_children(builder *b, range r, range children[RS_BVH_WIDTH]) {
    children[0] = r;
    int count = 1;
    while (count < RS_BVH_WIDTH) {
        int widest = -1;
        for (int i = 0; i < count; i++)
            if (children[i].end - children[i].begin > RS_BVH_LEAF_ITEMS &&
                (widest < 0 || half_area(&children[i].box) > half_area(&children[widest].box)))
                widest = i;
        if (widest < 0) break;
        range whole = children[widest];
        split_range(b, whole, &children[widest], &children[count]);
        count++;
    }
    return count;
}

static void set_child(rs_bvh_node *node, int slot, const range *r) {
    for (int axis = 0; axis < 3; axis++) {
        node->lo[axis][slot] = rs_float_below(rs_v3_get(r->box.min, axis));
        node->hi[axis][slot] = rs_float_above(rs_v3_get(r->box.max, axis));
    }
}

static rs_status build_node(builder *b, range r, uint32_t *index) {
    rs_bvh_node *node = rs_array_push(&b->nodes);
    if (node == NULL) return RS_OUT_OF_MEMORY;
    *index = (uint32_t)(b->nodes.count - 1);
    range children[RS_BVH_WIDTH];
    int count = split_into_children(b, r, children);
    for (int i = 0; i < RS_BVH_WIDTH; i++) set_child(node, i, i < count ? &children[i] : &(range){0, 0, 0, EMPTY_BOX});
    for (int i = 0; i < count; i++) {
        uint32_t items = children[i].end - children[i].begin, child = children[i].begin;
        if (items > RS_BVH_LEAF_ITEMS) {
            rs_status status = build_node(b, children[i], &child);
            if (status != RS_OK) return status;
            items = 0;
        }
        node = b->nodes.items + *index; /* the array may have moved */
        node->child[i] = child;
        node->count[i] = items;
    }
    return RS_OK;
}

rs_status rs_bvh_build(rs_bvh *bvh, const rs_aabb *boxes, uint32_t count, uint32_t *order) {
    builder b = {.boxes = boxes, .order = order};
    for (uint32_t i = 0; i < count; i++) order[i] = i;
    uint32_t root;
    rs_status status = build_node(&b, measure(&b, 0, count, 0), &root);
    if (status != RS_OK) {
        rs_array_free(&b.nodes);
        return status;
    }
    bvh->nodes = b.nodes.items;
    bvh->node_count = (uint32_t)b.nodes.count;
    return RS_OK;
}

void rs_bvh_free(rs_bvh *bvh) {
    rs_free(bvh->nodes);
    memset(bvh, 0, sizeof *bvh);
}

/* ---- queries ---- */

rs_bvh_query rs_bvh_query_box(const rs_bvh *bvh, rs_aabb box) {
    rs_bvh_query q;
    q.bvh = bvh;
    for (int axis = 0; axis < 3; axis++) { /* finite, so that absent children are never touched */
        q.lo[axis] = fmaxf(rs_float_below(rs_v3_get(box.min, axis)), -FLT_MAX);
        q.hi[axis] = fminf(rs_float_above(rs_v3_get(box.max, axis)), FLT_MAX);
    }
    q.normal[0] = q.normal[1] = q.normal[2] = q.offset = q.reach = 0.0f;
    q.item = q.item_end = 0;
    q.stack[0].child = 0;
    q.stack[0].count = 0;
    q.top = 1;
    return q;
}

void rs_bvh_query_near_plane(rs_bvh_query *q, rs_vec3 normal, rs_vec3 point, double margin) {
    double rounding = 0.0; /* of the distance of a box to the plane in single precision */
    for (int axis = 0; axis < 3; axis++) {
        q->normal[axis] = (float)rs_v3_get(normal, axis);
        double bound = fmax(fabs((double)q->lo[axis]), fabs((double)q->hi[axis])) + fabs(rs_v3_get(point, axis));
        for (int c = 0; c < RS_BVH_WIDTH; c++) {
            const rs_bvh_node *root = &q->bvh->nodes[0];
            if (root->lo[axis][c] <= root->hi[axis][c])
                bound = fmax(bound, fmax(fabs((double)root->lo[axis][c]), fabs((double)root->hi[axis][c])));
        }
        rounding += 8.0 * (double)FLT_EPSILON * bound;
    }
    q->offset = (float)rs_dot(normal, point);
    q->reach = rs_float_above(margin + rounding);
}

static void push_touched_children(rs_bvh_query *q, const rs_bvh_node *node) {
    int32_t hit[RS_BVH_WIDTH];
    for (int i = 0; i < RS_BVH_WIDTH; i++) {
        hit[i] = (node->lo[0][i] <= q->hi[0]) & (node->hi[0][i] >= q->lo[0]) & (node->lo[1][i] <= q->hi[1]) &
                 (node->hi[1][i] >= q->lo[1]) & (node->lo[2][i] <= q->hi[2]) & (node->hi[2][i] >= q->lo[2]);
        float height = -q->offset, reach = q->reach;
        for (int axis = 0; axis < 3; axis++) {
            height += 0.5f * q->normal[axis] * (node->hi[axis][i] + node->lo[axis][i]);
            reach += 0.5f * fabsf(q->normal[axis]) * (node->hi[axis][i] - node->lo[axis][i]);
        }
        hit[i] &= fabsf(height) <= reach;
    }
    for (int i = RS_BVH_WIDTH - 1; i >= 0; i--) {
        if (!hit[i]) continue;
        q->stack[q->top].child = node->child[i];
        q->stack[q->top].count = node->count[i];
        q->top++;
    }
}

bool rs_bvh_query_next(rs_bvh_query *q, uint32_t *item) {
    while (q->item == q->item_end) {
        if (q->top == 0) return false;
        q->top--;
        uint32_t child = q->stack[q->top].child, count = q->stack[q->top].count;
        if (count == 0) {
            push_touched_children(q, &q->bvh->nodes[child]);
        } else {
            q->item = child;
            q->item_end = child + count;
        }
    }
    *item = q->item++;
    return true;
}
