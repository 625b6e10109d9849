/* Triangulated convex hull of a point set (quickhull). */
#ifndef RS_MODEL_CONVEX_HULL_H
#define RS_MODEL_CONVEX_HULL_H

#include "../base/math3d.h"
#include "../base/memory.h"

/* A triangle of the hull, counter-clockwise seen from outside; neighbor[k] lies across the edge from v[k] to
 * v[(k + 1) % 3]. */
typedef struct {
    int32_t v[3];
    int32_t neighbor[3];
    rs_vec3 normal; /* unit, outwards */
    double offset;  /* normal . x on the plane */
} rs_hull_triangle;
RS_ARRAY_OF(rs_hull_triangle);

/* Fills `triangles` (an empty array of rs_hull_triangle) with the hull of the points, which must be finite and of
 * about unit size, centred about the origin. Points closer to the hull than about 1e-11 may be left out. Fails when
 * the points are all nearly in one plane. */
rs_status rs_convex_hull(const rs_vec3 *points, int32_t count, RS_ARRAY(rs_hull_triangle) *triangles);

#endif
