/* How large and small numbers may be. A step multiplies a handful of them; within these limits no product leaves the
 * range of double precision, whatever is combined with what. SI units; far beyond anything that exists. */
#ifndef RS_BASE_LIMITS_H
#define RS_BASE_LIMITS_H

#include <stdint.h>

#include "math3d.h"

#define RS_GREATEST 1e50       /* any length, velocity, force, time, … */
#define RS_LEAST 1e-50         /* what must not be zero */
#define RS_GREATEST_MASS 1e40  /* [kg] */
#define RS_LEAST_MASS 1e-40    /* [kg] */
#define RS_GREATEST_MOMENT 1e50 /* of inertia [kg m^2] */
#define RS_LEAST_MOMENT 1e-60   /* [kg m^2] */

/* False also for NaN. */
static inline bool rs_is_carried(double value) { return fabs(value) <= RS_GREATEST; }
static inline bool rs_v3_is_carried(rs_vec3 a) { return rs_is_carried(a.x) && rs_is_carried(a.y) && rs_is_carried(a.z); }
static inline bool rs_all_carried(const double *values, int count) {
    int64_t wrong = 0; /* without a way out of the loop: several are looked at at once */
    for (int k = 0; k < count; k++)
        wrong += !rs_is_carried(values[k]);
    return wrong == 0;
}

#endif
