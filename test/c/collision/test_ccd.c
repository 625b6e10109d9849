/* The first contact along a straight way against closed forms and against small steps. */
#include "../../../csrc/collision/ccd.h"
#include "../collide_fixture.h"
#include "../random.h"

static const double NEAR = 1e-6;

static bool sweep(const rs_shape *a, rs_transform ta, const rs_shape *b, rs_transform tb, rs_vec3 motion,
                  rs_manifold *m, double *fraction)
{
    rs_collide_settings settings = settings_with(NEAR + rs_norm(motion));
    m->count = 0;
    rs_way way = {.shift = motion}, still = {.shift = {0, 0, 0}};
    rs_moving_shape moving = {a, &ta, &way, 0.0}, other = {b, &tb, &still, 0.0};
    return rs_sweep(&moving, &other, NEAR, &settings, m, fraction);
}

static void balls_meet_where_the_quadratic_equation_says(void)
{
    uint64_t random = 1;
    int hits = 0, misses = 0;
    rs_shape a = sphere_of(0.3), b = sphere_of(0.2);
    for (int i = 0; i < 5000; i++) {
        rs_vec3 from = random_vector(&random, 2.0), motion = random_vector(&random, 4.0);
        double qa = rs_norm2(motion), qb = rs_dot(from, motion), qc = rs_norm2(from) - 0.25;
        double root = qb * qb - qa * qc, t = (-qb - sqrt(rs_max(root, 0.0))) / qa;
        if (qc <= 0.01 || fabs(root) < 1e-3 || fabs(t - 1.0) < 1e-3)
            continue; /* touching at first, or a matter of rounding */
        bool expected = root > 0.0 && t > 0.0 && t < 1.0;
        rs_manifold m;
        double fraction = -1.0;
        bool hit = sweep(&a, at(from.x, from.y, from.z), &b, at(0, 0, 0), motion, &m, &fraction);
        CHECK(hit == expected);
        hits += hit;
        misses += !hit;
        if (!hit || !expected)
            continue;
        rs_vec3 n = rs_scale(2.0, rs_madd(from, t, motion));
        CHECK_NEAR(fraction, t, 1e-4);
        CHECK_VECTOR(m.points[0].normal, n.x, n.y, n.z, 1e-2);
    }
    CHECK(hits > 100 && misses > 2000);
}

static void a_turned_box_meets_the_ground_with_its_lowest_corner(void)
{
    uint64_t random = 2;
    rs_shape box = box_of(0.4, 0.6, 0.2), ground = half_space();
    for (int i = 0; i < 500; i++) {
        rs_transform pose = rs_transform_make(rs_v3(0.1, 0.2, 3.0), random_quaternion(&random));
        rs_vec3 motion = rs_v3(random_between(&random, -5, 5), random_between(&random, -5, 5), -4.0);
        double lowest = rs_shape_aabb(&box, &pose).min.z, fraction = -1.0;
        rs_manifold m;
        CHECK(sweep(&box, pose, &ground, at(0, 0, 0), motion, &m, &fraction));
        CHECK_NEAR(fraction, lowest / 4.0, 1e-6);
        CHECK(!sweep(&box, pose, &ground, at(0, 0, 0), rs_v3(motion.x, motion.y, 0.9 * -lowest), &m, &fraction));
        CHECK(!sweep(&box, pose, &ground, at(0, 0, 0), rs_v3(0, 0, 4.0), &m, &fraction));
    }
}

/* Every pair of convex primitives: nothing is passed, and nothing is hit that small steps do not touch. */
static void sweeps_agree_with_small_steps(void)
{
    const rs_shape shapes[] = {sphere_of(0.2), box_of(0.3, 0.5, 0.02), round_of(RS_SHAPE_CYLINDER, 0.15, 0.5),
                               round_of(RS_SHAPE_CONE, 0.2, 0.4), round_of(RS_SHAPE_CAPSULE, 0.1, 0.5)};
    enum { STEPS = 400 };
    uint64_t random = 3;
    int hits = 0;
    for (int i = 0; i < 600; i++) {
        const rs_shape *a = &shapes[i % 5], *b = &shapes[i / 5 % 5];
        rs_transform tb = rs_transform_make(rs_v3_zero(), random_quaternion(&random));
        rs_vec3 from = random_vector(&random, 1.5), target = random_vector(&random, 0.5);
        rs_vec3 motion = rs_scale(2.0, rs_sub(target, from));
        rs_transform ta = rs_transform_make(from, random_quaternion(&random));
        double nearest = INFINITY, fraction = -1.0;
        int first = -1;
        for (int k = 0; k <= STEPS; k++) {
            rs_transform here = {ta.rot, rs_madd(ta.pos, (double)k / STEPS, motion)};
            rs_manifold m = collide(a, here, b, tb, 0.05);
            nearest = fmin(nearest, least_gap(&m));
            if (first < 0 && m.count > 0 && least_gap(&m) <= NEAR)
                first = k;
        }
        if (first == 0 || (nearest > NEAR && nearest < 0.01))
            continue; /* overlapping at first, or grazing */
        rs_manifold m;
        bool hit = sweep(a, ta, b, tb, motion, &m, &fraction);
        CHECK(hit == (first > 0));
        if (hit && first > 0) {
            hits++;
            CHECK(fraction <= (first + 1e-3) / STEPS && fraction >= (first - 1.001) / STEPS - 1e-3);
        }
    }
    CHECK(hits > 100);
}

int main(void)
{
    RUN(balls_meet_where_the_quadratic_equation_says);
    RUN(a_turned_box_meets_the_ground_with_its_lowest_corner);
    RUN(sweeps_agree_with_small_steps);
    return CHECK_RESULT();
}
