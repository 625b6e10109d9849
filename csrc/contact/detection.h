/* From pairs of colliders to touching points. */
#ifndef RS_CONTACT_DETECTION_H
#define RS_CONTACT_DETECTION_H

#include "contact.h"

/* Runs the narrow phase on the ordered pairs and fills `touches`, ordered by pair. `before` holds those of the last
 * step: they lend their impulses, and pairs at rest (no active body) are taken over unchanged. */
rs_status rs_touches_find(const rs_contact_settings *settings, const rs_body *bodies, const rs_collider *colliders,
                          const rs_array *pairs, const rs_array *before, rs_array *touches);

#endif
