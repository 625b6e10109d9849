/* Sine, cosine and arc tangent for the inner loops: a few nanoseconds, no call, and the same bits on every machine
 * (those of libm depend on its version and on the processor). Errors stay within about one unit in the last place. */
#ifndef RS_BASE_TRIG_H
#define RS_BASE_TRIG_H

#include <math.h>

#include "simd4.h"

/* Chebyshev interpolants on the reduced ranges, in powers of the squared argument. */

/* sin(x)/x for |x| <= pi/4; of numbers and of vectors of them */
#define RS_SIN_SERIES(y)                                                                                             \
    (1.0 + (y) * (-0.16666666666666616636 + (y) * (0.0083333333333203559801 + (y) * (-0.00019841269828645260984 +    \
     (y) * (2.7557313374649856382e-6 + (y) * (-2.5050716696695675609e-8 + (y) * 1.589472030022310905e-10))))))

/* cos(x) for |x| <= pi/4; likewise */
#define RS_COS_SERIES(y)                                                                                             \
    (1.0 + (y) * (-0.4999999999999999937 + (y) * (0.04166666666666645226 + (y) * (-0.0013888888888861080718 +        \
     (y) * (0.000024801587283874082858 + (y) * (-2.7557313095956405951e-7 + (y) * (2.0875582146477434232e-9 -        \
     (y) * 1.1353367957830791912e-11)))))))

/* atan(x)/x for |x| <= tan(pi/8), from the powers of y = x^2; in pairs, so that the products do not wait for each other */
#define RS_ATAN_SERIES(y, y2, y4, y8)                                                                                \
    ((((1.0 - (y) * 0.33333333333333120948) + (y2) * (0.19999999999940837328 - (y) * 0.14285714279244968487)) +      \
      (y4) * ((0.11111110744657099602 - (y) * 0.090908968014728134434) +                                             \
              (y2) * (0.07692045194561481467 - (y) * 0.06662950246036791267))) +                                     \
     (y8) * ((0.058468667522751389837 - (y) * 0.050350497953124393166) +                                             \
             (y2) * (0.037963903161110833033 - (y) * 0.017803896394812563193)))

/* pi/2 in three parts, the first two with 33 bits: their products with the quadrant are exact */
#define RS_HALF_PI_1 1.57079632673412561417
#define RS_HALF_PI_2 6.07710050630396597660e-11
#define RS_HALF_PI_3 2.02226624879595063154e-21
#define RS_TWO_OVER_PI 0.63661977236758134308
#define RS_ROUNDER 6755399441055744.0 /* 1.5 * 2^52: adding it rounds to an integer, found in the last bits */
/* Larger angles: the reduction would lose digits. */
#define RS_MAX_REDUCED_ANGLE 1e5

static inline void rs_sincos(double x, double *s, double *c) {
    if (!(fabs(x) < RS_MAX_REDUCED_ANGLE)) {
        *s = sin(x);
        *c = cos(x);
        return;
    }
    double turns = (x * RS_TWO_OVER_PI + RS_ROUNDER) - RS_ROUNDER;
    double r = ((x - turns * RS_HALF_PI_1) - turns * RS_HALF_PI_2) - turns * RS_HALF_PI_3;
    double y = r * r;
    double sine = r * RS_SIN_SERIES(y), cosine = RS_COS_SERIES(y);
    int quadrant = (int)turns & 3;
    double a = quadrant & 1 ? cosine : sine, b = quadrant & 1 ? sine : cosine;
    *s = quadrant & 2 ? -a : a;
    *c = (quadrant + 1) & 2 ? -b : b;
}

/* The same for four angles at once. */
static inline void rs_v4_sincos(rs_v4 x, rs_v4 *s, rs_v4 *c) {
    bool small = true;
    for (int k = 0; k < 4; k++)
        small &= fabs(x[k]) < RS_MAX_REDUCED_ANGLE;
    for (int k = 0; k < 4 && !small; k++) {
        double sine, cosine;
        rs_sincos(x[k], &sine, &cosine);
        (*s)[k] = sine;
        (*c)[k] = cosine;
    }
    if (!small)
        return;
    rs_v4 rounded = x * RS_TWO_OVER_PI + RS_ROUNDER, turns = rounded - RS_ROUNDER;
    rs_v4 r = ((x - turns * RS_HALF_PI_1) - turns * RS_HALF_PI_2) - turns * RS_HALF_PI_3, y = r * r;
    rs_index4 sine = (rs_index4)(r * RS_SIN_SERIES(y)), cosine = (rs_index4)RS_COS_SERIES(y);
    rs_index4 quadrant = (rs_index4)rounded, odd = -(quadrant & 1); /* all bits set, or none */
    rs_index4 a = (cosine & odd) | (sine & ~odd), b = (sine & odd) | (cosine & ~odd);
    *s = (rs_v4)(a ^ ((quadrant & 2) << 62)); /* the sign bit */
    *c = (rs_v4)(b ^ (((quadrant + 1) & 2) << 62));
}

/* angle / sin(angle/2) of the rotation whose quaternion has the real part `w` >= 0 and the imaginary part of squared
 * length `v2`: twice halved, the tangent is small enough for one series, and no case needs care, zero included. */
static inline double rs_rotation_factor(double w, double v2) {
    double up = 1.0 + w;
    double inverse = 1.0 / (up + sqrt(up * up + v2)); /* tan(angle/8) = |v| * inverse */
    double y = v2 * inverse * inverse, y2 = y * y, y4 = y2 * y2;
    return 8.0 * inverse * RS_ATAN_SERIES(y, y2, y4, y4 * y4);
}
/* The same for four rotations at once. */
static inline rs_v4 rs_v4_rotation_factor(rs_v4 w, rs_v4 v2) {
    rs_v4 up = 1.0 + w, root = up * up + v2;
    for (int k = 0; k < 4; k++)
        root[k] = sqrt(root[k]);
    rs_v4 inverse = 1.0 / (up + root), y = v2 * inverse * inverse, y2 = y * y, y4 = y2 * y2;
    return 8.0 * inverse * RS_ATAN_SERIES(y, y2, y4, y4 * y4);
}

#endif
