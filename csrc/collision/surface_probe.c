#include "surface_probe.h"

#include "collide_convex.h"

/* Sine of the angle by which a sphere's direction may miss what a feature allows: rounding only. */
static const double EXACT_SLACK = 1e-9;
/* The same for directions that an iteration found. */
static const double ITERATED_SLACK = 1e-4;
/* How far, relative to the shape's size, a point may lie beside a feature it is said to touch. */
static const double BESIDE = 1e-4;

/* Penetration, relative to the shape's size, from which the nearest points of one triangle no longer tell the way out
 * of the whole surface. */
static const double DEEP = 0.01;
static const double GOLDEN = 0.61803398874989485;
enum { GOLDEN_STEPS = 20 };

enum { FACE = 0, EDGE = 1, VERTEX = 4, SPARE = 7 }; /* feature numbers within a triangle; edges 1..3, vertices 4..6 */

/* ---- the probe ---- */

static double smallest_extent(const rs_shape *shape) {
    rs_transform identity = rs_transform_identity();
    rs_aabb box = rs_shape_aabb(shape, &identity);
    rs_vec3 s = rs_sub(box.max, box.min);
    return rs_min(s.x, rs_min(s.y, s.z));
}

void rs_surface_probe_make(rs_surface_probe *p, const rs_surface *surface, const rs_shape *shape,
                           const rs_transform *pose, const rs_collide_settings *settings) {
    p->surface = surface;
    p->shape = shape;
    p->settings = settings;
    p->core = rs_core_of_shape(shape);
    p->pose = *pose;
    p->center = rs_transform_point(pose, p->core.center);
    p->met_from_behind = false;
    p->has_spare = false;
    p->last_patch.count = 0;
    rs_surface_contacts_make(&p->contacts, smallest_extent(shape));
}

static rs_surface_contact make_contact(const rs_surface_triangle *t, rs_vec3 on_surface, rs_vec3 normal, double gap,
                                       double separation, uint32_t feature) {
    return (rs_surface_contact){{rs_madd(on_surface, 0.5 * gap, normal), normal, gap, feature}, separation, t->id};
}

/* One number for a triangle, a feature of it and a corner of the contact patch. */
static uint32_t name_of(uint32_t triangle, uint32_t part, uint32_t corner) {
    return (triangle * 8 + part) * 2654435761u ^ corner;
}

static uint32_t feature_name(const rs_surface_triangle *t, uint32_t part, uint32_t corner) {
    return name_of(t->id, part, corner);
}

uint32_t rs_face_feature(uint32_t triangle) { return name_of(triangle, FACE, 0); }

/* ---- spheres: closed form ---- */

static bool edge_pushes(const rs_surface_triangle *t, int k, rs_vec3 d) {
    if (t->rim[k]) return true;
    if (!rs_surface_edge_is_active(t, k)) return rs_dot(d, t->normal) >= 1.0 - EXACT_SLACK;
    rs_vec3 to_apex = rs_sub(t->apex[k], t->v[k]);
    return rs_dot(d, to_apex) <= EXACT_SLACK * rs_norm(to_apex);
}

void rs_probe_sphere_triangle(rs_surface_probe *p, uint32_t id) {
    rs_surface_triangle t;
    rs_surface_get(p->surface, id, p->center, &t);
    double radius = p->core.rounding;
    rs_triangle_part part;
    int k;
    rs_vec3 nearest = rs_triangle_nearest(t.v, p->center, &part, &k);
    rs_vec3 delta = rs_sub(p->center, nearest);
    double distance = rs_norm(delta);
    if (distance - radius >= p->settings->margin) return;
    double height = rs_dot(t.normal, rs_sub(p->center, t.v[0]));
    if (part == RS_ON_FACE && height < 0.0) {
        p->met_from_behind = true;
        return;
    }
    if (part == RS_ON_EDGE) rs_surface_find_neighbors(p->surface, &t);
    rs_vec3 normal = part == RS_ON_FACE || distance < 1e-12 * radius ? t.normal : rs_scale(1.0 / distance, delta);
    if (part == RS_ON_EDGE && !edge_pushes(&t, k, normal)) return;
    if (part == RS_ON_VERTEX && !rs_surface_vertex_allows(p->surface, t.vertex_id[k], normal, EXACT_SLACK)) return;
    uint32_t name = part == RS_ON_FACE ? FACE : part == RS_ON_EDGE ? EDGE + (uint32_t)k : VERTEX + (uint32_t)k;
    double gap = distance - radius;
    rs_surface_contact c = make_contact(&t, nearest, normal, gap, gap, feature_name(&t, name, 0));
    rs_surface_contacts_add(&p->contacts, &c);
}

/* ---- other convex shapes: the direction of contact ---- */

typedef struct {
    rs_vec3 normal;    /* from the triangle to the shape */
    double separation; /* of shape and triangle along it */
    uint32_t part;     /* FACE, EDGE + k or VERTEX + k */
} contact_axis;

/* Where shape and triangle are nearest, or how they are pushed apart the shortest way, whatever the neighbours say. */
typedef struct {
    bool known;
    double gap;
    rs_vec3 normal, on_triangle;
} raw_axis;

/* False when the two are farther apart than the margin. */
static bool find_raw_axis(const rs_surface_probe *p, const rs_surface_triangle *t, raw_axis *out) {
    rs_core triangle = rs_core_of_triangle(t->v);
    rs_transform identity = rs_transform_identity();
    rs_core_pair pair = rs_core_pair_make(&triangle, &identity, &p->core, &p->pose);
    rs_convex_contact nearest;
    if (!rs_convex_query(&pair, p->settings, &nearest)) return false;
    *out = (raw_axis){true, nearest.gap, rs_neg(nearest.normal), nearest.on_a};
    return true;
}

static double separation_along(const rs_surface_probe *p, const rs_surface_triangle *t, rs_vec3 d) {
    rs_vec3 lowest = rs_transform_point(&p->pose, rs_core_support(&p->core, rs_neg(rs_m3_tmulv(&p->pose.rot, d))));
    double top = rs_max(rs_dot(d, t->v[0]), rs_max(rs_dot(d, t->v[1]), rs_dot(d, t->v[2])));
    return rs_dot(d, lowest) - p->core.rounding - top;
}

/* Takes the axis when it needs less motion than the best so far, and the shape's centre is on its outer side: through
 * a thin wall, the far side must not pull. */
static void consider(const rs_surface_probe *p, const rs_surface_triangle *t, rs_vec3 d, uint32_t part,
                     contact_axis *best) {
    rs_vec3 on_feature = t->v[part >= VERTEX ? part - VERTEX : part >= EDGE ? part - EDGE : 0];
    if (rs_dot(d, rs_sub(p->center, on_feature)) <= 0.0) return;
    double separation = separation_along(p, t, d);
    if (separation > best->separation) *best = (contact_axis){d, separation, part};
}

static rs_vec3 edge_direction(const rs_surface_triangle *t, const rs_surface_edge *edge, double angle) {
    return rs_add(rs_scale(cos(angle), t->normal), rs_scale(sin(angle), edge->outward));
}

/* Golden-section search for the direction of least penetration over an edge, between those of the two faces. */
static rs_vec3 refine_edge_direction(const rs_surface_probe *p, const rs_surface_triangle *t,
                                     const rs_surface_edge *edge) {
    double lo = 0.0, hi = edge->max_angle, x1 = hi - GOLDEN * (hi - lo), x2 = lo + GOLDEN * (hi - lo);
    double f1 = separation_along(p, t, edge_direction(t, edge, x1));
    double f2 = separation_along(p, t, edge_direction(t, edge, x2));
    for (int i = 0; i < GOLDEN_STEPS; i++) {
        if (f1 > f2) {
            hi = x2;
            x2 = x1;
            f2 = f1;
            x1 = hi - GOLDEN * (hi - lo);
            f1 = separation_along(p, t, edge_direction(t, edge, x1));
        } else {
            lo = x1;
            x1 = x2;
            f1 = f2;
            x2 = lo + GOLDEN * (hi - lo);
            f2 = separation_along(p, t, edge_direction(t, edge, x2));
        }
    }
    return edge_direction(t, edge, f1 > f2 ? x1 : x2);
}

static void consider_edge(const rs_surface_probe *p, const rs_surface_triangle *t, int k, rs_vec3 raw,
                          contact_axis *best) {
    rs_surface_edge edge = rs_surface_edge_of(t, k);
    double angle = atan2(rs_dot(raw, edge.outward), rs_dot(raw, t->normal));
    angle = rs_min(angle, edge.max_angle);
    if (angle > 0.0) consider(p, t, edge_direction(t, &edge, angle), EDGE + (uint32_t)k, best);
    if (best->separation < -DEEP * p->contacts.size)
        consider(p, t, refine_edge_direction(p, t, &edge), EDGE + (uint32_t)k, best);
}

/* Of all directions in which the triangle may push, the one with the least penetration or the largest gap. The face
 * wins ties. */
static contact_axis choose_axis(rs_surface_probe *p, const rs_surface_triangle *t, const raw_axis *raw) {
    contact_axis best = {.separation = -INFINITY};
    consider(p, t, t->normal, FACE, &best);
    if (!raw->known) return best;
    best.separation += 1e-9 * p->contacts.size;
    for (int k = 0; k < 3; k++)
        if (rs_surface_edge_is_active(t, k)) consider_edge(p, t, k, raw->normal, &best);
    int top = 0;
    for (int k = 1; k < 3; k++)
        if (rs_dot(raw->normal, t->v[k]) > rs_dot(raw->normal, t->v[top])) top = k;
    if (rs_surface_vertex_allows(p->surface, t->vertex_id[top], raw->normal, ITERATED_SLACK))
        consider(p, t, raw->normal, VERTEX + (uint32_t)top, &best);
    if (best.part == FACE) best.separation -= 1e-9 * p->contacts.size;
    return best;
}

/* ---- contact points along an axis ---- */

static bool same_direction(rs_vec3 a, rs_vec3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

/* The side of the shape that faces along the normal, ready for clipping, in a frame with the given origin. */
static rs_patch_frame facing_patch(rs_surface_probe *p, rs_vec3 origin, rs_vec3 normal, rs_clip_polygon *out) {
    rs_shape_patch *last = &p->last_patch;
    if (last->count == 0 || !same_direction(last->frame.normal, normal))
        rs_shape_patch_find(&p->core, &p->pose, rs_patch_frame_make(origin, normal), last);
    rs_patch_frame frame = last->frame;
    rs_vec3 shift = rs_sub(origin, frame.origin);
    double dx = rs_dot(shift, frame.x), dy = rs_dot(shift, frame.y), dz = rs_dot(shift, normal);
    frame.origin = origin;
    out->count = last->count;
    for (int i = 0; i < last->count; i++) {
        out->vertices[i] = last->corners[i];
        out->vertices[i].x -= dx;
        out->vertices[i].y -= dy;
        out->vertices[i].z -= dz;
    }
    return frame;
}

/* Keeps what lies over the triangle. */
static void clip_to_face(const rs_surface_triangle *t, const rs_patch_frame *f, double tolerance,
                         rs_clip_polygon *patch) {
    for (int k = 0; k < 3; k++) {
        rs_vec3 along = rs_normalize_or(rs_sub(t->v[rs_next3(k)], t->v[k]), f->x);
        rs_vec3 outward = rs_cross(along, t->normal);
        double limit = rs_dot(outward, rs_sub(t->v[k], f->origin)) + tolerance;
        rs_clip_by_line(patch, rs_dot(outward, f->x), rs_dot(outward, f->y), limit, (uint8_t)(100 + k));
    }
}

/* Keeps what lies over the edge that starts at the frame's origin. */
static void clip_to_edge(const rs_surface_triangle *t, int k, const rs_patch_frame *f, double tolerance,
                         rs_clip_polygon *patch) {
    rs_vec3 edge = rs_sub(t->v[rs_next3(k)], t->v[k]);
    double length = rs_norm(edge);
    rs_vec3 along = rs_scale(1.0 / length, edge), across = rs_cross(f->normal, along);
    double ax = rs_dot(along, f->x), ay = rs_dot(along, f->y), cx = rs_dot(across, f->x), cy = rs_dot(across, f->y);
    rs_clip_by_line(patch, ax, ay, length + tolerance, 100);
    rs_clip_by_line(patch, -ax, -ay, tolerance, 101);
    rs_clip_by_line(patch, cx, cy, tolerance, 102);
    rs_clip_by_line(patch, -cx, -cy, tolerance, 103);
}

static void add_patch(rs_surface_probe *p, const rs_surface_triangle *t, const contact_axis *axis,
                      const rs_patch_frame *f, const rs_clip_polygon *patch) {
    for (int i = 0; i < patch->count; i++) {
        const rs_clip_vertex *v = &patch->vertices[i];
        if (v->z >= p->settings->margin) continue;
        rs_surface_contact c = make_contact(t, rs_patch_point(f, v->x, v->y, 0.0), f->normal, v->z, axis->separation,
                                            feature_name(t, axis->part, (uint32_t)v->in << 8 | v->out));
        rs_surface_contacts_add(&p->contacts, &c);
    }
}

static void keep_spare(rs_surface_probe *p, const rs_surface_contact *c) {
    if (p->has_spare && c->separation <= p->spare.separation) return;
    p->has_spare = true;
    p->spare = *c;
}

/* The nearest points themselves: the whole answer when the axis is the one they were found on, else kept in case no
 * triangle has a better one. */
static void add_nearest(rs_surface_probe *p, const rs_surface_triangle *t, const contact_axis *axis,
                        const raw_axis *raw) {
    rs_surface_contact c = make_contact(t, raw->on_triangle, axis->normal, axis->separation, axis->separation,
                                        feature_name(t, SPARE, 0));
    if (rs_norm2(rs_sub(axis->normal, raw->normal)) < ITERATED_SLACK * ITERATED_SLACK)
        rs_surface_contacts_add(&p->contacts, &c);
    else if (raw->gap < 0.0)
        keep_spare(p, &c);
}

/* The shape cuts the triangle, but its lowest point lies beside it, and when deep perhaps beside all that its box
 * touches. */
static void keep_lowest(rs_surface_probe *p, const rs_surface_triangle *t, const contact_axis *axis) {
    raw_axis nearest;
    for (int i = 0; i < p->contacts.count; i++)
        if (p->contacts.items[i].point.gap < 0.0) return; /* another triangle carries the shape */
    if (!find_raw_axis(p, t, &nearest) || nearest.gap >= 0.0) return;
    rs_vec3 lowest = rs_core_support(&p->core, rs_neg(rs_m3_tmulv(&p->pose.rot, axis->normal)));
    double height = axis->separation + p->core.rounding;
    rs_vec3 foot = rs_madd(rs_transform_point(&p->pose, lowest), -height, axis->normal);
    rs_surface_contact c = make_contact(t, foot, axis->normal, axis->separation, axis->separation,
                                        feature_name(t, SPARE, 0));
    keep_spare(p, &c);
}

static void add_contacts(rs_surface_probe *p, const rs_surface_triangle *t, const contact_axis *axis,
                         const raw_axis *raw) {
    double tolerance = BESIDE * p->contacts.size;
    rs_clip_polygon patch;
    if (axis->part >= VERTEX) {
        /* the direction is that of the nearest points, and these may lie anywhere along an edge that ends there */
        rs_surface_contact c = make_contact(t, raw->on_triangle, axis->normal, axis->separation, axis->separation,
                                            feature_name(t, axis->part, 0));
        rs_surface_contacts_add(&p->contacts, &c);
        return;
    }
    int k = axis->part == FACE ? 0 : (int)axis->part - EDGE;
    rs_patch_frame frame = facing_patch(p, t->v[k], axis->normal, &patch);
    if (axis->part == FACE)
        clip_to_face(t, &frame, tolerance, &patch);
    else
        clip_to_edge(t, k, &frame, tolerance, &patch);
    if (patch.count > 0)
        add_patch(p, t, axis, &frame, &patch);
    else if (raw->known)
        add_nearest(p, t, axis, raw);
    else
        keep_lowest(p, t, axis);
}

/* A side of the shape that lies flat on the triangle: no other direction needs looking at. This is how bodies rest, and
 * keeps all their contact points on ground that is not quite even. */
static bool add_flat_contacts(rs_surface_probe *p, const rs_surface_triangle *t, double separation) {
    if (separation > 0.0 || separation < -DEEP * p->contacts.size) return false;
    rs_clip_polygon patch;
    rs_patch_frame frame = facing_patch(p, t->v[0], t->normal, &patch);
    if (patch.count < 3) return false;
    clip_to_face(t, &frame, BESIDE * p->contacts.size, &patch);
    contact_axis axis = {t->normal, separation, FACE};
    add_patch(p, t, &axis, &frame, &patch);
    return patch.count > 0;
}

/* Whether one of the likely planes keeps the shape away: across the line from the triangle to the shape's centre, or
 * through a side of the triangle. */
static bool clearly_apart(const rs_surface_probe *p, const rs_surface_triangle *t, double margin) {
    rs_triangle_part part;
    int index;
    rs_vec3 toward = rs_sub(p->center, rs_triangle_nearest(t->v, p->center, &part, &index));
    if (separation_along(p, t, rs_normalize_or(toward, t->normal)) >= margin) return true;
    for (int k = 0; k < 3; k++) {
        rs_vec3 along = rs_sub(t->v[rs_next3(k)], t->v[k]);
        rs_vec3 outward = rs_normalize_or(rs_cross(along, t->normal), t->normal);
        if (separation_along(p, t, outward) >= margin) return true;
    }
    return false;
}

void rs_probe_convex_triangle(rs_surface_probe *p, uint32_t id) {
    rs_surface_triangle t;
    rs_surface_get(p->surface, id, p->center, &t);
    double separation = separation_along(p, &t, t.normal), margin = rs_max(p->settings->margin, 0.0);
    bool behind = rs_dot(t.normal, rs_sub(p->center, t.v[0])) <= 0.0;
    if (separation >= p->settings->margin || (behind && separation_along(p, &t, rs_neg(t.normal)) >= margin)) return;
    if (!behind && add_flat_contacts(p, &t, separation)) return;
    if (clearly_apart(p, &t, margin)) return;
    rs_surface_find_neighbors(p->surface, &t);
    raw_axis raw = {.known = false};
    bool only_face = !rs_surface_edge_is_active(&t, 0) && !rs_surface_edge_is_active(&t, 1) &&
                     !rs_surface_edge_is_active(&t, 2);
    if (!only_face && !find_raw_axis(p, &t, &raw)) return;
    contact_axis axis = choose_axis(p, &t, &raw);
    if (axis.separation == -INFINITY)
        p->met_from_behind = true;
    else if (axis.separation < p->settings->margin)
        add_contacts(p, &t, &axis, &raw);
}
