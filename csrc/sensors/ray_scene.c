#include "ray_scene.h"

#include "../collision/bvh_ray.h"

rs_ray_scene rs_ray_scene_make(void) {
    return (rs_ray_scene){.unordered = rs_array_of(sizeof(rs_ray_target)),
                          .targets = rs_array_of(sizeof(rs_ray_target)),
                          .unbounded = rs_array_of(sizeof(rs_ray_target)),
                          .boxes = rs_array_of(sizeof(rs_aabb)),
                          .order = rs_array_of(sizeof(uint32_t))};
}

void rs_ray_scene_free(rs_ray_scene *scene) {
    rs_array_free(&scene->unordered);
    rs_array_free(&scene->targets);
    rs_array_free(&scene->unbounded);
    rs_array_free(&scene->boxes);
    rs_array_free(&scene->order);
    rs_bvh_free(&scene->bvh);
}

static rs_status list_targets(rs_ray_scene *scene, const rs_body *bodies, const rs_collider *colliders,
                              int64_t count) {
    scene->unordered.count = scene->unbounded.count = scene->boxes.count = 0;
    for (int64_t c = 0; c < count; c++) {
        const rs_collider *collider = &colliders[c];
        if (!collider->alive)
            continue;
        const rs_body *body = &bodies[collider->body];
        rs_transform pose = rs_transform_make(body->position, body->quaternion);
        bool bounded = collider->shape.type != RS_SHAPE_HALF_SPACE;
        rs_ray_target *target = rs_array_push(bounded ? &scene->unordered : &scene->unbounded);
        if (target == NULL)
            return RS_OUT_OF_MEMORY;
        *target = (rs_ray_target){&collider->shape, rs_transform_mul(&pose, &collider->local), collider->group,
                                  collider->body};
        rs_aabb *box = bounded ? rs_array_push(&scene->boxes) : NULL;
        if (bounded && box == NULL)
            return RS_OUT_OF_MEMORY;
        if (bounded)
            *box = rs_shape_aabb(target->shape, &target->pose);
    }
    return RS_OK;
}

rs_status rs_ray_scene_build(rs_ray_scene *scene, const rs_body *bodies, const rs_collider *colliders,
                             int64_t count) {
    rs_bvh_free(&scene->bvh);
    scene->bvh = (rs_bvh){0};
    if (list_targets(scene, bodies, colliders, count) != RS_OK)
        return RS_OUT_OF_MEMORY;
    int64_t bounded = scene->unordered.count;
    if (rs_array_resize(&scene->targets, bounded) != RS_OK || rs_array_resize(&scene->order, bounded) != RS_OK)
        return RS_OUT_OF_MEMORY;
    if (bounded == 0)
        return RS_OK;
    uint32_t *order = RS_ITEMS(uint32_t, scene->order);
    rs_status status = rs_bvh_build(&scene->bvh, RS_ITEMS(rs_aabb, scene->boxes), (uint32_t)bounded, order);
    for (int64_t i = 0; i < bounded && status == RS_OK; i++)
        RS_ITEMS(rs_ray_target, scene->targets)[i] = RS_ITEMS(rs_ray_target, scene->unordered)[order[i]];
    return status;
}

/* Casts at one target and keeps the hit when it is the nearest so far; `*max` is the distance to beat. */
static void try_target(const rs_ray_target *target, const rs_ray *ray, const rs_ray_filter *filter, double *max,
                       rs_scene_hit *best) {
    if ((target->group & filter->mask) == 0 || target->body == filter->ignored_body)
        return;
    rs_ray local = {rs_transform_inv_point(&target->pose, ray->origin),
                    rs_m3_tmulv(&target->pose.rot, ray->direction), *max};
    rs_ray_hit hit;
    if (!rs_ray_shape(target->shape, &local, &hit))
        return;
    *max = hit.distance;
    best->hit = (rs_ray_hit){hit.distance, rs_m3_mulv(&target->pose.rot, hit.normal)};
    best->body = target->body;
}

rs_scene_hit rs_ray_scene_cast(const rs_ray_scene *scene, const rs_ray *ray, const rs_ray_filter *filter) {
    rs_scene_hit best = {.body = RS_NONE};
    double max = ray->max;
    for (int64_t i = 0; i < scene->unbounded.count; i++)
        try_target(&RS_ITEMS(rs_ray_target, scene->unbounded)[i], ray, filter, &max, &best);
    rs_bvh_ray walk;
    rs_bvh_ray_begin(&walk, &scene->bvh, ray);
    walk.max = max;
    uint32_t first, count;
    while (rs_bvh_ray_next(&walk, &first, &count))
        for (uint32_t i = first; i < first + count; i++)
            try_target(&RS_ITEMS(rs_ray_target, scene->targets)[i], ray, filter, &walk.max, &best);
    return best;
}
