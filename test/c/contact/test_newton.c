/* Newton's method for small islands: its matrix beside one that is multiplied out, and the interior-point method on rows of all
 * kinds. */
#include "../../../csrc/contact/newton_matrix.h"
#include "../../../csrc/contact/solve_progress.h"
#include "../island_fixture.h"

/* ---- the matrix ---- */

/* The last velocity of a tree comes first. */
static int place_of(int k) { return SIZE - 1 - k; }

/* What the matrix stands for: M * x + J' * K * J * x. */
static void multiply(const island *at, const rs_newton *newton, const double *x, double *out)
{
    for (int k = 0; k < SIZE; k++)
        out[place_of(k)] = x[place_of(k)] / at->inverse_inertia[k];
    for (int64_t r = 0; r < at->rows.count; r++) {
        const rs_newton_row *row = RS_ITEM(newton->rows, r);
        const rs_vec3 *jacobian = at->list[r].jacobian;
        rs_vec3 speed = rs_v3_zero();
        for (int k = 0; k < SIZE; k++)
            speed = rs_madd(speed, x[place_of(k)], jacobian[k]);
        if (row->state == RS_ROW_OPEN)
            continue;
        rs_vec3 impulse = rs_rows3_mulv(row->weight, speed);
        for (int k = 0; k < SIZE; k++)
            out[place_of(k)] += rs_dot(impulse, jacobian[k]);
    }
}

static void set_random_weights(rs_newton *newton, const island *at, double skew, uint64_t *random)
{
    for (int64_t r = 0; r < at->rows.count; r++) {
        rs_newton_row *row = RS_ITEM(newton->rows, r);
        rs_newton_clear_weight(row);
        row->state = r % 5 == 4 ? RS_ROW_OPEN : RS_ROW_HELD;
        for (int i = row->first_axis; i < 3; i++)
            for (int j = row->first_axis; j < 3; j++)
                row->weight[i][j] = (i == j ? 2.0 : 0.0) + skew * random_between(random, -1.0, 1.0);
    }
}

static double largest_difference(const double *a, const double *b)
{
    double most = 0.0;
    for (int k = 0; k < SIZE; k++)
        most = rs_max(most, fabs(a[k] - b[k]));
    return most;
}

/* Weights that are far from symmetric need pivots. */
static void small_matrices_are_inverted(void)
{
    uint64_t random = 5;
    for (int n = 0; n < 200; n++) {
        double skew = n % 2 == 0 ? 0.0 : n % 3 == 0 ? 1.0 : 30.0, x[SIZE], product[SIZE], asked[SIZE];
        island at;
        rs_newton newton = {0};
        make_island(&at, 0.0, &random);
        CHECK(rs_newton_begin(&newton, &at.rows, 1e9) > 0.0 && rs_newton_is_small(&newton));
        set_random_weights(&newton, &at, skew, &random);
        CHECK(skew > 0.0 ? rs_newton_factorise_skew(&newton) : rs_newton_matrix_factorise(&newton));
        for (int k = 0; k < SIZE; k++)
            x[k] = asked[k] = random_between(&random, -1.0, 1.0);
        rs_newton_matrix_solve(&newton, x);
        multiply(&at, &newton, x, product);
        CHECK(largest_difference(product, asked) < 1e-8);
        rs_newton_free(&newton);
    }
}

/* One velocity turns the other way: so does the sign. */
static void the_sign_of_the_determinant_is_known(void)
{
    uint64_t random = 6;
    for (int n = 0; n < 20; n++) {
        island at;
        rs_newton newton = {0};
        make_island(&at, 0.0, &random);
        CHECK(rs_newton_begin(&newton, &at.rows, 1e9) > 0.0);
        for (int64_t r = 0; r < at.rows.count; r++)
            RS_ITEM(newton.rows, r)->state = RS_ROW_OPEN;
        CHECK(rs_newton_factorise_skew(&newton) && newton.sign == 1);
        rs_newton_row *row = RS_ITEM(newton.rows, n % 7);
        rs_newton_clear_weight(row);
        row->state = RS_ROW_HELD;
        row->weight[2][2] = -1e3;
        CHECK(rs_newton_factorise_skew(&newton) && newton.sign == -1);
        rs_newton_free(&newton);
    }
}

/* ---- the interior-point method ---- */

/* Takes the steps that were written. Returns the largest violation of a law [m/s]. */
static double take(island *at)
{
    at->rows.layout->apply(&at->rows, 1.0);
    return rs_rows_measure(&at->rows).largest;
}

/* Returns the largest violation at the start. */
static double begin(island *at, rs_newton *newton, bool bent_lifts)
{
    rs_rows_measure(&at->rows);
    for (int64_t k = 0; k < at->rows.count; k++)
        at->list[k].law.free_error = at->list[k].law.error;
    CHECK(rs_newton_begin(newton, &at->rows, 1e9) > 0.0 && rs_newton_interior_fits(newton, &at->rows));
    CHECK(rs_newton_interior_begin(newton, &at->rows, bent_lifts));
    double largest = take(at);
    rs_newton_interior_look(newton, &at->rows);
    return largest;
}

/* Steps until the violation is about `enough`. Returns what is found, and counts where that is nearly what was told: the least,
 * though steps may have led on to more. */
static double go_on(island *at, rs_newton *newton, double enough, double largest, int *as_told)
{
    enum { STEPS = 40 };
    double left = INFINITY, least = INFINITY;
    for (int k = 0; k < STEPS && left > enough && rs_newton_interior_step(newton, &left) > 0.0; k++)
        least = rs_min(least, left);
    rs_newton_interior_take(newton, &at->rows);
    double found = take(at);
    *as_told += found <= 2.0 * least + 1e-4 * largest;
    rs_newton_interior_look(newton, &at->rows);
    return found;
}

/* Contacts, soft ones, bounds on one side and on both, narrow ones, given impulses and pins. */
static void the_interior_solves_rows_of_all_kinds(void)
{
    enum { ISLANDS = 200 };
    uint64_t random = 7;
    int solved = 0, as_told = 0;
    for (int n = 0; n < ISLANDS; n++) {
        island at;
        rs_newton newton = {0};
        make_island(&at, n % 3 == 0 ? 0.5 : 0.0, &random);
        at.list[7].law.upper = at.list[7].law.lower + 1e-6;
        at.list[8].law.lower = at.list[8].law.upper = 0.0; /* given */
        at.list[1].law.softness = 0.1;
        at.list[9].law.softness = 0.3;
        double largest = begin(&at, &newton, n % 2 == 1);
        go_on(&at, &newton, 1e-4, largest, &as_told);
        double found = go_on(&at, &newton, 1e-9, largest, &as_told);
        found = rs_min(found, go_on(&at, &newton, 1e-9, largest, &as_told));
        solved += found < 1e-6;
        CHECK(at.list[8].law.impulse.xyz.z == 0.0);
        for (int64_t k = 0; k < at.rows.count; k++) {
            const rs_law *law = &at.list[k].law;
            rs_vec3 off = rs_sub(law->impulse.xyz, rs_law_allowed(law, law->impulse.xyz));
            CHECK(rs_norm(off) <= 1e-12 * (1.0 + rs_norm(law->impulse.xyz)));
        }
        rs_newton_free(&newton);
    }
    CHECK(solved >= ISLANDS * 95 / 100 && as_told >= 3 * ISLANDS * 99 / 100); /* steps along nearly singular directions round */
}

int main(void)
{
    RUN(small_matrices_are_inverted);
    RUN(the_sign_of_the_determinant_is_known);
    RUN(the_interior_solves_rows_of_all_kinds);
    return CHECK_RESULT();
}
