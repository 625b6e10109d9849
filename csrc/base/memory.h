/* The engine's only way to memory and to error texts. */
#ifndef RS_BASE_MEMORY_H
#define RS_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../include/raisim_engine.h"

/* Zeroed memory, 64-byte aligned and counted; NULL when there is none (the error text is set). */
void *rs_alloc(size_t bytes);
/* Takes NULL. */
void rs_free(void *memory);
/* Takes the next array, 64-byte aligned, from a block: `offset` is what is taken so far. With base NULL it only counts. */
void *rs_take(char *base, size_t *offset, size_t bytes);

/* Keeps the printf-style text for rs_error_text() and returns the status. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
rs_status rs_fail(rs_status status, const char *format, ...);

/* A growable array of plain values. All of the world's data sits in such arrays, so copying, hashing and freeing a
 * world are loops over them. */
typedef struct {
    void *data;
    int64_t count, capacity;
    size_t item_size;
} rs_array;

static inline rs_array rs_array_of(size_t item_size) { return (rs_array){NULL, 0, 0, item_size}; }
/* Makes room for `capacity` items, which may then be written before they are counted; grows geometrically, so repeated
 * calls stay cheap. */
rs_status rs_array_reserve(rs_array *array, int64_t capacity);
/* A new zeroed item at the end, or NULL. */
void *rs_array_push(rs_array *array);
/* Room for `count` items and that count; new items are not initialised. */
rs_status rs_array_resize(rs_array *array, int64_t count);
rs_status rs_array_copy(rs_array *to, const rs_array *from);
void rs_array_free(rs_array *array);
static inline void rs_array_swap(rs_array *a, rs_array *b) {
    rs_array kept = *a;
    *a = *b;
    *b = kept;
}

/* The items, and one of them. Builds for debugging (RS_DEBUG) stop at a wrong type or index; with the address sanitizer,
 * which all of them have, they also stop where a pointer to the items goes beyond those that there are (memory.c). */
#ifdef RS_DEBUG
static inline void *rs_array_items(const rs_array *array, size_t item_size) {
    if (array->data != NULL && array->item_size != item_size)
        __builtin_trap();
    return array->data;
}
static inline int64_t rs_array_index(const rs_array *array, int64_t index) {
    if (index < 0 || index >= array->count)
        __builtin_trap();
    return index;
}
#define RS_ITEMS(type, array) ((type *)rs_array_items(&(array), sizeof(type)))
#define RS_ITEM(type, array, index) (&RS_ITEMS(type, array)[rs_array_index(&(array), (index))])
#else
#define RS_ITEMS(type, array) ((type *)(array).data)
#define RS_ITEM(type, array, index) (&RS_ITEMS(type, array)[index])
#endif

#endif
