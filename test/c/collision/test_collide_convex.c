/* GJK, EPA, MPR and the contact points built on them, for round shapes and hulls with known answers. */
#include "../../../csrc/collision/collide_convex.h"

#include "../../../csrc/collision/epa.h"
#include "../../../csrc/collision/mpr.h"
#include "../../../csrc/model/convex.h"
#include "../collide_fixture.h"

#include <string.h>

static const double PI = 3.14159265358979323846;

static void check_level(const rs_manifold *m, int least, int most, double gap)
{
    CHECK(m->count >= least && m->count <= most);
    for (int i = 0; i < m->count; i++) {
        CHECK_VECTOR(m->points[i].normal, 0, 0, 1, 1e-12);
        CHECK_NEAR(m->points[i].gap, gap, 1e-12);
    }
}

/* Sides of the area that the contact points span. */
static void check_spread(const rs_manifold *m, double x, double y)
{
    rs_vec3 lo = m->points[0].position, hi = lo;
    for (int i = 1; i < m->count; i++) {
        lo = rs_v3_min(lo, m->points[i].position);
        hi = rs_v3_max(hi, m->points[i].position);
    }
    CHECK(hi.x - lo.x >= x - 1e-9);
    CHECK(hi.y - lo.y >= y - 1e-9);
}

static void cylinder_stands_lies_and_leans_on_a_box(void)
{
    rs_shape c = round_of(RS_SHAPE_CYLINDER, 0.4, 1.0), box = box_of(4, 4, 1);
    rs_manifold m = collide(&c, at(0.2, -0.1, 0.99), &box, at(0, 0, 0), 0);
    check_level(&m, 4, 8, -0.01);
    check_spread(&m, 0.8 * cos(PI / 8), 0.8 * cos(PI / 8));
    m = collide(&c, turned(at(0, 0, 0.89), 0, 0.5 * PI, 0), &box, at(0, 0, 0), 0);
    check_level(&m, 2, 2, -0.01);
    check_spread(&m, 1.0, 0.0);
    double lean = 0.5, height = 0.5 * cos(lean) + 0.4 * sin(lean);
    m = collide(&c, turned(at(0, 0, 0.5 + height - 0.01), 0, lean, 0), &box, at(0, 0, 0), 0);
    check_level(&m, 1, 1, -0.01);
    CHECK_NEAR(m.points[0].position.x, 0.4 * cos(lean) - 0.5 * sin(lean), 1e-6);
    m = collide(&c, at(2.2, 0, 0.99), &box, at(0, 0, 0), 0); /* half over the edge: points on the box only */
    check_level(&m, 3, 8, -0.01);
    for (int i = 0; i < m.count; i++)
        CHECK(m.points[i].position.x <= 2.0 + 1e-9);
}

static void cylinder_carries_a_cylinder(void)
{
    rs_shape small = round_of(RS_SHAPE_CYLINDER, 0.3, 1.0), large = round_of(RS_SHAPE_CYLINDER, 0.5, 2.0);
    rs_manifold m = collide(&small, at(0.1, 0, 1.49), &large, at(0, 0, 0), 0);
    check_level(&m, 4, 8, -0.01);
    check_spread(&m, 0.6 * cos(PI / 8), 0.6 * cos(PI / 8));
    /* side by side: the line of contact */
    m = collide(&small, at(0, 0.79, 0.7), &large, at(0, 0, 0), 0); /* z from 0.2 to 1.2; the large one ends at 1 */
    if (!CHECK(m.count == 2))
        return;
    CHECK_NEAR(m.points[0].gap, -0.01, 1e-12);
    CHECK_VECTOR(m.points[0].normal, 0, 1, 0, 1e-9);
    CHECK_NEAR(fabs(m.points[0].position.z - m.points[1].position.z), 0.8, 1e-9);
    /* crossed at a right angle: one point */
    m = collide(&small, turned(at(0, 0.79, 0), 0, 0.5 * PI, 0), &large, at(0, 0, 0), 0);
    CHECK(m.count == 1);
    CHECK_NEAR(m.points[0].gap, -0.01, 1e-9);
    CHECK_VECTOR(m.points[0].position, 0, 0.495, 0, 1e-3);
}

static void cone_stands_and_lies_on_a_box(void)
{
    rs_shape cone = round_of(RS_SHAPE_CONE, 0.3, 0.4), box = box_of(4, 4, 1);
    rs_manifold m = collide(&cone, at(0, 0, 0.59), &box, at(0, 0, 0), 0);
    check_level(&m, 4, 8, -0.01);
    m = collide(&cone, turned(at(0, 0, 0.79), PI, 0, 0), &box, at(0, 0, 0), 0); /* on its tip */
    check_level(&m, 1, 1, -0.01);
    m = collide(&cone, turned(at(0, 0, 0.5 + 0.18 - 0.01), 0, PI - acos(0.6), 0), &box, at(0, 0, 0), 0);
    check_level(&m, 2, 2, -0.01);
    check_spread(&m, 0.5, 0.0);
}

/* A prism with n sides between z = -h and h. */
static rs_convex *prism(int n, double r, double h)
{
    double xyz[3 * 64];
    for (int i = 0; i < 2 * n; i++)
        rs_v3_store(&xyz[3 * i], rs_v3(r * cos(2 * PI * i / n), r * sin(2 * PI * i / n), i < n ? -h : h));
    rs_convex *hull = NULL;
    CHECK(rs_convex_new(2 * n, xyz, &hull) == RS_OK);
    return hull;
}

static void hulls_carry_each_other_on_their_faces(void)
{
    rs_convex *five = prism(5, 1.0, 0.5), *three = prism(3, 0.5, 0.25);
    rs_shape lower = {.type = RS_SHAPE_CONVEX, .convex = five}, upper = {.type = RS_SHAPE_CONVEX, .convex = three};
    rs_manifold m = collide(&upper, at(0.1, 0, 0.74), &lower, at(0, 0, 0), 0);
    check_level(&m, 3, 3, -0.01);
    check_swapped(&upper, at(0.1, 0, 0.74), &lower, at(0, 0, 0), 0);
    m = collide(&lower, at(0, 0, 0.99), &lower, turned(at(0, 0, 0), 0, 0, 0.2), 0);
    check_level(&m, 4, 8, -0.01);
    check_spread(&m, 1.4, 1.4);
    rs_convex_free(five);
    rs_convex_free(three);
}

/* The hull of a box is the box, in every pose. */
static void hull_of_a_box_collides_like_the_box(void)
{
    double xyz[24];
    for (int i = 0; i < 8; i++)
        rs_v3_store(&xyz[3 * i], rs_v3(i & 1 ? 0.5 : -0.5, i & 2 ? 0.35 : -0.35, i & 4 ? 0.2 : -0.2));
    rs_convex *hull;
    if (!CHECK(rs_convex_new(8, xyz, &hull) == RS_OK))
        return;
    rs_shape box = box_of(1.0, 0.7, 0.4), h = {.type = RS_SHAPE_CONVEX, .convex = hull};
    rs_shape others[4] = {box_of(0.8, 0.5, 0.6), sphere_of(0.4), round_of(RS_SHAPE_CAPSULE, 0.2, 0.8),
                          round_of(RS_SHAPE_CYLINDER, 0.3, 0.7)};
    int hits = 0;
    for (int k = 0; k < 400; k++) {
        double t = 0.7 * k;
        rs_transform pose = turned(at(0.6 * sin(1.1 * t), 0.6 * sin(1.7 * t), 0.5 * cos(2.3 * t)), 2 * sin(t), 3 * cos(2 * t), t);
        const rs_shape *other = &others[k % 4];
        rs_manifold with_box = collide(&box, pose, other, at(0, 0, 0), 0.01);
        rs_manifold with_hull = collide(&h, pose, other, at(0, 0, 0), 0.01);
        CHECK((with_box.count > 0) == (with_hull.count > 0));
        if (with_box.count == 0 || with_hull.count == 0)
            continue;
        hits++;
        CHECK_NEAR(least_gap(&with_box), least_gap(&with_hull), 2e-5); /* box-box prefers faces within 1e-5 */
    }
    CHECK(hits > 100);
    rs_convex_free(hull);
}

/* GJK between a cone's tip and a cylinder's rim: points known, so are distance and direction. */
static void gjk_finds_the_distance_of_tip_and_rim(void)
{
    rs_shape cone = round_of(RS_SHAPE_CONE, 0.3, 0.4), cylinder = round_of(RS_SHAPE_CYLINDER, 1.0, 2.0);
    rs_core a = rs_core_of_shape(&cone), b = rs_core_of_shape(&cylinder);
    rs_transform upside_down = turned(at(1.2, 0, 1.5 + 0.3), PI, 0, 0), origin = at(0, 0, 0); /* tip at (1.2, 0, 1.5) */
    rs_core_pair pair = rs_core_pair_make(&a, &upside_down, &b, &origin);
    rs_collide_settings settings = settings_with(1.0);
    rs_gjk_result r;
    CHECK(rs_gjk(&pair, 1.0, &settings, &r) == RS_GJK_APART);
    CHECK_NEAR(r.distance, sqrt(0.04 + 0.25), 1e-9);
    rs_vec3 n = rs_m3_mulv(&upside_down.rot, r.normal), on_b = rs_transform_point(&upside_down, r.on_b);
    CHECK_VECTOR(n, 0.2 / r.distance, 0, 0.5 / r.distance, 1e-5);
    CHECK_VECTOR(on_b, 1, 0, 1, 1e-5);
    CHECK(rs_gjk(&pair, 0.5, &settings, &r) == RS_GJK_FAR);
}

/* Two discs edge to edge: cylinder walls at a known depth, seen by EPA and by MPR. */
static void epa_and_mpr_find_the_way_out_of_a_wall(void)
{
    rs_shape small = round_of(RS_SHAPE_CYLINDER, 0.3, 1.0), large = round_of(RS_SHAPE_CYLINDER, 0.5, 2.0);
    rs_core a = rs_core_of_shape(&small), b = rs_core_of_shape(&large);
    rs_transform ta = at(0.42, 0.56, 0.1), tb = at(0, 0, 0); /* axes 0.7 apart: 0.1 deep */
    rs_core_pair pair = rs_core_pair_make(&a, &ta, &b, &tb);
    rs_collide_settings settings = settings_with(0.0);
    rs_gjk_result gjk;
    CHECK(rs_gjk(&pair, 0.0, &settings, &gjk) == RS_GJK_OVERLAP);
    rs_epa_result epa;
    CHECK(rs_epa(&pair, &gjk.simplex, &settings, &epa) && epa.converged);
    CHECK_NEAR(epa.separation, -0.1, 1e-7);
    CHECK_VECTOR(epa.normal, 0.6, 0.8, 0, 1e-3);
    rs_vec3 normal;
    CHECK(rs_mpr(&pair, &settings, &normal));
    CHECK_NEAR(rs_pair_separation(&pair, normal), -0.1, 1e-2);
}

/* MPR in many poses of two boxes: its direction separates them, at a depth not below the true one. */
static void mpr_always_names_a_separating_direction(void)
{
    rs_shape box = box_of(1.0, 0.7, 0.4), other = box_of(0.8, 0.5, 0.6);
    rs_core a = rs_core_of_shape(&box), b = rs_core_of_shape(&other);
    rs_collide_settings settings = settings_with(0.0);
    int hits = 0;
    for (int k = 0; k < 300; k++) {
        double t = 0.7 * k;
        rs_transform ta = turned(at(0.4 * sin(1.1 * t), 0.4 * sin(1.7 * t), 0.3 * cos(2.3 * t)), 2 * sin(t), 3 * cos(2 * t), t);
        rs_transform tb = at(0, 0, 0);
        rs_core_pair pair = rs_core_pair_make(&a, &ta, &b, &tb);
        rs_convex_contact exact;
        rs_vec3 normal;
        if (!rs_convex_query(&pair, &settings, &exact) || exact.gap > -1e-3)
            continue;
        hits++;
        if (!CHECK(rs_mpr(&pair, &settings, &normal)))
            continue;
        double separation = rs_pair_separation(&pair, normal);
        CHECK(separation <= exact.gap + 1e-9);
        CHECK(separation > exact.gap - 0.6);
    }
    CHECK(hits > 100);
}

/* One triangle as a core: the building block for meshes. */
static void triangle_against_box_and_sphere(void)
{
    const rs_vec3 v[3] = {{-1, -1, 0}, {2, -1, 0}, {-1, 2, 0}};
    rs_shape box = box_of(1, 1, 1), ball = sphere_of(0.5);
    rs_core t = rs_core_of_triangle(v), b = rs_core_of_shape(&box), s = rs_core_of_shape(&ball);
    rs_transform above = at(0, 0, 0.45), origin = at(0, 0, 0);
    rs_collide_settings settings = settings_with(0.1);
    rs_core_pair pair = rs_core_pair_make(&b, &above, &t, &origin);
    rs_convex_contact contact;
    CHECK(rs_convex_query(&pair, &settings, &contact));
    CHECK_NEAR(contact.gap, -0.05, 1e-12);
    CHECK_VECTOR(contact.normal, 0, 0, 1, 1e-12);
    rs_manifold m = {.count = 0};
    rs_add_feature_contacts(&pair, &contact, &above, &settings, &m);
    check_level(&m, 4, 8, -0.05);
    pair = rs_core_pair_make(&s, &above, &t, &origin);
    CHECK(rs_convex_query(&pair, &settings, &contact));
    CHECK_NEAR(contact.gap, -0.05, 1e-12);
    rs_transform inside = at(0, 0, 0); /* the centre of the ball in the triangle: flat, but the way out is known */
    pair = rs_core_pair_make(&s, &inside, &t, &origin);
    CHECK(rs_convex_query(&pair, &settings, &contact));
    CHECK_NEAR(contact.gap, -0.5, 1e-9);
    CHECK_NEAR(fabs(contact.normal.z), 1.0, 1e-9);
}

static void touching_grazing_and_concentric_pairs_stay_finite(void)
{
    rs_shape shapes[6] = {sphere_of(0.5), box_of(1, 1, 1), round_of(RS_SHAPE_CYLINDER, 0.5, 1.0),
                          round_of(RS_SHAPE_CONE, 0.5, 1.0), round_of(RS_SHAPE_CAPSULE, 0.5, 1.0), {0}};
    rs_convex *hull = prism(8, 0.5, 0.5);
    shapes[5] = (rs_shape){.type = RS_SHAPE_CONVEX, .convex = hull};
    const double offsets[5] = {0.0, 0.5, 1.0, 1.0 + 1e-12, 1.0 - 1e-12};
    for (int i = 0; i < 36; i++)
        for (int k = 0; k < 5 * 5 * 3; k++) {
            rs_transform pose = at(offsets[k % 5], offsets[k / 5 % 5], 0.0);
            pose = turned(pose, k / 25 == 1 ? 0.5 * PI : 0.0, k / 25 == 2 ? 1e-9 : 0.0, 0.0);
            rs_manifold m = collide(&shapes[i / 6], pose, &shapes[i % 6], at(0, 0, 0), 1e-5);
            for (int p = 0; p < m.count; p++) {
                CHECK(rs_v3_finite(m.points[p].position) && isfinite(m.points[p].gap));
                CHECK_NEAR(rs_norm(m.points[p].normal), 1.0, 1e-9);
            }
            if (offsets[k % 5] <= 0.5 && offsets[k / 5 % 5] == 0.0)
                CHECK(m.count > 0);
        }
    rs_convex_free(hull);
}

static void reduction_keeps_the_deepest_and_the_spread(void)
{
    rs_manifold m = {.count = 8};
    for (int i = 0; i < 8; i++)
        m.points[i] = (rs_manifold_point){rs_v3(cos(0.25 * PI * i), sin(0.25 * PI * i), 0), rs_v3(0, 0, 1), i == 5 ? -0.2 : -0.1,
                                          (uint32_t)i};
    rs_manifold_reduce(&m, 4);
    CHECK(m.count == 4);
    CHECK(m.points[0].feature == 5 && m.points[1].feature == 1); /* the deepest, and the one opposite */
    CHECK(m.points[2].feature % 4 == 3 && m.points[3].feature % 4 == 3); /* those across */
    rs_manifold_reduce(&m, 1);
    CHECK(m.count == 1 && m.points[0].feature == 5);
}

/* Sixteen points of a circle, of which many choices are equally good: the one of the step before is taken again, also when
 * others have become better by a hair, but not the deepest one's place. */
static void reduction_chooses_the_same_points_again(void)
{
    const int32_t before[4] = {3, 11, 7, 15};
    rs_manifold_point points[16];
    for (int i = 0; i < 16; i++) {
        double radius = i % 4 == 0 ? 1.001 : 1.0;
        points[i] = (rs_manifold_point){rs_v3(radius * cos(0.125 * PI * i), radius * sin(0.125 * PI * i), 0), rs_v3(0, 0, 1),
                                        i == 3 ? -0.2 : -0.1, (uint32_t)i};
    }
    rs_manifold_point again[16];
    memcpy(again, points, sizeof points);
    CHECK(rs_points_reduce_again(again, 16, 4, before, 4) == 4);
    for (int i = 0; i < 4; i++)
        CHECK(again[i].feature % 4 == 3);
    memcpy(again, points, sizeof points);
    again[6].gap = -0.3;
    CHECK(rs_points_reduce_again(again, 16, 4, before, 4) == 4 && again[0].feature == 6);
    memcpy(again, points, sizeof points);
    again[12].position = rs_scale(1.5, again[12].position); /* clearly better */
    rs_points_reduce_again(again, 16, 4, before, 4);
    CHECK(again[1].feature == 12 || again[2].feature == 12 || again[3].feature == 12);
}

int main(void)
{
    RUN(cylinder_stands_lies_and_leans_on_a_box);
    RUN(cylinder_carries_a_cylinder);
    RUN(cone_stands_and_lies_on_a_box);
    RUN(hulls_carry_each_other_on_their_faces);
    RUN(hull_of_a_box_collides_like_the_box);
    RUN(gjk_finds_the_distance_of_tip_and_rim);
    RUN(epa_and_mpr_find_the_way_out_of_a_wall);
    RUN(mpr_always_names_a_separating_direction);
    RUN(triangle_against_box_and_sphere);
    RUN(touching_grazing_and_concentric_pairs_stay_finite);
    RUN(reduction_keeps_the_deepest_and_the_spread);
    RUN(reduction_chooses_the_same_points_again);
    return CHECK_RESULT();
}
