#include "detection.h"

#include "../collision/ccd.h"
#include "../model/articulation.h"

/* A contact takes over the impulse of the nearest one of the step before within this share of the smaller shape. */
static const double MATCH_SHARE = 0.1;
/* Points of a manifold closer than this share of its extent are one. */
static const double MERGE_SHARE = 0.05;
/* One that lies between two others, as near to the line as this share of the extent, bears nothing that they could not: so do
 * the middles of the sides of equal faces that are turned a hair against each other. */
static const double LINE_SHARE = 1e-3;
/* Manifolds of no more points are left alone. */
enum { FEW_POINTS = 4 };
/* Radius of a fast body's core, as a share of its smallest half extent: a cone is that much slimmer than its box. */
static const double CORE_SHARE = 0.5;
/* What comes closer than this many touch distances is not told from what is touched. */
static const double GRAZING = 2.5;
/* Cosine between the normals of now and of the moment of contact: 15 degrees. */
static const double SAME_SIDE = 0.96592582628906829;
/* How deep shapes are pressed into each other to see whether they lie above each other, as a share of their sizes: round
 * ones then touch nearly where they are lowest. */
static const double PRESSED_SHARE = 1e-8;
/* Cosine between a normal and the one that was asked for: 2 degrees. */
static const double SAME_DIRECTION = 0.9994;
/* Names the contact of the core among those of a pair. */
static const uint32_t CORE_FEATURE = 0xFFFFFFFFU;

static int compare_pair(int32_t a0, int32_t b0, int32_t a1, int32_t b1) {
    if (a0 != a1)
        return a0 < a1 ? -1 : 1;
    return (b0 > b1) - (b0 < b1);
}

static rs_vec3 in_world(const rs_touch *t, rs_vec3 v) {
    return rs_madd(rs_madd(rs_scale(v.x, t->t1), v.y, t->t2), v.z, t->n);
}

/* The pair's point of the step before that this one continues, of those that are free: the same feature, if it is near, else
 * the nearest, else the same feature wherever it was. Equal faces change the names of their corners by a hair's turn. */
static const rs_touch *find_former(const rs_touch *touch, const rs_touch *former, int64_t count, uint32_t claimed,
                                   double farthest) {
    const rs_touch *nearest = NULL, *same = NULL;
    double best_distance2 = farthest * farthest;
    for (int64_t k = 0; k < count; k++) {
        if (claimed & (1U << k))
            continue;
        double distance2 = rs_norm2(rs_sub(former[k].position, touch->position));
        if (former[k].feature == touch->feature) {
            same = &former[k];
            if (distance2 < farthest * farthest)
                return same;
        } else if (distance2 < best_distance2) {
            best_distance2 = distance2;
            nearest = &former[k];
        }
    }
    return nearest != NULL ? nearest : same;
}

static rs_vec3 in_frame_of(const rs_touch *touch, rs_vec3 p) {
    return rs_v3(rs_dot(p, touch->t1), rs_dot(p, touch->t2), rs_dot(p, touch->n));
}

/* A promise counts as kept when at least this share of the relief came; less than the other share of the touch distance is
 * not looked at. Trust changes by a factor, down to the least. */
static const double KEPT_SHARE = 0.5, LEAST_RELIEF = 1e-3, TRUST_FACTOR = 2.0, LEAST_TRUST = 1e-6;

/* Links whose overlap their joints cannot remove, as that of a forearm that turns about its own axis, would otherwise be
 * moved for ever. */
static double trust_after(const rs_touch *before, double gap, double touch_distance) {
    if (before->relief <= LEAST_RELIEF * touch_distance)
        return before->trust;
    bool kept = gap - before->gap >= KEPT_SHARE * before->relief;
    return rs_clamp(before->trust * (kept ? TRUST_FACTOR : 1.0 / TRUST_FACTOR), LEAST_TRUST, 1.0);
}

/* Of a point that continues none: no more than the pair has earned. */
static double least_trust(const rs_touch *former, int64_t count) {
    double trust = 1.0;
    for (int64_t k = 0; k < count; k++)
        trust = rs_min(trust, former[k].trust);
    return trust;
}

/* Impulses of points that are gone go over to the nearest ones of the pair: its load stays what it was. */
static void inherit(const rs_touch *former, int64_t former_count, uint32_t claimed, rs_touch *touches, int count) {
    for (int64_t k = 0; k < former_count && count > 0; k++) {
        if (claimed & (1U << k))
            continue;
        rs_touch *heir = &touches[0];
        for (int i = 1; i < count; i++)
            if (rs_norm2(rs_sub(touches[i].position, former[k].position)) <
                rs_norm2(rs_sub(heir->position, former[k].position)))
                heir = &touches[i];
        heir->impulse = rs_add(heir->impulse, in_frame_of(heir, in_world(&former[k], former[k].impulse)));
        heir->impulse.z = rs_max(0.0, heir->impulse.z);
    }
}

static rs_status add_manifold(const rs_pair *pair, const rs_collider *colliders, const rs_manifold *manifold,
                              const rs_touch *former, int64_t former_count, RS_ARRAY(rs_touch) *touches) {
    uint32_t claimed = 0; /* each former point lends its impulse once */
    double farthest = MATCH_SHARE * rs_min(colliders[pair->a].size, colliders[pair->b].size);
    for (int k = 0; k < manifold->count; k++) {
        const rs_manifold_point *point = &manifold->points[k];
        rs_touch *touch = rs_array_push(touches);
        if (touch == NULL)
            return RS_OUT_OF_MEMORY;
        touch->collider_a = pair->a;
        touch->collider_b = pair->b;
        touch->body_a = colliders[pair->a].body;
        touch->body_b = colliders[pair->b].body;
        touch->island = RS_NONE;
        touch->feature = point->feature;
        touch->position = point->position;
        touch->n = point->normal;
        rs_tangents(touch->n, &touch->t1, &touch->t2);
        touch->gap = point->gap;
        const rs_touch *before = find_former(touch, former, former_count, claimed, farthest);
        if (before != NULL) {
            claimed |= 1U << (before - former);
            touch->impulse = in_frame_of(touch, in_world(before, before->impulse));
            touch->impulse.z = rs_max(0.0, touch->impulse.z);
            touch->moment = in_frame_of(touch, in_world(before, before->moment));
        }
        touch->trust = before == NULL ? least_trust(former, former_count)
                                      : trust_after(before, touch->gap, rs_touch_distance(&colliders[pair->a], &colliders[pair->b]));
    }
    inherit(former, former_count, claimed, touches->items + touches->count - manifold->count, manifold->count);
    return RS_OK;
}

/* ---- points that carry the same load twice ---- */

/* Points of a pair that were there in the step before stay before others that are no deeper than this share of the touch
 * distance: what slides or rocks a little keeps its points, and with them its impulses. */
static const double STAYING = 0.1;

/* The points of a pair, and which of them were there before. */
typedef struct {
    rs_manifold *manifold;
    bool stays[RS_MAX_MANIFOLD];
    double slack; /* how much deeper others must be [m] */
} point_choice;

static point_choice choice_of(rs_manifold *m, const rs_touch *former, int64_t former_count, double touch_distance) {
    point_choice choice = {.manifold = m, .slack = STAYING * touch_distance};
    for (int i = 0; i < m->count; i++)
        for (int64_t k = 0; k < former_count; k++)
            choice.stays[i] |= former[k].feature == m->points[i].feature;
    return choice;
}

/* Whether a point lies between two others, and no deeper than they do, but for the slack. */
static bool lies_between(const rs_manifold_point *p, const rs_manifold_point *a, const rs_manifold_point *b, double limit,
                         double slack) {
    if (!(p->gap >= rs_min(a->gap, b->gap) - LINE_SHARE * limit - slack))
        return false;
    rs_vec3 way = rs_sub(b->position, a->position), from = rs_sub(p->position, a->position);
    double length2 = rs_norm2(way), along = rs_dot(way, from);
    return along > 0.0 && along < length2 && rs_norm2(rs_madd(from, -along / length2, way)) <= limit * limit;
}

static void drop_point(point_choice *choice, int i) {
    rs_manifold *m = choice->manifold;
    m->count--;
    for (int k = i; k < m->count; k++) {
        m->points[k] = m->points[k + 1];
        choice->stays[k] = choice->stays[k + 1];
    }
}

/* First new ones between those that stay, then all. */
static void drop_points_between(point_choice *choice, double limit, bool stay) {
    const rs_manifold *m = choice->manifold;
    for (int i = 0; i < m->count && m->count > FEW_POINTS;) {
        bool between = false;
        for (int a = 0; a < m->count && !between && !(stay && choice->stays[i]); a++)
            for (int b = a + 1; b < m->count && !between && !(stay && !choice->stays[a]); b++)
                between = a != i && b != i && !(stay && !choice->stays[b]) &&
                          lies_between(&m->points[i], &m->points[a], &m->points[b], limit, stay ? choice->slack : 0.0);
        if (between)
            drop_point(choice, i);
        else
            i++;
    }
}

/* Points that nearly coincide carry the same load twice: the deeper one stays. Faces turned a little against each
 * other produce them at every corner. */
static void merge_close_points(rs_manifold *m, const rs_touch *former, int64_t former_count, double touch_distance) {
    double extent2 = 0.0;
    for (int i = 1; i < m->count; i++)
        extent2 = rs_max(extent2, rs_norm2(rs_sub(m->points[i].position, m->points[0].position)));
    point_choice choice = choice_of(m, former, former_count, touch_distance);
    double line = LINE_SHARE * sqrt(extent2), limit2 = MERGE_SHARE * MERGE_SHARE * extent2;
    if (former_count > 0)
        drop_points_between(&choice, line, true);
    drop_points_between(&choice, line, false); /* first: a corner must not give way to a point beside it */
    int kept = 0;
    for (int i = 0; i < m->count; i++) {
        int twin = 0;
        while (twin < kept && rs_norm2(rs_sub(m->points[i].position, m->points[twin].position)) > limit2)
            twin++;
        double lead = (double)(choice.stays[i] - choice.stays[twin]) * choice.slack;
        if (twin < kept && !(m->points[i].gap - lead < m->points[twin].gap))
            continue;
        m->points[twin] = m->points[i];
        choice.stays[twin] = choice.stays[i];
        kept += twin == kept;
    }
    m->count = kept;
}

static const rs_manifold_point *nearest_point(const rs_manifold *manifold) {
    const rs_manifold_point *nearest = &manifold->points[0];
    for (int k = 1; k < manifold->count; k++)
        if (manifold->points[k].gap < nearest->gap)
            nearest = &manifold->points[k];
    return nearest;
}

static bool a_is_faster(const rs_collider *a, const rs_collider *b) {
    return rs_norm2(a->way.shift) >= rs_norm2(b->way.shift);
}

/* The core of a fast body, a ball inside it, must not pass the surface either: a corner that is stopped alone only turns
 * the body. `sign` is 1 when the body is side A; `surface` is the nearest point of the other one as it is now. */
static void add_core_point(const rs_collider *fast, double sign, rs_vec3 normal, rs_vec3 surface, rs_manifold *manifold) {
    rs_vec3 centre = fast->pose.pos, outward = rs_scale(sign, normal);
    if (fast->asset != 0) { /* the origin of a mesh may lie outside */
        rs_aabb box = rs_shape_aabb(&fast->shape, &fast->pose);
        centre = rs_scale(0.5, rs_add(box.min, box.max));
    }
    double radius = CORE_SHARE * fast->size;
    double height = rs_dot(outward, rs_sub(centre, surface));
    rs_manifold_add(manifold, rs_madd(centre, -radius, outward), normal, height - radius, CORE_FEATURE);
}

/* A fast body near a surface that it meets. All points count that it may reach in this step: a corner that is stopped turns the
 * body, and another corner must not pass. */
static void widen(const rs_collider *a, const rs_collider *b, const rs_collide_settings *wide, rs_manifold *manifold) {
    bool a_faster = a_is_faster(a, b);
    manifold->count = 0;
    rs_collide(&a->shape, &a->pose, &b->shape, &b->pose, wide, manifold);
    if (manifold->count == 0)
        return;
    const rs_manifold_point *nearest = nearest_point(manifold);
    double sign = a_faster ? 1.0 : -1.0;
    add_core_point(a_faster ? a : b, sign, nearest->normal,
                   rs_madd(nearest->position, -0.5 * sign * nearest->gap, nearest->normal), manifold);
}

/* Turns contacts that were found where the colliders meet, after a fraction of their ways, into contacts to come. */
static void take_back(const rs_collider *a, const rs_collider *b, double fraction, rs_manifold *manifold) {
    bool on_a = b->dynamic == a->dynamic ? a_is_faster(a, b) : a->dynamic;
    int found = manifold->count;
    if (a->swept || b->swept) {
        bool a_faster = a_is_faster(a, b);
        const rs_manifold_point *nearest = nearest_point(manifold);
        double sign = a_faster ? 1.0 : -1.0;
        rs_vec3 surface = rs_madd(nearest->position, -0.5 * sign * nearest->gap, nearest->normal);
        add_core_point(a_faster ? a : b, sign, nearest->normal,
                       rs_way_back(a_faster ? &b->way : &a->way, fraction, surface), manifold);
    }
    /* The gap is the way across it. The point is placed where it is now on the body whose turning it decides. */
    for (int k = 0; k < found; k++) {
        rs_manifold_point *point = &manifold->points[k];
        rs_vec3 at_a = rs_way_back(&a->way, fraction, point->position), at_b = rs_way_back(&b->way, fraction, point->position);
        point->gap += rs_max(0.0, rs_dot(rs_sub(at_a, at_b), point->normal));
        point->position = on_a ? at_a : at_b;
    }
}

/* Contacts of two colliders that do not touch yet but may within the step: those of the features that meet. What passes
 * by is none, however close the planes of its nearest points come. `manifold` holds what is near now. */
static void sweep_pair(const rs_collider *a, const rs_collider *b, double near, const rs_collide_settings *settings,
                       rs_manifold *manifold) {
    rs_moving_shape moving_a = {&a->shape, &a->pose, &a->way, a->swing}, moving_b = {&b->shape, &b->pose, &b->way, b->swing};
    double fraction;
    rs_manifold met;
    met.count = manifold->count;
    for (int k = 0; k < met.count; k++)
        met.points[k] = manifold->points[k];
    if (!rs_sweep(&moving_a, &moving_b, near, settings, &met, &fraction)) {
        manifold->count = 0;
        return;
    }
    /* Impulses act on the bodies where they are now: as long as the same sides face each other, so do the contacts. */
    if (manifold->count > 0 && rs_dot(nearest_point(manifold)->normal, nearest_point(&met)->normal) > SAME_SIDE) {
        if (a->swept || b->swept)
            widen(a, b, settings, manifold);
        return;
    }
    take_back(a, b, fraction, &met);
    *manifold = met;
}

/* How far a point that moves with the collider gets. */
static rs_vec3 way_of_point(const rs_collider *collider, rs_vec3 point) {
    return rs_add(collider->way.shift, rs_cross(collider->way.turn, rs_sub(point, collider->way.centre)));
}

/* A half-space is met wherever something gets: nothing passes by. */
static bool may_pass_by(const rs_collider *a, const rs_collider *b) {
    return a->shape.type != RS_SHAPE_HALF_SPACE && b->shape.type != RS_SHAPE_HALF_SPACE;
}

/* Whether the planes of the points would be passed within the step. */
static bool may_close(const rs_collider *a, const rs_collider *b, const rs_manifold *manifold) {
    for (int k = 0; k < manifold->count; k++) {
        const rs_manifold_point *point = &manifold->points[k];
        rs_vec3 way = rs_sub(way_of_point(a, point->position), way_of_point(b, point->position));
        if (-rs_dot(way, point->normal) >= point->gap - rs_touch_distance(a, b))
            return true;
    }
    return false;
}

/* Most contacts of two colliders: links of one articulated system have limits of their own. */
static int most_points(const rs_contact_settings *settings, const rs_body *bodies, const rs_collider *a,
                       const rs_collider *b) {
    int most = settings->max_contacts_per_pair;
    if (a->body != b->body)
        return most;
    const rs_articulation *own = bodies[a->body].articulation;
    int allowed = own->self_contacts[a->link * own->link_count + b->link];
    return allowed < most ? allowed : most;
}

/* Gap up to which two colliders have contacts to come. Links of one robot fly side by side: however fast they are, only
 * their relative motion counts. Others may be struck within the step, and need the distance that they cover. */
static double foresight_of_pair(const rs_collider *a, const rs_collider *b) {
    double foresight = a->foresight + b->foresight;
    if (a->body != b->body)
        return foresight;
    return rs_min(foresight, rs_norm(rs_sub(a->way.shift, b->way.shift)) + a->swing + b->swing);
}

static rs_collide_settings settings_of_pair(const rs_detection_scene *scene, const rs_collider *a, const rs_collider *b) {
    double margin = rs_touch_distance(a, b) + foresight_of_pair(a, b);
    rs_collide_settings settings = rs_collide_settings_of(scene->settings, margin);
    settings.max_points = most_points(scene->settings, scene->bodies, a, b);
    return settings;
}

/* `hint` is what is known of the pair where it is now; sweeps look at other poses and do without. */
static void collide_pair(const rs_detection_scene *scene, const rs_collider *a, const rs_collider *b, rs_pair_hint *hint,
                         const rs_touch *former, int64_t former_count, rs_manifold *manifold) {
    rs_collide_settings collide = settings_of_pair(scene, a, b), here = collide;
    manifold->count = 0;
    if (collide.max_points == 0)
        return;
    here.hint = hint;
    rs_collide(&a->shape, &a->pose, &b->shape, &b->pose, &here, manifold);
    double touch = rs_touch_distance(a, b), near = GRAZING * touch;
    bool swept = a->swept || b->swept, touching = manifold->count > 0 && nearest_point(manifold)->gap <= near;
    rs_collide_settings wide = collide;
    wide.margin = touch + a->reach + b->reach;
    if (swept)
        near = rs_max(near, scene->settings->swept_ccd_speculative_margin);
    if (touching && swept)
        widen(a, b, &wide, manifold);
    else if (!touching && (swept || (may_pass_by(a, b) && may_close(a, b, manifold))))
        sweep_pair(a, b, near, swept ? &wide : &collide, manifold);
    merge_close_points(manifold, former, former_count, touch);
}

rs_status rs_touches_find(const rs_detection_scene *scene, const RS_ARRAY(rs_pair) *pairs, rs_pair_memory *memory,
                          const RS_ARRAY(rs_touch) *before, RS_ARRAY(rs_touch) *touches, RS_ARRAY(rs_touch) *rested) {
    const rs_pair *pair = pairs->items;
    const rs_touch *old = before->items;
    const rs_collider *colliders = scene->colliders;
    rs_manifold manifold;
    int64_t i = 0, k = 0;
    touches->count = rested->count = 0;

    /* Both lists are ordered by pair: walk them together. */
    while (i < pairs->count || k < before->count) {
        int64_t group_end = k;
        while (group_end < before->count && old[group_end].collider_a == old[k].collider_a &&
               old[group_end].collider_b == old[k].collider_b)
            group_end++;
        int order = i == pairs->count     ? 1
                    : k == before->count ? -1
                                         : compare_pair(pair[i].a, pair[i].b, old[k].collider_a, old[k].collider_b);
        if (order > 0) { /* no longer a candidate: gone, unless both rest and were not looked at */
            const rs_collider *a = &colliders[old[k].collider_a], *b = &colliders[old[k].collider_b];
            bool rest = a->alive && b->alive && !a->active && !b->active && (a->dynamic || b->dynamic) &&
                        rs_filters_agree(a, b);
            for (; k < group_end; k++) {
                rs_touch *kept = rest ? rs_array_push(rested) : NULL;
                if (rest && kept == NULL)
                    return RS_OUT_OF_MEMORY;
                if (kept == NULL)
                    continue;
                *kept = old[k];
                kept->island = RS_NONE;
            }
            continue;
        }
        int64_t former_count = order == 0 ? group_end - k : 0;
        rs_pair_hint hint = rs_pair_memory_take(memory, &pair[i]);
        collide_pair(scene, &colliders[pair[i].a], &colliders[pair[i].b], &hint, &old[k], former_count,
                     &manifold);
        if (rs_pair_memory_keep(memory, &hint) != RS_OK ||
            add_manifold(&pair[i], colliders, &manifold, &old[k], former_count, touches) != RS_OK)
            return RS_OUT_OF_MEMORY;
        i++;
        if (order == 0)
            k = group_end;
    }
    return RS_OK;
}

static bool is_disturbed(const rs_body *body, const rs_collider *by, const rs_body *by_body) {
    bool dynamic = by_body->type == RS_BODY_DYNAMIC;
    return body->type == RS_BODY_DYNAMIC && body->asleep && ((dynamic && !by_body->asleep) || (by->active && !by->dynamic));
}

bool rs_touches_disturb(const rs_detection_scene *scene, const RS_ARRAY(rs_touch) *touches) {
    const rs_touch *touch = touches->items;
    for (int64_t k = 0; k < touches->count; k++) {
        const rs_body *a = &scene->bodies[touch[k].body_a], *b = &scene->bodies[touch[k].body_b];
        if (is_disturbed(a, &scene->colliders[touch[k].collider_b], b) ||
            is_disturbed(b, &scene->colliders[touch[k].collider_a], a))
            return true;
    }
    return false;
}

rs_status rs_touches_merge(const RS_ARRAY(rs_touch) *a, const RS_ARRAY(rs_touch) *b, RS_ARRAY(rs_touch) *out) {
    if (rs_array_resize(out, a->count + b->count) != RS_OK)
        return RS_OUT_OF_MEMORY;
    const rs_touch *x = a->items, *x_end = x + a->count, *y = b->items, *y_end = y + b->count;
    for (rs_touch *to = out->items; x < x_end || y < y_end; to++) {
        bool take_x = y == y_end ||
                      (x < x_end && compare_pair(x->collider_a, x->collider_b, y->collider_a, y->collider_b) <= 0);
        *to = take_x ? *x++ : *y++;
    }
    return RS_OK;
}

/* ---- contacts with hidden edges ---- */

/* Contacts of two convex colliders along a given normal: pushed into each other along it, they touch only where they
 * lie above each other. */
static void collide_along(const rs_detection_scene *scene, const rs_collider *a, const rs_collider *b, rs_vec3 normal,
                          rs_manifold *manifold) {
    rs_collide_settings settings = settings_of_pair(scene, a, b);
    double margin = settings.margin, shift = rs_colliders_separation(a, b, normal) + PRESSED_SHARE * (a->size + b->size);
    rs_transform moved = {a->pose.rot, rs_madd(a->pose.pos, -shift, normal)};
    manifold->count = 0;
    settings.margin = margin - shift;
    if (settings.margin <= 0.0)
        return;
    rs_collide(&a->shape, &moved, &b->shape, &b->pose, &settings, manifold);
    if (manifold->count == 0 || nearest_point(manifold)->gap > 0.0)
        manifold->count = 0;
    int kept = 0;
    for (int k = 0; k < manifold->count; k++) {
        rs_manifold_point *point = &manifold->points[k];
        if (rs_dot(point->normal, normal) < SAME_DIRECTION)
            continue;
        point->gap += shift;
        point->position = rs_madd(point->position, 0.5 * shift, normal);
        manifold->points[kept++] = *point;
    }
    manifold->count = kept;
    merge_close_points(manifold, NULL, 0, 0.0);
}

static rs_status copy_touches(const rs_touch *from, int64_t count, RS_ARRAY(rs_touch) *to) {
    for (int64_t k = 0; k < count; k++) {
        rs_touch *copy = rs_array_push(to);
        if (copy == NULL)
            return RS_OUT_OF_MEMORY;
        *copy = from[k];
    }
    return RS_OK;
}

rs_status rs_touches_settle_hidden(const rs_detection_scene *scene, rs_hidden_search *search, RS_ARRAY(rs_touch) *touches,
                                   RS_ARRAY(rs_touch) *spare) {
    if (rs_hidden_search_run(search, scene->colliders, scene->collider_count, touches) != RS_OK)
        return RS_OUT_OF_MEMORY;
    if (search->found.count == 0)
        return RS_OK;
    const rs_touch *old = touches->items;
    int64_t done = 0;
    spare->count = 0;
    for (int64_t i = 0; i < search->found.count; i++) {
        const rs_hidden_contacts *hidden = RS_ITEM(search->found, i);
        const rs_touch *first = &old[hidden->first];
        rs_pair pair = {first->collider_a, first->collider_b};
        rs_manifold manifold;
        collide_along(scene, &scene->colliders[pair.a], &scene->colliders[pair.b], hidden->normal, &manifold);
        if (copy_touches(&old[done], hidden->first - done, spare) != RS_OK ||
            add_manifold(&pair, scene->colliders, &manifold, first, hidden->count, spare) != RS_OK)
            return RS_OUT_OF_MEMORY;
        done = hidden->first + hidden->count;
    }
    if (copy_touches(&old[done], touches->count - done, spare) != RS_OK)
        return RS_OUT_OF_MEMORY;
    rs_array_swap(touches, spare);
    return RS_OK;
}
