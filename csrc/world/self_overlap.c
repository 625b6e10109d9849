/* Which links of a robot overlap in a configuration: their shapes tested pair by pair, whatever links may have contacts. */
#include "world.h"

#include "../collision/narrow_phase.h"

#include <string.h>

typedef struct {
    int32_t link;
    const rs_collider *collider;
    rs_transform pose;
    rs_aabb box;
} placed_shape;

/* Depth of the overlap of two shapes [m], negative when they are apart. */
static double depth_of(const rs_world *world, const placed_shape *a, const placed_shape *b) {
    double margin = rs_touch_distance(a->collider, b->collider);
    rs_collide_settings settings = rs_collide_settings_of(&world->data.contact, margin);
    rs_manifold manifold;
    manifold.count = 0;
    double depth = -1.0;
    rs_collide(&a->collider->shape, &a->pose, &b->collider->shape, &b->pose, &settings, &manifold);
    for (int k = 0; k < manifold.count; k++)
        depth = rs_max(depth, rs_max(0.0, -manifold.points[k].gap));
    return depth;
}

static int32_t place_shapes(const rs_world *world, const rs_body *body, placed_shape *out) {
    const rs_collider *colliders = world->data.colliders.items;
    int32_t count = 0;
    for (int32_t c = body->first_collider; c != RS_NONE; c = colliders[c].next_in_body) {
        const rs_link_motion *m = &body->articulation->motion[colliders[c].link];
        rs_transform link = {m->rot, m->pos};
        placed_shape *one = &out[count++];
        *one = (placed_shape){.link = colliders[c].link, .collider = &colliders[c],
                              .pose = rs_transform_mul(&link, &colliders[c].local)};
        rs_aabb box = rs_shape_aabb(&colliders[c].shape, &one->pose);
        one->box = rs_aabb_grown(&box, isfinite(colliders[c].touch) ? colliders[c].touch : 0.0);
    }
    return count;
}

static void fill_depths(const rs_world *world, const placed_shape *shapes, int32_t count, int32_t links, double *depth) {
    for (int32_t i = 0; i < links * links; i++)
        depth[i] = -1.0;
    for (int32_t i = 0; i < count; i++)
        for (int32_t j = i + 1; j < count; j++) {
            if (shapes[i].link == shapes[j].link || !rs_aabb_overlap(&shapes[i].box, &shapes[j].box) ||
                !rs_filters_agree(shapes[i].collider, shapes[j].collider))
                continue;
            double *entry = &depth[shapes[i].link * links + shapes[j].link];
            *entry = rs_max(*entry, depth_of(world, &shapes[i], &shapes[j]));
            depth[shapes[j].link * links + shapes[i].link] = *entry;
        }
}

rs_status rs_articulation_overlaps(rs_world *world, rs_object_id id, const double *q, double *depth) {
    rs_body *body;
    rs_world_enter_to_read(world);
    rs_articulation *a = rs_world_articulation(world, id, &body);
    rs_status status = a == NULL ? RS_UNKNOWN_OBJECT : rs_world_check_not_half_way(world);
    RS_THEN(status, rs_check_finite("q", q, a->q_count));
    if (status != RS_OK)
        return rs_world_leave(world, status);
    placed_shape *shapes = rs_alloc(sizeof(placed_shape) * (size_t)(body->collider_count + 1));
    if (shapes == NULL)
        return rs_world_leave(world, RS_OUT_OF_MEMORY);
    memcpy(a->q_work[0], q, sizeof(double) * (size_t)a->q_count);
    rs_kinematics_place(a, a->q_work[0], a->u);
    fill_depths(world, shapes, place_shapes(world, body, shapes), a->link_count, depth);
    a->placed_at = NULL;
    rs_free(shapes);
    return rs_world_leave(world, RS_OK);
}
