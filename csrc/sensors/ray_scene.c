#include "ray_scene.h"

#include "../collision/bvh_ray.h"
#include "../collision/packet_bvh.h"
#include "../dynamics/carrier.h"

static void drop_meshes(rs_ray_scene *scene) {
    for (int64_t k = 0; k < scene->meshes.count; k++)
        rs_tri_mesh_free(scene->meshes.items[k]);
    scene->meshes.count = 0;
}

void rs_ray_scene_free(rs_ray_scene *scene) {
    drop_meshes(scene);
    rs_array_free(&scene->meshes);
    rs_array_free(&scene->unordered);
    rs_array_free(&scene->targets);
    rs_array_free(&scene->unbounded);
    rs_array_free(&scene->boxes);
    rs_array_free(&scene->shapes);
    rs_array_free(&scene->order);
    rs_array_free(&scene->scratch);
    rs_bvh_free(&scene->bvh);
}

/* A ray along a box's face must not be lost to rounding before the shape is asked [m, and share of the distance from
 * the origin]. */
static const double SKIN = 1e-9;

static rs_aabb with_skin(rs_aabb box) {
    for (int axis = 0; axis < 3; axis++) {
        double lo = rs_v3_get(box.min, axis), hi = rs_v3_get(box.max, axis);
        rs_v3_set(&box.min, axis, lo - SKIN * (1.0 + fabs(lo)));
        rs_v3_set(&box.max, axis, hi + SKIN * (1.0 + fabs(hi)));
    }
    return box;
}

static rs_status list_targets(rs_ray_scene *scene, const rs_body *bodies, const rs_collider *colliders,
                              int64_t count) {
    scene->unordered.count = scene->unbounded.count = scene->boxes.count = 0;
    for (int64_t c = 0; c < count; c++) {
        const rs_collider *collider = &colliders[c];
        if (!collider->alive)
            continue;
        rs_transform pose = rs_carrier_pose(&bodies[collider->body], collider->link);
        bool bounded = collider->shape.type != RS_SHAPE_HALF_SPACE;
        rs_ray_target *target = rs_array_push(bounded ? &scene->unordered : &scene->unbounded);
        if (target == NULL)
            return RS_OUT_OF_MEMORY;
        *target = (rs_ray_target){&collider->shape, rs_transform_mul(&pose, &collider->local), collider->group,
                                  collider->body, collider->link, collider->number};
        rs_aabb *box = bounded ? rs_array_push(&scene->boxes) : NULL;
        if (bounded && box == NULL)
            return RS_OUT_OF_MEMORY;
        if (bounded)
            *box = with_skin(rs_shape_aabb(target->shape, &target->pose));
    }
    return RS_OK;
}

/* One shape of a soft object, at a place. There is room for it. */
static rs_status add_soft_target(rs_ray_scene *scene, const rs_shape *shape, rs_vec3 at, uint64_t group, int32_t body) {
    rs_shape *kept = rs_array_push(&scene->shapes);
    rs_ray_target *target = rs_array_push(&scene->unordered);
    rs_aabb *box = rs_array_push(&scene->boxes);
    if (kept == NULL || target == NULL || box == NULL)
        return RS_OUT_OF_MEMORY;
    *kept = *shape;
    *target = (rs_ray_target){.shape = kept, .pose = {rs_m3_identity(), at}, .group = group, .body = body};
    *box = with_skin(rs_shape_aabb(kept, &target->pose));
    return RS_OK;
}

static rs_status list_grains(rs_ray_scene *scene, const rs_grains *grains, uint64_t group, int32_t body) {
    const rs_quad *x = grains->x.items;
    for (int64_t k = 0; k < grains->x.count; k++) {
        rs_shape ball = {.type = RS_SHAPE_SPHERE, .radius = x[k].rest};
        if (add_soft_target(scene, &ball, x[k].xyz, group, body) != RS_OK)
            return RS_OUT_OF_MEMORY;
    }
    return RS_OK;
}

static bool is_in_reach(rs_vec3 a) {
    return fabs(a.x) <= RS_MESH_REACH && fabs(a.y) <= RS_MESH_REACH && fabs(a.z) <= RS_MESH_REACH;
}

/* The surface of a deformable object as a mesh; triangles without area, and those out of reach, are not seen. */
static rs_status list_surface(rs_ray_scene *scene, const rs_deformable *d, uint64_t group, int32_t body) {
    int64_t vertices = d->x.count, corners = d->triangles.count;
    RS_ARRAY(double) *scratch = &scene->scratch;
    if (rs_array_resize(scratch, 3 * vertices + corners) != RS_OK)
        return RS_OUT_OF_MEMORY;
    double *xyz = scratch->items;
    int32_t *kept = (int32_t *)(void *)(xyz + 3 * vertices);
    const int32_t *t = d->triangles.items;
    const rs_quad *x = d->x.items;
    int64_t count = 0;
    for (int64_t i = 0; i < vertices; i++)
        rs_v3_store(&xyz[3 * i], is_in_reach(x[i].xyz) ? x[i].xyz : rs_v3_zero());
    for (int64_t k = 0; k < corners; k += 3) {
        rs_vec3 a = rs_sub(x[t[k + 1]].xyz, x[t[k]].xyz), b = rs_sub(x[t[k + 2]].xyz, x[t[k]].xyz);
        if (!is_in_reach(x[t[k]].xyz) || !is_in_reach(x[t[k + 1]].xyz) || !is_in_reach(x[t[k + 2]].xyz))
            continue;
        if (rs_norm2(rs_cross(a, b)) > 1e-24 * (rs_norm2(a) + rs_norm2(b)) * (rs_norm2(a) + rs_norm2(b)))
            memcpy(&kept[3 * count++], &t[k], 3 * sizeof *t);
    }
    rs_tri_mesh **mesh = count > 0 ? rs_array_push(&scene->meshes) : NULL;
    if (count == 0)
        return RS_OK;
    if (mesh == NULL)
        return RS_OUT_OF_MEMORY;
    rs_status status = rs_tri_mesh_new(vertices, xyz, count, kept, mesh);
    if (status != RS_OK) {
        scene->meshes.count--;
        return status;
    }
    rs_shape shape = {.type = RS_SHAPE_MESH, .mesh = *mesh};
    return add_soft_target(scene, &shape, rs_v3_zero(), group, body);
}

static rs_status list_soft(rs_ray_scene *scene, const rs_body *bodies, int64_t body_count) {
    int64_t shapes = 0;
    for (int64_t b = 0; b < body_count; b++)
        if (bodies[b].alive && bodies[b].soft != NULL)
            shapes += rs_soft_count(bodies[b].soft);
    scene->shapes.count = 0;
    drop_meshes(scene);
    if (rs_array_reserve(&scene->shapes, shapes) != RS_OK) /* targets point to them */
        return RS_OUT_OF_MEMORY;
    for (int64_t b = 0; b < body_count; b++)
        if (bodies[b].alive && bodies[b].soft != NULL) {
            const rs_soft *soft = bodies[b].soft;
            rs_status status = soft->grains != NULL ? list_grains(scene, soft->grains, soft->group, (int32_t)b)
                                                    : list_surface(scene, soft->deformable, soft->group, (int32_t)b);
            if (status != RS_OK)
                return status;
        }
    return RS_OK;
}

rs_status rs_ray_scene_build(rs_ray_scene *scene, const rs_body *bodies, int64_t body_count, const rs_collider *colliders,
                             int64_t count) {
    rs_bvh_free(&scene->bvh);
    scene->bvh = (rs_bvh){0};
    if (list_targets(scene, bodies, colliders, count) != RS_OK || list_soft(scene, bodies, body_count) != RS_OK)
        return RS_OUT_OF_MEMORY;
    int64_t bounded = scene->unordered.count;
    if (rs_array_resize(&scene->targets, bounded) != RS_OK || rs_array_resize(&scene->order, bounded) != RS_OK)
        return RS_OUT_OF_MEMORY;
    if (bounded == 0)
        return RS_OK;
    uint32_t *order = scene->order.items;
    rs_status status = rs_bvh_build(&scene->bvh, scene->boxes.items, (uint32_t)bounded, order);
    for (int64_t i = 0; i < bounded && status == RS_OK; i++)
        scene->targets.items[i] = scene->unordered.items[order[i]];
    return status;
}

static bool visible(const rs_ray_target *target, const rs_ray_filter *filter) {
    bool ignored = target->body == filter->ignored_body &&
                   (filter->ignored_link == RS_NONE || filter->ignored_link == target->link);
    bool hidden = filter->looks != NULL && filter->looks[target->body].count == 0;
    return (target->group & filter->mask) != 0 && !ignored && !hidden;
}

/* Casts at one target and keeps the hit when it is the nearest so far; `*max` is the distance to beat. */
static void try_target(const rs_ray_target *target, const rs_ray *ray, const rs_ray_filter *filter, double *max,
                       rs_scene_hit *best) {
    if (!visible(target, filter))
        return;
    rs_ray local = {rs_transform_inv_point(&target->pose, ray->origin),
                    rs_m3_tmulv(&target->pose.rot, ray->direction), *max};
    rs_ray_hit hit;
    if (!rs_ray_shape(target->shape, &local, &hit))
        return;
    *max = hit.distance;
    best->hit = (rs_ray_hit){hit.distance, rs_m3_mulv(&target->pose.rot, hit.normal)};
    best->body = target->body;
    best->link = target->link;
}

/* The nearest hit, or with `any` whichever is found first. */
static rs_scene_hit cast(const rs_ray_scene *scene, const rs_ray *ray, const rs_ray_filter *filter, bool any) {
    rs_scene_hit best = {.body = RS_NONE};
    double max = ray->max;
    for (int64_t i = 0; i < scene->unbounded.count; i++)
        try_target(RS_ITEM(scene->unbounded, i), ray, filter, &max, &best);
    rs_bvh_ray walk;
    rs_bvh_ray_begin(&walk, &scene->bvh, ray);
    walk.max = max;
    uint32_t first, count;
    while (!(any && best.body != RS_NONE) && rs_bvh_ray_next(&walk, &first, &count))
        for (uint32_t i = first; i < first + count && !(any && best.body != RS_NONE); i++)
            try_target(RS_ITEM(scene->targets, i), ray, filter, &walk.max, &best);
    return best;
}

rs_scene_hit rs_ray_scene_cast(const rs_ray_scene *scene, const rs_ray *ray, const rs_ray_filter *filter) {
    return cast(scene, ray, filter, false);
}

bool rs_ray_scene_is_free(const rs_ray_scene *scene, const rs_ray *ray, const rs_ray_filter *filter) {
    return cast(scene, ray, filter, true).body == RS_NONE;
}

/* ---- bundles ---- */

const rs_ray_target *rs_ray_scene_target(const rs_ray_scene *scene, int64_t number) {
    int64_t bounded = scene->targets.count;
    return number < bounded ? RS_ITEM(scene->targets, number)
                            : RS_ITEM(scene->unbounded, number - bounded);
}

static void rays_in_frame(const rs_packet_rays *rays, const rs_transform *pose, rs_packet_rays *out) {
    const double *m = pose->rot.m;
    out->origin = rs_transform_inv_point(pose, rays->origin);
    for (int l = 0; l < RS_LANES; l++) {
        double x = rays->x[l], y = rays->y[l], z = rays->z[l];
        out->x[l] = m[0] * x + m[3] * y + m[6] * z;
        out->y[l] = m[1] * x + m[4] * y + m[7] * z;
        out->z[l] = m[2] * x + m[5] * y + m[8] * z;
    }
}

static void try_target_packet(const rs_ray_scene *scene, int64_t number, const rs_packet_rays *rays,
                              const rs_ray_filter *filter, rs_packet_hits *hits) {
    const rs_ray_target *target = rs_ray_scene_target(scene, number);
    if (!visible(target, filter))
        return;
    rs_packet_rays local;
    rays_in_frame(rays, &target->pose, &local);
    rs_packet_shape(target->shape, &local, number, hits);
}

void rs_ray_scene_cast_packet(const rs_ray_scene *scene, const rs_packet_rays *rays, const rs_ray_filter *filter,
                              rs_packet_hits *hits) {
    for (int64_t i = 0; i < scene->unbounded.count; i++)
        try_target_packet(scene, scene->targets.count + i, rays, filter, hits);
    rs_packet_bvh walk;
    rs_packet_bvh_begin(&walk, &scene->bvh, rays, true);
    uint32_t first, count;
    while (rs_packet_bvh_next(&walk, hits, &first, &count))
        for (uint32_t i = first; i < first + count; i++)
            try_target_packet(scene, i, rays, filter, hits);
}

rs_vec3 rs_ray_scene_normal(const rs_ray_scene *scene, const rs_ray *ray, int64_t target, int64_t feature) {
    const rs_ray_target *hit = rs_ray_scene_target(scene, target);
    /* Unlimited: a single ray may hit a rounding error behind the distance that the bundle found. */
    rs_ray local = {rs_transform_inv_point(&hit->pose, ray->origin), rs_m3_tmulv(&hit->pose.rot, ray->direction),
                    INFINITY};
    return rs_m3_mulv(&hit->pose.rot, rs_packet_normal(hit->shape, &local, feature));
}
