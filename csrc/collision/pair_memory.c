#include "pair_memory.h"

rs_pair_memory rs_pair_memory_begin(const RS_ARRAY(rs_pair_hint) *before, RS_ARRAY(rs_pair_hint) *now) {
    now->count = 0;
    return (rs_pair_memory){before, now, 0};
}

static bool precedes(const rs_pair_hint *hint, const rs_pair *pair) {
    return hint->collider_a < pair->a || (hint->collider_a == pair->a && hint->collider_b < pair->b);
}

void rs_pair_memory_skip(rs_pair_memory *memory, const rs_pair *pair) {
    const rs_pair_hint *hints = memory->before->items;
    int64_t low = memory->at, high = memory->before->count;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        bool before = precedes(&hints[middle], pair);
        low = before ? middle + 1 : low;
        high = before ? high : middle;
    }
    memory->at = low;
}

rs_pair_hint rs_pair_memory_take(rs_pair_memory *memory, const rs_pair *pair) {
    const rs_pair_hint *hints = memory->before->items;
    while (memory->at < memory->before->count && precedes(&hints[memory->at], pair))
        memory->at++;
    if (memory->at < memory->before->count) {
        rs_pair_hint found = hints[memory->at];
        found.used = false;
        if (found.collider_a == pair->a && found.collider_b == pair->b)
            return found;
    }
    return (rs_pair_hint){.collider_a = pair->a, .collider_b = pair->b};
}

rs_status rs_pair_memory_keep(rs_pair_memory *memory, const rs_pair_hint *hint) {
    if (!hint->used)
        return RS_OK;
    rs_pair_hint *slot = rs_array_push(memory->now);
    if (slot == NULL)
        return RS_OUT_OF_MEMORY;
    *slot = *hint;
    return RS_OK;
}

void rs_pair_memory_forget(RS_ARRAY(rs_pair_hint) *hints, const rs_collider *colliders, int32_t body) {
    rs_pair_hint *hint = hints->items;
    int64_t kept = 0;
    for (int64_t k = 0; k < hints->count; k++)
        if (colliders[hint[k].collider_a].body != body && colliders[hint[k].collider_b].body != body)
            hint[kept++] = hint[k];
    hints->count = kept;
}
