/* The tree against looking at every box. */
#include "../../../csrc/base/memory.h"
#include "../../../csrc/model/bvh.h"
#include "../surface_fixture.h"

enum { MANY = 3000 };

static void fill_boxes(rs_aabb *boxes, uint32_t count, double size)
{
    uint64_t state = 7;
    for (uint32_t i = 0; i < count; i++) {
        rs_vec3 p = rs_v3(random_in(&state, -10, 10), random_in(&state, -3, 3), random_in(&state, -1, 1));
        rs_vec3 s = rs_v3(random_in(&state, 0, size), random_in(&state, 0, size), random_in(&state, 0, size));
        boxes[i] = (rs_aabb){p, rs_add(p, s)};
    }
}

static bool overlap(const rs_aabb *a, const rs_aabb *b)
{
    return a->min.x <= b->max.x && b->min.x <= a->max.x && a->min.y <= b->max.y && b->min.y <= a->max.y &&
           a->min.z <= b->max.z && b->min.z <= a->max.z;
}

/* Every box that overlaps is found, none twice. Leaves may add a few that do not. */
static void check_queries(uint32_t count, double size)
{
    static rs_aabb boxes[MANY];
    static uint32_t order[MANY];
    static int seen[MANY];
    fill_boxes(boxes, count, size);
    rs_bvh bvh;
    if (!CHECK(rs_bvh_build(&bvh, boxes, count, order) == RS_OK))
        return;
    uint64_t state = 99;
    for (int trial = 0; trial < 200; trial++) {
        rs_vec3 p = rs_v3(random_in(&state, -12, 12), random_in(&state, -4, 4), random_in(&state, -2, 2));
        rs_aabb query = {p, rs_add(p, rs_v3(random_in(&state, 0, 4), random_in(&state, 0, 2), random_in(&state, 0, 1)))};
        for (uint32_t i = 0; i < count; i++)
            seen[i] = 0;
        uint32_t item;
        for (rs_bvh_query q = rs_bvh_query_box(&bvh, query); rs_bvh_query_next(&q, &item);)
            seen[order[item]]++;
        bool complete = true;
        for (uint32_t i = 0; i < count; i++)
            complete = complete && seen[i] <= 1 && (seen[i] == 1 || !overlap(&boxes[i], &query));
        CHECK(complete);
    }
    rs_bvh_free(&bvh);
}

static void queries_find_what_brute_force_finds(void)
{
    check_queries(1, 0.5);
    check_queries(4, 0.5);
    check_queries(5, 0.5);
    check_queries(MANY, 0.3);
    check_queries(MANY, 5.0);
}

static void the_order_is_a_permutation(void)
{
    static rs_aabb boxes[MANY];
    static uint32_t order[MANY];
    static bool seen[MANY];
    fill_boxes(boxes, MANY, 1.0);
    rs_bvh bvh;
    CHECK(rs_bvh_build(&bvh, boxes, MANY, order) == RS_OK);
    for (int i = 0; i < MANY; i++)
        seen[order[i]] = true;
    bool all = true;
    for (int i = 0; i < MANY; i++)
        all = all && seen[i];
    CHECK(all);
    rs_bvh_free(&bvh);
}

static void equal_boxes_still_give_a_shallow_tree(void)
{
    static rs_aabb boxes[MANY];
    static uint32_t order[MANY];
    for (int i = 0; i < MANY; i++)
        boxes[i] = (rs_aabb){rs_v3(1, 2, 3), rs_v3(4, 5, 6)};
    rs_bvh bvh;
    CHECK(rs_bvh_build(&bvh, boxes, MANY, order) == RS_OK);
    int count = 0;
    uint32_t item;
    for (rs_bvh_query q = rs_bvh_query_box(&bvh, boxes[0]); rs_bvh_query_next(&q, &item);)
        count++;
    CHECK(count == MANY);
    rs_bvh_free(&bvh);
}

/* Boxes at powers of two make the heuristic split off one at a time: the stack must hold. */
static void a_lopsided_tree_stays_within_the_stack(void)
{
    static rs_aabb boxes[MANY];
    static uint32_t order[MANY];
    for (int i = 0; i < MANY; i++) {
        double x = ldexp(1.0, -(i % 900));
        boxes[i] = (rs_aabb){rs_v3(x, 0, 0), rs_v3(1.01 * x, x, x)};
    }
    rs_bvh bvh;
    CHECK(rs_bvh_build(&bvh, boxes, MANY, order) == RS_OK);
    int count = 0;
    uint32_t item;
    rs_aabb everything = {rs_v3(-INFINITY, -INFINITY, -INFINITY), rs_v3(INFINITY, INFINITY, INFINITY)};
    for (rs_bvh_query q = rs_bvh_query_box(&bvh, everything); rs_bvh_query_next(&q, &item);)
        count++;
    CHECK(count == MANY);
    rs_bvh_free(&bvh);
}

static void float_bounds_never_cut(void)
{
    uint64_t state = 1;
    for (int i = 0; i < 10000; i++) {
        double x = random_in(&state, -1e6, 1e6);
        CHECK((double)rs_float_below(x) <= x && (double)rs_float_above(x) >= x);
    }
    CHECK((double)rs_float_below(0.1) < 0.1 + 1e-8 && (double)rs_float_below(0.1) > 0.1 - 1e-8);
    CHECK((double)rs_float_below(1.5) >= 1.5 && (double)rs_float_above(1.5) <= 1.5);
}

static void nothing_is_left_allocated(void)
{
    size_t before = rs_memory_bytes();
    check_queries(500, 1.0);
    CHECK(rs_memory_bytes() == before);
}

int main(void)
{
    RUN(queries_find_what_brute_force_finds);
    RUN(the_order_is_a_permutation);
    RUN(equal_boxes_still_give_a_shallow_tree);
    RUN(a_lopsided_tree_stays_within_the_stack);
    RUN(float_bounds_never_cut);
    RUN(nothing_is_left_allocated);
    return CHECK_RESULT();
}
