/* What is remembered of a pair changes where a test starts, not what it finds. */
#include "../../../csrc/collision/pair_memory.h"

#include "../../../csrc/model/convex.h"
#include "../collide_fixture.h"
#include "../random.h"

enum { POINTS = 300 };

static rs_convex *rock(uint64_t seed, double size)
{
    double xyz[3 * POINTS];
    for (int i = 0; i < POINTS; i++)
        rs_v3_store(&xyz[3 * i], rs_scale(size, rs_normalize_or(random_vector(&seed, 1.0), rs_v3(0, 0, 1))));
    rs_convex *hull = NULL;
    CHECK(rs_convex_new(POINTS, xyz, &hull) == RS_OK);
    return hull;
}

/* A path that wanders slowly about `other`, sometimes jumping, in and out of contact. */
static rs_transform wander(uint64_t *seed, rs_vec3 *place, rs_quat *turn, int step, double jump)
{
    bool leaps = step % 50 == 49;
    *place = rs_madd(*place, leaps ? jump : 0.004, random_vector(seed, 1.0));
    *turn = rs_quat_mul(rs_quat_exp(rs_scale(leaps ? 1.0 : 0.01, random_vector(seed, 1.0))), *turn);
    return rs_transform_make(*place, rs_quat_normalize(*turn));
}

static void check_along_a_path(const rs_shape *a, const rs_shape *b, rs_vec3 start, double jump, double margin)
{
    uint64_t seed = 77;
    rs_vec3 place = start;
    rs_quat turn = rs_quat_identity();
    rs_pair_hint hint = {.collider_a = 0, .collider_b = 1};
    int met = 0, apart = 0;
    for (int step = 0; step < 1000; step++) {
        if (step % 200 == 0)
            place = start;
        rs_transform pose = wander(&seed, &place, &turn, step, jump), fixed = at(0, 0, 0);
        rs_collide_settings settings = settings_with(margin);
        rs_manifold fresh, warm;
        rs_collide(a, &pose, b, &fixed, &settings, &fresh);
        settings.hint = &hint;
        rs_collide(a, &pose, b, &fixed, &settings, &warm);
        CHECK((fresh.count > 0) == (warm.count > 0));
        met += fresh.count > 0;
        apart += fresh.count == 0;
        if (fresh.count > 0 && warm.count > 0)
            CHECK_NEAR(least_gap(&warm), least_gap(&fresh), 2e-6);
    }
    CHECK(met > 50 && apart > 50);
    CHECK(hint.used);
}

static void hulls_find_the_same_contacts_from_any_start(void)
{
    rs_convex *one = rock(3, 0.3), *other = rock(9, 0.2);
    rs_shape a = {.type = RS_SHAPE_CONVEX, .convex = one}, b = {.type = RS_SHAPE_CONVEX, .convex = other};
    rs_shape pin = round_of(RS_SHAPE_CYLINDER, 0.1, 0.5), box = box_of(0.3, 0.2, 0.4);
    check_along_a_path(&a, &b, rs_v3(0.3, 0.3, 0.25), 0.3, 0.01);
    check_along_a_path(&a, &pin, rs_v3(0.4, 0.0, 0.0), 0.2, 0.01);
    check_along_a_path(&box, &a, rs_v3(0.45, 0.0, 0.0), 0.2, 0.01);
    rs_convex_free(one);
    rs_convex_free(other);
}

static void hulls_lie_on_the_plane_as_they_would_without_memory(void)
{
    rs_convex *ball = rock(5, 0.3);
    rs_shape a = {.type = RS_SHAPE_CONVEX, .convex = ball}, ground = half_space();
    check_along_a_path(&a, &ground, rs_v3(0, 0, 0.3), 0.1, 0.005);
    rs_convex_free(ball);
}

static void a_hint_of_another_hull_does_no_harm(void)
{
    rs_convex *large = rock(5, 0.3);
    double xyz[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    rs_convex *small = NULL;
    CHECK(rs_convex_new(4, xyz, &small) == RS_OK);
    rs_shape a = {.type = RS_SHAPE_CONVEX, .convex = large}, b = {.type = RS_SHAPE_CONVEX, .convex = small};
    rs_shape ground = half_space();
    rs_pair_hint hint = {.known = true, .normal = {0, 0, 1}, .vertex = {250, 250}, .kept_count = 8, .kept = {250, 251, 252}};
    rs_collide_settings settings = settings_with(0.01);
    settings.hint = &hint;
    rs_transform low = at(0, 0, -0.1), there = at(0.1, 0.1, 0.1);
    rs_manifold m;
    rs_collide(&b, &low, &ground, &there, &settings, &m);
    CHECK(m.count > 0 && m.points[0].feature < 4);
    hint.vertex[0] = hint.vertex[1] = 250;
    rs_collide(&b, &low, &a, &there, &settings, &m);
    CHECK(m.count > 0);
    rs_convex_free(large);
    rs_convex_free(small);
}

static void hints_are_found_by_pair_and_forgotten_by_body(void)
{
    RS_ARRAY(rs_pair_hint) before = {0}, now = {0};
    rs_pair_memory memory = rs_pair_memory_begin(&before, &now);
    for (int32_t i = 0; i < 4; i++) {
        rs_pair pair = {i, i + 1};
        rs_pair_hint hint = rs_pair_memory_take(&memory, &pair);
        CHECK(!hint.known && !hint.used);
        hint.known = true;
        hint.used = i != 2; /* the third is not worth keeping */
        hint.vertex[0] = 10 + i;
        CHECK(rs_pair_memory_keep(&memory, &hint) == RS_OK);
    }
    CHECK(now.count == 3);
    memory = rs_pair_memory_begin(&now, &before);
    rs_pair asked[3] = {{0, 3}, {1, 2}, {3, 4}};
    CHECK(!rs_pair_memory_take(&memory, &asked[0]).known);
    CHECK(rs_pair_memory_take(&memory, &asked[1]).vertex[0] == 11);
    CHECK(rs_pair_memory_take(&memory, &asked[2]).vertex[0] == 13);
    rs_collider colliders[5] = {{.body = 0}, {.body = 1}, {.body = 1}, {.body = 2}, {.body = 2}};
    rs_pair_memory_forget(&now, colliders, 1);
    CHECK(now.count == 1 && now.items[0].collider_a == 3);
    rs_array_free(&before);
    rs_array_free(&now);
}

int main(void)
{
    RUN(hulls_find_the_same_contacts_from_any_start);
    RUN(hulls_lie_on_the_plane_as_they_would_without_memory);
    RUN(a_hint_of_another_hull_does_no_harm);
    RUN(hints_are_found_by_pair_and_forgotten_by_body);
    return CHECK_RESULT();
}
