/* A bundle of rays against triangles: Moeller and Trumbore's test, with all that rays of one origin share. Four triangles
 * are prepared at once, and those that the whole bundle passes by are left out before its rays are looked at. */
#ifndef RS_COLLISION_PACKET_TRIANGLE_H
#define RS_COLLISION_PACKET_TRIANGLE_H

#include "ray_packet.h"

/* Four vectors, a lane each. */
typedef struct {
    rs_v4 x, y, z;
} rs_vectors4;

/* Corners of four triangles. */
typedef struct {
    rs_vectors4 a, b, c;
} rs_corners4;

/* A box around the directions of a bundle. */
typedef struct {
    rs_vec3 middle, half;
} rs_packet_beam;

static inline rs_packet_beam rs_packet_beam_make(const rs_packet_rays *rays) {
    rs_vec3 lo = {rs_lanes_min(rays->x), rs_lanes_min(rays->y), rs_lanes_min(rays->z)};
    rs_vec3 hi = {rs_lanes_max(rays->x), rs_lanes_max(rays->y), rs_lanes_max(rays->z)};
    return (rs_packet_beam){rs_scale(0.5, rs_add(lo, hi)), rs_scale(0.5, rs_sub(hi, lo))};
}

RS_INLINE rs_vectors4 rs_vectors4_minus(rs_vectors4 a, rs_vectors4 b) {
    return (rs_vectors4){a.x - b.x, a.y - b.y, a.z - b.z};
}
RS_INLINE rs_vectors4 rs_vectors4_cross(rs_vectors4 a, rs_vectors4 b) {
    return (rs_vectors4){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
RS_INLINE rs_v4 rs_vectors4_dot(rs_vectors4 a, rs_vectors4 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
RS_INLINE rs_v4 rs_vectors4_along(rs_vectors4 a, rs_vec3 v) { return a.x * v.x + a.y * v.y + a.z * v.z; }
RS_INLINE rs_vectors4 rs_vectors4_abs(rs_vectors4 a) {
    return (rs_vectors4){rs_v4_abs(a.x), rs_v4_abs(a.y), rs_v4_abs(a.z)};
}
RS_INLINE rs_vectors4 rs_vectors4_of(const rs_vec3 v[4]) {
    return (rs_vectors4){{v[0].x, v[1].x, v[2].x, v[3].x}, {v[0].y, v[1].y, v[2].y, v[3].y}, {v[0].z, v[1].z, v[2].z, v[3].z}};
}
RS_INLINE rs_vec3 rs_vectors4_get(const rs_vectors4 *a, int lane) {
    return rs_v3(a->x[lane], a->y[lane], a->z[lane]);
}

/* What a ray d needs to know of four triangles: det = -d.normal, and on a hit at t = height / det the share of the second
 * corner u = d.w / det, of the third v = d.q / det. */
typedef struct {
    rs_vectors4 normal, w, q;
    rs_v4 height;
} rs_triangles4;

RS_INLINE rs_triangles4 rs_triangles4_make(rs_vec3 origin, rs_corners4 at) {
    rs_vectors4 o = {rs_v4_all(origin.x), rs_v4_all(origin.y), rs_v4_all(origin.z)};
    rs_vectors4 e1 = rs_vectors4_minus(at.b, at.a), e2 = rs_vectors4_minus(at.c, at.a), from = rs_vectors4_minus(o, at.a);
    rs_triangles4 out = {rs_vectors4_cross(e1, e2), rs_vectors4_cross(e2, from), rs_vectors4_cross(from, e1), {0}};
    out.height = rs_vectors4_dot(e2, out.q);
    return out;
}

#define RS_TRIANGLE_SLACK 1e-12 /* as for single rays: a ray along a shared edge must hit one of the two triangles */

/* Which of them, as bits, a direction within the beam can hit nearer than `reach`: interval arithmetic with room for
 * rounding. */
RS_INLINE unsigned rs_triangles4_in_beam(const rs_triangles4 *t, const rs_packet_beam *beam, double reach) {
    rs_vectors4 normal = rs_vectors4_abs(t->normal), w = rs_vectors4_abs(t->w), q = rs_vectors4_abs(t->q);
    rs_vectors4 rest = {t->normal.x + t->w.x + t->q.x, t->normal.y + t->w.y + t->q.y, t->normal.z + t->w.z + t->q.z};
    rs_v4 det = -rs_vectors4_along(t->normal, beam->middle), spread = rs_vectors4_along(normal, beam->half);
    rs_v4 largest = rs_v4_abs(det) + spread;
    rs_v4 room = 1e-14 * (normal.x + normal.y + normal.z + w.x + w.y + w.z + q.x + q.y + q.z) + 1e-11 * largest;
    rs_index4 sign = (rs_index4)det & INT64_MIN; /* seen from behind, all signs are turned */
    rs_v4 u = (rs_v4)((rs_index4)rs_vectors4_along(t->w, beam->middle) ^ sign) + rs_vectors4_along(w, beam->half);
    rs_v4 v = (rs_v4)((rs_index4)rs_vectors4_along(t->q, beam->middle) ^ sign) + rs_vectors4_along(q, beam->half);
    rs_v4 third = (rs_v4)((rs_index4)-rs_vectors4_along(rest, beam->middle) ^ sign) +
                  rs_vectors4_along(rs_vectors4_abs(rest), beam->half);
    rs_v4 height = (rs_v4)((rs_index4)t->height ^ sign);
    rs_index4 edge_on = rs_v4_abs(det) <= spread + room;
    return rs_bits4(edge_on | ((u >= -room) & (v >= -room) & (third >= -room) & (height >= 0.0) &
                               (height <= (1.0 + 1e-9) * reach * largest)));
}

/* All rays against one of the four. */
static inline void rs_packet_triangle(const rs_packet_rays *rays, const rs_triangles4 *four, int number, int64_t target,
                                      int64_t feature, rs_packet_hits *hits) {
    rs_vec3 normal = rs_vectors4_get(&four->normal, number), w = rs_vectors4_get(&four->w, number);
    rs_vec3 q = rs_vectors4_get(&four->q, number);
    double height = four->height[number];
    for (int l = 0; l < RS_LANES; l++) {
        double x = rays->x[l], y = rays->y[l], z = rays->z[l];
        double det = -(x * normal.x + y * normal.y + z * normal.z);
        double u = x * w.x + y * w.y + z * w.z, v = x * q.x + y * q.y + z * q.z;
        double inverse = 1.0 / det;
        u *= inverse;
        v *= inverse;
        double t = height * inverse;
        /* a ray in the plane has det 0: t is infinite or NaN, and no hit */
        bool hit = (u >= -RS_TRIANGLE_SLACK) & (v >= -RS_TRIANGLE_SLACK) & (u + v <= 1.0 + RS_TRIANGLE_SLACK) & (t >= 0.0) &
                   (t <= hits->distance[l]);
        hits->distance[l] = hit ? t : hits->distance[l];
        hits->target[l] = hit ? target : hits->target[l];
        hits->feature[l] = hit ? feature : hits->feature[l];
    }
}

/* All rays against those of four triangles that are used, as bits. */
static inline void rs_packet_triangles(const rs_packet_rays *rays, const rs_packet_beam *beam, rs_corners4 at,
                                       unsigned used, int64_t target, const int64_t features[4], double reach,
                                       rs_packet_hits *hits) {
    rs_triangles4 four = rs_triangles4_make(rays->origin, at);
    for (unsigned left = used & rs_triangles4_in_beam(&four, beam, reach); left != 0; left &= left - 1) {
        int k = __builtin_ctz(left);
        rs_packet_triangle(rays, &four, k, target, features[k], hits);
    }
}

#endif
