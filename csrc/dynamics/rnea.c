/* The recursive Newton-Euler algorithm: the forces that accelerations of a tree need. */
#include "articulated.h"

/* Acceleration of a link from its parent's; gravity acts as an upward acceleration of the base. */
static inline rs_pair6 carry_acceleration(const rs_articulation *a, int32_t i, const double *udot) {
    const rs_link *link = &a->links[i];
    const rs_link_motion *m = &a->motion[i], *parent = &a->motion[link->parent];
    rs_pair6 acc = rs_shift_motion(a->acc[link->parent], m->arm);
    acc.lin = rs_add(acc.lin, rs_cross(parent->w, rs_cross(parent->w, m->arm)));
    rs_joint_add_coriolis(link, parent, m, &acc);
    if (udot != NULL)
        rs_joint_move(link, m, &udot[link->u_first], &acc);
    return acc;
}

/* Wrench that gives a link its acceleration, at its origin. */
static inline rs_pair6 inertial_wrench(const rs_link_mass *mass, rs_vec3 w, rs_pair6 acc) {
    rs_vec3 h = mass->mass_com;
    rs_vec3 force = rs_madd(rs_add(rs_cross(acc.ang, h), rs_cross(w, rs_cross(w, h))), mass->mass, acc.lin);
    rs_vec3 moment = rs_add(rs_add(rs_sym3_mulv(&mass->inertia, acc.ang), rs_cross(w, rs_sym3_mulv(&mass->inertia, w))),
                            rs_cross(h, acc.lin));
    return (rs_pair6){force, moment};
}

rs_pair6 rs_load_wrench(const rs_articulation *a, int32_t link) {
    const rs_link_load *load = &a->loads[link];
    const rs_mat3 *rot = &a->motion[link].rot;
    rs_mat3 t = rs_m3_mul(rot, &load->arms); /* sum of arm * transpose(force); its skew part is the moment */
    rs_vec3 moment = rs_v3(t.m[5] - t.m[7], t.m[6] - t.m[2], t.m[1] - t.m[3]);
    rs_vec3 torque = rs_add(load->torque, rs_m3_mulv(rot, load->local_torque));
    return (rs_pair6){load->force, rs_add(moment, torque)};
}

void rs_rnea_wrenches(rs_articulation *a, rs_vec3 gravity, const double *udot, bool loaded) {
    a->acc[0] = (rs_pair6){rs_neg(gravity), rs_v3_zero()};
    if (!a->fixed_base && udot != NULL)
        a->acc[0] = (rs_pair6){rs_sub(rs_v3_load(udot), gravity), rs_v3_load(udot + 3)};
    a->force[0] = inertial_wrench(&a->mass[0], a->motion[0].w, a->acc[0]);
    for (int32_t k = 0; k < a->link_count - 1; k++) {
        int32_t i = a->order[k];
        a->acc[i] = carry_acceleration(a, i, udot);
        a->force[i] = inertial_wrench(&a->mass[i], a->motion[i].w, a->acc[i]);
    }
    for (int32_t i = 0; loaded && i < a->link_count; i++) {
        rs_pair6 load = rs_load_wrench(a, i);
        a->force[i].lin = rs_sub(a->force[i].lin, load.lin);
        a->force[i].ang = rs_sub(a->force[i].ang, load.ang);
    }
}

void rs_rnea_collect(rs_articulation *a, double *tau) {
    for (int32_t i = a->link_count - 1; i >= 0; i--) {
        const rs_link *link = &a->links[i];
        if (tau != NULL)
            rs_joint_project(link, &a->motion[i], &a->force[i], &tau[link->u_first]);
        if (i > 0)
            a->force[link->parent] = rs_pair6_add(a->force[link->parent], rs_shift_force(a->force[i], a->motion[i].arm));
    }
}

void rs_rnea(rs_articulation *a, rs_vec3 gravity, const double *udot, bool loaded, double *tau) {
    rs_rnea_wrenches(a, gravity, udot, loaded);
    rs_rnea_collect(a, tau);
    if (udot != NULL)
        for (int32_t k = 0; k < a->u_count; k++)
            tau[k] += a->rotor_inertia[k] * udot[k];
}
