#include "clip.h"

#include <math.h>

/* A vertex this share of the polygon's reach beyond the line lies on it: sides that lie flush must not be cut by rounding, which
 * would leave a vertex anywhere on them. */
static const double FLUSH_SHARE = 1e-9;

static rs_clip_vertex cut(const rs_clip_vertex *from, const rs_clip_vertex *to, double d_from, double d_to) {
    double t = d_from / (d_from - d_to);
    return (rs_clip_vertex){.x = from->x + t * (to->x - from->x),
                            .y = from->y + t * (to->y - from->y),
                            .z = from->z + t * (to->z - from->z)};
}

void rs_clip_by_line(rs_clip_polygon *polygon, double nx, double ny, double limit, uint8_t label) {
    double beyond[RS_CLIP_MAX];
    double farthest = 0.0;
    int count = polygon->count, outside = 0;
    for (int i = 0; i < count; i++) {
        const rs_clip_vertex *v = &polygon->vertices[i];
        beyond[i] = nx * v->x + ny * v->y - limit;
        farthest = fmax(farthest, fabs(beyond[i]));
    }
    for (int i = 0; i < count; i++) {
        if (fabs(beyond[i]) <= FLUSH_SHARE * farthest) beyond[i] = 0.0;
        outside += beyond[i] > 0.0;
    }
    if (outside == 0) return;
    if (outside == count) {
        polygon->count = 0;
        return;
    }
    rs_clip_polygon kept;
    kept.count = 0;
    for (int i = 0; i < count; i++) {
        int j = i + 1 < count ? i + 1 : 0;
        const rs_clip_vertex *v = &polygon->vertices[i], *next = &polygon->vertices[j];
        if (beyond[i] <= 0.0) kept.vertices[kept.count++] = *v;
        if ((beyond[i] > 0.0) == (beyond[j] > 0.0) || kept.count == RS_CLIP_MAX) continue;
        if (count == 2 && i == 1) continue; /* a segment has one side only */
        rs_clip_vertex *fresh = &kept.vertices[kept.count++];
        *fresh = cut(v, next, beyond[i], beyond[j]);
        fresh->in = beyond[i] > 0.0 ? label : v->out;
        fresh->out = beyond[i] > 0.0 ? v->out : label;
    }
    polygon->count = kept.count;
    for (int i = 0; i < kept.count; i++) polygon->vertices[i] = kept.vertices[i];
}
