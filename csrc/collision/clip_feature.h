/* Contact points of two convex cores along a common normal: the faces, edges or corners that look at each other are
 * laid over each other, and the corners of what they share become the contact points. */
#ifndef RS_COLLISION_CLIP_FEATURE_H
#define RS_COLLISION_CLIP_FEATURE_H

#include "gjk_core.h"
#include "manifold.h"

/* The answer of a query: where and how far apart, in the frame of A. */
typedef struct {
    rs_vec3 normal;     /* unit, from B to A */
    double gap;         /* of the surfaces, rounding included; negative when they overlap [m] */
    rs_vec3 on_a, on_b; /* closest or deepest points of the surfaces */
} rs_convex_contact;

/* The normal of the flat or straight part of the core's surface that looks most along the unit direction (core
 * frame); false where the core is a point. */
bool rs_core_facing_normal(const rs_core *core, rs_vec3 direction, rs_vec3 *normal);

/* The normal of the side of a cylinder or cone at the azimuth of the direction (core frame); false for other cores. */
bool rs_core_side_normal(const rs_core *core, rs_vec3 direction, rs_vec3 *normal);

/* Adds the contact points closer than the margin, in the world frame (`ta`: pose of A); the closest one is always
 * among them. */
void rs_add_feature_contacts(const rs_core_pair *pair, const rs_convex_contact *contact, const rs_transform *ta,
                             const rs_collide_settings *settings, rs_manifold *out);

#endif
