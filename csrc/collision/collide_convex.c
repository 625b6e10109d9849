#include "collide_convex.h"

#include "epa.h"
#include "mpr.h"

/* The best way out found so far; of the cores, without rounding. */
typedef struct {
    rs_vec3 normal;
    double separation;
    rs_vec3 on_a, on_b;
} way_out;

/* Takes the candidate direction when it is at least as good as what is known. */
static void try_direction(const rs_core_pair *pair, rs_vec3 normal, way_out *best) {
    double separation = rs_pair_separation(pair, normal);
    if (separation < best->separation - 1e-12 * pair->size) return;
    best->separation = separation;
    best->normal = normal;
}

/* Resting contacts lie on the normal of a flat side. EPA comes close; the side itself is exact and does not jitter. */
static void snap_to_sides(const rs_core_pair *pair, way_out *best) {
    rs_vec3 side;
    if (rs_core_facing_normal(pair->b, rs_m3_tmulv(&pair->b_in_a.rot, best->normal), &side))
        try_direction(pair, rs_m3_mulv(&pair->b_in_a.rot, side), best);
    if (rs_core_facing_normal(pair->a, rs_neg(best->normal), &side)) try_direction(pair, rs_neg(side), best);
}

static way_out find_way_out(const rs_core_pair *pair, const rs_simplex *simplex, const rs_collide_settings *settings) {
    way_out best = {.normal = {0, 0, 1}, .separation = -INFINITY};
    rs_epa_result epa;
    bool found = rs_epa(pair, simplex, settings, &epa);
    if (found) best = (way_out){epa.normal, epa.separation, epa.on_a, epa.on_b};
    rs_vec3 portal;
    if (!(found && epa.converged) && rs_mpr(pair, settings, &portal)) try_direction(pair, portal, &best);
    snap_to_sides(pair, &best);
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
    rs_convex_contact contact;
    if (rs_convex_query(&pair, settings, &contact)) rs_add_feature_contacts(&pair, &contact, ta, settings, out);
}
