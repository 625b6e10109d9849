#include "articulated.h"

/* A joint whose inertia is below this share of what moves with it has none. */
static const double SINGULAR_SHARE = 1e-13;

/* ---- factorisation ---- */

static rs_inertia6 rigid_inertia(const rs_link_mass *m) {
    rs_vec3 h = m->mass_com;
    return (rs_inertia6){.mass = {.xx = m->mass, .yy = m->mass, .zz = m->mass},
                         .couple = {{0, h.z, -h.y, -h.z, 0, h.x, h.y, -h.x, 0}},
                         .inertia = m->inertia};
}

/* Takes the rank-one part that the joint lets go out of the inertia that its parent feels. */
static void release_direction(rs_inertia6 *i, const rs_joint_factor *f) {
    rs_vec3 lin = rs_scale(f->d_inverse, f->u.lin);
    rs_mat3 couple = rs_outer(lin, f->u.ang);
    i->mass = rs_sym3_add_outer(&i->mass, -f->d_inverse, f->u.lin);
    for (int k = 0; k < 9; k++)
        i->couple.m[k] -= couple.m[k];
    i->inertia = rs_sym3_add_outer(&i->inertia, -f->d_inverse, f->u.ang);
}

static bool eliminate_revolute(rs_inertia6 *i, rs_vec3 axis, double weight, rs_joint_factor *f) {
    f->u = (rs_pair6){rs_m3_mulv(&i->couple, axis), rs_sym3_mulv(&i->inertia, axis)};
    double d = rs_dot(axis, f->u.ang) + weight;
    bool regular = d > SINGULAR_SHARE * (i->inertia.xx + i->inertia.yy + i->inertia.zz);
    f->d_inverse = 1.0 / d;
    release_direction(i, f);
    return regular;
}

static bool eliminate_prismatic(rs_inertia6 *i, rs_vec3 axis, double weight, rs_joint_factor *f) {
    f->u = (rs_pair6){rs_sym3_mulv(&i->mass, axis), rs_m3_tmulv(&i->couple, axis)};
    double d = rs_dot(axis, f->u.lin) + weight;
    bool regular = d > SINGULAR_SHARE * (i->mass.xx + i->mass.yy + i->mass.zz);
    f->d_inverse = 1.0 / d;
    release_direction(i, f);
    return regular;
}

/* The joint lets all rotation go. With D = inertia + W: inertia - inertia D^-1 inertia = W D^-1 inertia, which needs no
 * difference of large numbers, and likewise for the couple. */
static bool eliminate_spherical(rs_inertia6 *i, const rs_mat3 *frame, const double *weight, rs_joint_factor *f) {
    f->couple = i->couple;
    f->inertia = i->inertia;
    rs_sym3 d = i->inertia;
    bool even = weight[0] == weight[1] && weight[1] == weight[2];
    if (even) {
        d.xx += weight[0];
        d.yy += weight[0];
        d.zz += weight[0];
    } else {
        rs_sym3 turned = rs_rotate_diagonal(frame, weight);
        d = rs_sym3_add(&d, &turned);
    }
    double trace = d.xx + d.yy + d.zz;
    bool regular = rs_sym3_det(&d) > SINGULAR_SHARE * trace * trace * trace;
    f->d_inverse3 = rs_sym3_inverse(&d);
    rs_mat3 k = rs_m3_mul_sym3(&i->couple, &f->d_inverse3);
    i->mass = rs_sym3_sub_mul_t(&i->mass, &k, &f->couple);
    if (even) {
        rs_sym3 kept = rs_sym3_mul_symmetric(&f->d_inverse3, &f->inertia);
        for (int e = 0; e < 9; e++)
            i->couple.m[e] = weight[0] * k.m[e];
        i->inertia = (rs_sym3){weight[0] * kept.xx, weight[0] * kept.yy, weight[0] * kept.zz,
                               weight[0] * kept.xy, weight[0] * kept.xz, weight[0] * kept.yz};
    } else {
        rs_mat3 lost = rs_m3_mul_sym3(&k, &f->inertia);
        rs_mat3 full = {{f->inertia.xx, f->inertia.xy, f->inertia.xz, f->inertia.xy, f->inertia.yy, f->inertia.yz,
                         f->inertia.xz, f->inertia.yz, f->inertia.zz}};
        rs_mat3 scaled = rs_m3_mul_sym3(&full, &f->d_inverse3);
        for (int e = 0; e < 9; e++)
            i->couple.m[e] -= lost.m[e];
        i->inertia = rs_sym3_sub_mul_t(&i->inertia, &scaled, &full);
    }
    return regular;
}

/* Inverse of the base's 6x6 by blocks. */
static bool invert_base(rs_articulation *a, const double *weight) {
    rs_inertia6 i = a->articulated[0];
    i.mass = (rs_sym3){i.mass.xx + weight[0], i.mass.yy + weight[1], i.mass.zz + weight[2], i.mass.xy, i.mass.xz, i.mass.yz};
    i.inertia.xx += weight[3];
    i.inertia.yy += weight[4];
    i.inertia.zz += weight[5];
    double trace = i.inertia.xx + i.inertia.yy + i.inertia.zz;
    bool regular = rs_sym3_det(&i.inertia) > SINGULAR_SHARE * trace * trace * trace;
    rs_sym3 inverse = rs_sym3_inverse(&i.inertia);
    rs_mat3 k = rs_m3_mul_sym3(&i.couple, &inverse);
    rs_sym3 schur = rs_sym3_sub_mul_t(&i.mass, &k, &i.couple);
    regular = regular && rs_sym3_det(&schur) > 0.0;
    a->base_inverse_mass = rs_sym3_inverse(&schur);
    rs_mat3 kt = rs_m3_transpose(&k);
    rs_mat3 kts = rs_m3_mul_sym3(&kt, &a->base_inverse_mass); /* transpose of the upper right block, negative */
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            a->base_inverse_couple.m[3 * r + c] = -kts.m[3 * c + r];
    for (int e = 0; e < 9; e++)
        kts.m[e] = -kts.m[e];
    a->base_inverse_inertia = rs_sym3_sub_mul_t(&inverse, &kts, &kt);
    return regular;
}

bool rs_aba_factor(rs_articulation *a, const double *weight, int32_t *joint) {
    bool all_regular = true;
    for (int32_t i = 0; i < a->link_count; i++)
        a->articulated[i] = rigid_inertia(&a->mass[i]);
    for (int32_t i = a->link_count - 1; i > 0; i--) {
        const rs_link *link = &a->links[i];
        const rs_link_motion *m = &a->motion[i];
        rs_inertia6 *own = &a->articulated[i];
        bool regular;
        if (link->type == RS_JOINT_REVOLUTE)
            regular = eliminate_revolute(own, m->axis, weight[link->u_first], &a->factor[i]);
        else if (link->type == RS_JOINT_SPHERICAL)
            regular = eliminate_spherical(own, &m->joint_frame, &weight[link->u_first], &a->factor[i]);
        else
            regular = eliminate_prismatic(own, m->axis, weight[link->u_first], &a->factor[i]);
        if (!regular && all_regular) {
            all_regular = false;
            *joint = i;
        }
        if (link->parent > 0 || !a->fixed_base)
            rs_inertia6_add_shifted(&a->articulated[link->parent], own, m->arm);
    }
    if (!a->fixed_base && !invert_base(a, weight) && all_regular) {
        all_regular = false;
        *joint = 0;
    }
    return all_regular;
}

/* ---- solution ---- */

/* From the leaves: what each joint's force does to its parent. a->force collects the wrenches on the links; x takes
 * what is left for the joint to accelerate. */
static void collect(rs_articulation *a, const double *b, double *x) {
    for (int32_t i = a->link_count - 1; i > 0; i--) {
        const rs_link *link = &a->links[i];
        const rs_link_motion *m = &a->motion[i];
        const rs_joint_factor *f = &a->factor[i];
        rs_pair6 p = a->force[i];
        int32_t k = link->u_first;
        if (link->type == RS_JOINT_SPHERICAL) {
            rs_vec3 e = rs_sub(rs_m3_mulv(&m->joint_frame, rs_v3_load(&b[k])), p.ang);
            rs_vec3 z = rs_sym3_mulv(&f->d_inverse3, e);
            rs_v3_store(&x[k], e);
            p.lin = rs_add(p.lin, rs_m3_mulv(&f->couple, z));
            p.ang = rs_add(p.ang, rs_sym3_mulv(&f->inertia, z));
        } else {
            double e = b[k] - rs_dot(m->axis, link->type == RS_JOINT_REVOLUTE ? p.ang : p.lin);
            double z = e * f->d_inverse;
            x[k] = e;
            p.lin = rs_madd(p.lin, z, f->u.lin);
            p.ang = rs_madd(p.ang, z, f->u.ang);
        }
        a->force[link->parent] = rs_pair6_add(a->force[link->parent], rs_shift_force(p, m->arm));
    }
}

static void accelerate_base(rs_articulation *a, const double *b, double *x) {
    a->acc[0] = (rs_pair6){rs_v3_zero(), rs_v3_zero()};
    if (a->fixed_base)
        return;
    rs_vec3 f = rs_sub(rs_v3_load(b), a->force[0].lin), n = rs_sub(rs_v3_load(b + 3), a->force[0].ang);
    a->acc[0].lin = rs_add(rs_sym3_mulv(&a->base_inverse_mass, f), rs_m3_mulv(&a->base_inverse_couple, n));
    a->acc[0].ang = rs_add(rs_m3_tmulv(&a->base_inverse_couple, f), rs_sym3_mulv(&a->base_inverse_inertia, n));
    rs_v3_store(x, a->acc[0].lin);
    rs_v3_store(x + 3, a->acc[0].ang);
}

/* From the root: accelerations, each joint answering to what its parent does. */
static void accelerate(rs_articulation *a, double *x) {
    for (int32_t i = 1; i < a->link_count; i++) {
        const rs_link *link = &a->links[i];
        const rs_link_motion *m = &a->motion[i];
        const rs_joint_factor *f = &a->factor[i];
        rs_pair6 acc = rs_shift_motion(a->acc[link->parent], m->arm);
        int32_t k = link->u_first;
        if (link->type == RS_JOINT_SPHERICAL) {
            rs_vec3 e = rs_sub(rs_v3_load(&x[k]), rs_add(rs_m3_tmulv(&f->couple, acc.lin), rs_sym3_mulv(&f->inertia, acc.ang)));
            rs_vec3 z = rs_sym3_mulv(&f->d_inverse3, e);
            acc.ang = rs_add(acc.ang, z);
            rs_v3_store(&x[k], rs_m3_tmulv(&m->joint_frame, z));
        } else {
            x[k] = (x[k] - rs_dot(f->u.lin, acc.lin) - rs_dot(f->u.ang, acc.ang)) * f->d_inverse;
            if (link->type == RS_JOINT_REVOLUTE)
                acc.ang = rs_madd(acc.ang, x[k], m->axis);
            else
                acc.lin = rs_madd(acc.lin, x[k], m->axis);
        }
        a->acc[i] = acc;
    }
}

void rs_aba_solve(rs_articulation *a, const double *b, double *x) {
    for (int32_t i = 0; i < a->link_count; i++)
        a->force[i] = (rs_pair6){rs_v3_zero(), rs_v3_zero()};
    collect(a, b, x);
    accelerate_base(a, b, x);
    accelerate(a, x);
}
