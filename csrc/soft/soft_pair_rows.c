/* Contacts of soft objects with each other in a substep: where they meet, and what impulses do to both. */
#include "../collision/surface.h"
#include "soft_pairs.h"

/* Share of an overlap that a substep removes, without giving velocity, and how fast at most, in thicknesses per second. */
static const double RECOVERY = 0.1, RECOVERY_SPEED = 25.0;
/* Springs may drive particles farther than their velocity at the beginning of a substep: share of the thickness. */
static const double SLACK = 0.1;
/* Edges are parallel below this sine: their vertices meet the triangles. */
static const double PARALLEL = 1e-3;

/* Where two features are nearest. */
typedef struct {
    rs_vec3 normal;  /* unit, towards the first; without a side where `sided` */
    double distance; /* along it [m] */
    double apart;    /* of features that are nearest at their ends: how far they are [m] */
    double weight[2][3];
    bool sided;      /* between the corners, where it is known which side is which */
} nearest;

static rs_vec3 start_of(const rs_soft *soft, int32_t i) {
    return soft->grains != NULL ? soft->grains->x.items[i].xyz : soft->deformable->x_start.items[i].xyz;
}

/* A point above a triangle; false beside it. */
static bool above(rs_vec3 p, const rs_vec3 v[3], nearest *out) {
    rs_vec3 ab = rs_sub(v[1], v[0]), ac = rs_sub(v[2], v[0]), ap = rs_sub(p, v[0]), n = rs_cross(ab, ac);
    double size2 = rs_norm2(n);
    if (size2 <= 0.0)
        return false;
    out->weight[1][1] = rs_dot(rs_cross(ap, ac), n) / size2;
    out->weight[1][2] = rs_dot(rs_cross(ab, ap), n) / size2;
    out->weight[1][0] = 1.0 - out->weight[1][1] - out->weight[1][2];
    out->weight[0][0] = 1.0;
    out->normal = rs_scale(1.0 / sqrt(size2), n);
    out->distance = rs_dot(out->normal, ap);
    out->sided = true;
    if (out->weight[1][0] >= 0.0 && out->weight[1][1] >= 0.0 && out->weight[1][2] >= 0.0)
        return true;
    rs_triangle_part part;
    int index;
    out->apart = rs_norm(rs_sub(p, rs_triangle_nearest(v, p, &part, &index)));
    return false;
}

static double from_edge(rs_vec3 p, const rs_vec3 e[2]) {
    rs_vec3 u = rs_sub(e[1], e[0]), d = rs_sub(p, e[0]);
    double s = rs_clamp(rs_dot(d, u) / rs_max(rs_norm2(u), 1e-300), 0.0, 1.0);
    return rs_norm(rs_madd(d, -s, u));
}

/* Two edges where they cross; false where they are nearest at their ends. */
static bool cross_edges(const rs_vec3 a[2], const rs_vec3 b[2], nearest *out) {
    rs_vec3 u = rs_sub(a[1], a[0]), w = rs_sub(b[1], b[0]), n = rs_cross(u, w), d = rs_sub(b[0], a[0]);
    double size2 = rs_norm2(n);
    if (size2 <= PARALLEL * PARALLEL * rs_norm2(u) * rs_norm2(w))
        return false;
    double s = rs_dot(rs_cross(d, w), n) / size2, t = rs_dot(rs_cross(d, u), n) / size2;
    if (!(s >= 0.0 && s <= 1.0 && t >= 0.0 && t <= 1.0)) {
        out->apart = rs_min(rs_min(from_edge(a[0], b), from_edge(a[1], b)), rs_min(from_edge(b[0], a), from_edge(b[1], a)));
        return false;
    }
    *out = (nearest){.normal = rs_scale(1.0 / sqrt(size2), n), .weight = {{1.0 - s, s}, {1.0 - t, t}}, .sided = true};
    out->distance = -rs_dot(out->normal, d);
    return true;
}

/* A ball and a triangle, at its edges and corners, too. */
static bool beside(rs_vec3 p, const rs_vec3 v[3], nearest *out) {
    rs_triangle_part part;
    int index;
    rs_vec3 at = rs_triangle_nearest(v, p, &part, &index), way = rs_sub(p, at);
    rs_vec3 ab = rs_sub(v[1], v[0]), ac = rs_sub(v[2], v[0]), ap = rs_sub(at, v[0]), n = rs_cross(ab, ac);
    double size2 = rs_norm2(n);
    if (size2 <= 0.0)
        return false;
    out->distance = rs_norm(way);
    out->normal = out->distance > 0.0 ? rs_scale(1.0 / out->distance, way) : rs_scale(1.0 / sqrt(size2), n);
    out->weight[0][0] = 1.0;
    out->weight[1][1] = rs_clamp(rs_dot(rs_cross(ap, ac), n) / size2, 0.0, 1.0);
    out->weight[1][2] = rs_clamp(rs_dot(rs_cross(ab, ap), n) / size2, 0.0, 1.0 - out->weight[1][1]);
    out->weight[1][0] = 1.0 - out->weight[1][1] - out->weight[1][2];
    return true;
}

static void turn_round(nearest *n) {
    double kept[3];
    memcpy(kept, n->weight[0], sizeof kept);
    memcpy(n->weight[0], n->weight[1], sizeof kept);
    memcpy(n->weight[1], kept, sizeof kept);
    n->normal = rs_neg(n->normal);
}

static void list_triangle(const rs_soft *soft, int32_t t, rs_pair_row *row, int side, rs_vec3 v[3]) {
    row->count[side] = 3;
    for (int k = 0; k < 3; k++) {
        row->particle[side][k] = soft->deformable->triangles.items[3 * t + k];
        v[k] = start_of(soft, row->particle[side][k]);
    }
}

static void list_edge(const rs_soft *soft, int32_t e, rs_pair_row *row, int side, rs_vec3 v[2]) {
    const int32_t *t = &soft->deformable->triangles.items[3 * (e / 3)];
    row->count[side] = 2;
    for (int k = 0; k < 2; k++) {
        row->particle[side][k] = t[(e % 3 + k) % 3];
        v[k] = start_of(soft, row->particle[side][k]);
    }
}

static rs_vec3 list_point(const rs_soft *soft, int32_t i, rs_pair_row *row, int side) {
    row->count[side] = 1;
    row->particle[side][0] = i;
    row->arm[side] = soft->grains != NULL ? soft->grains->x.items[i].rest : 0.0;
    return start_of(soft, i);
}

/* The particles of a meeting, and where its features are nearest. */
static bool find_nearest(rs_soft *const *members, const rs_soft_meeting *m, rs_pair_row *row, nearest *out) {
    const rs_soft *a = members[row->member[0]], *b = members[row->member[1]];
    rs_vec3 va[3], vb[3];
    if (m->kind == RS_EDGE_ON_EDGE) {
        list_edge(a, m->first, row, 0, va);
        list_edge(b, m->second, row, 1, vb);
        return cross_edges(va, vb, out);
    }
    bool point_first = m->kind == RS_VERTEX_ON_TRIANGLE || m->kind == RS_GRAIN_ON_TRIANGLE;
    int side = point_first ? 0 : 1;
    rs_vec3 p = list_point(point_first ? a : b, point_first ? m->first : m->second, row, side);
    list_triangle(point_first ? b : a, point_first ? m->second : m->first, row, 1 - side, va);
    bool ball = m->kind == RS_GRAIN_ON_TRIANGLE || m->kind == RS_TRIANGLE_ON_GRAIN;
    if (!(ball ? beside(p, va, out) : above(p, va, out)))
        return false;
    if (!point_first)
        turn_round(out);
    return true;
}

/* How far apart the features keep: radii, or of the same object what its edges allow. */
static double thickness_of(rs_soft *const *members, const rs_pair_row *row) {
    double sum = 0.0, least = INFINITY;
    for (int side = 0; side < 2; side++) {
        const rs_soft *soft = members[row->member[side]];
        sum += soft->grains != NULL ? row->arm[side] : soft->deformable->settings.collision_radius;
        for (int k = 0; k < row->count[side] && row->member[0] == row->member[1]; k++)
            least = rs_min(least, soft->deformable->slim.items[row->particle[side][k]]);
    }
    return rs_min(sum, least);
}

/* ---- impulses ---- */

static rs_vec3 velocity_of_grain(const rs_grains *grains, const rs_pair_row *row, int side) {
    int32_t i = row->particle[side][0];
    rs_vec3 arm = rs_scale(side == 0 ? -row->arm[side] : row->arm[side], row->normal);
    return rs_add(grains->v.items[i].xyz, rs_cross(grains->w.items[i].xyz, arm));
}

/* Velocity of the first side against the second where they meet, between substeps. */
static rs_vec3 velocity_between(rs_soft *const *members, const rs_pair_row *row) {
    rs_vec3 sum = rs_v3_zero();
    for (int side = 0; side < 2; side++) {
        const rs_soft *soft = members[row->member[side]];
        double sign = side == 0 ? 1.0 : -1.0;
        if (soft->grains != NULL)
            sum = rs_madd(sum, sign, velocity_of_grain(soft->grains, row, side));
        for (int k = 0; soft->deformable != NULL && k < row->count[side]; k++)
            sum = rs_madd(sum, sign * row->weight[side][k], soft->deformable->v.items[row->particle[side][k]].xyz);
    }
    return sum;
}

/* The same within a substep. */
static rs_vec3 relative_velocity(rs_soft *const *members, const rs_pair_row *row, double h) {
    rs_vec3 sum = rs_v3_zero();
    for (int side = 0; side < 2; side++) {
        const rs_soft *soft = members[row->member[side]];
        double sign = side == 0 ? 1.0 : -1.0;
        if (soft->grains != NULL) {
            sum = rs_madd(sum, sign, velocity_of_grain(soft->grains, row, side));
            continue;
        }
        const rs_quad *x = soft->deformable->x.items, *start = soft->deformable->x_start.items;
        for (int k = 0; k < row->count[side]; k++) {
            int32_t i = row->particle[side][k];
            sum = rs_madd(sum, sign * row->weight[side][k] / h, rs_sub(x[i].xyz, start[i].xyz));
        }
    }
    return sum;
}

static void act(rs_soft *const *members, const rs_pair_row *row, rs_vec3 impulse, double h) {
    for (int side = 0; side < 2; side++) {
        rs_soft *soft = members[row->member[side]];
        double sign = side == 0 ? 1.0 : -1.0;
        if (soft->grains != NULL) {
            rs_quad *v = &soft->grains->v.items[row->particle[side][0]];
            rs_quad *w = &soft->grains->w.items[row->particle[side][0]];
            v->xyz = rs_madd(v->xyz, sign * v->rest, impulse);
            w->xyz = rs_madd(w->xyz, -w->rest * row->arm[side], rs_cross(row->normal, impulse));
            continue;
        }
        rs_quad *x = soft->deformable->x.items;
        const rs_quad *v = soft->deformable->v.items;
        for (int k = 0; k < row->count[side]; k++) {
            int32_t i = row->particle[side][k];
            x[i].xyz = rs_madd(x[i].xyz, sign * h * row->weight[side][k] * v[i].rest, impulse);
        }
    }
}

static void fill_mobility(rs_soft *const *members, rs_pair_row *row) {
    for (int side = 0; side < 2; side++) {
        const rs_soft *soft = members[row->member[side]];
        double inverse[3];
        for (int k = 0; k < row->count[side]; k++)
            inverse[k] = rs_soft_velocities(soft)[row->particle[side][k]].rest;
        row->along += rs_soft_point_inverse_mass(row->weight[side], inverse, row->count[side]);
        if (soft->grains != NULL)
            row->across += row->arm[side] * row->arm[side] * soft->grains->w.items[row->particle[side][0]].rest;
    }
    row->across += row->along;
}

/* A normal has two directions: the one that it had a substep before, or away from the second. Signs of triangles and edges
 * would not do: past parallel, the normal of two edges turns round. */
static void choose_side(rs_vec3 former, nearest *at) {
    double along = rs_dot(former, at->normal);
    if (along < 0.0 || (along <= 0.0 && at->distance < 0.0)) {
        at->normal = rs_neg(at->normal);
        at->distance = -at->distance;
    }
}

/* Adds the row of a meeting where it comes close in this substep. False without memory. */
static bool add_row(rs_soft_pairs *pairs, rs_soft *const *members, int32_t owner, int64_t index, double friction, double h) {
    rs_soft_meeting *m = &members[owner]->meetings.items[index];
    if (m->clear > pairs->moved)
        return true;
    rs_pair_row row = {.owner = owner, .meeting = (int32_t)index, .member = {owner, m->member}, .friction = friction};
    nearest at = {.sided = false};
    bool close = find_nearest(members, m, &row, &at);
    if (close && at.sided)
        choose_side(m->normal, &at);
    double push = m->push;
    rs_vec3 slide = m->slide;
    m->push = 0.0;
    m->slide = rs_v3_zero();
    double thickness = m->keep = rs_min(thickness_of(members, &row), rs_max(m->keep, close ? at.distance : at.apart));
    m->clear = pairs->moved + (close ? at.distance : at.apart) - (1.0 + SLACK) * thickness;
    bool near = close && m->clear <= pairs->moved;
    m->normal = near ? at.normal : rs_v3_zero();
    if (!near)
        return true;
    memcpy(row.weight, at.weight, sizeof row.weight);
    row.normal = at.normal;
    fill_mobility(members, &row);
    double gap = at.distance - thickness;
    double closing = -rs_dot(row.normal, relative_velocity(members, &row, h));
    if (gap >= h * rs_max(closing, 0.0) + SLACK * thickness || row.along <= 0.0)
        return true;
    row.wanted = -rs_max(gap, 0.0) / h;
    row.lift = rs_clamp(-RECOVERY * gap, 0.0, h * RECOVERY_SPEED * thickness);
    row.before = velocity_between(members, &row);
    row.push = push;
    row.slide = rs_madd(slide, -rs_dot(slide, row.normal), row.normal);
    rs_pair_row *place = rs_array_push(&pairs->rows);
    if (place != NULL)
        *place = row;
    return place != NULL;
}

rs_status rs_soft_pairs_begin(rs_soft_pairs *pairs, const rs_soft_scene *scene, rs_soft *const *members, const int32_t *ids,
                              int32_t count, double h) {
    pairs->rows.count = 0;
    rs_status status = rs_soft_pairs_refresh(pairs, members, ids, count, h);
    for (int32_t owner = 0; owner < count && status == RS_OK; owner++)
        for (int64_t k = 0; k < members[owner]->meetings.count; k++) {
            int32_t other = members[owner]->meetings.items[k].member;
            double friction = rs_materials_find(scene->materials, members[owner]->contact_material,
                                                members[other]->contact_material)->friction;
            if (!add_row(pairs, members, owner, k, friction, h))
                return RS_OUT_OF_MEMORY;
        }
    for (int64_t k = 0; k < pairs->rows.count; k++) {
        const rs_pair_row *row = &pairs->rows.items[k];
        if (row->push > 0.0)
            act(members, row, rs_madd(row->slide, row->push, row->normal), h);
    }
    return status;
}

void rs_soft_pairs_solve(rs_soft_pairs *pairs, rs_soft *const *members, double h) {
    for (int64_t k = 0; k < pairs->rows.count; k++) {
        rs_pair_row *row = &pairs->rows.items[k];
        rs_vec3 relative = relative_velocity(members, row, h);
        double along = rs_dot(relative, row->normal), push = rs_max(0.0, row->push + (row->wanted - along) / row->along);
        rs_vec3 slide = rs_madd(row->slide, -1.0 / row->across, rs_madd(relative, -along, row->normal));
        double size = rs_norm(slide), most = row->friction * push;
        slide = size > most ? rs_scale(most / size, slide) : slide;
        rs_vec3 impulse = rs_madd(rs_sub(slide, row->slide), push - row->push, row->normal);
        row->push = push;
        row->slide = slide;
        if (rs_norm2(impulse) > 0.0)
            act(members, row, impulse, h);
    }
}

void rs_soft_pairs_end(rs_soft_pairs *pairs, rs_soft *const *members) {
    for (int64_t k = 0; k < pairs->rows.count; k++) {
        const rs_pair_row *row = &pairs->rows.items[k];
        rs_soft_meeting *m = &members[row->owner]->meetings.items[row->meeting];
        m->push = row->push;
        m->slide = row->slide;
        for (int side = 0; side < 2; side++) {
            rs_soft *soft = members[row->member[side]];
            double sign = side == 0 ? 1.0 : -1.0;
            for (int j = 0; soft->deformable != NULL && j < row->count[side]; j++)
                rs_deformable_note_impulse(soft->deformable, row->particle[side][j], sign * row->weight[side][j],
                                           rs_madd(row->slide, row->push, row->normal));
        }
    }
}

double rs_soft_pairs_work(const rs_soft_pairs *pairs, rs_soft *const *members) {
    double sum = 0.0;
    for (int64_t k = 0; k < pairs->rows.count; k++) {
        const rs_pair_row *row = &pairs->rows.items[k];
        rs_vec3 mean = rs_scale(0.5, rs_add(row->before, velocity_between(members, row)));
        sum += rs_dot(rs_madd(row->slide, row->push, row->normal), mean);
    }
    return sum;
}

/* Mobility of one side as far as it can be moved without its velocity, and how far this lift moved it along the normal. Not
 * grains, which have springs among themselves. */
static double lift_mobility(const rs_soft *soft, const rs_pair_row *row, int side, double *moved) {
    double sum = 0.0, sign = side == 0 ? 1.0 : -1.0;
    for (int k = 0; k < row->count[side] && soft->deformable != NULL; k++) {
        int32_t i = row->particle[side][k];
        rs_vec3 way = rs_sub(soft->deformable->x.items[i].xyz, soft->deformable->x_swept.items[i].xyz);
        sum += row->weight[side][k] * row->weight[side][k] * soft->deformable->v.items[i].rest;
        *moved += sign * row->weight[side][k] * rs_dot(row->normal, way);
    }
    return sum;
}

static void lift_side(const rs_soft *soft, const rs_pair_row *row, int side, double way) {
    for (int k = 0; k < row->count[side] && soft->deformable != NULL; k++) {
        int32_t i = row->particle[side][k];
        rs_quad *x = &soft->deformable->x.items[i];
        x->xyz = rs_madd(x->xyz, way * row->weight[side][k] * soft->deformable->v.items[i].rest, row->normal);
    }
}

void rs_soft_pairs_lift(const rs_soft_pairs *pairs, rs_soft *const *members) {
    for (int64_t k = 0; k < pairs->rows.count; k++) {
        const rs_pair_row *row = &pairs->rows.items[k];
        const rs_soft *a = members[row->member[0]], *b = members[row->member[1]];
        double moved = 0.0;
        double mobility = row->lift > 0.0 ? lift_mobility(a, row, 0, &moved) + lift_mobility(b, row, 1, &moved) : 0.0;
        if (mobility <= 0.0 || moved >= row->lift)
            continue;
        double way = (row->lift - moved) / rs_max(mobility, row->along);
        lift_side(a, row, 0, way);
        lift_side(b, row, 1, -way);
    }
}
