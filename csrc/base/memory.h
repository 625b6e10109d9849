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
/* The next of several steps that may fail, taken while those before it went well. */
#define RS_THEN(status, step) ((status) = (status) == RS_OK ? (step) : (status))

/* Growable arrays of plain values; zeroed memory is an empty one. All of the world's data sits in such arrays, so copying,
 * hashing and freeing a world are loops over them. RS_ARRAY_OF(type) stands behind the definition of a type of items and
 * defines RS_ARRAY(type), which the compiler tells from all others; `any` is the same array for who need not know what is in
 * it. */
typedef struct {
    void *data;
    int64_t count, capacity;
    size_t item_size; /* once there was room for items */
} rs_any_array;

#define RS_ARRAY(type) type##_array
#define RS_ARRAY_OF(type)                                                                                            \
    typedef union {                                                                                                  \
        rs_any_array any;                                                                                            \
        struct {                                                                                                     \
            type *items;                                                                                             \
            int64_t count, capacity;                                                                                 \
            size_t item_size;                                                                                        \
        };                                                                                                           \
    } type##_array

RS_ARRAY_OF(bool);
RS_ARRAY_OF(double);
RS_ARRAY_OF(int32_t);
RS_ARRAY_OF(int64_t);
RS_ARRAY_OF(uint8_t);
RS_ARRAY_OF(uint32_t);
RS_ARRAY_OF(uint64_t);

rs_status rs_any_reserve(rs_any_array *array, int64_t capacity, size_t item_size);
void *rs_any_push(rs_any_array *array, size_t item_size);
rs_status rs_any_resize(rs_any_array *array, int64_t count, size_t item_size);
rs_status rs_any_copy(rs_any_array *to, const rs_any_array *from);
void rs_any_free(rs_any_array *array);
/* The first `count` arrays of two lists. */
rs_status rs_any_copy_all(rs_any_array *const *to, rs_any_array *const *from, int count);
void rs_any_free_all(rs_any_array *const *arrays, int count);
static inline void rs_any_swap(rs_any_array *a, rs_any_array *b) {
    rs_any_array kept = *a;
    *a = *b;
    *b = kept;
}

static inline bool rs_any_has(const rs_any_array *array, int64_t index) { return index >= 0 && index < array->count; }

/* Makes room for `capacity` items, which may then be written before they are counted; grows geometrically, so repeated
 * calls stay cheap. */
#define rs_array_reserve(array, capacity) rs_any_reserve(&(array)->any, capacity, sizeof *(array)->items)
/* A new zeroed item at the end, or NULL. */
#define rs_array_push(array) ((__typeof__((array)->items))rs_any_push(&(array)->any, sizeof *(array)->items))
/* Room for `count` items and that count; new items are not initialised. */
#define rs_array_resize(array, count) rs_any_resize(&(array)->any, count, sizeof *(array)->items)
#define rs_array_free(array) rs_any_free(&(array)->any)
/* Two arrays of the same type of items. */
#define rs_array_copy(to, from) ((void)sizeof((to)->items == (from)->items), rs_any_copy(&(to)->any, &(from)->any))
#define rs_array_swap(a, b) ((void)sizeof((a)->items == (b)->items), rs_any_swap(&(a)->any, &(b)->any))

/* One of the items. Builds for debugging (RS_DEBUG) stop at a wrong index; with the address sanitizer, which all of them
 * have, they also stop where a pointer to the items goes beyond those that there are (memory.c). */
#ifdef RS_DEBUG
static inline int64_t rs_any_index(const rs_any_array *array, int64_t index) {
    if (!rs_any_has(array, index))
        __builtin_trap();
    return index;
}
#define RS_ITEM(array, index) (&(array).items[rs_any_index(&(array).any, (index))])
#else
#define RS_ITEM(array, index) (&(array).items[index])
#endif

#endif
