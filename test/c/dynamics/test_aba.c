/* The dense inertia matrix, its product, its factorisation and its inverse dynamics must all tell the same story. */
#include "../articulation_fixture.h"

static void check_all(bool floating, double weight)
{
    rs_articulation *a = mixed_tree(floating);
    size_t n = (size_t)a->u_count;
    double m[64 * 64], x[64], mx[64], tau[64], h[64], weights[64], solved[64];
    for (size_t k = 0; k < n; k++) {
        a->rotor_inertia[k] = floating && k < 6 ? 0.0 : 0.02 * (double)(k % 4);
        weights[k] = a->rotor_inertia[k] + weight * (double)(1 + k % 3); /* uneven in spherical joints */
        x[k] = cos(2.1 * (double)k);
    }
    rs_kinematics_place(a, a->q, a->u);
    rs_crba(a, m);
    rs_mass_multiply(a, x, mx);
    rs_rnea(a, rs_v3(0, 0, -9.81), x, false, tau);
    rs_rnea(a, rs_v3(0, 0, -9.81), NULL, false, h);
    double energy = 0.0, right[64];
    for (size_t r = 0; r < n; r++) {
        double sum = 0.0, momentum = 0.0;
        for (size_t c = 0; c < n; c++) {
            CHECK_NEAR(m[n * r + c], m[n * c + r], 1e-13);
            sum += m[n * r + c] * x[c];
            momentum += m[n * r + c] * a->u[c];
        }
        energy += 0.5 * momentum * a->u[r];
        CHECK_NEAR(mx[r], sum, 1e-12);
        CHECK_NEAR(tau[r], sum + h[r], 1e-11);
        right[r] = sum + (weights[r] - a->rotor_inertia[r]) * x[r];
    }
    CHECK_NEAR(rs_kinetic_energy(a, a->u), energy, 1e-12);
    int32_t joint;
    CHECK(rs_aba_factor(a, weights, &joint));
    rs_aba_solve(a, right, solved);
    for (size_t k = 0; k < n; k++)
        CHECK_NEAR(solved[k], x[k], 1e-10);
    rs_articulation_free(a);
}

static void inertia_matrix_product_and_inverse_agree(void)
{
    check_all(false, 0.0);
    check_all(true, 0.0);
    check_all(false, 0.3);
    check_all(true, 0.3);
}

static void joint_without_inertia_is_named(void)
{
    rs_link_def defs[3] = {fixture_link(-1, RS_JOINT_FIXED), fixture_link(0, RS_JOINT_REVOLUTE),
                           fixture_link(1, RS_JOINT_SPHERICAL)};
    defs[2].mass = 0.0;
    memset(defs[2].inertia, 0, sizeof defs[2].inertia);
    rs_articulation *a = fixture_make(defs, 3);
    int32_t joint = -1;
    rs_kinematics_place(a, a->q, a->u);
    CHECK(!rs_aba_factor(a, a->rotor_inertia, &joint));
    CHECK(joint == 2);
    rs_articulation_free(a);
}

static void wrong_definitions_are_refused(void)
{
    rs_link_def defs[2] = {fixture_link(-1, RS_JOINT_FIXED), fixture_link(0, RS_JOINT_REVOLUTE)};
    rs_articulation_def def = {.link_count = 2, .links = defs};
    rs_articulation *a = NULL;
    defs[1].parent = 1;
    CHECK(rs_articulation_new(&def, &a) == RS_INVALID_VALUE);
    defs[1] = fixture_link(0, RS_JOINT_REVOLUTE);
    defs[1].mass = -1.0;
    CHECK(rs_articulation_new(&def, &a) == RS_INVALID_VALUE);
    defs[1] = fixture_link(0, RS_JOINT_REVOLUTE);
    defs[1].inertia[0] = -0.1;
    CHECK(rs_articulation_new(&def, &a) == RS_INVALID_VALUE);
    defs[1] = fixture_link(0, RS_JOINT_FLOATING);
    CHECK(rs_articulation_new(&def, &a) == RS_INVALID_VALUE);
    defs[1] = fixture_link(0, RS_JOINT_REVOLUTE);
    defs[1].axis[0] = 2.0;
    CHECK(rs_articulation_new(&def, &a) == RS_INVALID_VALUE);
    CHECK(a == NULL);
}

static void clone_lives_on_its_own(void)
{
    rs_articulation *a = mixed_tree(true), *b = rs_articulation_clone(a);
    rs_vec3 gravity = {0, 0, -9.81};
    double q = a->q[7];
    for (int i = 0; i < 10; i++) {
        rs_articulated_begin(b, 0.001);
        rs_articulated_free_velocity(b, gravity, 0.001);
        rs_articulated_integrate(b, gravity, 0.001);
    }
    CHECK_NEAR(a->q[7], q, 0.0);
    CHECK(b->q[7] != q);
    rs_articulation_free(a);
    CHECK(isfinite(b->q[7]));
    rs_articulation_free(b);
}

int main(void)
{
    RUN(inertia_matrix_product_and_inverse_agree);
    RUN(joint_without_inertia_is_named);
    RUN(wrong_definitions_are_refused);
    RUN(clone_lives_on_its_own);
    return CHECK_RESULT();
}
