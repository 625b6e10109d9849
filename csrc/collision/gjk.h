/* Distance of two convex cores (Gilbert, Johnson, Keerthi 1988). */
#ifndef RS_COLLISION_GJK_H
#define RS_COLLISION_GJK_H

#include "gjk_core.h"
#include "manifold.h"

/* Corners of A - B whose hull holds the point closest to the origin, with its weights. */
typedef struct {
    int count;
    rs_difference_point points[4];
    double weights[4];
} rs_simplex;

typedef enum {
    RS_GJK_FAR,     /* farther apart than the limit; nothing else is known */
    RS_GJK_APART,   /* normal, distance and closest points are set */
    RS_GJK_OVERLAP  /* the cores touch or overlap: `simplex` is where EPA starts */
} rs_gjk_outcome;

typedef struct {
    rs_vec3 normal;     /* unit, from B to A */
    double distance;    /* of the cores [m] */
    rs_vec3 on_a, on_b; /* closest points of the cores */
    rs_simplex simplex;
} rs_gjk_result;

/* `limit`: distance of the cores beyond which the answer does not matter [m]. */
rs_gjk_outcome rs_gjk(const rs_core_pair *pair, double limit, const rs_collide_settings *settings, rs_gjk_result *out);

/* Point of A, and of B, that the weights of the simplex stand for. */
void rs_simplex_witness(const rs_simplex *simplex, rs_vec3 *on_a, rs_vec3 *on_b);

#endif
