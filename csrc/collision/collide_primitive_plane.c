/* Shapes on the half-space. The contact points are the shape's own lowest points, so everything here is exact. */
#include "collide_primitive.h"

/* The half-space seen from the shape: its normal in the shape frame and the height of the shape's origin above it. */
typedef struct {
    rs_vec3 normal; /* world frame */
    rs_vec3 local;  /* shape frame */
    double height;
} plane_view;

static plane_view view_plane(const rs_transform *shape, const rs_transform *plane) {
    rs_vec3 normal = rs_m3_col(&plane->rot, 2);
    return (plane_view){.normal = normal,
                        .local = rs_m3_tmulv(&shape->rot, normal),
                        .height = rs_dot(normal, rs_sub(shape->pos, plane->pos))};
}

/* Reports a point of the shape (shape frame) when it is close enough to the plane. */
static void add_if_close(const plane_view *view, const rs_transform *shape, rs_vec3 point, double margin,
                         uint32_t feature, rs_manifold *out) {
    double gap = view->height + rs_dot(view->local, point);
    if (gap >= margin) return;
    rs_vec3 world = rs_transform_point(shape, point);
    rs_manifold_add(out, rs_madd(world, -0.5 * gap, view->normal), view->normal, gap, feature);
}

void rs_collide_sphere_half_space(const rs_shape *a, const rs_transform *ta, const rs_shape *b, const rs_transform *tb,
                                  const rs_collide_settings *settings, rs_manifold *out) {
    (void)b;
    rs_vec3 normal = rs_m3_col(&tb->rot, 2);
    double gap = rs_dot(normal, rs_sub(ta->pos, tb->pos)) - a->radius;
    if (gap >= settings->margin) return;
    rs_manifold_add(out, rs_madd(ta->pos, -(a->radius + 0.5 * gap), normal), normal, gap, 0);
}

/* The four corners of the face that looks down the most. */
void rs_collide_box_half_space(const rs_shape *a, const rs_transform *ta, const rs_shape *b, const rs_transform *tb,
                               const rs_collide_settings *settings, rs_manifold *out) {
    (void)b;
    plane_view view = view_plane(ta, tb);
    rs_vec3 h = a->half, slope = rs_v3_abs(view.local);
    if (view.height - rs_dot(slope, h) >= settings->margin) return;
    int down = slope.x > slope.y ? (slope.x > slope.z ? 0 : 2) : (slope.y > slope.z ? 1 : 2);
    int u = (down + 1) % 3, v = (down + 2) % 3;
    rs_vec3 corner = h;
    rs_v3_set(&corner, down, -copysign(rs_v3_get(h, down), rs_v3_get(view.local, down)));
    uint32_t face = (uint32_t)(2 * down + (rs_v3_get(view.local, down) > 0.0)) << 2;
    for (uint32_t i = 0; i < 4; i++) {
        rs_v3_set(&corner, u, i & 1 ? rs_v3_get(h, u) : -rs_v3_get(h, u));
        rs_v3_set(&corner, v, i & 2 ? rs_v3_get(h, v) : -rs_v3_get(h, v));
        add_if_close(&view, ta, corner, settings->margin, face | i, out);
    }
}
