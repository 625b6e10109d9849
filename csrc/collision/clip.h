/* Clipping of convex polygons that float above a plane: how face contacts become a few points. */
#ifndef RS_COLLISION_CLIP_H
#define RS_COLLISION_CLIP_H

#include <stdint.h>

/* Room for a polygon clipped by another: each cutting line adds at most one vertex. */
enum { RS_CLIP_MAX = 64 };

/* x, y in the plane, z the height above it. `in` and `out` name the lines that meet here, arriving and leaving in
 * the order of the vertices, so that a vertex keeps its name while the polygons move a little. */
typedef struct {
    double x, y, z;
    uint8_t in, out;
} rs_clip_vertex;

typedef struct {
    int count;
    rs_clip_vertex vertices[RS_CLIP_MAX];
} rs_clip_polygon;

/* Cuts away what lies beyond nx * x + ny * y = limit. New vertices carry the label. A polygon of two vertices is a
 * segment. The order of the vertices is kept. */
void rs_clip_by_line(rs_clip_polygon *polygon, double nx, double ny, double limit, uint8_t label);

#endif
