#include "contact_problem.h"

#include "../collision/ccd.h"
#include "../model/articulation.h"

/* A contact takes over the impulse of the nearest one of the step before within this distance [m]. */
static const double MATCH_DISTANCE = 0.01;
/* Points of a manifold closer than this share of its extent are one. */
static const double MERGE_SHARE = 0.05;
/* Fastest push-out [m/s]: deep overlaps, as after a careless placement, must not explode. */
static const double MAX_PUSH_OUT_SPEED = 3.0;
/* Push-out gain per unit of ERP, and its limit: the share of the overlap removed in one step. */
static const double ERP_GAIN = 0.2, MAX_ERP_SHARE = 0.3;
/* Keeps the speed at which a gap may close finite for perfectly elastic pairs. */
static const double MIN_INELASTICITY = 1e-9;
/* Diagonal added to a singular effective inverse mass, relative to its trace. */
static const double REGULARISATION = 1e-12;

/* Radius of a fast body's core, as a share of its smallest half extent: a cone is that much slimmer than its box. */
static const double CORE_SHARE = 0.5;
/* Names the contact of the core among those of a pair. */
static const uint32_t CORE_FEATURE = 0xFFFFFFFFU;

/* ---- detection ---- */

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
                              const rs_collider *colliders, rs_pair_memory *memory, const rs_touch *former,
                              int64_t former_count, rs_array *touches) {
    const rs_collider *a = &colliders[pair->a], *b = &colliders[pair->b];
    rs_pair_hint hint = rs_pair_memory_take(memory, pair);
    rs_collide_settings collide = {.margin = RS_TOUCH_DISTANCE + foresight_of_pair(a, b),
                                   .max_points = most_points(settings, bodies, a, b),
                                   .gjk_max_iterations = settings->gjk_max_iterations,
                                   .gjk_tolerance = settings->gjk_tolerance,
                                   .epa_max_iterations = settings->epa_max_iterations,
                                   .epa_tolerance = settings->epa_tolerance,
                                   .hint = &hint};
    rs_manifold manifold;
    manifold.count = 0;
    if (collide.max_points == 0)
        return RS_OK;
    rs_collide(&a->shape, &a->pose, &b->shape, &b->pose, &collide, &manifold);
    if (a->swept || b->swept)
        sweep_pair(a, b, rs_max(settings->swept_ccd_speculative_margin, RS_TOUCH_DISTANCE), &collide, &manifold);
    merge_close_points(&manifold);
    if (rs_pair_memory_keep(memory, &hint) != RS_OK)
        return RS_OUT_OF_MEMORY;
    return add_manifold(pair, colliders, &manifold, former, former_count, touches);
}

rs_status rs_touches_find(const rs_contact_settings *settings, const rs_body *bodies, const rs_collider *colliders,
                          const rs_array *pairs, rs_pair_memory *memory, const rs_array *before, rs_array *touches) {
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
        if (collide_pair(&pair[i], settings, bodies, colliders, memory, &old[k], former_count, touches) != RS_OK)
            return RS_OUT_OF_MEMORY;
        i++;
        if (order == 0)
            k = group_end;
    }
    return RS_OK;
}

/* ---- rows ---- */

/* Adds the part of one body to the effective inverse mass in the contact frame. */
static void add_inverse_mass(rs_sym3 *g, const rs_solver_body *body, rs_vec3 r, const rs_touch *touch) {
    if (body->inverse_mass == 0.0)
        return;
    rs_vec3 c1 = rs_cross(r, touch->t1), c2 = rs_cross(r, touch->t2), c3 = rs_cross(r, touch->n);
    rs_vec3 i1 = rs_columns_mul3(&body->inverse_inertia, c1), i2 = rs_columns_mul3(&body->inverse_inertia, c2),
            i3 = rs_columns_mul3(&body->inverse_inertia, c3);
    g->xx += body->inverse_mass + rs_dot(c1, i1);
    g->yy += body->inverse_mass + rs_dot(c2, i2);
    g->zz += body->inverse_mass + rs_dot(c3, i3);
    g->xy += rs_dot(c1, i2);
    g->xz += rs_dot(c1, i3);
    g->yz += rs_dot(c2, i3);
}

static rs_vec3 point_velocity(rs_vec3 v, rs_vec3 w, rs_vec3 r) { return rs_add(v, rs_cross(w, r)); }

/* Gaps and overlaps within the touch distance count as none: otherwise rounding would give the corners of a resting
 * box different targets, only three of four could hold, and the load would jump between them in every step. */
static double beyond_touch(double distance) { return distance > RS_TOUCH_DISTANCE ? distance : 0.0; }

/* Normal speed that the contact must reach. A gap may close, at a speed that brings the next midpoint, `time` from
 * here, to touch; closing it within this step would leave a speed that penetrates in the next one. The more elastic
 * the pair, the faster it may close: a body struck in this step would lose at the gap the speed with which it is to
 * bounce. */
static double target_speed(double time, const rs_material_pair *pair, double gap, double approach) {
    double bounce = pair->restitution * rs_max(0.0, approach - pair->restitution_threshold);
    double closing = beyond_touch(gap) / time;
    if (bounce > 0.0 && approach >= closing)
        return bounce;
    return -closing / rs_max(1.0 - pair->restitution, MIN_INELASTICITY);
}

/* Speed of the motion that removes overlap. It is kept apart from the velocities: pushed into them it would heat up
 * every stack that is not solved to the last digit. */
static double push_speed(const rs_problem_input *input, double gap, double approach) {
    if (gap >= 0.0)
        return -beyond_touch(gap) / input->dt;
    double share = rs_min(ERP_GAIN * input->settings->erp, MAX_ERP_SHARE);
    double push = rs_min(share * beyond_touch(-gap) / input->dt, MAX_PUSH_OUT_SPEED);
    return rs_max(0.0, push - input->settings->erp2 * rs_max(0.0, approach));
}

rs_contact_law rs_contact_law_of(const rs_problem_input *input, rs_touch *touch, rs_vec3 relative) {
    touch->velocity = rs_v3(rs_dot(relative, touch->t1), rs_dot(relative, touch->t2), rs_dot(relative, touch->n));
    const rs_material_pair *pair =
        rs_materials_find(input->materials, input->colliders[touch->collider_a].material,
                          input->colliders[touch->collider_b].material);
    double slip = sqrt(touch->velocity.x * touch->velocity.x + touch->velocity.y * touch->velocity.y);
    touch->friction = rs_material_friction(pair, slip);
    touch->restitution = pair->restitution;
    bool launched = input->bodies[touch->body_a].launched || input->bodies[touch->body_b].launched;
    double time = launched ? RS_LAUNCH_STEPS * input->dt : input->dt;
    return (rs_contact_law){.mu = touch->friction,
                            .target = target_speed(time, pair, touch->gap, -touch->velocity.z),
                            .push = push_speed(input, touch->gap, -touch->velocity.z)};
}

void rs_row_make(const rs_problem_input *input, rs_touch *touch, rs_row *row) {
    const rs_body *a = &input->bodies[touch->body_a], *b = &input->bodies[touch->body_b];
    row->body_a = touch->body_a;
    row->body_b = touch->body_b;
    row->t1 = (rs_quad){touch->t1, 0.0};
    row->t2 = (rs_quad){touch->t2, 0.0};
    row->n = (rs_quad){touch->n, 0.0};
    rs_vec3 ra = rs_sub(touch->position, a->middle_com), rb = rs_sub(touch->position, b->middle_com);
    row->ra = (rs_quad){ra, 0.0};
    row->rb = (rs_quad){rb, 0.0};

    rs_vec3 relative = rs_sub(point_velocity(a->velocity, a->omega, ra),
                              point_velocity(b->velocity, b->omega, rb));
    rs_contact_law law = rs_contact_law_of(input, touch, relative);
    row->mu = law.mu;
    row->target = law.target;
    row->push = law.push;

    touch->g = (rs_sym3){0};
    add_inverse_mass(&touch->g, &input->solver_bodies[touch->body_a], ra, touch);
    add_inverse_mass(&touch->g, &input->solver_bodies[touch->body_b], rb, touch);
    double regularisation = REGULARISATION * (touch->g.xx + touch->g.yy + touch->g.zz);
    touch->g.xx += regularisation;
    touch->g.yy += regularisation;
    touch->g.zz += regularisation;
    rs_sym3 g_inverse = rs_sym3_inverse(&touch->g);
    row->g = rs_columns_of(&touch->g);
    row->g_inverse = rs_columns_of(&g_inverse);
    row->impulse = (rs_quad){touch->impulse, 0.0};
}
