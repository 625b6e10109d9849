/* Spatial algebra in world axes: accelerations and wrenches as pairs, 6x6 inertias as blocks. */
#ifndef RS_DYNAMICS_SPATIAL_H
#define RS_DYNAMICS_SPATIAL_H

#include "../model/articulation.h"

static inline rs_pair6 rs_pair6_add(rs_pair6 a, rs_pair6 b) { return (rs_pair6){rs_add(a.lin, b.lin), rs_add(a.ang, b.ang)}; }


/* a * transpose(b) */
static inline rs_mat3 rs_outer(rs_vec3 a, rs_vec3 b) {
    return (rs_mat3){{a.x * b.x, a.x * b.y, a.x * b.z, a.y * b.x, a.y * b.y, a.y * b.z, a.z * b.x, a.z * b.y, a.z * b.z}};
}

static inline rs_sym3 rs_sym3_scale(double s, const rs_sym3 *a) {
    return (rs_sym3){s * a->xx, s * a->yy, s * a->zz, s * a->xy, s * a->xz, s * a->yz};
}
static inline rs_sym3 rs_sym3_add(const rs_sym3 *a, const rs_sym3 *b) {
    return (rs_sym3){a->xx + b->xx, a->yy + b->yy, a->zz + b->zz, a->xy + b->xy, a->xz + b->xz, a->yz + b->yz};
}

/* m * s, s symmetric */
static inline rs_mat3 rs_m3_mul_sym3(const rs_mat3 *m, const rs_sym3 *s) {
    rs_mat3 out;
    for (int r = 0; r < 3; r++) {
        double a = m->m[3 * r], b = m->m[3 * r + 1], c = m->m[3 * r + 2];
        out.m[3 * r] = a * s->xx + b * s->xy + c * s->xz;
        out.m[3 * r + 1] = a * s->xy + b * s->yy + c * s->yz;
        out.m[3 * r + 2] = a * s->xz + b * s->yz + c * s->zz;
    }
    return out;
}

/* a - m * transpose(n), known to be symmetric */
static inline rs_sym3 rs_sym3_sub_mul_t(const rs_sym3 *a, const rs_mat3 *m, const rs_mat3 *n) {
    rs_vec3 m0 = rs_m3_row(m, 0), m1 = rs_m3_row(m, 1), m2 = rs_m3_row(m, 2);
    rs_vec3 n0 = rs_m3_row(n, 0), n1 = rs_m3_row(n, 1), n2 = rs_m3_row(n, 2);
    return (rs_sym3){.xx = a->xx - rs_dot(m0, n0), .yy = a->yy - rs_dot(m1, n1), .zz = a->zz - rs_dot(m2, n2),
                     .xy = a->xy - rs_dot(m0, n1), .xz = a->xz - rs_dot(m0, n2), .yz = a->yz - rs_dot(m1, n2)};
}

/* r * diag(d) * transpose(r) */
static inline rs_sym3 rs_rotate_diagonal(const rs_mat3 *r, const double *d) {
    rs_sym3 diagonal = {.xx = d[0], .yy = d[1], .zz = d[2]};
    return rs_sym3_rotate(r, &diagonal);
}

/* Acceleration seen at a point `arm` away on the same rigid body, without the velocity's part. */
static inline rs_pair6 rs_shift_motion(rs_pair6 a, rs_vec3 arm) {
    return (rs_pair6){rs_add(a.lin, rs_cross(a.ang, arm)), a.ang};
}

/* Wrench about the point from which `arm` leads to the wrench's own point. */
static inline rs_pair6 rs_shift_force(rs_pair6 f, rs_vec3 arm) {
    return (rs_pair6){f.lin, rs_add(f.ang, rs_cross(arm, f.lin))};
}

#endif
