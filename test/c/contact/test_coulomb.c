/* One contact against the laws it must obey, over random masses, velocities and friction. */
#include "../../../csrc/contact/coulomb.h"
#include "../../../csrc/contact/coulomb4.h"
#include "../check.h"
#include "../random.h"

enum { CASES = 200000 };

/* Effective inverse mass of a point on a random body: what occurs in practice. */
static rs_sym3 random_inverse_mass(uint64_t *random)
{
    rs_vec3 moments = rs_v3(random_between(random, 0.1, 10), random_between(random, 0.1, 10), random_between(random, 0.1, 10));
    rs_sym3 principal = {moments.x, moments.y, moments.z, 0, 0, 0};
    rs_mat3 rot = rs_quat_to_m3(random_quaternion(random));
    rs_sym3 inertia = rs_sym3_rotate(&rot, &principal), g = {0};
    rs_vec3 r = random_vector(random, 1.0), axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, turned[3];
    double inverse_mass = random_between(random, 0.05, 2.0);
    for (int k = 0; k < 3; k++)
        turned[k] = rs_cross(r, axes[k]);
    g.xx = inverse_mass + rs_dot(turned[0], rs_sym3_mulv(&inertia, turned[0]));
    g.yy = inverse_mass + rs_dot(turned[1], rs_sym3_mulv(&inertia, turned[1]));
    g.zz = inverse_mass + rs_dot(turned[2], rs_sym3_mulv(&inertia, turned[2]));
    g.xy = rs_dot(turned[0], rs_sym3_mulv(&inertia, turned[1]));
    g.xz = rs_dot(turned[0], rs_sym3_mulv(&inertia, turned[2]));
    g.yz = rs_dot(turned[1], rs_sym3_mulv(&inertia, turned[2]));
    return g;
}

typedef struct {
    int open, stick, slip, no_root;
} law_counts;

/* Coulomb and Signorini, case by case. A slip that friction does not oppose is counted apart. */
static void check_laws(const rs_sym3 *g, double mu, rs_vec3 c, rs_vec3 p, law_counts *counts)
{
    rs_vec3 v = rs_add(rs_sym3_mulv(g, p), c);
    double tangential = sqrt(p.x * p.x + p.y * p.y), slip = sqrt(v.x * v.x + v.y * v.y);
    double scale = rs_norm(c) + (g->xx + g->yy + g->zz) * rs_norm(p); /* of the numbers that cancel in v */
    CHECK(rs_v3_finite(p));
    CHECK(p.z >= 0.0);
    CHECK(tangential <= mu * p.z * (1.0 + 1e-9) + 1e-15);
    if (p.z == 0.0) {
        counts->open++;
        CHECK(v.z >= 0.0);
        return;
    }
    CHECK_NEAR(v.z, 0.0, 1e-12 * scale);
    CHECK(rs_dot(p, rs_add(v, c)) <= 1e-12 * scale * rs_norm(p)); /* twice the energy gained */
    if (slip < 1e-12 * scale) {
        counts->stick++;
        return;
    }
    CHECK_NEAR(tangential, mu * p.z, 1e-9 * p.z);
    double against = -(p.x * v.x + p.y * v.y) / (tangential * slip + 1e-300);
    if (mu > 0.0 && against < 1.0 - 1e-9)
        counts->no_root++;
    else
        counts->slip++;
}

static void every_solution_obeys_coulomb_and_signorini(void)
{
    uint64_t random = 1;
    law_counts counts = {0};
    for (int i = 0; i < CASES; i++) {
        rs_sym3 g = random_inverse_mass(&random);
        double mu = random_between(&random, 0.01, 1.2);
        rs_vec3 c = random_vector(&random, 2.0);
        check_laws(&g, mu, c, rs_coulomb_solve(&g, mu, c), &counts);
    }
    CHECK(counts.open > CASES / 4 && counts.stick > CASES / 20 && counts.slip > CASES / 5);
    CHECK(counts.no_root == 0);
}

static void put(rs_lanes_sym3 *to, int lane, const rs_sym3 *m)
{
    to->xx[lane] = m->xx;
    to->yy[lane] = m->yy;
    to->zz[lane] = m->zz;
    to->xy[lane] = m->xy;
    to->xz[lane] = m->xz;
    to->yz[lane] = m->yz;
}

/* Whatever impulses they hold, and whatever the others do. */
static void four_at_once_obey_the_laws(void)
{
    uint64_t random = 7;
    law_counts counts = {0};
    for (int i = 0; i < CASES / 10; i++) {
        rs_lanes_sym3 g = {0}, g_inverse = {0};
        rs_lanes3 start = {0}, error = {0};
        rs_v4 mu = {0};
        rs_vec3 c[4];
        rs_sym3 m[4];
        for (int k = 0; k < 4; k++) {
            m[k] = random_inverse_mass(&random);
            c[k] = random_vector(&random, 2.0);
            rs_sym3 inverse = rs_sym3_inverse(&m[k]);
            mu[k] = i % 5 == 0 ? 0.0 : random_between(&random, 0.01, 1.2);
            rs_vec3 held = i % 3 == 0 ? rs_v3_zero() : random_vector(&random, 1.0);
            rs_vec3 off = rs_add(c[k], rs_sym3_mulv(&m[k], held));
            put(&g, k, &m[k]);
            put(&g_inverse, k, &inverse);
            start.x[k] = held.x, start.y[k] = held.y, start.z[k] = held.z;
            error.x[k] = off.x, error.y[k] = off.y, error.z[k] = off.z;
        }
        rs_lanes3 p = rs_coulomb4_solve(&g, &g_inverse, mu, start, error);
        for (int k = 0; k < 4; k++)
            check_laws(&m[k], mu[k], c[k], rs_v3(p.x[k], p.y[k], p.z[k]), &counts);
    }
    CHECK(counts.open > CASES / 10 && counts.stick > CASES / 50 && counts.slip > CASES / 12);
    CHECK(counts.no_root == 0);
}

static void the_solution_does_not_depend_on_the_size_of_things(void)
{
    uint64_t random = 2;
    for (int i = 0; i < 2000; i++) {
        rs_sym3 g = random_inverse_mass(&random);
        double mu = random_between(&random, 0.05, 0.9);
        rs_vec3 c = random_vector(&random, 1.0), p = rs_coulomb_solve(&g, mu, c);
        const double speeds[] = {1e-8, 1e5};
        for (int k = 0; k < 2; k++) {
            rs_vec3 q = rs_coulomb_solve(&g, mu, rs_scale(speeds[k], c));
            CHECK_NEAR(rs_norm(rs_sub(rs_scale(1.0 / speeds[k], q), p)), 0.0, 1e-7 * (1.0 + rs_norm(p)));
        }
    }
}

/* A ball: g is diagonal, the slip does not turn, and the impulse is known. */
static void a_ball_slides_by_the_closed_form(void)
{
    uint64_t random = 3;
    double mass = 2.0, radius = 0.3, tangential = 1.0 / mass + radius * radius / (0.4 * mass * radius * radius);
    rs_sym3 g = {tangential, tangential, 1.0 / mass, 0, 0, 0};
    for (int i = 0; i < 1000; i++) {
        double mu = random_between(&random, 0.0, 1.0), fall = random_between(&random, 0.1, 3.0);
        double angle = random_between(&random, -3.2, 3.2), speed = random_between(&random, 0.0, 5.0);
        rs_vec3 c = rs_v3(speed * cos(angle), speed * sin(angle), -fall);
        double normal = mass * fall, friction = rs_min(mu * normal, speed / tangential);
        rs_vec3 p = rs_coulomb_solve(&g, mu, c);
        CHECK_NEAR(p.z, normal, 1e-12 * normal);
        CHECK_NEAR(p.x, -friction * cos(angle), 1e-7 * normal);
        CHECK_NEAR(p.y, -friction * sin(angle), 1e-7 * normal);
    }
}

static void without_friction_only_the_normal_pushes(void)
{
    uint64_t random = 4;
    for (int i = 0; i < 1000; i++) {
        rs_sym3 g = random_inverse_mass(&random);
        rs_vec3 c = random_vector(&random, 1.0), p = rs_coulomb_solve(&g, 0.0, c);
        CHECK_NEAR(p.x, 0.0, 0.0);
        CHECK_NEAR(p.y, 0.0, 0.0);
        CHECK_NEAR(p.z, rs_max(0.0, -c.z / g.zz), 1e-12 * (1.0 + fabs(p.z)));
    }
}

static void grazing_and_zero_velocities_give_no_impulse(void)
{
    uint64_t random = 5;
    rs_sym3 g = random_inverse_mass(&random);
    const rs_vec3 cases[] = {{0, 0, 0}, {1, 0, 0}, {0, -1, 0}, {1e-300, 0, 1e-300}, {0, 0, 1}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        rs_vec3 p = rs_coulomb_solve(&g, 0.5, cases[k]), v = rs_add(rs_sym3_mulv(&g, p), cases[k]);
        CHECK(rs_v3_finite(p));
        CHECK(p.z >= 0.0 && v.z >= -1e-15);
    }
}

/* The projection is the nearest point of the cone: what is left over stands at right angles to it, and is in the polar cone. */
static void the_projection_is_the_nearest_point_of_the_cone(void)
{
    uint64_t random = 6;
    for (int i = 0; i < 20000; i++) {
        double mu = i % 7 == 0 ? 0.0 : random_between(&random, 0.0, 2.0);
        rs_vec3 p = random_vector(&random, 1.0), nearest = rs_coulomb_project(p, mu), rest = rs_sub(p, nearest);
        CHECK(nearest.z >= 0.0);
        CHECK(sqrt(nearest.x * nearest.x + nearest.y * nearest.y) <= mu * nearest.z * (1.0 + 1e-12) + 1e-15);
        CHECK_NEAR(rs_dot(nearest, rest), 0.0, 1e-12);
        CHECK(mu * sqrt(rest.x * rest.x + rest.y * rest.y) <= -rest.z + 1e-12);
    }
}

int main(void)
{
    RUN(every_solution_obeys_coulomb_and_signorini);
    RUN(four_at_once_obey_the_laws);
    RUN(the_solution_does_not_depend_on_the_size_of_things);
    RUN(a_ball_slides_by_the_closed_form);
    RUN(without_friction_only_the_normal_pushes);
    RUN(grazing_and_zero_velocities_give_no_impulse);
    RUN(the_projection_is_the_nearest_point_of_the_cone);
    return CHECK_RESULT();
}
