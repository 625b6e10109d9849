#include "fluid.h"

#include <math.h>

/* Sweeps of Jacobi's method, each of which squares what is left beside the diagonal, and what is nothing beside it. */
enum { MAX_SWEEPS = 12 };
static const double DIAGONAL = 1e-30;

/* Turns the axes p and q so that the tensor has no product of both. */
static void turn_pair(double s[3][3], rs_mat3 *axes, int p, int q) {
    double skew = (s[q][q] - s[p][p]) / (2.0 * s[p][q]);
    double t = (skew < 0.0 ? -1.0 : 1.0) / (fabs(skew) + sqrt(1.0 + skew * skew)), c = 1.0 / sqrt(1.0 + t * t), d = t * c;
    for (int k = 0; k < 3; k++) {
        double a = s[k][p], b = s[k][q];
        s[k][p] = c * a - d * b;
        s[k][q] = d * a + c * b;
    }
    for (int k = 0; k < 3; k++) {
        double a = s[p][k], b = s[q][k], x = axes->m[3 * k + p], y = axes->m[3 * k + q];
        s[p][k] = c * a - d * b;
        s[q][k] = d * a + c * b;
        axes->m[3 * k + p] = c * x - d * y;
        axes->m[3 * k + q] = d * x + c * y;
    }
}

/* Principal moments of inertia and, as columns, their axes: those of the frame where the tensor is diagonal in it. */
static rs_vec3 principal(const rs_sym3 *tensor, rs_mat3 *axes) {
    double s[3][3] = {{tensor->xx, tensor->xy, tensor->xz}, {tensor->xy, tensor->yy, tensor->yz},
                      {tensor->xz, tensor->yz, tensor->zz}};
    *axes = rs_m3_identity();
    double size = s[0][0] * s[0][0] + s[1][1] * s[1][1] + s[2][2] * s[2][2];
    for (int sweep = 0; sweep < MAX_SWEEPS; sweep++) {
        if (s[0][1] * s[0][1] + s[0][2] * s[0][2] + s[1][2] * s[1][2] <= DIAGONAL * size)
            break;
        for (int p = 0; p < 2; p++)
            for (int q = p + 1; q < 3; q++)
                if (s[p][q] != 0.0)
                    turn_pair(s, axes, p, q);
    }
    return rs_v3(s[0][0], s[1][1], s[2][2]);
}

/* Change of a velocity in a step by drag that is `linear` times the velocity and `square` times its square: exact for the square,
 * of second order for the other; never more than the velocity. */
static double slowed(double linear, double square, double inertia, double velocity, double dt) {
    double x = dt * linear / inertia, y = dt * square * fabs(velocity) / inertia;
    double share = (1.0 + 0.5 * x) / (1.0 + x + 0.5 * x * x);
    return -velocity * share * (x + y) / (1.0 + share * y);
}

/* Changes of velocity in a step along the axes of the box and about them. */
static void slow(const rs_fluid *fluid, double mass, rs_vec3 moments, double dt, const rs_vec3 velocity[2], rs_vec3 change[2]) {
    double moment[3], length[3], v[2][3], out[2][3];
    rs_v3_store(moment, moments);
    rs_v3_store(v[0], velocity[0]);
    rs_v3_store(v[1], velocity[1]);
    double sum = moment[0] + moment[1] + moment[2];
    for (int k = 0; k < 3; k++)
        length[k] = sqrt(rs_max(6.0 * (sum - 2.0 * moment[k]) / mass, 0.0));
    double size = (length[0] + length[1] + length[2]) / 3.0, viscous = M_PI * fluid->viscosity * size;
    for (int k = 0; k < 3; k++) {
        double a = length[(k + 1) % 3], b = length[(k + 2) % 3], a2 = a * a, b2 = b * b;
        double across = fluid->density * length[k] * (a2 * a2 + b2 * b2) / 64.0;
        out[0][k] = slowed(3.0 * viscous, 0.5 * fluid->density * a * b, mass, v[0][k], dt);
        out[1][k] = moment[k] > 0.0 ? slowed(viscous * size * size, across, moment[k], v[1][k], dt) : 0.0;
    }
    change[0] = rs_v3_load(out[0]);
    change[1] = rs_v3_load(out[1]);
}

void rs_fluid_slow_body(const rs_fluid *fluid, const rs_body *body, double dt, rs_solver_body *solver) {
    rs_mat3 axes;
    rs_vec3 moments = principal(&body->inertia, &axes), change[2];
    axes = rs_m3_mul(&body->middle.rot, &axes);
    rs_vec3 v = rs_sub(rs_scale(0.5, rs_add(body->velocity, solver->v.xyz)), rs_v3_load(fluid->wind));
    rs_vec3 w = rs_scale(0.5, rs_add(body->middle_omega, solver->w.xyz));
    slow(fluid, body->mass, moments, dt, (rs_vec3[2]){rs_m3_tmulv(&axes, v), rs_m3_tmulv(&axes, w)}, change);
    solver->v.xyz = rs_add(solver->v.xyz, rs_m3_mulv(&axes, change[0]));
    solver->w.xyz = rs_add(solver->w.xyz, rs_m3_mulv(&axes, change[1]));
}

/* Of the velocities at the beginning: those ahead in the step are guessed from the step before, whose drag would come back. */
void rs_fluid_load_links(const rs_fluid *fluid, rs_articulation *a, double dt) {
    rs_kinematics_move(a, a->u);
    for (int32_t i = 0; i < a->link_count; i++) {
        const rs_link *link = &a->links[i];
        if (!(link->mass > 0.0) || (i == 0 && a->fixed_base))
            continue;
        rs_mat3 axes;
        rs_vec3 moments = principal(&link->inertia, &axes), change[2];
        axes = rs_m3_mul(&a->motion[i].rot, &axes);
        rs_vec3 arm = rs_m3_mulv(&a->motion[i].rot, link->com);
        rs_vec3 v = rs_sub(rs_link_point_velocity(a, i, arm), rs_v3_load(fluid->wind)), w = a->motion[i].w;
        slow(fluid, link->mass, moments, dt, (rs_vec3[2]){rs_m3_tmulv(&axes, v), rs_m3_tmulv(&axes, w)}, change);
        rs_vec3 torque = rs_scale(1.0 / dt, rs_mul(moments, change[1]));
        rs_link_load_force(&a->loads[i], link->com, rs_m3_mulv(&axes, rs_scale(link->mass / dt, change[0])));
        a->loads[i].torque = rs_add(a->loads[i].torque, rs_m3_mulv(&axes, torque));
    }
    rs_kinematics_move(a, a->u_ahead);
    a->loaded = true;
}
