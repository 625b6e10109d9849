#include "stream.h"

#include <float.h>
#include <math.h>
#include <string.h>

void rs_stream_refuse(rs_stream *stream, const char *what) {
    if (stream->status != RS_OK)
        return;
    stream->status = stream->record != NULL ? rs_fail(RS_INVALID_VALUE, "%s (%s.%s)", what, stream->record->name, stream->field->name)
                                            : rs_fail(RS_INVALID_VALUE, "%s", what);
}

void rs_stream_bytes(rs_stream *stream, void *data, size_t size) {
    if (stream->status != RS_OK || size == 0)
        return;
    if (rs_stream_reads(stream)) {
        if (stream->size - stream->at < size) {
            rs_stream_refuse(stream, "the data end too early");
            return;
        }
        memcpy(data, stream->in + stream->at, size);
    } else if (stream->out != NULL) {
        memcpy(stream->out + stream->at, data, size);
    }
    stream->at += size;
}

static void stream_numbers(rs_stream *stream, double *values, size_t count, double most) {
    rs_stream_bytes(stream, values, count * sizeof *values);
    if (!rs_stream_reads(stream) || stream->status != RS_OK)
        return;
    for (size_t k = 0; k < count; k++)
        if (!(fabs(values[k]) <= most)) /* or NaN */
            rs_stream_refuse(stream, "a number is not finite");
}

void rs_stream_reals(rs_stream *stream, double *values, size_t count) { stream_numbers(stream, values, count, DBL_MAX); }

void rs_stream_bounds(rs_stream *stream, double *values, size_t count) { stream_numbers(stream, values, count, INFINITY); }

/* Reading: a byte that is neither 0 nor 1 must never be looked at as a bool. */
static void stream_flags(rs_stream *stream, void *flags, size_t count) {
    unsigned char *bytes = flags;
    rs_stream_bytes(stream, bytes, count);
    if (rs_stream_reads(stream))
        for (size_t k = 0; k < count; k++)
            if (bytes[k] > 1) {
                bytes[k] = 0;
                rs_stream_refuse(stream, "a flag is neither 0 nor 1");
            }
}

void rs_stream_flag(rs_stream *stream, bool *value) { stream_flags(stream, value, sizeof *value); }

void rs_stream_items(rs_stream *stream, const rs_record *record, void *items, int64_t count) {
    char *item = items;
    stream->record = record;
    for (int64_t k = 0; k < count && stream->status == RS_OK; k++, item += record->size)
        for (size_t f = 0; f < record->count; f++) {
            const rs_field *field = stream->field = &record->fields[f];
            void *at = item + field->offset;
            if (field->kind == RS_KIND_FLAG)
                stream_flags(stream, at, field->size);
            else if (field->kind == RS_KIND_REAL)
                rs_stream_reals(stream, at, field->size / sizeof(double));
            else if (field->kind == RS_KIND_BOUND)
                rs_stream_bounds(stream, at, field->size / sizeof(double));
            else if (field->kind == RS_KIND_WHOLE)
                rs_stream_bytes(stream, at, field->size);
        }
    stream->record = NULL;
}

void rs_stream_count(rs_stream *stream, int64_t *count, size_t least_bytes) {
    rs_stream_bytes(stream, count, sizeof *count);
    if (!rs_stream_reads(stream))
        return;
    size_t rest = stream->size - stream->at;
    if (stream->status != RS_OK || *count < 0 || *count > INT32_MAX || (size_t)*count > rest / (least_bytes > 0 ? least_bytes : 1)) {
        *count = 0;
        rs_stream_refuse(stream, "the data end too early for what they say to hold");
    }
}

/* Count of the items, and when reading room for them. */
static void stream_size(rs_stream *stream, rs_any_array *array, size_t least_bytes, size_t item_size) {
    int64_t count = array->count;
    rs_stream_count(stream, &count, least_bytes);
    if (!rs_stream_reads(stream))
        return;
    *array = (rs_any_array){0};
    if (rs_any_resize(array, count, item_size) != RS_OK && stream->status == RS_OK)
        stream->status = RS_OUT_OF_MEMORY;
}

size_t rs_stored_bytes(const rs_record *record) {
    size_t bytes = 0;
    for (size_t f = 0; f < record->count; f++)
        bytes += record->fields[f].kind == RS_KIND_LEFT_OUT ? 0 : record->fields[f].size;
    return bytes;
}

void rs_stream_array(rs_stream *stream, const rs_record *record, rs_any_array *array) {
    stream_size(stream, array, rs_stored_bytes(record), record->size);
    rs_stream_items(stream, record, array->data, array->count);
}

void rs_stream_whole_any(rs_stream *stream, rs_any_array *array, size_t item_size) {
    stream_size(stream, array, item_size, item_size);
    rs_stream_bytes(stream, array->data, (size_t)array->count * item_size);
}

void rs_stream_real_any(rs_stream *stream, rs_any_array *array, size_t item_size) {
    stream_size(stream, array, item_size, item_size);
    rs_stream_reals(stream, array->data, (size_t)array->count * item_size / sizeof(double));
}

uint64_t rs_hash_bytes(uint64_t hash, const void *data, size_t size) {
    const unsigned char *bytes = data;
    for (size_t k = 0; k < size; k++)
        hash = (hash ^ bytes[k]) * 1099511628211ULL;
    return hash;
}

uint64_t rs_hash_record(uint64_t hash, const rs_record *record) {
    hash = rs_hash_bytes(hash, record->name, strlen(record->name));
    for (size_t f = 0; f < record->count; f++) {
        const rs_field *field = &record->fields[f];
        const uint64_t plain[2] = {field->kind, field->kind == RS_KIND_LEFT_OUT ? 0 : field->size};
        hash = rs_hash_bytes(rs_hash_bytes(hash, field->name, strlen(field->name)), plain, sizeof plain);
    }
    return hash;
}
