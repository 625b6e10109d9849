/* Islands of the general solver against the laws that their rows must obey, over random mechanisms: closed loops of
 * contacts, brakes, limits and pins that hold each other several times over. */
#include "../../csrc/contact/general_jump.h"
#include "check.h"
#include "random.h"

enum { SIZE = 18, MAX_ROWS = 16, ISLANDS = 400 };

static const double SOFTNESS = 1e-8;
static const rs_solver_settings SETTINGS = {.max_iterations = 150, .threshold = 1e-8};

/* One object with SIZE velocities and a diagonal inertia. */
typedef struct {
    double velocity[SIZE], push[SIZE], inverse_inertia[SIZE];
    rs_row_entry entries[MAX_ROWS][SIZE];
    rs_general_row rows[MAX_ROWS];
    int64_t count;
} island;

static rs_general_row *add_row(island *at, rs_row_kind kind, double mu, double softness, uint64_t *random)
{
    rs_row_entry *entries = at->entries[at->count];
    rs_general_row *row = &at->rows[at->count++];
    *row = (rs_general_row){.kind = kind, .mu = mu, .softness = softness,
                            .sides = {{at->velocity, at->push, entries, SIZE}, {0}}};
    for (int k = 0; k < SIZE; k++) {
        rs_vec3 axes = random_vector(random, 1.0);
        if (kind == RS_ROW_SCALAR)
            axes = rs_v3(0.0, 0.0, axes.z);
        entries[k] = (rs_row_entry){.jacobian = {axes, 0.0}, .response = {rs_scale(at->inverse_inertia[k], axes), 0.0},
                                    .index = k};
    }
    rs_general_row_prepare(row);
    return row;
}

/* Seven contacts hold 18 velocities with 21 impulses. */
static void make_island(island *at, uint64_t *random)
{
    at->count = 0;
    for (int k = 0; k < SIZE; k++) {
        at->inverse_inertia[k] = random_between(random, 0.2, 2.0);
        at->velocity[k] = random_between(random, -1.0, 1.0);
        at->push[k] = 0.0;
    }
    for (int k = 0; k < 7; k++)
        add_row(at, RS_ROW_CONTACT, random_between(random, 0.0, 1.0), SOFTNESS, random);
    for (int k = 0; k < 3; k++) {
        double most = random_between(random, 0.0, 0.2);
        add_row(at, RS_ROW_SCALAR, 0.0, 0.0, random)->bounds = (rs_impulse_bounds){-most, most};
    }
    for (int k = 0; k < 2; k++)
        add_row(at, RS_ROW_SCALAR, 0.0, 0.0, random)->bounds = RS_PUSHES;
    add_row(at, RS_ROW_PIN, 0.0, SOFTNESS, random);
}

/* Largest miss of a row's law [m/s]. */
static double miss_of(const rs_general_row *row)
{
    rs_vec3 p = row->impulse, v = rs_sub(rs_madd(rs_general_row_velocity(row), row->softness, p), row->target);
    double friction = sqrt(p.x * p.x + p.y * p.y), slip = sqrt(v.x * v.x + v.y * v.y);
    switch (row->kind) {
    case RS_ROW_CONTACT:
        CHECK(p.z >= 0.0 && friction <= row->mu * p.z * (1.0 + 1e-8) + 1e-15);
        if (p.z == 0.0)
            return rs_max(0.0, -v.z);
        if (friction < row->mu * p.z * (1.0 - 1e-8))
            return rs_norm(v);
        return rs_max(fabs(v.z), friction > 0.0 ? (slip * friction + p.x * v.x + p.y * v.y) / friction : 0.0);
    case RS_ROW_SCALAR:
        CHECK(p.z >= row->bounds.lower && p.z <= row->bounds.upper);
        if (p.z - row->bounds.lower <= 1e-8 * fabs(p.z))
            return rs_max(0.0, -v.z);
        return row->bounds.upper - p.z <= 1e-8 * fabs(p.z) ? rs_max(0.0, v.z) : fabs(v.z);
    default:
        return rs_norm(v);
    }
}

static double largest_miss(const island *at)
{
    double worst = 0.0;
    for (int64_t k = 0; k < at->count; k++)
        worst = rs_max(worst, miss_of(&at->rows[k]));
    return worst;
}

static void random_islands_obey_their_laws(void)
{
    uint64_t random = 1;
    rs_general_jump jump = rs_general_jump_make();
    static island at;
    int exact = 0;
    for (int n = 0; n < ISLANDS; n++) {
        make_island(&at, &random);
        rs_general_solve(at.rows, at.count, &SETTINGS, n % 2, &jump);
        double miss = largest_miss(&at);
        CHECK(miss < 0.05); /* hopeless ones end with their iterations */
        exact += miss < 1e-6;
    }
    CHECK(exact >= ISLANDS * 85 / 100);
    rs_general_jump_free(&jump);
}

/* The velocities follow the impulses: nothing gets lost on the way. */
static void velocities_are_those_of_the_impulses(void)
{
    uint64_t random = 2;
    rs_general_jump jump = rs_general_jump_make();
    static island at;
    for (int n = 0; n < 50; n++) {
        make_island(&at, &random);
        double expected[SIZE];
        memcpy(expected, at.velocity, sizeof expected);
        rs_general_solve(at.rows, at.count, &SETTINGS, false, &jump);
        for (int64_t k = 0; k < at.count; k++)
            rs_row_side_apply(&at.rows[k].sides[0], at.rows[k].impulse, expected);
        for (int k = 0; k < SIZE; k++)
            CHECK_NEAR(at.velocity[k], expected[k], 1e-10);
    }
    rs_general_jump_free(&jump);
}

/* Two equal rows share what one would carry, whatever the sweep did to them. */
static void equal_contacts_share_evenly(void)
{
    uint64_t random = 3;
    rs_general_jump jump = rs_general_jump_make();
    static island at;
    make_island(&at, &random);
    at.count = 0;
    for (int k = 0; k < 2; k++) {
        uint64_t same = 4;
        add_row(&at, RS_ROW_CONTACT, 2.0, SOFTNESS, &same);
    }
    for (int k = 0; k < SIZE; k++)
        at.velocity[k] = -at.entries[0][k].response.xyz.z; /* towards the contact */
    rs_general_solve(at.rows, at.count, &SETTINGS, false, &jump);
    CHECK(at.rows[0].impulse.z > 0.1);
    CHECK_NEAR(at.rows[0].impulse.z, at.rows[1].impulse.z, 1e-6);
    CHECK_NEAR(at.rows[0].impulse.x, at.rows[1].impulse.x, 1e-6);
    CHECK(largest_miss(&at) < 1e-10);
    rs_general_jump_free(&jump);
}

/* Two pins that want different speeds of the same point: no jump, and nothing has changed. */
static void a_contradiction_is_left_alone(void)
{
    uint64_t random = 5;
    rs_general_jump jump = rs_general_jump_make();
    static island at;
    make_island(&at, &random);
    at.count = 0;
    for (int k = 0; k < 2; k++) {
        uint64_t same = 6;
        add_row(&at, RS_ROW_PIN, 0.0, SOFTNESS, &same)->target = rs_v3(k, 0.0, 0.0);
        at.rows[k].impulse = rs_v3(0.1, 0.0, 0.0);
    }
    island before = at;
    CHECK(rs_general_jump_take(&jump, at.rows, at.count) < 0.0);
    CHECK(memcmp(before.velocity, at.velocity, sizeof before.velocity) == 0);
    for (int k = 0; k < 2; k++)
        CHECK(memcmp(&before.rows[k].impulse, &at.rows[k].impulse, sizeof(rs_vec3)) == 0);
    rs_general_jump_free(&jump);
}

int main(void)
{
    RUN(random_islands_obey_their_laws);
    RUN(velocities_are_those_of_the_impulses);
    RUN(equal_contacts_share_evenly);
    RUN(a_contradiction_is_left_alone);
    return CHECK_RESULT();
}
