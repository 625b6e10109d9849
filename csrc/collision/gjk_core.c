#include "gjk_core.h"

#include "../model/convex.h"

rs_core rs_core_of_shape(const rs_shape *shape) {
    rs_shape_core seen = rs_shape_core_of(shape);
    return (rs_core){.kind = seen.kind, .shape = shape, .rounding = seen.rounding, .size = seen.size, .center = seen.center};
}

rs_core rs_core_of_triangle(const rs_vec3 v[3]) {
    rs_core core = {.kind = RS_CORE_TRIANGLE, .triangle = {v[0], v[1], v[2]}};
    core.center = rs_scale(1.0 / 3.0, rs_add(v[0], rs_add(v[1], v[2])));
    for (int i = 0; i < 3; i++) core.size = fmax(core.size, rs_norm(rs_sub(v[i], core.center)));
    return core;
}

static rs_vec3 triangle_support(const rs_vec3 v[3], rs_vec3 d) {
    double a = rs_dot(v[0], d), b = rs_dot(v[1], d), c = rs_dot(v[2], d);
    if (a >= b) return a >= c ? v[0] : v[2];
    return b >= c ? v[1] : v[2];
}

rs_vec3 rs_core_support(const rs_core *core, rs_vec3 d) {
    switch (core->kind) {
    case RS_CORE_POINT: return rs_v3_zero();
    case RS_CORE_SEGMENT: return rs_v3(0.0, 0.0, copysign(core->shape->half_height, d.z));
    case RS_CORE_TRIANGLE: return triangle_support(core->triangle, d);
    default: return rs_shape_support(core->shape, d);
    }
}

rs_core_pair rs_core_pair_make(const rs_core *a, const rs_transform *ta, const rs_core *b, const rs_transform *tb) {
    return (rs_core_pair){.a = a, .b = b, .b_in_a = rs_transform_relative(ta, tb), .size = a->size + b->size,
                          .smaller = rs_min(a->size + a->rounding, b->size + b->rounding),
                          .rounding = a->rounding + b->rounding};
}

/* The support point; of a hull, searched from the vertex that the last search found. */
static rs_vec3 support_near(const rs_core *core, rs_vec3 d, rs_pair_hint *hint, int which) {
    if (hint == NULL || core->kind != RS_CORE_HULL)
        return rs_core_support(core, d);
    const rs_convex *hull = core->shape->convex;
    int32_t from = hint->vertex[which];
    bool fits = from > 0 && from < hull->vertex_count; /* 0: nothing found yet */
    hint->vertex[which] = fits ? rs_convex_support_from(hull, from, d) : rs_convex_support_index(hull, d);
    return hull->vertices[hint->vertex[which]];
}

rs_difference_point rs_pair_support(const rs_core_pair *pair, rs_vec3 d) {
    rs_vec3 on_a = support_near(pair->a, d, pair->hint, 0);
    rs_vec3 on_b = support_near(pair->b, rs_neg(rs_m3_tmulv(&pair->b_in_a.rot, d)), pair->hint, 1);
    return (rs_difference_point){rs_sub(on_a, rs_transform_point(&pair->b_in_a, on_b)), on_a};
}
