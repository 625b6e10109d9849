/* The order in which constraints are solved. Neighbours that share a particle must wait for each other; put apart, a
 * processor works on several at once. */
#include "../base/group_by.h"
#include "deformable.h"

enum { COLOURS = 64 }; /* sets of constraints without a common particle; the last takes what is left */

static int32_t free_colour(const uint64_t *used, const int32_t *index, int corners) {
    uint64_t taken = 0;
    for (int k = 0; k < corners; k++)
        taken |= used[index[k]];
    int32_t colour = 0;
    while (colour < COLOURS - 1 && (taken >> colour & 1) != 0)
        colour++;
    return colour;
}

rs_status rs_order_apart(rs_any_array *items, int corners, int64_t particles) {
    RS_ARRAY(uint64_t) used = {0};
    RS_ARRAY(int32_t) colours = {0}, order = {0};
    rs_any_array copy = {0};
    int32_t starts[COLOURS + 1];
    rs_status status = rs_array_resize(&used, particles);
    RS_THEN(status, rs_array_resize(&colours, items->count));
    RS_THEN(status, rs_array_resize(&order, items->count));
    RS_THEN(status, rs_any_copy(&copy, items));
    if (status == RS_OK && items->count > 0) {
        memset(used.items, 0, sizeof(uint64_t) * (size_t)particles);
        for (int64_t i = 0; i < items->count; i++) {
            const int32_t *index = (const int32_t *)((const char *)items->data + items->item_size * (size_t)i);
            int32_t colour = free_colour(used.items, index, corners);
            colours.items[i] = colour;
            for (int k = 0; k < corners; k++)
                used.items[index[k]] |= (uint64_t)1 << colour;
        }
        rs_group_by(colours.items, items->count, COLOURS, starts, order.items);
        for (int64_t i = 0; i < items->count; i++)
            memcpy((char *)items->data + items->item_size * (size_t)i,
                   (const char *)copy.data + items->item_size * (size_t)order.items[i], items->item_size);
    }
    rs_array_free(&used);
    rs_array_free(&colours);
    rs_array_free(&order);
    rs_any_free(&copy);
    return status;
}
