/* The composite-rigid-body algorithm: the mass matrix of a tree. */
#include "articulated.h"

#include <string.h>

/* Rigid inertia of `from` seen from a point from which `r` leads to its own, added to `to`. */
static void add_shifted_mass(rs_link_mass *to, const rs_link_mass *from, rs_vec3 r) {
    double m = from->mass;
    rs_vec3 h = from->mass_com;
    double diagonal = 2.0 * rs_dot(r, h) + m * rs_norm2(r);
    to->mass += m;
    to->mass_com = rs_add(to->mass_com, rs_madd(h, m, r));
    to->inertia.xx += from->inertia.xx + diagonal - 2.0 * r.x * h.x - m * r.x * r.x;
    to->inertia.yy += from->inertia.yy + diagonal - 2.0 * r.y * h.y - m * r.y * r.y;
    to->inertia.zz += from->inertia.zz + diagonal - 2.0 * r.z * h.z - m * r.z * r.z;
    to->inertia.xy += from->inertia.xy - r.x * h.y - r.y * h.x - m * r.x * r.y;
    to->inertia.xz += from->inertia.xz - r.x * h.z - r.z * h.x - m * r.x * r.z;
    to->inertia.yz += from->inertia.yz - r.y * h.z - r.z * h.y - m * r.y * r.z;
}

void rs_composites_sum(rs_articulation *a) {
    memcpy(a->composite, a->mass, sizeof *a->mass * (size_t)a->link_count);
    for (int32_t i = a->link_count - 1; i > 0; i--)
        add_shifted_mass(&a->composite[a->links[i].parent], &a->composite[i], a->motion[i].arm);
}

rs_composite rs_composite_of(const rs_articulation *a, int32_t link) {
    const rs_link_mass *sum = &a->composite[link];
    rs_vec3 c = sum->mass > 0.0 ? rs_scale(1.0 / sum->mass, sum->mass_com) : rs_v3_zero();
    rs_link_mass about_com = {0};
    add_shifted_mass(&about_com, sum, rs_neg(c));
    return (rs_composite){sum->mass, rs_add(a->motion[link].pos, c), about_com.inertia};
}

/* ---- dense matrix ---- */

static rs_pair6 joint_column(const rs_articulation *a, int32_t i, int32_t k) {
    return rs_joint_column(&a->links[i], &a->motion[i], k);
}

static rs_pair6 momentum_of(const rs_link_mass *m, rs_pair6 motion) {
    return (rs_pair6){rs_add(rs_scale(m->mass, motion.lin), rs_cross(motion.ang, m->mass_com)),
                      rs_add(rs_sym3_mulv(&m->inertia, motion.ang), rs_cross(m->mass_com, motion.lin))};
}

/* Row of degree of freedom (i, k): the wrench of its composite body, projected on all joints up to the root. */
static void fill_row(const rs_articulation *a, int32_t i, int32_t k, double *out) {
    size_t n = (size_t)a->u_count, row = (size_t)(a->links[i].u_first + k);
    rs_pair6 f = momentum_of(&a->composite[i], joint_column(a, i, k));
    for (int32_t j = i; j >= 0; j = a->links[j].parent) {
        int32_t count = j == i ? k + 1 : a->links[j].u_count;
        for (int32_t l = 0; l < count; l++) {
            rs_pair6 s = joint_column(a, j, l);
            size_t column = (size_t)(a->links[j].u_first + l);
            out[n * row + column] = out[n * column + row] = rs_dot(s.lin, f.lin) + rs_dot(s.ang, f.ang);
        }
        f = rs_shift_force(f, a->motion[j].arm);
    }
}

void rs_crba(rs_articulation *a, double *out) {
    size_t n = (size_t)a->u_count;
    memset(out, 0, n * n * sizeof *out);
    rs_composites_sum(a);
    for (int32_t i = 0; i < a->link_count; i++)
        for (int32_t k = 0; k < a->links[i].u_count; k++)
            fill_row(a, i, k, out);
    for (size_t k = 0; k < n; k++)
        out[n * k + k] += a->rotor_inertia[k];
}

/* ---- product ---- */

void rs_mass_multiply(rs_articulation *a, const double *x, double *out) {
    a->acc[0] = (rs_pair6){rs_v3_zero(), rs_v3_zero()};
    for (int32_t i = 0; i < a->link_count; i++) {
        const rs_link *link = &a->links[i];
        if (i > 0)
            a->acc[i] = rs_shift_motion(a->acc[link->parent], a->motion[i].arm);
        for (int32_t k = 0; k < link->u_count; k++) {
            rs_pair6 s = joint_column(a, i, k);
            a->acc[i].lin = rs_madd(a->acc[i].lin, x[link->u_first + k], s.lin);
            a->acc[i].ang = rs_madd(a->acc[i].ang, x[link->u_first + k], s.ang);
        }
        a->force[i] = momentum_of(&a->mass[i], a->acc[i]);
    }
    for (int32_t i = a->link_count - 1; i >= 0; i--) {
        const rs_link *link = &a->links[i];
        for (int32_t k = 0; k < link->u_count; k++) {
            rs_pair6 s = joint_column(a, i, k);
            int32_t row = link->u_first + k;
            out[row] = rs_dot(s.lin, a->force[i].lin) + rs_dot(s.ang, a->force[i].ang) + a->rotor_inertia[row] * x[row];
        }
        if (i > 0)
            a->force[link->parent] = rs_pair6_add(a->force[link->parent], rs_shift_force(a->force[i], a->motion[i].arm));
    }
}
