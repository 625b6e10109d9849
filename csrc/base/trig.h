/* Sine, cosine and arc tangent for the inner loops: a few nanoseconds, no call, and the same bits on every machine
 * (those of libm depend on its version and on the processor). Errors stay within about one unit in the last place. */
#ifndef RS_BASE_TRIG_H
#define RS_BASE_TRIG_H

#include <math.h>

/* Chebyshev interpolants on the reduced ranges, in powers of the squared argument. */

/* sin(x)/x for |x| <= pi/4 */
static inline double rs_trig_sin_series(double y) {
    return 1.0 + y * (-0.16666666666666616636 + y * (0.0083333333333203559801 + y * (-0.00019841269828645260984 +
           y * (2.7557313374649856382e-6 + y * (-2.5050716696695675609e-8 + y * 1.589472030022310905e-10)))));
}

/* cos(x) for |x| <= pi/4 */
static inline double rs_trig_cos_series(double y) {
    return 1.0 + y * (-0.4999999999999999937 + y * (0.04166666666666645226 + y * (-0.0013888888888861080718 +
           y * (0.000024801587283874082858 + y * (-2.7557313095956405951e-7 + y * (2.0875582146477434232e-9 -
           y * 1.1353367957830791912e-11))))));
}

/* atan(x)/x for |x| <= tan(pi/8); in pairs, so that the products do not wait for each other */
static inline double rs_trig_atan_series(double y) {
    double y2 = y * y, y4 = y2 * y2, y8 = y4 * y4;
    double a = (1.0 - y * 0.33333333333333120948) + y2 * (0.19999999999940837328 - y * 0.14285714279244968487);
    double b = (0.11111110744657099602 - y * 0.090908968014728134434) +
               y2 * (0.07692045194561481467 - y * 0.06662950246036791267);
    double c = (0.058468667522751389837 - y * 0.050350497953124393166) +
               y2 * (0.037963903161110833033 - y * 0.017803896394812563193);
    return (a + y4 * b) + y8 * c;
}

static inline void rs_sincos(double x, double *s, double *c) {
    /* pi/2 in three parts, the first two with 33 bits: their products with the quadrant are exact */
    static const double part1 = 1.57079632673412561417, part2 = 6.07710050630396597660e-11,
                        part3 = 2.02226624879595063154e-21, two_over_pi = 0.63661977236758134308;
    static const double rounder = 6755399441055744.0; /* 1.5 * 2^52: adding it rounds to an integer */
    if (!(fabs(x) < 1e5)) { /* many turns: the reduction above would lose digits */
        *s = sin(x);
        *c = cos(x);
        return;
    }
    double turns = (x * two_over_pi + rounder) - rounder;
    double r = ((x - turns * part1) - turns * part2) - turns * part3;
    double y = r * r;
    double sine = r * rs_trig_sin_series(y), cosine = rs_trig_cos_series(y);
    int quadrant = (int)turns & 3;
    double a = quadrant & 1 ? cosine : sine, b = quadrant & 1 ? sine : cosine;
    *s = quadrant & 2 ? -a : a;
    *c = (quadrant + 1) & 2 ? -b : b;
}

/* angle / sin(angle/2) of the rotation whose quaternion has the real part `w` >= 0 and the imaginary part of squared
 * length `v2`: twice halved, the tangent is small enough for one series, and no case needs care, zero included. */
static inline double rs_rotation_factor(double w, double v2) {
    double up = 1.0 + w;
    double inverse = 1.0 / (up + sqrt(up * up + v2)); /* tan(angle/8) = |v| * inverse */
    return 8.0 * inverse * rs_trig_atan_series(v2 * inverse * inverse);
}

#endif
