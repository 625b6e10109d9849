#include "noise.h"

#include "../base/memory.h"

rs_status rs_noise_valid(const rs_noise *noise) {
    if (noise->type < RS_NOISE_NONE || noise->type > RS_NOISE_UNIFORM)
        return rs_fail(RS_INVALID_VALUE, "noise type is %d; expected none, gaussian or uniform", noise->type);
    if (!isfinite(noise->mean) || !(noise->spread >= 0.0 && isfinite(noise->spread)))
        return rs_fail(RS_INVALID_VALUE, "noise mean is %g, deviation %g; expected finite numbers and deviation >= 0",
                       noise->mean, noise->spread);
    if (!(noise->dropout >= 0.0 && noise->dropout <= 1.0))
        return rs_fail(RS_INVALID_VALUE, "dropout is %g; expected 0 to 1", noise->dropout);
    return RS_OK;
}

/* The finaliser of SplitMix64 (Steele, Lea, Flood 2014): neighbouring numbers become unrelated ones. */
static uint64_t scramble(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* Uniform in (0, 1], 53 bits. */
static double unit(uint64_t key, uint64_t draw) {
    uint64_t bits = scramble(key + 0x9e3779b97f4a7c15u * (draw + 1));
    return ((double)(bits >> 11) + 1.0) * 0x1p-53;
}

double rs_noise_apply(const rs_noise *noise, int64_t ray, double distance) {
    uint64_t key = scramble(scramble(noise->seed) + scramble(noise->frame) * 3 + (uint64_t)ray);
    if (noise->dropout > 0.0 && unit(key, 0) <= noise->dropout)
        return NAN;
    if (noise->type == RS_NOISE_UNIFORM)
        return distance + noise->mean + noise->spread * (2.0 * unit(key, 1) - 1.0);
    if (noise->type == RS_NOISE_GAUSSIAN) /* Box and Muller */
        return distance + noise->mean + noise->spread * sqrt(-2.0 * log(unit(key, 1))) * cos(2.0 * M_PI * unit(key, 2));
    return distance;
}
