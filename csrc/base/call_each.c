#include "raisim_engine.h"

#include <stdatomic.h>
#include <stddef.h>

typedef int (*two_pointers)(void *, void *);
typedef int (*three_pointers)(void *, void *, void *);

int64_t rs_call_each(void (*function)(void), int32_t arguments, int64_t count, void *const *first, void *const *second) {
    int64_t failed = 0;
    for (int64_t i = 0; i < count; ++i) {
        int result = arguments == 2 ? ((two_pointers)function)(first[i], second[i])
                                    : ((three_pointers)function)(first[i], second[i], NULL);
        failed += result != 0;
    }
    return failed;
}

void rs_add_to_counter(const void *counter, size_t happened) {
    /* The libraries hand a const pointer on that belongs to whoever gave it to them. */
    _Atomic int64_t *own = (_Atomic int64_t *)(uintptr_t)counter;
    atomic_fetch_add_explicit(own, (int64_t)happened, memory_order_release);
}
