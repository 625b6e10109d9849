/* Rows of joints at their limits against their definition. */
#include "../../../csrc/dynamics/joint_rows.h"
#include "../articulation_fixture.h"

/* Limits and friction of the one joint of a tree. */
typedef struct {
    double lower, upper, speed_limit, friction;
} bounds;

static const double DT = 0.01;

enum { ROOM = 12 };

/* Tree of one joint, placed so that q_stage and u_free are what the test sets; the step began at the same place. */
static int32_t rows_of_one_joint(rs_joint_type type, const double *q, const double *u, bounds limits, rs_joint_row *rows)
{
    rs_link_def defs[2] = {fixture_link(-1, RS_JOINT_FIXED), fixture_link(0, type)};
    defs[1].lower = limits.lower;
    defs[1].upper = limits.upper;
    defs[1].velocity_limit = limits.speed_limit;
    defs[1].friction = limits.friction;
    rs_articulation *a = fixture_make(defs, 2);
    memcpy(a->q, q, sizeof(double) * (size_t)a->q_count);
    memcpy(a->q_stage, q, sizeof(double) * (size_t)a->q_count);
    memcpy(a->u_free, u, sizeof(double) * (size_t)a->u_count);
    CHECK(rs_joint_row_capacity(a) <= ROOM);
    int32_t count = rs_joint_rows(a, DT, rows);
    rs_articulation_free(a);
    return count;
}

static void joint_near_its_limit_gets_a_row_that_lets_it_arrive(void)
{
    rs_joint_row rows[ROOM];
    bounds limits = {-1, 1, INFINITY, 0};
    CHECK(rows_of_one_joint(RS_JOINT_REVOLUTE, (double[]){0.99}, (double[]){0.3}, limits, rows) == 0);
    CHECK(rows_of_one_joint(RS_JOINT_REVOLUTE, (double[]){0.99}, (double[]){2.0}, limits, rows) == 1);
    CHECK(rows[0].bounds.lower == 0.0 && isinf(rows[0].bounds.upper));
    CHECK_NEAR(rows[0].torques[0].along.x, -1.0, 0.0);
    CHECK_NEAR(rows[0].target, -1.0, 1e-12); /* 0.01 rad in 0.01 s */
    CHECK_NEAR(rows[0].push, 0.0, 0.0);
}

static void joint_beyond_its_limit_comes_back_gently(void)
{
    rs_joint_row rows[ROOM];
    bounds limits = {-1, 1, INFINITY, 0};
    CHECK(rows_of_one_joint(RS_JOINT_PRISMATIC, (double[]){-1.2}, (double[]){-2.0}, limits, rows) == 1);
    CHECK_NEAR(rows[0].torques[0].along.x, 1.0, 0.0);
    CHECK_NEAR(rows[0].target, 0.0, 0.0);
    CHECK_NEAR(rows[0].push, 0.5, 0.0);
    CHECK(rows_of_one_joint(RS_JOINT_PRISMATIC, (double[]){-1.001}, (double[]){-2.0}, limits, rows) == 1);
    CHECK_NEAR(rows[0].push, 0.02, 1e-9); /* a fifth of 0.001 m in 0.01 s */
}

static void narrow_ranges_are_held_on_both_sides(void)
{
    rs_joint_row rows[ROOM];
    CHECK(rows_of_one_joint(RS_JOINT_PRISMATIC, (double[]){0.0}, (double[]){0.0}, (bounds){-0.001, 0.001, INFINITY, 0},
                            rows) == 2);
    CHECK_NEAR(rows[0].torques[0].along.x, -1.0, 0.0);
    CHECK_NEAR(rows[1].torques[0].along.x, 1.0, 0.0);
    CHECK_NEAR(rows[1].target, -0.1, 1e-12);
    CHECK(rows_of_one_joint(RS_JOINT_PRISMATIC, (double[]){0.3}, (double[]){0.0}, (bounds){0.3, 0.3, INFINITY, 0}, rows) == 1);
    CHECK(isinf(rows[0].bounds.lower) && isinf(rows[0].bounds.upper));
}

static void fast_joint_and_rubbing_joint_get_rows(void)
{
    rs_joint_row rows[ROOM];
    CHECK(rows_of_one_joint(RS_JOINT_REVOLUTE, (double[]){0.0}, (double[]){-5.0}, (bounds){-1, 1, 3.0, 0.7}, rows) == 2);
    CHECK_NEAR(rows[0].torques[0].along.x, 1.0, 0.0);
    CHECK_NEAR(rows[0].target, -3.0, 0.0);
    CHECK_NEAR(rows[1].bounds.lower, -0.007, 1e-15);
    CHECK_NEAR(rows[1].bounds.upper, 0.007, 1e-15);
}

static void cone_of_a_spherical_joint_pushes_against_the_rotation(void)
{
    rs_joint_row rows[ROOM];
    bounds limits = {-1, 0.72, INFINITY, 0};
    double q[4] = {cos(0.35), 0.0, sin(0.35), 0.0}; /* 0.7 rad about y */
    CHECK(rows_of_one_joint(RS_JOINT_SPHERICAL, q, (double[]){3, 1, 3}, limits, rows) == 0);
    CHECK(rows_of_one_joint(RS_JOINT_SPHERICAL, q, (double[]){3, 3, 3}, limits, rows) == 1);
    CHECK_NEAR(rows[0].torques[0].along.x, 0.0, 1e-12);
    CHECK_NEAR(rows[0].torques[0].along.y, -1.0, 1e-12);
    CHECK_NEAR(rows[0].target, -2.0, 1e-9);
}

int main(void)
{
    RUN(joint_near_its_limit_gets_a_row_that_lets_it_arrive);
    RUN(joint_beyond_its_limit_comes_back_gently);
    RUN(narrow_ranges_are_held_on_both_sides);
    RUN(fast_joint_and_rubbing_joint_get_rows);
    RUN(cone_of_a_spherical_joint_pushes_against_the_rotation);
    return CHECK_RESULT();
}
