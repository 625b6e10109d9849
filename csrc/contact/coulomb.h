/* Coulomb's and Signorini's laws for one contact. Impulses are (t1, t2, n) in the contact frame. */
#ifndef RS_CONTACT_COULOMB_H
#define RS_CONTACT_COULOMB_H

#include "../base/math3d.h"

/* Impulse of one contact with friction mu: v = g * impulse + c obeys
 * open (v_n > 0), stick (v = 0) or slip (v_n = 0, impulse on the cone, against the slip). */
rs_vec3 rs_coulomb_solve(const rs_sym3 *g, double mu, rs_vec3 c);
/* The nearest impulse in the friction cone. */
static inline rs_vec3 rs_coulomb_project(rs_vec3 p, double mu) {
    double friction = sqrt(p.x * p.x + p.y * p.y);
    if (p.z <= -mu * friction)
        return rs_v3_zero();
    if (friction <= mu * p.z)
        return p;
    double height = (p.z + mu * friction) / (1.0 + mu * mu), scale = friction > 0.0 ? mu * height / friction : 0.0;
    return rs_v3(scale * p.x, scale * p.y, height);
}
/* An impulse put back onto the friction cone, at the same height. */
static inline rs_vec3 rs_coulomb_shrink(rs_vec3 p, double mu) {
    if (p.z <= 0.0)
        return rs_v3_zero();
    double friction2 = p.x * p.x + p.y * p.y, limit = mu * p.z;
    double scale = friction2 > limit * limit ? limit / sqrt(friction2) : 1.0;
    return rs_v3(scale * p.x, scale * p.y, p.z);
}

/* Friction within a disc: a * (x, y) + b is against (x, y) where that is at the limit, otherwise zero. a: xx, yy, xy. */
void rs_disc_solve(const double a[3], const double b[2], double limit, double *x, double *y);

#endif
