/* Colliders of articulated systems. In the broad phase a system is one box; its colliders are placed only when something
 * comes near it, or near each other. */
#ifndef RS_WORLD_TREE_COLLIDERS_H
#define RS_WORLD_TREE_COLLIDERS_H

#include "world.h"

/* A ball around a collider, grown as far as a step may grow it. */
typedef struct {
    int32_t collider, link;
    rs_vec3 centre; /* link frame */
    double radius;  /* [m] */
} rs_collider_ball;
RS_ARRAY_OF(rs_collider_ball);

/* Of one articulated system. */
struct rs_tree_colliders {
    int32_t body;                     /* index into the world's bodies */
    RS_ARRAY(rs_collider_ball) balls; /* of each collider */
    RS_ARRAY(double) reach;  /* per link: how far its colliders, grown as far as a step may grow them, get from its
                        origin [m]; negative without colliders */
    RS_ARRAY(double) span; /* per link: `reach` and, with swept collision detection, the way of this step [m] */

    /* pairs of its own colliders that may meet, found in advance: valid until its joints have moved a point by `skin` */
    RS_ARRAY(rs_pair) near;
    RS_ARRAY(double) farthest; /* per link: of all that hangs on it, from its origin [m] */
    RS_ARRAY(double) q;     /* per coordinate: where `near` was found */
    RS_ARRAY(double) lever; /* per coordinate: how far its change moves any point at most [m/rad, m/m] */
    RS_ARRAY(int32_t) sorted; /* its colliders that may meet others of it, by the lower end of their boxes along x when
                        `near` was found */
    double skin;     /* [m]; negative: `near` must be found again */
    int64_t age;     /* steps since then */
};

static inline bool rs_has_tree_colliders(const rs_body *body) {
    return body->articulation != NULL && body->first_collider != RS_NONE;
}

/* Lists the articulated systems with colliders and their clusters, in the order of the bodies. */
rs_status rs_tree_colliders_list(rs_world *world);
void rs_tree_colliders_free(RS_ARRAY(rs_tree_colliders) *trees);

/* Midpoint stage, after the links were placed: the system's box. */
void rs_tree_colliders_begin(rs_world *world, int32_t body_index);

/* Broad phase: replaces the pairs of clusters among those found by pairs of their colliders, and adds the pairs of
 * colliders within each awake system. */
rs_status rs_tree_colliders_expand(rs_world *world);

#endif
