/* The mutex of a world: recursive, robust, and fair to those who wait. */
#define _XOPEN_SOURCE 700 /* recursive mutexes */
#include "world.h"

#include <errno.h>
#include <time.h>

/* An address of its own for each thread. */
static uintptr_t this_thread(void) {
    static _Thread_local char mark;
    return (uintptr_t)&mark;
}

/* The mutex is not fair: a thread that steps would take it again before those who wait wake up. They go first. */
static void let_others_in(rs_world *world) {
    const struct timespec pause = {0, 50000};
    for (int tries = 0; tries < 40 && atomic_load(&world->waiting) > 0; tries++)
        nanosleep(&pause, NULL);
}

/* No thread ends within a function of the engine: what a dead one leaves locked is whole. */
static int lock(rs_world *world) {
    uintptr_t me = this_thread();
    bool mine = atomic_load_explicit(&world->holder, memory_order_relaxed) == me;
    if (!mine && atomic_load_explicit(&world->waiting, memory_order_relaxed) > 0)
        let_others_in(world);
    int result = pthread_mutex_trylock(&world->mutex);
    if (result == EBUSY) {
        atomic_fetch_add(&world->waiting, 1);
        result = pthread_mutex_lock(&world->mutex);
        atomic_fetch_sub(&world->waiting, 1);
    }
    if (result == EOWNERDEAD) {
        result = pthread_mutex_consistent(&world->mutex);
        world->holds = 0;
    }
    if (result == 0) {
        world->holds++;
        atomic_store_explicit(&world->holder, me, memory_order_relaxed);
    }
    return result;
}

static int unlock(rs_world *world) {
    if (atomic_load_explicit(&world->holder, memory_order_relaxed) != this_thread())
        return EPERM;
    if (--world->holds == 0)
        atomic_store_explicit(&world->holder, 0, memory_order_relaxed);
    return pthread_mutex_unlock(&world->mutex);
}

void rs_world_make_mutex(rs_world *world) {
    pthread_mutexattr_t kind; /* robust: a thread that ends while it holds the world does not keep it for ever */
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&world->mutex, &kind);
    pthread_mutexattr_destroy(&kind);
}

void rs_world_free_mutex(rs_world *world) {
    while (unlock(world) == 0) { /* its thread would remember a robust mutex beyond its end */
    }
    pthread_mutex_destroy(&world->mutex);
}

void rs_world_enter(rs_world *world) {
    lock(world);
    world->changes++;
}

void rs_world_enter_to_read(rs_world *world) { lock(world); }

rs_status rs_world_leave(rs_world *world, rs_status status) {
    unlock(world);
    return status;
}

rs_status rs_world_lock(rs_world *world) {
    return lock(world) == 0 ? RS_OK : rs_fail(RS_WRONG_STATE, "the world cannot be locked");
}

rs_status rs_world_unlock(rs_world *world) {
    return unlock(world) == 0
               ? RS_OK
               : rs_fail(RS_WRONG_STATE, "unlock without lock: this thread does not hold the world's mutex");
}
