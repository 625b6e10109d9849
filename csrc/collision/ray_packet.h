/* Bundles of rays with one origin, as lidars and cameras cast them.
 *
 * Neighbouring rays meet the same boxes and triangles: a bundle goes through trees and shapes as one, and what differs
 * from ray to ray is computed for all lanes side by side. The loops over lanes are written for the vectoriser. */
#ifndef RS_COLLISION_RAY_PACKET_H
#define RS_COLLISION_RAY_PACKET_H

#include <stdint.h>

#include "../base/simd4.h"
#include "ray_cast.h"

enum { RS_LANES = 16 };

typedef struct {
    rs_vec3 origin;
    double x[RS_LANES], y[RS_LANES], z[RS_LANES]; /* unit directions */
} rs_packet_rays;

/* The nearest hit of each lane so far. */
typedef struct {
    double distance[RS_LANES]; /* before any hit: how far the ray reaches [m]; a lane with -1 is not in use */
    int64_t target[RS_LANES];  /* whose surface it is, as the caller numbers them; RS_NO_TARGET before any hit */
    int64_t feature[RS_LANES]; /* triangle of a mesh or heightmap */
} rs_packet_hits;

enum { RS_NO_TARGET = -1 };

static inline rs_ray rs_packet_ray(const rs_packet_rays *rays, int lane, double max) {
    return (rs_ray){rays->origin, {rays->x[lane], rays->y[lane], rays->z[lane]}, max};
}

/* The least and the greatest number of all lanes. */
static inline double rs_lanes_min(const double lanes[RS_LANES]) {
    rs_v4 least = rs_v4_min(rs_v4_min(rs_v4_read(&lanes[0]), rs_v4_read(&lanes[4])),
                            rs_v4_min(rs_v4_read(&lanes[8]), rs_v4_read(&lanes[12])));
    return rs_min(rs_min(least[0], least[1]), rs_min(least[2], least[3]));
}
static inline double rs_lanes_max(const double lanes[RS_LANES]) {
    rs_v4 most = rs_v4_max(rs_v4_max(rs_v4_read(&lanes[0]), rs_v4_read(&lanes[4])),
                           rs_v4_max(rs_v4_read(&lanes[8]), rs_v4_read(&lanes[12])));
    return rs_max(rs_max(most[0], most[1]), rs_max(most[2], most[3]));
}

/* Replaces the hits that lie behind the shape's surface; everything in the shape's frame. */
void rs_packet_shape(const rs_shape *shape, const rs_packet_rays *rays, int64_t target, rs_packet_hits *hits);

/* The same for a mesh and for a heightmap; they are what rs_packet_shape calls. */
void rs_packet_mesh(const struct rs_tri_mesh *mesh, const rs_packet_rays *rays, int64_t target, rs_packet_hits *hits);
void rs_packet_heightmap(const struct rs_height_grid *grid, const rs_packet_rays *rays, int64_t target,
                         rs_packet_hits *hits);

/* Outward unit normal where a ray, unlimited, hit the shape; everything in the shape's frame. */
rs_vec3 rs_packet_normal(const rs_shape *shape, const rs_ray *ray, int64_t feature);

#endif
