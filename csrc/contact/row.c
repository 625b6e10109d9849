#include "row.h"

#include "coulomb.h"

/* Friction at its limit holds as long as nothing slips: relative to the friction that a slip would change. */
static const double STICKINESS = 1e-6;

rs_vec3 rs_law_asked(const rs_law *law) {
    rs_vec3 error = law->error.xyz;
    if (law->kind == RS_ROW_CONTACT)
        error.z += law->mu * sqrt(error.x * error.x + error.y * error.y);
    return rs_madd(law->impulse.xyz, -1.0 / law->inverse_mass, error);
}

double rs_turn_load(const rs_law *law) { return rs_max(0.0, law->bearer->impulse.xyz.z); }

rs_vec3 rs_turn_allowed(const rs_law *law, double load, rs_vec3 p) {
    double limit = law->mu * load, size2 = p.x * p.x + p.y * p.y;
    double scale = size2 > limit * limit ? limit / sqrt(size2) : 1.0;
    return rs_v3(scale * p.x, scale * p.y, rs_clamp(p.z, -law->spin_mu * load, law->spin_mu * load));
}

rs_turning rs_turn_state(const rs_law *law, double load, rs_vec3 p) {
    double size = sqrt(p.x * p.x + p.y * p.y);
    return (rs_turning){.rolls = !((1.0 - STICKINESS) * size < law->mu * load),
                        .spins = !((1.0 - STICKINESS) * fabs(p.z) < law->spin_mu * load)};
}

/* A contact without impulse that comes apart, as most of them do. */
static inline bool is_left_open(const rs_law *law) {
    rs_vec3 p = law->impulse.xyz;
    return law->kind == RS_ROW_CONTACT && law->error.xyz.z >= 0.0 && p.x == 0.0 && p.y == 0.0 && p.z == 0.0;
}

double rs_law_residual(const rs_law *law) {
    if (is_left_open(law))
        return 0.0;
    if (law->kind == RS_ROW_POINT)
        return rs_norm(law->error.xyz);
    if (law->kind == RS_ROW_AXIS) {
        double p = law->impulse.xyz.z, wanted = p - law->error.xyz.z / law->inverse_mass;
        return law->inverse_mass * fabs(p - rs_clamp(wanted, law->lower, law->upper));
    }
    rs_vec3 wanted = rs_law_asked(law);
    rs_vec3 nearest = law->kind == RS_ROW_TURN ? rs_law_allowed(law, wanted) : rs_coulomb_project(wanted, law->mu);
    return law->inverse_mass * rs_norm(rs_sub(law->impulse.xyz, nearest));
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
    if (law->mu > 0.0 && (1.0 - STICKINESS) * friction < law->mu * p.z)
        return RS_ROW_HELD;
    direction[0] = friction > 0.0 ? p.x / friction : 0.0;
    direction[1] = friction > 0.0 ? p.y / friction : 0.0;
    return RS_ROW_SLIDING;
}

rs_vec3 rs_law_allowed(const rs_law *law, rs_vec3 impulse) {
    switch (law->kind) {
    case RS_ROW_CONTACT: return rs_coulomb_shrink(impulse, law->mu);
    case RS_ROW_AXIS: return rs_v3(0.0, 0.0, rs_clamp(impulse.z, law->lower, law->upper));
    case RS_ROW_TURN: return rs_turn_allowed(law, rs_turn_load(law), impulse);
    default: return impulse;
    }
}

double rs_law_work(const rs_law *law) {
    rs_vec3 both = rs_add(law->free_error.xyz, law->error.xyz);
    if (law->kind == RS_ROW_CONTACT)
        both = rs_madd(both, 2.0, law->aim.xyz);
    both = rs_madd(both, -law->softness, law->impulse.xyz);
    return 0.5 * rs_dot(law->impulse.xyz, both);
}
