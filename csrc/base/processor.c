#include "raisim_engine.h"

int rs_processor_has_v3(void) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
           __builtin_cpu_supports("fma"); /* those with all of these have the rest of the level, too */
#else
    return 0;
#endif
}
