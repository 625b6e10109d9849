#include "hidden_contacts.h"

#include "../collision/gjk_core.h"
#include "../collision/surface.h"

#include <stdlib.h>
#include <string.h>

/* Steps lower than this share of the smaller shape are none. */
static const double FLUSH_SHARE = 2e-4;
/* The contact itself lies nearer to the plane than this share: points are not as exact as shapes. */
static const double NEAR_SHARE = 0.1;
/* What is deeper behind the plane is crushed, not carried by it. */
static const double DEEPEST_SHARE = 0.01;
/* Normals closer than this (one minus the cosine: 0.3 mrad) are one. */
static const double SAME_NORMAL = 5e-8;
/* Planes that are looked at for one shape. */
enum { MAX_PLANES = 16 };

/* A contact of shape S with another one: S is before it, and the contact sees to it that S stays there. */
typedef struct {
    rs_vec3 normal; /* towards S */
    double offset;  /* of the other shape's surface along the normal [m] */
    double depth;   /* of S behind it [m] */
    int64_t touch;
} contact_plane;

void rs_hidden_search_free(rs_hidden_search *search) {
    rs_array_free(&search->touched);
    rs_array_free(&search->first);
    rs_array_free(&search->next);
    rs_array_free(&search->hidden);
    rs_array_free(&search->found);
}

static bool has_surface(const rs_collider *collider) {
    return collider->shape.type == RS_SHAPE_MESH || collider->shape.type == RS_SHAPE_HEIGHTMAP;
}

/* Farthest extent of the triangles of a surface in a box along a unit direction, frame of the surface [m]; infinite
 * when beyond `limit`. */
static double surface_extent(const rs_surface *surface, rs_vec3 direction, const rs_aabb *box, double limit) {
    rs_surface_query query;
    rs_surface_query_begin(&query, surface, *box);
    double most = -INFINITY;
    for (uint32_t id; rs_surface_query_next(&query, &id);) {
        rs_surface_triangle t;
        rs_surface_get(surface, id, rs_v3_zero(), &t);
        for (int k = 0; k < 3; k++) most = rs_max(most, rs_dot(direction, t.v[k]));
        if (most > limit) return INFINITY;
    }
    return most;
}

/* Farthest extent of a collider along a unit direction, world frame [m]; of a surface only near another collider. */
static double extent(const rs_collider *collider, rs_vec3 direction, const rs_collider *near, double limit) {
    rs_vec3 local = rs_m3_tmulv(&collider->pose.rot, direction);
    double origin = rs_dot(direction, collider->pose.pos);
    if (rs_shape_is_convex(collider->shape.type)) {
        rs_core core = rs_core_of_shape(&collider->shape);
        return rs_dot(local, rs_core_support(&core, local)) + core.rounding + origin;
    }
    if (!has_surface(collider)) return INFINITY;
    rs_surface surface = rs_surface_of(&collider->shape);
    rs_transform pose = rs_transform_relative(&collider->pose, &near->pose);
    rs_aabb box = rs_shape_aabb(&near->shape, &pose);
    box = rs_aabb_grown(&box, near->reach);
    return surface_extent(&surface, local, &box, limit - origin) + origin;
}

double rs_colliders_separation(const rs_collider *a, const rs_collider *b, rs_vec3 normal) {
    return -extent(a, rs_neg(normal), b, INFINITY) - extent(b, normal, a, INFINITY);
}

/* ---- lists of the planes of each collider, by their first points ---- */

static bool begins_pair(const rs_touch *touch, int64_t k) {
    return k == 0 || touch[k].collider_a != touch[k - 1].collider_a || touch[k].collider_b != touch[k - 1].collider_b;
}

static void add_to_list(rs_hidden_search *search, int32_t collider, int32_t entry) {
    uint64_t *word = &search->touched.items[collider / 64], bit = UINT64_C(1) << (collider % 64);
    int32_t *first = &search->first.items[collider];
    search->next.items[entry] = *word & bit ? *first : RS_NONE;
    *word |= bit;
    *first = entry;
}

static rs_status list_planes(rs_hidden_search *search, int64_t collider_count, const RS_ARRAY(rs_touch) *touches) {
    if (rs_array_resize(&search->touched, collider_count / 64 + 1) != RS_OK ||
        rs_array_resize(&search->first, collider_count) != RS_OK ||
        rs_array_resize(&search->next, 2 * touches->count) != RS_OK ||
        rs_array_resize(&search->hidden, touches->count) != RS_OK)
        return RS_OUT_OF_MEMORY;
    const rs_touch *touch = touches->items;
    memset(search->touched.items, 0, (size_t)search->touched.count * sizeof(uint64_t));
    for (int32_t k = (int32_t)touches->count - 1; k >= 0; k--) { /* lists begin with the first point */
        search->hidden.items[k] = false;
        if (!begins_pair(touch, k) && rs_dot(touch[k].n, touch[k - 1].n) >= 1.0 - SAME_NORMAL)
            continue; /* points of two convex shapes lie in one plane */
        add_to_list(search, touch[k].collider_a, 2 * k);
        add_to_list(search, touch[k].collider_b, 2 * k + 1);
    }
    return RS_OK;
}

/* Number of the pair's first point. */
static int64_t pair_of(const rs_touch *touch, int64_t k) {
    while (!begins_pair(touch, k))
        k--;
    return k;
}

/* ---- planes ---- */

static rs_vec3 normal_towards(const rs_touch *touch, int side) { return side == 0 ? touch->n : rs_neg(touch->n); }

/* Different planes of the contacts of a shape, given by its list. */
static int collect_planes(const rs_touch *touch, const int32_t *next, int32_t begin, double same, contact_plane *planes) {
    int count = 0;
    for (int32_t i = begin; i != RS_NONE && count < MAX_PLANES; i = next[i]) {
        const rs_touch *t = &touch[i / 2];
        rs_vec3 n = normal_towards(t, i % 2);
        contact_plane plane = {n, rs_dot(n, t->position) - 0.5 * t->gap, rs_max(0.0, -t->gap), i / 2};
        int k = 0;
        while (k < count && (rs_dot(planes[k].normal, n) < 1.0 - SAME_NORMAL ||
                             fabs(planes[k].offset - plane.offset) > same))
            k++;
        if (k == count)
            planes[count++] = plane;
    }
    return count;
}

/* Whether the plane keeps `shape` and what it touches at `t` apart. */
static bool hides(const contact_plane *plane, const rs_collider *shape, const rs_collider *other, const rs_touch *t,
                  int side) {
    rs_vec3 n = normal_towards(t, side);
    if (rs_dot(n, plane->normal) >= 1.0 - SAME_NORMAL)
        return false;
    double size = rs_min(shape->size, other->size), tolerance = FLUSH_SHARE * size;
    rs_vec3 surface = rs_madd(t->position, -0.5 * t->gap, n);
    bool near = rs_dot(plane->normal, surface) <= plane->offset + NEAR_SHARE * size; /* rarely so: looked at first */
    return near && plane->depth <= DEEPEST_SHARE * size &&
           -extent(shape, rs_neg(plane->normal), other, INFINITY) >= plane->offset - plane->depth - tolerance &&
           extent(other, plane->normal, shape, plane->offset + tolerance) <= plane->offset + tolerance;
}

/* ---- search ---- */

/* Contacts of one shape that planes of its other contacts hide. */
static rs_status search_shape(rs_hidden_search *search, const rs_collider *colliders, int32_t shape, const rs_touch *touch,
                              int64_t touch_count) {
    const int32_t *next = search->next.items;
    int32_t begin = search->first.items[shape];
    contact_plane planes[MAX_PLANES];
    int count = collect_planes(touch, next, begin, 0.5 * FLUSH_SHARE * colliders[shape].size, planes);
    for (int32_t i = begin; i != RS_NONE && count > 1; i = next[i]) {
        int64_t k = i / 2, begin_of_pair = pair_of(touch, k);
        const rs_collider *other = &colliders[i % 2 == 0 ? touch[k].collider_b : touch[k].collider_a];
        /* convex shapes touch in one plane, surfaces in many */
        bool looked_at = has_surface(other) || (begin_of_pair == k && rs_shape_is_convex(other->shape.type));
        if (!looked_at || !(colliders[shape].active || other->active))
            continue;
        for (int p = 0; p < count; p++) {
            if (has_surface(other) && pair_of(touch, planes[p].touch) == begin_of_pair)
                continue; /* its own contacts have been weighed against each other */
            if (!hides(&planes[p], &colliders[shape], other, &touch[k], i % 2))
                continue;
            int64_t end = k + 1;
            while (end < touch_count && !begins_pair(touch, end))
                end++;
            rs_hidden_contacts *found = rs_array_push(&search->found);
            if (found == NULL)
                return RS_OUT_OF_MEMORY;
            search->hidden.items[begin_of_pair] = true;
            rs_vec3 n = planes[p].normal;
            *found = (rs_hidden_contacts){begin_of_pair, end - begin_of_pair, i % 2 == 0 ? n : rs_neg(n),
                                          pair_of(touch, planes[p].touch)};
        }
    }
    return RS_OK;
}

static int by_point(const void *a, const void *b) {
    int64_t x = ((const rs_hidden_contacts *)a)->first, y = ((const rs_hidden_contacts *)b)->first;
    return (x > y) - (x < y);
}

/* Only contacts that are not hidden themselves hide others; one plane for each pair. */
static void keep_sound(rs_hidden_search *search) {
    rs_hidden_contacts *found = search->found.items;
    int64_t kept = 0;
    for (int64_t i = 0; i < search->found.count; i++)
        if (!search->hidden.items[found[i].by])
            found[kept++] = found[i];
    qsort(found, (size_t)kept, sizeof *found, by_point);
    search->found.count = 0;
    for (int64_t i = 0; i < kept; i++)
        if (i == 0 || found[i].first != found[search->found.count - 1].first)
            found[search->found.count++] = found[i];
}

rs_status rs_hidden_search_run(rs_hidden_search *search, const rs_collider *colliders, int64_t collider_count,
                               const RS_ARRAY(rs_touch) *touches) {
    search->found.count = 0;
    if (list_planes(search, collider_count, touches) != RS_OK)
        return RS_OUT_OF_MEMORY;
    const int32_t *first = search->first.items, *next = search->next.items;
    for (int64_t w = 0; w < search->touched.count; w++)
        for (uint64_t bits = search->touched.items[w]; bits != 0; bits &= bits - 1) {
            int32_t c = (int32_t)(64 * w) + __builtin_ctzll(bits);
            if (next[first[c]] != RS_NONE && rs_shape_is_convex(colliders[c].shape.type) &&
                search_shape(search, colliders, c, touches->items, touches->count) != RS_OK)
                return RS_OUT_OF_MEMORY;
        }
    if (search->found.count > 0)
        keep_sound(search);
    return RS_OK;
}
