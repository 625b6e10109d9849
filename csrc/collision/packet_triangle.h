/* A bundle of rays against a triangle: Moeller and Trumbore's test, with all that rays of one origin share. */
#ifndef RS_COLLISION_PACKET_TRIANGLE_H
#define RS_COLLISION_PACKET_TRIANGLE_H

#include "ray_packet.h"

static inline void rs_packet_triangle(const rs_packet_rays *rays, rs_vec3 a, rs_vec3 b, rs_vec3 c, int64_t target,
                                      int64_t feature, rs_packet_hits *hits) {
    rs_vec3 e1 = rs_sub(b, a), e2 = rs_sub(c, a), from = rs_sub(rays->origin, a);
    rs_vec3 normal = rs_cross(e1, e2), q = rs_cross(from, e1), w = rs_cross(e2, from);
    double height = rs_dot(e2, q);
    const double slack = 1e-12; /* as for single rays: a ray along a shared edge must hit one of the two triangles */
    for (int l = 0; l < RS_LANES; l++) {
        double x = rays->x[l], y = rays->y[l], z = rays->z[l];
        double det = -(x * normal.x + y * normal.y + z * normal.z);
        double u = x * w.x + y * w.y + z * w.z, v = x * q.x + y * q.y + z * q.z;
        double inverse = 1.0 / det;
        u *= inverse;
        v *= inverse;
        double t = height * inverse;
        /* a ray in the plane has det 0: t is infinite or NaN, and no hit */
        bool hit = (u >= -slack) & (v >= -slack) & (u + v <= 1.0 + slack) & (t >= 0.0) & (t <= hits->distance[l]);
        hits->distance[l] = hit ? t : hits->distance[l];
        hits->target[l] = hit ? target : hits->target[l];
        hits->feature[l] = hit ? feature : hits->feature[l];
    }
}

#endif
