/* A race that is meant: ThreadSanitizer must report it, or its silence about the tests means nothing (`make test-c-threads`). */
#include "../../csrc/base/thread_pool.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

static int64_t made;
static atomic_int begun; /* relaxed: orders nothing that the threads do */

/* Each item waits until another thread has begun the other one: one thread alone would not race. */
static void count_item(void *context, int32_t worker, int64_t item) {
    (void)context, (void)worker, (void)item;
    atomic_fetch_add_explicit(&begun, 1, memory_order_relaxed);
    while (atomic_load_explicit(&begun, memory_order_relaxed) < 2)
        sched_yield();
    made++;
}

int main(void)
{
    rs_thread_pool *pool = NULL;
    if (rs_pool_new(2, &pool) != RS_OK)
        return 2;
    rs_pool_run(pool, 2, count_item, NULL);
    rs_pool_free(pool);
    printf("%lld of 2 items\n", (long long)made);
    return 0;
}
