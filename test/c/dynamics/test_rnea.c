/* Recursive Newton-Euler: the double pendulum's textbook equations, and balance of the whole system. */
#include "../articulation_fixture.h"

/* Two rods in the x-z plane that turn about -y, so that angles grow upwards; point masses at the ends. */
static rs_articulation *double_pendulum(double l1, double m1, double l2, double m2)
{
    rs_link_def defs[3] = {fixture_link(-1, RS_JOINT_FIXED), fixture_link(0, RS_JOINT_REVOLUTE),
                           fixture_link(1, RS_JOINT_REVOLUTE)};
    for (int i = 1; i < 3; i++) {
        memcpy(defs[i].axis, (double[3]){0, -1, 0}, 3 * sizeof(double));
        memcpy(defs[i].joint_position, (double[3]){i == 1 ? 0.0 : l1, 0, 0}, 3 * sizeof(double));
        memcpy(defs[i].com, (double[3]){i == 1 ? l1 : l2, 0, 0}, 3 * sizeof(double));
        memset(defs[i].inertia, 0, sizeof defs[i].inertia);
        defs[i].mass = i == 1 ? m1 : m2;
    }
    return fixture_make(defs, 3);
}

static void double_pendulum_obeys_its_textbook_equation(void)
{
    double l1 = 0.7, m1 = 1.3, l2 = 0.4, m2 = 0.9, g = 9.81;
    double a1 = 0.4, a2 = -1.2, w1 = 1.7, w2 = -0.6, b1 = 2.5, b2 = -3.1; /* angles, rates, accelerations */
    rs_articulation *a = double_pendulum(l1, m1, l2, m2);
    memcpy(a->q, (double[2]){a1, a2}, sizeof(double[2]));
    memcpy(a->u, (double[2]){w1, w2}, sizeof(double[2]));
    double tau[2], c2 = cos(a2), s2 = sin(a2), k = m2 * l1 * l2;
    rs_kinematics_place(a, a->q, a->u);
    rs_rnea(a, rs_v3(0, 0, -g), (double[2]){b1, b2}, false, tau);
    double second = m2 * l2 * l2 * (b1 + b2) + k * c2 * b1 + k * s2 * w1 * w1 + m2 * g * l2 * cos(a1 + a2);
    double first = (m1 + m2) * l1 * l1 * b1 + m2 * l2 * l2 * (b1 + b2) + k * c2 * (2 * b1 + b2) -
                   k * s2 * (w2 * w2 + 2 * w1 * w2) + (m1 + m2) * g * l1 * cos(a1) + m2 * g * l2 * cos(a1 + a2);
    CHECK_NEAR(tau[0], first, 1e-12);
    CHECK_NEAR(tau[1], second, 1e-12);
    rs_articulation_free(a);
}

static void weight_of_a_resting_robot_stands_on_its_base(void)
{
    rs_articulation *a = mixed_tree(true);
    double tau[64], total = 0.0;
    memset(a->u, 0, sizeof(double) * (size_t)a->u_count);
    rs_kinematics_place(a, a->q, a->u);
    rs_rnea(a, rs_v3(0, 0, -9.81), NULL, false, tau);
    for (int32_t i = 0; i < a->link_count; i++)
        total += a->links[i].mass;
    CHECK_NEAR(tau[0], 0.0, 1e-12);
    CHECK_NEAR(tau[1], 0.0, 1e-12);
    CHECK_NEAR(tau[2], 9.81 * total, 1e-10);
    rs_articulation_free(a);
}

static void loads_act_through_the_jacobian(void)
{
    rs_articulation *a = mixed_tree(false);
    double without[64], with[64];
    rs_vec3 local = {0.1, 0.2, -0.3}, force = {3, -4, 5}, torque = {0.5, 0.6, -0.7};
    int32_t link = 3;
    rs_kinematics_place(a, a->q, a->u);
    a->loads[link] = (rs_link_load){.force = force, .torque = torque, .arms = rs_outer(local, force)};
    rs_rnea(a, rs_v3(0, 0, -9.81), NULL, false, without);
    rs_rnea(a, rs_v3(0, 0, -9.81), NULL, true, with);
    rs_vec3 point = rs_add(a->motion[link].pos, rs_m3_mulv(&a->motion[link].rot, local));
    int32_t count = rs_jacobian(a, link, point, a->columns);
    for (int32_t k = 0; k < count; k++) {
        const rs_jacobian_column *column = &a->columns[k];
        without[column->index] -= rs_dot(column->linear, force) + rs_dot(column->angular, torque);
    }
    for (int32_t k = 0; k < a->u_count; k++)
        CHECK_NEAR(with[k], without[k], 1e-12);
    rs_articulation_free(a);
}

int main(void)
{
    RUN(double_pendulum_obeys_its_textbook_equation);
    RUN(weight_of_a_resting_robot_stands_on_its_base);
    RUN(loads_act_through_the_jacobian);
    return CHECK_RESULT();
}
