/* A test runner in one header.
 *
 *   static void test_that_something_holds(void) { CHECK(x > 0); CHECK_NEAR(x, 1.0, 1e-9); }
 *   int main(void) { RUN(test_that_something_holds); return CHECK_RESULT(); }
 *
 * A failed check prints file, line and values and the test goes on; each executable ends with
 * "N passed, N failed", counted in tests, and exits with 1 when one failed. */
#ifndef RAISIM_TEST_CHECK_H
#define RAISIM_TEST_CHECK_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

typedef struct {
    int passed;
    int failed;
    bool current_failed; /* a check of the running test failed */
} check_counts;

static check_counts check_state;

static inline bool check_that(bool ok, const char *text, const char *file, int line)
{
    if (!ok) {
        check_state.current_failed = true;
        fprintf(stderr, "%s:%d: failed: %s\n", file, line, text);
    }
    return ok;
}

/* NaN is never near anything. */
static inline bool check_near(double actual, double expected, double tolerance, const char *text,
                              const char *file, int line)
{
    bool ok = fabs(actual - expected) <= tolerance;
    if (!ok) {
        check_state.current_failed = true;
        fprintf(stderr, "%s:%d: failed: %s = %.17g, expected %.17g within %.3g\n", file, line, text, actual,
                expected, tolerance);
    }
    return ok;
}

static inline void check_run(void (*test)(void), const char *name)
{
    check_state.current_failed = false;
    test();
    if (check_state.current_failed) {
        check_state.failed++;
        fprintf(stderr, "FAILED %s\n", name);
    } else {
        check_state.passed++;
    }
}

static inline int check_result(void)
{
    printf("%d passed, %d failed\n", check_state.passed, check_state.failed);
    return check_state.failed > 0 || check_state.passed == 0 ? 1 : 0;
}

/* Both give true when the check holds, so that a test can stop early: if (!CHECK(p)) return; */
#define CHECK(condition) check_that((condition), #condition, __FILE__, __LINE__)
#define CHECK_NEAR(actual, expected, tolerance) \
    check_near((actual), (expected), (tolerance), #actual, __FILE__, __LINE__)
#define RUN(test) check_run((test), #test)
#define CHECK_RESULT() check_result()

#endif
