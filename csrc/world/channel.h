/* Channels: what of a world is laid out as a row of numbers, and how a row gets back into it. */
#ifndef RS_WORLD_CHANNEL_H
#define RS_WORLD_CHANNEL_H

#include "world.h"

typedef struct {
    rs_channel_def def;      /* its pointers lead to copies that the channel owns */
    rs_transform mount;
    int64_t width;           /* numbers of a row */
    size_t row_bytes;
    bool writable;
    char *rows;              /* what users see, a row per member */
    char *known;             /* writable: the rows as they were read; NULL otherwise */
} rs_channel;
RS_ARRAY_OF(rs_channel);

/* Checks the definition against a world and makes the channel for `count` members. */
rs_status rs_channel_make(const rs_channel_def *def, rs_world *world, int64_t count, rs_channel *out);
void rs_channel_free(rs_channel *channel);

/* World to row `member`; it becomes what is known. `ray_room` is memory for double. */
rs_status rs_channel_read(const rs_channel *channel, rs_world *world, int64_t member, RS_ARRAY(double) *ray_room);
/* After a reset of the member: as rs_channel_read(), but parameters stay, and controls are zero. */
rs_status rs_channel_reset(const rs_channel *channel, rs_world *world, int64_t member, RS_ARRAY(double) *ray_room);
/* The world was changed by others: what was carried over to it before may be lost. */
void rs_channel_forget(const rs_channel *channel, int64_t member);
/* Whether a reset of a member replaces what is in the row: then nothing of it is carried over before, and what was
 * refused is gone. */
bool rs_channel_goes_back(const rs_channel *channel, rs_world *world);
/* Whether row `member` was written since it was read. */
bool rs_channel_is_written(const rs_channel *channel, int64_t member);
/* Row `member` to world, if it differs from what is known. `link_room` is memory for rs_link_def. */
rs_status rs_channel_write(const rs_channel *channel, rs_world *world, int64_t member, RS_ARRAY(rs_link_def) *link_room);

#endif
