#include "clip_feature.h"

#include "../model/convex.h"
#include "clip.h"

enum { FEATURE_MAX = 32, DISC_CORNERS = 8, CLIP_LABEL = 32 };

/* A face seen at a steeper angle than this (cosine) is not worth laying down: its edge is taken instead. */
static const double STEEPEST_FACE = 0.2;
/* Straight edges cross in a point unless they are nearly parallel (sine of the angle). */
static const double PARALLEL_EDGES = 0.1;
/* Edges farther beside each other than this, relative to the smaller core, do not touch there. */
static const double BESIDE = 2e-3;

/* One corner, two ends of an edge, or the corners of a flat face. */
typedef struct {
    int count;
    rs_vec3 points[FEATURE_MAX];
    rs_vec3 normal;   /* of a face, outwards */
    double curvature_radius; /* of the surface across an edge: 0 when it is sharp [m] */
    uint32_t id;
} core_feature;

/* ---- features of each kind of core ---- */

static void set_edge(core_feature *f, rs_vec3 p, rs_vec3 q, uint32_t id) {
    f->count = 2;
    f->points[0] = p;
    f->points[1] = q;
    f->id = id;
}

static void box_feature(rs_vec3 h, rs_vec3 d, core_feature *f) {
    rs_vec3 size = rs_v3_abs(d);
    int k = size.x > size.y ? (size.x > size.z ? 0 : 2) : (size.y > size.z ? 1 : 2);
    int u = (k + 1) % 3, v = (k + 2) % 3;
    double side = copysign(1.0, rs_v3_get(d, k));
    f->count = 4;
    f->normal = rs_v3_zero();
    rs_v3_set(&f->normal, k, side);
    f->id = (uint32_t)(2 * k + (side > 0.0));
    for (int i = 0; i < 4; i++) {
        rs_v3_set(&f->points[i], k, side * rs_v3_get(h, k));
        rs_v3_set(&f->points[i], u, (i == 1 || i == 2) ? rs_v3_get(h, u) : -rs_v3_get(h, u));
        rs_v3_set(&f->points[i], v, i >= 2 ? rs_v3_get(h, v) : -rs_v3_get(h, v));
    }
}

/* The disc as a polygon; its first corner is where the direction leans to, so that the lowest point is exact. */
static void disc_feature(double r, double z, rs_vec3 d, core_feature *f) {
    double across = sqrt(d.x * d.x + d.y * d.y);
    double c = across > 1e-6 ? d.x / across : 1.0, s = across > 1e-6 ? d.y / across : 0.0;
    static const double EIGHTH = 0.70710678118654752440;
    f->count = DISC_CORNERS;
    f->normal = rs_v3(0.0, 0.0, copysign(1.0, d.z));
    f->id = d.z > 0.0;
    for (int i = 0; i < DISC_CORNERS; i++) {
        f->points[i] = rs_v3(r * c, r * s, z);
        double turned = EIGHTH * (c - s);
        s = EIGHTH * (c + s);
        c = turned;
    }
}

static void cylinder_feature(const rs_shape *cylinder, rs_vec3 d, core_feature *f) {
    double r = cylinder->radius, h = cylinder->half_height, across = sqrt(d.x * d.x + d.y * d.y);
    if (fabs(d.z) > across) {
        disc_feature(r, copysign(h, d.z), d, f);
        return;
    }
    double x = r * d.x / across, y = r * d.y / across;
    set_edge(f, rs_v3(x, y, -h), rs_v3(x, y, h), 2);
    f->curvature_radius = r;
}

/* Unit normal of the cone's side at the azimuth of d. */
static rs_vec3 cone_side_normal(const rs_shape *cone, rs_vec3 d) {
    double r = cone->radius, h = 2.0 * cone->half_height, across = sqrt(d.x * d.x + d.y * d.y);
    double slant = sqrt(r * r + h * h), x = across > 1e-12 ? d.x / across : 1.0, y = across > 1e-12 ? d.y / across : 0.0;
    return rs_v3(h * x / slant, h * y / slant, r / slant);
}

static void cone_feature(const rs_shape *cone, rs_vec3 d, core_feature *f) {
    rs_vec3 side = cone_side_normal(cone, d), apex = rs_v3(0.0, 0.0, rs_cone_apex_z(cone));
    double facing = rs_dot(side, d), across = sqrt(side.x * side.x + side.y * side.y);
    if (-d.z > facing) {
        disc_feature(cone->radius, rs_cone_base_z(cone), d, f);
    } else if (facing > STEEPEST_FACE) {
        double scale = cone->radius / across;
        set_edge(f, rs_v3(scale * side.x, scale * side.y, rs_cone_base_z(cone)), apex, 2);
    } else {
        f->count = 1;
        f->points[0] = apex;
        f->id = 3;
    }
}

/* The face around the vertex that looks most along d. */
static int32_t facing_hull_face(const rs_convex *c, int32_t vertex, rs_vec3 d) {
    int32_t best = c->vertex_faces[c->neighbor_first[vertex]];
    for (int32_t i = c->neighbor_first[vertex] + 1; i < c->neighbor_first[vertex + 1]; i++)
        if (rs_dot(c->faces[c->vertex_faces[i]].normal, d) > rs_dot(c->faces[best].normal, d)) best = c->vertex_faces[i];
    return best;
}

/* The neighbour whose edge runs most across d. */
static int32_t level_neighbor(const rs_convex *c, int32_t vertex, rs_vec3 d) {
    int32_t best = c->neighbors[c->neighbor_first[vertex]];
    double least = INFINITY;
    for (int32_t i = c->neighbor_first[vertex]; i < c->neighbor_first[vertex + 1]; i++) {
        rs_vec3 edge = rs_sub(c->vertices[c->neighbors[i]], c->vertices[vertex]);
        double along = rs_dot(edge, d), slope = along * along / rs_norm2(edge);
        if (slope < least) {
            least = slope;
            best = c->neighbors[i];
        }
    }
    return best;
}

static void hull_feature(const rs_convex *c, rs_vec3 d, core_feature *f) {
    int32_t vertex = rs_convex_support_index(c, d), face = facing_hull_face(c, vertex, d);
    const rs_convex_face *plane = &c->faces[face];
    if (rs_dot(plane->normal, d) < STEEPEST_FACE) {
        set_edge(f, c->vertices[vertex], c->vertices[level_neighbor(c, vertex, d)], (uint32_t)vertex);
        return;
    }
    /* of a face with very many corners an even selection is enough */
    f->count = plane->count < FEATURE_MAX ? plane->count : FEATURE_MAX;
    f->normal = plane->normal;
    f->id = (uint32_t)face;
    for (int i = 0; i < f->count; i++)
        f->points[i] = c->vertices[c->face_vertices[plane->first + (int64_t)i * plane->count / f->count]];
}

static rs_vec3 triangle_normal(const rs_vec3 v[3], rs_vec3 d) {
    rs_vec3 n = rs_normalize_or(rs_cross(rs_sub(v[1], v[0]), rs_sub(v[2], v[0])), d);
    return rs_dot(n, d) < 0.0 ? rs_neg(n) : n;
}

static void triangle_feature(const rs_vec3 v[3], rs_vec3 d, core_feature *f) {
    f->normal = triangle_normal(v, d);
    f->count = 3;
    f->id = 0;
    for (int i = 0; i < 3; i++) f->points[i] = v[i];
    if (rs_dot(f->normal, d) >= STEEPEST_FACE) return;
    int best = 0;
    double most = -INFINITY;
    for (int i = 0; i < 3; i++) {
        double height = rs_dot(rs_add(v[i], v[(i + 1) % 3]), d);
        if (height > most) {
            most = height;
            best = i;
        }
    }
    set_edge(f, v[best], v[(best + 1) % 3], (uint32_t)best + 1);
}

static void find_feature(const rs_core *core, rs_vec3 d, core_feature *f) {
    f->curvature_radius = core->rounding;
    switch (core->kind) {
    case RS_CORE_SEGMENT: {
        double h = core->shape->half_height;
        set_edge(f, rs_v3(0, 0, -h), rs_v3(0, 0, h), 0);
        break;
    }
    case RS_CORE_TRIANGLE: triangle_feature(core->triangle, d, f); break;
    case RS_CORE_BOX: box_feature(core->shape->half, d, f); break;
    case RS_CORE_CYLINDER: cylinder_feature(core->shape, d, f); break;
    case RS_CORE_CONE: cone_feature(core->shape, d, f); break;
    case RS_CORE_HULL: hull_feature(core->shape->convex, d, f); break;
    default:
        f->count = 1;
        f->points[0] = rs_v3_zero();
        f->id = 0;
    }
}

bool rs_core_side_normal(const rs_core *core, rs_vec3 d, rs_vec3 *normal) {
    if (core->kind == RS_CORE_CYLINDER) *normal = rs_normalize_or(rs_v3(d.x, d.y, 0.0), rs_v3(1, 0, 0));
    else if (core->kind == RS_CORE_CONE) *normal = cone_side_normal(core->shape, d);
    else return false;
    return true;
}

bool rs_core_facing_normal(const rs_core *core, rs_vec3 d, rs_vec3 *normal) {
    core_feature f;
    switch (core->kind) {
    case RS_CORE_POINT: return false;
    case RS_CORE_SEGMENT:
        *normal = rs_normalize_or(rs_v3(d.x, d.y, 0.0), rs_v3(1, 0, 0));
        return true;
    case RS_CORE_CYLINDER:
        rs_core_side_normal(core, d, normal);
        if (d.x * d.x + d.y * d.y < d.z * d.z) *normal = rs_v3(0.0, 0.0, copysign(1.0, d.z));
        return true;
    case RS_CORE_CONE:
        rs_core_side_normal(core, d, normal);
        if (-d.z > rs_dot(*normal, d)) *normal = rs_v3(0, 0, -1);
        return true;
    case RS_CORE_HULL: {
        const rs_convex *c = core->shape->convex;
        *normal = c->faces[facing_hull_face(c, rs_convex_support_index(c, d), d)].normal;
        return true;
    }
    case RS_CORE_TRIANGLE:
        *normal = triangle_normal(core->triangle, d);
        return true;
    default:
        find_feature(core, d, &f);
        *normal = f.normal;
        return true;
    }
}

/* ---- laying features over each other ---- */

/* A frame on the contact: x and y across the normal, z along it, the origin midway between the deepest points. */
typedef struct {
    rs_vec3 origin, x, y, z;
} contact_frame;

static rs_clip_vertex to_frame(const contact_frame *frame, rs_vec3 p) {
    rs_vec3 d = rs_sub(p, frame->origin);
    return (rs_clip_vertex){.x = rs_dot(frame->x, d), .y = rs_dot(frame->y, d), .z = rs_dot(frame->z, d)};
}

static void lay_down(const contact_frame *frame, const core_feature *f, rs_clip_polygon *polygon) {
    polygon->count = f->count;
    for (int i = 0; i < f->count; i++) {
        polygon->vertices[i] = to_frame(frame, f->points[i]);
        polygon->vertices[i].in = (uint8_t)((i + f->count - 1) % f->count);
        polygon->vertices[i].out = (uint8_t)i;
    }
}

static double signed_area(const rs_clip_polygon *p) {
    double sum = 0.0;
    for (int i = 0; i < p->count; i++) {
        const rs_clip_vertex *a = &p->vertices[i], *b = &p->vertices[(i + 1) % p->count];
        sum += a->x * b->y - a->y * b->x;
    }
    return sum;
}

/* Cuts the subject by the sides of the face. */
static void clip_by_face(rs_clip_polygon *subject, const rs_clip_polygon *face) {
    double turn = signed_area(face) >= 0.0 ? 1.0 : -1.0;
    for (int i = 0; i < face->count && subject->count > 0; i++) {
        const rs_clip_vertex *p = &face->vertices[i], *q = &face->vertices[(i + 1) % face->count];
        double nx = turn * (q->y - p->y), ny = turn * (p->x - q->x);
        rs_clip_by_line(subject, nx, ny, nx * p->x + ny * p->y, (uint8_t)(CLIP_LABEL + i));
    }
}

/* Cuts the segment by the lines across the ends of the other one. */
static void clip_by_ends(rs_clip_polygon *subject, const rs_clip_polygon *edge) {
    const rs_clip_vertex *p = &edge->vertices[0], *q = &edge->vertices[1];
    double dx = q->x - p->x, dy = q->y - p->y;
    rs_clip_by_line(subject, dx, dy, dx * q->x + dy * q->y, CLIP_LABEL);
    if (subject->count > 0) rs_clip_by_line(subject, -dx, -dy, -(dx * p->x + dy * p->y), CLIP_LABEL + 1);
}

static bool nearly_parallel(const rs_clip_polygon *a, const rs_clip_polygon *b) {
    double ax = a->vertices[1].x - a->vertices[0].x, ay = a->vertices[1].y - a->vertices[0].y;
    double bx = b->vertices[1].x - b->vertices[0].x, by = b->vertices[1].y - b->vertices[0].y;
    double cross = ax * by - ay * bx;
    return cross * cross <= PARALLEL_EDGES * PARALLEL_EDGES * (ax * ax + ay * ay) * (bx * bx + by * by);
}

/* Height of the plane of a face above (x, y). */
static double face_height(const contact_frame *frame, const core_feature *f, const rs_clip_polygon *laid, double x, double y) {
    double mx = rs_dot(frame->x, f->normal), my = rs_dot(frame->y, f->normal), mz = rs_dot(frame->z, f->normal);
    const rs_clip_vertex *p = &laid->vertices[0];
    return p->z - (mx * (x - p->x) + my * (y - p->y)) / mz;
}

/* Height of an edge at the foot of (x, y), and how far beside it the point lies. */
static double edge_height(const rs_clip_polygon *edge, double x, double y, double *beside) {
    const rs_clip_vertex *p = &edge->vertices[0], *q = &edge->vertices[1];
    double dx = q->x - p->x, dy = q->y - p->y, length2 = dx * dx + dy * dy;
    double t = length2 > 0.0 ? rs_clamp(((x - p->x) * dx + (y - p->y) * dy) / length2, 0.0, 1.0) : 0.0;
    *beside = hypot(x - (p->x + t * dx), y - (p->y + t * dy));
    return p->z + t * (q->z - p->z);
}

/* The features of both cores and how they lie over each other. */
typedef struct {
    const rs_core_pair *pair;
    contact_frame frame;
    core_feature a, b; /* both in the frame of A */
    rs_clip_polygon laid_a, laid_b;
} overlay;

typedef struct {
    int count;
    rs_manifold_point points[RS_CLIP_MAX + 1];
} point_list;

static uint32_t feature_ids(const overlay *o) { return (o->a.id & 0xFFu) << 24 | (o->b.id & 0xFFu) << 16; }

/* ---- from shared corners to contact points ---- */

/* Corners of the shared part, at the height of A's feature when it `is_of_a`, else of B's; the other one's height above
 * or below each corner gives the gap. */
static void collect(const overlay *o, const rs_clip_polygon *shared, bool is_of_a, double margin, point_list *list) {
    const core_feature *other = is_of_a ? &o->b : &o->a;
    const rs_clip_polygon *laid = is_of_a ? &o->laid_b : &o->laid_a;
    double round_edge = o->a.curvature_radius + o->b.curvature_radius;
    for (int i = 0; i < shared->count; i++) {
        const rs_clip_vertex *v = &shared->vertices[i];
        double beside = 0.0, z = other->count > 2 ? face_height(&o->frame, other, laid, v->x, v->y)
                                                  : edge_height(laid, v->x, v->y, &beside);
        double za = (is_of_a ? v->z : z) - o->pair->a->rounding, zb = (is_of_a ? z : v->z) + o->pair->b->rounding;
        /* beside the line of contact of two round edges their surfaces curve apart */
        double gap = za - zb + (hypot(round_edge, beside) - round_edge);
        if (gap >= margin || beside > BESIDE * o->pair->smaller) continue;
        rs_vec3 p = rs_madd(rs_madd(o->frame.origin, v->x, o->frame.x), v->y, o->frame.y);
        list->points[list->count++] = (rs_manifold_point){rs_madd(p, 0.5 * (za + zb), o->frame.z), o->frame.z, gap,
                                                          feature_ids(o) | (uint32_t)v->in << 8 | v->out};
    }
}

static void overlap_features(overlay *o, double margin, point_list *list) {
    if (o->a.count == 1 || o->b.count == 1) return;
    lay_down(&o->frame, &o->a, &o->laid_a);
    lay_down(&o->frame, &o->b, &o->laid_b);
    bool edges = o->a.count == 2 && o->b.count == 2;
    if (edges && !nearly_parallel(&o->laid_a, &o->laid_b)) return;
    bool cut_a = o->a.count == 2 || o->b.count > 2;
    rs_clip_polygon shared = cut_a ? o->laid_a : o->laid_b;
    if (edges) clip_by_ends(&shared, &o->laid_b);
    else clip_by_face(&shared, cut_a ? &o->laid_b : &o->laid_a);
    collect(o, &shared, cut_a, margin, list);
}

/* Corners that fell together are one contact. */
static void drop_doubles(point_list *list, double distance) {
    int kept = 0;
    for (int i = 0; i < list->count; i++) {
        bool fresh = true;
        for (int j = 0; j < kept && fresh; j++)
            fresh = rs_norm2(rs_sub(list->points[i].position, list->points[j].position)) > distance * distance;
        if (fresh) list->points[kept++] = list->points[i];
    }
    list->count = kept;
}

static double deepest(const point_list *list) {
    double least = INFINITY;
    for (int i = 0; i < list->count; i++) least = fmin(least, list->points[i].gap);
    return least;
}

void rs_add_feature_contacts(const rs_core_pair *pair, const rs_convex_contact *contact, const rs_transform *ta,
                             const rs_collide_settings *settings, rs_manifold *out) {
    overlay o;
    o.pair = pair;
    o.frame.origin = rs_lerp(contact->on_a, contact->on_b, 0.5);
    o.frame.z = contact->normal;
    rs_tangents(o.frame.z, &o.frame.x, &o.frame.y);
    find_feature(pair->a, rs_neg(o.frame.z), &o.a);
    find_feature(pair->b, rs_m3_tmulv(&pair->b_in_a.rot, o.frame.z), &o.b);
    for (int i = 0; i < o.b.count; i++) o.b.points[i] = rs_transform_point(&pair->b_in_a, o.b.points[i]);
    if (o.b.count > 2) o.b.normal = rs_m3_mulv(&pair->b_in_a.rot, o.b.normal);
    point_list list;
    list.count = 0;
    double size = pair->size + pair->rounding;
    overlap_features(&o, settings->margin, &list);
    drop_doubles(&list, 2e-5 * pair->smaller);
    if (deepest(&list) > contact->gap + 1e-9 * size)
        list.points[list.count++] =
            (rs_manifold_point){o.frame.origin, o.frame.z, contact->gap, feature_ids(&o) | 0xFFFFu};
    int room = RS_MAX_MANIFOLD - out->count;
    int kept = rs_points_reduce(list.points, list.count, settings->max_points < room ? settings->max_points : room);
    for (int i = 0; i < kept; i++) {
        const rs_manifold_point *p = &list.points[i];
        rs_manifold_add(out, rs_transform_point(ta, p->position), rs_m3_mulv(&ta->rot, p->normal), p->gap, p->feature);
    }
}
