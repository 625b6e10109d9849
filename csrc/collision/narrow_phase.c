#include "narrow_phase.h"

#include "collide_primitive.h"

/* One test per pair of shapes, the first shape (row) being A; pairs below the diagonal are swapped. */
static rs_collide_fn *const PAIR_TEST[RS_SHAPE_TYPE_COUNT][RS_SHAPE_TYPE_COUNT] = {
    [RS_SHAPE_SPHERE] = {[RS_SHAPE_SPHERE] = rs_collide_sphere_sphere,
                         [RS_SHAPE_BOX] = rs_collide_sphere_box,
                         [RS_SHAPE_HALF_SPACE] = rs_collide_sphere_half_space},
    [RS_SHAPE_BOX] = {[RS_SHAPE_BOX] = rs_collide_box_box,
                      [RS_SHAPE_HALF_SPACE] = rs_collide_box_half_space},
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
