#include "narrow_phase.h"

#include "collide_convex.h"
#include "collide_primitive.h"
#include "collide_terrain.h"

/* Short names keep the table aligned; `swap` marks the lower half, served by the upper one with A and B exchanged,
 * `none` the pairs that can never move against each other. */
#define none NULL
#define swap NULL
#define gjk_ rs_collide_convex_convex
#define s_s_ rs_collide_sphere_sphere
#define s_b_ rs_collide_sphere_box
#define s_cy rs_collide_sphere_cylinder
#define s_co rs_collide_sphere_cone
#define s_ca rs_collide_sphere_capsule
#define s_hs rs_collide_sphere_half_space
#define b_b_ rs_collide_box_box
#define b_ca rs_collide_box_capsule
#define b_hs rs_collide_box_half_space
#define cyhs rs_collide_cylinder_half_space
#define cohs rs_collide_cone_half_space
#define caca rs_collide_capsule_capsule
#define cahs rs_collide_capsule_half_space
#define cvhs rs_collide_convex_half_space
#define s_su rs_collide_sphere_surface
#define c_su rs_collide_convex_surface
#define hs_m rs_collide_half_space_mesh
#define m_su rs_collide_mesh_surface

/* Rows: shape A, columns: shape B, both in the order of rs_shape_type. */
static rs_collide_fn *const PAIR_TEST[RS_SHAPE_TYPE_COUNT][RS_SHAPE_TYPE_COUNT] = {
    /*               sphere box   cylin cone  capsu convx plane mesh  height */
    /* sphere     */ {s_s_, s_b_, s_cy, s_co, s_ca, gjk_, s_hs, s_su, s_su},
    /* box        */ {swap, b_b_, gjk_, gjk_, b_ca, gjk_, b_hs, c_su, c_su},
    /* cylinder   */ {swap, swap, gjk_, gjk_, gjk_, gjk_, cyhs, c_su, c_su},
    /* cone       */ {swap, swap, swap, gjk_, gjk_, gjk_, cohs, c_su, c_su},
    /* capsule    */ {swap, swap, swap, swap, caca, gjk_, cahs, c_su, c_su},
    /* convex     */ {swap, swap, swap, swap, swap, gjk_, cvhs, c_su, c_su},
    /* half-space */ {swap, swap, swap, swap, swap, swap, none, hs_m, none},
    /* mesh       */ {swap, swap, swap, swap, swap, swap, swap, m_su, m_su},
    /* heightmap  */ {swap, swap, swap, swap, swap, swap, none, swap, none},
};

void rs_collide(const rs_shape *a, const rs_transform *ta, const rs_shape *b, const rs_transform *tb,
                const rs_collide_settings *settings, rs_manifold *out) {
    out->count = 0;
    bool swapped = a->type > b->type;
    rs_collide_fn *test = swapped ? PAIR_TEST[b->type][a->type] : PAIR_TEST[a->type][b->type];
    if (test == NULL) return;
    if (swapped) {
        test(b, tb, a, ta, settings, out);
        for (int i = 0; i < out->count; i++) out->points[i].normal = rs_neg(out->points[i].normal);
    } else {
        test(a, ta, b, tb, settings, out);
    }
    if (out->count > settings->max_points) rs_manifold_reduce(out, settings->max_points);
}
