/* Rays against convex hulls and triangles, in closed form; primitives are in model/shape.c. */
#include "ray_cast.h"

#include "../model/convex.h"

/* The part of the ray inside all faces. */
static bool ray_convex(const rs_ray *ray, const rs_convex *convex, rs_ray_hit *hit) {
    double enter = -INFINITY, leave = INFINITY;
    rs_vec3 enter_normal = {0, 0, 1}, leave_normal = {0, 0, 1};
    for (int32_t f = 0; f < convex->face_count; f++) {
        const rs_convex_face *face = &convex->faces[f];
        double along = rs_dot(face->normal, ray->direction);
        double above = rs_dot(face->normal, ray->origin) - face->offset;
        if (along == 0.0) {
            if (above > 0.0)
                return false;
            continue;
        }
        double t = -above / along;
        if (along < 0.0 && t > enter) {
            enter = t;
            enter_normal = face->normal;
        } else if (along > 0.0 && t < leave) {
            leave = t;
            leave_normal = face->normal;
        }
        if (enter > leave)
            return false;
    }
    return enter >= 0.0 ? rs_ray_accept(ray, enter, enter_normal, hit) : rs_ray_accept(ray, leave, leave_normal, hit);
}

bool rs_ray_triangle(const rs_ray *ray, rs_vec3 a, rs_vec3 b, rs_vec3 c, double max, double *distance) {
    rs_vec3 e1 = rs_sub(b, a), e2 = rs_sub(c, a);
    rs_vec3 p = rs_cross(ray->direction, e2);
    double det = rs_dot(e1, p);
    if (det == 0.0)
        return false;
    double inverse = 1.0 / det;
    rs_vec3 from = rs_sub(ray->origin, a);
    /* A sliver of tolerance: a ray exactly along a shared edge must hit one of the two triangles. */
    const double slack = -1e-12;
    double u = rs_dot(from, p) * inverse;
    rs_vec3 q = rs_cross(from, e1);
    double v = rs_dot(ray->direction, q) * inverse;
    double t = rs_dot(e2, q) * inverse;
    if (u < slack || v < slack || u + v > 1.0 - slack || t < 0.0 || t > max)
        return false;
    *distance = t;
    return true;
}

bool rs_ray_shape(const rs_shape *shape, const rs_ray *ray, rs_ray_hit *hit) {
    switch (shape->type) {
    case RS_SHAPE_CONVEX: return ray_convex(ray, shape->convex, hit);
    case RS_SHAPE_MESH: return rs_ray_mesh(shape->mesh, ray, hit);
    case RS_SHAPE_HEIGHTMAP: return rs_ray_heightmap(shape->grid, ray, hit);
    default: return rs_ray_primitive(shape, ray, hit);
    }
}
