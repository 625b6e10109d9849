/* Edges and faces of deformable objects against shapes: what is thinner than the distance of vertices must not slip through. */
#include "../collision/gjk.h"
#include "../collision/surface.h"
#include "deformable.h"

/* Nearer to a corner than this, the ball of the corner answers. */
static const double AT_CORNER = 0.999;
/* Sine of the angle by which a vertex of a surface may push beside its edges. */
static const double VERTEX_SLACK = 0.05;

static void weigh(const rs_vec3 v[3], rs_vec3 p, double weight[3]) {
    rs_vec3 ab = rs_sub(v[1], v[0]), ac = rs_sub(v[2], v[0]), ap = rs_sub(p, v[0]);
    double bb = rs_norm2(ab), bc = rs_dot(ab, ac), cc = rs_norm2(ac), pb = rs_dot(ap, ab), pc = rs_dot(ap, ac);
    double area = bb * cc - bc * bc;
    if (area <= 1e-24 * bb * cc) { /* flat as a line: along its longer side */
        double along = bb >= cc ? pb / rs_max(bb, 1e-300) : pc / rs_max(cc, 1e-300);
        along = rs_clamp(along, 0.0, 1.0);
        weight[1] = bb >= cc ? along : 0.0;
        weight[2] = bb >= cc ? 0.0 : along;
    } else {
        weight[1] = rs_clamp((cc * pb - bc * pc) / area, 0.0, 1.0);
        weight[2] = rs_clamp((bb * pc - bc * pb) / area, 0.0, 1.0 - weight[1]);
    }
    weight[0] = 1.0 - weight[1] - weight[2];
}

/* Both sides cut each other: the triangle leaves along its normal, a closed surface inwards, others to the side from which
 * they look at the middle of the shape. */
static void leave(const rs_core_pair *pair, bool closed, rs_gjk_result *found) {
    rs_vec3 v[3] = {pair->a->triangle[0], pair->a->triangle[1], pair->a->triangle[2]};
    rs_vec3 n = rs_normalize_or(rs_cross(rs_sub(v[1], v[0]), rs_sub(v[2], v[0])), rs_v3(0.0, 0.0, 1.0));
    rs_vec3 middle = rs_add(rs_m3_mulv(&pair->b_in_a.rot, pair->b->center), pair->b_in_a.pos);
    bool turned = closed || rs_dot(n, rs_sub(v[0], middle)) < 0.0;
    found->normal = turned ? rs_neg(n) : n;
    rs_difference_point deepest = rs_pair_support(pair, rs_neg(found->normal));
    rs_triangle_part part;
    int index;
    found->distance = rs_dot(found->normal, deepest.w);
    found->on_b = rs_sub(deepest.on_a, deepest.w);
    found->on_a = rs_triangle_nearest(v, found->on_b, &part, &index);
}

/* In the frame of the triangle, which has the world's axes; false when they do not meet between corners. */
static bool meet(const rs_core_pair *pair, bool closed, const rs_collide_settings *settings, rs_gjk_result *found,
                 rs_face_contact *out) {
    rs_gjk_outcome outcome = rs_gjk(pair, settings->margin + pair->rounding, settings, found);
    if (outcome == RS_GJK_FAR)
        return false;
    if (outcome == RS_GJK_OVERLAP)
        leave(pair, closed, found);
    weigh(pair->a->triangle, found->on_a, out->weight);
    out->normal = found->normal;
    out->gap = found->distance - pair->rounding;
    out->point = rs_madd(found->on_a, -(pair->a->rounding + 0.5 * out->gap), found->normal);
    return out->gap < settings->margin && rs_max(out->weight[0], rs_max(out->weight[1], out->weight[2])) < AT_CORNER;
}

/* Whether a surface may push there: not out of a flat or hollow edge. Inside its faces the corners' balls answer. */
static bool allows(const rs_surface *surface, const rs_surface_triangle *face, rs_vec3 point, rs_vec3 direction) {
    rs_triangle_part part;
    int index;
    rs_triangle_nearest(face->v, point, &part, &index);
    if (part == RS_ON_FACE)
        return false;
    return part == RS_ON_EDGE ? rs_surface_edge_is_active(face, index)
                              : rs_surface_vertex_allows(surface, face->vertex_id[index], direction, VERTEX_SLACK);
}

static int meet_surface(const rs_core *own, const rs_transform *at, const rs_near_shape *near,
                        const rs_collide_settings *settings, rs_face_contact *out) {
    rs_surface surface = rs_surface_of(near->shape);
    rs_aabb box = {rs_v3(INFINITY, INFINITY, INFINITY), rs_v3(-INFINITY, -INFINITY, -INFINITY)};
    rs_vec3 local[3];
    for (int k = 0; k < 3; k++) {
        local[k] = rs_m3_tmulv(&near->pose.rot, rs_sub(rs_add(at->pos, own->triangle[k]), near->pose.pos));
        box.min = rs_v3_min(box.min, local[k]);
        box.max = rs_v3_max(box.max, local[k]);
    }
    rs_vec3 viewer = rs_scale(1.0 / 3.0, rs_add(local[0], rs_add(local[1], local[2])));
    rs_surface_query query;
    uint32_t id;
    int count = 0;
    rs_surface_query_begin(&query, &surface, rs_aabb_grown(&box, own->rounding + settings->margin));
    while (count < RS_MAX_FACE_CONTACTS && rs_surface_query_next(&query, &id)) {
        rs_surface_triangle face;
        rs_surface_get(&surface, id, viewer, &face);
        rs_core core = rs_core_of_triangle(face.v);
        rs_core_pair pair = rs_core_pair_make(own, at, &core, &near->pose);
        rs_gjk_result found;
        if (rs_gjk(&pair, settings->margin + pair.rounding, settings, &found) != RS_GJK_APART ||
            !meet(&pair, false, settings, &found, &out[count]))
            continue;
        rs_vec3 on_b = rs_m3_tmulv(&near->pose.rot, rs_sub(rs_add(at->pos, found.on_b), near->pose.pos));
        rs_surface_find_neighbors(&surface, &face);
        if (allows(&surface, &face, on_b, rs_m3_tmulv(&near->pose.rot, found.normal)))
            count++;
    }
    return count;
}

int rs_face_contacts(const rs_vec3 corners[3], double radius, bool closed, const rs_near_shape *near,
                     const rs_collide_settings *settings, rs_face_contact out[RS_MAX_FACE_CONTACTS]) {
    rs_transform at = {rs_m3_identity(), corners[0]};
    rs_vec3 local[3];
    for (int k = 0; k < 3; k++)
        local[k] = rs_sub(corners[k], corners[0]);
    rs_core own = rs_core_of_triangle(local);
    own.rounding = radius;
    int count = 0;
    if (rs_shape_is_convex(near->shape->type)) {
        rs_core core = rs_core_of_shape(near->shape);
        rs_core_pair pair = rs_core_pair_make(&own, &at, &core, &near->pose);
        rs_gjk_result found;
        count = meet(&pair, closed, settings, &found, out);
    } else if (near->shape->type == RS_SHAPE_MESH || near->shape->type == RS_SHAPE_HEIGHTMAP) {
        count = meet_surface(&own, &at, near, settings, out);
    }
    for (int k = 0; k < count; k++)
        out[k].point = rs_add(out[k].point, corners[0]);
    return count;
}
