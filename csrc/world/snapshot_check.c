/* Whether a snapshot that was read can be simulated, and whether it is one of a given world. */
#include "../model/model_store.h"
#include "world.h"

#include <string.h>

/* ---- lists of free places ---- */

typedef int32_t (*next_of)(const rs_any_array *array, int32_t place); /* the next free place, or -2 when this one is in use */
enum { IN_USE = -2 };

static int32_t next_slot(const rs_any_array *array, int32_t place) {
    const rs_slot *slot = (const rs_slot *)array->data + place;
    return slot->serial == 0 ? slot->next_free : IN_USE;
}
static int32_t next_body(const rs_any_array *array, int32_t place) {
    const rs_body *body = (const rs_body *)array->data + place;
    return body->alive ? IN_USE : body->slot;
}
static int32_t next_collider(const rs_any_array *array, int32_t place) {
    const rs_collider *collider = (const rs_collider *)array->data + place;
    return collider->alive ? IN_USE : collider->next_in_body;
}

/* The list has every free place once. */
static bool is_free_list(const rs_any_array *array, int32_t head, next_of next) {
    int64_t free_places = 0, seen = 0;
    for (int64_t k = 0; k < array->count; k++)
        free_places += next(array, (int32_t)k) != IN_USE;
    for (int32_t at = head; at != RS_NONE && seen <= free_places; at = next(array, at), seen++)
        if (!rs_any_has(array, at) || next(array, at) == IN_USE)
            return false;
    return seen == free_places;
}

/* ---- parts ---- */

static const char *wrong_materials(const rs_materials *m) {
    const rs_material_entry *entries = m->entries.items;
    if (m->names.count < 1)
        return "there is no material";
    for (int64_t k = 0; k < m->names.count; k++)
        if (memchr(m->names.items[k].text, 0, RS_MATERIAL_NAME_SIZE) == NULL)
            return "the name of a material does not end";
    for (int64_t k = 0; k < m->entries.count; k++)
        if ((k > 0 && entries[k].key <= entries[k - 1].key) || (entries[k].key >> 32) >= (uint64_t)m->names.count ||
            (uint32_t)entries[k].key >= (uint64_t)m->names.count || rs_material_pair_valid(&entries[k].properties) != RS_OK)
            return "a pair of materials does not exist or has properties that none can have";
    return rs_material_pair_valid(&m->fallback) == RS_OK ? NULL : "the default material has properties that none can have";
}

static const char *wrong_settings(const rs_world_data *data) {
    if (rs_check_positive("time step", data->dt) != RS_OK || rs_check_fluid(&data->fluid) != RS_OK || !rs_v3_is_carried(data->gravity) || !rs_is_carried(data->time) ||
        rs_check_solver_settings(&data->solver) != RS_OK || rs_check_contact_settings(&data->contact) != RS_OK ||
        rs_check_sleep_settings(&data->sleep) != RS_OK)
        return rs_error_text();
    return wrong_materials(&data->materials);
}


static bool is_link(const rs_world_data *data, int32_t body, int32_t link) {
    return rs_any_has(&data->bodies.any, body) && data->bodies.items[body].alive && link >= 0 &&
           link < rs_carrier_count(&data->bodies.items[body]);
}

static const char *wrong_soft(const rs_world_data *data, const rs_soft *soft) {
    if (!rs_any_has(&data->materials.names.any, soft->contact_material) || !rs_is_carried(soft->speed) ||
        !rs_is_carried(soft->margin))
        return "an object made of particles has a material that does not exist, or a speed that is not finite";
    for (int64_t k = 0; k < soft->impulses.count; k++) {
        const rs_soft_impulse *impulse = &soft->impulses.items[k];
        if (!is_link(data, impulse->body, impulse->link))
            return "particles touched a body that does not exist";
    }
    for (int64_t k = 0; soft->deformable != NULL && k < soft->deformable->ties.count; k++) {
        const rs_soft_tie *tie = &soft->deformable->ties.items[k];
        if (!is_link(data, tie->body, tie->link) || data->bodies.items[tie->body].soft != NULL)
            return "a particle is pinned to a body that does not exist";
    }
    return NULL;
}

static const char *wrong_bodies(const rs_world_data *data) {
    int32_t soft = 0;
    for (int64_t k = 0; k < data->bodies.count; k++) {
        const rs_body *body = &data->bodies.items[k];
        if (!body->alive)
            continue;
        if ((int32_t)body->type < RS_BODY_DYNAMIC || (int32_t)body->type > RS_BODY_STATIC ||
            (int32_t)body->gyroscopic_mode < RS_GYRO_ENERGY_CONSERVING || (int32_t)body->gyroscopic_mode > RS_GYRO_NONE)
            return "a body is of an unknown type";
        if (!rs_is_carried(body->mass) || !rs_v3_is_carried(body->com) || !rs_v3_is_carried(body->middle.pos) ||
            !rs_all_carried(body->middle.rot.m, 9))
            return "a body has a mass or a place that is not finite";
        soft += body->soft != NULL;
        const char *wrong = body->soft != NULL ? wrong_soft(data, body->soft) : NULL;
        if (wrong != NULL)
            return wrong;
    }
    return soft == data->soft_count ? NULL : "there is another number of objects made of particles than it says";
}

static bool is_mounted(const rs_world_data *data, const rs_collider *c) {
    const rs_body *body = &data->bodies.items[c->body];
    return is_link(data, c->body, c->link) && rs_any_has(&data->materials.names.any, c->material) && c->number >= 0 &&
           c->number < body->collider_count && (!c->clustered || body->articulation != NULL) && rs_v3_is_carried(c->local.pos) &&
           rs_all_carried(c->local.rot.m, 9) && rs_v3_is_carried(c->pose.pos) && rs_all_carried(c->pose.rot.m, 9);
}

/* Shapes, and who uses which geometry. */
static const char *wrong_colliders(const rs_world_data *data) {
    const rs_asset_entry *assets = data->assets.items;
    int64_t used = 0, users = 0;
    for (int64_t k = 0; k < data->colliders.count; k++) {
        const rs_collider *c = &data->colliders.items[k];
        if (!c->alive)
            continue;
        if ((int32_t)c->shape.type < 0 || (int32_t)c->shape.type >= RS_SHAPE_TYPE_COUNT || rs_shape_check(&c->shape) != RS_OK)
            return "a shape is unknown, or of a size that none can have";
        if (!rs_any_has(&data->bodies.any, c->body) || !is_mounted(data, c))
            return "a shape has a link, a material or a place that does not exist";
        used += c->asset != 0;
    }
    for (int64_t k = 0; k < data->assets.count; k++) {
        if (assets[k].id != 0 && ((uint32_t)assets[k].id != k || assets[k].users < 1))
            return "geometry is not where its number says, or has no user";
        users += assets[k].id != 0 ? assets[k].users : 0;
    }
    return users >= used ? NULL : "geometry has more users than it counts";
}

static const char *wrong_controllers(const rs_world_data *data) {
    for (int64_t k = 0; k < data->controllers.count; k++) {
        const rs_pose_controller *controller = &data->controllers.items[k];
        if (!is_link(data, controller->body, 0) || data->bodies.items[controller->body].controller != k + 1)
            return "a controller and its body do not know each other";
    }
    for (int64_t k = 0; k < data->bodies.count; k++) {
        const rs_body *body = &data->bodies.items[k];
        if (body->alive && body->controller > 0 && data->controllers.items[body->controller - 1].body != k)
            return "a body has the controller of another one";
    }
    return NULL;
}

static const char *wrong_wires(const rs_world_data *data, uint32_t next_serial) {
    const rs_wire *wires = data->wires.items;
    for (int64_t k = 0; k < data->wires.count; k++) {
        if (wires[k].serial == 0 || wires[k].serial >= next_serial || (k > 0 && wires[k].serial <= wires[k - 1].serial))
            return "wires are not in the order of their numbers";
        if (rs_check_wire_properties(&wires[k].properties) != RS_OK)
            return rs_error_text();
        for (int end = 0; end < 2; end++)
            if (!is_link(data, wires[k].body[end], wires[k].link[end]) || !rs_v3_is_carried(wires[k].point[end]))
                return "a wire hangs on a link that does not exist";
    }
    return NULL;
}

/* Two living colliders, the smaller number first. */
static bool are_pair(const rs_world_data *data, int32_t a, int32_t b) {
    const rs_collider *colliders = data->colliders.items;
    return rs_any_has(&data->colliders.any, a) && rs_any_has(&data->colliders.any, b) && a < b && colliders[a].alive &&
           colliders[b].alive;
}

static bool are_touches(const rs_world_data *data, const RS_ARRAY(rs_touch) *list) {
    const rs_collider *colliders = data->colliders.items;
    const rs_touch *touches = list->items;
    for (int64_t k = 0; k < list->count; k++)
        if (!are_pair(data, touches[k].collider_a, touches[k].collider_b) ||
            colliders[touches[k].collider_a].body != touches[k].body_a || colliders[touches[k].collider_b].body != touches[k].body_b)
            return false;
    return true;
}

static const char *wrong_pairs(const rs_world_data *data) {
    const rs_pair_hint *hints = data->pair_hints.items;
    if (!are_touches(data, &data->touches) || !are_touches(data, &data->resting))
        return "a contact is not one of two shapes";
    for (int64_t k = 0; k < data->pair_hints.count; k++) {
        if (!are_pair(data, hints[k].collider_a, hints[k].collider_b) || hints[k].kept_count < 0 || hints[k].kept_count > 8)
            return "what is known of two shapes is of none";
        for (int i = 0; i < hints[k].kept_count; i++)
            if (hints[k].kept[i] < 0)
                return "what is known of two shapes is of none";
    }
    return NULL;
}

static const char *wrong_places(const rs_snapshot *snapshot) {
    const rs_world_data *data = &snapshot->data;
    for (int64_t k = 0; k < data->slots.count; k++)
        if (data->slots.items[k].serial >= snapshot->next_serial)
            return "an object has a number that was not given yet";
    for (int64_t k = 0; k < data->assets.count; k++)
        if ((data->assets.items[k].id >> 32) >= snapshot->next_asset)
            return "geometry has a number that was not given yet";
    return is_free_list(&data->slots.any, data->free_slot, next_slot) &&
           is_free_list(&data->bodies.any, data->free_body, next_body) &&
                   is_free_list(&data->colliders.any, data->free_collider, next_collider)
               ? NULL
               : "the lists of free places are broken";
}

rs_status rs_snapshot_check(const rs_snapshot *snapshot) {
    const rs_world_data *data = &snapshot->data;
    const char *wrong = wrong_settings(data);
    wrong = wrong != NULL ? wrong : rs_world_data_wrong(data);
    wrong = wrong != NULL ? wrong : wrong_bodies(data);
    wrong = wrong != NULL ? wrong : wrong_colliders(data);
    wrong = wrong != NULL ? wrong : wrong_controllers(data);
    wrong = wrong != NULL ? wrong : wrong_wires(data, snapshot->next_serial);
    wrong = wrong != NULL ? wrong : wrong_pairs(data);
    wrong = wrong != NULL ? wrong : wrong_places(snapshot);
    if (wrong == NULL)
        return RS_OK;
    char text[256];
    strncpy(text, wrong, sizeof text - 1); /* it may be the error text itself */
    text[sizeof text - 1] = 0;
    return rs_fail(RS_INVALID_VALUE, "the snapshot contradicts itself: %s", text);
}

/* ---- of one make ---- */

static bool are_equal_shapes(const rs_world_data *a, const rs_collider *x, const rs_world_data *b, const rs_collider *y) {
    if (x->shape.type != y->shape.type || x->link != y->link || x->shape.radius != y->shape.radius ||
        x->shape.half_height != y->shape.half_height || memcmp(&x->shape.half, &y->shape.half, sizeof x->shape.half) != 0)
        return false;
    if (x->shape.convex == NULL && x->shape.mesh == NULL)
        return true; /* the heights of a map may change */
    return rs_asset_hash(a->assets.items[(uint32_t)x->asset].asset) ==
           rs_asset_hash(b->assets.items[(uint32_t)y->asset].asset);
}

static bool are_equal_trees(const rs_articulation *a, const rs_articulation *b) {
    if (a == NULL || b == NULL)
        return a == b;
    if (a->link_count != b->link_count || a->bytes != b->bytes)
        return false;
    for (int32_t i = 0; i < a->link_count; i++)
        if (a->links[i].type != b->links[i].type || a->links[i].parent != b->links[i].parent)
            return false;
    return true;
}

/* The kinds of the particles' objects. */
static bool are_equal_softs(const rs_soft *a, const rs_soft *b) {
    return a == NULL || b == NULL ? a == b : (a->grains == NULL) == (b->grains == NULL);
}

static bool are_equal_bodies(const rs_world_data *a, const rs_body *x, const rs_world_data *b, const rs_body *y) {
    if (x->collider_count != y->collider_count || !are_equal_trees(x->articulation, y->articulation) ||
        !are_equal_softs(x->soft, y->soft))
        return false;
    const rs_collider *of_a = a->colliders.items, *of_b = b->colliders.items;
    for (int32_t c = x->first_collider, d = y->first_collider; c != RS_NONE && d != RS_NONE;
         c = of_a[c].next_in_body, d = of_b[d].next_in_body)
        if (!are_equal_shapes(a, &of_a[c], b, &of_b[d]))
            return false;
    return true;
}

rs_status rs_snapshot_fits(rs_world *world, const rs_snapshot *snapshot) {
    const rs_world_data *a = &world->data, *b = &snapshot->data;
    rs_status status = RS_OK;
    rs_world_enter_to_read(world);
    if (a->list.count != b->list.count || a->wires.count != b->wires.count)
        status = rs_fail(RS_INVALID_VALUE, "the snapshot has %lld objects and %lld wires, the world %lld and %lld",
                         (long long)b->list.count, (long long)b->wires.count, (long long)a->list.count, (long long)a->wires.count);
    for (int64_t k = 0; k < b->list.count && status == RS_OK; k++) {
        int32_t place = b->list.items[k];
        const rs_slot *theirs = &b->slots.items[place];
        const rs_slot *ours = rs_any_has(&a->slots.any, place) ? &a->slots.items[place] : NULL;
        if (ours == NULL || ours->serial != theirs->serial || ours->object_type != theirs->object_type)
            status = rs_fail(RS_INVALID_VALUE, "object %u of the snapshot is not in the world, or of another type", theirs->serial);
        else if (!are_equal_bodies(a, &a->bodies.items[ours->body], b, &b->bodies.items[theirs->body]))
            status = rs_fail(RS_INVALID_VALUE, "object %u has other shapes or links in the snapshot than in the world",
                             theirs->serial);
    }
    for (int64_t k = 0; k < b->wires.count && status == RS_OK; k++)
        if (a->wires.items[k].serial != b->wires.items[k].serial)
            status = rs_fail(RS_INVALID_VALUE, "wire %u of the snapshot is not in the world", b->wires.items[k].serial);
    return rs_world_leave(world, status);
}
