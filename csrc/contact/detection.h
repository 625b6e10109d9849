/* From pairs of colliders to touching points. */
#ifndef RS_CONTACT_DETECTION_H
#define RS_CONTACT_DETECTION_H

#include "../collision/pair_memory.h"
#include "hidden_contacts.h"

/* What detection looks at. */
typedef struct {
    const rs_contact_settings *settings;
    const rs_body *bodies;
    const rs_collider *colliders;
    int64_t collider_count;
} rs_detection_scene;

/* Runs the narrow phase on the ordered pairs and fills `touches`, ordered by pair. `before` holds those of the last
 * step: they lend their impulses, and those of pairs at rest (no active body) go unchanged to `rested`. `memory` likewise
 * lends what it knows of the pairs. */
rs_status rs_touches_find(const rs_detection_scene *scene, const RS_ARRAY(rs_pair) *pairs, rs_pair_memory *memory,
                          const RS_ARRAY(rs_touch) *before, RS_ARRAY(rs_touch) *touches, RS_ARRAY(rs_touch) *rested);

/* Whether something that moves touches a sleeping body. */
bool rs_touches_disturb(const rs_detection_scene *scene, const RS_ARRAY(rs_touch) *touches);

/* The touching points of two lists, both ordered by pair and with no pair in common. */
rs_status rs_touches_merge(const RS_ARRAY(rs_touch) *a, const RS_ARRAY(rs_touch) *b, RS_ARRAY(rs_touch) *out);

/* Turns contacts with edges that lie flush with a neighbour's surface: they act across that surface or not at all.
 * `spare` is room for the result, exchanged with `touches`. */
rs_status rs_touches_settle_hidden(const rs_detection_scene *scene, rs_hidden_search *search, RS_ARRAY(rs_touch) *touches,
                                   RS_ARRAY(rs_touch) *spare);

#endif
