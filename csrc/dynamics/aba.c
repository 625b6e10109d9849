/* The articulated-body algorithm: accelerations of a tree from the forces on it. */
#include "articulated.h"
#include "inertia6.h"

#include <string.h>

/* A joint whose inertia is below this share of what moves with it has none. */
static const double SINGULAR_SHARE = 1e-13;

/* ---- factorisation ---- */

/* Weights of a factorisation. */
typedef struct {
    double *weight;
    double *force;   /* changes with the weights of stiff joints, */
    double stiff_dt; /* which are looked for when this is not 0 */
} weights;

/* Weight of a degree of freedom with which the inertia `own` moves. */
static inline double weigh(const rs_articulation *a, const weights *w, int32_t k, double own) {
    if (w->stiff_dt > 0.0 && own < a->stiff_below[k])
        w->weight[k] = rs_actuation_stiffen(a, k, own, w->stiff_dt, &w->force[k]);
    return w->weight[k];
}

/* The same where the line through a joint is too taut for the step. */
static inline void brake(const rs_articulation *a, const weights *w, int32_t k) {
    if (w->stiff_dt > 0.0 && a->taut && a->brake[k] > 0.0) {
        w->weight[k] += a->brake[k];
        w->force[k] -= a->brake[k] / w->stiff_dt * a->u[k];
    }
}

/* Takes the rank-one part that the joint lets go out of the inertia that its parent feels. `d` is the inertia along
 * the joint; false when it is none beside `scale`. */
static inline bool release_direction(rs_inertia6 *i, rs_lanes lin, rs_lanes ang, double d, double scale,
                                     rs_joint_factor *f) {
    f->u = (rs_pair6){rs_lanes_vec3(lin), rs_lanes_vec3(ang)};
    f->d_inverse = 1.0 / d;
    rs_lanes k_lin = lin * f->d_inverse, k_ang = ang * f->d_inverse;
    rs_columns_sub_outer(i->mass, lin, k_lin);
    rs_columns_sub_outer(i->couple, lin, k_ang);
    rs_columns_sub_outer(i->inertia, ang, k_ang);
    return d > SINGULAR_SHARE * scale;
}

static inline bool eliminate_revolute(rs_articulation *a, int32_t link, const weights *w) {
    rs_inertia6 *i = &a->articulated[link];
    rs_vec3 axis = a->motion[link].axis;
    rs_lanes lin = rs_lanes_mulv(i->couple, axis), ang = rs_lanes_mulv(i->inertia, axis);
    int32_t k = a->links[link].u_first;
    double own = rs_dot(axis, rs_lanes_vec3(ang));
    weigh(a, w, k, own);
    brake(a, w, k);
    double d = own + w->weight[k];
    double scale = i->inertia[0][0] + i->inertia[1][1] + i->inertia[2][2];
    return release_direction(i, lin, ang, d, scale, &a->factor[link]);
}

static inline bool eliminate_prismatic(rs_articulation *a, int32_t link, const weights *w) {
    rs_inertia6 *i = &a->articulated[link];
    rs_vec3 axis = a->motion[link].axis;
    rs_mat3 couple = rs_m3_of_columns(i->couple);
    rs_lanes lin = rs_lanes_mulv(i->mass, axis), ang = rs_lanes_of(rs_m3_tmulv(&couple, axis));
    double own = rs_dot(axis, rs_lanes_vec3(lin)), d = own + weigh(a, w, a->links[link].u_first, own);
    double scale = i->mass[0][0] + i->mass[1][1] + i->mass[2][2];
    return release_direction(i, lin, ang, d, scale, &a->factor[link]);
}

/* out = a * b for matrices of columns. */
static inline void columns_mul(const rs_lanes a[3], const rs_lanes b[3], rs_lanes out[3]) {
    for (int j = 0; j < 3; j++)
        out[j] = a[0] * b[j][0] + a[1] * b[j][1] + a[2] * b[j][2];
}

static inline bool is_even(const double *weight) { return weight[0] == weight[1] && weight[1] == weight[2]; }

/* Inertia with the weights of a spherical joint, world axes. */
static inline rs_sym3 add_weight(const rs_sym3 *own, const rs_mat3 *frame, const double *weight) {
    rs_sym3 d = *own;
    if (is_even(weight)) {
        d.xx += weight[0];
        d.yy += weight[0];
        d.zz += weight[0];
        return d;
    }
    rs_sym3 turned = rs_rotate_diagonal(frame, weight);
    return rs_sym3_add(&d, &turned);
}

/* weigh() for the axes of a spherical joint. Each moves as if the others were free. */
static void weigh_spherical(const rs_articulation *a, int32_t link, const weights *w, const rs_sym3 *own) {
    int32_t k = a->links[link].u_first;
    rs_sym3 d = add_weight(own, &a->motion[link].joint_frame, &a->rotor_inertia[k]), inverse = rs_sym3_inverse(&d);
    for (int axis = 0; axis < 3; axis++) {
        rs_vec3 along = rs_m3_col(&a->motion[link].joint_frame, axis);
        double gives_way = rs_dot(along, rs_sym3_mulv(&inverse, along));
        weigh(a, w, k + axis, gives_way > 0.0 ? 1.0 / gives_way - a->rotor_inertia[k + axis] : 0.0);
    }
}

/* The joint lets all rotation go. With D = inertia + W and W a multiple w of the identity, inertia - inertia D^-1 inertia
 * = w D^-1 inertia, which needs no difference of large numbers, and likewise for the couple. */
static inline bool eliminate_spherical(rs_articulation *a, int32_t link, const weights *w) {
    rs_inertia6 *i = &a->articulated[link];
    rs_joint_factor *f = &a->factor[link];
    const rs_mat3 *frame = &a->motion[link].joint_frame;
    double *weight = &w->weight[a->links[link].u_first];
    memcpy(f->couple, i->couple, sizeof f->couple);
    memcpy(f->inertia, i->inertia, sizeof f->inertia);
    rs_sym3 own = rs_sym3_of_columns(i->inertia), d = add_weight(&own, frame, weight);
    double trace = d.xx + d.yy + d.zz, det = rs_sym3_det(&d);
    const double *below = &a->stiff_below[a->links[link].u_first];
    double stiff = rs_max(below[0], rs_max(below[1], below[2])) + rs_max(weight[0], rs_max(weight[1], weight[2]));
    bool is_stiff = w->stiff_dt > 0.0 && stiff * trace * trace > 4.0 * det; /* the smallest moment is at least 4 det / trace^2 */
    if (is_stiff)
        weigh_spherical(a, link, w, &own);
    for (int32_t k = 0; k < 3; k++)
        brake(a, w, a->links[link].u_first + k);
    if (is_stiff || (w->stiff_dt > 0.0 && a->taut)) {
        d = add_weight(&own, frame, weight);
        trace = d.xx + d.yy + d.zz;
        det = rs_sym3_det(&d);
    }
    bool even = is_even(weight), regular = det > SINGULAR_SHARE * trace * trace * trace;
    d = rs_sym3_inverse(&d);
    rs_columns_of_sym3(&d, f->d_inverse3);

    rs_lanes k[3]; /* couple * D^-1 */
    columns_mul(i->couple, f->d_inverse3, k);
    for (int j = 0; j < 3; j++) /* mass -= k * transpose(couple) */
        rs_columns_sub_outer(i->mass, k[j], i->couple[j]);
    rs_lanes kept[3];
    columns_mul(f->d_inverse3, i->inertia, kept);
    if (even) {
        for (int j = 0; j < 3; j++) {
            i->couple[j] = weight[0] * k[j];
            i->inertia[j] = weight[0] * kept[j];
        }
    } else {
        rs_lanes lost[3], lost_inertia[3];
        columns_mul(k, i->inertia, lost);
        columns_mul(i->inertia, kept, lost_inertia);
        for (int j = 0; j < 3; j++) {
            i->couple[j] -= lost[j];
            i->inertia[j] -= lost_inertia[j];
        }
    }
    return regular;
}

/* Inverse of the base's 6x6 by blocks. */
static bool invert_base(rs_articulation *a, const double *weight) {
    const rs_inertia6 *i = &a->articulated[0];
    rs_sym3 mass = rs_sym3_of_columns(i->mass), inertia = rs_sym3_of_columns(i->inertia);
    rs_mat3 couple = rs_m3_of_columns(i->couple);
    mass.xx += weight[0];
    mass.yy += weight[1];
    mass.zz += weight[2];
    inertia.xx += weight[3];
    inertia.yy += weight[4];
    inertia.zz += weight[5];
    double trace = inertia.xx + inertia.yy + inertia.zz;
    bool regular = rs_sym3_det(&inertia) > SINGULAR_SHARE * trace * trace * trace;
    rs_sym3 inverse = rs_sym3_inverse(&inertia);
    rs_mat3 k = rs_m3_mul_sym3(&couple, &inverse);
    rs_sym3 schur = rs_sym3_sub_mul_t(&mass, &k, &couple);
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

/* Eliminates joint i and hands what is left of its inertia to the parent. */
static inline bool factor_link(rs_articulation *a, int32_t i, const weights *w) {
    const rs_link *link = &a->links[i];
    const rs_link_motion *m = &a->motion[i];
    rs_inertia6 *own = &a->articulated[i];
    bool regular;
    if (rs_joint_turns(link))
        regular = eliminate_revolute(a, i, w);
    else if (rs_joint_is_ball(link))
        regular = eliminate_spherical(a, i, w);
    else
        regular = eliminate_prismatic(a, i, w);
    if (link->parent > 0 || !a->fixed_base)
        rs_inertia6_add_shifted(&a->articulated[link->parent], own, m->arm);
    return regular;
}

static void begin_factor(rs_articulation *a) {
    for (int32_t i = 0; i < a->link_count; i++)
        a->articulated[i] = rs_inertia6_rigid(&a->mass[i]);
}

static void add_taut_inertia(rs_articulation *a) {
    for (int32_t i = 0; i < a->link_count; i++) {
        rs_lanes more[3];
        rs_columns_of_sym3(&a->tension[i].inertia, more);
        for (int k = 0; k < 3; k++)
            a->articulated[i].inertia[k] += more[k];
    }
}

bool rs_aba_factor(rs_articulation *a, double *weight, int32_t *joint) {
    bool regular = true;
    weights w = {weight, NULL, 0.0};
    begin_factor(a);
    for (int32_t k = a->link_count - 2; k >= 0; k--)
        if (!factor_link(a, a->order[k], &w) && regular) {
            regular = false;
            *joint = a->order[k];
        }
    if (!a->fixed_base && !invert_base(a, weight) && regular) {
        regular = false;
        *joint = 0;
    }
    return regular;
}

/* ---- solution ---- */

/* What the force of joint i does to its parent. a->force collects the wrenches on the links; x takes the reduced
 * acceleration: the joint's own, if its parent stood still. */
static inline void collect_link(rs_articulation *a, int32_t i, const double *b, double *x) {
    const rs_link *link = &a->links[i];
    const rs_link_motion *m = &a->motion[i];
    const rs_joint_factor *f = &a->factor[i];
    rs_pair6 p = a->force[i];
    int32_t k = link->u_first;
    if (rs_joint_is_ball(link)) {
        rs_vec3 e = rs_sub(rs_m3_mulv(&m->joint_frame, rs_v3_load(&b[k])), p.ang);
        rs_vec3 z = rs_lanes_vec3(rs_lanes_mulv(f->d_inverse3, e));
        rs_v3_store(&x[k], z);
        p.lin = rs_add(p.lin, rs_lanes_vec3(rs_lanes_mulv(f->couple, z)));
        p.ang = rs_add(p.ang, rs_lanes_vec3(rs_lanes_mulv(f->inertia, z)));
    } else {
        double z = (b[k] - rs_joint_along_axis(link, m, &p)) * f->d_inverse;
        x[k] = z;
        p.lin = rs_madd(p.lin, z, f->u.lin);
        p.ang = rs_madd(p.ang, z, f->u.ang);
    }
    a->force[link->parent] = rs_pair6_add(a->force[link->parent], rs_shift_force(p, m->arm));
}

static void accelerate_base(rs_articulation *a, const double *b, double *x) {
    if (a->fixed_base)
        return;
    rs_vec3 f = rs_sub(rs_v3_load(b), a->force[0].lin), n = rs_sub(rs_v3_load(b + 3), a->force[0].ang);
    rs_v3_store(x, rs_add(rs_sym3_mulv(&a->base_inverse_mass, f), rs_m3_mulv(&a->base_inverse_couple, n)));
    rs_v3_store(x + 3, rs_add(rs_m3_tmulv(&a->base_inverse_couple, f), rs_sym3_mulv(&a->base_inverse_inertia, n)));
}

void rs_aba_spread(rs_articulation *a, double *x) {
    a->acc[0] = a->fixed_base ? (rs_pair6){rs_v3_zero(), rs_v3_zero()} : (rs_pair6){rs_v3_load(x), rs_v3_load(x + 3)};
    for (int32_t n = 0; n < a->link_count - 1; n++) {
        int32_t i = a->order[n];
        const rs_link *link = &a->links[i];
        const rs_link_motion *m = &a->motion[i];
        const rs_joint_factor *f = &a->factor[i];
        rs_pair6 acc = rs_shift_motion(a->acc[link->parent], m->arm);
        int32_t k = link->u_first;
        if (rs_joint_is_ball(link)) {
            rs_vec3 e = rs_lanes_vec3(rs_lanes_mulv(f->inertia, acc.ang));
            for (int c = 0; c < 3; c++) /* e += transpose(couple) * acceleration */
                rs_v3_set(&e, c, rs_v3_get(e, c) + rs_dot(rs_lanes_vec3(f->couple[c]), acc.lin));
            rs_vec3 z = rs_sub(rs_v3_load(&x[k]), rs_lanes_vec3(rs_lanes_mulv(f->d_inverse3, e)));
            acc.ang = rs_add(acc.ang, z);
            rs_v3_store(&x[k], rs_m3_tmulv(&m->joint_frame, z));
        } else {
            x[k] -= (rs_dot(f->u.lin, acc.lin) + rs_dot(f->u.ang, acc.ang)) * f->d_inverse;
            rs_joint_move(link, m, &x[k], &acc);
        }
        a->acc[i] = acc;
    }
}

void rs_aba_solve(rs_articulation *a, const double *b, double *x) {
    for (int32_t i = 0; i < a->link_count; i++)
        a->force[i] = (rs_pair6){rs_v3_zero(), rs_v3_zero()};
    rs_aba_solve_loaded(a, b, x);
}

void rs_aba_solve_loaded(rs_articulation *a, const double *b, double *x) {
    for (int32_t k = a->link_count - 2; k >= 0; k--)
        collect_link(a, a->order[k], b, x);
    accelerate_base(a, b, x);
    rs_aba_spread(a, x);
}

bool rs_aba_factor_and_solve(rs_articulation *a, double *weight, double *b, double *x, double stiff_dt) {
    bool regular = true;
    weights w = {weight, b, stiff_dt};
    begin_factor(a);
    if (stiff_dt > 0.0 && a->taut)
        add_taut_inertia(a);
    for (int32_t k = a->link_count - 2; k >= 0; k--) {
        regular &= factor_link(a, a->order[k], &w);
        collect_link(a, a->order[k], b, x);
    }
    if (!a->fixed_base)
        regular &= invert_base(a, weight);
    accelerate_base(a, b, x);
    rs_aba_spread(a, x);
    return regular;
}
