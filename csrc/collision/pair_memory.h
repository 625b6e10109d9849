/* What the last detection learnt about pairs of shapes. It is where the next one starts, never its answer: shapes may
 * have moved or changed in between. Part of the world's state, since the bits of a result depend on where it started. */
#ifndef RS_COLLISION_PAIR_MEMORY_H
#define RS_COLLISION_PAIR_MEMORY_H

#include "broad_phase.h"

/* `first` and `second`: the shapes in the order in which they are tested (see rs_collide). */
typedef struct rs_pair_hint {
    int32_t collider_a, collider_b;
    bool known;           /* the normal means something */
    bool used;            /* by the detection at hand: worth keeping */
    rs_vec3 normal;       /* unit, from second to first, frame of the first: separates them or nearly so */
    int32_t vertex[2];    /* hulls: vertices of first and second near the other one */
    /* a hull on a half-space: the vertices that were its contacts, while it has hardly turned since; `normal` is then that
     * of the half-space */
    int32_t kept_count, kept[8];
    double level;         /* how far below the margin the middle of the hull was [m] */
} rs_pair_hint;
RS_ARRAY_OF(rs_pair_hint);

typedef struct {
    const RS_ARRAY(rs_pair_hint) *before; /* rs_pair_hint, ordered by pair */
    RS_ARRAY(rs_pair_hint) *now;          /* likewise, of the detection at hand */
    int64_t at;                           /* place in `before` */
} rs_pair_memory;

rs_pair_memory rs_pair_memory_begin(const RS_ARRAY(rs_pair_hint) *before, RS_ARRAY(rs_pair_hint) *now);
/* What comes before the pair is not asked for. */
void rs_pair_memory_skip(rs_pair_memory *memory, const rs_pair *pair);
/* The hint of a pair, blank if there is none. Pairs are asked for in their order. */
rs_pair_hint rs_pair_memory_take(rs_pair_memory *memory, const rs_pair *pair);
/* Keeps the hint for the next detection, if it was used. */
rs_status rs_pair_memory_keep(rs_pair_memory *memory, const rs_pair_hint *hint);
/* Drops the hints of all pairs with a collider of the body. */
void rs_pair_memory_forget(RS_ARRAY(rs_pair_hint) *hints, const rs_collider *colliders, int32_t body);

#endif
