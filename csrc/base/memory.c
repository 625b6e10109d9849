#include "memory.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(RS_DEBUG) && defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define OPEN(from, bytes) ASAN_UNPOISON_MEMORY_REGION(from, bytes)
#define CLOSE(from, bytes) ASAN_POISON_MEMORY_REGION(from, bytes)
#else
#define OPEN(from, bytes) ((void)(from), (void)(bytes))
#define CLOSE(from, bytes) ((void)(from), (void)(bytes))
#endif

enum { ERROR_TEXT_SIZE = 512, ALIGNMENT = 64 };

static atomic_size_t bytes_held;
static _Thread_local char error_text[ERROR_TEXT_SIZE];

/* The size stands in front of the block, so that freeing can count it back; a whole alignment unit keeps the
 * block itself aligned. */
typedef struct {
    size_t bytes;
} block_header;

void *rs_alloc(size_t bytes) {
    size_t total = (bytes + ALIGNMENT + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    char *block = total > bytes ? aligned_alloc(ALIGNMENT, total) : NULL;
    if (block == NULL) {
        rs_fail(RS_OUT_OF_MEMORY, "no memory for %zu bytes", bytes);
        return NULL;
    }
    memset(block, 0, total);
    ((block_header *)(void *)block)->bytes = total;
    atomic_fetch_add(&bytes_held, total);
    return block + ALIGNMENT;
}

void rs_free(void *memory) {
    if (memory == NULL)
        return;
    char *block = (char *)memory - ALIGNMENT;
    atomic_fetch_sub(&bytes_held, ((block_header *)(void *)block)->bytes);
    free(block);
}

void *rs_take(char *base, size_t *offset, size_t bytes) {
    size_t start = (*offset + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    *offset = start + bytes;
    return base != NULL ? base + start : NULL;
}

size_t rs_memory_bytes(void) { return atomic_load(&bytes_held); }

rs_status rs_fail(rs_status status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(error_text, sizeof error_text, format, args);
    va_end(args);
    return status;
}

const char *rs_error_text(void) { return error_text; }

/* Items from `end` on may not be touched, those before it may: by itself, the sanitizer knows of what was allocated only. */
static void guard_from(const rs_any_array *array, int64_t end) {
    size_t open = (size_t)end * array->item_size, all = (size_t)array->capacity * array->item_size;
    if (array->data != NULL) {
        OPEN(array->data, open);
        CLOSE((char *)array->data + open, all - open);
    }
}

rs_status rs_any_reserve(rs_any_array *array, int64_t capacity, size_t item_size) {
    if (capacity <= array->capacity) {
        guard_from(array, capacity > array->count ? capacity : array->count);
        return RS_OK;
    }
    int64_t grown = array->capacity + array->capacity / 2 + 16;
    if (grown < capacity)
        grown = capacity;
    void *data = rs_alloc((size_t)grown * item_size);
    if (data == NULL)
        return RS_OUT_OF_MEMORY;
    if (array->count > 0)
        memcpy(data, array->data, (size_t)array->count * item_size);
    rs_free(array->data);
    array->data = data;
    array->capacity = grown;
    array->item_size = item_size;
    guard_from(array, capacity);
    return RS_OK;
}

void *rs_any_push(rs_any_array *array, size_t item_size) {
    if (array->count >= array->capacity && rs_any_reserve(array, array->count + 1, item_size) != RS_OK)
        return NULL;
    char *item = (char *)array->data + (size_t)array->count * item_size;
    OPEN(item, item_size);
    memset(item, 0, item_size);
    array->count++;
    return item;
}

rs_status rs_any_resize(rs_any_array *array, int64_t count, size_t item_size) {
    rs_status status = rs_any_reserve(array, count, item_size);
    if (status == RS_OK) {
        array->count = count;
        guard_from(array, count);
    }
    return status;
}

rs_status rs_any_copy(rs_any_array *to, const rs_any_array *from) {
    rs_status status = rs_any_resize(to, from->count, from->item_size);
    if (status == RS_OK && from->count > 0)
        memcpy(to->data, from->data, (size_t)from->count * from->item_size);
    return status;
}

void rs_any_free(rs_any_array *array) {
    rs_free(array->data);
    *array = (rs_any_array){0};
}

rs_status rs_any_copy_all(rs_any_array *const *to, rs_any_array *const *from, int count) {
    for (int k = 0; k < count; k++)
        if (rs_any_copy(to[k], from[k]) != RS_OK)
            return RS_OUT_OF_MEMORY;
    return RS_OK;
}

void rs_any_free_all(rs_any_array *const *arrays, int count) {
    for (int k = 0; k < count; k++)
        rs_any_free(arrays[k]);
}
