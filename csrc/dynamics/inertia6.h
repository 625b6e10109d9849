/* Articulated inertias, worked on by columns: four multiplications at a time. */
#ifndef RS_DYNAMICS_INERTIA6_H
#define RS_DYNAMICS_INERTIA6_H

#include "spatial.h"

static inline rs_lanes rs_lanes_of(rs_vec3 v) { return (rs_lanes){v.x, v.y, v.z, 0.0}; }
static inline rs_vec3 rs_lanes_vec3(rs_lanes v) { return rs_v3(v[0], v[1], v[2]); }

static inline void rs_columns_of_sym3(const rs_sym3 *s, rs_lanes out[3]) {
    out[0] = (rs_lanes){s->xx, s->xy, s->xz, 0.0};
    out[1] = (rs_lanes){s->xy, s->yy, s->yz, 0.0};
    out[2] = (rs_lanes){s->xz, s->yz, s->zz, 0.0};
}
static inline rs_sym3 rs_sym3_of_columns(const rs_lanes c[3]) {
    return (rs_sym3){.xx = c[0][0], .yy = c[1][1], .zz = c[2][2], .xy = c[1][0], .xz = c[2][0], .yz = c[2][1]};
}
static inline rs_mat3 rs_m3_of_columns(const rs_lanes c[3]) {
    return (rs_mat3){{c[0][0], c[1][0], c[2][0], c[0][1], c[1][1], c[2][1], c[0][2], c[1][2], c[2][2]}};
}

/* Matrix of columns times vector. */
static inline rs_lanes rs_lanes_mulv(const rs_lanes c[3], rs_vec3 v) { return c[0] * v.x + c[1] * v.y + c[2] * v.z; }

/* c -= a * transpose(b) */
static inline void rs_columns_sub_outer(rs_lanes c[3], rs_lanes a, rs_lanes b) {
    c[0] -= a * b[0];
    c[1] -= a * b[1];
    c[2] -= a * b[2];
}

static inline rs_inertia6 rs_inertia6_rigid(const rs_link_mass *m) {
    rs_vec3 h = m->mass_com;
    rs_inertia6 out = {.mass = {{m->mass, 0, 0, 0}, {0, m->mass, 0, 0}, {0, 0, m->mass, 0}},
                       .couple = {{0, -h.z, h.y, 0}, {h.z, 0, -h.x, 0}, {-h.y, h.x, 0, 0}}};
    rs_columns_of_sym3(&m->inertia, out.inertia);
    return out;
}

/* Cross products of a fixed vector with many. */
typedef struct {
    rs_lanes yzx, zxy;
} rs_crosser;
static inline rs_crosser rs_crosser_of(rs_vec3 r) { return (rs_crosser){{r.y, r.z, r.x, 0.0}, {r.z, r.x, r.y, 0.0}}; }
static inline rs_lanes rs_crosser_mul(const rs_crosser *r, rs_lanes v) {
    rs_lanes yzx = {v[1], v[2], v[0], v[3]}, zxy = {v[2], v[0], v[1], v[3]};
    return r->yzx * zxy - r->zxy * yzx;
}

/* to += from, which refers to a point `r` away from the point of `to`. */
static inline void rs_inertia6_add_shifted(rs_inertia6 *to, const rs_inertia6 *from, rs_vec3 r) {
    rs_crosser cross = rs_crosser_of(r);
    const rs_lanes *m = from->mass, *h = from->couple;
    /* couple - mass * [r]x */
    rs_lanes s[3] = {h[0] - (m[1] * r.z - m[2] * r.y), h[1] - (m[2] * r.x - m[0] * r.z), h[2] - (m[0] * r.y - m[1] * r.x)};
    /* inertia + [r]x * (shifted couple) + transpose([r]x * couple) */
    rs_lanes x[3] = {rs_crosser_mul(&cross, h[0]), rs_crosser_mul(&cross, h[1]), rs_crosser_mul(&cross, h[2])};
    rs_lanes t[3] = {{x[0][0], x[1][0], x[2][0], 0.0}, {x[0][1], x[1][1], x[2][1], 0.0}, {x[0][2], x[1][2], x[2][2], 0.0}};
    for (int j = 0; j < 3; j++) {
        to->mass[j] += m[j];
        to->couple[j] += s[j];
        to->inertia[j] += from->inertia[j] + (rs_crosser_mul(&cross, s[j]) + t[j]);
    }
}

#endif
