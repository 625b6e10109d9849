#include "coulomb4.h"

#include <math.h>

/* As in coulomb.c. */
static const double CONE_TOLERANCE = 1e-10;
enum { MAX_SLIP_STEPS = 50 };

typedef struct {
    rs_v4 a_xx, a_yy, a_xy, b_x, b_y;
    rs_v4 normal0, tilt_x, tilt_y, mu;
} slip_problem;

typedef struct {
    rs_lanes3 impulse;
    rs_v4 miss, slope;
} slip_trial;

RS_INLINE slip_trial try_resistance(const slip_problem *p, rs_v4 s) {
    rs_v4 one = rs_v4_all(1.0), xx = p->a_xx + s, yy = p->a_yy + s;
    rs_v4 inverse = one / (xx * yy - p->a_xy * p->a_xy);
    rs_v4 fx = inverse * (p->a_xy * p->b_y - yy * p->b_x), fy = inverse * (p->a_xy * p->b_x - xx * p->b_y);
    rs_v4 fx_s = inverse * (p->a_xy * fy - yy * fx), fy_s = inverse * (p->a_xy * fx - xx * fy);
    rs_v4 normal = p->normal0 + p->tilt_x * fx + p->tilt_y * fy;
    rs_v4 inverse_friction = one / rs_v4_sqrt(fx * fx + fy * fy);
    rs_v4 ratio = p->mu * normal * inverse_friction;
    rs_v4 normal_s = p->tilt_x * fx_s + p->tilt_y * fy_s;
    rs_v4 shrink = (fx * fx_s + fy * fy_s) * inverse_friction * inverse_friction;
    return (slip_trial){{fx, fy, normal}, ratio - one, p->mu * normal_s * inverse_friction - ratio * shrink};
}

/* Newton's method kept between bounds, in the lanes that slip; those that are done stay as they are. */
static rs_lanes3 solve_slip(const slip_problem *p, rs_v4 resistance, rs_index4 slips) {
    rs_v4 zero = rs_v4_all(0.0), low = zero, high = rs_v4_all(INFINITY), s = resistance;
    slip_trial trial = try_resistance(p, s);
    for (int k = 0; k < MAX_SLIP_STEPS; k++) {
        rs_index4 open = slips & (rs_v4_abs(trial.miss) > rs_v4_all(CONE_TOLERANCE));
        if (!rs_any4(open))
            break;
        rs_index4 outside = trial.miss < zero;
        low = rs_v4_choose(outside, s, low);
        high = rs_v4_choose(outside, high, s);
        rs_v4 next = s - trial.miss / trial.slope;
        rs_v4 between = rs_v4_choose(high == rs_v4_all(INFINITY), s + s + p->a_xx, rs_v4_all(0.5) * (low + high));
        next = rs_v4_choose((next > low) & (next < high), next, between); /* false for a slope of zero too */
        s = rs_v4_choose(open, next, s);
        slip_trial tried = try_resistance(p, s);
        trial.impulse.x = rs_v4_choose(open, tried.impulse.x, trial.impulse.x);
        trial.impulse.y = rs_v4_choose(open, tried.impulse.y, trial.impulse.y);
        trial.impulse.z = rs_v4_choose(open, tried.impulse.z, trial.impulse.z);
        trial.miss = rs_v4_choose(open, tried.miss, trial.miss);
        trial.slope = rs_v4_choose(open, tried.slope, trial.slope);
    }
    return trial.impulse;
}

/* Ratio of slip to friction before: a guess for the one after. */
RS_INLINE rs_v4 slip_resistance(rs_lanes3 velocity, rs_lanes3 impulse) {
    rs_v4 zero = rs_v4_all(0.0), friction2 = impulse.x * impulse.x + impulse.y * impulse.y;
    rs_v4 ratio2 = (velocity.x * velocity.x + velocity.y * velocity.y) / friction2;
    return rs_v4_choose(friction2 > zero, rs_v4_sqrt(ratio2), zero);
}

void rs_coulomb4_slip(const rs_lanes_sym3 *g, const rs_v4 *mu, const rs_lanes3 *c, const rs_lanes3 *start,
                      const rs_lanes3 *error, const rs_index4 *slips, rs_lanes3 *out) {
    rs_v4 zero = rs_v4_all(0.0), inverse_zz = rs_v4_all(1.0) / g->zz;
    rs_v4 tilt_x = -g->xz * inverse_zz, tilt_y = -g->yz * inverse_zz, normal0 = -c->z * inverse_zz;
    slip_problem problem = {g->xx + g->xz * tilt_x, g->yy + g->yz * tilt_y, g->xy + g->xz * tilt_y,
                            c->x + c->z * tilt_x, c->y + c->z * tilt_y, normal0, tilt_x, tilt_y, *mu};
    rs_index4 rough = *mu > zero;
    rs_lanes3 rubbed = solve_slip(&problem, slip_resistance(*error, *start), *slips & rough);
    out->x = rs_v4_choose(*slips, rs_v4_choose(rough, rubbed.x, zero), out->x);
    out->y = rs_v4_choose(*slips, rs_v4_choose(rough, rubbed.y, zero), out->y);
    out->z = rs_v4_choose(*slips, rs_v4_choose(rough, rubbed.z, normal0), out->z);
}
