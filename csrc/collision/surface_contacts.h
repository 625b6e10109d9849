/* Collects the contacts of one shape with many triangles and boils them down to a manifold. */
#ifndef RS_COLLISION_SURFACE_CONTACTS_H
#define RS_COLLISION_SURFACE_CONTACTS_H

#include "manifold.h"
#include "surface.h"

enum { RS_SURFACE_CONTACTS_MAX = 96, RS_NO_TRIANGLE = -1 };

typedef struct {
    rs_manifold_point point; /* surface frame; the normal points from the surface to the shape */
    double separation;       /* of the whole shape from the triangle, along the normal [m] */
    int64_t triangle;        /* or RS_NO_TRIANGLE */
} rs_surface_contact;

/* Contacts nearer to each other than 0.105 of the shape's size, with normals within 4 degrees, count as one. When the
 * set is full it is thinned out, so any number may be added. */
typedef struct {
    double size; /* smallest extent of the shape [m] */
    int count;
    rs_surface_contact items[RS_SURFACE_CONTACTS_MAX];
} rs_surface_contacts;

static inline void rs_surface_contacts_make(rs_surface_contacts *set, double size) {
    set->size = size;
    set->count = 0;
}

void rs_surface_contacts_add(rs_surface_contacts *set, const rs_surface_contact *contact);

/* Drops contacts that a shallower one explains: once the shape has left along that one's normal, it no longer touches
 * the surface at theirs. A convex shape is then clear of their whole triangle; where no triangle is given, only the
 * contact points are looked at. */
void rs_surface_contacts_drop_explained(rs_surface_contacts *set, const rs_surface *surface);

bool rs_surface_contacts_overlap(const rs_surface_contacts *set);

/* Writes at most `max_points` of the contacts in the world frame; `pose` is that of the surface. */
void rs_surface_contacts_finish(rs_surface_contacts *set, const rs_transform *pose, int max_points, rs_manifold *out);

#endif
