#include "detection.h"

#include "../collision/ccd.h"
#include "../model/articulation.h"

/* A contact takes over the impulse of the nearest one of the step before within this distance [m]. */
static const double MATCH_DISTANCE = 0.01;
/* Points of a manifold closer than this share of its extent are one. */
static const double MERGE_SHARE = 0.05;
/* Radius of a fast body's core, as a share of its smallest half extent: a cone is that much slimmer than its box. */
static const double CORE_SHARE = 0.5;
/* Names the contact of the core among those of a pair. */
static const uint32_t CORE_FEATURE = 0xFFFFFFFFU;

static int compare_pair(int32_t a0, int32_t b0, int32_t a1, int32_t b1) {
    if (a0 != a1)
        return a0 < a1 ? -1 : 1;
    return (b0 > b1) - (b0 < b1);
}

static rs_vec3 impulse_in_world(const rs_touch *t) {
    return rs_madd(rs_madd(rs_scale(t->impulse.x, t->t1), t->impulse.y, t->t2), t->impulse.z, t->n);
}

/* The pair's point of the step before that this one continues: the same feature, else the nearest that is free. */
static const rs_touch *find_former(const rs_touch *touch, const rs_touch *former, int64_t count, uint32_t claimed) {
    const rs_touch *best = NULL;
    double best_distance2 = MATCH_DISTANCE * MATCH_DISTANCE;
    for (int64_t k = 0; k < count; k++) {
        if (claimed & (1U << k))
            continue;
        if (former[k].feature == touch->feature)
            return &former[k];
        double distance2 = rs_norm2(rs_sub(former[k].position, touch->position));
        if (distance2 < best_distance2) {
            best_distance2 = distance2;
            best = &former[k];
        }
    }
    return best;
}

static rs_vec3 in_frame_of(const rs_touch *touch, rs_vec3 p) {
    return rs_v3(rs_dot(p, touch->t1), rs_dot(p, touch->t2), rs_max(0.0, rs_dot(p, touch->n)));
}

static rs_status add_manifold(const rs_pair *pair, const rs_collider *colliders, const rs_manifold *manifold,
                              const rs_touch *former, int64_t former_count, rs_array *touches) {
    uint32_t claimed = 0; /* each former point lends its impulse once */
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
        const rs_touch *before = find_former(touch, former, former_count, claimed);
        if (before != NULL) {
            claimed |= 1U << (before - former);
            touch->impulse = in_frame_of(touch, impulse_in_world(before));
        }
    }
    return RS_OK;
}

/* Points that nearly coincide carry the same load twice: the deeper one stays. Faces turned a little against each
 * other produce them at every corner. */
static void merge_close_points(rs_manifold *m) {
    double extent2 = 0.0;
    for (int i = 1; i < m->count; i++)
        extent2 = rs_max(extent2, rs_norm2(rs_sub(m->points[i].position, m->points[0].position)));
    double limit2 = MERGE_SHARE * MERGE_SHARE * extent2;
    int kept = 0;
    for (int i = 0; i < m->count; i++) {
        int twin = 0;
        while (twin < kept && rs_norm2(rs_sub(m->points[i].position, m->points[twin].position)) > limit2)
            twin++;
        if (twin == kept)
            m->points[kept++] = m->points[i];
        else if (m->points[i].gap < m->points[twin].gap)
            m->points[twin] = m->points[i];
    }
    m->count = kept;
}

/* The core of a fast body, a ball inside it, must not pass the surface either: a corner that is stopped alone only turns
 * the body. `sign` is 1 when the body is side A, `shift` leads from the reported points to where they are now. */
static void add_core_point(const rs_collider *fast, double sign, rs_vec3 shift, rs_manifold *manifold) {
    if (manifold->count == 0 || manifold->count == RS_MAX_MANIFOLD)
        return;
    const rs_manifold_point *nearest = &manifold->points[0];
    for (int k = 1; k < manifold->count; k++)
        if (manifold->points[k].gap < nearest->gap)
            nearest = &manifold->points[k];
    rs_vec3 centre = fast->pose.pos, outward = rs_scale(sign, nearest->normal);
    if (fast->asset != 0) { /* the origin of a mesh may lie outside */
        rs_aabb box = rs_shape_aabb(&fast->shape, &fast->pose);
        centre = rs_scale(0.5, rs_add(box.min, box.max));
    }
    double radius = CORE_SHARE * fast->size;
    double height = rs_dot(outward, rs_sub(centre, rs_add(nearest->position, shift))) + 0.5 * nearest->gap;
    rs_manifold_add(manifold, rs_madd(centre, -radius, outward), nearest->normal, height - radius, CORE_FEATURE);
}

/* Contacts of a fast body with what is near or lies in its way. All points count that it may reach in this step: a
 * corner that is stopped turns the body, and another corner must not pass. */
static void sweep_pair(const rs_collider *a, const rs_collider *b, double near, const rs_collide_settings *collide,
                       rs_manifold *manifold) {
    bool a_faster = rs_norm2(a->motion) >= rs_norm2(b->motion);
    const rs_collider *fast = a_faster ? a : b;
    double sign = a_faster ? 1.0 : -1.0;
    rs_collide_settings wide = *collide;
    wide.margin = RS_TOUCH_DISTANCE + a->reach + b->reach;
    bool is_near = manifold->count > 0;
    manifold->count = 0;
    if (is_near) {
        rs_collide(&a->shape, &a->pose, &b->shape, &b->pose, &wide, manifold);
        add_core_point(fast, sign, rs_v3_zero(), manifold);
        return;
    }
    rs_vec3 motion = rs_sub(a->motion, b->motion);
    double fraction;
    if (!rs_sweep(&a->shape, &a->pose, &b->shape, &b->pose, motion, near, &wide, manifold, &fraction)) {
        manifold->count = 0;
        return;
    }
    /* The gap is the way across it. The point is placed where it is now on the faster body, whose turning it decides. */
    int found = manifold->count;
    rs_vec3 way = rs_scale(-fraction, motion);
    add_core_point(fast, sign, a_faster ? rs_v3_zero() : way, manifold);
    for (int k = 0; k < found; k++) {
        rs_manifold_point *point = &manifold->points[k];
        point->gap += rs_max(0.0, rs_dot(way, point->normal));
        if (a_faster)
            point->position = rs_add(point->position, way);
    }
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
    return rs_min(foresight, rs_norm(rs_sub(a->motion, b->motion)) + a->swing + b->swing);
}

static rs_status collide_pair(const rs_pair *pair, const rs_contact_settings *settings, const rs_body *bodies,
                              const rs_collider *colliders, const rs_touch *former, int64_t former_count, rs_array *touches) {
    const rs_collider *a = &colliders[pair->a], *b = &colliders[pair->b];
    rs_collide_settings collide = {.margin = RS_TOUCH_DISTANCE + foresight_of_pair(a, b),
                                   .max_points = most_points(settings, bodies, a, b),
                                   .gjk_max_iterations = settings->gjk_max_iterations,
                                   .gjk_tolerance = settings->gjk_tolerance,
                                   .epa_max_iterations = settings->epa_max_iterations,
                                   .epa_tolerance = settings->epa_tolerance};
    rs_manifold manifold;
    manifold.count = 0;
    if (collide.max_points == 0)
        return RS_OK;
    rs_collide(&a->shape, &a->pose, &b->shape, &b->pose, &collide, &manifold);
    if (a->swept || b->swept)
        sweep_pair(a, b, rs_max(settings->swept_ccd_speculative_margin, RS_TOUCH_DISTANCE), &collide, &manifold);
    merge_close_points(&manifold);
    return add_manifold(pair, colliders, &manifold, former, former_count, touches);
}

rs_status rs_touches_find(const rs_contact_settings *settings, const rs_body *bodies, const rs_collider *colliders,
                          const rs_array *pairs, const rs_array *before, rs_array *touches) {
    const rs_pair *pair = RS_ITEMS(rs_pair, *pairs);
    const rs_touch *old = RS_ITEMS(rs_touch, *before);
    int64_t i = 0, k = 0;
    touches->count = 0;

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
                rs_touch *kept = rest ? rs_array_push(touches) : NULL;
                if (rest && kept == NULL)
                    return RS_OUT_OF_MEMORY;
                if (kept != NULL)
                    *kept = old[k];
            }
            continue;
        }
        int64_t former_count = order == 0 ? group_end - k : 0;
        if (collide_pair(&pair[i], settings, bodies, colliders, &old[k], former_count, touches) != RS_OK)
            return RS_OUT_OF_MEMORY;
        i++;
        if (order == 0)
            k = group_end;
    }
    return RS_OK;
}
