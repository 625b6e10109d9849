/* Contacts with edges that no body can reach: of tiles, planks, bricks, terrain or children of a compound that lie flush. */
#ifndef RS_CONTACT_HIDDEN_CONTACTS_H
#define RS_CONTACT_HIDDEN_CONTACTS_H

#include "contact.h"

/* The contacts of one pair point the wrong way: a plane on which another contact acts keeps the two apart. */
typedef struct {
    int64_t first, count; /* touching points of the pair */
    rs_vec3 normal;       /* of that plane, towards A */
    int64_t by;           /* first touching point of the pair whose plane it is */
} rs_hidden_contacts;
RS_ARRAY_OF(rs_hidden_contacts);

typedef struct {
    RS_ARRAY(uint64_t) touched; /* a bit per collider: it has a list */
    RS_ARRAY(int32_t) first; /* per touched collider: its list of planes in which points touch, 2 * point + side */
    RS_ARRAY(int32_t) next; /* two per touching point: the lists go on */
    RS_ARRAY(bool) hidden; /* per touching point */
    RS_ARRAY(rs_hidden_contacts) found; /* in the order of the points */
} rs_hidden_search;

void rs_hidden_search_free(rs_hidden_search *search);

/* Fills `found` from the touching points, which are ordered by pair. */
rs_status rs_hidden_search_run(rs_hidden_search *search, const rs_collider *colliders, int64_t collider_count,
                               const RS_ARRAY(rs_touch) *touches);

/* How far two shapes may overlap along a unit direction, from B to A: negative when they do [m]. At least one is bounded and
 * convex; of a surface what is near it counts. */
double rs_colliders_separation(const rs_collider *a, const rs_collider *b, rs_vec3 normal);

#endif
