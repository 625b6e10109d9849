/* Cores of convex shapes (rs_shape_core) and of single triangles, and pairs of them, for GJK and EPA. */
#ifndef RS_COLLISION_GJK_CORE_H
#define RS_COLLISION_GJK_CORE_H

#include "pair_memory.h"

typedef struct {
    rs_core_kind kind;
    const rs_shape *shape;  /* NULL for a triangle */
    rs_vec3 triangle[3];
    double rounding, size;  /* as of rs_shape_core [m] */
    rs_vec3 center;
} rs_core;

/* Of a bounded convex shape, which must outlive the core. */
rs_core rs_core_of_shape(const rs_shape *shape);
rs_core rs_core_of_triangle(const rs_vec3 vertices[3]);

/* Farthest point of the core (without the rounding) along the direction, in the core's frame. */
rs_vec3 rs_core_support(const rs_core *core, rs_vec3 direction);

/* Two cores; all results are in the frame of A. */
typedef struct {
    const rs_core *a, *b;
    rs_transform b_in_a;
    double size;     /* of both cores [m]: what tolerances are relative to */
    double smaller;  /* size of the smaller one with its rounding [m] */
    double rounding; /* of both [m] */
    rs_pair_hint *hint; /* where searches start and what they find, or NULL */
} rs_core_pair;

/* Without a hint. */
rs_core_pair rs_core_pair_make(const rs_core *a, const rs_transform *ta, const rs_core *b, const rs_transform *tb);

/* A point of the difference A - B with the point of A it comes from; the point of B is on_a - w. */
typedef struct {
    rs_vec3 w, on_a;
} rs_difference_point;

/* Farthest point of A - B along the direction. */
rs_difference_point rs_pair_support(const rs_core_pair *pair, rs_vec3 direction);

/* How far apart the cores are along the unit direction from B to A; negative: how deep they overlap. */
static inline double rs_pair_separation(const rs_core_pair *pair, rs_vec3 normal) {
    return rs_dot(normal, rs_pair_support(pair, rs_neg(normal)).w);
}

#endif
