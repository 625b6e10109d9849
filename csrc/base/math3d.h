/* Small fixed-size linear algebra: vectors, quaternions (w,x,y,z), row-major 3x3 matrices, rigid transforms. */
#ifndef RS_BASE_MATH3D_H
#define RS_BASE_MATH3D_H

#include <math.h>
#include <stdbool.h>

typedef struct { double x, y, z; } rs_vec3;
typedef struct { double w, x, y, z; } rs_quat;
typedef struct { double m[9]; } rs_mat3;            /* row-major */
typedef struct { double xx, yy, zz, xy, xz, yz; } rs_sym3;
typedef struct { rs_mat3 rot; rs_vec3 pos; } rs_transform; /* x_world = rot * x_local + pos */

/* Unlike fmin and fmax these compile to one instruction; a NaN in `a` is replaced by `b`. */
static inline double rs_min(double a, double b) { return a < b ? a : b; }
static inline double rs_max(double a, double b) { return a > b ? a : b; }
/* The next corner of a triangle, or axis. */
static inline int rs_next3(int k) { return k == 2 ? 0 : k + 1; }

/* ---- vectors ---- */

static inline rs_vec3 rs_v3(double x, double y, double z) { return (rs_vec3){x, y, z}; }
static inline rs_vec3 rs_v3_zero(void) { return (rs_vec3){0.0, 0.0, 0.0}; }
static inline bool rs_v3_is_zero(rs_vec3 a) { return a.x == 0.0 && a.y == 0.0 && a.z == 0.0; }
static inline rs_vec3 rs_v3_load(const double *v) { return (rs_vec3){v[0], v[1], v[2]}; }
static inline void rs_v3_store(double *out, rs_vec3 v) { out[0] = v.x; out[1] = v.y; out[2] = v.z; }
static inline rs_vec3 rs_add(rs_vec3 a, rs_vec3 b) { return (rs_vec3){a.x + b.x, a.y + b.y, a.z + b.z}; }
static inline rs_vec3 rs_sub(rs_vec3 a, rs_vec3 b) { return (rs_vec3){a.x - b.x, a.y - b.y, a.z - b.z}; }
static inline rs_vec3 rs_scale(double s, rs_vec3 a) { return (rs_vec3){s * a.x, s * a.y, s * a.z}; }
static inline rs_vec3 rs_neg(rs_vec3 a) { return (rs_vec3){-a.x, -a.y, -a.z}; }
/* a + s*b */
static inline rs_vec3 rs_madd(rs_vec3 a, double s, rs_vec3 b) {
    return (rs_vec3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}
static inline rs_vec3 rs_lerp(rs_vec3 a, rs_vec3 b, double t) { return rs_madd(a, t, rs_sub(b, a)); }
static inline rs_vec3 rs_mul(rs_vec3 a, rs_vec3 b) { return (rs_vec3){a.x * b.x, a.y * b.y, a.z * b.z}; }
static inline double rs_dot(rs_vec3 a, rs_vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline rs_vec3 rs_cross(rs_vec3 a, rs_vec3 b) {
    return (rs_vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static inline double rs_norm2(rs_vec3 a) { return rs_dot(a, a); }
static inline double rs_norm(rs_vec3 a) { return sqrt(rs_norm2(a)); }
/* a / |a|, or `fallback` when a has no direction. */
static inline rs_vec3 rs_normalize_or(rs_vec3 a, rs_vec3 fallback) {
    double n = rs_norm(a);
    return n > 1e-300 ? rs_scale(1.0 / n, a) : fallback;
}
static inline double rs_v3_get(rs_vec3 a, int axis) { return axis == 0 ? a.x : axis == 1 ? a.y : a.z; }
static inline void rs_v3_set(rs_vec3 *a, int axis, double value) {
    if (axis == 0) a->x = value; else if (axis == 1) a->y = value; else a->z = value;
}
static inline rs_vec3 rs_v3_min(rs_vec3 a, rs_vec3 b) { return rs_v3(rs_min(a.x, b.x), rs_min(a.y, b.y), rs_min(a.z, b.z)); }
static inline rs_vec3 rs_v3_max(rs_vec3 a, rs_vec3 b) { return rs_v3(rs_max(a.x, b.x), rs_max(a.y, b.y), rs_max(a.z, b.z)); }
static inline rs_vec3 rs_v3_abs(rs_vec3 a) { return rs_v3(fabs(a.x), fabs(a.y), fabs(a.z)); }
static inline bool rs_v3_finite(rs_vec3 a) { return isfinite(a.x) && isfinite(a.y) && isfinite(a.z); }
static inline double rs_clamp(double v, double lo, double hi) { return v < lo ? lo : v > hi ? hi : v; }

/* Two unit vectors that complete the unit vector n to a right-handed frame (t1, t2, n). */
static inline void rs_tangents(rs_vec3 n, rs_vec3 *t1, rs_vec3 *t2) {
    double sign = copysign(1.0, n.z);
    double a = -1.0 / (sign + n.z);
    double b = n.x * n.y * a;
    *t1 = rs_v3(1.0 + sign * n.x * n.x * a, sign * b, -sign * n.x);
    *t2 = rs_v3(b, sign + n.y * n.y * a, -n.y);
}

/* ---- matrices ---- */

static inline rs_mat3 rs_m3_identity(void) { return (rs_mat3){{1, 0, 0, 0, 1, 0, 0, 0, 1}}; }
static inline rs_vec3 rs_m3_col(const rs_mat3 *a, int c) { return rs_v3(a->m[c], a->m[3 + c], a->m[6 + c]); }
static inline rs_vec3 rs_m3_row(const rs_mat3 *a, int r) { return rs_v3_load(&a->m[3 * r]); }
static inline rs_vec3 rs_m3_mulv(const rs_mat3 *a, rs_vec3 v) {
    const double *m = a->m;
    return rs_v3(m[0] * v.x + m[1] * v.y + m[2] * v.z,
                 m[3] * v.x + m[4] * v.y + m[5] * v.z,
                 m[6] * v.x + m[7] * v.y + m[8] * v.z);
}
/* Of a matrix that is written as an array of its rows. */
static inline rs_vec3 rs_rows3_mulv(const double (*m)[3], rs_vec3 v) {
    return rs_v3(m[0][0] * v.x + m[0][1] * v.y + m[0][2] * v.z,
                 m[1][0] * v.x + m[1][1] * v.y + m[1][2] * v.z,
                 m[2][0] * v.x + m[2][1] * v.y + m[2][2] * v.z);
}
/* transpose(a) * v */
static inline rs_vec3 rs_m3_tmulv(const rs_mat3 *a, rs_vec3 v) {
    const double *m = a->m;
    return rs_v3(m[0] * v.x + m[3] * v.y + m[6] * v.z,
                 m[1] * v.x + m[4] * v.y + m[7] * v.z,
                 m[2] * v.x + m[5] * v.y + m[8] * v.z);
}
static inline rs_mat3 rs_m3_transpose(const rs_mat3 *a) {
    const double *m = a->m;
    return (rs_mat3){{m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8]}};
}
static inline rs_mat3 rs_m3_mul(const rs_mat3 *a, const rs_mat3 *b) {
    rs_mat3 c;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            c.m[3 * i + j] = a->m[3 * i] * b->m[j] + a->m[3 * i + 1] * b->m[3 + j] + a->m[3 * i + 2] * b->m[6 + j];
    return c;
}
/* transpose(a) * b */
static inline rs_mat3 rs_m3_tmul(const rs_mat3 *a, const rs_mat3 *b) {
    rs_mat3 at = rs_m3_transpose(a);
    return rs_m3_mul(&at, b);
}

/* ---- symmetric matrices ---- */

/* xx yy zz xy xz yz */
static inline rs_sym3 rs_sym3_load(const double *v) { return (rs_sym3){v[0], v[1], v[2], v[3], v[4], v[5]}; }
static inline void rs_sym3_store(double *out, rs_sym3 s) {
    out[0] = s.xx, out[1] = s.yy, out[2] = s.zz, out[3] = s.xy, out[4] = s.xz, out[5] = s.yz;
}
static inline rs_vec3 rs_sym3_mulv(const rs_sym3 *s, rs_vec3 v) {
    return rs_v3(s->xx * v.x + s->xy * v.y + s->xz * v.z,
                 s->xy * v.x + s->yy * v.y + s->yz * v.z,
                 s->xz * v.x + s->yz * v.y + s->zz * v.z);
}
static inline double rs_sym3_det(const rs_sym3 *s) {
    return s->xx * (s->yy * s->zz - s->yz * s->yz) - s->xy * (s->xy * s->zz - s->yz * s->xz) +
           s->xz * (s->xy * s->yz - s->yy * s->xz);
}
/* Inverse of a regular symmetric matrix. */
static inline rs_sym3 rs_sym3_inverse(const rs_sym3 *s) {
    double c00 = s->yy * s->zz - s->yz * s->yz;
    double c01 = s->xz * s->yz - s->xy * s->zz;
    double c02 = s->xy * s->yz - s->xz * s->yy;
    double inv = 1.0 / (s->xx * c00 + s->xy * c01 + s->xz * c02);
    return (rs_sym3){.xx = c00 * inv, .xy = c01 * inv, .xz = c02 * inv,
                     .yy = (s->xx * s->zz - s->xz * s->xz) * inv,
                     .yz = (s->xy * s->xz - s->xx * s->yz) * inv,
                     .zz = (s->xx * s->yy - s->xy * s->xy) * inv};
}
/* r * s * transpose(r): a body-frame tensor seen in the world frame. */
static inline rs_sym3 rs_sym3_rotate(const rs_mat3 *r, const rs_sym3 *s) {
    rs_vec3 row[3], srow[3];
    for (int i = 0; i < 3; i++) {
        row[i] = rs_m3_row(r, i);
        srow[i] = rs_sym3_mulv(s, row[i]);
    }
    return (rs_sym3){.xx = rs_dot(row[0], srow[0]), .yy = rs_dot(row[1], srow[1]), .zz = rs_dot(row[2], srow[2]),
                     .xy = rs_dot(row[0], srow[1]), .xz = rs_dot(row[0], srow[2]), .yz = rs_dot(row[1], srow[2])};
}

/* ---- quaternions ---- */

static inline rs_quat rs_quat_identity(void) { return (rs_quat){1, 0, 0, 0}; }
static inline rs_quat rs_quat_load(const double *q) { return (rs_quat){q[0], q[1], q[2], q[3]}; }
static inline void rs_quat_store(double *out, rs_quat q) { out[0] = q.w; out[1] = q.x; out[2] = q.y; out[3] = q.z; }
static inline rs_quat rs_quat_mul(rs_quat a, rs_quat b) {
    return (rs_quat){a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                     a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}
static inline rs_quat rs_quat_conj(rs_quat q) { return (rs_quat){q.w, -q.x, -q.y, -q.z}; }
static inline double rs_quat_norm(rs_quat q) { return sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z); }
static inline rs_quat rs_quat_normalize(rs_quat q) {
    double s = 1.0 / rs_quat_norm(q);
    return (rs_quat){q.w * s, q.x * s, q.y * s, q.z * s};
}
static inline rs_mat3 rs_quat_to_m3(rs_quat q) {
    double xx = q.x * q.x, yy = q.y * q.y, zz = q.z * q.z;
    double xy = q.x * q.y, xz = q.x * q.z, yz = q.y * q.z;
    double wx = q.w * q.x, wy = q.w * q.y, wz = q.w * q.z;
    return (rs_mat3){{1 - 2 * (yy + zz), 2 * (xy - wz), 2 * (xz + wy), 2 * (xy + wz), 1 - 2 * (xx + zz), 2 * (yz - wx),
                      2 * (xz - wy), 2 * (yz + wx), 1 - 2 * (xx + yy)}};
}
/* Divides by the largest component, which is never below one half (Shepperd). */
static inline rs_quat rs_m3_to_quat(const rs_mat3 *r) {
    const double *m = r->m;
    const double squares[4] = {1.0 + m[0] + m[4] + m[8], 1.0 + m[0] - m[4] - m[8], 1.0 - m[0] + m[4] - m[8],
                               1.0 - m[0] - m[4] + m[8]};
    int largest = 0;
    for (int k = 1; k < 4; k++)
        largest = squares[k] > squares[largest] ? k : largest;
    const double twice = sqrt(squares[largest]), scale = 0.5 / twice, value = 0.5 * twice;
    const double wx = scale * (m[7] - m[5]), wy = scale * (m[2] - m[6]), wz = scale * (m[3] - m[1]);
    const double xy = scale * (m[1] + m[3]), xz = scale * (m[2] + m[6]), yz = scale * (m[5] + m[7]);
    switch (largest) {
    case 0: return (rs_quat){.w = value, .x = wx, .y = wy, .z = wz};
    case 1: return (rs_quat){.w = wx, .x = value, .y = xy, .z = xz};
    case 2: return (rs_quat){.w = wy, .x = xy, .y = value, .z = yz};
    default: return (rs_quat){.w = wz, .x = xz, .y = yz, .z = value};
    }
}
/* For small turns, from y = (angle/2)^2: sin(angle/2)/angle and cos(angle/2), exact to double precision, without 0/0 and
 * without libm; of numbers and of vectors of them. */
#define RS_SMALL_TURN 1e-3
#define RS_HALF_SINC_SERIES(y) (0.5 + (y) * (-1.0 / 12 + (y) * (1.0 / 240 - (y) / 10080)))
#define RS_COS_HALF_SERIES(y) (1.0 + (y) * (-0.5 + (y) * (1.0 / 24 + (y) * (-1.0 / 720 + (y) / 40320))))
/* Rotation by the rotation vector r (axis times angle, rad). */
static inline rs_quat rs_quat_exp(rs_vec3 r) {
    double angle2 = rs_norm2(r);
    double half_sinc, c;
    double y = 0.25 * angle2;
    if (y < RS_SMALL_TURN) { /* mostly: a step's rotation */
        half_sinc = RS_HALF_SINC_SERIES(y);
        c = RS_COS_HALF_SERIES(y);
    } else if (angle2 < 0.25) {
        half_sinc = 0.5 * (1.0 + y * (-1.0 / 6 + y * (1.0 / 120 + y * (-1.0 / 5040 + y * (1.0 / 362880 - y / 39916800)))));
        c = 1.0 + y * (-0.5 + y * (1.0 / 24 + y * (-1.0 / 720 + y * (1.0 / 40320 + y * (-1.0 / 3628800 + y / 479001600)))));
    } else {
        double angle = sqrt(angle2);
        half_sinc = sin(0.5 * angle) / angle;
        c = cos(0.5 * angle);
    }
    return (rs_quat){c, half_sinc * r.x, half_sinc * r.y, half_sinc * r.z};
}

/* ---- transforms ---- */

static inline rs_transform rs_transform_identity(void) { return (rs_transform){rs_m3_identity(), {0, 0, 0}}; }
static inline rs_transform rs_transform_make(rs_vec3 pos, rs_quat q) { return (rs_transform){rs_quat_to_m3(q), pos}; }
static inline rs_vec3 rs_transform_point(const rs_transform *t, rs_vec3 p) { return rs_add(rs_m3_mulv(&t->rot, p), t->pos); }
static inline rs_vec3 rs_transform_inv_point(const rs_transform *t, rs_vec3 p) {
    return rs_m3_tmulv(&t->rot, rs_sub(p, t->pos));
}
/* a * b: first b, then a. */
static inline rs_transform rs_transform_mul(const rs_transform *a, const rs_transform *b) {
    return (rs_transform){rs_m3_mul(&a->rot, &b->rot), rs_transform_point(a, b->pos)};
}
/* inverse(a) * b: the pose of b seen from a. */
static inline rs_transform rs_transform_relative(const rs_transform *a, const rs_transform *b) {
    return (rs_transform){rs_m3_tmul(&a->rot, &b->rot), rs_transform_inv_point(a, b->pos)};
}

#endif
