#define _POSIX_C_SOURCE 200809L /* getpid */
#include "thread_pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

typedef struct {
    rs_thread_pool *pool;
    pthread_t thread;
    int32_t number;
} helper;

struct rs_thread_pool {
    int32_t threads, started; /* `started` helpers run: the caller is the other thread */
    pid_t process;
    helper *helpers;

    pthread_mutex_t mutex;
    pthread_cond_t job_begins, job_ends;
    atomic_ullong job; /* counts jobs */
    atomic_int busy;   /* helpers that have not finished it */
    atomic_bool closing;

    rs_pool_work work;
    void *context;
    int64_t count;
    atomic_llong next; /* item that nobody has taken */
};

static void make_items(rs_thread_pool *pool, int32_t worker) {
    for (;;) {
        int64_t item = atomic_fetch_add(&pool->next, 1);
        if (item >= pool->count)
            return;
        pool->work(pool->context, worker, item);
    }
}

/* Jobs of a step follow one another within microseconds: whoever waits looks out for so long before it sleeps. */
enum { LOOKS = 10000 };

static void relax(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

static void look_for_job(rs_thread_pool *pool, uint64_t done) {
    for (int k = 0; k < LOOKS && atomic_load(&pool->job) == done && !atomic_load(&pool->closing); k++)
        relax();
}

static void look_for_end(rs_thread_pool *pool) {
    for (int k = 0; k < LOOKS && atomic_load(&pool->busy) > 0; k++)
        relax();
}

static void *help(void *argument) {
    const helper *self = argument;
    rs_thread_pool *pool = self->pool;
    uint64_t done = 0;
    for (;;) {
        look_for_job(pool, done);
        pthread_mutex_lock(&pool->mutex);
        while (atomic_load(&pool->job) == done && !atomic_load(&pool->closing))
            pthread_cond_wait(&pool->job_begins, &pool->mutex);
        pthread_mutex_unlock(&pool->mutex);
        if (atomic_load(&pool->closing))
            return NULL;
        done = atomic_load(&pool->job);
        make_items(pool, self->number);
        pthread_mutex_lock(&pool->mutex);
        if (atomic_fetch_sub(&pool->busy, 1) == 1)
            pthread_cond_signal(&pool->job_ends);
        pthread_mutex_unlock(&pool->mutex);
    }
}

rs_status rs_pool_new(int32_t threads, rs_thread_pool **out) {
    rs_thread_pool *pool = rs_alloc(sizeof *pool);
    helper *helpers = rs_alloc(sizeof *helpers * (size_t)threads);
    if (pool == NULL || helpers == NULL) {
        rs_free(pool);
        rs_free(helpers);
        return RS_OUT_OF_MEMORY;
    }
    pool->threads = threads;
    pool->process = getpid();
    pool->helpers = helpers;
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->job_begins, NULL);
    pthread_cond_init(&pool->job_ends, NULL);
    for (int32_t k = 0; k < threads - 1; k++) {
        helpers[k] = (helper){.pool = pool, .number = k + 1};
        if (pthread_create(&helpers[k].thread, NULL, help, &helpers[k]) != 0) {
            rs_pool_free(pool);
            return rs_fail(RS_OUT_OF_MEMORY, "thread %d of %d cannot be started", k + 2, threads);
        }
        pool->started++;
    }
    *out = pool;
    return RS_OK;
}

static bool is_forked(const rs_thread_pool *pool) { return getpid() != pool->process; }

void rs_pool_free(rs_thread_pool *pool) {
    if (pool == NULL)
        return;
    if (!is_forked(pool)) {
        pthread_mutex_lock(&pool->mutex);
        atomic_store(&pool->closing, true);
        pthread_cond_broadcast(&pool->job_begins);
        pthread_mutex_unlock(&pool->mutex);
        for (int32_t k = 0; k < pool->started; k++)
            pthread_join(pool->helpers[k].thread, NULL);
        pthread_cond_destroy(&pool->job_begins);
        pthread_cond_destroy(&pool->job_ends);
        pthread_mutex_destroy(&pool->mutex);
    }
    rs_free(pool->helpers);
    rs_free(pool);
}

int32_t rs_pool_threads(const rs_thread_pool *pool) { return pool->threads; }

void rs_pool_run(rs_thread_pool *pool, int64_t count, rs_pool_work work, void *context) {
    bool alone = pool->started == 0 || count < 2 || is_forked(pool);
    pool->work = work;
    pool->context = context;
    pool->count = count;
    atomic_store(&pool->next, 0);
    if (alone) {
        make_items(pool, 0);
        return;
    }
    pthread_mutex_lock(&pool->mutex);
    atomic_store(&pool->busy, pool->started);
    atomic_fetch_add(&pool->job, 1);
    pthread_cond_broadcast(&pool->job_begins);
    pthread_mutex_unlock(&pool->mutex);
    make_items(pool, 0);
    look_for_end(pool);
    pthread_mutex_lock(&pool->mutex);
    while (atomic_load(&pool->busy) > 0)
        pthread_cond_wait(&pool->job_ends, &pool->mutex);
    pthread_mutex_unlock(&pool->mutex);
}

void rs_pool_share(rs_thread_pool *pool, int64_t count, rs_pool_work work, void *context) {
    for (int64_t item = 0; pool == NULL && item < count; item++)
        work(context, 0, item);
    if (pool != NULL)
        rs_pool_run(pool, count, work, context);
}
