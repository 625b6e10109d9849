/* What goes into a stored snapshot and comes back: the fields that are listed, never padding or pointers. One function of
 * each kind of thing serves both directions. */
#ifndef RS_BASE_STREAM_H
#define RS_BASE_STREAM_H

#include "memory.h"

typedef enum {
    RS_KIND_FLAG,    /* bool: 0 or 1 */
    RS_KIND_REAL,    /* finite doubles */
    RS_KIND_BOUND,   /* doubles that may also be infinite */
    RS_KIND_WHOLE,   /* integers and enumerators; who reads them checks what they name */
    RS_KIND_LEFT_OUT /* pointers, and what follows from the rest */
} rs_field_kind;

typedef struct {
    const char *name;
    size_t offset, size;
    rs_field_kind kind;
} rs_field;

/* All fields of a struct; test/system/test_stored_fields.py notices one that is not listed. */
typedef struct {
    const char *name;
    size_t size;
    const rs_field *fields;
    size_t count;
} rs_record;

#define RS_FIELD(type, kind, field) {#field, offsetof(type, field), sizeof(((type *)0)->field), kind}
#define RS_RECORD(type, fields) {#type, sizeof(type), fields, sizeof(fields) / sizeof *(fields)}

typedef struct {
    const unsigned char *in; /* NULL: writing */
    unsigned char *out;      /* writing: NULL only counts */
    size_t size, at;         /* reading: of `in` */
    rs_status status;        /* the first failure; from then on nothing is read */
    const rs_record *record; /* at hand, for error texts; or NULL */
    const rs_field *field;
} rs_stream;

static inline bool rs_stream_reads(const rs_stream *stream) { return stream->in != NULL; }
/* Ends reading with an error text; the first one stays. */
void rs_stream_refuse(rs_stream *stream, const char *what);
/* Bytes that may be anything. */
void rs_stream_bytes(rs_stream *stream, void *data, size_t size);
/* Finite numbers, and such that may also be infinite. */
void rs_stream_reals(rs_stream *stream, double *values, size_t count);
void rs_stream_bounds(rs_stream *stream, double *values, size_t count);
void rs_stream_flag(rs_stream *stream, bool *value);
void rs_stream_items(rs_stream *stream, const rs_record *record, void *items, int64_t count);
/* What an item of the record takes. */
size_t rs_stored_bytes(const rs_record *record);
/* A number of items that take at least `least_bytes` each: so many that the rest of the data can hold them. */
void rs_stream_count(rs_stream *stream, int64_t *count, size_t least_bytes);
/* Count and items; an array that is read into was empty. */
void rs_stream_array(rs_stream *stream, const rs_record *record, rs_any_array *array);
/* The same for arrays of plain integers, and of doubles. */
void rs_stream_whole_any(rs_stream *stream, rs_any_array *array, size_t item_size);
void rs_stream_real_any(rs_stream *stream, rs_any_array *array, size_t item_size);
#define rs_stream_whole_array(stream, array) rs_stream_whole_any(stream, &(array)->any, sizeof *(array)->items)
#define rs_stream_real_array(stream, array) rs_stream_real_any(stream, &(array)->any, sizeof *(array)->items)

/* FNV-1a, going on from `hash`. */
static const uint64_t RS_HASH_BEGIN = 14695981039346656037ULL;
uint64_t rs_hash_bytes(uint64_t hash, const void *data, size_t size);
/* Of names, kinds and sizes: what a format consists of. */
uint64_t rs_hash_record(uint64_t hash, const rs_record *record);

#endif
