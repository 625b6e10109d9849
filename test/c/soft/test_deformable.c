/* Deformable objects: tetrahedra against finite differences, conservation, and input that is refused. */
#include "../../../csrc/soft/tetrahedron.h"
#include "../check.h"

#include "../../../csrc/include/raisim_engine.h"

static const int32_t CORNERS[4] = {0, 1, 2, 3};

static void fill(rs_quad x[4], rs_quad v[4])
{
    const rs_vec3 places[4] = {{0, 0, 0}, {1, 0, 0}, {0.1, 0.9, 0}, {0.2, 0.3, 0.8}};
    for (int k = 0; k < 4; k++) {
        x[k] = (rs_quad){places[k], 0.01};
        v[k] = (rs_quad){rs_v3_zero(), 1.0 + 0.5 * k};
    }
}

static void rest_has_no_energy_and_corners_are_put_in_order(void)
{
    rs_quad x[4], v[4];
    fill(x, v);
    const int32_t turned[4] = {0, 2, 1, 3};
    rs_soft_tetrahedron one, other;
    CHECK(rs_tetrahedron_make(&one, x, CORNERS, 3e4, 1e4));
    CHECK(rs_tetrahedron_make(&other, x, turned, 3e4, 1e4));
    CHECK_NEAR(one.size, 0.12, 1e-15);
    CHECK_NEAR(other.size, one.size, 1e-15);
    CHECK_NEAR(rs_tetrahedron_energy(&one, x), 0.0, 1e-11);
    CHECK_NEAR(rs_tetrahedron_energy(&other, x), 0.0, 1e-11);
    x[3] = x[2];
    CHECK(!rs_tetrahedron_make(&one, x, CORNERS, 3e4, 1e4));
}

static void a_substep_begins_with_the_slope_of_the_energy(void)
{
    rs_quad x[4], v[4], start[4], moved[4];
    fill(x, v);
    rs_soft_tetrahedron t;
    CHECK(rs_tetrahedron_make(&t, x, CORNERS, 3e4, 1e4));
    x[1].xyz = rs_v3(1.2, 0.1, -0.1);
    x[3].xyz = rs_v3(0.1, 0.4, 0.9);
    memcpy(start, x, sizeof x);
    memcpy(moved, x, sizeof x);
    double h2 = 1e-12, step = 1e-6;
    rs_tetrahedron_begin(&t, start, moved, v, h2, 0.25);
    for (int k = 0; k < 4; k++)
        for (int axis = 0; axis < 3; axis++) {
            rs_quad near[4];
            memcpy(near, start, sizeof near);
            double at = rs_v3_get(start[k].xyz, axis);
            rs_v3_set(&near[k].xyz, axis, at + step);
            double up = rs_tetrahedron_energy(&t, near);
            rs_v3_set(&near[k].xyz, axis, at - step);
            double slope = (up - rs_tetrahedron_energy(&t, near)) / (2.0 * step);
            double force = (rs_v3_get(moved[k].xyz, axis) - at) / (h2 * v[k].rest);
            CHECK_NEAR(force, -slope, 1.0); /* of some 1e3 */
        }
}

static void a_turn_keeps_the_centre_of_mass_and_lowers_the_energy(void)
{
    rs_quad x[4], v[4], start[4];
    fill(x, v);
    rs_soft_tetrahedron t;
    CHECK(rs_tetrahedron_make(&t, x, CORNERS, 3e4, 1e4));
    x[3].xyz = rs_v3(0.2, 0.3, -0.4); /* inside out */
    memcpy(start, x, sizeof x);
    double before = rs_tetrahedron_energy(&t, x);
    for (int turn = 0; turn < 50; turn++)
        rs_tetrahedron_solve(&t, x, v, 1e-3);
    rs_vec3 shift = rs_v3_zero();
    for (int k = 0; k < 4; k++)
        shift = rs_madd(shift, 1.0 / v[k].rest, rs_sub(x[k].xyz, start[k].xyz));
    CHECK_NEAR(rs_norm(shift), 0.0, 1e-13);
    CHECK(rs_tetrahedron_energy(&t, x) < 0.5 * before);
}

static rs_deformable_def cloth(const double *positions, const double *masses, const int32_t *triangles)
{
    return (rs_deformable_def){.count = 4, .positions = positions, .masses = masses, .triangle_count = 2,
                               .triangles = triangles, .collision_group = 1, .collision_mask = UINT64_MAX,
                               .settings = {.collision_radius = 0.01, .iterations = 3, .substeps = 1}};
}

static void bad_objects_are_refused_and_good_ones_fall(void)
{
    const double x[12] = {0, 0, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1}, masses[4] = {1, 1, 1, 1};
    const int32_t triangles[6] = {0, 1, 2, 1, 3, 2}, far[6] = {0, 1, 9, 1, 3, 2}, flat[4] = {0, 1, 2, 3};
    rs_world *world = NULL;
    rs_object_id id;
    CHECK(rs_world_create(&world) == RS_OK);
    rs_deformable_def good = cloth(x, masses, triangles), bad = good;
    bad.triangles = far;
    CHECK(rs_deformable_create(world, &bad, &id) == RS_INVALID_VALUE);
    bad = good;
    bad.settings.damping = -1.0;
    CHECK(rs_deformable_create(world, &bad, &id) == RS_INVALID_VALUE);
    bad = good;
    bad.tetrahedron_count = 1;
    bad.tetrahedra = flat;
    bad.volume_stiffness = 1e4;
    CHECK(rs_deformable_create(world, &bad, &id) == RS_INVALID_VALUE); /* no volume */
    bad.volume_stiffness = -1.0;
    CHECK(rs_deformable_create(world, &bad, &id) == RS_INVALID_VALUE);
    bad = good;
    bad.contact_material = 99;
    CHECK(rs_deformable_create(world, &bad, &id) == RS_INVALID_VALUE);
    CHECK(rs_deformable_create(world, &good, &id) == RS_OK);
    CHECK(rs_deformable_tie(world, id, 0, id, 0, NULL) == RS_WRONG_TYPE);
    for (int k = 0; k < 10; k++)
        CHECK(rs_world_step(world, 1) == RS_OK);
    rs_soft_totals totals;
    CHECK(rs_soft_get_totals(world, id, &totals) == RS_OK);
    CHECK(totals.linear_momentum[2] < -0.1);
    rs_world_destroy(world);
}

int main(void)
{
    RUN(rest_has_no_energy_and_corners_are_put_in_order);
    RUN(a_substep_begins_with_the_slope_of_the_energy);
    RUN(a_turn_keeps_the_centre_of_mass_and_lowers_the_energy);
    RUN(bad_objects_are_refused_and_good_ones_fall);
    return CHECK_RESULT();
}
