/* Vertices and edges belong to several triangles; each is owned by one, which answers for it when surfaces meet. */
#include "../base/group_by.h"
#include "deformable.h"

static bool has_edge(const int32_t *triangle, int32_t a, int32_t b) {
    return (triangle[0] == a || triangle[1] == a || triangle[2] == a) && (triangle[0] == b || triangle[1] == b || triangle[2] == b);
}

/* Triangles by vertex: where those of each begin, then the triangles, ascending. */
static rs_status list_around(const rs_deformable *d, RS_ARRAY(int32_t) *lists) {
    int64_t vertices = d->x.count, corners = d->triangles.count;
    if (rs_array_resize(lists, vertices + 1 + corners) != RS_OK)
        return RS_OUT_OF_MEMORY;
    int32_t *starts = lists->items, *items = starts + vertices + 1;
    rs_group_by(d->triangles.items, corners, vertices, starts, items);
    for (int64_t k = 0; k < corners; k++)
        items[k] /= 3;
    return RS_OK;
}

rs_status rs_deformable_own_features(rs_deformable *d) {
    int64_t count = d->triangles.count / 3;
    if (d->owned.count == count)
        return RS_OK;
    if (list_around(d, &d->around) != RS_OK || rs_array_resize(&d->owned, count) != RS_OK)
        return RS_OUT_OF_MEMORY;
    const int32_t *starts = d->around.items, *items = starts + d->x.count + 1;
    const int32_t *index = d->triangles.items;
    for (int32_t t = 0; t < count; t++) {
        const int32_t *own = &index[3 * t];
        uint8_t bits = 0;
        for (int k = 0; k < 3; k++) {
            int32_t a = own[k], b = own[(k + 1) % 3];
            bool first = true; /* no triangle before this one has the edge */
            for (int32_t n = starts[a]; n < starts[a + 1] && items[n] < t; n++)
                first = first && !has_edge(&index[3 * items[n]], a, b);
            bits = (uint8_t)(bits | (items[starts[a]] == t ? 1 << k : 0) | (first ? 8 << k : 0));
        }
        d->owned.items[t] = bits;
    }
    return RS_OK;
}
