#include "wire.h"

/* Share of the stretch that is taken back until the next midpoint: gain per unit of ERP, and its limit. */
static const double STIFF_GAIN = 2.0 / 3.0, MAX_STIFF_SHARE = 1.0;

/* A stiff wire that was made too short, or was shortened at once, is reeled in no faster than this beyond its own motion [m/s]. */
static const double PULL_IN_SPEED = 1.0;

/* What is stretched is taken back no faster [m/s]: of wires in a row the motions add up. */
static const double TAKE_BACK_SPEED = 0.3;

/* Share by which a pull may change without another solve for the direction of the wire. */
static const double TIGHTENED = 0.1;

/* No wire turns farther than this within a step: square of the sine of half the angle. */
static const double MAX_SINE2 = 0.99;

void rs_wire_place(rs_wire *wire, const rs_body *bodies) {
    for (int end = 0; end < 2; end++) {
        rs_transform frame = rs_carrier_middle(&bodies[wire->body[end]], wire->link[end]);
        wire->middle[end] = wire->grip[end] = rs_transform_point(&frame, wire->point[end]);
    }
    rs_vec3 along = rs_sub(wire->middle[1], wire->middle[0]);
    wire->normal = rs_normalize_or(along, wire->normal);
    wire->stretch = rs_norm(along) - wire->properties.length;
    wire->out = wire->reeled;
    wire->sideways = rs_v3_zero();
    wire->turned = false;
}

bool rs_wire_tightened(const rs_wire *wire) {
    double change = fabs(wire->impulse - wire->former), most = rs_max(fabs(wire->impulse), fabs(wire->former));
    return wire->properties.type == RS_WIRE_STIFF && change > TIGHTENED * most;
}

bool rs_wire_turn(rs_wire *wire) {
    rs_vec3 t1, t2;
    bool turns = !wire->turned && rs_norm2(wire->sideways) > 0.0;
    rs_tangents(wire->normal, &t1, &t2);
    rs_vec3 pull = rs_madd(rs_madd(rs_scale(wire->impulse, wire->normal), wire->sideways.x, t1), wire->sideways.y, t2);
    if (turns) {
        wire->normal = rs_normalize_or(pull, wire->normal);
        wire->impulse = rs_norm(pull);
    }
    wire->sideways = rs_v3_zero();
    wire->turned = true;
    return turns;
}

rs_impulse_bounds rs_wire_bounds(const rs_wire *wire) {
    return wire->properties.stretch_type == RS_WIRE_BOTH ? RS_HOLDS : RS_PUSHES;
}

double rs_wire_sign(const rs_wire *wire) {
    return wire->properties.stretch_type == RS_WIRE_COMPRESSION_ONLY ? -1.0 : 1.0;
}

double rs_wire_excess(const rs_wire *wire, double distance) {
    double excess = rs_wire_sign(wire) * (distance - wire->reeled);
    return wire->properties.stretch_type == RS_WIRE_BOTH ? excess : rs_max(0.0, excess);
}

/* Speed at which a taut wire must draw its ends together for their path, straight in every step, to keep the circle: they part
 * as fast in the first half of the step. */
static double curve_speed(double length, double across2, double dt) {
    double sine = 0.5 * dt * sqrt(across2) / length; /* of half the angle by which the wire turns */
    return length > 0.0 ? 0.5 * dt * across2 / (length * sqrt(1.0 - rs_min(sine * sine, MAX_SINE2))) : 0.0;
}

/* Lets the length that is out follow the one that is wanted; returns the speed at which it gets shorter [m/s]. */
static double reel_in(rs_wire *wire, double shortening, double dt) {
    double wanted = wire->properties.length;
    bool pulls = wire->properties.stretch_type != RS_WIRE_COMPRESSION_ONLY;
    wire->reeled = wire->out;
    if (!pulls || wire->reeled <= wanted) {
        wire->reeled = wanted;
        return 0.0;
    }
    double speed = rs_min((wire->reeled - wanted) / dt, rs_max(-shortening, 0.0) + PULL_IN_SPEED);
    wire->reeled -= speed * dt;
    return speed;
}

/* The impulse acts on the mean of the speeds before and after: it gives no energy while the speed afterwards, in its own
 * direction, is no more than the one before turned round. Where it is not known which way a rod pushes, it is just that. */
static double without_gain(const rs_wire *wire, double speed, double before) {
    if (wire->properties.stretch_type != RS_WIRE_BOTH)
        return rs_min(speed, -before);
    if (wire->impulse * wire->former <= 0.0)
        return -before;
    return wire->impulse > 0.0 ? rs_min(speed, -before) : rs_max(speed, -before);
}

/* A slack wire may use up its slack until the next midpoint; what is stretched follows its circle, and is taken back by the
 * motion that leaves no velocity behind. */
static rs_wire_law stiff_law(rs_wire *wire, double shortening, double across2, double dt, double erp) {
    double reeling = reel_in(wire, shortening, dt);
    double length = reeling > 0.0 ? wire->out : wire->reeled; /* what is reeled in now is not stretched yet */
    double sign = rs_wire_sign(wire), stretch = sign * (wire->stretch + wire->properties.length - length);
    bool both = wire->properties.stretch_type == RS_WIRE_BOTH;
    double share = rs_min(STIFF_GAIN * erp, MAX_STIFF_SHARE), speed = sign * curve_speed(length, across2, dt);
    rs_wire_law law = {.bounds = rs_wire_bounds(wire), .impulse = both ? wire->impulse : rs_max(0.0, sign * wire->impulse)};
    if (stretch > 0.0 || both)
        law.push = rs_clamp(share * stretch / dt, -TAKE_BACK_SPEED, TAKE_BACK_SPEED);
    else
        speed += law.push = stretch / dt;
    law.target = without_gain(wire, speed, sign * shortening - reeling) + reeling;
    law.start = sign * shortening - 2.0 * reeling; /* what reels in gives energy by right */
    return law;
}

rs_wire_law rs_wire_law_of(rs_wire *wire, rs_vec3 relative, double inverse_mass, double dt, double erp) {
    const rs_wire_properties *p = &wire->properties;
    double shortening = rs_dot(relative, wire->normal);
    if (p->type == RS_WIRE_STIFF)
        return stiff_law(wire, shortening, rs_norm2(relative) - shortening * shortening, dt, erp);
    if (rs_wire_is_spring(wire))
        return rs_spring_law(wire, rs_wire_sign(wire) * shortening, inverse_mass, dt);
    double given = rs_wire_sign(wire) * dt * rs_wire_tension(wire, wire->stretch, dt);
    return (rs_wire_law){.bounds = {given, given}, .impulse = given};
}

double rs_wire_tension(const rs_wire *wire, double stretch, double dt) {
    const rs_wire_properties *p = &wire->properties;
    if (p->type == RS_WIRE_CUSTOM)
        return p->tension;
    if (p->type == RS_WIRE_STIFF)
        return wire->impulse / dt;
    bool slack = (p->stretch_type == RS_WIRE_STRETCH_ONLY && stretch < 0.0) ||
                 (p->stretch_type == RS_WIRE_COMPRESSION_ONLY && stretch > 0.0);
    return slack ? 0.0 : p->stiffness * stretch;
}

double rs_wire_sideways_softness(const rs_wire *wire, double dt) {
    double length = wire->properties.length + wire->stretch;
    bool pulls = !wire->turned && wire->properties.type == RS_WIRE_STIFF && wire->impulse > 0.0 && length > 0.0;
    return pulls ? 4.0 * length / (wire->impulse * dt) : INFINITY;
}
