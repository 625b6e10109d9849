/* Symmetric matrices that are diagonal but for blocks of up to six, as inertias are: of the lower triangle, each row keeps
 * the six numbers that end at the diagonal. */
#ifndef RS_BASE_BAND_H
#define RS_BASE_BAND_H

#include <stdint.h>

enum { RS_BAND_WIDTH = 6 };

/* Row i, column j, with i - 6 < j <= i. */
static inline double *rs_band_at(double *band, int32_t i, int32_t j) {
    return &band[RS_BAND_WIDTH * i + (j - i) + RS_BAND_WIDTH - 1];
}

#endif
