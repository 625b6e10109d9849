/* What a collision test of two shapes returns: a few points on a common normal, or one normal per point. */
#ifndef RS_COLLISION_MANIFOLD_H
#define RS_COLLISION_MANIFOLD_H

#include "../base/math3d.h"
#include "../model/shape.h"

enum { RS_MAX_MANIFOLD = 8, RS_MAX_CANDIDATES = 256 };

typedef struct {
    rs_vec3 position; /* world frame, midway between the two surfaces [m] */
    rs_vec3 normal;   /* unit, world frame, from shape B towards shape A */
    double gap;       /* signed distance of the surfaces [m]: negative when they penetrate */
    uint32_t feature; /* names the pair of features that touch; equal from step to step while it persists */
} rs_manifold_point;

typedef struct {
    int count;
    rs_manifold_point points[RS_MAX_MANIFOLD];
} rs_manifold;

typedef struct {
    double margin;        /* points with gap < margin are reported [m] */
    int max_points;       /* 1..RS_MAX_MANIFOLD */
    int gjk_max_iterations;
    double gjk_tolerance; /* of the direction between the shapes [rad]; distances are accurate to its square,
                             relative to themselves */
    int epa_max_iterations;
    double epa_tolerance; /* of the direction of the way out [rad]; depths are accurate to its square, relative to
                             the shapes' size */
    struct rs_pair_hint *hint; /* pair_memory.h: where to start, and what to write for the next time; may be NULL */
} rs_collide_settings;

/* Every pair test has this form; `out->count` is 0 on entry. */
typedef void rs_collide_fn(const rs_shape *a, const rs_transform *ta, const rs_shape *b, const rs_transform *tb,
                           const rs_collide_settings *settings, rs_manifold *out);

/* Keeps at most `max_points` of the points, the deepest first, then those that span the largest area; returns how
 * many are left. At most RS_MAX_CANDIDATES of them. */
int rs_points_reduce(rs_manifold_point *points, int count, int max_points);
/* The same where the features of points that were chosen before are known: those are chosen again where others are hardly
 * better. What slides or rocks a little keeps its points, and so its impulses. */
int rs_points_reduce_again(rs_manifold_point *points, int count, int max_points, const int32_t *before, int before_count);

static inline void rs_manifold_add(rs_manifold *m, rs_vec3 position, rs_vec3 normal, double gap, uint32_t feature) {
    if (m->count < RS_MAX_MANIFOLD)
        m->points[m->count++] = (rs_manifold_point){position, normal, gap, feature};
}

#endif
