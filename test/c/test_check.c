/* The test runner itself: a runner that cannot fail would prove nothing. */
#include "check.h"

static void a_test_that_fails(void) { CHECK(1 + 1 == 3); }
static void a_test_that_passes(void) { CHECK(1 + 1 == 2); }
static void a_test_that_compares_nan(void) { CHECK_NEAR(NAN, 0.0, 1e9); }

/* What the runner counts for one test, without disturbing the counts of this program. */
static check_counts counts_of(void (*test)(void))
{
    check_counts outer = check_state;
    check_state = (check_counts){0};
    RUN(test);
    check_counts inner = check_state;
    check_state = outer;
    return inner;
}

static void failures_and_passes_are_counted(void)
{
    check_counts failing = counts_of(a_test_that_fails);
    check_counts passing = counts_of(a_test_that_passes);
    CHECK(failing.failed == 1 && failing.passed == 0);
    CHECK(passing.failed == 0 && passing.passed == 1);
}

static void nan_is_not_near_anything(void) { CHECK(counts_of(a_test_that_compares_nan).failed == 1); }

int main(void)
{
    RUN(failures_and_passes_are_counted);
    RUN(nan_is_not_near_anything);
    return CHECK_RESULT();
}
