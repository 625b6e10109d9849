/* Coulomb's law for four contacts at once; coulomb.c says how one of them is solved. */
#ifndef RS_CONTACT_COULOMB4_H
#define RS_CONTACT_COULOMB4_H

#include "../base/simd4.h"

/* Three numbers, and a symmetric matrix, of four contacts. */
typedef struct {
    rs_v4 x, y, z;
} rs_lanes3;
typedef struct {
    rs_v4 xx, yy, zz, xy, xz, yz;
} rs_lanes_sym3;

RS_INLINE rs_lanes3 rs_lanes_mul(const rs_lanes_sym3 *m, rs_lanes3 v) {
    return (rs_lanes3){m->xx * v.x + m->xy * v.y + m->xz * v.z, m->xy * v.x + m->yy * v.y + m->yz * v.z,
                       m->xz * v.x + m->yz * v.y + m->zz * v.z};
}

/* Contacts that are known to slip: the impulses of the lanes in `slips`; c: velocity without any. */
void rs_coulomb4_slip(const rs_lanes_sym3 *g, const rs_v4 *mu, const rs_lanes3 *c, const rs_lanes3 *start,
                      const rs_lanes3 *error, const rs_index4 *slips, rs_lanes3 *out);

/* The impulses that solve contacts alone which hold `start` and miss their aims by `error`. Most contacts stick: the others have
 * a function of their own, so that this path stays short. */
RS_INLINE rs_lanes3 rs_coulomb4_solve(const rs_lanes_sym3 *g, const rs_lanes_sym3 *g_inverse, rs_v4 mu, rs_lanes3 start, rs_lanes3 error) {
    rs_v4 zero = rs_v4_all(0.0);
    rs_lanes3 own = rs_lanes_mul(g, start), change = rs_lanes_mul(g_inverse, error);
    rs_lanes3 c = {error.x - own.x, error.y - own.y, error.z - own.z};
    rs_lanes3 solved = {start.x - change.x, start.y - change.y, start.z - change.z};
    rs_v4 limit = mu * solved.z;
    rs_index4 loaded = c.z < zero;
    rs_index4 sticks = (limit >= zero) & (solved.x * solved.x + solved.y * solved.y <= limit * limit);
    rs_index4 slips = loaded & ~sticks;
    if (rs_any4(slips))
        rs_coulomb4_slip(g, &mu, &c, &start, &error, &slips, &solved);
    return (rs_lanes3){rs_v4_choose(loaded, solved.x, zero), rs_v4_choose(loaded, solved.y, zero),
                       rs_v4_choose(loaded, solved.z, zero)};
}

#endif
