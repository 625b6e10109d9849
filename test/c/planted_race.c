/* A race that is meant: ThreadSanitizer must report it, or its silence about the tests means nothing (`make test-c-threads`). */
#include "../../csrc/base/thread_pool.h"

#include <stdio.h>

static int64_t made;

static void count_item(void *context, int32_t worker, int64_t item) {
    (void)context, (void)worker, (void)item;
    made++;
}

int main(void)
{
    rs_thread_pool *pool = NULL;
    if (rs_pool_new(4, &pool) != RS_OK)
        return 2;
    for (int k = 0; k < 100; k++)
        rs_pool_run(pool, 1000, count_item, NULL);
    rs_pool_free(pool);
    printf("%lld of 100000 items\n", (long long)made);
    return 0;
}
