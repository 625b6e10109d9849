/* Convex shapes and half-spaces against meshes and heightmaps. */
#include "collide_terrain.h"
#include "narrow_phase.h"
#include "surface_probe.h"

/* The half-space that ends at a point of the surface, seen from the world. */
static rs_transform tangent_plane(const rs_transform *surface, rs_vec3 point, rs_vec3 direction) {
    rs_vec3 x, y;
    rs_tangents(direction, &x, &y);
    rs_transform local = {.rot = {{x.x, y.x, direction.x, x.y, y.y, direction.y, x.z, y.z, direction.z}}, .pos = point};
    return rs_transform_mul(surface, &local);
}

bool rs_collide_when_inside(const rs_shape *a, const rs_transform *ta, rs_vec3 point_of_a, const rs_surface *surface,
                            const rs_transform *tb, const rs_collide_settings *settings, rs_manifold *out) {
    rs_vec3 exit, direction;
    if (!rs_surface_way_out(surface, point_of_a, &exit, &direction)) return false;
    rs_shape half_space = {.type = RS_SHAPE_HALF_SPACE};
    rs_transform plane = tangent_plane(tb, exit, direction);
    rs_collide(a, ta, &half_space, &plane, settings, out);
    return true;
}

/* Whether the shape stays clear of all the triangles under its box: one plane over them answers for most shapes that
 * are merely near the ground. */
static bool clears_ground(const rs_shape *a, const rs_transform *pose, const rs_height_grid *grid, const rs_aabb *box,
                          double margin) {
    rs_height_lid lid;
    if (!rs_height_grid_lid(grid, box, 0.5 * (box->min.x + box->max.x), 0.5 * (box->min.y + box->max.y), &lid))
        return false;
    rs_vec3 lowest = rs_transform_point(pose, rs_shape_support(a, rs_neg(rs_m3_tmulv(&pose->rot, lid.normal))));
    return rs_dot(lid.normal, lowest) - lid.offset >= margin;
}

typedef void probe_triangle(rs_surface_probe *probe, uint32_t id);

static void collide_surface(const rs_shape *a, const rs_transform *ta, const rs_shape *b, const rs_transform *tb,
                            const rs_collide_settings *settings, probe_triangle *probe_one, rs_manifold *out) {
    rs_surface surface = rs_surface_of(b);
    rs_transform pose = rs_transform_relative(tb, ta);
    rs_aabb box = rs_shape_aabb(a, &pose);
    box = rs_aabb_grown(&box, rs_max(settings->margin, 0.0));
    if (surface.grid != NULL && clears_ground(a, &pose, surface.grid, &box, settings->margin)) return;
    rs_surface_probe probe;
    rs_surface_probe_make(&probe, &surface, a, &pose, settings);
    /* for heightmaps this is one lookup, and settles everything */
    if (surface.grid != NULL && rs_collide_when_inside(a, ta, probe.center, &surface, tb, settings, out)) return;

    rs_surface_query query;
    rs_surface_query_begin(&query, &surface, box);
    for (uint32_t id; rs_surface_query_next(&query, &id);) probe_one(&probe, id);

    bool maybe_inside = surface.mesh != NULL && (probe.met_from_behind || !rs_surface_contacts_overlap(&probe.contacts));
    if (maybe_inside && rs_collide_when_inside(a, ta, probe.center, &surface, tb, settings, out)) return;
    /* points that are merely near do not make up for an overlap */
    double nothing_below = probe.contacts.count == 0 ? settings->margin : 0.0;
    if (probe.has_spare && probe.spare.separation < nothing_below && !rs_surface_contacts_overlap(&probe.contacts))
        rs_surface_contacts_add(&probe.contacts, &probe.spare);
    rs_surface_contacts_drop_explained(&probe.contacts, &surface);
    rs_surface_contacts_finish(&probe.contacts, tb, settings->max_points, out);
}

/* A ball over a heightmap has mostly one triangle to do with; false when there may be more. */
static bool rest_on_one_face(double radius, rs_vec3 center, const rs_height_grid *grid, const rs_transform *tb, double margin,
                             rs_manifold *out) {
    rs_grid_face face;
    rs_vec3 p = rs_transform_inv_point(tb, center);
    if (!rs_height_grid_face_below(grid, p, radius + rs_max(margin, 0.0), &face)) return false;
    double gap = face.distance - radius;
    if (gap < margin)
        rs_manifold_add(out, rs_transform_point(tb, rs_madd(face.nearest, 0.5 * gap, face.normal)),
                        rs_m3_mulv(&tb->rot, face.normal), gap, rs_face_feature(face.triangle));
    return true;
}

void rs_collide_sphere_surface(const rs_shape *a, const rs_transform *ta, const rs_shape *b, const rs_transform *tb,
                               const rs_collide_settings *settings, rs_manifold *out) {
    if (b->type == RS_SHAPE_HEIGHTMAP && rest_on_one_face(a->radius, ta->pos, b->grid, tb, settings->margin, out)) return;
    collide_surface(a, ta, b, tb, settings, rs_probe_sphere_triangle, out);
}

void rs_collide_convex_surface(const rs_shape *a, const rs_transform *ta, const rs_shape *b, const rs_transform *tb,
                               const rs_collide_settings *settings, rs_manifold *out) {
    collide_surface(a, ta, b, tb, settings, rs_probe_convex_triangle, out);
}

/* ---- half-space ---- */

/* Height of the lowest corner of a child's box over the plane. */
static double lowest_corner(const rs_bvh_node *node, int i, rs_vec3 n, double offset) {
    return rs_min(n.x * (double)node->lo[0][i], n.x * (double)node->hi[0][i]) +
           rs_min(n.y * (double)node->lo[1][i], n.y * (double)node->hi[1][i]) +
           rs_min(n.z * (double)node->lo[2][i], n.z * (double)node->hi[2][i]) - offset;
}

static void add_low_vertices(const rs_tri_mesh *mesh, uint32_t triangle, rs_vec3 n, double offset, double margin,
                             rs_surface_contacts *set) {
    for (int k = 0; k < 3; k++) {
        uint32_t id = mesh->triangles[triangle][k];
        double gap = rs_dot(n, mesh->vertices[id]) - offset;
        if (gap >= margin) continue;
        rs_surface_contact c = {{rs_madd(mesh->vertices[id], -0.5 * gap, n), rs_neg(n), gap, id}, gap, RS_NO_TRIANGLE};
        rs_surface_contacts_add(set, &c);
    }
}

void rs_collide_half_space_mesh(const rs_shape *a, const rs_transform *ta, const rs_shape *b, const rs_transform *tb,
                                const rs_collide_settings *settings, rs_manifold *out) {
    (void)a;
    const rs_tri_mesh *mesh = b->mesh;
    rs_vec3 n = rs_m3_tmulv(&tb->rot, rs_m3_col(&ta->rot, 2));
    double offset = rs_dot(n, rs_transform_inv_point(tb, ta->pos));
    rs_surface_contacts set;
    rs_surface_contacts_make(&set, rs_tri_mesh_size(mesh));
    uint32_t stack[RS_BVH_STACK] = {0};
    for (int top = 1; top > 0;) {
        const rs_bvh_node *node = &mesh->bvh.nodes[stack[--top]];
        for (int i = 0; i < RS_BVH_WIDTH; i++) {
            if (node->lo[0][i] > node->hi[0][i] || lowest_corner(node, i, n, offset) >= settings->margin) continue;
            if (node->count[i] == 0) stack[top++] = node->child[i];
            for (uint32_t t = node->child[i]; t < node->child[i] + node->count[i]; t++)
                add_low_vertices(mesh, t, n, offset, settings->margin, &set);
        }
    }
    rs_surface_contacts_finish(&set, tb, settings->max_points, out);
}
