/* One contact against the laws it must obey, over random masses, velocities and friction; then whole islands. */
#include "../../csrc/contact/contact_solver.h"
#include "check.h"
#include "random.h"

enum { CASES = 200000, MAX_BODIES = 64, MAX_ROWS = 256 };

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
        check_laws(&g, mu, c, rs_contact_solve_one(&g, mu, c), &counts);
    }
    CHECK(counts.open > CASES / 4 && counts.stick > CASES / 20 && counts.slip > CASES / 5);
    CHECK(counts.no_root == 0);
}

static void the_solution_does_not_depend_on_the_size_of_things(void)
{
    uint64_t random = 2;
    for (int i = 0; i < 2000; i++) {
        rs_sym3 g = random_inverse_mass(&random);
        double mu = random_between(&random, 0.05, 0.9);
        rs_vec3 c = random_vector(&random, 1.0), p = rs_contact_solve_one(&g, mu, c);
        const double speeds[] = {1e-8, 1e5};
        for (int k = 0; k < 2; k++) {
            rs_vec3 q = rs_contact_solve_one(&g, mu, rs_scale(speeds[k], c));
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
        rs_vec3 p = rs_contact_solve_one(&g, mu, c);
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
        rs_vec3 c = random_vector(&random, 1.0), p = rs_contact_solve_one(&g, 0.0, c);
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
        rs_vec3 p = rs_contact_solve_one(&g, 0.5, cases[k]), v = rs_add(rs_sym3_mulv(&g, p), cases[k]);
        CHECK(rs_v3_finite(p));
        CHECK(p.z >= 0.0 && v.z >= -1e-15);
    }
}

/* ---- islands ---- */

/* Balls stacked on a fixed body: contact k between ball k (A) and k - 1 (B). */
static void make_column(rs_row *rows, rs_solver_body *bodies, int balls, double mu, double step_impulse)
{
    const double radius = 0.1, moment = 0.4 * radius * radius;
    bodies[0] = (rs_solver_body){0};
    for (int k = 1; k <= balls; k++) {
        double inverse = 1.0 / moment;
        rs_sym3 inverse_inertia = {inverse, inverse, inverse, 0, 0, 0};
        bodies[k] = (rs_solver_body){.v.xyz = {0.3 * k, -0.1, -step_impulse}, .inverse_mass = 1.0,
                                     .inverse_inertia = rs_columns_of(&inverse_inertia)};
        rs_row *row = &rows[k - 1];
        double sides = k == 1 ? 1.0 : 2.0, tangential = sides * (1.0 + radius * radius / moment);
        rs_sym3 g = {tangential, tangential, sides, 0, 0, 0}, g_inverse = rs_sym3_inverse(&g);
        *row = (rs_row){.body_a = k, .body_b = k - 1, .mu = mu, .t1.xyz = {1, 0, 0}, .t2.xyz = {0, 1, 0},
                        .n.xyz = {0, 0, 1}, .ra.xyz = {0, 0, -radius}, .rb.xyz = {0, 0, radius},
                        .g = rs_columns_of(&g), .g_inverse = rs_columns_of(&g_inverse)};
    }
}

/* One island of all the rows; body 0 is fixed. */
static rs_solve_result solve_island(rs_row *rows, int64_t count, rs_solver_body *bodies,
                                    const rs_solver_settings *settings, bool backward)
{
    int32_t members[MAX_BODIES], busy[MAX_ROWS];
    rs_direct_solver direct = rs_direct_solver_make();
    int32_t body_count = 0;
    for (int64_t k = 0; k < count; k++)
        body_count = rows[k].body_a > body_count ? rows[k].body_a : body_count;
    for (int32_t k = 0; k < body_count; k++)
        members[k] = k + 1;
    rs_contact_island island = {.rows = rows, .count = count, .members = {members, body_count}, .bodies = bodies,
                                .world_body_count = body_count + 1, .direct = &direct, .busy = busy};
    rs_solve_result result = rs_contact_solve(&island, settings, backward);
    rs_direct_solver_free(&direct);
    return result;
}

static void a_column_carries_the_weight_of_what_is_above(void)
{
    enum { BALLS = 10 };
    rs_row rows[BALLS];
    rs_solver_body bodies[BALLS + 1];
    const rs_solver_settings settings = {.max_iterations = 2000, .threshold = 1e-24};
    for (int backward = 0; backward < 2; backward++) {
        make_column(rows, bodies, BALLS, 0.0, 0.05);
        solve_island(rows, BALLS, bodies, &settings, backward != 0);
        for (int k = 0; k < BALLS; k++) {
            CHECK_NEAR(rows[k].impulse.xyz.z, 0.05 * (BALLS - k), 1e-9);
            CHECK_NEAR(bodies[k + 1].v.xyz.z, 0.0, 1e-9);
        }
    }
}

/* Every row of the solved island obeys the laws, and momentum changed only by the impulse from the fixed body. */
static void an_island_obeys_the_laws_at_every_contact(void)
{
    enum { BALLS = 6 };
    rs_row rows[BALLS];
    rs_solver_body bodies[BALLS + 1];
    const rs_solver_settings settings = {.max_iterations = 20000, .threshold = 1e-26};
    make_column(rows, bodies, BALLS, 0.4, 0.05);
    double before = 0.0, after = 0.0;
    for (int k = 1; k <= BALLS; k++)
        before += bodies[k].v.xyz.x;
    rs_solve_result result = solve_island(rows, BALLS, bodies, &settings, false);
    CHECK(result.iterations < settings.max_iterations);
    for (int k = 0; k < BALLS; k++) {
        const rs_solver_body *a = &bodies[k + 1], *b = &bodies[k];
        rs_vec3 v = rs_sub(rs_add(a->v.xyz, rs_cross(a->w.xyz, rows[k].ra.xyz)),
                           rs_add(b->v.xyz, rs_cross(b->w.xyz, rows[k].rb.xyz)));
        rs_vec3 p = rows[k].impulse.xyz;
        double friction = sqrt(p.x * p.x + p.y * p.y), slip = sqrt(v.x * v.x + v.y * v.y);
        CHECK(p.z > 0.0);
        CHECK_NEAR(v.z, 0.0, 1e-8);
        CHECK(friction <= 0.4 * p.z * (1.0 + 1e-8));
        if (slip > 1e-7)
            CHECK_NEAR(p.x * v.x + p.y * v.y, -0.4 * p.z * slip, 1e-7 * slip);
        after += a->v.xyz.x;
    }
    CHECK_NEAR(after - before, rows[0].impulse.xyz.x, 1e-10);
}

static void the_warm_start_of_a_solved_island_changes_nothing(void)
{
    enum { BALLS = 6 };
    rs_row rows[BALLS];
    rs_solver_body bodies[BALLS + 1];
    const rs_solver_settings settings = {.max_iterations = 20000, .threshold = 1e-24};
    make_column(rows, bodies, BALLS, 0.4, 0.05);
    solve_island(rows, BALLS, bodies, &settings, false);
    rs_row solved[BALLS];
    for (int k = 0; k < BALLS; k++)
        solved[k] = rows[k];
    make_column(rows, bodies, BALLS, 0.4, 0.05);
    for (int k = 0; k < BALLS; k++)
        rows[k].impulse = solved[k].impulse;
    rs_solve_result again = solve_island(rows, BALLS, bodies, &settings, false);
    CHECK(again.iterations <= 10);
    for (int k = 0; k < BALLS; k++)
        CHECK_NEAR(rs_norm(rs_sub(rows[k].impulse.xyz, solved[k].impulse.xyz)), 0.0, 1e-9);
}

/* Four corners between each box and the one below: more unknowns than the bodies have freedoms. */
static int make_box_stack(rs_row *rows, rs_solver_body *bodies, int boxes, double step_impulse)
{
    const double half = 0.2, inverse = 1.0 / (2.0 / 3.0 * half * half);
    rs_sym3 inverse_inertia = {inverse, inverse, inverse, 0, 0, 0};
    int count = 0;
    bodies[0] = (rs_solver_body){0};
    for (int k = 1; k <= boxes; k++) {
        bodies[k] = (rs_solver_body){.v.xyz = {0, 0, -step_impulse}, .inverse_mass = 1.0,
                                     .inverse_inertia = rs_columns_of(&inverse_inertia)};
        for (int corner = 0; corner < 4; corner++) {
            double x = corner & 1 ? half : -half, y = corner & 2 ? half : -half, sides = k == 1 ? 1.0 : 2.0;
            double h2 = half * half * inverse;
            rs_sym3 g = {sides * (1 + 2 * h2), sides * (1 + 2 * h2), sides * (1 + 2 * h2), 0, 0, 0};
            rs_vec3 low = rs_v3(x, y, -half), high = rs_v3(x, y, half);
            g.xy = -inverse * low.x * low.y * sides;
            g.xz = -inverse * (low.x * low.z + (sides > 1 ? high.x * high.z : 0.0));
            g.yz = -inverse * (low.y * low.z + (sides > 1 ? high.y * high.z : 0.0));
            rs_sym3 g_inverse = rs_sym3_inverse(&g);
            rows[count++] = (rs_row){.body_a = k, .body_b = k - 1, .mu = 0.8, .t1.xyz = {1, 0, 0},
                                     .t2.xyz = {0, 1, 0}, .n.xyz = {0, 0, 1}, .ra.xyz = low, .rb.xyz = high,
                                     .g = rs_columns_of(&g), .g_inverse = rs_columns_of(&g_inverse)};
        }
    }
    return count;
}

/* Sweeps alone would need thousands. */
static void a_stack_of_boxes_is_solved_exactly_in_a_few_sweeps(void)
{
    enum { BOXES = 20 };
    rs_row rows[4 * BOXES];
    rs_solver_body bodies[BOXES + 1];
    const rs_solver_settings settings = {.max_iterations = 150, .threshold = 1e-8};
    int count = make_box_stack(rows, bodies, BOXES, 0.05);
    rs_solve_result result = solve_island(rows, count, bodies, &settings, false);
    CHECK(result.iterations <= 20);
    for (int k = 1; k <= BOXES; k++) {
        CHECK_NEAR(rs_norm(bodies[k].v.xyz), 0.0, 1e-6); /* of 0.05 that gravity gave */
        CHECK_NEAR(rs_norm(bodies[k].w.xyz), 0.0, 1e-6);
        double carried = 0.0;
        for (int corner = 0; corner < 4; corner++)
            carried += rows[4 * (k - 1) + corner].impulse.xyz.z;
        CHECK_NEAR(carried, 0.05 * (BOXES - k + 1), 1e-7);
    }
}

int main(void)
{
    RUN(a_stack_of_boxes_is_solved_exactly_in_a_few_sweeps);
    RUN(every_solution_obeys_coulomb_and_signorini);
    RUN(the_solution_does_not_depend_on_the_size_of_things);
    RUN(a_ball_slides_by_the_closed_form);
    RUN(without_friction_only_the_normal_pushes);
    RUN(grazing_and_zero_velocities_give_no_impulse);
    RUN(a_column_carries_the_weight_of_what_is_above);
    RUN(an_island_obeys_the_laws_at_every_contact);
    RUN(the_warm_start_of_a_solved_island_changes_nothing);
    return CHECK_RESULT();
}
