/* Threads that share the items of a job. */
#ifndef RS_BASE_THREAD_POOL_H
#define RS_BASE_THREAD_POOL_H

#include "memory.h"

typedef struct rs_thread_pool rs_thread_pool;

/* `worker` counts from 0; a worker makes one item at a time. */
typedef void (*rs_pool_work)(void *context, int32_t worker, int64_t item);

/* `threads` of at least 1; the thread that calls rs_pool_run() is one of them. */
rs_status rs_pool_new(int32_t threads, rs_thread_pool **out);
/* Takes NULL. */
void rs_pool_free(rs_thread_pool *pool);

int32_t rs_pool_threads(const rs_thread_pool *pool);

/* Makes the items 0 .. count-1, in any order, and returns when all are made. One call at a time. In a process that was
 * forked, where the other threads do not exist, the calling thread makes them all. */
void rs_pool_run(rs_thread_pool *pool, int64_t count, rs_pool_work work, void *context);

/* The same without threads where there is no pool (NULL). */
void rs_pool_share(rs_thread_pool *pool, int64_t count, rs_pool_work work, void *context);

#endif
