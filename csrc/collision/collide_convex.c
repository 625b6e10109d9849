#include "collide_convex.h"

#include "epa.h"
#include "mpr.h"

enum { AROUND = 32 };

/* The best way out found so far; of the cores, without rounding. */
typedef struct {
    rs_vec3 normal;
    double separation;
    rs_vec3 on_a, on_b;
    bool located; /* the points belong to the normal */
} way_out;

/* Takes the candidate direction when it is better than what is known or, close to it, as good. */
static void try_direction(const rs_core_pair *pair, rs_vec3 normal, way_out *best) {
    double separation = rs_pair_separation(pair, normal);
    bool close = rs_dot(normal, best->normal) > 0.999;
    if (separation < best->separation + (close ? -1e-12 : 1e-9) * pair->size) return;
    best->located = best->located && close;
    best->separation = separation;
    best->normal = normal;
}

/* The points for a direction that was guessed: moved apart along it, the shapes have closest points. */
static void locate(const rs_core_pair *pair, const rs_collide_settings *settings, way_out *best) {
    rs_vec3 shift = rs_scale(0.01 * pair->size - best->separation, best->normal);
    rs_core_pair moved = *pair;
    moved.b_in_a.pos = rs_sub(pair->b_in_a.pos, shift);
    moved.hint = NULL;
    rs_gjk_result apart;
    if (rs_gjk(&moved, INFINITY, settings, &apart) != RS_GJK_APART) return;
    best->on_a = apart.on_a;
    best->on_b = rs_add(apart.on_b, shift);
}

/* Resting contacts lie on the normal of a flat side. EPA comes close; the side itself is exact and does not jitter. */
static void snap_to_sides(const rs_core_pair *pair, way_out *best) {
    rs_vec3 side;
    if (rs_core_facing_normal(pair->b, rs_m3_tmulv(&pair->b_in_a.rot, best->normal), &side))
        try_direction(pair, rs_m3_mulv(&pair->b_in_a.rot, side), best);
    if (rs_core_facing_normal(pair->a, rs_neg(best->normal), &side)) try_direction(pair, rs_neg(side), best);
}

static bool has_straight_side(const rs_core *core) {
    return core->kind == RS_CORE_CYLINDER || core->kind == RS_CORE_SEGMENT;
}

/* Cylinders (and capsules) touch across both axes, or side by side along the line between parallel axes. */
static void snap_to_axes(const rs_core_pair *pair, way_out *best) {
    if (!has_straight_side(pair->a) || !has_straight_side(pair->b)) return;
    rs_vec3 axis = rs_v3(0, 0, 1), across = rs_cross(axis, rs_m3_col(&pair->b_in_a.rot, 2));
    if (rs_norm2(across) < 1e-12) across = rs_v3(-pair->b_in_a.pos.x, -pair->b_in_a.pos.y, 0.0);
    across = rs_normalize_or(across, best->normal);
    try_direction(pair, rs_dot(across, best->normal) < 0.0 ? rs_neg(across) : across, best);
}

/* Normal, from B to A, of the round side of A (or of B) at an angle from the azimuth of `around` (frame of A). */
static bool side_direction(const rs_core_pair *pair, bool of_a, rs_vec3 around, double angle, rs_vec3 *normal) {
    const rs_core *core = of_a ? pair->a : pair->b;
    rs_vec3 d = of_a ? rs_neg(around) : rs_m3_tmulv(&pair->b_in_a.rot, around), side;
    double c = cos(angle), s = sin(angle);
    if (!rs_core_side_normal(core, rs_v3(c * d.x - s * d.y, s * d.x + c * d.y, d.z), &side)) return false;
    *normal = of_a ? rs_neg(side) : rs_m3_mulv(&pair->b_in_a.rot, side);
    return true;
}

/* Deep inside a round side every way around it is about as long, more ways than the polytope could try: looks all
 * around the side, then closely (golden section) beside the best. */
static void search_around(const rs_core_pair *pair, bool of_a, way_out *best) {
    static const double GOLDEN = 0.61803398874989484820, STEP = 6.28318530717958647693 / AROUND;
    rs_vec3 start = best->normal, n1, n2;
    double angle = 0.0, most = -INFINITY;
    for (int i = 0; i < AROUND; i++) {
        if (!side_direction(pair, of_a, start, i * STEP, &n1)) return;
        double s1 = rs_pair_separation(pair, n1);
        if (s1 > most) {
            most = s1;
            angle = i * STEP;
        }
    }
    double low = angle - STEP, high = angle + STEP;
    for (int i = 0; i < 40; i++) {
        double x1 = high - GOLDEN * (high - low), x2 = low + GOLDEN * (high - low);
        side_direction(pair, of_a, start, x1, &n1);
        side_direction(pair, of_a, start, x2, &n2);
        double s1 = rs_pair_separation(pair, n1), s2 = rs_pair_separation(pair, n2);
        if (s1 > s2) high = x2;
        else low = x1;
        try_direction(pair, s1 > s2 ? n1 : n2, best);
    }
}

static way_out find_way_out(const rs_core_pair *pair, const rs_simplex *simplex, const rs_collide_settings *settings) {
    way_out best = {.normal = {0, 0, 1}, .separation = -INFINITY};
    rs_epa_result epa;
    bool found = rs_epa(pair, simplex, settings, &epa);
    if (found) best = (way_out){epa.normal, epa.separation, epa.on_a, epa.on_b, true};
    rs_vec3 portal;
    if (!(found && epa.converged)) {
        if (rs_mpr(pair, settings, &portal)) try_direction(pair, portal, &best);
        search_around(pair, true, &best);
        search_around(pair, false, &best);
    }
    snap_to_sides(pair, &best);
    snap_to_axes(pair, &best);
    if (!best.located) locate(pair, settings, &best);
    return best;
}

bool rs_convex_query(const rs_core_pair *pair, const rs_collide_settings *settings, rs_convex_contact *out) {
    rs_gjk_result gjk;
    rs_gjk_outcome outcome = rs_gjk(pair, settings->margin + pair->rounding, settings, &gjk);
    if (outcome == RS_GJK_FAR) return false;
    double separation = gjk.distance;
    if (outcome == RS_GJK_OVERLAP) {
        way_out best = find_way_out(pair, &gjk.simplex, settings);
        separation = best.separation;
        gjk.normal = best.normal;
        gjk.on_a = best.on_a;
        gjk.on_b = best.on_b;
        if (pair->hint != NULL) {
            pair->hint->known = true;
            pair->hint->normal = best.normal;
        }
    }
    out->normal = gjk.normal;
    out->gap = separation - pair->rounding;
    out->on_a = rs_madd(gjk.on_a, -pair->a->rounding, gjk.normal);
    out->on_b = rs_madd(gjk.on_b, pair->b->rounding, gjk.normal);
    return out->gap < settings->margin;
}

void rs_collide_convex_convex(const rs_shape *a, const rs_transform *ta, const rs_shape *b, const rs_transform *tb,
                              const rs_collide_settings *settings, rs_manifold *out) {
    rs_core core_a = rs_core_of_shape(a), core_b = rs_core_of_shape(b);
    rs_core_pair pair = rs_core_pair_make(&core_a, ta, &core_b, tb);
    rs_vec3 between = rs_sub(core_a.center, rs_transform_point(&pair.b_in_a, core_b.center));
    double farthest = pair.size + pair.rounding + settings->margin; /* of the centres of balls around them that meet */
    pair.hint = settings->hint;
    if (pair.hint != NULL) pair.hint->used = true;
    if (rs_norm2(between) >= farthest * farthest) return;
    rs_convex_contact contact;
    if (rs_convex_query(&pair, settings, &contact)) rs_add_feature_contacts(&pair, &contact, ta, settings, out);
}
