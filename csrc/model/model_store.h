/* Robots and geometry in stored snapshots. */
#ifndef RS_MODEL_MODEL_STORE_H
#define RS_MODEL_MODEL_STORE_H

#include "../base/stream.h"
#include "articulation.h"
#include "asset.h"

/* What is left over after a failure is NULL. */
void rs_tree_model_stream(rs_stream *stream, rs_tree_model **model);
/* Its model is there already. */
void rs_articulation_stream(rs_stream *stream, rs_tree_model *model, rs_articulation **articulation);
void rs_asset_stream(rs_stream *stream, rs_asset **asset);
/* Of the content: equal for equal geometry. */
uint64_t rs_asset_hash(const rs_asset *asset);

uint64_t rs_model_format(uint64_t hash);

#endif
