/* Springs whose force is the discrete gradient of their energy between both ends of a step: the mean force over the change of
 * length, along the mean of the spans. Its work is what the spring loses, in any motion and for any stiffness; where nothing turns
 * or goes slack it is the trapezoidal rule. The span at the end of the step comes from the solve before. */
#include "wire.h"

/* A spring that answers speeds by less than this share of its ends' mass is a given force: its softness would be out of numbers. */
static const double LEAST_HARDNESS = 1e-12;

/* What a spring may give or take in a step beyond what it loses or stores, as a share of that. */
static const double ENERGY_ERROR = 1e-9;

/* Square of the sine between a force and the axis of a turn below which no arm makes up for what is missing of the work. */
static const double LEAST_LEVER = 1e-4;

/* Turns below this are straight to rounding [rad]. */
static const double NO_TURN = 1e-7;

bool rs_wire_is_spring(const rs_wire *wire) {
    const rs_wire_properties *p = &wire->properties;
    return p->type == RS_WIRE_COMPLIANT && p->stiffness > 0.0 && !p->explicit_spring;
}

/* How far out of its length it is in the direction that it resists; a slack one negative [m]. */
static double strain_of(const rs_wire *wire, rs_vec3 span) {
    return rs_wire_sign(wire) * (rs_norm(span) - wire->properties.length);
}

static double energy_of(const rs_wire *wire, rs_vec3 span) {
    double strain = strain_of(wire, span);
    bool slack = wire->properties.stretch_type != RS_WIRE_BOTH && strain < 0.0;
    return slack ? 0.0 : 0.5 * wire->properties.stiffness * strain * strain;
}

/* Energy that a change of strain stores, over that change; and how it grows with the strain at the end. */
typedef struct {
    double force, slope;
} mean_force;

static mean_force mean_force_between(const rs_wire *wire, double before, double after) {
    double k = wire->properties.stiffness, way = after - before;
    if (wire->properties.stretch_type == RS_WIRE_BOTH || (before >= 0.0 && after >= 0.0))
        return (mean_force){0.5 * k * (before + after), 0.5 * k};
    if (before <= 0.0 && after <= 0.0)
        return (mean_force){0.0, 0.0};
    if (before > 0.0) /* goes slack */
        return (mean_force){-0.5 * k * before * before / way, 0.5 * k * before * before / (way * way)};
    return (mean_force){0.5 * k * after * after / way, 0.5 * k * after * (after - 2.0 * before) / (way * way)};
}

/* Where on a body a force acts that works as it would on a point that turns from one arm to another: turn x arm = after - before. Of
 * a body whose angular velocity changes by itself the work goes by the mean at the midpoint: then at least along the force. */
static rs_vec3 working_arm(rs_vec3 before, rs_vec3 after, const rs_motion *motion, rs_vec3 along) {
    double angle2 = rs_norm2(motion->turn);
    if (angle2 < NO_TURN * NO_TURN)
        return rs_scale(0.5, rs_add(before, after));
    rs_vec3 way = rs_sub(after, before), across = rs_cross(way, motion->turn), lever = rs_cross(along, motion->mean);
    rs_vec3 arm = rs_scale(1.0 / angle2, rs_madd(across, rs_dot(motion->turn, before), motion->turn));
    double missing = rs_dot(along, rs_sub(way, rs_cross(motion->mean, arm))), lever2 = rs_norm2(lever);
    return lever2 > LEAST_LEVER * angle2 ? rs_madd(arm, missing / lever2, lever) : arm;
}

/* How a spring's end stands at the beginning and at the end of the step; its grip on the way. */
static void move_end(rs_wire *wire, int end, const rs_spring_end *by, double dt, rs_vec3 *before, rs_vec3 *after) {
    const rs_body *body = by->body;
    *before = *after = wire->middle[end];
    if (body == NULL)
        return;
    rs_transform pose = rs_transform_make(body->position, body->quaternion);
    rs_motion motion = rs_rigid_body_step(body, by->v, by->w, dt);
    rs_mat3 turn = rs_quat_to_m3(rs_quat_exp(motion.turn));
    rs_vec3 com = rs_transform_point(&pose, body->com), point = rs_transform_point(&pose, wire->point[end]);
    rs_vec3 arm = rs_sub(point, com), turned = rs_m3_mulv(&turn, arm);
    *before = point;
    *after = rs_add(rs_add(com, motion.shift), turned);
    wire->grip[end] = rs_add(body->middle_com, working_arm(arm, turned, &motion, wire->normal));
}

static void move_ends(rs_wire *wire, const rs_spring_end ends[2], rs_vec3 straight, double dt, rs_vec3 *begin) {
    rs_vec3 before[2], after[2];
    for (int end = 0; end < 2; end++)
        move_end(wire, end, &ends[end], dt, &before[end], &after[end]);
    *begin = rs_madd(rs_sub(before[1], before[0]), 0.5 * dt, straight);
    wire->end = rs_madd(rs_sub(after[1], after[0]), -0.5 * dt, straight);
}

void rs_spring_begin(rs_wire *wire, const rs_spring_end ends[2], rs_vec3 straight, double dt) {
    move_ends(wire, ends, straight, dt, &wire->begin);
    wire->normal = rs_normalize_or(rs_add(wire->begin, wire->end), wire->normal);
}

bool rs_spring_follow(rs_wire *wire, const rs_spring_end ends[2], rs_vec3 straight, double work, double share, double dt) {
    rs_vec3 unused, end = wire->end, grip[2] = {wire->grip[0], wire->grip[1]};
    move_ends(wire, ends, straight, dt, &unused);
    double before = energy_of(wire, wire->begin), after = energy_of(wire, wire->end);
    wire->end = rs_madd(end, share, rs_sub(wire->end, end));
    for (int k = 0; k < 2; k++)
        wire->grip[k] = rs_madd(grip[k], share, rs_sub(wire->grip[k], grip[k]));
    wire->normal = rs_normalize_or(rs_add(wire->begin, wire->end), wire->normal);
    wire->turned = true;
    return fabs(work + after - before) > ENERGY_ERROR * (before + after);
}

rs_wire_law rs_spring_law(const rs_wire *wire, double speed, double inverse_mass, double dt) {
    double lengths = rs_norm(wire->begin) + rs_norm(wire->end);
    /* A motion along the mean of the spans changes the length by this share of it. */
    double share = lengths > 0.0 ? rs_norm(rs_add(wire->begin, wire->end)) / lengths : 1.0;
    double before = strain_of(wire, wire->begin), after = strain_of(wire, wire->end), lever = dt * share;
    mean_force mean = mean_force_between(wire, before, after);
    double hardness = 0.5 * lever * lever * mean.slope; /* impulse by which the row answers a speed [kg] */
    if (!(hardness * inverse_mass > LEAST_HARDNESS))
        return (rs_wire_law){.bounds = {lever * mean.force, lever * mean.force}, .impulse = lever * mean.force};
    double at_rest = lever * (mean.force + mean.slope * (before - after - 0.5 * lever * speed)); /* its impulse if the row ends so */
    return (rs_wire_law){.bounds = rs_wire_bounds(wire), .target = at_rest / hardness, .softness = 1.0 / hardness,
                         .impulse = rs_wire_sign(wire) * wire->impulse};
}
