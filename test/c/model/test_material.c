/* Names of materials are found through a table that grows with them. */
#include "../../../csrc/model/material.h"
#include "../check.h"

#include <stdio.h>

enum { MANY = 200000 };

static int32_t index_of(rs_materials *materials, const char *kind, int k)
{
    char name[RS_MATERIAL_NAME_SIZE];
    snprintf(name, sizeof name, "%s%d", kind, k);
    int32_t index = -1;
    CHECK(rs_materials_index(materials, name, &index) == RS_OK);
    return index;
}

/* Each was compared with all others: minutes. */
static void many_names_are_found_at_once(void)
{
    rs_materials materials;
    CHECK(rs_materials_make(&materials) == RS_OK);
    for (int k = 0; k < MANY; k++)
        CHECK(index_of(&materials, "name", k) == k + 1);
    for (int k = MANY - 1; k >= 0; k--)
        CHECK(index_of(&materials, "name", k) == k + 1);
    CHECK(index_of(&materials, "other", 0) == MANY + 1);
    rs_array_free(&materials.names);
    rs_array_free(&materials.entries);
}

static void names_keep_their_numbers_when_the_table_is_made_again(void)
{
    rs_materials materials;
    CHECK(rs_materials_make(&materials) == RS_OK);
    for (int k = 0; k < 100; k++) {
        index_of(&materials, "name", k);
        for (int64_t i = 0; i < materials.names.count; i++) /* as they are after reading */
            materials.names.items[i].first = materials.names.items[i].next = 0;
        rs_materials_sort(&materials);
        for (int other = 0; other <= k; other++)
            CHECK(index_of(&materials, "name", other) == other + 1);
    }
    CHECK(index_of(&materials, "default", 0) == 101 && materials.names.count == 102);
    rs_array_free(&materials.names);
    rs_array_free(&materials.entries);
}

int main(void)
{
    RUN(many_names_are_found_at_once);
    RUN(names_keep_their_numbers_when_the_table_is_made_again);
    return CHECK_RESULT();
}
