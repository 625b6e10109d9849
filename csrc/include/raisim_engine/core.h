/* Status codes, errors, memory; what names a world and its objects. See raisim_engine.h. */
#ifndef RAISIM_ENGINE_CORE_H
#define RAISIM_ENGINE_CORE_H

#include <stddef.h>
#include <stdint.h>

/* cdef begin */

typedef enum {
    RS_OK = 0,
    RS_INVALID_VALUE,  /* an argument is out of range, not finite or inconsistent */
    RS_UNKNOWN_OBJECT, /* the object was removed, or never existed */
    RS_WRONG_TYPE,     /* the object cannot do this */
    RS_WRONG_STATE,    /* not now: for example integrate2 without integrate1 */
    RS_OUT_OF_MEMORY,
    RS_DIVERGED        /* an object's state is no longer finite; it was stopped */
} rs_status;

/* Text of the last failure on the calling thread. */
const char *rs_error_text(void);

/* Bytes the engine holds at this moment, over all worlds. */
size_t rs_memory_bytes(void);

/* 1 when this processor and its system run code built for x86-64-v3 (AVX2), else 0. */
int rs_processor_has_v3(void);

typedef struct rs_world rs_world;

/* High 32 bits: serial number, unique in the world's life; low 32 bits: slot. 0 names nothing. */
typedef uint64_t rs_object_id;

/* cdef end */

#endif
