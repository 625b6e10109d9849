/* Drag of bodies: it takes what it may, whatever the step, and goes by the axes of the inertia. */
#include "../../../csrc/dynamics/fluid.h"
#include "../check.h"
#include "../random.h"

static rs_body body_with(double mass, rs_sym3 inertia)
{
    rs_body body = {.alive = true, .type = RS_BODY_DYNAMIC, .quaternion = {1, 0, 0, 0}};
    rs_rigid_body_set_mass(&body, mass, rs_v3_zero(), &inertia);
    return body;
}

static double energy_of(const rs_body *body, rs_vec3 v, rs_vec3 w)
{
    rs_sym3 inertia = rs_sym3_rotate(&body->middle.rot, &body->inertia);
    return 0.5 * (body->mass * rs_norm2(v) + rs_dot(w, rs_sym3_mulv(&inertia, w)));
}

/* One step without any other force. */
static rs_solver_body slowed(rs_body *body, const rs_fluid *fluid, double dt)
{
    rs_solver_body solver;
    rs_rigid_body_midpoint(body, dt);
    rs_rigid_body_free_velocity(body, rs_v3_zero(), dt, &solver);
    rs_fluid_slow_body(fluid, body, dt, &solver);
    return solver;
}

static void drag_takes_energy_however_thick_the_fluid_is(void)
{
    uint64_t random = 1;
    for (int n = 0; n < 200; n++) {
        double a = random_between(&random, 0.1, 2), b = random_between(&random, 0.1, 2), c = random_between(&random, 0.1, 2);
        rs_mat3 turn = rs_quat_to_m3(random_quaternion(&random));
        rs_sym3 principal = {b + c, a + c, a + b, 0, 0, 0};
        rs_body body = body_with(random_between(&random, 0.1, 10), rs_sym3_rotate(&turn, &principal));
        rs_fluid fluid = {.density = n % 3 == 0 ? 0.0 : pow(10.0, random_between(&random, -1, 6)),
                          .viscosity = n % 3 == 1 ? 0.0 : pow(10.0, random_between(&random, -3, 5))};
        body.velocity = random_vector(&random, 10.0);
        body.omega = random_vector(&random, 3.0);
        rs_solver_body after = slowed(&body, &fluid, 0.005);
        double before = energy_of(&body, body.velocity, body.middle_omega);
        CHECK(energy_of(&body, after.v.xyz, after.w.xyz) < before);
    }
}

/* The axes of the box are those of the inertia, not those of the body. */
static void a_plate_that_lies_across_its_frame_is_slowed_along_its_normal(void)
{
    rs_mat3 turn = rs_quat_to_m3(rs_quat_normalize((rs_quat){0.9, 0.3, -0.2, 0.1}));
    rs_sym3 plate = {1.0, 1.0, 2.0, 0, 0, 0};
    rs_body body = body_with(1.0, rs_sym3_rotate(&turn, &plate));
    rs_vec3 normal = rs_m3_col(&turn, 2), along = rs_m3_col(&turn, 0);
    rs_fluid fluid = {.density = 1.0};
    body.velocity = normal;
    CHECK(rs_norm(rs_cross(slowed(&body, &fluid, 0.1).v.xyz, normal)) < 1e-12);
    CHECK(rs_dot(slowed(&body, &fluid, 0.1).v.xyz, normal) < 0.8);
    body.velocity = along; /* it is thin: nothing faces the motion */
    CHECK(fabs(rs_dot(slowed(&body, &fluid, 0.1).v.xyz, along) - 1.0) < 1e-6);
}

int main(void)
{
    RUN(drag_takes_energy_however_thick_the_fluid_is);
    RUN(a_plate_that_lies_across_its_frame_is_slowed_along_its_normal);
    return CHECK_RESULT();
}
