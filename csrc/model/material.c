#include "material.h"

#include "../base/stream.h"

#include <math.h>
#include <string.h>

static const rs_material_pair DEFAULT_PAIR = {
    .friction = 0.8, .restitution = 0.0, .restitution_threshold = 0.0, .static_friction = 0.8,
    .static_friction_velocity_threshold = 0.0};

rs_status rs_materials_make(rs_materials *out) {
    *out = (rs_materials){.fallback = DEFAULT_PAIR};
    int32_t index;
    return rs_materials_index(out, "default", &index);
}

void rs_materials_clear(rs_materials *materials) {
    materials->entries.count = 0;
    materials->fallback = DEFAULT_PAIR;
}

/* ---- names ---- */

/* Places of the table: the largest power of two that there are names, so that there is an item for each. */
static int64_t places(int64_t names) {
    int64_t count = 1;
    while (2 * count <= names)
        count *= 2;
    return count;
}

static rs_material_label *place_of(const rs_materials *materials, int64_t place_count, const char *text) {
    uint64_t hash = rs_hash_bytes(RS_HASH_BEGIN, text, strlen(text));
    return RS_ITEM(materials->names, (int64_t)((hash ^ (hash >> 32)) & (uint64_t)(place_count - 1)));
}

static void enter(rs_materials *materials, int64_t place_count, int64_t index) {
    rs_material_label *label = RS_ITEM(materials->names, index), *place = place_of(materials, place_count, label->text);
    label->next = place->first;
    place->first = (int32_t)(index + 1);
}

void rs_materials_sort(rs_materials *materials) {
    int64_t count = materials->names.count, place_count = places(count);
    for (int64_t i = 0; i < count; i++)
        RS_ITEM(materials->names, i)->first = 0;
    for (int64_t i = 0; i < count; i++)
        enter(materials, place_count, i);
}

rs_status rs_materials_index(rs_materials *materials, const char *name, int32_t *out) {
    size_t length = strlen(name);
    if (length == 0 || length >= RS_MATERIAL_NAME_SIZE)
        return rs_fail(RS_INVALID_VALUE, "material name has %zu bytes; expected 1 to %d", length,
                       RS_MATERIAL_NAME_SIZE - 1);
    int64_t count = materials->names.count;
    for (int32_t i = count > 0 ? place_of(materials, places(count), name)->first : 0; i > 0;) {
        const rs_material_label *label = RS_ITEM(materials->names, i - 1);
        if (strcmp(label->text, name) == 0) {
            *out = i - 1;
            return RS_OK;
        }
        i = label->next;
    }
    rs_material_label *added = rs_array_push(&materials->names);
    if (added == NULL)
        return RS_OUT_OF_MEMORY;
    memcpy(added->text, name, length + 1);
    *out = (int32_t)count;
    if (places(count + 1) > places(count))
        rs_materials_sort(materials);
    else
        enter(materials, places(count), count);
    return RS_OK;
}

/* ---- pairs ---- */

static uint64_t pair_key(int32_t a, int32_t b) {
    uint64_t low = (uint64_t)(a < b ? a : b), high = (uint64_t)(a < b ? b : a);
    return (low << 32) | high;
}

/* First entry whose key is not below. */
static int64_t lower_bound(const rs_materials *materials, uint64_t key) {
    int64_t low = 0, high = materials->entries.count;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (RS_ITEM(materials->entries, middle)->key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

rs_status rs_materials_set(rs_materials *materials, int32_t a, int32_t b, const rs_material_pair *pair) {
    uint64_t key = pair_key(a, b);
    int64_t at = lower_bound(materials, key);
    rs_material_entry *entries = materials->entries.items;
    if (at < materials->entries.count && entries[at].key == key) {
        entries[at].properties = *pair;
        return RS_OK;
    }
    if (rs_array_push(&materials->entries) == NULL)
        return RS_OUT_OF_MEMORY;
    entries = materials->entries.items;
    memmove(&entries[at + 1], &entries[at], (size_t)(materials->entries.count - 1 - at) * sizeof *entries);
    entries[at] = (rs_material_entry){key, *pair};
    return RS_OK;
}

const rs_material_pair *rs_materials_find(const rs_materials *materials, int32_t a, int32_t b) {
    uint64_t key = pair_key(a, b);
    int64_t at = lower_bound(materials, key);
    const rs_material_entry *entries = materials->entries.items;
    bool found = at < materials->entries.count && entries[at].key == key;
    return found ? &entries[at].properties : &materials->fallback;
}

rs_status rs_material_pair_valid(const rs_material_pair *pair) {
    const struct {
        const char *name;
        double value, max;
    } fields[] = {{"friction", pair->friction, INFINITY},
                  {"restitution", pair->restitution, 1.0},
                  {"restitution threshold", pair->restitution_threshold, INFINITY},
                  {"static friction", pair->static_friction, INFINITY},
                  {"static friction velocity threshold", pair->static_friction_velocity_threshold, INFINITY},
                  {"rolling friction", pair->rolling_friction, INFINITY},
                  {"spinning friction", pair->spinning_friction, INFINITY}};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        double value = fields[i].value;
        if (!(isfinite(value) && value >= 0.0 && value <= fields[i].max))
            return rs_fail(RS_INVALID_VALUE, "%s is %g; expected a finite number, at least 0%s", fields[i].name, value,
                           isfinite(fields[i].max) ? " and at most 1" : "");
    }
    return RS_OK;
}

bool rs_material_resists_turning(const rs_material_pair *pair) {
    return pair->rolling_friction > 0.0 || pair->spinning_friction > 0.0;
}

bool rs_materials_resist_turning(const rs_materials *materials) {
    bool any = rs_material_resists_turning(&materials->fallback);
    for (int64_t k = 0; k < materials->entries.count; k++)
        any |= rs_material_resists_turning(&materials->entries.items[k].properties);
    return any;
}

double rs_material_friction(const rs_material_pair *pair, double speed) {
    double limit = pair->static_friction_velocity_threshold;
    if (limit <= 0.0 || speed >= limit)
        return pair->friction;
    return pair->static_friction + (pair->friction - pair->static_friction) * speed / limit;
}
