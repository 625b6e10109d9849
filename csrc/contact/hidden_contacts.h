/* Contacts with edges that no body can reach: of tiles, planks, bricks or children of a compound that lie flush. */
#ifndef RS_CONTACT_HIDDEN_CONTACTS_H
#define RS_CONTACT_HIDDEN_CONTACTS_H

#include "contact.h"

/* The contacts of one pair point the wrong way: a plane on which another contact acts keeps the two apart. */
typedef struct {
    int64_t first, count; /* touching points of the pair */
    rs_vec3 normal;       /* of that plane, towards A */
    int64_t by;           /* first touching point of the pair whose plane it is */
} rs_hidden_contacts;

typedef struct {
    rs_array touched; /* a bit per collider: it has a list */
    rs_array first;  /* int32_t per touched collider: its list of planes in which points touch, 2 * point + side */
    rs_array next;   /* int32_t, two per touching point: the lists go on */
    rs_array hidden; /* bool per touching point */
    rs_array found;  /* rs_hidden_contacts, in the order of the points */
} rs_hidden_search;

rs_hidden_search rs_hidden_search_make(void);
void rs_hidden_search_free(rs_hidden_search *search);

/* Fills `found` from the touching points, which are ordered by pair. */
rs_status rs_hidden_search_run(rs_hidden_search *search, const rs_collider *colliders, int64_t collider_count,
                               const rs_array *touches);

/* How far two shapes may overlap along a unit direction, from B to A: negative when they do [m]. Both bounded, convex. */
double rs_colliders_separation(const rs_collider *a, const rs_collider *b, rs_vec3 normal);

#endif
