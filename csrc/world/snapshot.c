/* Whole-world snapshots: deep copies of rs_world_data. */
#include "world.h"

struct rs_snapshot {
    rs_world_data data;
    uint32_t next_serial; /* for a restore into another world: its new ids must not meet these */
};

void rs_world_data_drop(rs_world_data *data) {
    for (int64_t i = 0; i < data->assets.count; i++)
        if (RS_ITEMS(rs_asset_entry, data->assets)[i].id != 0)
            rs_asset_drop(RS_ITEMS(rs_asset_entry, data->assets)[i].asset);
    for (int64_t i = 0; i < data->bodies.count; i++)
        rs_articulation_free(RS_ITEMS(rs_body, data->bodies)[i].articulation);
    rs_array *arrays[RS_DATA_ARRAY_COUNT];
    rs_world_data_arrays(data, arrays);
    for (int i = 0; i < RS_DATA_ARRAY_COUNT; i++)
        rs_array_free(arrays[i]);
}

typedef rs_articulation *(*copy_articulation)(const rs_articulation *source);

/* Every articulation of a copied list of bodies gets a copy of its own; on failure the rest is left out. */
static rs_status copy_articulations(rs_array *bodies, copy_articulation copy) {
    rs_status status = RS_OK;
    for (int64_t i = 0; i < bodies->count; i++) {
        rs_body *body = &RS_ITEMS(rs_body, *bodies)[i];
        if (body->articulation == NULL)
            continue;
        body->articulation = status == RS_OK ? copy(body->articulation) : NULL;
        if (body->articulation == NULL)
            status = RS_OUT_OF_MEMORY;
    }
    return status;
}

/* Copies everything, holding the assets once more; on failure `to` is empty. */
static rs_status copy_data(rs_world_data *to, const rs_world_data *from, copy_articulation copy) {
    rs_world_data source = *from; /* the list of arrays wants a writable struct */
    rs_array *from_arrays[RS_DATA_ARRAY_COUNT], *to_arrays[RS_DATA_ARRAY_COUNT];
    *to = *from;
    rs_world_data_arrays(&source, from_arrays);
    rs_world_data_arrays(to, to_arrays);
    for (int i = 0; i < RS_DATA_ARRAY_COUNT; i++)
        *to_arrays[i] = rs_array_of(from_arrays[i]->item_size);
    for (int i = 0; i < RS_DATA_ARRAY_COUNT; i++)
        if (rs_array_copy(to_arrays[i], from_arrays[i]) != RS_OK) {
            to->assets.count = to->bodies.count = 0; /* not held yet */
            rs_world_data_drop(to);
            return RS_OUT_OF_MEMORY;
        }
    if (copy_articulations(&to->bodies, copy) != RS_OK) {
        to->assets.count = 0;
        rs_world_data_drop(to);
        return RS_OUT_OF_MEMORY;
    }
    for (int64_t i = 0; i < to->assets.count; i++)
        if (RS_ITEMS(rs_asset_entry, to->assets)[i].id != 0)
            rs_asset_hold(RS_ITEMS(rs_asset_entry, to->assets)[i].asset);
    return RS_OK;
}

rs_status rs_snapshot_save(rs_world *world, rs_snapshot **out) {
    rs_world_enter(world);
    if (world->half_way)
        return rs_world_leave(world, rs_fail(RS_WRONG_STATE, "no snapshot between integrate1 and integrate2"));
    rs_snapshot *snapshot = rs_alloc(sizeof *snapshot);
    rs_status status = snapshot != NULL ? copy_data(&snapshot->data, &world->data, rs_articulation_pack) : RS_OUT_OF_MEMORY;
    if (status == RS_OK) {
        snapshot->next_serial = world->next_serial;
        *out = snapshot;
    } else {
        rs_free(snapshot);
    }
    return rs_world_leave(world, status);
}

rs_status rs_snapshot_restore(rs_world *world, const rs_snapshot *snapshot) {
    rs_world_data copy;
    rs_world_enter(world);
    rs_status status = copy_data(&copy, &snapshot->data, rs_articulation_clone);
    if (status != RS_OK)
        return rs_world_leave(world, status);
    uint64_t configuration_number = world->data.configuration_number + 1;
    rs_world_data_drop(&world->data);
    world->data = copy;
    world->data.configuration_number = configuration_number; /* what readers cached is out of date */
    if (world->next_serial < snapshot->next_serial)
        world->next_serial = snapshot->next_serial;
    world->half_way = false;
    world->colliders_changed = true;
    world->version++;
    return rs_world_leave(world, RS_OK);
}

void rs_snapshot_destroy(rs_snapshot *snapshot) {
    if (snapshot == NULL)
        return;
    rs_world_data_drop(&snapshot->data);
    rs_free(snapshot);
}
