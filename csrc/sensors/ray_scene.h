/* The world as rays see it: every collider at the present pose of its body, under one bounding-volume tree. */
#ifndef RS_SENSORS_RAY_SCENE_H
#define RS_SENSORS_RAY_SCENE_H

#include "../base/thread_pool.h"
#include "../collision/collider.h"
#include "../collision/ray_packet.h"
#include "../dynamics/rigid_body.h"
#include "../model/bvh.h"
#include "../model/tri_mesh.h"
#include "../soft/soft.h"

/* Fewer are not worth sharing between threads. */
enum { RS_FEW_RAYS = 2048 };

typedef struct {
    const rs_shape *shape;
    rs_transform pose; /* world frame */
    uint64_t group;
    int32_t body, link; /* link: of an articulated system, 0 for a single body */
    int32_t number;     /* of the shape, counted within the object */
} rs_ray_target;
RS_ARRAY_OF(rs_ray_target);
typedef rs_tri_mesh *rs_tri_mesh_ref;
RS_ARRAY_OF(rs_tri_mesh_ref);

typedef struct {
    RS_ARRAY(rs_ray_target) unordered; /* bounded ones, as listed */
    RS_ARRAY(rs_ray_target) targets;   /* in the order of the tree */
    RS_ARRAY(rs_ray_target) unbounded; /* half-spaces */
    RS_ARRAY(rs_aabb) boxes;           /* of `unordered` */
    RS_ARRAY(rs_tri_mesh_ref) meshes;  /* surfaces of deformable objects as they are now */
    RS_ARRAY(rs_shape) shapes;         /* of the particles and surfaces of soft objects, as they are now */
    RS_ARRAY(uint32_t) order;          /* build scratch */
    rs_bvh bvh;
    RS_ARRAY(double) scratch; /* what a sensor needs while it looks */
} rs_ray_scene;

/* Rows of a table of colours that belong to a body; none: it is hidden. */
typedef struct {
    int64_t first, count;
} rs_color_rows;

/* What rays pass through, and which groups they see. */
typedef struct {
    int32_t ignored_body; /* or RS_NONE */
    int32_t ignored_link; /* RS_NONE: all of the body */
    uint64_t mask;
    const rs_color_rows *looks; /* of each body: hidden ones are not seen; NULL: all are */
} rs_ray_filter;

typedef struct {
    rs_ray_hit hit; /* world frame */
    int32_t body;   /* RS_NONE: nothing was hit */
    int32_t link;
} rs_scene_hit;

void rs_ray_scene_free(rs_ray_scene *scene);
/* Articulated systems must be placed. */
rs_status rs_ray_scene_build(rs_ray_scene *scene, const rs_body *bodies, int64_t body_count, const rs_collider *colliders,
                             int64_t count);

rs_scene_hit rs_ray_scene_cast(const rs_ray_scene *scene, const rs_ray *ray, const rs_ray_filter *filter);

/* Whether nothing is in the way of a ray; the first thing that is found ends the search. */
bool rs_ray_scene_is_free(const rs_ray_scene *scene, const rs_ray *ray, const rs_ray_filter *filter);

/* A bundle of rays (world frame). hits->target is a number for rs_ray_scene_target(). */
void rs_ray_scene_cast_packet(const rs_ray_scene *scene, const rs_packet_rays *rays, const rs_ray_filter *filter,
                              rs_packet_hits *hits);
const rs_ray_target *rs_ray_scene_target(const rs_ray_scene *scene, int64_t number);
/* Outward unit normal, world frame, where a ray hit a target. */
rs_vec3 rs_ray_scene_normal(const rs_ray_scene *scene, const rs_ray *ray, int64_t target, int64_t feature);

#endif
