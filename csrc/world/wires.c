/* Wires of the world: creation, removal, properties, reads. */
#include "world.h"

#include <string.h>

void rs_default_wire_def(rs_wire_def *def) {
    *def = (rs_wire_def){.properties = {.type = RS_WIRE_STIFF, .stretch_type = RS_WIRE_STRETCH_ONLY}};
}

/* ---- checks ---- */

rs_status rs_check_wire_properties(const rs_wire_properties *p) {
    rs_status status = RS_OK;
    if (p->type < RS_WIRE_STIFF || p->type > RS_WIRE_CUSTOM)
        status = rs_fail(RS_INVALID_VALUE, "wire type is %d; expected 0 to %d", p->type, RS_WIRE_CUSTOM);
    else if (p->stretch_type < RS_WIRE_STRETCH_ONLY || p->stretch_type > RS_WIRE_BOTH)
        status = rs_fail(RS_INVALID_VALUE, "stretch type is %d; expected 0 to %d", p->stretch_type, RS_WIRE_BOTH);
    RS_THEN(status, rs_check_not_negative("wire length", p->length));
    RS_THEN(status, rs_check_not_negative("wire stiffness", p->stiffness));
    RS_THEN(status, rs_check_finite("wire tension", &p->tension, 1));
    return status;
}

static rs_status check_end(rs_world *world, const rs_wire_def *def, int end, rs_wire *wire) {
    const rs_slot *slot = rs_world_slot(world, def->object[end]);
    if (slot == NULL)
        return RS_UNKNOWN_OBJECT;
    int32_t count = rs_carrier_count(RS_ITEM(world->data.bodies, slot->body));
    if (def->local[end] < 0 || def->local[end] >= count)
        return rs_fail(RS_INVALID_VALUE, "local index of end %d is %d; expected 0 to %d", end + 1, def->local[end],
                       count - 1);
    wire->body[end] = slot->body;
    wire->link[end] = def->local[end];
    wire->point[end] = rs_v3_load(def->point[end]);
    return rs_check_finite(end == 0 ? "position of end 1" : "position of end 2", def->point[end], 3);
}

/* ---- life ---- */

static rs_wire *find_wire(rs_world *world, rs_wire_id id) {
    rs_wire *wires = world->data.wires.items;
    int64_t low = 0, high = world->data.wires.count;
    while (low < high) { /* serial numbers ascend */
        int64_t middle = (low + high) / 2;
        if (wires[middle].serial < id)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < world->data.wires.count && wires[low].serial == id)
        return &wires[low];
    rs_fail(RS_UNKNOWN_OBJECT, "wire %llu was removed from its world", (unsigned long long)id);
    return NULL;
}

static void wake_ends(rs_world *world, const rs_wire *wire) {
    for (int end = 0; end < 2; end++)
        rs_world_rouse(world, RS_ITEM(world->data.bodies, wire->body[end]));
}

rs_status rs_wire_create(rs_world *world, const rs_wire_def *def, rs_wire_id *out) {
    rs_wire wire = {.properties = def->properties, .island = RS_NONE, .normal = {0.0, 0.0, 1.0}};
    rs_world_enter(world);
    rs_status status = rs_world_check_not_half_way(world);
    RS_THEN(status, rs_check_wire_properties(&def->properties));
    for (int end = 0; end < 2 && status == RS_OK; end++)
        status = check_end(world, def, end, &wire);
    if (status == RS_OK && wire.body[0] == wire.body[1] && wire.link[0] == wire.link[1])
        status = rs_fail(RS_INVALID_VALUE, "both ends of the wire are on the same body; expected two bodies");
    rs_wire *place = status == RS_OK ? rs_array_push(&world->data.wires) : NULL;
    if (place != NULL) {
        wire.serial = world->next_serial++;
        *place = wire;
        wake_ends(world, &wire);
        world->data.configuration_number++;
        *out = wire.serial;
    } else if (status == RS_OK) {
        status = RS_OUT_OF_MEMORY;
    }
    return rs_world_leave(world, status);
}

static void drop_wire(rs_world *world, int64_t index) {
    rs_wire *wires = world->data.wires.items;
    wake_ends(world, &wires[index]);
    world->data.wires.count--;
    memmove(&wires[index], &wires[index + 1], sizeof *wires * (size_t)(world->data.wires.count - index));
    world->data.configuration_number++;
}

rs_status rs_wire_remove(rs_world *world, rs_wire_id id) {
    rs_world_enter(world);
    const rs_wire *wire = find_wire(world, id);
    rs_status status = wire == NULL ? RS_UNKNOWN_OBJECT : rs_world_check_not_half_way(world);
    if (status == RS_OK)
        drop_wire(world, wire - world->data.wires.items);
    return rs_world_leave(world, status);
}

void rs_world_drop_wires_of(rs_world *world, int32_t body) {
    for (int64_t k = world->data.wires.count - 1; k >= 0; k--) {
        const rs_wire *wire = RS_ITEM(world->data.wires, k);
        if (wire->body[0] == body || wire->body[1] == body)
            drop_wire(world, k);
    }
}

int32_t rs_wire_is_alive(rs_world *world, rs_wire_id id) {
    rs_world_enter_to_read(world);
    int32_t alive = find_wire(world, id) != NULL;
    rs_world_leave(world, RS_OK);
    return alive;
}

/* ---- properties ---- */

rs_status rs_wire_get_def(rs_world *world, rs_wire_id id, rs_wire_def *out) {
    rs_world_enter_to_read(world);
    const rs_wire *wire = find_wire(world, id);
    for (int end = 0; end < 2 && wire != NULL; end++) {
        out->object[end] = rs_slot_id(world, RS_ITEM(world->data.bodies, wire->body[end])->slot);
        out->local[end] = wire->link[end];
        rs_v3_store(out->point[end], wire->point[end]);
        out->properties = wire->properties;
    }
    return rs_world_leave(world, wire != NULL ? RS_OK : RS_UNKNOWN_OBJECT);
}

rs_status rs_wire_set_properties(rs_world *world, rs_wire_id id, const rs_wire_properties *properties) {
    rs_world_enter(world);
    rs_wire *wire = find_wire(world, id);
    rs_status status = wire == NULL ? RS_UNKNOWN_OBJECT : rs_check_wire_properties(properties);
    if (status == RS_OK && properties->type != wire->properties.type)
        status = rs_fail(RS_INVALID_VALUE, "wire type is %d; the type %d of a wire cannot be changed",
                         properties->type, wire->properties.type);
    if (status == RS_OK) {
        wire->properties = *properties;
        wake_ends(world, wire);
    }
    return rs_world_leave(world, status);
}

/* ---- state ---- */

/* Present frame of a body or link; within a step that of the midpoint. */
static rs_transform present_frame(const rs_world *world, const rs_body *body, int32_t link) {
    rs_world_place_links(world, body);
    return world->half_way ? rs_carrier_middle(body, link) : rs_carrier_pose(body, link);
}

static void read_state(const rs_world *world, const rs_wire *wire, rs_wire_state *out) {
    rs_vec3 points[2];
    for (int end = 0; end < 2; end++) {
        const rs_body *body = RS_ITEM(world->data.bodies, wire->body[end]);
        rs_transform frame = present_frame(world, body, wire->link[end]);
        points[end] = rs_transform_point(&frame, wire->point[end]);
        rs_v3_store(out->point[end], points[end]);
    }
    rs_vec3 along = rs_sub(points[1], points[0]);
    rs_v3_store(out->normal, rs_normalize_or(along, wire->normal));
    out->distance = rs_norm(along);
    out->stretch = out->distance - wire->properties.length;
    out->tension = rs_wire_tension(wire, out->stretch, world->data.dt);
}

rs_status rs_wire_get_state(rs_world *world, rs_wire_id id, rs_wire_state *out) {
    rs_world_enter_to_read(world);
    const rs_wire *wire = find_wire(world, id);
    if (wire != NULL)
        read_state(world, wire, out);
    return rs_world_leave(world, wire != NULL ? RS_OK : RS_UNKNOWN_OBJECT);
}

rs_status rs_world_read_wires(rs_world *world, int64_t capacity, rs_wire_id *ids, rs_wire_state *states) {
    rs_world_enter_to_read(world);
    int64_t count = world->data.wires.count;
    rs_status status = capacity < count ? rs_fail(RS_INVALID_VALUE, "room for %lld wires; there are %lld",
                                                  (long long)capacity, (long long)count)
                                        : RS_OK;
    for (int64_t k = 0; k < count && status == RS_OK; k++) {
        const rs_wire *wire = RS_ITEM(world->data.wires, k);
        if (ids != NULL)
            ids[k] = wire->serial;
        if (states != NULL)
            read_state(world, wire, &states[k]);
    }
    return rs_world_leave(world, status);
}
