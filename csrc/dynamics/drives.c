/* Actuators: motors, servos, muscles. */
#include "tendons.h"

/* Ranges and times that count as zero are taken for this. */
static const double LEAST = 1e-15;
/* Share of a muscle's range over which the slope of its force is taken. */
static const double SLOPE_SHARE = 1e-6;
/* An activation that changes by less is at rest [1/s]. */
static const double STILL = 1e-9;

/* ---- muscles, after Millard and others: forces over length and speed as pieces of parabolas ---- */

typedef struct {
    double length, speed; /* relative */
    double force;         /* greatest active one */
} muscle_state;

static double muscle_scale(const rs_drive_def *d, const double *n) {
    return (d->length_range[1] - d->length_range[0]) / rs_max(LEAST, n[1] - n[0]);
}

static muscle_state muscle_at(const rs_drive_def *d, const double *n, double length, double speed) {
    double scale = muscle_scale(d, n);
    return (muscle_state){n[0] + (length - d->length_range[0]) / rs_max(LEAST, scale), speed / rs_max(LEAST, scale * n[6]),
                          n[2] < 0.0 ? n[3] / rs_max(LEAST, d->strength) : n[2]};
}

/* 1 at the length 1, 0 at both ends. */
static double force_over_length(double length, double shortest, double longest) {
    double below = 0.5 * (shortest + 1.0), above = 0.5 * (1.0 + longest);
    if (length < shortest || length > longest)
        return 0.0;
    if (length <= below) {
        double x = (length - shortest) / rs_max(LEAST, below - shortest);
        return 0.5 * x * x;
    }
    if (length <= above) {
        double x = length <= 1.0 ? (1.0 - length) / rs_max(LEAST, 1.0 - below) : (length - 1.0) / rs_max(LEAST, above - 1.0);
        return 1.0 - 0.5 * x * x;
    }
    double x = (longest - length) / rs_max(LEAST, longest - above);
    return 0.5 * x * x;
}

/* 0 when it shortens at its greatest speed, 1 at rest, `most` when it is drawn out. */
static double force_over_speed(double speed, double most) {
    double reach = most - 1.0;
    if (speed <= -1.0)
        return 0.0;
    if (speed <= 0.0)
        return (speed + 1.0) * (speed + 1.0);
    return speed <= reach ? most - (reach - speed) * (reach - speed) / rs_max(LEAST, reach) : most;
}

static double muscle_gain(const rs_drive_def *d, double length, double speed) {
    const double *n = d->gain;
    muscle_state s = muscle_at(d, n, length, speed);
    return -s.force * force_over_length(s.length, n[4], n[5]) * force_over_speed(s.speed, n[8]);
}

/* Of the muscle that is drawn out without being active. */
static double muscle_bias(const rs_drive_def *d, double length) {
    const double *n = d->bias;
    muscle_state s = muscle_at(d, n, length, 0.0);
    double above = 0.5 * (1.0 + n[5]);
    if (s.length <= 1.0)
        return 0.0;
    double x = (s.length - (s.length <= above ? 1.0 : above)) / rs_max(LEAST, above - 1.0);
    return -s.force * n[7] * (s.length <= above ? 0.5 * x * x : 0.5 + x);
}

/* A smooth step from 0 to 1. */
static double smooth_step(double x) {
    double t = rs_clamp(x, 0.0, 1.0);
    return t * t * t * (3.0 * t * (2.0 * t - 5.0) + 10.0);
}

static double muscle_rate(const double *n, double control, double activation) {
    double wanted = rs_clamp(control, 0.0, 1.0), x = rs_clamp(activation, 0.0, 1.0), way = wanted - activation;
    double up = n[0] * (0.5 + 1.5 * x), down = n[1] / (0.5 + 1.5 * x);
    double time = n[2] < LEAST ? (way > 0.0 ? up : down) : down + (up - down) * smooth_step(way / n[2] + 0.5);
    return way / rs_max(LEAST, time);
}

/* ---- activation ---- */

static double control_of(const rs_articulation *a, int32_t k) {
    const double *range = a->drives[k].control_range;
    return rs_clamp(a->drive_control[k], range[0], range[1]);
}

static double rate_of(const rs_articulation *a, int32_t k) {
    const rs_drive_def *d = &a->drives[k];
    double control = control_of(a, k), x = a->activation[k];
    switch (d->dynamics) {
    case RS_DYNAMICS_INTEGRATOR: return control;
    case RS_DYNAMICS_FILTER:
    case RS_DYNAMICS_FILTER_EXACT: return (control - x) / rs_max(LEAST, d->dynamics_numbers[0]);
    case RS_DYNAMICS_MUSCLE: return muscle_rate(d->dynamics_numbers, control, x);
    default: return 0.0;
    }
}

static double activation_after(const rs_articulation *a, int32_t k, double dt) {
    const rs_drive_def *d = &a->drives[k];
    double time = rs_max(LEAST, d->dynamics_numbers[0]);
    double factor = d->dynamics == RS_DYNAMICS_FILTER_EXACT ? time * (1.0 - exp(-dt / time)) : dt;
    return rs_clamp(a->activation[k] + factor * rate_of(a, k), d->activation_range[0], d->activation_range[1]);
}

void rs_drives_advance(rs_articulation *a, double dt) {
    for (int32_t k = 0; k < a->drive_count; k++)
        if (a->drives[k].dynamics != RS_DYNAMICS_NONE)
            a->activation[k] = activation_after(a, k, dt);
}

bool rs_drives_are_quiet(const rs_articulation *a) {
    for (int32_t k = 0; k < a->drive_count; k++) {
        double rate = rate_of(a, k), x = a->activation[k];
        const double *range = a->drives[k].activation_range;
        if (fabs(rate) > STILL && !(rate > 0.0 ? x >= range[1] : x <= range[0]))
            return false;
    }
    return true;
}

/* ---- force ---- */

static double law(const rs_drive_def *d, int32_t kind, const double *n, double length, double speed, bool gain) {
    switch (kind) {
    case RS_LAW_AFFINE: return n[0] + n[1] * length + n[2] * speed;
    case RS_LAW_MUSCLE: return gain ? muscle_gain(d, length, speed) : muscle_bias(d, length);
    default: return n[0];
    }
}

static double force_at(const rs_drive_def *d, double x, double length, double speed) {
    return law(d, d->gain_law, d->gain, length, speed, true) * x + law(d, d->bias_law, d->bias, length, speed, false);
}

static bool is_muscle(const rs_drive_def *d) { return d->gain_law == RS_LAW_MUSCLE || d->bias_law == RS_LAW_MUSCLE; }

/* How fast the force falls with length and speed. */
static void fill_slopes(const rs_drive_def *d, double x, double length, double speed, rs_drive_pull *out) {
    double by_length = (d->gain_law == RS_LAW_AFFINE ? d->gain[1] * x : 0.0) + (d->bias_law == RS_LAW_AFFINE ? d->bias[1] : 0.0);
    double by_speed = (d->gain_law == RS_LAW_AFFINE ? d->gain[2] * x : 0.0) + (d->bias_law == RS_LAW_AFFINE ? d->bias[2] : 0.0);
    if (is_muscle(d)) {
        double way = SLOPE_SHARE * muscle_scale(d, d->gain_law == RS_LAW_MUSCLE ? d->gain : d->bias), force = out->force;
        by_length = (force_at(d, x, length + way, speed) - force) / rs_max(LEAST, way);
        by_speed = (force_at(d, x, length, speed + way) - force) / rs_max(LEAST, way);
    }
    out->stiffness = rs_max(0.0, -by_length);
    out->damping = rs_max(0.0, -by_speed);
}

rs_drive_pull rs_drive_pull_of(const rs_articulation *a, int32_t drive, double dt) {
    const rs_drive_def *d = &a->drives[drive];
    double length = d->gear * a->tendon_places[d->tendon].length;
    double speed = d->gear * rs_tendon_speed(a, &a->tendons[d->tendon], a->u);
    double x = d->dynamics == RS_DYNAMICS_NONE ? control_of(a, drive)
               : d->early                     ? activation_after(a, drive, dt)
                                              : a->activation[drive];
    rs_drive_pull out = {.force = force_at(d, x, length, speed)};
    fill_slopes(d, x, length, speed, &out);
    double ends[2] = {d->gear * d->force_range[0], d->gear * d->force_range[1]};
    out.lower = d->gear == 0.0 ? 0.0 : rs_min(ends[0], ends[1]);
    out.upper = d->gear == 0.0 ? 0.0 : rs_max(ends[0], ends[1]);
    out.force *= d->gear;
    out.stiffness *= d->gear * d->gear;
    out.damping *= d->gear * d->gear;
    return out;
}

void rs_drives_push(rs_articulation *a, double dt, double *force) {
    for (int32_t k = 0; k < a->drive_count; k++) {
        rs_drive_pull pull = rs_drive_pull_of(a, k, dt);
        if (rs_drive_is_row(&pull))
            continue;
        double given = rs_clamp(pull.force, pull.lower, pull.upper);
        a->drive_impulse[k] = dt * given;
        rs_tendon_pull(a, &a->tendons[a->drives[k].tendon], given, force);
    }
}
