/* Measurement noise that depends on nothing but a seed, the number of the measurement and the number of the ray: the
 * same in every run and in whatever order rays are cast. */
#ifndef RS_SENSORS_NOISE_H
#define RS_SENSORS_NOISE_H

#include <stdint.h>

#include "../base/math3d.h"
#include "../include/raisim_engine.h"

/* RS_OK, or what is wrong with the numbers. */
rs_status rs_noise_valid(const rs_noise *noise);
/* The distance as measured; NaN when the return is lost. */
double rs_noise_apply(const rs_noise *noise, int64_t ray, double distance);

static inline bool rs_noise_is_on(const rs_noise *noise) {
    return noise->type != RS_NOISE_NONE || noise->dropout > 0.0;
}

#endif
