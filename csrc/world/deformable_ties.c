/* Pins of deformable objects to bodies and links. */
#include "world.h"

static void drop_tie(rs_deformable *d, int64_t index) {
    rs_soft_tie *ties = d->ties.items;
    d->ties.count--;
    memmove(&ties[index], &ties[index + 1], sizeof *ties * (size_t)(d->ties.count - index));
}

void rs_deformable_untie(rs_deformable *d, int64_t particle) {
    for (int64_t k = d->ties.count - 1; k >= 0; k--)
        if (d->ties.items[k].particle == particle)
            drop_tie(d, k);
}

void rs_world_drop_ties_of(rs_world *world, int32_t body) {
    for (int64_t i = 0; i < world->data.bodies.count && world->data.soft_count > 0; i++) {
        rs_body *one = &world->data.bodies.items[i];
        rs_deformable *d = one->alive && one->soft != NULL ? one->soft->deformable : NULL;
        if (one->alive && one->soft != NULL && RS_ITEM(world->data.bodies, body)->soft != NULL)
            one->soft->meetings.count = 0; /* the number of the body may be given to another */
        for (int64_t k = d != NULL ? d->ties.count - 1 : -1; k >= 0; k--)
            if (d->ties.items[k].body == body) {
                drop_tie(d, k);
                rs_world_touch_soft(world, one);
            }
    }
}

/* The other side: a body or link, and where it stands now. */
static rs_status find_other(rs_world *world, rs_object_id id, int32_t local, rs_soft_tie *tie, rs_transform *pose) {
    const rs_slot *slot = rs_world_slot(world, id);
    if (slot == NULL)
        return RS_UNKNOWN_OBJECT;
    const rs_body *body = RS_ITEM(world->data.bodies, slot->body);
    if (body->soft != NULL)
        return rs_fail(RS_WRONG_TYPE, "object %u is made of particles; expected a body or a robot", (uint32_t)(id >> 32));
    int32_t count = rs_carrier_count(body);
    if (local < 0 || local >= count)
        return rs_fail(RS_INVALID_VALUE, "local index is %d; expected 0 to %d", local, count - 1);
    tie->body = slot->body;
    tie->link = local;
    rs_world_place_links(world, body);
    *pose = rs_carrier_pose(body, local);
    return RS_OK;
}

static rs_status add_tie(rs_deformable *d, const rs_soft_tie *tie) {
    rs_deformable_untie(d, tie->particle);
    rs_soft_tie *place = rs_array_push(&d->ties);
    if (place == NULL)
        return RS_OUT_OF_MEMORY;
    rs_soft_tie *ties = d->ties.items;
    int64_t k = d->ties.count - 1;
    for (; k > 0 && ties[k - 1].particle > tie->particle; k--)
        ties[k] = ties[k - 1];
    ties[k] = *tie;
    d->v.items[tie->particle].rest = 1.0 / d->masses.items[tie->particle];
    return RS_OK;
}

rs_status rs_deformable_tie(rs_world *world, rs_object_id id, int64_t index, rs_object_id object, int32_t local,
                            const double point[3]) {
    rs_body *body;
    rs_status status;
    rs_deformable *d = rs_world_enter_deformable(world, id, &body, &status);
    rs_soft_tie tie = {.particle = (int32_t)index, .partner = RS_NONE};
    rs_transform pose = {rs_m3_identity(), rs_v3_zero()};
    if (status == RS_OK && (index < 0 || index >= d->x.count))
        status = rs_fail(RS_INVALID_VALUE, "vertex %lld does not exist; there are %lld", (long long)index, (long long)d->x.count);
    if (status == RS_OK && point != NULL)
        status = rs_check_finite("position", point, 3);
    RS_THEN(status, find_other(world, object, local, &tie, &pose));
    if (status == RS_OK) {
        tie.local = point != NULL ? rs_v3_load(point) : rs_transform_inv_point(&pose, d->x.items[index].xyz);
        status = add_tie(d, &tie);
    }
    if (status == RS_OK)
        rs_world_rouse(world, RS_ITEM(world->data.bodies, tie.body));
    return rs_world_leave_soft(world, body, status);
}

rs_status rs_deformable_read_ties(rs_world *world, rs_object_id id, int64_t capacity, int32_t *particles, rs_object_id *objects,
                                  int32_t *locals, double *points, int64_t *count) {
    rs_status status;
    const rs_deformable *d = rs_world_read_deformable(world, id, &status);
    *count = status == RS_OK ? d->ties.count : 0;
    for (int64_t k = 0; k < *count && k < capacity; k++) {
        const rs_soft_tie *tie = &d->ties.items[k];
        particles[k] = tie->particle;
        objects[k] = rs_slot_id(world, RS_ITEM(world->data.bodies, tie->body)->slot);
        locals[k] = tie->link;
        rs_v3_store(&points[3 * k], tie->local);
    }
    return rs_world_leave(world, status);
}
