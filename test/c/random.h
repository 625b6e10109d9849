/* Reproducible random numbers for tests. */
#ifndef RAISIM_TEST_RANDOM_H
#define RAISIM_TEST_RANDOM_H

#include <stdint.h>

#include "../../csrc/base/math3d.h"

/* Uniform in [low, high); the state must not be 0 (xorshift64*). */
static inline double random_between(uint64_t *state, double low, double high)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return low + (high - low) * (double)((*state * 2685821657736338717ULL) >> 11) / 9007199254740992.0;
}

static inline rs_vec3 random_vector(uint64_t *state, double size)
{
    double x = random_between(state, -size, size), y = random_between(state, -size, size);
    return rs_v3(x, y, random_between(state, -size, size));
}

/* Any rotation, roughly evenly. */
static inline rs_quat random_quaternion(uint64_t *state)
{
    rs_vec3 v = random_vector(state, 1.0);
    return rs_quat_normalize((rs_quat){random_between(state, -1.0, 1.0), v.x, v.y, v.z + 1e-3});
}

#endif
