#include "conservation.h"

#include <string.h>

/* A step that turns links farther may not be able to keep energy and angular momentum: then energy must not grow [rad]. */
static const double COARSE_TURN = 0.5;
/* So may one that is that far off. */
static const double GROSS = 1.5;
/* Contacts and wires give a system no momentum if it is less than this share of what its energy allows. */
static const double GIVEN_SHARE = 1e-6;
/* Of the energy's bound: what a step that turns so far may miss. */
static const double MARGIN = 0.01;
/* Motion within a system that has less than this share of the energy is not scaled. */
static const double LEAST_SHARE = 1e-9;

/* Sums over all links, at one place and velocity. */
typedef struct {
    rs_vec3 linear, angular; /* momentum; about a fixed point */
    double energy;           /* kinetic */
} motion_sums;

double rs_turn_per_step(const rs_articulation *a, double dt) {
    double fastest2 = 0.0;
    for (int32_t i = 0; i < a->link_count; i++)
        fastest2 = rs_max(fastest2, rs_norm2(a->motion[i].w));
    return dt * sqrt(fastest2);
}

static motion_sums sum_motion(const rs_articulation *a, const double *u, rs_vec3 about, bool energy) {
    motion_sums sums = {.energy = energy ? rs_kinetic_energy(a, u) : 0.0};
    rs_momentum(a, about, &sums.linear, &sums.angular);
    return sums;
}

/* Power of the wrenches a->force at the velocities of the links. */
static double power_of_wrenches(const rs_articulation *a) {
    double power = 0.0;
    for (int32_t i = 0; i < a->link_count; i++)
        power += rs_dot(a->force[i].lin, a->motion[i].v) + rs_dot(a->force[i].ang, a->motion[i].w);
    return power;
}

/* What the velocity products of the step add to momentum and energy per second; a->force are their wrenches. */
static motion_sums sum_products(rs_articulation *a, rs_vec3 about) {
    motion_sums sums = {.energy = 0.0};
    rs_kinematics_move(a, a->u_ahead);
    rs_rnea_wrenches(a, rs_v3_zero(), NULL, false);
    for (int32_t i = 0; i < a->link_count; i++) {
        rs_pair6 wrench = rs_shift_force(a->force[i], rs_sub(a->motion[i].pos, about));
        sums.linear = rs_add(sums.linear, wrench.lin);
        sums.angular = rs_add(sums.angular, wrench.ang);
    }
    sums.energy = power_of_wrenches(a);
    return sums;
}

/* to += s * change */
static void add_motion(motion_sums *to, double s, const motion_sums *change) {
    to->linear = rs_madd(to->linear, s, change->linear);
    to->angular = rs_madd(to->angular, s, change->angular);
    to->energy += s * change->energy;
}

/* Motion of the whole system as one rigid body that has a momentum. */
typedef struct {
    rs_vec3 v, w;            /* of the centre of mass; angular velocity */
    double sliding, turning; /* energies */
} rigid_motion;

static rigid_motion rigid_motion_of(const rs_composite *whole, const motion_sums *sums, rs_vec3 about) {
    rs_sym3 inverse = rs_sym3_inverse(&whole->inertia);
    rs_vec3 own = rs_sub(sums->angular, rs_cross(rs_sub(whole->com, about), sums->linear));
    rs_vec3 w = rs_sym3_mulv(&inverse, own), v = rs_scale(1.0 / whole->mass, sums->linear);
    return (rigid_motion){v, w, 0.5 * rs_dot(v, sums->linear), 0.5 * rs_dot(w, own)};
}

/* Scale of a motion that has the energy `has` and should have `wanted`; as part of `all` it may be nothing but rounding. */
static double energy_scale(double has, double wanted, double all) {
    return has > LEAST_SHARE * all ? sqrt(rs_max(0.0, wanted) / has) : 1.0;
}

static void correct_floating(rs_articulation *a, const motion_sums *end, const motion_sums *wanted, rs_vec3 about,
                             rs_energy_rule rule, double gross) {
    rs_composites_sum(a);
    rs_composite whole = rs_composite_of(a, 0);
    rigid_motion has = rigid_motion_of(&whole, end, about), gets = rigid_motion_of(&whole, wanted, about);
    double inner_has = end->energy - has.sliding - has.turning, turning = wanted->energy - gets.sliding;
    double inner = 1.0, outer = 1.0, slide = 1.0;
    bool coarse = a->turn > COARSE_TURN || gets.sliding + gets.turning > gross * wanted->energy;
    if (rule == RS_ENERGY_KEPT || (rule == RS_ENERGY_BOUNDED && inner_has + gets.turning > turning))
        inner = energy_scale(inner_has, turning - gets.turning, end->energy);
    if (rule != RS_ENERGY_FREE && coarse && turning < gets.turning)
        outer = energy_scale(gets.turning, turning, gets.turning);
    if (rule == RS_ENERGY_BOUNDED && coarse && turning < 0.0)
        slide = energy_scale(gets.sliding, wanted->energy, gets.sliding);
    double *u = a->u_free;
    rs_vec3 from_com = rs_sub(a->motion[0].pos, whole.com), gets_w = rs_scale(outer, gets.w);
    rs_vec3 v = rs_sub(rs_sub(rs_v3_load(u), has.v), rs_cross(has.w, from_com));
    rs_vec3 w = rs_sub(rs_v3_load(u + 3), has.w);
    rs_v3_store(u, rs_madd(rs_add(rs_scale(slide, gets.v), rs_cross(gets_w, from_com)), inner, v));
    rs_v3_store(u + 3, rs_madd(gets_w, inner, w));
    for (int32_t k = 6; k < a->u_count; k++)
        u[k] *= inner;
}

static void correct_fixed(rs_articulation *a, const motion_sums *end, const motion_sums *wanted, rs_energy_rule rule) {
    if (rule == RS_ENERGY_FREE || (rule == RS_ENERGY_BOUNDED && end->energy <= wanted->energy))
        return;
    double scale = energy_scale(end->energy, wanted->energy, end->energy);
    for (int32_t k = 0; k < a->u_count; k++)
        a->u_free[k] *= scale;
}

static rs_vec3 centre_of_mass(const rs_articulation *a, double *mass) {
    rs_vec3 sum = rs_v3_zero();
    *mass = 0.0;
    for (int32_t i = 0; i < a->link_count; i++) {
        *mass += a->mass[i].mass;
        sum = rs_add(sum, rs_madd(a->mass[i].mass_com, a->mass[i].mass, a->motion[i].pos));
    }
    return rs_scale(1.0 / *mass, sum);
}

/* What the motion that removes overlap gives the system as a whole; the system is placed at the midpoint. */
static rs_vec3 push_momentum(rs_articulation *a) {
    rs_vec3 linear = rs_v3_zero(), angular;
    if (!a->pushed)
        return linear;
    rs_kinematics_move(a, a->u_push);
    rs_momentum(a, a->motion[0].pos, &linear, &angular);
    return linear;
}

/* Moves the placed system, and the coordinates where it is placed, as a whole. */
static void translate(rs_articulation *a, rs_vec3 way, double *q) {
    rs_v3_store(q, rs_add(rs_v3_load(q), way));
    for (int32_t i = 0; i < a->link_count; i++)
        a->motion[i].pos = rs_add(a->motion[i].pos, way);
}

/* What acts on a floating system from outside, per second: weight, loads on its links, forces and damping of its base. Joints,
 * springs and motors between its links give no momentum. */
static motion_sums sum_outer_forces(const rs_articulation *a, rs_vec3 gravity, rs_vec3 about) {
    double mass;
    const double *force = a->joint_force, *weight = a->weight, *rate = a->u_rate;
    rs_vec3 arm = rs_sub(centre_of_mass(a, &mass), about), heavy = rs_scale(mass, gravity);
    rs_vec3 lin = rs_v3(force[0] - weight[0] * rate[0], force[1] - weight[1] * rate[1], force[2] - weight[2] * rate[2]);
    rs_vec3 ang = rs_v3(force[3] - weight[3] * rate[3], force[4] - weight[4] * rate[4], force[5] - weight[5] * rate[5]);
    rs_pair6 base = rs_shift_force((rs_pair6){lin, ang}, rs_sub(a->motion[0].pos, about));
    motion_sums sums = {rs_add(heavy, base.lin), rs_add(rs_cross(arm, heavy), base.ang), 0.0};
    for (int32_t i = 0; a->loaded && i < a->link_count; i++) {
        rs_pair6 load = rs_shift_force(rs_load_wrench(a, i), rs_sub(a->motion[i].pos, about));
        sums.linear = rs_add(sums.linear, load.lin);
        sums.angular = rs_add(sums.angular, load.ang);
    }
    return sums;
}

/* The inertia that taut links get is none when it comes to momentum and energy: adds its share, at the velocities of the links. */
static void add_tension(const rs_articulation *a, motion_sums *sums) {
    for (int32_t i = 0; i < a->link_count && a->taut; i++) {
        rs_vec3 w = a->motion[i].w, spin = rs_sym3_mulv(&a->tension[i].inertia, w);
        sums->angular = rs_add(sums->angular, spin);
        sums->energy += 0.5 * rs_dot(spin, w);
    }
}

/* What the step gives to the momentum of a floating system, which is placed at the midpoint: the impulses' part, which is that
 * of the change that they made, and that of forces from outside. */
static motion_sums sum_impulses(rs_articulation *a, rs_vec3 gravity, double dt, const double *solved, rs_vec3 about) {
    motion_sums sums = {.energy = 0.0}, outer = sum_outer_forces(a, gravity, about);
    double *change = a->spare;
    for (int32_t k = 0; k < a->u_count; k++)
        change[k] = solved[k] - a->u_alone[k];
    if (a->guided) {
        rs_kinematics_move(a, change);
        rs_momentum(a, about, &sums.linear, &sums.angular);
        add_tension(a, &sums);
    }
    add_motion(&sums, dt, &outer);
    return sums;
}

/* What the step gives to momentum and kinetic energy; the system is placed at the midpoint. */
static motion_sums sum_step(rs_articulation *a, double dt, const double *solved, rs_vec3 about, rs_energy_rule rule) {
    motion_sums products = sum_products(a, about), sums;
    rs_kinematics_move(a, a->u);
    motion_sums before = sum_motion(a, a->u, about, true);
    add_tension(a, &before);
    double power = 0.5 * power_of_wrenches(a);
    rs_kinematics_move(a, solved);
    sums = sum_motion(a, solved, about, true);
    add_tension(a, &sums);
    power += 0.5 * power_of_wrenches(a);
    add_motion(&sums, -1.0, &before);
    if (rule == RS_ENERGY_KEPT) /* impulses act on the velocity that they find: then it is that of the way there */
        products.energy = power;
    add_motion(&sums, dt, &products);
    return sums;
}

/* How much more energy than it may have a step can keep for the sake of its momentum: where contacts or wires act from outside, none. */
static double gross_of(const rs_articulation *a, rs_vec3 gravity, double dt, const motion_sums *step, double energy, rs_energy_rule rule) {
    if (rule != RS_ENERGY_BOUNDED || a->fixed_base)
        return GROSS;
    double mass;
    rs_vec3 outer = sum_outer_forces(a, gravity, centre_of_mass(a, &mass)).linear, given = rs_madd(step->linear, -dt, outer);
    double most2 = 2.0 * mass * energy + dt * dt * rs_norm2(outer); /* linear momentum, squared */
    return rs_norm2(given) > GIVEN_SHARE * GIVEN_SHARE * most2 ? 1.0 : GROSS;
}

/* Momentum about a point and centre of mass at the beginning of the step: where the step before ended, if it told. */
static motion_sums begin_motion(rs_articulation *a, rs_vec3 about, bool energy, rs_vec3 *centre) {
    rs_carried *carried = &a->carried;
    size_t q_bytes = sizeof(double) * (size_t)a->q_count, u_bytes = sizeof(double) * (size_t)a->u_count;
    if (!energy && carried->known && memcmp(carried->q, a->q, q_bytes) == 0 && memcmp(carried->u, a->u, u_bytes) == 0) {
        *centre = carried->centre;
        return (motion_sums){carried->linear, rs_add(carried->angular, rs_cross(rs_sub(*centre, about), carried->linear)), 0};
    }
    double mass;
    rs_kinematics_place(a, a->q, a->u);
    *centre = centre_of_mass(a, &mass);
    return sum_motion(a, a->u, about, energy);
}

static void carry(rs_articulation *a, const motion_sums *end, rs_vec3 about, rs_vec3 centre, const double *q) {
    rs_carried *carried = &a->carried;
    carried->known = true;
    carried->linear = end->linear;
    carried->angular = rs_sub(end->angular, rs_cross(rs_sub(centre, about), end->linear));
    carried->centre = centre;
    memcpy(carried->q, q, sizeof(double) * (size_t)a->q_count);
    memcpy(carried->u, a->u_free, sizeof(double) * (size_t)a->u_count);
}

void rs_conserve(rs_articulation *a, rs_vec3 gravity, double dt, const double *solved, double *q_new, rs_energy_rule rule) {
    double mass;
    bool energy = rule != RS_ENERGY_FREE;
    rs_vec3 about = a->motion[0].pos, centre; /* any fixed point near by */
    rs_vec3 pushed = push_momentum(a);
    motion_sums step = energy ? sum_step(a, dt, solved, about, rule) : sum_impulses(a, gravity, dt, solved, about);
    motion_sums before = begin_motion(a, about, energy, &centre), wanted = before;
    double gross = gross_of(a, gravity, dt, &step, before.energy, rule);
    add_motion(&wanted, 1.0, &step);
    wanted.energy += rule == RS_ENERGY_BOUNDED ? MARGIN * before.energy : 0.0;
    rs_kinematics_place(a, q_new, a->u_free);
    a->carried.known = false;
    if (a->fixed_base) {
        motion_sums end = sum_motion(a, a->u_free, about, energy);
        correct_fixed(a, &end, &wanted, rule);
        return;
    }
    rs_vec3 mean = rs_add(rs_scale(0.5, rs_add(before.linear, wanted.linear)), pushed), at = centre_of_mass(a, &mass);
    centre = rs_madd(centre, dt / mass, mean);
    translate(a, rs_sub(centre, at), q_new);
    motion_sums end = sum_motion(a, a->u_free, about, energy);
    correct_floating(a, &end, &wanted, about, rule, gross);
    if (rule == RS_ENERGY_FREE)
        carry(a, &wanted, about, centre, q_new);
}
