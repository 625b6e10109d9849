/* All broad phases against brute force: same pairs, in the same order, whatever the boxes. */
#include <string.h>

#include "../../../csrc/collision/broad_phase.h"
#include "../check.h"
#include "../random.h"

enum { COUNT = 600 };

typedef struct {
    rs_collider colliders[COUNT];
    rs_contact_settings settings;
    uint64_t random;
} scene;

static const double BOX_SIZES[] = {0.05, 0.4, 3.0};

static void place(scene *s, rs_collider *c, double spread)
{
    double size = BOX_SIZES[(int)random_between(&s->random, 0.0, 3.0)];
    rs_vec3 centre = random_vector(&s->random, spread), half = rs_v3_abs(random_vector(&s->random, size));
    c->box = (rs_aabb){rs_sub(centre, half), rs_add(centre, half)};
}

static scene *random_scene(uint64_t seed, double spread)
{
    static scene s;
    memset(&s, 0, sizeof s);
    s.random = seed;
    s.settings = (rs_contact_settings){.mbp_world_min = {-100, -100, -100}, .mbp_world_max = {100, 100, 100},
                                       .mbp_cell_size = {1, 1, 1}, .mbp_padding = 0.5,
                                       .mbp_max_cells_per_axis = 128, .mbp_max_cells_per_object = 64};
    for (int i = 0; i < COUNT; i++) {
        rs_collider *c = &s.colliders[i];
        c->alive = random_between(&s.random, 0.0, 1.0) < 0.9;
        c->body = i / 2; /* two colliders per body */
        c->dynamic = random_between(&s.random, 0.0, 1.0) < 0.7;
        c->active = c->dynamic && random_between(&s.random, 0.0, 1.0) < 0.8;
        c->group = 1ULL << (int)random_between(&s.random, 0.0, 3.0);
        c->mask = random_between(&s.random, 0.0, 1.0) < 0.7 ? UINT64_MAX : 3;
        place(&s, c, spread);
    }
    return &s;
}

static bool boxes_meet(const rs_aabb *a, const rs_aabb *b)
{
    return a->min.x <= b->max.x && b->min.x <= a->max.x && a->min.y <= b->max.y && b->min.y <= a->max.y &&
           a->min.z <= b->max.z && b->min.z <= a->max.z;
}

static bool expected_pair(const rs_collider *a, const rs_collider *b)
{
    bool wanted = (a->group & b->mask) != 0 && (b->group & a->mask) != 0;
    return a->alive && b->alive && a->body != b->body && (a->dynamic || b->dynamic) && (a->active || b->active) &&
           wanted && boxes_meet(&a->box, &b->box);
}

/* Number of pairs, or -1 where the found list differs from the double loop. */
static int64_t compare_with_brute_force(const scene *s, const RS_ARRAY(rs_pair) *pairs)
{
    int64_t k = 0;
    for (int32_t i = 0; i < COUNT; i++)
        for (int32_t j = i + 1; j < COUNT; j++) {
            if (!expected_pair(&s->colliders[i], &s->colliders[j]))
                continue;
            const rs_pair *pair = k < pairs->count ? &pairs->items[k] : NULL;
            if (pair == NULL || pair->a != i || pair->b != j)
                return -1;
            k++;
        }
    return k == pairs->count ? k : -1;
}

static rs_broad_phase_scene whole(const scene *s)
{
    return (rs_broad_phase_scene){.colliders = s->colliders, .collider_count = COUNT};
}

static rs_status find_pairs(rs_broad_phase *bp, const scene *s, RS_ARRAY(rs_pair) *pairs)
{
    rs_broad_phase_scene all = whole(s);
    CHECK(rs_broad_phase_find(bp, &s->settings, &all) == RS_OK);
    return rs_broad_phase_order(bp, COUNT, pairs);
}

static void list_colliders(rs_broad_phase *bp, const scene *s)
{
    rs_broad_phase_scene all = whole(s);
    CHECK(rs_broad_phase_rebuild(bp, &all) == RS_OK);
}

static const int32_t METHODS[] = {RS_BROADPHASE_NONE, RS_BROADPHASE_SAP_3_AXIS, RS_BROADPHASE_MULTI_BOX_PRUNE};

/* Runs every method over some steps in which the boxes move; returns the number of pairs seen. */
static int64_t check_scene(scene *s, int steps)
{
    rs_broad_phase bp[3];
    RS_ARRAY(rs_pair) pairs = {0};
    int64_t seen = 0;
    for (int m = 0; m < 3; m++) {
        bp[m] = (rs_broad_phase){0};
        list_colliders(&bp[m], s);
    }
    for (int step = 0; step < steps; step++) {
        for (int m = 0; m < 3; m++) {
            s->settings.broadphase = METHODS[m];
            CHECK(find_pairs(&bp[m], s, &pairs) == RS_OK);
            int64_t count = compare_with_brute_force(s, &pairs);
            CHECK(count >= 0);
            seen += count;
        }
        for (int i = 0; i < COUNT; i++) {
            rs_vec3 shift = random_vector(&s->random, 0.3);
            rs_aabb *box = &s->colliders[i].box;
            *box = (rs_aabb){rs_add(box->min, shift), rs_add(box->max, shift)};
        }
    }
    for (int m = 0; m < 3; m++)
        rs_broad_phase_free(&bp[m]);
    rs_array_free(&pairs);
    return seen;
}

static void all_methods_agree_with_brute_force_while_boxes_move(void)
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        CHECK(check_scene(random_scene(seed, 2.0), 20) > 1000);
        CHECK(check_scene(random_scene(seed, 10.0), 20) > 100);
        check_scene(random_scene(seed, 400.0), 10); /* beyond the grid's bounds */
    }
}

static void boxes_in_a_line_along_each_axis(void)
{
    for (int axis = 0; axis < 3; axis++) {
        scene *s = random_scene(11, 1.0);
        for (int i = 0; i < COUNT; i++) {
            rs_vec3 shift = rs_v3_zero();
            rs_v3_set(&shift, axis, 0.3 * i);
            s->colliders[i].box.min = rs_add(s->colliders[i].box.min, shift);
            s->colliders[i].box.max = rs_add(s->colliders[i].box.max, shift);
        }
        CHECK(check_scene(s, 5) > 100);
    }
}

static void infinite_boxes_meet_everything_in_their_reach(void)
{
    scene *s = random_scene(21, 5.0);
    for (int i = 0; i < 3; i++) /* a half-space, a slab, everything */
        s->colliders[20 * i] = (rs_collider){.alive = true, .body = 1000 + i, .group = 7, .mask = UINT64_MAX,
                                             .box = {{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}}};
    s->colliders[0].box.max.z = 0.0;
    s->colliders[20].box.min.x = -1.0;
    s->colliders[20].box.max.x = 1.0;
    CHECK(check_scene(s, 5) > 1000);
}

static void nothing_but_infinite_boxes(void)
{
    scene *s = random_scene(22, 5.0);
    for (int i = 0; i < COUNT; i++) {
        s->colliders[i].alive = i < 10;
        s->colliders[i].box = (rs_aabb){{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, 0.0}};
    }
    CHECK(check_scene(s, 1) > 0);
}

static void boxes_that_touch_count_and_points_too(void)
{
    scene *s = random_scene(31, 5.0);
    for (int i = 0; i < COUNT; i++) { /* unit cubes on a lattice, every fourth one a point */
        rs_vec3 low = rs_v3(i % 7, i / 7 % 7, i / 49), size = i % 4 == 0 ? rs_v3_zero() : rs_v3(1, 1, 1);
        s->colliders[i].box = (rs_aabb){low, rs_add(low, size)};
    }
    rs_broad_phase bp = {0};
    RS_ARRAY(rs_pair) pairs = {0};
    for (int m = 0; m < 3; m++) {
        s->settings.broadphase = METHODS[m];
        list_colliders(&bp, s);
        find_pairs(&bp, s, &pairs);
        CHECK(compare_with_brute_force(s, &pairs) > 100);
    }
    rs_broad_phase_free(&bp);
    rs_array_free(&pairs);
}

static void grid_settings_change_the_cost_not_the_result(void)
{
    const struct {
        double cell, padding, bound;
        int32_t per_axis, per_object;
    } cases[] = {{0.1, 0.0, 100, 1024, 64}, {0.1, 0.5, 100, 4, 1}, {50.0, 0.0, 100, 128, 64},
                 {1.0, 2.0, 1.0, 128, 8},   {1.0, 0.0, 2.0, 1, 1},  {0.37, 0.1, 3.0, 128, 1000}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++)
        for (int bounded = 0; bounded < 2; bounded++) {
            scene *s = random_scene(41 + k, 4.0);
            for (int axis = 0; axis < 3; axis++) {
                s->settings.mbp_cell_size[axis] = cases[k].cell * (1 + axis);
                s->settings.mbp_world_min[axis] = -cases[k].bound;
                s->settings.mbp_world_max[axis] = 2.0 * cases[k].bound;
            }
            s->settings.mbp_padding = cases[k].padding;
            s->settings.mbp_max_cells_per_axis = cases[k].per_axis;
            s->settings.mbp_max_cells_per_object = cases[k].per_object;
            s->settings.mbp_use_world_bounds = bounded;
            CHECK(check_scene(s, 3) > 10);
        }
}

/* Few boxes move, among them now and then one that rested. */
static void boxes_at_rest_are_met_and_wake(void)
{
    for (uint64_t seed = 61; seed < 65; seed++) {
        scene *s = random_scene(seed, 8.0);
        RS_ARRAY(rs_pair) pairs = {0};
        rs_broad_phase bp = {0};
        int64_t seen = 0, most_resting = 0;
        s->colliders[5] = (rs_collider){.alive = true, .body = 1000, .group = 7, .mask = UINT64_MAX,
                                        .box = {{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, 0.0}}};
        for (int i = 0; i < COUNT; i++)
            s->colliders[i].active = s->colliders[i].dynamic && i % 20 == 0;
        list_colliders(&bp, s);
        for (int step = 0; step < 80; step++) {
            s->settings.broadphase = METHODS[(seed + (uint64_t)step / 27) % 3];
            CHECK(find_pairs(&bp, s, &pairs) == RS_OK);
            int64_t count = compare_with_brute_force(s, &pairs);
            CHECK(count >= 0);
            seen += count;
            most_resting = bp.rest.boxes.count > most_resting ? bp.rest.boxes.count : most_resting;
            if (step == 30) { /* some wake, some fall asleep */
                rs_broad_phase_rouse(&bp);
                for (int i = 0; i < COUNT; i++)
                    s->colliders[i].active = s->colliders[i].dynamic && i % 15 == 0;
            }
            for (int i = 0; i < COUNT; i++) {
                rs_vec3 shift = random_vector(&s->random, 0.3);
                rs_aabb *box = &s->colliders[i].box;
                if (s->colliders[i].active)
                    *box = (rs_aabb){rs_add(box->min, shift), rs_add(box->max, shift)};
            }
        }
        CHECK(seen > 1000 && most_resting > COUNT / 2);
        rs_broad_phase_free(&bp);
        rs_array_free(&pairs);
    }
}

static void nothing_is_allocated_once_warm(void)
{
    scene *s = random_scene(51, 3.0);
    rs_broad_phase bp = {0};
    RS_ARRAY(rs_pair) pairs = {0};
    list_colliders(&bp, s);
    for (int m = 0; m < 3; m++) {
        s->settings.broadphase = METHODS[m];
        find_pairs(&bp, s, &pairs);
        size_t held = rs_memory_bytes();
        for (int step = 0; step < 10; step++)
            find_pairs(&bp, s, &pairs);
        CHECK(rs_memory_bytes() == held);
    }
    rs_broad_phase_free(&bp);
    rs_array_free(&pairs);
    CHECK(rs_memory_bytes() == 0);
}

int main(void)
{
    RUN(all_methods_agree_with_brute_force_while_boxes_move);
    RUN(boxes_in_a_line_along_each_axis);
    RUN(infinite_boxes_meet_everything_in_their_reach);
    RUN(nothing_but_infinite_boxes);
    RUN(boxes_that_touch_count_and_points_too);
    RUN(grid_settings_change_the_cost_not_the_result);
    RUN(boxes_at_rest_are_met_and_wake);
    RUN(nothing_is_allocated_once_warm);
    return CHECK_RESULT();
}
