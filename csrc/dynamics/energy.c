/* Energy and momentum of a tree. */
#include "articulated.h"

/* Momentum of one link: linear, and angular about its own origin. */
static rs_pair6 link_momentum(const rs_articulation *a, int32_t i) {
    const rs_link_mass *m = &a->mass[i];
    rs_vec3 v = a->motion[i].v, w = a->motion[i].w;
    return (rs_pair6){rs_add(rs_scale(m->mass, v), rs_cross(w, m->mass_com)),
                      rs_add(rs_sym3_mulv(&m->inertia, w), rs_cross(m->mass_com, v))};
}

double rs_kinetic_energy(const rs_articulation *a, const double *u) {
    double twice = 0.0;
    for (int32_t i = 0; i < a->link_count; i++) {
        rs_pair6 p = link_momentum(a, i);
        twice += rs_dot(p.lin, a->motion[i].v) + rs_dot(p.ang, a->motion[i].w);
    }
    for (int32_t k = 0; k < a->u_count; k++)
        twice += a->rotor_inertia[k] * u[k] * u[k];
    return 0.5 * twice;
}

double rs_potential_energy(const rs_articulation *a, rs_vec3 gravity) {
    double sum = 0.0;
    for (int32_t i = 0; i < a->link_count; i++)
        sum -= a->mass[i].mass * rs_dot(gravity, a->motion[i].pos) + rs_dot(gravity, a->mass[i].mass_com);
    return sum;
}

double rs_spring_energy(const rs_articulation *a, const double *q) {
    double twice = 0.0;
    for (int32_t i = 0; i < a->link_count; i++) {
        const rs_link *link = &a->links[i];
        const double *ks = &a->stiffness[link->u_first], *mount = &a->spring_mount[link->q_first], *at = &q[link->q_first];
        if (link->u_count == 1) {
            twice += ks[0] * (mount[0] - at[0]) * (mount[0] - at[0]);
        } else if (rs_joint_is_ball(link)) {
            rs_vec3 e = rs_rotation_between(rs_quat_load(at), rs_quat_load(mount));
            twice += ks[0] * e.x * e.x + ks[1] * e.y * e.y + ks[2] * e.z * e.z;
        }
    }
    return 0.5 * twice;
}

void rs_momentum(const rs_articulation *a, rs_vec3 about, rs_vec3 *linear, rs_vec3 *angular) {
    *linear = *angular = rs_v3_zero();
    for (int32_t i = 0; i < a->link_count; i++) {
        rs_pair6 p = rs_shift_force(link_momentum(a, i), rs_sub(a->motion[i].pos, about));
        *linear = rs_add(*linear, p.lin);
        *angular = rs_add(*angular, p.ang);
    }
}
