/* Contact materials: names, and properties by pair of names. */
#ifndef RS_MODEL_MATERIAL_H
#define RS_MODEL_MATERIAL_H

#include "../base/memory.h"

enum { RS_MATERIAL_NAME_SIZE = 64 };

typedef struct {
    char text[RS_MATERIAL_NAME_SIZE];
    /* The table that finds names: the first name of the place with this item's number, and the next of the same place.
     * Index plus one; 0: none. */
    int32_t first, next;
} rs_material_label;
RS_ARRAY_OF(rs_material_label);

typedef struct {
    uint64_t key; /* smaller index in the high half */
    rs_material_pair properties;
} rs_material_entry;
RS_ARRAY_OF(rs_material_entry);

typedef struct {
    RS_ARRAY(rs_material_label) names;   /* rs_material_label; index 0 is "default" */
    RS_ARRAY(rs_material_entry) entries; /* by key */
    rs_material_pair fallback;
} rs_materials;

rs_status rs_materials_make(rs_materials *out);
void rs_materials_clear(rs_materials *materials);
/* Makes the table of the names, after they were read from elsewhere. */
void rs_materials_sort(rs_materials *materials);

rs_status rs_materials_index(rs_materials *materials, const char *name, int32_t *out);
rs_status rs_materials_set(rs_materials *materials, int32_t a, int32_t b, const rs_material_pair *pair);
const rs_material_pair *rs_materials_find(const rs_materials *materials, int32_t a, int32_t b);

/* Has rolling or spinning friction; the same of any pair. */
bool rs_material_resists_turning(const rs_material_pair *pair);
bool rs_materials_resist_turning(const rs_materials *materials);

/* Friction coefficient at a tangential speed: falls linearly from the static to the dynamic value. */
double rs_material_friction(const rs_material_pair *pair, double speed);

#endif
