/* The engine's trigonometry against libm. */
#include "../../../csrc/base/trig.h"
#include "../check.h"

static void sine_and_cosine_agree_with_libm(void)
{
    double worst = 0.0;
    for (int i = -200000; i <= 200000; i++) {
        double x = 1.2345e-3 * i * (i % 7 == 0 ? 300.0 : 1.0), s, c;
        rs_sincos(x, &s, &c);
        worst = fmax(worst, fmax(fabs(s - sin(x)), fabs(c - cos(x))));
    }
    CHECK(worst <= 2.3e-16);
}

static void huge_angles_are_left_to_libm(void)
{
    double s, c;
    rs_sincos(1e9, &s, &c);
    CHECK_NEAR(s, sin(1e9), 0.0);
    CHECK_NEAR(c, cos(1e9), 0.0);
    rs_sincos(NAN, &s, &c);
    CHECK(isnan(s) && isnan(c));
}

static void four_angles_at_once_agree_with_libm(void)
{
    double worst = 0.0;
    for (int i = -50000; i <= 50000; i++) {
        double x = 1.2345e-3 * i;
        rs_v4 angles = {x, -7.0 * x + 0.3, 200.0 * x, i % 100 == 0 ? 1e7 + x : 0.5 * x}, s, c;
        rs_v4_sincos(angles, &s, &c);
        for (int k = 0; k < 4; k++)
            worst = fmax(worst, fmax(fabs(s[k] - sin(angles[k])), fabs(c[k] - cos(angles[k]))));
    }
    CHECK(worst <= 2.3e-16);
}

static void rotation_factor_gives_the_angle(void)
{
    CHECK_NEAR(rs_rotation_factor(1.0, 0.0), 2.0, 1e-15);
    for (int i = 1; i <= 1000; i++) {
        double angle = M_PI * i / 1000.0, s = sin(0.5 * angle);
        CHECK_NEAR(rs_rotation_factor(cos(0.5 * angle), s * s) * s, angle, 2e-15);
    }
}

int main(void)
{
    RUN(sine_and_cosine_agree_with_libm);
    RUN(huge_angles_are_left_to_libm);
    RUN(four_angles_at_once_agree_with_libm);
    RUN(rotation_factor_gives_the_angle);
    return CHECK_RESULT();
}
