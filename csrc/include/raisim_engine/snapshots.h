/* Snapshots. See raisim_engine.h. */
#ifndef RAISIM_ENGINE_SNAPSHOTS_H
#define RAISIM_ENGINE_SNAPSHOTS_H

#include "core.h"

/* cdef begin */

typedef struct rs_snapshot rs_snapshot;
/* A deep copy of everything that decides the future. */
rs_status rs_snapshot_save(rs_world *world, rs_snapshot **out);
/* Objects removed since come back under their old ids, objects added since are gone; their ids are not reused. */
rs_status rs_snapshot_restore(rs_world *world, const rs_snapshot *snapshot);
void rs_snapshot_destroy(rs_snapshot *snapshot);
/* A snapshot as bytes for files and other processes: without pointers, with checksum, the same for the same world. `out` NULL
 * only tells the size. Without geometry, meshes, hulls and heightmaps are named by their content. */
rs_status rs_snapshot_store(const rs_snapshot *snapshot, int32_t with_geometry, uint8_t *out, size_t capacity, size_t *size);
/* The snapshot again. Bytes that are damaged, of another version or contradict themselves are refused. Geometry that `world`
 * (may be NULL) has already is shared with it, and found there when the bytes only name it. */
rs_status rs_snapshot_load(const uint8_t *bytes, size_t size, rs_world *world, rs_snapshot **out);
/* RS_OK when the world is of the snapshot's make: objects, links, shapes and wires are the same under the same ids. Heights of
 * heightmaps, numbers of particles, parameters and states may differ. */
rs_status rs_snapshot_fits(rs_world *world, const rs_snapshot *snapshot);

/* cdef end */

#endif
