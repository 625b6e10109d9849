/* A bounded convex shape held against the triangles of a surface, one at a time. */
#ifndef RS_COLLISION_SURFACE_PROBE_H
#define RS_COLLISION_SURFACE_PROBE_H

#include "clip.h"
#include "gjk_core.h"
#include "surface_contacts.h"

/* Coordinates over a contact plane: origin, two tangents, and the direction from the surface to the shape. */
typedef struct {
    rs_vec3 origin, x, y, normal;
} rs_patch_frame;

rs_patch_frame rs_patch_frame_make(rs_vec3 origin, rs_vec3 normal);
static inline rs_vec3 rs_patch_point(const rs_patch_frame *f, double x, double y, double z) {
    return rs_madd(rs_madd(rs_madd(f->origin, x, f->x), y, f->y), z, f->normal);
}

enum { RS_PATCH_CORNERS = 8 };

/* Outline of the side of a shape that faces a plane: a polygon, a segment or a point; z is the height over the plane of
 * the frame, rounding included. */
typedef struct {
    rs_patch_frame frame;
    int count;
    rs_clip_vertex corners[RS_PATCH_CORNERS];
} rs_shape_patch;

/* Sides that are tilted less than about a degree against the plane count as facing it (shape_patch.c). */
void rs_shape_patch_find(const rs_core *core, const rs_transform *pose, rs_patch_frame frame, rs_shape_patch *out);

typedef struct {
    const rs_surface *surface;
    const rs_shape *shape;
    const rs_collide_settings *settings;
    rs_core core;
    rs_transform pose;   /* of the shape in the surface frame */
    rs_vec3 center;      /* a point deep inside the shape, surface frame */
    bool met_from_behind;  /* a triangle cuts the shape, but its centre is on the inner side */
    rs_shape_patch last_patch; /* most neighbours look the same way: found once, used for all; count 0 at first */
    rs_surface_contacts contacts;
    bool has_spare;      /* a contact of last resort, for when no triangle gave a proper one */
    rs_surface_contact spare;
} rs_surface_probe;

void rs_surface_probe_make(rs_surface_probe *probe, const rs_surface *surface, const rs_shape *shape,
                           const rs_transform *pose, const rs_collide_settings *settings);

/* Name of the contact with the face of a triangle. */
uint32_t rs_face_feature(uint32_t triangle);
/* Adds the contacts of one triangle. */
void rs_probe_sphere_triangle(rs_surface_probe *probe, uint32_t id);
void rs_probe_convex_triangle(rs_surface_probe *probe, uint32_t id);

#endif
