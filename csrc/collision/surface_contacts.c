#include "surface_contacts.h"

/* Merging of triangle contacts: fraction of the shape's size, and angle of the normals. */
static const double MERGE_DISTANCE = 0.105;
static const double MERGE_COSINE = 0.99756405025982425; /* cos 4 degrees */
/* A contact must be deeper than the others by this fraction of the size to be kept for its depth alone. */
static const double DEPTH_NOISE = 1e-6;
static const double ALIKE_COSINE = 0.96592582628906829; /* cos 15 degrees */
/* Contact points of meshes count as parted when they overlap by no more than this fraction of the depth. */
static const double PARTING_SLACK = 0.2;
enum { KEPT_PER_NORMAL = 5 };

/* Indices of contacts that push the same way. */
typedef struct {
    int count;
    int index[RS_SURFACE_CONTACTS_MAX];
} group;

typedef struct {
    int count;
    int index[KEPT_PER_NORMAL];
} selection;

static rs_vec3 position_of(const rs_surface_contacts *set, int i) { return set->items[i].point.position; }

/* ---- the few points that stand for a group ---- */

static int farthest_from(const rs_surface_contacts *set, const group *g, rs_vec3 p) {
    int best = g->index[0];
    double most = -1.0;
    for (int i = 0; i < g->count; i++) {
        double d = rs_norm2(rs_sub(position_of(set, g->index[i]), p));
        if (d > most) {
            most = d;
            best = g->index[i];
        }
    }
    return best;
}

/* The contact farthest to the left (sign +1) or right (-1) of the line a-b, looked at against the normal; -1 when none
 * is farther away than the merging distance. */
static int farthest_beside(const rs_surface_contacts *set, const group *g, int a, int b, double sign) {
    rs_vec3 from = position_of(set, a), line = rs_sub(position_of(set, b), from);
    rs_vec3 side = rs_scale(sign, rs_cross(set->items[a].point.normal, line));
    int best = -1;
    double most = MERGE_DISTANCE * set->size * rs_norm(line);
    for (int i = 0; i < g->count; i++) {
        double d = rs_dot(side, rs_sub(position_of(set, g->index[i]), from));
        if (d > most) {
            most = d;
            best = g->index[i];
        }
    }
    return best;
}

static int deepest_of(const rs_surface_contacts *set, const group *g) {
    int best = g->index[0];
    for (int i = 1; i < g->count; i++)
        if (set->items[g->index[i]].point.gap < set->items[best].point.gap) best = g->index[i];
    return best;
}

/* The deepest contact belongs to the result when it says something the corners do not: it takes the place of a corner
 * it would be merged with, or comes on top. */
static void include_deepest(const rs_surface_contacts *set, int deepest, selection *s) {
    double gap = set->items[deepest].point.gap, least = INFINITY, nearest2 = INFINITY;
    int nearest = 0;
    for (int i = 0; i < s->count; i++) {
        least = rs_min(least, set->items[s->index[i]].point.gap);
        double d2 = rs_norm2(rs_sub(position_of(set, s->index[i]), position_of(set, deepest)));
        if (d2 < nearest2) {
            nearest2 = d2;
            nearest = i;
        }
    }
    if (gap >= least - DEPTH_NOISE * set->size) return;
    double merge = MERGE_DISTANCE * set->size;
    s->index[nearest2 < merge * merge ? nearest : s->count++] = deepest;
}

/* Two far corners, one on each side of the line between them, and the deepest. Equal depths are decided by position,
 * so rounding does not make a resting body's contacts jump. */
static selection select_corners(const rs_surface_contacts *set, const group *g) {
    rs_vec3 sum = rs_v3_zero();
    for (int i = 0; i < g->count; i++) sum = rs_add(sum, position_of(set, g->index[i]));
    selection s = {1, {farthest_from(set, g, rs_scale(1.0 / g->count, sum))}};
    int first = s.index[0], second = farthest_from(set, g, position_of(set, first));
    double merge = MERGE_DISTANCE * set->size;
    if (rs_norm2(rs_sub(position_of(set, second), position_of(set, first))) > merge * merge) {
        s.index[s.count++] = second;
        int left = farthest_beside(set, g, first, second, 1.0), right = farthest_beside(set, g, first, second, -1.0);
        if (left >= 0) s.index[s.count++] = left;
        if (right >= 0) s.index[s.count++] = right;
    }
    include_deepest(set, deepest_of(set, g), &s);
    return s;
}

/* ---- thinning ---- */

/* Collects the not yet assigned contacts whose normals agree with the deepest of them. */
static bool next_group(const rs_surface_contacts *set, bool *assigned, group *g) {
    int lead = -1;
    for (int i = 0; i < set->count; i++)
        if (!assigned[i] && (lead < 0 || set->items[i].point.gap < set->items[lead].point.gap)) lead = i;
    if (lead < 0) return false;
    g->count = 0;
    rs_vec3 normal = set->items[lead].point.normal;
    for (int i = 0; i < set->count; i++) {
        if (assigned[i] || rs_dot(set->items[i].point.normal, normal) < MERGE_COSINE) continue;
        assigned[i] = true;
        g->index[g->count++] = i;
    }
    return g->count > 0;
}

static void thin_out(rs_surface_contacts *set) {
    if (set->count < 2) return;
    bool assigned[RS_SURFACE_CONTACTS_MAX] = {false}, kept[RS_SURFACE_CONTACTS_MAX] = {false};
    group g;
    while (next_group(set, assigned, &g)) {
        selection s = select_corners(set, &g);
        for (int i = 0; i < s.count; i++) kept[s.index[i]] = true;
    }
    int count = 0;
    for (int i = 0; i < set->count; i++)
        if (kept[i]) set->items[count++] = set->items[i];
    set->count = count;
}

/* Makes room even where every contact has a normal of its own: the deepest stay. */
static void drop_shallowest(rs_surface_contacts *set) {
    int worst = 0;
    for (int i = 1; i < set->count; i++)
        if (set->items[i].point.gap > set->items[worst].point.gap) worst = i;
    for (int i = worst; i + 1 < set->count; i++) set->items[i] = set->items[i + 1];
    set->count--;
}

void rs_surface_contacts_add(rs_surface_contacts *set, const rs_surface_contact *contact) {
    if (set->count == RS_SURFACE_CONTACTS_MAX) thin_out(set);
    if (set->count == RS_SURFACE_CONTACTS_MAX) drop_shallowest(set);
    set->items[set->count++] = *contact;
}

/* ---- contacts that explain each other ---- */

/* Where the contact lies on the surface (side -1) and on the shape (+1). */
static rs_vec3 touched(const rs_surface_contact *c, double side) {
    return rs_madd(c->point.position, 0.5 * side * c->point.gap, c->point.normal);
}

/* Whether the plane of contact a, once the shape has left along its normal, keeps apart what touches at b: the point of
 * the surface behind it, that of the shape before it. */
static bool parts_points(const rs_surface_contact *a, const rs_surface_contact *b, double tolerance) {
    rs_vec3 n = a->point.normal;
    return rs_dot(n, rs_sub(touched(b, -1.0), touched(a, -1.0))) <= tolerance &&
           rs_dot(n, rs_sub(touched(b, 1.0), touched(a, 1.0))) >= -tolerance;
}

/* The same for a convex shape, which is then all before the plane, and the whole triangle. */
static bool parts_triangle(const rs_surface_contact *a, const rs_surface_triangle *t, double tolerance) {
    for (int k = 0; k < 3; k++)
        if (rs_dot(a->point.normal, rs_sub(t->v[k], touched(a, -1.0))) > tolerance) return false;
    return true;
}

static bool explains(const rs_surface_contact *a, const rs_surface_contact *b, const rs_surface *surface, double size) {
    /* a point that does not touch will not push the shape out as far as its separation promises */
    if (a->separation < 0.0 && a->point.gap >= 0.0) return false;
    double noise = DEPTH_NOISE * size, depth = rs_max(-a->separation, 0.0);
    bool alike = rs_dot(a->point.normal, b->point.normal) > ALIKE_COSINE;
    if (b->triangle == RS_NO_TRIANGLE)
        return b->separation < -depth - noise && parts_points(a, b, alike ? noise : noise + PARTING_SLACK * depth);
    /* triangles that push nearly the same way carry the shape together, unless one is plainly too deep */
    if (b->separation >= -(alike ? 2.0 : 1.0) * depth - noise) return false;
    rs_surface_triangle t;
    rs_surface_get(surface, (uint32_t)b->triangle, rs_v3_zero(), &t);
    return parts_triangle(a, &t, noise);
}

/* Shallowest first. */
static void sort_by_separation(rs_surface_contacts *set) {
    for (int i = 1; i < set->count; i++) {
        rs_surface_contact moving = set->items[i];
        int slot = i;
        for (; slot > 0 && set->items[slot - 1].separation < moving.separation; slot--)
            set->items[slot] = set->items[slot - 1];
        set->items[slot] = moving;
    }
}

void rs_surface_contacts_drop_explained(rs_surface_contacts *set, const rs_surface *surface) {
    thin_out(set);
    sort_by_separation(set);
    int kept = 0;
    for (int b = 0; b < set->count; b++) {
        bool explained = false;
        for (int a = 0; a < kept && !explained; a++)
            explained = explains(&set->items[a], &set->items[b], surface, set->size);
        if (!explained) set->items[kept++] = set->items[b];
    }
    set->count = kept;
}

/* ---- result ---- */

bool rs_surface_contacts_overlap(const rs_surface_contacts *set) {
    for (int i = 0; i < set->count; i++)
        if (set->items[i].point.gap < 0.0) return true;
    return false;
}

void rs_surface_contacts_finish(rs_surface_contacts *set, const rs_transform *pose, int max_points, rs_manifold *out) {
    thin_out(set);
    rs_manifold_point points[RS_SURFACE_CONTACTS_MAX];
    for (int i = 0; i < set->count; i++) {
        points[i] = set->items[i].point;
        points[i].position = rs_transform_point(pose, points[i].position);
        points[i].normal = rs_m3_mulv(&pose->rot, points[i].normal);
    }
    int count = rs_points_reduce(points, set->count, max_points < RS_MAX_MANIFOLD ? max_points : RS_MAX_MANIFOLD);
    for (int i = 0; i < count; i++) out->points[i] = points[i];
    out->count = count;
}
