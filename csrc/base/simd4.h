/* Four doubles at once, for the inner loops of the solver: x, y, z and a spare lane. The compiler's vector extension
 * serves every instruction set; results do not depend on it. */
#ifndef RS_BASE_SIMD4_H
#define RS_BASE_SIMD4_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "math3d.h"
#include "memory.h"

/* How vectors lie in memory: aligned, so that none of them straddles two cache lines. */
typedef struct { _Alignas(32) rs_vec3 xyz; double rest; } rs_quad;
RS_ARRAY_OF(rs_quad);

#if defined(__GNUC__) && !defined(__clang__)
#define RS_SHUFFLE4(v, i, j, k, l) __builtin_shuffle((v), (rs_index4){(i), (j), (k), (l)})
#define RS_MIX4(u, v, i, j, k, l) __builtin_shuffle((u), (v), (rs_index4){(i), (j), (k), (l)})
#else
#define RS_SHUFFLE4(v, i, j, k, l) __builtin_shufflevector((v), (v), (i), (j), (k), (l))
#define RS_MIX4(u, v, i, j, k, l) __builtin_shufflevector((u), (v), (i), (j), (k), (l))
#endif

typedef double rs_v4 __attribute__((vector_size(32)));
typedef int64_t rs_index4 __attribute__((vector_size(32)));

#define RS_INLINE static inline __attribute__((always_inline))

/* What has registers for two. */
typedef double rs_v2 __attribute__((vector_size(16)));
RS_INLINE void rs_v4_halves(rs_v4 v, rs_v2 *low, rs_v2 *high) {
    *low = (rs_v2){v[0], v[1]};
    *high = (rs_v2){v[2], v[3]};
}
RS_INLINE rs_v4 rs_v4_join(rs_v2 low, rs_v2 high) { return (rs_v4){low[0], low[1], high[0], high[1]}; }

RS_INLINE rs_v4 rs_v4_load(const rs_quad *from) {
    rs_v4 v;
    memcpy(&v, from, sizeof v);
    return v;
}
RS_INLINE rs_v4 rs_v4_read(const double *from) { /* wherever they lie */
    rs_v4 v;
    memcpy(&v, from, sizeof v);
    return v;
}
RS_INLINE void rs_v4_write(double *to, rs_v4 v) { memcpy(to, &v, sizeof v); }
RS_INLINE void rs_v4_store(rs_quad *to, rs_v4 v) { memcpy(to, &v, sizeof v); }
RS_INLINE rs_v4 rs_v4_all(double s) { return (rs_v4){s, s, s, s}; }

/* Masks have all bits of a lane set or none, as comparisons make them. */
RS_INLINE rs_v4 rs_v4_choose(rs_index4 mask, rs_v4 yes, rs_v4 no) {
    return (rs_v4)(((rs_index4)yes & mask) | ((rs_index4)no & ~mask));
}
/* Bit k tells of lane k. */
RS_INLINE unsigned rs_bits4(rs_index4 mask) {
#ifdef __AVX__
    return (unsigned)__builtin_ia32_movmskpd256((rs_v4)mask);
#elif defined(__SSE2__)
    rs_v2 low, high;
    rs_v4_halves((rs_v4)mask, &low, &high);
    return (unsigned)(__builtin_ia32_movmskpd(low) | (__builtin_ia32_movmskpd(high) << 2));
#else
    return (unsigned)((mask[0] & 1) | (mask[1] & 2) | (mask[2] & 4) | (mask[3] & 8));
#endif
}
RS_INLINE bool rs_any4(rs_index4 mask) { return rs_bits4(mask) != 0; }
/* The second one where they are equal or one is not a number, as the instructions have it. */
#ifdef __AVX__
RS_INLINE rs_v4 rs_v4_max(rs_v4 a, rs_v4 b) { return __builtin_ia32_maxpd256(a, b); }
RS_INLINE rs_v4 rs_v4_min(rs_v4 a, rs_v4 b) { return __builtin_ia32_minpd256(a, b); }
#elif defined(__SSE2__)
RS_INLINE rs_v4 rs_v4_max(rs_v4 a, rs_v4 b) {
    rs_v2 a0, a1, b0, b1;
    rs_v4_halves(a, &a0, &a1);
    rs_v4_halves(b, &b0, &b1);
    return rs_v4_join(__builtin_ia32_maxpd(a0, b0), __builtin_ia32_maxpd(a1, b1));
}
RS_INLINE rs_v4 rs_v4_min(rs_v4 a, rs_v4 b) {
    rs_v2 a0, a1, b0, b1;
    rs_v4_halves(a, &a0, &a1);
    rs_v4_halves(b, &b0, &b1);
    return rs_v4_join(__builtin_ia32_minpd(a0, b0), __builtin_ia32_minpd(a1, b1));
}
#else
RS_INLINE rs_v4 rs_v4_max(rs_v4 a, rs_v4 b) { return rs_v4_choose(a > b, a, b); }
RS_INLINE rs_v4 rs_v4_min(rs_v4 a, rs_v4 b) { return rs_v4_choose(a < b, a, b); }
#endif
RS_INLINE rs_v4 rs_v4_abs(rs_v4 a) { return (rs_v4)((rs_index4)a & INT64_MAX); }
RS_INLINE rs_v4 rs_v4_sqrt(rs_v4 a) {
    return (rs_v4){sqrt(a[0]), sqrt(a[1]), sqrt(a[2]), sqrt(a[3])};
}

/* a x b; the spare lane becomes zero. */
RS_INLINE rs_v4 rs_v4_cross(rs_v4 a, rs_v4 b) {
    rs_v4 turned = a * RS_SHUFFLE4(b, 1, 2, 0, 3) - RS_SHUFFLE4(a, 1, 2, 0, 3) * b;
    return RS_SHUFFLE4(turned, 1, 2, 0, 3);
}

/* Sum of all four lanes. */
RS_INLINE double rs_v4_sum(rs_v4 a) { return (a[0] + a[1]) + (a[2] + a[3]); }

/* (sum of a, sum of b, sum of c, 0) */
RS_INLINE rs_v4 rs_v4_sums(rs_v4 a, rs_v4 b, rs_v4 c) {
    rs_v4 zero = {0.0, 0.0, 0.0, 0.0};
    rs_v4 ab = RS_MIX4(a, b, 0, 4, 2, 6) + RS_MIX4(a, b, 1, 5, 3, 7);
    rs_v4 c0 = RS_MIX4(c, zero, 0, 4, 2, 6) + RS_MIX4(c, zero, 1, 5, 3, 7);
    return RS_MIX4(ab, c0, 0, 1, 4, 5) + RS_MIX4(ab, c0, 2, 3, 6, 7);
}

/* s.x * x + s.y * y + s.z * z: the combination of three vectors. */
RS_INLINE rs_v4 rs_v4_combine(rs_v4 s, rs_v4 x, rs_v4 y, rs_v4 z) {
    return RS_SHUFFLE4(s, 0, 0, 0, 0) * x + RS_SHUFFLE4(s, 1, 1, 1, 1) * y + RS_SHUFFLE4(s, 2, 2, 2, 2) * z;
}

/* Four rows of numbers from four places, and back: lane k belongs to place k. */
RS_INLINE void rs_v4_transpose(rs_v4 *a, rs_v4 *b, rs_v4 *c, rs_v4 *d) {
    rs_v4 ab_even = RS_MIX4(*a, *b, 0, 4, 2, 6), ab_odd = RS_MIX4(*a, *b, 1, 5, 3, 7);
    rs_v4 cd_even = RS_MIX4(*c, *d, 0, 4, 2, 6), cd_odd = RS_MIX4(*c, *d, 1, 5, 3, 7);
    *a = RS_MIX4(ab_even, cd_even, 0, 1, 4, 5);
    *b = RS_MIX4(ab_odd, cd_odd, 0, 1, 4, 5);
    *c = RS_MIX4(ab_even, cd_even, 2, 3, 6, 7);
    *d = RS_MIX4(ab_odd, cd_odd, 2, 3, 6, 7);
}
RS_INLINE void rs_v4_gather(const double *const from[4], rs_v4 out[4]) {
    for (int k = 0; k < 4; k++)
        memcpy(&out[k], from[k], sizeof out[k]);
    rs_v4_transpose(&out[0], &out[1], &out[2], &out[3]);
}
RS_INLINE void rs_v4_scatter(rs_v4 a, rs_v4 b, rs_v4 c, rs_v4 d, double *const to[4]) {
    rs_v4_transpose(&a, &b, &c, &d);
    memcpy(to[0], &a, sizeof a);
    memcpy(to[1], &b, sizeof b);
    memcpy(to[2], &c, sizeof c);
    memcpy(to[3], &d, sizeof d);
}

/* A symmetric matrix by its columns. */
typedef struct { rs_quad x, y, z; } rs_columns;

RS_INLINE rs_v4 rs_columns_mulv(const rs_columns *m, rs_v4 v) {
    return rs_v4_combine(v, rs_v4_load(&m->x), rs_v4_load(&m->y), rs_v4_load(&m->z));
}

static inline rs_columns rs_columns_of(const rs_sym3 *s) {
    return (rs_columns){{{s->xx, s->xy, s->xz}, 0.0}, {{s->xy, s->yy, s->yz}, 0.0}, {{s->xz, s->yz, s->zz}, 0.0}};
}
static inline rs_sym3 rs_sym3_of_quads(const rs_columns *m) {
    return (rs_sym3){.xx = m->x.xyz.x, .yy = m->y.xyz.y, .zz = m->z.xyz.z,
                     .xy = m->y.xyz.x, .xz = m->z.xyz.x, .yz = m->z.xyz.y};
}
static inline rs_vec3 rs_columns_mul3(const rs_columns *m, rs_vec3 v) {
    return rs_madd(rs_madd(rs_scale(v.x, m->x.xyz), v.y, m->y.xyz), v.z, m->z.xyz);
}

#endif
