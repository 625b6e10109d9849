/* Meshes against meshes and heightmaps: pairs of triangles that touch.
 *
 * Two triangles of solids that have run into each other say little by themselves; what counts is in which direction
 * both surfaces may push there. So the directions tried are the two normals, the cross products of convex edges and
 * the line between nearest points, and only those count that both surfaces allow (surface.h). */
#include "clip.h"
#include "collide_terrain.h"
#include "gjk.h"
#include "narrow_phase.h"
#include "surface_contacts.h"
#include "surface_probe.h"

/* Directions may miss what a surface allows by this angle, so that faces which are nearly parallel meet [rad]. */
static const double SLACK = 0.02;
/* How far, relative to the size of the mesh, a point may lie beside the triangle it touches. */
static const double BESIDE = 1e-4;

typedef struct {
    const rs_surface *a, *b;
    rs_transform a_in_b;
    rs_vec3 center_a, center_b; /* of the boxes, frame of B: which side of a shell the other is on */
    const rs_collide_settings *settings;
    rs_surface_contacts contacts;
} mesh_pair;

typedef enum { FACE_OF_B, FACE_OF_A, EDGES, NEAREST } axis_kind;

typedef struct {
    rs_vec3 d; /* from B to A */
    double separation;
    axis_kind kind;
    int edge_a, edge_b;
} pair_axis;

static int next3(int k) { return k == 2 ? 0 : k + 1; }

static double lowest(const rs_surface_triangle *t, rs_vec3 d) {
    return fmin(rs_dot(d, t->v[0]), fmin(rs_dot(d, t->v[1]), rs_dot(d, t->v[2])));
}

static double highest(const rs_surface_triangle *t, rs_vec3 d) { return -lowest(t, rs_neg(d)); }

/* ---- which directions count ---- */

/* Whether the triangle may push along d, `local` being d in the frame of its surface. */
static bool allows(const rs_surface *s, const rs_surface_triangle *t, rs_vec3 d, rs_vec3 local) {
    if (rs_dot(d, t->normal) >= 1.0 - 0.5 * SLACK * SLACK) return true;
    double top = highest(t, d);
    for (int k = 0; k < 3; k++) {
        rs_vec3 side = rs_sub(t->v[next3(k)], t->v[k]);
        double level = SLACK * rs_norm(side);
        if (top - rs_dot(d, t->v[k]) > level || top - rs_dot(d, t->v[next3(k)]) > level) continue;
        rs_surface_edge edge = rs_surface_edge_of(t, k);
        double angle = atan2(rs_dot(d, edge.outward), rs_dot(d, t->normal));
        if (angle >= -SLACK && angle <= edge.max_angle + SLACK) return true;
    }
    for (int k = 0; k < 3; k++) {
        if (rs_dot(d, t->v[k]) < top) continue;
        bool outside = s->mesh == NULL || !s->mesh->solid ||
                       rs_dot(local, s->mesh->vertex_normals[t->vertex_id[k]]) > 0.0;
        return outside && rs_surface_vertex_allows(s, t->vertex_id[k], local, SLACK);
    }
    return false;
}

static void consider(const mesh_pair *p, const rs_surface_triangle *ta, const rs_surface_triangle *tb, pair_axis axis,
                     pair_axis *best) {
    axis.separation = lowest(ta, axis.d) - highest(tb, axis.d);
    if (axis.separation <= best->separation) return;
    rs_vec3 back = rs_neg(axis.d);
    if (allows(p->b, tb, axis.d, axis.d) && allows(p->a, ta, back, rs_m3_tmulv(&p->a_in_b.rot, back))) *best = axis;
}

static void consider_edges(const mesh_pair *p, const rs_surface_triangle *ta, const rs_surface_triangle *tb,
                           pair_axis *best) {
    for (int i = 0; i < 3; i++) {
        if (!rs_surface_edge_is_active(ta, i)) continue;
        rs_vec3 ea = rs_sub(ta->v[next3(i)], ta->v[i]);
        for (int j = 0; j < 3; j++) {
            if (!rs_surface_edge_is_active(tb, j)) continue;
            rs_vec3 eb = rs_sub(tb->v[next3(j)], tb->v[j]), c = rs_cross(ea, eb);
            double n2 = rs_norm2(c);
            if (n2 < 1e-6 * rs_norm2(ea) * rs_norm2(eb)) continue; /* parallel: the faces tell more */
            rs_vec3 d = rs_scale(1.0 / sqrt(n2), c);
            consider(p, ta, tb, (pair_axis){.d = d, .kind = EDGES, .edge_a = i, .edge_b = j}, best);
            consider(p, ta, tb, (pair_axis){.d = rs_neg(d), .kind = EDGES, .edge_a = i, .edge_b = j}, best);
        }
    }
}

/* ---- contact points ---- */

static uint32_t pair_feature(const rs_surface_triangle *ta, const rs_surface_triangle *tb, uint32_t corner) {
    return (ta->id * 2654435761u ^ tb->id * 40503u) * 2246822519u ^ corner;
}

/* What of `other` lies over the face, as points whose heights over it are the gaps. `sign` is +1 when the face belongs
 * to B, so that its normal points to A, and -1 otherwise. */
static void add_face_contacts(mesh_pair *p, const rs_surface_triangle *face, const rs_surface_triangle *other,
                              double sign) {
    rs_patch_frame f = rs_patch_frame_make(face->v[0], face->normal);
    rs_clip_polygon patch = {.count = 3};
    for (int k = 0; k < 3; k++) {
        rs_vec3 v = rs_sub(other->v[k], f.origin);
        patch.vertices[k] = (rs_clip_vertex){.x = rs_dot(v, f.x), .y = rs_dot(v, f.y), .z = rs_dot(v, f.normal),
                                             .in = (uint8_t)k, .out = (uint8_t)next3(k)};
    }
    for (int k = 0; k < 3; k++) {
        rs_vec3 along = rs_normalize_or(rs_sub(face->v[next3(k)], face->v[k]), f.x);
        rs_vec3 outward = rs_cross(along, face->normal);
        double limit = rs_dot(outward, rs_sub(face->v[k], f.origin)) + BESIDE * p->contacts.size;
        rs_clip_by_line(&patch, rs_dot(outward, f.x), rs_dot(outward, f.y), limit, (uint8_t)(100 + k));
    }
    for (int i = 0; i < patch.count; i++) {
        const rs_clip_vertex *v = &patch.vertices[i];
        if (v->z >= p->settings->margin) continue;
        rs_surface_contact c = {{rs_patch_point(&f, v->x, v->y, 0.5 * v->z), rs_scale(sign, f.normal), v->z,
                                 pair_feature(face, other, (uint32_t)v->in << 8 | v->out)},
                                v->z, RS_NO_TRIANGLE};
        rs_surface_contacts_add(&p->contacts, &c);
    }
}

/* Middle of the nearest points of the lines through two edges. */
static rs_vec3 between_edges(const rs_surface_triangle *ta, int i, const rs_surface_triangle *tb, int j) {
    rs_vec3 ea = rs_sub(ta->v[next3(i)], ta->v[i]), eb = rs_sub(tb->v[next3(j)], tb->v[j]);
    rs_vec3 r = rs_sub(ta->v[i], tb->v[j]);
    double aa = rs_norm2(ea), bb = rs_norm2(eb), ab = rs_dot(ea, eb), ar = rs_dot(ea, r), br = rs_dot(eb, r);
    double s = rs_clamp((ab * br - bb * ar) / (aa * bb - ab * ab), 0.0, 1.0);
    double u = rs_clamp((ab * s + br) / bb, 0.0, 1.0);
    return rs_scale(0.5, rs_add(rs_madd(ta->v[i], s, ea), rs_madd(tb->v[j], u, eb)));
}

static void collide_triangles(mesh_pair *p, const rs_surface_triangle *ta, const rs_surface_triangle *tb) {
    rs_core core_a = rs_core_of_triangle(ta->v), core_b = rs_core_of_triangle(tb->v);
    rs_transform identity = rs_transform_identity();
    rs_core_pair cores = rs_core_pair_make(&core_a, &identity, &core_b, &identity);
    rs_gjk_result gjk;
    rs_gjk_outcome outcome = rs_gjk(&cores, fmax(p->settings->margin, 0.0), p->settings, &gjk);
    if (outcome == RS_GJK_FAR) return;
    pair_axis best = {.separation = -INFINITY};
    consider(p, ta, tb, (pair_axis){.d = tb->normal, .kind = FACE_OF_B}, &best);
    consider(p, ta, tb, (pair_axis){.d = rs_neg(ta->normal), .kind = FACE_OF_A}, &best);
    best.separation += 1e-9 * p->contacts.size; /* faces win ties */
    consider_edges(p, ta, tb, &best);
    if (outcome == RS_GJK_APART) consider(p, ta, tb, (pair_axis){.d = gjk.normal, .kind = NEAREST}, &best);
    if (best.separation == -INFINITY || best.separation >= p->settings->margin) return;
    if (best.kind == FACE_OF_B) {
        add_face_contacts(p, tb, ta, 1.0);
    } else if (best.kind == FACE_OF_A) {
        add_face_contacts(p, ta, tb, -1.0);
    } else {
        rs_vec3 middle = best.kind == EDGES ? between_edges(ta, best.edge_a, tb, best.edge_b)
                                            : rs_lerp(gjk.on_a, gjk.on_b, 0.5);
        rs_surface_contact c = {{middle, best.d, best.separation, pair_feature(ta, tb, 0xffff)}, best.separation,
                                RS_NO_TRIANGLE};
        rs_surface_contacts_add(&p->contacts, &c);
    }
}

/* ---- walking over both ---- */

static rs_aabb grown(rs_aabb box, double by) {
    rs_vec3 g = rs_v3(by, by, by);
    return (rs_aabb){rs_sub(box.min, g), rs_add(box.max, g)};
}

static void move_triangle(rs_surface_triangle *t, const rs_transform *pose) {
    for (int k = 0; k < 3; k++) {
        t->v[k] = rs_transform_point(pose, t->v[k]);
        t->apex[k] = rs_transform_point(pose, t->apex[k]);
    }
    t->normal = rs_m3_mulv(&pose->rot, t->normal);
}

/* Box of the triangles of a surface, which for a heightmap is not that of the solid. */
static rs_aabb surface_box(const rs_surface *s) {
    if (s->mesh != NULL) return s->mesh->box;
    rs_vec3 half = rs_v3(0.5 * s->grid->x_size, 0.5 * s->grid->y_size, 0.0);
    return (rs_aabb){rs_v3(-half.x, -half.y, s->grid->min_height), rs_v3(half.x, half.y, s->grid->max_height)};
}

static rs_aabb turned_box(rs_aabb box, const rs_transform *pose) {
    rs_shape shape = {.type = RS_SHAPE_BOX, .half = rs_scale(0.5, rs_sub(box.max, box.min))};
    rs_transform at = {pose->rot, rs_transform_point(pose, rs_scale(0.5, rs_add(box.min, box.max)))};
    return rs_shape_aabb(&shape, &at);
}

static void collide_all_pairs(mesh_pair *p) {
    double margin = fmax(p->settings->margin, 0.0);
    rs_transform identity = rs_transform_identity(), b_in_a = rs_transform_relative(&p->a_in_b, &identity);
    rs_surface_query of_a, of_b;
    rs_surface_query_begin(&of_a, p->a, grown(turned_box(surface_box(p->b), &b_in_a), margin));
    for (uint32_t id_a, id_b; rs_surface_query_next(&of_a, &id_a);) {
        rs_surface_triangle ta = rs_surface_get(p->a, id_a);
        move_triangle(&ta, &p->a_in_b);
        rs_surface_face_viewer(p->a, &ta, p->center_b);
        rs_aabb box = {rs_v3_min(ta.v[0], rs_v3_min(ta.v[1], ta.v[2])), rs_v3_max(ta.v[0], rs_v3_max(ta.v[1], ta.v[2]))};
        rs_surface_query_begin(&of_b, p->b, grown(box, margin));
        while (rs_surface_query_next(&of_b, &id_b)) {
            rs_surface_triangle tb = rs_surface_get(p->b, id_b);
            rs_surface_face_viewer(p->b, &tb, p->center_a);
            collide_triangles(p, &ta, &tb);
        }
    }
}

static bool touches(const rs_surface_contacts *set) {
    for (int i = 0; i < set->count; i++)
        if (set->items[i].point.gap < 0.0) return true;
    return false;
}

static rs_vec3 any_vertex(const rs_tri_mesh *mesh) { return mesh->vertices[mesh->triangles[0][0]]; }

/* Without a cut, one may still lie wholly inside the other: any of its vertices tells. */
static bool collide_swallowed(const rs_shape *a, const rs_transform *ta, const rs_shape *b, const rs_transform *tb,
                              const mesh_pair *p, rs_manifold *out) {
    rs_vec3 vertex_a = rs_transform_point(&p->a_in_b, any_vertex(a->mesh));
    if (rs_collide_when_inside(a, ta, vertex_a, p->b, tb, p->settings, out)) return true;
    if (b->type != RS_SHAPE_MESH) return false;
    rs_vec3 vertex_b = rs_transform_inv_point(&p->a_in_b, any_vertex(b->mesh));
    if (!rs_collide_when_inside(b, tb, vertex_b, p->a, ta, p->settings, out)) return false;
    for (int i = 0; i < out->count; i++) out->points[i].normal = rs_neg(out->points[i].normal);
    return true;
}

void rs_collide_mesh_surface(const rs_shape *a, const rs_transform *ta, const rs_shape *b, const rs_transform *tb,
                             const rs_collide_settings *settings, rs_manifold *out) {
    rs_surface surface_a = rs_surface_of(a), surface_b = rs_surface_of(b);
    rs_aabb box_a = a->mesh->box, box_b = surface_box(&surface_b);
    rs_vec3 extent = rs_sub(box_a.max, box_a.min);
    mesh_pair p;
    p.a = &surface_a;
    p.b = &surface_b;
    p.a_in_b = rs_transform_relative(tb, ta);
    p.center_a = rs_transform_point(&p.a_in_b, rs_scale(0.5, rs_add(box_a.min, box_a.max)));
    p.center_b = rs_scale(0.5, rs_add(box_b.min, box_b.max));
    p.settings = settings;
    rs_surface_contacts_init(&p.contacts, fmin(extent.x, fmin(extent.y, extent.z)));
    collide_all_pairs(&p);
    if (!touches(&p.contacts) && collide_swallowed(a, ta, b, tb, &p, out)) return;
    rs_surface_contacts_finish(&p.contacts, tb, settings->max_points, out);
}
