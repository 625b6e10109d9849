/* Ways around spheres and cylinders against plane geometry, arms of tendons against differences of their lengths, laws of
 * drives against their definition. */
#include "../../../csrc/dynamics/tendons.h"
#include "../articulation_fixture.h"
#include "../random.h"

static const double PI = 3.14159265358979323846;

/* ---- ways around ---- */

static void a_way_that_meets_nothing_is_straight(void)
{
    rs_wrap wrap;
    rs_vec3 from = rs_v3(-2, 0, 1.5), to = rs_v3(2, 0, 1.5);
    CHECK(!rs_tendon_wrap(true, 1.0, from, to, NULL, &wrap));
    CHECK(rs_tendon_wrap(true, 1.6, from, to, NULL, &wrap));
    CHECK(!rs_tendon_wrap(false, 1.0, rs_v3(-2, 1.5, 0), rs_v3(2, 1.5, 9), NULL, &wrap));
    CHECK(!rs_tendon_wrap(true, 1.0, rs_v3(0.5, 0, 0), to, NULL, &wrap)); /* it begins inside */
}

/* Tangents from both ends, and the arc that is left of the angle between them. */
static void a_way_around_a_sphere_is_the_shortest(void)
{
    uint64_t seed = 7;
    int led = 0;
    for (int n = 0; n < 2000; n++) {
        rs_vec3 from = random_vector(&seed, 2.0), to = random_vector(&seed, 2.0);
        double radius = random_between(&seed, 0.2, 1.0), a = rs_norm(from), b = rs_norm(to);
        rs_wrap wrap;
        if (a <= radius || b <= radius || !rs_tendon_wrap(true, radius, from, to, NULL, &wrap))
            continue;
        led++;
        double between = acos(rs_dot(from, to) / (a * b)), arc = between - acos(radius / a) - acos(radius / b);
        CHECK_NEAR(wrap.length, radius * arc, 1e-9);
        CHECK_NEAR(rs_norm(wrap.from), radius, 1e-12);
        CHECK_NEAR(rs_norm(wrap.to), radius, 1e-12);
        CHECK_NEAR(rs_dot(wrap.from, rs_sub(from, wrap.from)), 0.0, 1e-12);
        CHECK_NEAR(rs_dot(wrap.to, rs_sub(to, wrap.to)), 0.0, 1e-12);
        double total = rs_norm(rs_sub(from, wrap.from)) + wrap.length + rs_norm(rs_sub(to, wrap.to));
        CHECK(total >= rs_norm(rs_sub(to, from)) - 1e-12);
    }
    CHECK(led > 100);
}

/* Unrolled, a way around a cylinder is a straight line. */
static void a_way_around_a_cylinder_climbs_evenly(void)
{
    uint64_t seed = 11;
    for (int n = 0; n < 500; n++) {
        double radius = random_between(&seed, 0.2, 0.9), rise = random_between(&seed, -2.0, 2.0);
        rs_vec3 from = rs_v3(-2, random_between(&seed, -0.1, 0.1), 0.3), to = rs_v3(2, 0.05, 0.3 + rise);
        rs_wrap flat, wrap;
        CHECK(rs_tendon_wrap(false, radius, rs_v3(from.x, from.y, 0), rs_v3(to.x, to.y, 0), NULL, &flat));
        CHECK(rs_tendon_wrap(false, radius, from, to, NULL, &wrap));
        rs_vec3 first = rs_sub(wrap.from, from), last = rs_sub(to, wrap.to);
        double plan = hypot(first.x, first.y) + flat.length + hypot(last.x, last.y);
        double total = rs_norm(first) + wrap.length + rs_norm(last);
        CHECK_NEAR(total, hypot(plan, rise), 1e-12);
        CHECK_NEAR(first.z / hypot(first.x, first.y), rise / plan, 1e-9);
    }
}

static void a_side_leads_it_the_longer_way(void)
{
    rs_vec3 from = rs_v3(-2, 0.2, 0), to = rs_v3(2, 0.2, 0), above = rs_v3(0, 3, 0), below = rs_v3(0, -3, 0);
    rs_wrap shorter, longer;
    CHECK(rs_tendon_wrap(false, 0.5, from, to, &above, &shorter));
    CHECK(rs_tendon_wrap(false, 0.5, from, to, &below, &longer));
    CHECK(shorter.from.y > 0.0 && longer.from.y < 0.0);
    CHECK(longer.length > shorter.length);
    CHECK(longer.length < 0.5 * PI);
}

/* It touches from inside in one point, with equal angles to the radius. */
static void a_side_inside_leads_it_through(void)
{
    rs_vec3 from = rs_v3(-2, 1.5, 0), to = rs_v3(1, 1.8, 0), inside = rs_v3(0, 0.1, 0);
    rs_wrap wrap;
    CHECK(rs_tendon_wrap(false, 0.5, from, to, &inside, &wrap));
    CHECK_NEAR(wrap.length, 0.0, 0.0);
    CHECK_NEAR(rs_norm(wrap.from), 0.5, 1e-12);
    rs_vec3 one = rs_normalize_or(rs_sub(from, wrap.from), rs_v3_zero()), other = rs_normalize_or(rs_sub(to, wrap.to), rs_v3_zero());
    CHECK_NEAR(rs_dot(one, wrap.from), rs_dot(other, wrap.from), 1e-6);
}

/* ---- tendons of a tree ---- */

enum { LINKS = 5, ROUTES = 7 };

static rs_articulation *tree_with(const rs_tendon_def *tendons, int32_t tendon_count, const rs_drive_def *drives, int32_t drive_count)
{
    const rs_joint_type types[LINKS] = {RS_JOINT_FLOATING, RS_JOINT_REVOLUTE, RS_JOINT_SPHERICAL, RS_JOINT_PRISMATIC, RS_JOINT_REVOLUTE};
    rs_link_def links[LINKS];
    for (int32_t i = 0; i < LINKS; i++)
        links[i] = fixture_link(i - 1, types[i]);
    rs_articulation_def def = {.link_count = LINKS, .links = links};
    def.tendon_count = tendon_count;
    def.tendons = tendons;
    def.drive_count = drive_count;
    def.drives = drives;
    rs_articulation *a = NULL;
    CHECK(rs_articulation_new(&def, &a) == RS_OK);
    return a;
}

static rs_route_def point_on(int32_t kind, int32_t link, double x, double y, double z, double size)
{
    rs_route_def route = {.kind = kind, .link = link, .size = size, .side_link = -1};
    const double position[3] = {x, y, z}, unit[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    memcpy(route.position, position, sizeof position);
    memcpy(route.rotation, unit, sizeof unit);
    return route;
}

/* With the links where q says. */
static double length_at(rs_articulation *a, const double *q)
{
    rs_kinematics_place(a, q, a->u);
    rs_tendons_place(a, q);
    return a->tendon_places[0].length;
}

static void arms_are_derivatives_of_lengths(void)
{
    rs_route_def route[ROUTES] = {
        point_on(RS_ROUTE_POINT, -1, -1.0, 0.3, 0.4, 1), point_on(RS_ROUTE_SPHERE, 1, 0.1, 0.0, 0.05, 0.15),
        point_on(RS_ROUTE_POINT, 2, 0.1, 0.2, 0.0, 1),   point_on(RS_ROUTE_PULLEY, -1, 0, 0, 0, 2),
        point_on(RS_ROUTE_POINT, 0, 0.3, 0.3, 0.0, 1),   point_on(RS_ROUTE_CYLINDER, 3, 0.0, 0.1, 0.0, 0.12),
        point_on(RS_ROUTE_POINT, 4, 0.2, -0.2, 0.3, 1),
    };
    rs_tendon_def tendon = {.kind = RS_TENDON_ROUTED, .route_count = ROUTES, .routes = route, .lower = -INFINITY, .upper = INFINITY};
    rs_articulation *a = tree_with(&tendon, 1, NULL, 0);
    uint64_t seed = 3;
    double q[64], u[64], moved[64];
    for (int n = 0; n < 50; n++) {
        for (int32_t k = 0; k < a->u_count; k++)
            u[k] = random_between(&seed, -1.0, 1.0);
        rs_kinematics_advance(a, a->q, u, 1.0, q);
        for (int32_t k = 0; k < a->u_count; k++)
            u[k] = random_between(&seed, -1.0, 1.0);
        const double way = 1e-6;
        rs_kinematics_advance(a, q, u, way, moved);
        double ahead = length_at(a, moved);
        rs_kinematics_advance(a, q, u, -way, moved);
        double behind = length_at(a, moved), here = length_at(a, q);
        CHECK(here > 0.0);
        CHECK_NEAR(rs_tendon_speed(a, &a->tendons[0], u), (ahead - behind) / (2.0 * way), 1e-6);
    }
    rs_articulation_free(a);
}

/* ---- drives ---- */

static rs_drive_def drive_with(int32_t dynamics, double time)
{
    rs_drive_def drive = {.gear = -2.0, .dynamics = dynamics};
    drive.dynamics_numbers[0] = time;
    drive.gain[0] = 3.0;
    const double all[2] = {-INFINITY, INFINITY}, range[2] = {-1.0, 1.0};
    memcpy(drive.control_range, range, sizeof range);
    memcpy(drive.force_range, all, sizeof all);
    memcpy(drive.activation_range, all, sizeof all);
    return drive;
}

static rs_articulation *tree_with_drive(const rs_drive_def *drive)
{
    const rs_tendon_term term = {.link = 1, .coefficient = 0.5};
    rs_tendon_def tendon = {.kind = RS_TENDON_FIXED, .term_count = 1, .terms = &term, .lower = -INFINITY, .upper = INFINITY};
    rs_articulation *a = tree_with(&tendon, 1, drive, 1);
    length_at(a, a->q);
    return a;
}

static void a_drive_pulls_by_its_clamped_control_and_gear(void)
{
    rs_drive_def drive = drive_with(RS_DYNAMICS_NONE, 0.0);
    drive.force_range[1] = 2.0;
    rs_articulation *a = tree_with_drive(&drive);
    a->drive_control[0] = 7.0; /* clamped to 1 */
    rs_drive_pull pull = rs_drive_pull_of(a, 0, 0.01);
    CHECK_NEAR(pull.force, -6.0, 1e-15);
    CHECK_NEAR(pull.lower, -4.0, 1e-15); /* a negative gear turns the bounds around */
    CHECK(isinf(pull.upper) && !rs_drive_is_row(&pull));
    double force[64] = {0};
    rs_drives_push(a, 0.01, force);
    CHECK_NEAR(force[a->links[1].u_first], -2.0, 1e-15); /* bounded, times the coefficient of the joint */
    CHECK_NEAR(a->drive_impulse[0], -0.04, 1e-15);
    rs_articulation_free(a);
}

static void a_servo_is_a_row_with_the_slopes_of_its_force(void)
{
    rs_drive_def drive = drive_with(RS_DYNAMICS_NONE, 0.0);
    drive.bias_law = RS_LAW_AFFINE;
    const double bias[3] = {0.0, -3.0, -0.7};
    memcpy(drive.bias, bias, sizeof bias);
    rs_articulation *a = tree_with_drive(&drive);
    rs_drive_pull pull = rs_drive_pull_of(a, 0, 0.01);
    CHECK(rs_drive_is_row(&pull));
    CHECK_NEAR(pull.stiffness, 12.0, 1e-14);
    CHECK_NEAR(pull.damping, 2.8, 1e-14);
    rs_articulation_free(a);
}

static void activations_follow_their_controls(void)
{
    const double dt = 0.01, time = 0.05;
    rs_drive_def exact = drive_with(RS_DYNAMICS_FILTER_EXACT, time), sum = drive_with(RS_DYNAMICS_INTEGRATOR, 0.0);
    sum.activation_range[1] = 0.3;
    rs_articulation *a = tree_with_drive(&exact), *b = tree_with_drive(&sum);
    a->drive_control[0] = b->drive_control[0] = 0.8;
    for (int n = 1; n <= 60; n++) {
        rs_drives_advance(a, dt);
        rs_drives_advance(b, dt);
        CHECK_NEAR(a->activation[0], 0.8 * (1.0 - exp(-n * dt / time)), 1e-12);
        CHECK_NEAR(b->activation[0], fmin(0.3, 0.8 * n * dt), 1e-12);
    }
    CHECK(!rs_drives_are_quiet(a));
    CHECK(rs_drives_are_quiet(b)); /* at the end of its range */
    rs_articulation_free(a);
    rs_articulation_free(b);
}

int main(void)
{
    RUN(a_way_that_meets_nothing_is_straight);
    RUN(a_way_around_a_sphere_is_the_shortest);
    RUN(a_way_around_a_cylinder_climbs_evenly);
    RUN(a_side_leads_it_the_longer_way);
    RUN(a_side_inside_leads_it_through);
    RUN(arms_are_derivatives_of_lengths);
    RUN(a_drive_pulls_by_its_clamped_control_and_gear);
    RUN(a_servo_is_a_row_with_the_slopes_of_its_force);
    RUN(activations_follow_their_controls);
    return CHECK_RESULT();
}
