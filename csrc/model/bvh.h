/* Four-wide bounding-volume tree over boxes, for triangles (and whatever else has a box).
 *
 * Nodes are 128 bytes, two cache lines: the four child boxes lie side by side in single precision, so that one box or
 * ray is tested against all four at once. Single-precision bounds are rounded outwards and stay conservative. The
 * items of a leaf are consecutive, so a leaf is a start and a count, and whoever builds a tree reorders his items. */
#ifndef RS_MODEL_BVH_H
#define RS_MODEL_BVH_H

#include <stdint.h>

#include "shape.h"

enum {
    RS_BVH_WIDTH = 4,
    RS_BVH_LEAF_ITEMS = 4,
    RS_BVH_MAX_DEPTH = 60, /* of the two-way tree that is collapsed into the four-way one */
    RS_BVH_STACK = (RS_BVH_WIDTH - 1) * RS_BVH_MAX_DEPTH + RS_BVH_WIDTH
};

typedef struct {
    float lo[3][RS_BVH_WIDTH], hi[3][RS_BVH_WIDTH]; /* axis by child; an absent child has lo > hi */
    uint32_t child[RS_BVH_WIDTH]; /* inner child: node index; leaf: first item */
    uint32_t count[RS_BVH_WIDTH]; /* inner child or absent: 0; leaf: number of items */
} rs_bvh_node;
RS_ARRAY_OF(rs_bvh_node);

typedef struct {
    rs_bvh_node *nodes; /* node 0 is the root */
    uint32_t node_count;
} rs_bvh;

/* Builds the tree of `count` boxes (binned surface-area heuristic). order[i] is the box that became item i.
 * `order` has room for `count` entries. */
rs_status rs_bvh_build(rs_bvh *bvh, const rs_aabb *boxes, uint32_t count, uint32_t *order);
void rs_bvh_free(rs_bvh *bvh);

/* Walks over the items whose leaf boxes touch a box, in a fixed order:
 *   for (rs_bvh_query q = rs_bvh_query_box(&bvh, box); rs_bvh_query_next(&q, &item);) ... */
typedef struct {
    const rs_bvh *bvh;
    float lo[3], hi[3];
    float normal[3], offset, reach; /* of a plane that leaves must come near; normal 0: no plane */
    uint32_t item, item_end; /* the rest of the leaf at hand */
    int top;
    struct { uint32_t child, count; } stack[RS_BVH_STACK];
} rs_bvh_query;

rs_bvh_query rs_bvh_query_box(const rs_bvh *bvh, rs_aabb box);
/* Leaves out boxes farther than `margin` from the plane through `point`; to be called before the first item. */
void rs_bvh_query_near_plane(rs_bvh_query *query, rs_vec3 normal, rs_vec3 point, double margin);
bool rs_bvh_query_next(rs_bvh_query *query, uint32_t *item);

/* The largest float not above, and the smallest not below x. */
float rs_float_below(double x);
float rs_float_above(double x);

#endif
