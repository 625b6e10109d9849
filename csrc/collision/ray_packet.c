/* Bundles of rays against primitives. Spheres, boxes and half-spaces take all lanes side by side; the formulas are
 * those of single rays, term by term. Rarer shapes go lane by lane. */
#include "ray_packet.h"

#include "../model/height_grid.h"
#include "../model/tri_mesh.h"

static inline void take(rs_packet_hits *hits, int lane, bool hit, double distance, int64_t target) {
    hits->distance[lane] = hit ? distance : hits->distance[lane];
    hits->target[lane] = hit ? target : hits->target[lane];
}

static void packet_sphere(const rs_packet_rays *rays, double radius, int64_t target, rs_packet_hits *hits) {
    rs_vec3 o = rays->origin;
    for (int l = 0; l < RS_LANES; l++) {
        double x = rays->x[l], y = rays->y[l], z = rays->z[l];
        double b = o.x * x + o.y * y + o.z * z;
        double nx = o.x - b * x, ny = o.y - b * y, nz = o.z - b * z;
        double half2 = radius * radius - (nx * nx + ny * ny + nz * nz);
        double half = sqrt(half2 > 0.0 ? half2 : 0.0);
        double t = -b - half >= 0.0 ? -b - half : -b + half;
        take(hits, l, (half2 >= 0.0) & (t >= 0.0) & (t <= hits->distance[l]), t, target);
    }
}

/* Narrows enter..leave to the slab |x| <= half along one axis. A ray within the slab's plane gets infinities, which
 * are what they should be: all or nothing; on the face itself 0 * infinity, which the comparisons let pass. */
static inline void clip_to_slab(double o, double d, double half, double *enter, double *leave) {
    double inverse = 1.0 / d, far = copysign(half, d);
    double in = (-far - o) * inverse, out = (far - o) * inverse;
    *enter = in > *enter ? in : *enter;
    *leave = out < *leave ? out : *leave;
}

static void packet_box(const rs_packet_rays *rays, rs_vec3 half, int64_t target, rs_packet_hits *hits) {
    rs_vec3 o = rays->origin;
    for (int l = 0; l < RS_LANES; l++) {
        double enter = -INFINITY, leave = INFINITY;
        clip_to_slab(o.x, rays->x[l], half.x, &enter, &leave);
        clip_to_slab(o.y, rays->y[l], half.y, &enter, &leave);
        clip_to_slab(o.z, rays->z[l], half.z, &enter, &leave);
        double t = enter >= 0.0 ? enter : leave;
        take(hits, l, (enter <= leave) & (t >= 0.0) & (t <= hits->distance[l]), t, target);
    }
}

static void packet_half_space(const rs_packet_rays *rays, int64_t target, rs_packet_hits *hits) {
    double height = -rays->origin.z;
    for (int l = 0; l < RS_LANES; l++) {
        double t = height / rays->z[l];
        take(hits, l, (t >= 0.0) & (t <= hits->distance[l]), t, target);
    }
}

static void packet_lane_by_lane(const rs_shape *shape, const rs_packet_rays *rays, int64_t target,
                                rs_packet_hits *hits) {
    for (int l = 0; l < RS_LANES; l++) {
        rs_ray ray = rs_packet_ray(rays, l, hits->distance[l]);
        rs_ray_hit hit;
        if (ray.max >= 0.0 && rs_ray_shape(shape, &ray, &hit))
            take(hits, l, true, hit.distance, target);
    }
}

void rs_packet_shape(const rs_shape *shape, const rs_packet_rays *rays, int64_t target, rs_packet_hits *hits) {
    switch (shape->type) {
    case RS_SHAPE_SPHERE:
        packet_sphere(rays, shape->radius, target, hits);
        break;
    case RS_SHAPE_BOX:
        packet_box(rays, shape->half, target, hits);
        break;
    case RS_SHAPE_HALF_SPACE:
        packet_half_space(rays, target, hits);
        break;
    case RS_SHAPE_MESH:
        rs_packet_mesh(shape->mesh, rays, target, hits);
        break;
    case RS_SHAPE_HEIGHTMAP:
        rs_packet_heightmap(shape->grid, rays, target, hits);
        break;
    default:
        packet_lane_by_lane(shape, rays, target, hits);
    }
}

rs_vec3 rs_packet_normal(const rs_shape *shape, const rs_ray *ray, int64_t feature) {
    if (shape->type == RS_SHAPE_MESH)
        return shape->mesh->normals[feature];
    if (shape->type == RS_SHAPE_HEIGHTMAP)
        return rs_height_grid_triangle_normal(shape->grid, feature);
    rs_ray_hit hit = {.normal = rs_neg(ray->direction)}; /* should a grazing ray miss where its bundle hit */
    rs_ray_shape(shape, ray, &hit);
    return hit.normal;
}
