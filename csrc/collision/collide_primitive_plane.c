/* Shapes on the half-space. The contact points are the shape's own lowest points, so everything here is exact. */
#include "../model/convex.h"
#include "collide_primitive.h"
#include "pair_memory.h"

#include <string.h>

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

/* ---- round rims ---- */

/* Unit direction in the plane of a rim towards its lowest point; a rim that lies level has none, then x. */
static rs_vec3 downhill(rs_vec3 local_normal) {
    double across = sqrt(local_normal.x * local_normal.x + local_normal.y * local_normal.y);
    if (across < 1e-6) return rs_v3(1.0, 0.0, 0.0);
    return rs_v3(-local_normal.x / across, -local_normal.y / across, 0.0);
}

/* Four points of the rim of radius r at height z, the lowest one first. */
static void add_rim(const plane_view *view, const rs_transform *shape, double r, double z, rs_vec3 low, double margin,
                    uint32_t feature, rs_manifold *out) {
    add_if_close(view, shape, rs_v3(r * low.x, r * low.y, z), margin, feature, out);
    add_if_close(view, shape, rs_v3(-r * low.y, r * low.x, z), margin, feature + 1, out);
    add_if_close(view, shape, rs_v3(-r * low.x, -r * low.y, z), margin, feature + 2, out);
    add_if_close(view, shape, rs_v3(r * low.y, -r * low.x, z), margin, feature + 3, out);
}

/* Standing: four points of the lower rim. Lying: the ends of the line of contact. */
void rs_collide_cylinder_half_space(const rs_shape *a, const rs_transform *ta, const rs_shape *b,
                                    const rs_transform *tb, const rs_collide_settings *settings, rs_manifold *out) {
    (void)b;
    plane_view view = view_plane(ta, tb);
    double r = a->radius, end = -copysign(a->half_height, view.local.z);
    double reach = r * sqrt(view.local.x * view.local.x + view.local.y * view.local.y) - end * view.local.z;
    if (view.height - reach >= settings->margin) return;
    rs_vec3 low = downhill(view.local);
    uint32_t cap = end > 0.0;
    add_rim(&view, ta, r, end, low, settings->margin, 4 * cap, out);
    add_if_close(&view, ta, rs_v3(r * low.x, r * low.y, -end), settings->margin, 4 * (1 - cap), out);
}

void rs_collide_cone_half_space(const rs_shape *a, const rs_transform *ta, const rs_shape *b, const rs_transform *tb,
                                const rs_collide_settings *settings, rs_manifold *out) {
    (void)b;
    plane_view view = view_plane(ta, tb);
    add_rim(&view, ta, a->radius, rs_cone_base_z(a), downhill(view.local), settings->margin, 0, out);
    add_if_close(&view, ta, rs_v3(0.0, 0.0, rs_cone_apex_z(a)), settings->margin, 4, out);
}

/* Every corner that is low enough; of very many the most spread ones are kept. */
enum { LOW_MAX = 512, MARKED_MAX = 8192 };

/* A hull whose vertices have moved by less against the half-space keeps the contact points that were chosen [m]. */
static const double HARDLY_MOVED = 1e-6;

static int32_t lowest_vertex(const rs_convex *hull, rs_vec3 up, rs_pair_hint *hint) {
    if (hint == NULL) return rs_convex_support_index(hull, rs_neg(up));
    bool fits = hint->vertex[0] > 0 && hint->vertex[0] < hull->vertex_count;
    hint->vertex[0] = fits ? rs_convex_support_from(hull, hint->vertex[0], rs_neg(up))
                           : rs_convex_support_index(hull, rs_neg(up));
    return hint->vertex[0];
}

/* How far the margin lies above the middle of the hull. */
static double level_of(const rs_convex *hull, const plane_view *view, double margin) {
    return margin - (view->height + rs_dot(view->local, hull->centroid));
}

static bool keeps_points(const rs_convex *hull, const plane_view *view, double margin, const rs_pair_hint *hint) {
    if (hint == NULL || hint->kept_count == 0) return false;
    for (int i = 0; i < hint->kept_count; i++)
        if (hint->kept[i] >= hull->vertex_count) return false; /* of another hull */
    double turned = rs_norm(rs_sub(view->local, hint->normal)) * 2.0 * hull->radius;
    return turned + fabs(level_of(hull, view, margin) - hint->level) <= HARDLY_MOVED;
}

static void remember_points(const rs_convex *hull, const plane_view *view, double margin, const rs_manifold *chosen,
                            rs_pair_hint *hint) {
    if (hint == NULL) return;
    hint->kept_count = chosen->count;
    for (int i = 0; i < chosen->count; i++) hint->kept[i] = (int32_t)chosen->points[i].feature;
    hint->normal = view->local;
    hint->level = level_of(hull, view, margin);
}

static rs_manifold_point point_of_vertex(const rs_convex *hull, const plane_view *view, const rs_transform *ta, int32_t i) {
    double gap = view->height + rs_dot(view->local, hull->vertices[i]);
    rs_vec3 world = rs_transform_point(ta, hull->vertices[i]);
    return (rs_manifold_point){rs_madd(world, -0.5 * gap, view->normal), view->normal, gap, (uint32_t)i};
}

/* The vertices nearer than the margin, in rising order; they hang together by edges, so that those around the lowest one
 * are all. -1 when there are more than fit. */
static int32_t low_vertices(const rs_convex *hull, const plane_view *view, int32_t lowest, double margin, int32_t *low) {
    if (hull->vertex_count > MARKED_MAX) return -1;
    uint64_t marked[MARKED_MAX / 64];
    int32_t words = (hull->vertex_count + 63) / 64, count = 1;
    memset(marked, 0, sizeof(uint64_t) * (size_t)words);
    low[0] = lowest;
    marked[lowest / 64] |= 1ULL << (lowest % 64);
    for (int32_t k = 0; k < count; k++)
        for (int32_t e = hull->neighbor_first[low[k]]; e < hull->neighbor_first[low[k] + 1]; e++) {
            int32_t next = hull->neighbors[e];
            uint64_t bit = 1ULL << (next % 64);
            if ((marked[next / 64] & bit) != 0 ||
                view->height + rs_dot(view->local, hull->vertices[next]) >= margin)
                continue;
            if (count == LOW_MAX) return -1;
            marked[next / 64] |= bit;
            low[count++] = next;
        }
    count = 0;
    for (int32_t w = 0; w < words; w++)
        for (uint64_t left = marked[w]; left != 0; left &= left - 1)
            low[count++] = 64 * w + __builtin_ctzll(left);
    return count;
}

void rs_collide_convex_half_space(const rs_shape *a, const rs_transform *ta, const rs_shape *b, const rs_transform *tb,
                                  const rs_collide_settings *settings, rs_manifold *out) {
    (void)b;
    plane_view view = view_plane(ta, tb);
    const rs_convex *hull = a->convex;
    rs_pair_hint *hint = settings->hint;
    if (hint != NULL) hint->used = true;
    if (keeps_points(hull, &view, settings->margin, hint)) {
        for (int k = 0; k < hint->kept_count && k < settings->max_points; k++)
            out->points[out->count++] = point_of_vertex(hull, &view, ta, hint->kept[k]);
        return;
    }
    int before_count = hint != NULL ? hint->kept_count : 0;
    int32_t before[RS_MAX_MANIFOLD];
    for (int k = 0; k < before_count; k++) before[k] = hint->kept[k];
    if (hint != NULL) hint->kept_count = 0;
    int32_t lowest = lowest_vertex(hull, view.local, hint);
    if (view.height + rs_dot(view.local, hull->vertices[lowest]) >= settings->margin) return;
    int32_t low[LOW_MAX];
    int32_t low_count = low_vertices(hull, &view, lowest, settings->margin, low);
    rs_manifold_point points[64];
    int count = 0;
    for (int32_t k = 0; k < (low_count < 0 ? hull->vertex_count : low_count); k++) {
        int32_t i = low_count < 0 ? k : low[k];
        if (view.height + rs_dot(view.local, hull->vertices[i]) >= settings->margin) continue;
        if (count == 64) count = rs_points_reduce_again(points, count, RS_MAX_MANIFOLD, before, before_count);
        points[count++] = point_of_vertex(hull, &view, ta, i);
    }
    out->count = rs_points_reduce_again(points, count, settings->max_points, before, before_count);
    for (int i = 0; i < out->count; i++) out->points[i] = points[i];
    remember_points(hull, &view, settings->margin, out, hint);
}
