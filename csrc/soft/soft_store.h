/* Objects made of particles in stored snapshots. */
#ifndef RS_SOFT_SOFT_STORE_H
#define RS_SOFT_SOFT_STORE_H

#include "../base/stream.h"
#include "soft.h"

/* After a failure of reading it is NULL. */
void rs_soft_stream(rs_stream *stream, rs_soft **soft);
uint64_t rs_soft_format(uint64_t hash);

#endif
