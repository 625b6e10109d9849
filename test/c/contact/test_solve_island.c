/* The policy that solves islands: rows of single bodies, and rows of random mechanisms (contacts, brakes, limits and pins that
 * hold each other several times over) in a layout of the test's own, against the laws that they must obey. */
#include "../../../csrc/contact/rows_body.h"
#include "../../../csrc/contact/solve_progress.h"
#include "../../../csrc/contact/sweep_blocks.h"
#include "../island_fixture.h"

enum { ISLANDS = 400, MAX_BODIES = 64 };

static const rs_solver_settings SETTINGS = {.max_iterations = 150, .threshold = 1e-8};

static rs_solve_result solve(island *at, bool backward)
{
    rs_newton newton = {0};
    rs_solve_input input = {&SETTINGS, 0.0, false, backward, false};
    rs_solve_result result = rs_island_solve(&at->rows, &input, &newton);
    rs_newton_free(&newton);
    return result;
}

static double kinetic_energy(const island *at)
{
    double sum = 0.0;
    for (int k = 0; k < SIZE; k++)
        sum += 0.5 * at->velocity[k] * at->velocity[k] / at->inverse_inertia[k];
    return sum;
}

static void random_islands_obey_their_laws(void)
{
    uint64_t random = 1;
    static island at;
    int exact = 0;
    for (int n = 0; n < ISLANDS; n++) {
        make_island(&at, 0.0, &random);
        rs_solve_result result = solve(&at, n % 2);
        double miss = largest_miss(&at);
        CHECK(miss < 0.05);
        CHECK(result.residual < 0.05);
        exact += miss < 1e-6;
    }
    CHECK(exact >= ISLANDS * 95 / 100);
}

/* An arc alone, from no impulses: it leads to Coulomb's law, but for the compliance that is left. */
static void arcs_lead_to_the_laws(void)
{
    uint64_t random = 3;
    static island at;
    int near = 0;
    for (int n = 0; n < ISLANDS; n++) {
        rs_newton newton = {0};
        make_island(&at, 0.0, &random);
        for (int k = 0; k < 7; k++)
            at.list[k].law.mu *= 2.0;
        look(&at.rows);
        for (int64_t k = 0; k < at.rows.count; k++)
            at.list[k].law.free_error = at.list[k].law.error;
        CHECK(rs_newton_begin(&newton, &at.rows, 1e9) > 0.0);
        CHECK(rs_newton_follow_arc(&newton, &at.rows, 10.0, 1e-8, 1000) > 0);
        apply(&at.rows, 1.0);
        near += largest_miss(&at) < 1e-3;
        rs_newton_free(&newton);
    }
    CHECK(near >= ISLANDS * 99 / 100);
}

/* Bounces with friction, several at once: whatever the laws ask for, there is no more energy afterwards. */
static void no_island_gains_energy(void)
{
    uint64_t random = 7;
    static island at;
    int restrained = 0;
    for (int n = 0; n < ISLANDS; n++) {
        make_island(&at, n % 2 ? 1.0 : 0.7, &random);
        double before = kinetic_energy(&at);
        rs_solve_result result = solve(&at, n % 2);
        CHECK(kinetic_energy(&at) <= before * (1.0 + 1e-4));
        restrained += result.restrained;
    }
    CHECK(restrained > 0); /* otherwise the test would show nothing */
}

/* The velocities follow the impulses: nothing gets lost on the way. */
static void velocities_are_those_of_the_impulses(void)
{
    uint64_t random = 2;
    static island at;
    for (int n = 0; n < 50; n++) {
        make_island(&at, n % 3 ? 0.0 : 0.5, &random);
        double expected[SIZE];
        memcpy(expected, at.velocity, sizeof expected);
        solve(&at, false);
        for (int64_t k = 0; k < at.rows.count; k++)
            push(expected, &at, &at.list[k], at.list[k].law.impulse.xyz);
        for (int k = 0; k < SIZE; k++)
            CHECK_NEAR(at.velocity[k], expected[k], 1e-12);
    }
}

/* Two equal rows share what one would carry. */
static void equal_contacts_share_evenly(void)
{
    uint64_t random = 3;
    static island at;
    make_island(&at, 0.0, &random);
    at.rows.count = 0;
    for (int k = 0; k < 2; k++) {
        uint64_t same = 4;
        add_row(&at, RS_ROW_CONTACT, 2.0, 0.0, &same);
    }
    for (int k = 0; k < SIZE; k++) /* towards the contact */
        at.velocity[k] = at.free_velocity[k] = -at.inverse_inertia[k] * at.list[0].jacobian[k].z;
    solve(&at, false);
    CHECK(at.list[0].law.impulse.xyz.z > 0.1);
    CHECK_NEAR(at.list[0].law.impulse.xyz.z, at.list[1].law.impulse.xyz.z, 1e-9);
    CHECK_NEAR(at.list[0].law.impulse.xyz.x, at.list[1].law.impulse.xyz.x, 1e-9);
    CHECK(largest_miss(&at) < 1e-10);
}

/* Two pins that want different speeds of the same point: neither gets its way, and impulses stay bounded. */
static void a_contradiction_stays_bounded(void)
{
    uint64_t random = 5;
    static island at;
    make_island(&at, 0.0, &random);
    at.rows.count = 0;
    for (int k = 0; k < 2; k++) {
        uint64_t same = 6;
        add_row(&at, RS_ROW_POINT, 0.0, SOFTNESS, &same)->law.aim.xyz = rs_v3(k, 0.0, 0.0);
    }
    rs_solve_result result = solve(&at, false);
    CHECK(result.residual < 1.0 + 1e-9);
    for (int k = 0; k < 2; k++)
        CHECK(rs_norm(at.list[k].law.impulse.xyz) < 2.0 / SOFTNESS);
}

/* ---- single bodies ---- */


/* Balls stacked on a fixed body: contact k between ball k (A) and k - 1 (B). */
static rs_law contact_law(double mu, const rs_sym3 *g)
{
    return (rs_law){.kind = RS_ROW_CONTACT, .mu = mu, .upper = INFINITY, .normal_inverse_mass = g->zz,
                    .inverse_mass = rs_max(rs_max(g->xx, g->yy), g->zz)};
}

static void make_column(rs_body_row *rows, rs_solver_body *bodies, int balls, double mu, double step_impulse)
{
    const double radius = 0.1, moment = 0.4 * radius * radius;
    bodies[0] = (rs_solver_body){0};
    for (int k = 1; k <= balls; k++) {
        double inverse = 1.0 / moment;
        rs_sym3 inverse_inertia = {inverse, inverse, inverse, 0, 0, 0};
        bodies[k] = (rs_solver_body){.v.xyz = {0.3 * k, -0.1, -step_impulse}, .inverse_mass = 1.0,
                                     .inverse_inertia = rs_columns_of(&inverse_inertia)};
        rs_body_row *row = &rows[k - 1];
        double sides = k == 1 ? 1.0 : 2.0, tangential = sides * (1.0 + radius * radius / moment);
        rs_sym3 g = {tangential, tangential, sides, 0, 0, 0}, g_inverse = rs_sym3_inverse(&g);
        *row = (rs_body_row){.body_a = k, .body_b = k - 1, .law = contact_law(mu, &g), .t1.xyz = {1, 0, 0}, .t2.xyz = {0, 1, 0},
                        .n.xyz = {0, 0, 1}, .ra.xyz = {0, 0, -radius}, .rb.xyz = {0, 0, radius},
                        .g = rs_columns_of(&g), .g_inverse = rs_columns_of(&g_inverse)};
    }
}

/* One island of all the rows; body 0 is fixed. */
static rs_solve_result solve_island(rs_body_row *rows, int64_t count, rs_solver_body *bodies, bool backward)
{
    int32_t members[MAX_BODIES], numbers[MAX_BODIES], body_count = 0;
    rs_push_body pushes[MAX_BODIES];
    for (int64_t k = 0; k < count; k++)
        body_count = rows[k].body_a > body_count ? rows[k].body_a : body_count;
    for (int32_t k = 0; k < body_count; k++)
        members[k] = k + 1;
    rs_newton newton = {0};
    rs_sweep_blocks blocks = {0};
    rs_body_rows made = rs_body_rows_make(rows, count, (rs_island_bodies){members, body_count}, bodies, pushes, numbers,
                                          &blocks);
    rs_solve_input input = {&SETTINGS, 0.05, false, backward, false};
    rs_solve_result result = rs_island_solve(&made.rows, &input, &newton);
    rs_newton_free(&newton);
    rs_sweep_blocks_free(&blocks);
    return result;
}

static void a_column_carries_the_weight_of_what_is_above(void)
{
    enum { BALLS = 10 };
    rs_body_row rows[BALLS];
    rs_solver_body bodies[BALLS + 1];
    for (int backward = 0; backward < 2; backward++) {
        make_column(rows, bodies, BALLS, 0.0, 0.05);
        solve_island(rows, BALLS, bodies, backward != 0);
        for (int k = 0; k < BALLS; k++) {
            CHECK_NEAR(rows[k].law.impulse.xyz.z, 0.05 * (BALLS - k), 1e-9);
            CHECK_NEAR(bodies[k + 1].v.xyz.z, 0.0, 1e-9);
        }
    }
}

/* Every row of the solved island obeys the laws, and momentum changed only by the impulse from the fixed body. */
static void an_island_obeys_the_laws_at_every_contact(void)
{
    enum { BALLS = 6 };
    rs_body_row rows[BALLS];
    rs_solver_body bodies[BALLS + 1];
    make_column(rows, bodies, BALLS, 0.4, 0.05);
    double before = 0.0, after = 0.0;
    for (int k = 1; k <= BALLS; k++)
        before += bodies[k].v.xyz.x;
    rs_solve_result result = solve_island(rows, BALLS, bodies, false);
    CHECK(result.residual < 1e-9);
    for (int k = 0; k < BALLS; k++) {
        const rs_solver_body *a = &bodies[k + 1], *b = &bodies[k];
        rs_vec3 v = rs_sub(rs_add(a->v.xyz, rs_cross(a->w.xyz, rows[k].ra.xyz)),
                           rs_add(b->v.xyz, rs_cross(b->w.xyz, rows[k].rb.xyz)));
        rs_vec3 p = rows[k].law.impulse.xyz;
        double friction = sqrt(p.x * p.x + p.y * p.y), slip = sqrt(v.x * v.x + v.y * v.y);
        CHECK(p.z > 0.0);
        CHECK_NEAR(v.z, 0.0, 1e-8);
        CHECK(friction <= 0.4 * p.z * (1.0 + 1e-8));
        if (slip > 1e-7)
            CHECK_NEAR(p.x * v.x + p.y * v.y, -0.4 * p.z * slip, 1e-7 * slip);
        after += a->v.xyz.x;
    }
    CHECK_NEAR(after - before, rows[0].law.impulse.xyz.x, 1e-10);
}

static void the_warm_start_of_a_solved_island_changes_nothing(void)
{
    enum { BALLS = 6 };
    rs_body_row rows[BALLS];
    rs_solver_body bodies[BALLS + 1];
    make_column(rows, bodies, BALLS, 0.4, 0.05);
    solve_island(rows, BALLS, bodies, false);
    rs_body_row solved[BALLS];
    for (int k = 0; k < BALLS; k++)
        solved[k] = rows[k];
    make_column(rows, bodies, BALLS, 0.4, 0.05);
    for (int k = 0; k < BALLS; k++)
        rows[k].law.impulse = solved[k].law.impulse;
    rs_solve_result again = solve_island(rows, BALLS, bodies, false);
    CHECK(again.sweeps == 0 && again.newtons <= 2);
    for (int k = 0; k < BALLS; k++)
        CHECK_NEAR(rs_norm(rs_sub(rows[k].law.impulse.xyz, solved[k].law.impulse.xyz)), 0.0, 1e-9);
}

/* Four corners between each box and the one below: more unknowns than the bodies have freedoms. */
static int make_box_stack(rs_body_row *rows, rs_solver_body *bodies, int boxes, double step_impulse)
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
            rows[count++] = (rs_body_row){.body_a = k, .body_b = k - 1, .law = contact_law(0.8, &g), .t1.xyz = {1, 0, 0},
                                     .t2.xyz = {0, 1, 0}, .n.xyz = {0, 0, 1}, .ra.xyz = low, .rb.xyz = high,
                                     .g = rs_columns_of(&g), .g_inverse = rs_columns_of(&g_inverse)};
        }
    }
    return count;
}

/* The interior-point method alone, on stacks that are struck: impulses stay inside their cones, and lead to the laws. */
static void the_interior_leads_to_the_laws(void)
{
    enum { BOXES = 8, STACKS = 60, STEPS = 40 };
    const double frictions[] = {0.0, 0.3, 0.8, 1.5};
    rs_body_row rows[4 * BOXES];
    rs_solver_body bodies[BOXES + 1];
    rs_push_body pushes[MAX_BODIES];
    int32_t members[BOXES], numbers[MAX_BODIES];
    uint64_t random = 11;
    int near = 0;
    for (int n = 0; n < STACKS; n++) {
        int count = make_box_stack(rows, bodies, BOXES, 0.05);
        for (int k = 0; k < count; k++)
            rows[k].law.mu = frictions[(n + k / 4) % 4];
        for (int k = 1; k <= BOXES; k++) {
            members[k - 1] = k;
            bodies[k].v.xyz = random_vector(&random, 1.0);
            bodies[k].w.xyz = random_vector(&random, 1.0);
            bodies[k].v_free = bodies[k].v;
            bodies[k].w_free = bodies[k].w;
        }
        rs_newton newton = {0};
        rs_sweep_blocks blocks = {0};
        rs_body_rows made = rs_body_rows_make(rows, count, (rs_island_bodies){members, BOXES}, bodies, pushes, numbers, &blocks);
        double before = rs_rows_measure(&made.rows).largest, after = before;
        for (int k = 0; k < count; k++)
            rows[k].law.free_error = rows[k].law.error;
        CHECK(rs_newton_begin(&newton, &made.rows, 1e9) > 0.0 && rs_newton_interior_fits(&newton, &made.rows));
        CHECK(rs_newton_interior_begin(&newton, &made.rows, n % 2 == 1));
        for (int step = 0; step < STEPS && after > 1e-4 * before; step++) {
            double left;
            made.rows.layout->apply(&made.rows, 1.0);
            after = rs_rows_measure(&made.rows).largest;
            for (int k = 0; k < count; k++) {
                rs_vec3 p = rows[k].law.impulse.xyz;
                CHECK(p.z > 0.0 && sqrt(p.x * p.x + p.y * p.y) <= rows[k].law.mu * p.z);
            }
            rs_newton_interior_look(&newton, &made.rows);
            if (rs_newton_interior_step(&newton, &left) == 0.0)
                break;
            rs_newton_interior_take(&newton, &made.rows);
        }
        near += after <= 1e-4 * before;
        rs_newton_free(&newton);
        rs_sweep_blocks_free(&blocks);
    }
    CHECK(near >= STACKS * 9 / 10);
}

/* Sweeps alone would need thousands. */
static void a_stack_of_boxes_is_solved_exactly_without_sweeps(void)
{
    enum { BOXES = 20 };
    rs_body_row rows[4 * BOXES];
    rs_solver_body bodies[BOXES + 1];
    int count = make_box_stack(rows, bodies, BOXES, 0.05);
    rs_solve_result result = solve_island(rows, count, bodies, false);
    CHECK(result.sweeps == 0 && result.newtons <= 12);
    for (int k = 1; k <= BOXES; k++) {
        CHECK_NEAR(rs_norm(bodies[k].v.xyz), 0.0, 1e-6); /* of 0.05 that gravity gave */
        CHECK_NEAR(rs_norm(bodies[k].w.xyz), 0.0, 1e-6);
        double carried = 0.0;
        for (int corner = 0; corner < 4; corner++)
            carried += rows[4 * (k - 1) + corner].law.impulse.xyz.z;
        CHECK_NEAR(carried, 0.05 * (BOXES - k + 1), 1e-7);
    }
}

/* ---- sweeps ---- */

/* A body on a fixed one and on a second one, with more contacts than there are colours. */
enum { CROWD = 150 };

static void make_crowd(rs_body_row *rows, rs_solver_body *bodies, uint64_t *random)
{
    rs_sym3 inverse_inertia = {3.0, 4.0, 5.0, 0.3, -0.2, 0.1};
    bodies[0] = (rs_solver_body){.v.xyz = {0.1, 0.0, 0.0}};
    for (int k = 1; k < 3; k++)
        bodies[k] = (rs_solver_body){.v.xyz = random_vector(random, 1.0), .w.xyz = random_vector(random, 1.0),
                                     .inverse_mass = 0.5 * k, .inverse_inertia = rs_columns_of(&inverse_inertia)};
    for (int k = 0; k < CROWD; k++) {
        int32_t other = k % 3 == 0 ? 2 : 0;
        rs_vec3 ra = random_vector(random, 0.5), rb = random_vector(random, 0.5), axes[3];
        rs_mat3 turn = rs_quat_to_m3(random_quaternion(random));
        for (int a = 0; a < 3; a++)
            axes[a] = rs_v3(turn.m[a], turn.m[3 + a], turn.m[6 + a]);
        double g[3][3];
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                rs_vec3 a = rs_cross(ra, axes[i]), b = rs_cross(rb, axes[i]);
                g[i][j] = 0.5 * (i == j) + rs_dot(a, rs_sym3_mulv(&inverse_inertia, rs_cross(ra, axes[j])));
                if (other == 2)
                    g[i][j] += (i == j) + rs_dot(b, rs_sym3_mulv(&inverse_inertia, rs_cross(rb, axes[j])));
            }
        rs_sym3 full = {g[0][0], g[1][1], g[2][2], g[0][1], g[0][2], g[1][2]}, inverse = rs_sym3_inverse(&full);
        rows[k] = (rs_body_row){.body_a = 1, .body_b = other, .law = contact_law(random_between(random, 0.0, 1.0), &full),
                                .t1.xyz = axes[0], .t2.xyz = axes[1], .n.xyz = axes[2], .ra.xyz = ra, .rb.xyz = rb,
                                .g = rs_columns_of(&full), .g_inverse = rs_columns_of(&inverse)};
    }
}

/* Momentum that the impulses gave to a body. */
static rs_vec3 pushed(const rs_body_row *rows, int32_t body)
{
    rs_vec3 sum = rs_v3_zero();
    for (int k = 0; k < CROWD; k++) {
        rs_vec3 p = rows[k].law.impulse.xyz, world = rs_scale(p.x, rows[k].t1.xyz);
        world = rs_madd(rs_madd(world, p.y, rows[k].t2.xyz), p.z, rows[k].n.xyz);
        double sign = rows[k].body_a == body ? 1.0 : rows[k].body_b == body ? -1.0 : 0.0;
        sum = rs_madd(sum, sign, world);
    }
    return sum;
}

/* Whatever sweeps do, velocities are those of the impulses, and a row that was solved alone obeys its law. */
static void sweeps_keep_velocities_and_impulses_together(void)
{
    uint64_t random = 11;
    static rs_body_row rows[CROWD];
    rs_solver_body bodies[3];
    int32_t members[] = {1, 2}, numbers[3];
    rs_push_body pushes[3];
    rs_sweep_blocks blocks = {0};
    for (int n = 0; n < 20; n++) {
        make_crowd(rows, bodies, &random);
        rs_body_rows made = rs_body_rows_make(rows, CROWD, (rs_island_bodies){members, 2}, bodies, pushes, numbers, &blocks);
        for (int k = 0; k < 6; k++) { /* all, busy ones, and all again */
            made.rows.layout->look(&made.rows);
            made.rows.layout->sweep(&made.rows, 0.0, n % 2 == 1, 0.0);
            made.rows.layout->sweep(&made.rows, 0.5, n % 2 == 1, -1.0);
            made.rows.layout->sweep(&made.rows, 0.0, n % 2 == 1, 0.0);
        }
        made.rows.layout->look(&made.rows);
        CHECK(!made.failed);
        for (int32_t b = 1; b < 3; b++) {
            rs_vec3 gained = rs_scale(1.0 / bodies[b].inverse_mass, rs_sub(bodies[b].v.xyz, bodies[b].v_free.xyz));
            rs_vec3 sum = pushed(rows, b);
            CHECK_NEAR(rs_norm(rs_sub(gained, sum)), 0.0, 1e-9 * (1.0 + rs_norm(sum)));
        }
        CHECK(rs_norm(rs_sub(bodies[0].v.xyz, rs_v3(0.1, 0.0, 0.0))) == 0.0);
        int32_t last = n % 2 == 1 ? 0 : CROWD - 1; /* the row that was solved last: first of the first colour, last of the overflow */
        CHECK(rs_law_residual(&rows[last].law) < 1e-9);
    }
    rs_sweep_blocks_free(&blocks);
}

int main(void)
{
    RUN(random_islands_obey_their_laws);
    RUN(arcs_lead_to_the_laws);
    RUN(no_island_gains_energy);
    RUN(velocities_are_those_of_the_impulses);
    RUN(equal_contacts_share_evenly);
    RUN(a_contradiction_stays_bounded);
    RUN(a_column_carries_the_weight_of_what_is_above);
    RUN(an_island_obeys_the_laws_at_every_contact);
    RUN(the_warm_start_of_a_solved_island_changes_nothing);
    RUN(the_interior_leads_to_the_laws);
    RUN(a_stack_of_boxes_is_solved_exactly_without_sweeps);
    RUN(sweeps_keep_velocities_and_impulses_together);
    return CHECK_RESULT();
}
