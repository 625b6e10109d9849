/* A shape fixed to a body: the unit of collision detection. */
#ifndef RS_COLLISION_COLLIDER_H
#define RS_COLLISION_COLLIDER_H

#include "../model/shape.h"

enum { RS_NONE = -1 };

/* A rigid motion: turning about a centre that moves straight; world frame. */
typedef struct {
    rs_vec3 centre; /* at the beginning */
    rs_vec3 shift;  /* [m] */
    rs_vec3 turn;   /* axis times angle [rad] */
} rs_way;

/* Where the motion brings a pose after the fraction `t` of it. */
static inline rs_transform rs_way_pose(const rs_way *way, double t, const rs_transform *pose) {
    if (rs_norm2(way->turn) == 0.0)
        return (rs_transform){pose->rot, rs_madd(pose->pos, t, way->shift)};
    rs_mat3 turned = rs_quat_to_m3(rs_quat_exp(rs_scale(t, way->turn)));
    rs_vec3 arm = rs_m3_mulv(&turned, rs_sub(pose->pos, way->centre));
    return (rs_transform){rs_m3_mul(&turned, &pose->rot), rs_madd(rs_add(way->centre, arm), t, way->shift)};
}

/* Where a point that moves along was before the fraction `t` of the motion. */
static inline rs_vec3 rs_way_back(const rs_way *way, double t, rs_vec3 point) {
    rs_vec3 p = rs_madd(point, -t, way->shift);
    if (rs_norm2(way->turn) == 0.0)
        return p;
    rs_mat3 turned = rs_quat_to_m3(rs_quat_exp(rs_scale(t, way->turn)));
    return rs_add(way->centre, rs_m3_tmulv(&turned, rs_sub(p, way->centre)));
}

typedef struct {
    rs_shape shape;
    rs_transform local;   /* shape frame in the body frame */
    bool local_identity;  /* the shape frame is the body frame: one product less in every step */
    bool alive;
    bool dynamic;         /* the body answers to forces; not so the link that a fixed base is */
    bool active;          /* the body may move in this step: dynamic and awake, moving kinematic, or just placed */
    bool clustered;       /* the broad phase sees its cluster only */
    uint64_t placed_in;   /* clustered: the detection for which what follows below was written */
    int32_t body;         /* owner, index into the world's bodies */
    int32_t link;         /* of an articulated system, 0 for a single body */
    int32_t next_in_body; /* next collider of the body, or RS_NONE */
    int32_t number;       /* counted within the object */
    int32_t material;
    rs_asset_id asset;    /* of the shape, 0 for primitives */
    uint64_t group, mask;
    double radius;        /* farthest point of the shape from the body's centre of mass [m]; infinite for a half-space */
    double size;          /* smallest half extent of the shape [m]: limits how far ahead contacts are foreseen */
    double touch;         /* other surfaces this close touch it, if they are not finer themselves [m] */

    /* written by the midpoint stage */
    rs_transform pose;  /* world frame */
    double foresight;   /* other surfaces closer than this are contacts to come [m] */
    double swing;       /* how far its own rotation may move any of its points until the next midpoint [m] */
    bool swept;         /* farther ones too, when they lie in the way */
    double reach;       /* how far the surface may get until the next midpoint, if contacts so far ahead count [m] */
    rs_way way;         /* until the next midpoint, if nothing is in the way */
    rs_aabb box;        /* of the shape at `pose`, grown by `reach` */
} rs_collider;
RS_ARRAY_OF(rs_collider);

/* Both sides must accept each other. */
static inline bool rs_filters_agree(const rs_collider *a, const rs_collider *b) {
    return (a->group & b->mask) != 0 && (b->group & a->mask) != 0;
}

static inline bool rs_colliders_may_meet(const rs_collider *a, const rs_collider *b) {
    bool apart = a->body != b->body || a->link != b->link; /* links of one body: its articulation decides later */
    return apart && (a->active || b->active) && (a->dynamic || b->dynamic) && rs_filters_agree(a, b);
}

/* Colliders of one dynamic object that the broad phase takes for one. They are looked at singly, and placed, only when
 * something comes near. */
typedef struct {
    rs_aabb box;          /* around all of them, grown as theirs */
    uint64_t group, mask; /* bits that any of them has */
    bool active;
} rs_cluster;
RS_ARRAY_OF(rs_cluster);

#endif
