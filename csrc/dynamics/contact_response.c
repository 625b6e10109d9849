#include "contact_response.h"
#include "../base/band.h"
#include "inertia6.h"
#include "lone_link.h"

/* ---- lanes: three axes at once ---- */

typedef struct {
    rs_lanes x, y, z;
} lanes3;
typedef struct {
    lanes3 lin, ang;
} lanes6;

static inline lanes3 add(lanes3 a, lanes3 b) { return (lanes3){a.x + b.x, a.y + b.y, a.z + b.z}; }
static inline lanes3 sub(lanes3 a, lanes3 b) { return (lanes3){a.x - b.x, a.y - b.y, a.z - b.z}; }
static inline rs_lanes dot(rs_vec3 a, lanes3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
/* a - s * b, a lane of s per axis */
static inline lanes3 msub(lanes3 a, rs_lanes s, rs_vec3 b) {
    return (lanes3){a.x - s * b.x, a.y - s * b.y, a.z - s * b.z};
}
static inline lanes3 cross(rs_vec3 a, lanes3 b) {
    return (lanes3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static inline lanes3 sym_mul(const rs_sym3 *s, lanes3 v) {
    return (lanes3){s->xx * v.x + s->xy * v.y + s->xz * v.z, s->xy * v.x + s->yy * v.y + s->yz * v.z,
                    s->xz * v.x + s->yz * v.y + s->zz * v.z};
}
static inline lanes3 mat_mul(const rs_mat3 *a, lanes3 v) {
    const double *m = a->m;
    return (lanes3){m[0] * v.x + m[1] * v.y + m[2] * v.z, m[3] * v.x + m[4] * v.y + m[5] * v.z,
                    m[6] * v.x + m[7] * v.y + m[8] * v.z};
}
static inline lanes3 mat_tmul(const rs_mat3 *a, lanes3 v) {
    const double *m = a->m;
    return (lanes3){m[0] * v.x + m[3] * v.y + m[6] * v.z, m[1] * v.x + m[4] * v.y + m[7] * v.z,
                    m[2] * v.x + m[5] * v.y + m[8] * v.z};
}
/* Matrix given by columns times vectors. */
static inline lanes3 columns_mul(const rs_lanes c[3], lanes3 v) {
    return (lanes3){c[0][0] * v.x + c[1][0] * v.y + c[2][0] * v.z, c[0][1] * v.x + c[1][1] * v.y + c[2][1] * v.z,
                    c[0][2] * v.x + c[1][2] * v.y + c[2][2] * v.z};
}
static inline lanes3 lanes_of(const rs_vec3 v[3]) {
    return (lanes3){(rs_lanes){v[0].x, v[1].x, v[2].x, 0.0}, (rs_lanes){v[0].y, v[1].y, v[2].y, 0.0},
                    (rs_lanes){v[0].z, v[1].z, v[2].z, 0.0}};
}

/* ---- points ---- */

void rs_response_begin(rs_articulation *a) {
    double mass = a->mass[0].mass;
    rs_kinematics_move(a, rs_is_lone_link(a) ? a->u_ahead : a->u); /* what contacts find */
    a->free_motion[0] = a->fixed_base ? (rs_pair6){rs_v3_zero(), rs_v3_zero()}
                                      : (rs_pair6){rs_v3_load(a->u_free), rs_v3_load(a->u_free + 3)};
    for (int32_t n = 0; n < a->link_count - 1; n++) {
        int32_t i = a->order[n];
        const rs_link *link = &a->links[i];
        const rs_link_motion *m = &a->motion[i];
        rs_pair6 v = rs_shift_motion(a->free_motion[link->parent], m->arm);
        rs_joint_move(link, m, &a->u_free[link->u_first], &v);
        a->free_motion[i] = v;
        mass += a->mass[i].mass;
    }
    a->inverse_mass = 1.0 / mass;
}

void rs_response_spread(rs_articulation *a, double *u) {
    rs_aba_spread(a, a->reduced);
    for (int32_t k = 0; k < a->u_count; k++)
        u[k] = a->u_free[k] + a->reduced[k];
}

void rs_response_end(rs_articulation *a, bool pushed) {
    for (int32_t k = 0; k < a->u_count; k++) {
        a->u_free[k] += a->reduced[k];
        a->reduced[k] = 0.0;
    }
    if (pushed)
        rs_aba_spread(a, a->u_push);
}

/* A block of three velocities from number k on. */
static void store_block(double *out, int32_t k, const rs_sym3 *s) {
    *rs_band_at(out, k, k) = s->xx;
    *rs_band_at(out, k + 1, k) = s->xy;
    *rs_band_at(out, k + 1, k + 1) = s->yy;
    *rs_band_at(out, k + 2, k) = s->xz;
    *rs_band_at(out, k + 2, k + 1) = s->yz;
    *rs_band_at(out, k + 2, k + 2) = s->zz;
}

static void store_base(const rs_articulation *a, double *out) {
    const rs_inertia6 *base = &a->articulated[0];
    rs_sym3 mass = rs_sym3_of_columns(base->mass), inertia = rs_sym3_of_columns(base->inertia);
    rs_mat3 couple = rs_m3_of_columns(base->couple);
    mass.xx += a->weight[0];
    mass.yy += a->weight[1];
    mass.zz += a->weight[2];
    inertia.xx += a->weight[3];
    inertia.yy += a->weight[4];
    inertia.zz += a->weight[5];
    store_block(out, 0, &mass);
    store_block(out, 3, &inertia);
    for (int r = 0; r < 3; r++) /* moment per linear acceleration: the couple transposed */
        for (int c = 0; c < 3; c++)
            *rs_band_at(out, 3 + r, c) = couple.m[3 * c + r];
}

void rs_response_inertia(const rs_articulation *a, double *out) {
    if (!a->fixed_base)
        store_base(a, out);
    for (int32_t i = 1; i < a->link_count; i++) {
        int32_t k = a->links[i].u_first;
        if (rs_joint_is_ball(&a->links[i])) {
            rs_sym3 inverse = rs_sym3_of_columns(a->factor[i].d_inverse3), d = rs_sym3_inverse(&inverse);
            store_block(out, k, &d);
        } else if (a->links[i].u_count == 1) {
            *rs_band_at(out, k, k) = 1.0 / a->factor[i].d_inverse;
        }
    }
}

rs_vec3 rs_free_velocity_along(const rs_articulation *a, const rs_row_point *at) {
    rs_pair6 motion = rs_shift_motion(a->free_motion[at->link], rs_sub(at->point, a->motion[at->link].pos));
    rs_vec3 v = at->turns ? motion.ang : motion.lin;
    return rs_v3(rs_dot(v, at->axes[0]), rs_dot(v, at->axes[1]), rs_dot(v, at->axes[2]));
}

static inline void write_entry(rs_row_entry *out, int32_t index, rs_lanes jacobian, rs_lanes response) {
    rs_v4_store(&out->jacobian, jacobian);
    out->response = rs_lanes_vec3(response);
    out->index = index;
}

/* How joint i gives way to the wrench f on its link, which becomes the one that it passes on. */
static inline int32_t release_joint(const rs_articulation *a, int32_t i, lanes6 *f, rs_row_entry *out) {
    const rs_link *link = &a->links[i];
    const rs_joint_factor *factor = &a->factor[i];
    int32_t k = link->u_first;
    if (rs_joint_is_ball(link)) {
        lanes3 z = columns_mul(factor->d_inverse3, f->ang);
        write_entry(&out[0], k, f->ang.x, z.x);
        write_entry(&out[1], k + 1, f->ang.y, z.y);
        write_entry(&out[2], k + 2, f->ang.z, z.z);
        f->lin = sub(f->lin, columns_mul(factor->couple, z));
        f->ang = sub(f->ang, columns_mul(factor->inertia, z));
        return 3;
    }
    rs_lanes e = dot(a->motion[i].axis, rs_joint_slides(link) ? f->lin : f->ang), z = e * factor->d_inverse;
    write_entry(out, k, e, z);
    f->lin = msub(f->lin, z, factor->u.lin);
    f->ang = msub(f->ang, z, factor->u.ang);
    return 1;
}

/* The same wrench about the origin of the parent. */
static inline void carry_to_parent(const rs_articulation *a, int32_t i, lanes6 *f) {
    f->ang = add(f->ang, cross(a->motion[i].arm, f->lin));
}

/* From a link up to its ancestor `top`, which is not released. */
static int32_t climb(const rs_articulation *a, int32_t link, int32_t top, lanes6 *f, rs_row_entry *out) {
    int32_t count = 0;
    for (int32_t i = link; i != top; i = a->links[i].parent) {
        count += release_joint(a, i, f, &out[count]);
        carry_to_parent(a, i, f);
    }
    return count;
}

static int32_t move_base(const rs_articulation *a, const lanes6 *f, rs_row_entry *out) {
    if (a->fixed_base)
        return 0;
    lanes3 lin = add(sym_mul(&a->base_inverse_mass, f->lin), mat_mul(&a->base_inverse_couple, f->ang));
    lanes3 ang = add(mat_tmul(&a->base_inverse_couple, f->lin), sym_mul(&a->base_inverse_inertia, f->ang));
    write_entry(&out[0], 0, f->lin.x, lin.x);
    write_entry(&out[1], 1, f->lin.y, lin.y);
    write_entry(&out[2], 2, f->lin.z, lin.z);
    write_entry(&out[3], 3, f->ang.x, ang.x);
    write_entry(&out[4], 4, f->ang.y, ang.y);
    write_entry(&out[5], 5, f->ang.z, ang.z);
    return 6;
}

/* Unit impulses along the axes, as wrenches about the origin of the link. */
static lanes6 unit_impulses(const rs_articulation *a, const rs_row_point *at) {
    lanes3 lin = lanes_of(at->axes);
    if (at->turns)
        return (lanes6){.ang = lin};
    return (lanes6){lin, cross(rs_sub(at->point, a->motion[at->link].pos), lin)};
}

static int32_t common_ancestor(const rs_articulation *a, int32_t i, int32_t j) {
    while (i != j) { /* parents have smaller numbers */
        if (i > j)
            i = a->links[i].parent;
        else
            j = a->links[j].parent;
    }
    return i;
}

int32_t rs_point_response(const rs_articulation *a, const rs_row_point *points, int32_t count, rs_row_entry *out) {
    lanes6 f = unit_impulses(a, &points[0]);
    int32_t top = points[0].link, entries = 0;
    if (count > 1) { /* the wrenches join where the ways do */
        lanes6 g = unit_impulses(a, &points[1]);
        top = common_ancestor(a, top, points[1].link);
        entries += climb(a, points[0].link, top, &f, out);
        entries += climb(a, points[1].link, top, &g, &out[entries]);
        f = (lanes6){add(f.lin, g.lin), add(f.ang, g.ang)};
    }
    entries += climb(a, top, 0, &f, &out[entries]);
    return entries + move_base(a, &f, &out[entries]);
}

/* ---- joints ---- */

static rs_vec3 torque_in_world(const rs_articulation *a, const rs_joint_torque *torque) {
    const rs_link_motion *m = &a->motion[torque->link];
    return rs_joint_is_ball(&a->links[torque->link]) ? rs_m3_mulv(&m->joint_frame, torque->along)
                                                     : rs_scale(torque->along.x, m->axis);
}

/* A torque of a joint, as a wrench on its link along the third axis. */
static lanes6 wrench_of(const rs_articulation *a, const rs_joint_torque *torque) {
    const rs_link *link = &a->links[torque->link];
    rs_vec3 along = torque_in_world(a, torque);
    lanes3 third = {(rs_lanes){0.0, 0.0, along.x, 0.0}, (rs_lanes){0.0, 0.0, along.y, 0.0},
                    (rs_lanes){0.0, 0.0, along.z, 0.0}};
    lanes6 wrench = {0};
    *(rs_joint_slides(link) ? &wrench.lin : &wrench.ang) = third;
    return wrench;
}

/* Releases a joint in which `own` acts, too, on its link and back on the parent. */
static int32_t release_with(const rs_articulation *a, int32_t i, const lanes6 *own, lanes6 *f, rs_row_entry *out) {
    *f = (lanes6){add(f->lin, own->lin), add(f->ang, own->ang)};
    int32_t count = release_joint(a, i, f, out);
    *f = (lanes6){sub(f->lin, own->lin), sub(f->ang, own->ang)};
    carry_to_parent(a, i, f);
    return count;
}

/* climb() from the joint of a torque. */
static int32_t climb_with(const rs_articulation *a, const rs_joint_torque *torque, int32_t top, lanes6 *f, rs_row_entry *out) {
    lanes6 own = wrench_of(a, torque);
    int32_t count = release_with(a, torque->link, &own, f, out);
    return count + climb(a, a->links[torque->link].parent, top, f, &out[count]);
}

/* ---- tendons ---- */

static void write_third(rs_row_entry *out, int32_t index, double jacobian, double response) {
    write_entry(out, index, (rs_lanes){0.0, 0.0, jacobian, 0.0}, (rs_lanes){0.0, 0.0, response, 0.0});
}

static int32_t write_third_axes(rs_row_entry *out, int32_t index, rs_vec3 jacobian, rs_vec3 response) {
    for (int k = 0; k < 3; k++)
        write_third(&out[k], index + k, rs_v3_get(jacobian, k), rs_v3_get(response, k));
    return 3;
}

/* How a joint with the forces `own` in it gives way to the wrench f on its link, which becomes the one that it passes on. */
static int32_t release_pulled(const rs_articulation *a, int32_t i, const double *own, rs_pair6 *f, rs_row_entry *out) {
    const rs_link *link = &a->links[i];
    const rs_joint_factor *factor = &a->factor[i];
    if (rs_joint_is_ball(link)) {
        rs_mat3 inverse = rs_m3_of_columns(factor->d_inverse3), couple = rs_m3_of_columns(factor->couple);
        rs_mat3 inertia = rs_m3_of_columns(factor->inertia);
        rs_vec3 e = rs_add(f->ang, rs_m3_mulv(&a->motion[i].joint_frame, rs_v3_load(own))), z = rs_m3_mulv(&inverse, e);
        f->lin = rs_sub(f->lin, rs_m3_mulv(&couple, z));
        f->ang = rs_sub(f->ang, rs_m3_mulv(&inertia, z));
        return write_third_axes(out, link->u_first, e, z);
    }
    double e = rs_joint_along_axis(link, &a->motion[i], f) + own[0];
    double z = e * factor->d_inverse;
    write_third(out, link->u_first, e, z);
    f->lin = rs_madd(f->lin, -z, factor->u.lin);
    f->ang = rs_madd(f->ang, -z, factor->u.ang);
    return 1;
}

static int32_t move_pulled_base(const rs_articulation *a, const double *own, rs_pair6 f, rs_row_entry *out) {
    f = rs_pair6_add(f, (rs_pair6){rs_v3_load(own), rs_v3_load(own + 3)});
    rs_vec3 lin = rs_add(rs_sym3_mulv(&a->base_inverse_mass, f.lin), rs_m3_mulv(&a->base_inverse_couple, f.ang));
    rs_vec3 ang = rs_add(rs_m3_tmulv(&a->base_inverse_couple, f.lin), rs_sym3_mulv(&a->base_inverse_inertia, f.ang));
    return write_third_axes(out, 0, f.lin, lin) + write_third_axes(out + 3, 3, f.ang, ang);
}

/* ---- one joint ---- */

/* A wrench by its parts: x, y, z and a number of no meaning. Fields of the structs that are read as such have others behind
 * them. */
typedef struct {
    rs_lanes lin, ang;
} wrench;

/* How joint i gives way to the wrench f on its link, which becomes the one that it passes on. */
static inline int32_t release_to_wrench(const rs_articulation *a, int32_t i, wrench *f, rs_row_entry *out) {
    const rs_link *link = &a->links[i];
    const rs_joint_factor *factor = &a->factor[i];
    if (rs_joint_is_ball(link)) {
        static const double none[3] = {0.0, 0.0, 0.0};
        rs_pair6 pair = {rs_lanes_vec3(f->lin), rs_lanes_vec3(f->ang)};
        int32_t count = release_pulled(a, i, none, &pair, out);
        *f = (wrench){rs_lanes_of(pair.lin), rs_lanes_of(pair.ang)};
        return count;
    }
    rs_lanes parts = rs_v4_read(&a->motion[i].axis.x) * (rs_joint_slides(link) ? f->lin : f->ang);
    double e = parts[0] + parts[1] + parts[2], z = e * factor->d_inverse;
    write_third(out, link->u_first, e, z);
    f->lin -= z * rs_v4_read(&factor->u.lin.x);
    f->ang -= z * rs_v4_read(&factor->u.ang.x);
    return 1;
}

/* rs_torque_response() of one torque: in a row with one axis a register holds the parts of a vector, not the axes. */
static int32_t respond_to_one(const rs_articulation *a, const rs_joint_torque *torque, rs_row_entry *out) {
    static const double none[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    const rs_link *link = &a->links[torque->link];
    rs_lanes along = rs_lanes_of(torque_in_world(a, torque));
    wrench own = {0};
    *(rs_joint_slides(link) ? &own.lin : &own.ang) = along;
    wrench f = own;
    int32_t count = release_to_wrench(a, torque->link, &f, out);
    f.lin -= own.lin; /* it acts back on the parent */
    f.ang -= own.ang;
    f.ang += rs_v4_cross(rs_v4_read(&a->motion[torque->link].arm.x), f.lin);
    for (int32_t i = link->parent; i != 0; i = a->links[i].parent) {
        count += release_to_wrench(a, i, &f, &out[count]);
        f.ang += rs_v4_cross(rs_v4_read(&a->motion[i].arm.x), f.lin);
    }
    rs_pair6 base = {rs_lanes_vec3(f.lin), rs_lanes_vec3(f.ang)};
    return count + (a->fixed_base ? 0 : move_pulled_base(a, none, base, &out[count]));
}

int32_t rs_torque_response(const rs_articulation *a, const rs_joint_torque *torques, int32_t count, rs_row_entry *out) {
    if (count == 1)
        return respond_to_one(a, &torques[0], out);
    lanes6 f = {0};
    int32_t top = common_ancestor(a, torques[0].link, torques[1].link), entries = 0;
    const rs_joint_torque *at_top = NULL;
    for (int k = 0; k < 2; k++) { /* the wrenches join where the ways do, which may be in one of the joints */
        lanes6 g = {0};
        if (torques[k].link == top) {
            at_top = &torques[k];
            continue;
        }
        entries += climb_with(a, &torques[k], top, &g, &out[entries]);
        f = (lanes6){add(f.lin, g.lin), add(f.ang, g.ang)};
    }
    if (at_top != NULL)
        entries += climb_with(a, at_top, 0, &f, &out[entries]);
    else
        entries += climb(a, top, 0, &f, &out[entries]);
    return entries + move_base(a, &f, &out[entries]);
}

int32_t rs_tendon_response(const rs_articulation *a, const rs_tendon *tendon, double sign, rs_row_entry *out) {
    int32_t count = 0, dof = tendon->dof_first, dof_end = dof + tendon->dof_count;
    for (int32_t k = tendon->link_first; k < tendon->link_first + tendon->link_count; k++) {
        int32_t i = a->tendon_links[k];
        const rs_link *link = &a->links[i];
        double own[6] = {0};
        if (dof < dof_end && a->tendon_dofs[dof] == link->u_first)
            for (int32_t n = 0; n < link->u_count; n++)
                own[n] = sign * a->arms[dof++];
        rs_pair6 f = a->pull[i];
        a->pull[i] = (rs_pair6){0};
        if (i == 0) {
            count += a->fixed_base ? 0 : move_pulled_base(a, own, f, &out[count]);
            continue;
        }
        count += release_pulled(a, i, own, &f, &out[count]);
        a->pull[link->parent] = rs_pair6_add(a->pull[link->parent], rs_shift_force(f, a->motion[i].arm));
    }
    return count;
}
