#include "row.h"

#include "coulomb.h"

/* Friction at its limit holds as long as nothing slips: relative to the friction that a slip would change. */
static const double STICKINESS = 1e-6;

rs_turning rs_turn_state(const rs_law *law, double load, rs_vec3 p) {
    double size = sqrt(p.x * p.x + p.y * p.y);
    return (rs_turning){.rolls = !((1.0 - STICKINESS) * size < law->mu * load),
                        .spins = !((1.0 - STICKINESS) * fabs(p.z) < law->spin_mu * load)};
}

/* A contact that touches without load: it slides or sticks as its velocity says. */
static rs_row_state state_of_touching(const rs_law *law, double touching, double direction[2]) {
    rs_vec3 slip = law->error.xyz;
    double speed = sqrt(slip.x * slip.x + slip.y * slip.y);
    direction[0] = speed > 0.0 ? -slip.x / speed : 0.0;
    direction[1] = speed > 0.0 ? -slip.y / speed : 0.0;
    return law->mu > 0.0 && speed <= touching ? RS_ROW_HELD : RS_ROW_SLIDING;
}

static rs_row_state state_of_turning(const rs_law *law, rs_vec3 asked) {
    double load = rs_turn_load(law);
    if (load == 0.0)
        return RS_ROW_OPEN;
    rs_turning turning = rs_turn_state(law, load, asked);
    return turning.rolls || turning.spins ? RS_ROW_SLIDING : RS_ROW_HELD;
}

rs_row_state rs_law_state(const rs_law *law, double touching, double direction[2]) {
    rs_vec3 p = rs_law_asked(law);
    if (law->kind == RS_ROW_POINT)
        return RS_ROW_HELD;
    if (law->kind == RS_ROW_AXIS)
        return p.z > law->lower && p.z < law->upper ? RS_ROW_HELD : RS_ROW_OPEN;
    if (law->kind == RS_ROW_TURN)
        return state_of_turning(law, p);
    double friction = sqrt(p.x * p.x + p.y * p.y);
    if (p.z <= -law->mu * friction)
        return law->error.xyz.z <= touching ? state_of_touching(law, touching, direction) : RS_ROW_OPEN;
    rs_vec3 slip = law->error.xyz;
    bool rests = touching >= 0.0 && slip.x * slip.x + slip.y * slip.y <= touching * touching;
    if (law->mu > 0.0 && (rests || (1.0 - STICKINESS) * friction < law->mu * p.z))
        return RS_ROW_HELD;
    direction[0] = friction > 0.0 ? p.x / friction : 0.0;
    direction[1] = friction > 0.0 ? p.y / friction : 0.0;
    return RS_ROW_SLIDING;
}

/* Of two velocities the one along which an impulse works less. */
static double less_work(double impulse, double a, double b) { return impulse > 0.0 ? rs_min(a, b) : rs_max(a, b); }

rs_vec3 rs_law_before(const rs_law *law) {
    bool aims = law->kind == RS_ROW_CONTACT || law->rebounds, wire = law->rebounds && law->kind == RS_ROW_AXIS;
    rs_vec3 before = aims ? rs_add(law->free_error.xyz, law->aim.xyz) : law->free_error.xyz, start = law->start, p = law->impulse.xyz;
    if (!law->beside_wire)
        return before;
    if (law->kind == RS_ROW_AXIS && !wire) /* stops and brakes do not act before the motion is against them */
        start.z = less_work(p.z, start.z, 0.0);
    rs_vec3 along = rs_scale(0.5, rs_add(start, before));
    if (wire)
        return along;
    return rs_v3(less_work(p.x, along.x, before.x), less_work(p.y, along.y, before.y), less_work(p.z, along.z, before.z));
}

double rs_law_work(const rs_law *law) {
    rs_vec3 change = rs_madd(rs_sub(law->error.xyz, law->free_error.xyz), -law->softness, law->impulse.xyz);
    return rs_dot(law->impulse.xyz, rs_madd(rs_law_before(law), 0.5, change));
}

bool rs_law_bounces(const rs_law *law) {
    if (law->rebounds)
        return rs_dot(law->aim.xyz, law->impulse.xyz) > 0.0;
    return law->kind == RS_ROW_CONTACT && law->aim.xyz.z > 0.0; /* a gap may still close */
}
