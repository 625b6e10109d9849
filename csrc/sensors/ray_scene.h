/* The world as rays see it: every collider at the present pose of its body, under one bounding-volume tree. */
#ifndef RS_SENSORS_RAY_SCENE_H
#define RS_SENSORS_RAY_SCENE_H

#include "../base/memory.h"
#include "../collision/collider.h"
#include "../collision/ray_cast.h"
#include "../dynamics/rigid_body.h"
#include "../model/bvh.h"

typedef struct {
    const rs_shape *shape;
    rs_transform pose; /* world frame */
    uint64_t group;
    int32_t body;
} rs_ray_target;

typedef struct {
    rs_array unordered; /* rs_ray_target: bounded ones, as listed */
    rs_array targets;   /* rs_ray_target: in the order of the tree */
    rs_array unbounded; /* rs_ray_target: half-spaces */
    rs_array boxes;     /* rs_aabb of `unordered` */
    rs_array order;     /* uint32_t: build scratch */
    rs_bvh bvh;
} rs_ray_scene;

/* What rays pass through, and which groups they see. */
typedef struct {
    int32_t ignored_body; /* or RS_NONE */
    uint64_t mask;
} rs_ray_filter;

typedef struct {
    rs_ray_hit hit; /* world frame */
    int32_t body;   /* RS_NONE: nothing was hit */
} rs_scene_hit;

rs_ray_scene rs_ray_scene_make(void);
void rs_ray_scene_free(rs_ray_scene *scene);
rs_status rs_ray_scene_build(rs_ray_scene *scene, const rs_body *bodies, const rs_collider *colliders, int64_t count);

rs_scene_hit rs_ray_scene_cast(const rs_ray_scene *scene, const rs_ray *ray, const rs_ray_filter *filter);

#endif
