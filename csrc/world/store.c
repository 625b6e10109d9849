/* Snapshots as bytes, for files and other processes. Nothing that is read is trusted: snapshot_check.c looks at it before any world
 * does. */
#include "../model/model_store.h"
#include "../soft/soft_store.h"
#include "world.h"

#include <string.h>

/* To be raised when a stored number comes to mean something else; names, kinds and sizes of fields tell for themselves. */
enum { FORMAT_VERSION = 1 };

#define REAL(field) RS_FIELD(T, RS_KIND_REAL, field)
#define BOUND(field) RS_FIELD(T, RS_KIND_BOUND, field)
#define WHOLE(field) RS_FIELD(T, RS_KIND_WHOLE, field)
#define FLAG(field) RS_FIELD(T, RS_KIND_FLAG, field)
#define LEFT(field) RS_FIELD(T, RS_KIND_LEFT_OUT, field)

/* ---- what is stored ---- */

#define LEFT_ARRAY(type, name) LEFT(name),
#define T rs_world_data
static const rs_field DATA_FIELDS[] = {
    REAL(dt), REAL(gravity), REAL(fluid.density), REAL(fluid.viscosity), REAL(fluid.wind), REAL(solver.erp), REAL(solver.erp2), WHOLE(solver.max_iterations), REAL(solver.threshold),
    WHOLE(solver.fixed_order), WHOLE(contact.gjk_max_iterations), REAL(contact.gjk_tolerance), WHOLE(contact.epa_max_iterations),
    REAL(contact.epa_tolerance), WHOLE(contact.max_contacts_per_pair), WHOLE(contact.swept_ccd_enabled),
    REAL(contact.swept_ccd_min_speed), REAL(contact.swept_ccd_speculative_margin), WHOLE(contact.broadphase),
    REAL(contact.mbp_world_min), REAL(contact.mbp_world_max), REAL(contact.mbp_cell_size), REAL(contact.mbp_padding),
    WHOLE(contact.mbp_max_cells_per_axis), WHOLE(contact.mbp_max_cells_per_object), WHOLE(contact.mbp_use_world_bounds),
    WHOLE(sleep.enabled), REAL(sleep.linear_threshold), REAL(sleep.angular_threshold), WHOLE(sleep.quiet_steps),
    LEFT(materials.names), LEFT(materials.entries), REAL(materials.fallback), REAL(time), REAL(time_lost), WHOLE(step_count),
    WHOLE(configuration_number), WHOLE(soft_count), WHOLE(free_slot), WHOLE(free_body), WHOLE(free_collider),
    RS_WORLD_ARRAYS(LEFT_ARRAY) FLAG(sweep_backward)};
#undef T
#define T rs_slot
static const rs_field SLOT_FIELDS[] = {WHOLE(serial), WHOLE(body), WHOLE(list_index), WHOLE(object_type), WHOLE(next_free)};
#undef T
#define T int32_t
static const rs_field INDEX_FIELDS[] = {{"index", 0, sizeof(int32_t), RS_KIND_WHOLE}};
#undef T
#define T rs_body
static const rs_field BODY_FIELDS[] = {
    FLAG(alive), WHOLE(slot), WHOLE(first_collider), WHOLE(collider_count), WHOLE(controller), LEFT(articulation), WHOLE(type),
    WHOLE(gyroscopic_mode), FLAG(isotropic), REAL(mass), REAL(com), REAL(inertia), BOUND(inverse_inertia), REAL(linear_damping),
    REAL(angular_damping), REAL(position), REAL(quaternion), REAL(velocity), REAL(omega), REAL(force), REAL(torque),
    REAL(command_force), REAL(command_torque), REAL(former_velocity), REAL(former_omega), REAL(velocity_change), REAL(omega_change),
    REAL(middle), REAL(middle_com), REAL(middle_omega), REAL(middle_turn), FLAG(launched), REAL(applied_force), REAL(applied_torque), REAL(acceleration),
    REAL(angular_acceleration), FLAG(settled), WHOLE(uneven), LEFT(soft), FLAG(soft_held), FLAG(soft_restless), REAL(soft_velocity),
    REAL(soft_omega), REAL(soft_shift), REAL(soft_turn), REAL(former_soft_velocity), REAL(former_soft_omega),
    REAL(contact_velocity), REAL(contact_omega), FLAG(asleep), FLAG(diverged), FLAG(moved),
    WHOLE(quiet_steps), FLAG(listed)};
#undef T
#define T rs_collider
static const rs_field COLLIDER_FIELDS[] = {
    WHOLE(shape.type), REAL(shape.radius), REAL(shape.half_height), REAL(shape.half), LEFT(shape.convex), LEFT(shape.mesh),
    LEFT(shape.grid), REAL(local), FLAG(local_identity), FLAG(alive), FLAG(dynamic), FLAG(active), FLAG(clustered),
    LEFT(placed_in), WHOLE(body), WHOLE(link), WHOLE(next_in_body), WHOLE(number), WHOLE(material), WHOLE(asset), WHOLE(group),
    WHOLE(mask), BOUND(radius), BOUND(size), BOUND(touch), REAL(pose), BOUND(foresight), BOUND(swing), FLAG(swept), BOUND(reach),
    REAL(way), BOUND(box)};
#undef T
#define T rs_asset_entry
static const rs_field ASSET_FIELDS[] = {WHOLE(id), LEFT(asset), WHOLE(users)};
#undef T
#define T rs_pose_controller
static const rs_field CONTROLLER_FIELDS[] = {
    WHOLE(body), BOUND(gains), FLAG(follows_velocity), REAL(position), REAL(quaternion), REAL(velocity), REAL(omega), REAL(integral),
    REAL(angular_integral), REAL(robot_mass), REAL(robot_inertia), REAL(force), REAL(torque), REAL(carried), REAL(weight),
    REAL(angular_weight)};
#undef T
#define T rs_wire
static const rs_field WIRE_FIELDS[] = {
    WHOLE(serial), WHOLE(body), WHOLE(link), REAL(point), WHOLE(properties.type), WHOLE(properties.stretch_type),
    REAL(properties.length), REAL(properties.stiffness), REAL(properties.tension), WHOLE(properties.explicit_spring), WHOLE(island),
    REAL(middle), REAL(grip), REAL(normal), REAL(stretch), FLAG(turned), REAL(out), REAL(reeled), REAL(impulse),
    REAL(former), REAL(begin), REAL(end), REAL(sideways)};
#undef T
#define T rs_touch
static const rs_field TOUCH_FIELDS[] = {
    WHOLE(collider_a), WHOLE(collider_b), WHOLE(body_a), WHOLE(body_b), WHOLE(island), WHOLE(feature), REAL(position), REAL(t1),
    REAL(t2), REAL(n), REAL(gap), REAL(velocity), REAL(impulse), REAL(moment), REAL(relief), REAL(trust), BOUND(g), REAL(friction),
    REAL(restitution)};
#undef T
#define T rs_pair_hint
static const rs_field HINT_FIELDS[] = {WHOLE(collider_a), WHOLE(collider_b), FLAG(known), FLAG(used), REAL(normal), WHOLE(vertex),
                                       WHOLE(kept_count), WHOLE(kept), REAL(level)};
#undef T
#define T rs_material_label
static const rs_field LABEL_FIELDS[] = {WHOLE(text), LEFT(first), LEFT(next)};
#undef T
#define T rs_material_entry
static const rs_field PAIR_FIELDS[] = {WHOLE(key), REAL(properties)};
#undef T
static const rs_record DATA = RS_RECORD(rs_world_data, DATA_FIELDS);
/* In the order of rs_world_data_arrays(). */
static const rs_record ARRAY_RECORDS[RS_DATA_ARRAY_COUNT] = {
    RS_RECORD(rs_slot, SLOT_FIELDS), RS_RECORD(int32_t, INDEX_FIELDS), RS_RECORD(rs_body, BODY_FIELDS),
    RS_RECORD(rs_collider, COLLIDER_FIELDS), RS_RECORD(rs_asset_entry, ASSET_FIELDS),
    RS_RECORD(rs_pose_controller, CONTROLLER_FIELDS), RS_RECORD(rs_wire, WIRE_FIELDS), RS_RECORD(rs_touch, TOUCH_FIELDS),
    RS_RECORD(rs_touch, TOUCH_FIELDS) /* resting */,
    RS_RECORD(rs_pair_hint, HINT_FIELDS), RS_RECORD(rs_material_label, LABEL_FIELDS), RS_RECORD(rs_material_entry, PAIR_FIELDS)};

/* ---- head ---- */

typedef struct {
    char magic[8];
    uint32_t byte_order, version;
    uint64_t format; /* of all fields that are stored */
    uint64_t size, checksum; /* of what follows */
} head;
static const char MAGIC[8] = "RSWORLD";
static const uint32_t BYTE_ORDER = 0x01020304, OTHER_BYTE_ORDER = 0x04030201;

static uint64_t format_of_all(void) {
    uint64_t hash = rs_hash_record(RS_HASH_BEGIN, &DATA);
    for (int k = 0; k < RS_DATA_ARRAY_COUNT; k++)
        hash = rs_hash_record(hash, &ARRAY_RECORDS[k]);
    return rs_soft_format(rs_model_format(hash));
}

static rs_status check_head(const head *h, const uint8_t *bytes, size_t size) {
    if (size < sizeof *h || memcmp(h->magic, MAGIC, sizeof MAGIC) != 0)
        return rs_fail(RS_INVALID_VALUE, "this is no snapshot of the engine");
    if (h->byte_order == OTHER_BYTE_ORDER)
        return rs_fail(RS_INVALID_VALUE, "the snapshot was stored on a machine with another order of bytes");
    if (h->byte_order != BYTE_ORDER || h->version != FORMAT_VERSION || h->format != format_of_all())
        return rs_fail(RS_INVALID_VALUE, "the snapshot was stored by another version of the engine");
    if (h->size != size - sizeof *h)
        return rs_fail(RS_INVALID_VALUE, "the snapshot has %zu bytes; expected %llu", size - sizeof *h, (unsigned long long)h->size);
    if (h->checksum != rs_hash_bytes(RS_HASH_BEGIN, bytes + sizeof *h, size - sizeof *h))
        return rs_fail(RS_INVALID_VALUE, "the snapshot is damaged: its checksum is wrong");
    return RS_OK;
}

/* ---- geometry ---- */

/* The asset of a world with this content, held once more; or NULL. */
static rs_asset *find_asset(const rs_world *world, uint64_t hash) {
    const RS_ARRAY(rs_asset_entry) *assets = world != NULL ? &world->data.assets : NULL;
    for (int64_t k = 0; assets != NULL && k < assets->count; k++) {
        const rs_asset_entry *entry = &assets->items[k];
        if (entry->id != 0 && rs_asset_hash(entry->asset) == hash) {
            rs_asset_hold(entry->asset);
            return entry->asset;
        }
    }
    return NULL;
}

/* Content, or only its hash: what is in `world` already is shared. */
static void stream_assets(rs_stream *stream, RS_ARRAY(rs_asset_entry) *assets, const rs_world *world, bool content) {
    for (int64_t k = 0; k < assets->count; k++) {
        rs_asset_entry *entry = &assets->items[k];
        if (entry->id == 0)
            continue;
        bool written = content;
        uint64_t hash = rs_stream_reads(stream) ? 0 : rs_asset_hash(entry->asset);
        rs_stream_bytes(stream, &hash, sizeof hash);
        rs_stream_flag(stream, &written);
        if (written && stream->status == RS_OK)
            rs_asset_stream(stream, &entry->asset);
        if (!rs_stream_reads(stream) || stream->status != RS_OK)
            continue;
        rs_asset *shared = find_asset(world, written ? rs_asset_hash(entry->asset) : hash);
        if (shared == NULL && !written)
            rs_stream_refuse(stream, "the snapshot refers to a mesh or heightmap that the world does not have");
        if (shared != NULL && written)
            rs_asset_drop(entry->asset);
        entry->asset = shared != NULL ? shared : entry->asset;
    }
    if (stream->status != RS_OK && rs_stream_reads(stream)) /* those without geometry must not be dropped */
        for (int64_t k = 0; k < assets->count; k++)
            if (assets->items[k].asset == NULL)
                assets->items[k].id = 0;
}

/* Shapes find the geometry that they are made of. */
static void link_shapes(rs_stream *stream, rs_world_data *data) {
    for (int64_t k = 0; k < data->colliders.count && stream->status == RS_OK; k++) {
        rs_collider *c = &data->colliders.items[k];
        bool made = c->shape.type == RS_SHAPE_CONVEX || c->shape.type == RS_SHAPE_MESH || c->shape.type == RS_SHAPE_HEIGHTMAP;
        uint32_t place = (uint32_t)c->asset;
        const rs_asset_entry *entry = place < data->assets.count ? &data->assets.items[place] : NULL;
        if (!c->alive || (!made && c->asset == 0))
            continue;
        if (!made || c->asset == 0 || entry == NULL || entry->id != c->asset || entry->asset->type != c->shape.type) {
            rs_stream_refuse(stream, "a shape is made of geometry that does not exist");
            return;
        }
        c->shape.convex = entry->asset->convex;
        c->shape.mesh = entry->asset->mesh;
        c->shape.grid = entry->asset->grid;
    }
}

/* ---- what bodies own ---- */

enum { OWNS_NOTHING = 0, OWNS_TREE, OWNS_SOFT };

/* The first body, before this one, with the same model, or -1. */
static int32_t sharer(const RS_ARRAY(rs_body) *bodies, int64_t index) {
    const rs_body *all = bodies->items;
    for (int64_t k = 0; k < index; k++)
        if (all[k].articulation != NULL && all[k].articulation->model == all[index].articulation->model)
            return (int32_t)k;
    return -1;
}

static void stream_tree(rs_stream *stream, RS_ARRAY(rs_body) *bodies, int64_t index) {
    rs_body *all = bodies->items, *body = &all[index];
    bool reads = rs_stream_reads(stream);
    int32_t from = reads ? -1 : sharer(bodies, index);
    rs_tree_model *model = reads ? NULL : body->articulation->model;
    rs_stream_bytes(stream, &from, sizeof from);
    if (from < -1 || from >= index || (from >= 0 && all[from].articulation == NULL)) {
        rs_stream_refuse(stream, "a robot shares the model of one that does not exist");
        return;
    }
    if (from < 0)
        rs_tree_model_stream(stream, &model);
    else
        model = all[from].articulation->model;
    if (stream->status == RS_OK)
        rs_articulation_stream(stream, model, &body->articulation);
    if (reads && from < 0)
        rs_tree_model_drop(model); /* the articulation holds it */
}

static void stream_owned(rs_stream *stream, RS_ARRAY(rs_body) *bodies) {
    for (int64_t k = 0; k < bodies->count && stream->status == RS_OK; k++) {
        rs_body *body = &bodies->items[k];
        uint8_t kind = body->articulation != NULL ? OWNS_TREE : body->soft != NULL ? OWNS_SOFT : OWNS_NOTHING;
        rs_stream_bytes(stream, &kind, sizeof kind);
        if (kind > OWNS_SOFT || (kind != OWNS_NOTHING && !body->alive))
            rs_stream_refuse(stream, "a body is of an unknown kind");
        else if (kind == OWNS_TREE)
            stream_tree(stream, bodies, k);
        else if (kind == OWNS_SOFT)
            rs_soft_stream(stream, &body->soft);
    }
}

/* ---- all of it ---- */

static void stream_snapshot(rs_stream *stream, rs_snapshot *snapshot, const rs_world *world, bool content) {
    rs_world_data *data = &snapshot->data;
    rs_any_array *arrays[RS_DATA_ARRAY_COUNT];
    rs_stream_bytes(stream, &snapshot->next_serial, sizeof snapshot->next_serial);
    rs_stream_bytes(stream, &snapshot->next_asset, sizeof snapshot->next_asset);
    rs_stream_items(stream, &DATA, data, 1);
    rs_world_data_arrays(data, arrays);
    for (int k = 0; k < RS_DATA_ARRAY_COUNT; k++)
        rs_stream_array(stream, &ARRAY_RECORDS[k], arrays[k]);
    stream_assets(stream, &data->assets, world, content);
    stream_owned(stream, &data->bodies);
    if (rs_stream_reads(stream)) {
        link_shapes(stream, data);
        if (stream->status == RS_OK && stream->at != stream->size)
            rs_stream_refuse(stream, "the data do not end where they should");
    }
}

rs_status rs_snapshot_store(const rs_snapshot *snapshot, int32_t with_geometry, uint8_t *out, size_t capacity, size_t *size) {
    rs_snapshot copy = *snapshot; /* both directions share functions that could write */
    rs_stream stream = {.out = NULL};
    stream_snapshot(&stream, &copy, NULL, with_geometry != 0);
    *size = sizeof(head) + stream.at;
    if (stream.status != RS_OK || out == NULL)
        return stream.status;
    if (capacity < *size)
        return rs_fail(RS_INVALID_VALUE, "capacity is %zu; the snapshot needs %zu", capacity, *size);
    rs_stream write = {.out = out + sizeof(head)};
    stream_snapshot(&write, &copy, NULL, with_geometry != 0);
    head h = {.byte_order = BYTE_ORDER, .version = FORMAT_VERSION, .format = format_of_all(), .size = write.at,
              .checksum = rs_hash_bytes(RS_HASH_BEGIN, out + sizeof(head), write.at)};
    memcpy(h.magic, MAGIC, sizeof MAGIC);
    memcpy(out, &h, sizeof h);
    return write.status;
}

rs_status rs_snapshot_load(const uint8_t *bytes, size_t size, rs_world *world, rs_snapshot **out) {
    head h = {.size = 0};
    memcpy(&h, bytes, size < sizeof h ? size : sizeof h);
    rs_status status = check_head(&h, bytes, size);
    rs_snapshot *snapshot = status == RS_OK ? rs_alloc(sizeof *snapshot) : NULL;
    if (snapshot == NULL)
        return status == RS_OK ? RS_OUT_OF_MEMORY : status;
    rs_stream stream = {.in = bytes + sizeof h, .size = size - sizeof h};
    if (world != NULL)
        rs_world_enter_to_read(world);
    stream_snapshot(&stream, snapshot, world, false);
    if (world != NULL)
        rs_world_leave(world, RS_OK);
    if (stream.status == RS_OK)
        stream.status = rs_snapshot_check(snapshot);
    if (stream.status != RS_OK) {
        rs_snapshot_destroy(snapshot);
        return stream.status;
    }
    rs_materials_sort(&snapshot->data.materials);
    *out = snapshot;
    return RS_OK;
}

