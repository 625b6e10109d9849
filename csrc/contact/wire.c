#include "wire.h"

/* Share of the stretch that is taken back until the next midpoint: gain per unit of ERP, and its limit. All of it with
 * the default ERP: then a swinging load, which leaves its circle by going straight for half a step, gets just the speed
 * back that keeps its energy. */
static const double STIFF_GAIN = 2.0 / 3.0, MAX_STIFF_SHARE = 1.0;

/* A stiff wire that was made too short, or was shortened at once, is pulled in no faster than this beyond its own
 * motion [m/s]: the whole way in one step would be a blow. */
static const double PULL_IN_SPEED = 1.0;

rs_transform rs_wire_mount_frame(const rs_body *body, int32_t link) {
    if (body->articulation == NULL)
        return body->middle;
    const rs_link_motion *m = &body->articulation->motion[link];
    return (rs_transform){m->rot, m->pos};
}

void rs_wire_place(rs_wire *wire, const rs_body *bodies) {
    for (int end = 0; end < 2; end++) {
        rs_transform frame = rs_wire_mount_frame(&bodies[wire->body[end]], wire->link[end]);
        wire->middle[end] = rs_transform_point(&frame, wire->point[end]);
    }
    rs_vec3 along = rs_sub(wire->middle[1], wire->middle[0]);
    wire->normal = rs_normalize_or(along, wire->normal);
    wire->stretch = rs_norm(along) - wire->properties.length;
}

static rs_impulse_bounds bounds_of(const rs_wire *wire) {
    return wire->properties.stretch_type == RS_WIRE_BOTH ? RS_HOLDS : RS_PUSHES;
}

double rs_wire_sign(const rs_wire *wire) {
    return wire->properties.stretch_type == RS_WIRE_COMPRESSION_ONLY ? -1.0 : 1.0;
}

/* A slack wire may use up its slack until the next midpoint, a stretched one takes its stretch back. */
static rs_wire_law stiff_law(const rs_wire *wire, double shortening, double dt, double erp) {
    double sign = rs_wire_sign(wire), stretch = sign * wire->stretch, speed = sign * shortening;
    bool both = wire->properties.stretch_type == RS_WIRE_BOTH;
    double share = rs_min(STIFF_GAIN * erp, MAX_STIFF_SHARE), target = stretch / dt;
    if (stretch > 0.0)
        target = rs_min(share * target, rs_max(-speed, 0.0) + PULL_IN_SPEED);
    else if (both)
        target = rs_max(share * target, rs_min(-speed, 0.0) - PULL_IN_SPEED);
    return (rs_wire_law){bounds_of(wire), target, 0.0, both ? wire->impulse : rs_max(0.0, sign * wire->impulse)};
}

/* The spring's impulse is k dt times a mean of the stretches at both ends of the step, which are the stretch at the
 * midpoint -+ half a step of the speeds. With weights 1/2 it is the trapezoidal rule: second order, stable for any
 * stiffness, without damping. A wire that goes slack needs more weight at the end of the step, or a spring too stiff for
 * the step would be cut off at the wrong moment and gain energy; the addition is of second order in dt. */
static rs_wire_law implicit_spring_law(const rs_wire *wire, double shortening, double inverse_mass, double dt) {
    double sign = rs_wire_sign(wire), k = wire->properties.stiffness;
    double phase2 = k * inverse_mass * dt * dt; /* square of the oscillation's phase in one step */
    double late = wire->properties.stretch_type == RS_WIRE_BOTH ? 0.5 : 0.5 + 0.5 * phase2 / (1.0 + phase2);
    double target = (2.0 * wire->stretch / dt + (1.0 - late) * shortening) / late;
    return (rs_wire_law){bounds_of(wire), sign * target, 2.0 / (late * k * dt * dt), sign * wire->impulse};
}

rs_wire_law rs_wire_law_of(const rs_wire *wire, double shortening, double inverse_mass, double dt, double erp) {
    const rs_wire_properties *p = &wire->properties;
    if (p->type == RS_WIRE_STIFF)
        return stiff_law(wire, shortening, dt, erp);
    if (p->type == RS_WIRE_COMPLIANT && p->stiffness > 0.0 && !p->explicit_spring)
        return implicit_spring_law(wire, shortening, inverse_mass, dt);
    double given = rs_wire_sign(wire) * dt * rs_wire_tension(wire, wire->stretch, dt);
    return (rs_wire_law){{given, given}, 0.0, 0.0, given};
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
    bool pulls = wire->properties.type == RS_WIRE_STIFF && wire->impulse > 0.0 && length > 0.0;
    return pulls ? 4.0 * length / (wire->impulse * dt) : INFINITY;
}
