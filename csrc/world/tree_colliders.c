#include "tree_colliders.h"

#include "../model/height_grid.h"
#include "placement.h"

#include <string.h>

/* Near pairs are found for the motion of so many steps in advance, at least and at most a share of the system's extent. */
static const double SKIN_STEPS = 12.0, LEAST_SKIN = 0.005, MOST_SKIN = 0.05;
/* It pays only when it lasts for this many steps. */
static const double MIN_STEPS = 4.0;

/* An angle is at most this times the distance of the unit quaternions. */
static const double ANGLE_PER_QUATERNION = 3.14159265358979323846;

/* ---- list ---- */

void rs_tree_colliders_free(RS_ARRAY(rs_tree_colliders) *trees) {
    for (int64_t t = 0; t < trees->count; t++) {
        rs_tree_colliders *tree = RS_ITEM(*trees, t);
        rs_any_array *arrays[] = {&tree->balls.any, &tree->reach.any, &tree->span.any, &tree->farthest.any,
                                  &tree->near.any, &tree->q.any, &tree->lever.any, &tree->sorted.any};
        rs_any_free_all(arrays, sizeof arrays / sizeof *arrays);
    }
    trees->count = 0;
}

static rs_collider_ball ball_around(const rs_collider *collider, int32_t index) {
    rs_transform still = rs_transform_identity();
    rs_aabb box = rs_shape_aabb(&collider->shape, &still);
    rs_vec3 middle = rs_scale(0.5, rs_add(box.min, box.max));
    if (!rs_v3_finite(middle)) /* a half-space */
        middle = rs_v3_zero();
    double radius = collider->shape.type == RS_SHAPE_SPHERE ? collider->shape.radius : rs_norm(rs_sub(box.max, middle));
    return (rs_collider_ball){index, collider->link, rs_transform_point(&collider->local, middle),
                              radius + RS_FORESIGHT * collider->size + collider->touch};
}

static bool may_meet_own(const rs_collider *colliders, const rs_body *body, const rs_collider *one) {
    const rs_articulation *a = body->articulation;
    for (int32_t c = body->first_collider; c != RS_NONE; c = colliders[c].next_in_body)
        if (a->self_contacts[one->link * a->link_count + colliders[c].link] > 0 &&
            rs_filters_agree(one, &colliders[c]))
            return true;
    return false;
}

/* The colliders that may meet another one of their system; the others are not looked at for that. */
static void list_self(const rs_world *world, rs_tree_colliders *tree) {
    const rs_body *body = RS_ITEM(world->data.bodies, tree->body);
    const rs_collider *colliders = world->data.colliders.items;
    tree->sorted.count = 0;
    for (int32_t c = body->first_collider; c != RS_NONE; c = colliders[c].next_in_body)
        if (may_meet_own(colliders, body, &colliders[c]))
            tree->sorted.items[tree->sorted.count++] = c;
}

/* Balls around the colliders, how far those of each link get from its origin, which filter bits occur, and which may
 * meet others of the system. */
static void measure(rs_world *world, rs_tree_colliders *tree, rs_cluster *cluster) {
    const rs_body *body = RS_ITEM(world->data.bodies, tree->body);
    rs_collider *colliders = world->data.colliders.items;
    rs_collider_ball *ball = tree->balls.items;
    double *reach = tree->reach.items;
    for (int32_t i = 0; i < body->articulation->link_count; i++)
        reach[i] = -1.0;
    cluster->group = cluster->mask = 0;
    for (int32_t c = body->first_collider; c != RS_NONE; c = colliders[c].next_in_body) {
        rs_collider *collider = &colliders[c];
        *ball = ball_around(collider, c);
        reach[collider->link] = rs_max(reach[collider->link], rs_norm(ball->centre) + ball->radius);
        ball++;
        cluster->group |= collider->group;
        cluster->mask |= collider->mask;
        collider->clustered = true;
        collider->placed_in = 0;
    }
    tree->skin = -1.0;
    list_self(world, tree);
}

static void set_active(rs_world *world, const rs_body *body, bool active) {
    RS_EACH_COLLIDER(collider, &world->data, body->first_collider)
        collider->active = active;
}

static rs_status add_tree(rs_world *world, int32_t body_index) {
    const rs_body *body = RS_ITEM(world->data.bodies, body_index);
    rs_tree_colliders *tree = rs_array_push(&world->trees);
    rs_cluster *cluster = rs_array_push(&world->clusters);
    if (tree == NULL || cluster == NULL)
        return RS_OUT_OF_MEMORY;
    tree->body = body_index;
    int32_t links = body->articulation->link_count, coordinates = body->articulation->q_count;
    if (rs_array_resize(&tree->balls, body->collider_count) != RS_OK || rs_array_resize(&tree->reach, links) != RS_OK ||
        rs_array_resize(&tree->span, links) != RS_OK || rs_array_resize(&tree->farthest, links) != RS_OK ||
        rs_array_resize(&tree->q, coordinates) != RS_OK || rs_array_resize(&tree->lever, coordinates) != RS_OK ||
        rs_array_resize(&tree->sorted, body->collider_count) != RS_OK)
        return RS_OUT_OF_MEMORY;
    measure(world, tree, cluster);
    cluster->active = !body->asleep;
    set_active(world, body, cluster->active);
    return RS_OK;
}

rs_status rs_tree_colliders_list(rs_world *world) {
    const rs_body *bodies = world->data.bodies.items;
    rs_tree_colliders_free(&world->trees);
    world->clusters.count = 0;
    for (int32_t i = 0; i < world->data.bodies.count; i++)
        if (bodies[i].alive && rs_has_tree_colliders(&bodies[i]) && add_tree(world, i) != RS_OK)
            return RS_OUT_OF_MEMORY;
    return RS_OK;
}

/* ---- midpoint stage ---- */

/* Longest way of any point of a link within a step, as rs_place_collider() sees it. */
static double longest_way(const rs_articulation *a, int32_t link, double reach, const rs_world_data *data) {
    const rs_link_motion *m = &a->motion[link];
    double arm = 2.0 * rs_norm(a->links[link].com) + reach;
    return data->dt * (rs_norm(m->v) + arm * rs_norm(m->w) + data->dt * rs_norm(data->gravity)) +
           data->contact.swept_ccd_speculative_margin;
}

static rs_aabb link_box(const rs_tree_colliders *tree, const rs_articulation *a, int32_t link) {
    return rs_aabb_around(a->motion[link].pos, tree->span.items[link]);
}

/* Trees are in the order of their bodies. */
static int64_t tree_of_body(const rs_world *world, int32_t body) {
    const rs_tree_colliders *trees = world->trees.items;
    int64_t low = 0, high = world->trees.count - 1;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (trees[middle].body < body)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void rs_tree_colliders_begin(rs_world *world, int32_t body_index) {
    int64_t index = tree_of_body(world, body_index);
    rs_tree_colliders *tree = RS_ITEM(world->trees, index);
    rs_cluster *cluster = RS_ITEM(world->clusters, index);
    const rs_body *body = RS_ITEM(world->data.bodies, tree->body);
    const rs_articulation *a = body->articulation;
    if (body->moved)
        measure(world, tree, cluster);
    if (cluster->active == body->asleep) {
        cluster->active = !body->asleep;
        set_active(world, body, cluster->active);
    }
    const double *reach = tree->reach.items;
    double *span = tree->span.items;
    rs_aabb box = {rs_v3(INFINITY, INFINITY, INFINITY), rs_v3(-INFINITY, -INFINITY, -INFINITY)};
    for (int32_t i = 0; i < a->link_count; i++) {
        if (reach[i] < 0.0)
            continue;
        span[i] = reach[i] + (world->data.contact.swept_ccd_enabled ? longest_way(a, i, reach[i], &world->data) : 0.0);
        rs_aabb own = link_box(tree, a, i);
        box = (rs_aabb){rs_v3_min(own.min, box.min), rs_v3_max(own.max, box.max)};
    }
    cluster->box = box;
}

/* ---- broad phase ---- */

static void ensure_placed(const rs_world *world, const rs_articulation *a, rs_collider *collider) {
    if (collider->placed_in == world->detection)
        return;
    const rs_world_data *data = &world->data;
    const rs_link_motion *m = &a->motion[collider->link];
    rs_vec3 com = rs_m3_mulv(&m->rot, a->links[collider->link].com);
    rs_carrier_motion by = {{m->rot, m->pos}, rs_add(m->pos, com), rs_link_point_velocity(a, collider->link, com), m->w, data->dt};
    rs_place_collider(collider, &by, data);
    collider->placed_in = world->detection;
}

static rs_status add_pair(RS_ARRAY(rs_pair) *found, int32_t i, int32_t j) {
    rs_pair *pair = rs_array_push(found);
    if (pair == NULL)
        return RS_OUT_OF_MEMORY;
    *pair = i < j ? (rs_pair){i, j} : (rs_pair){j, i};
    return RS_OK;
}

/* Where a collider may meet a system. Of an upright heightmap only the part below the system counts: its hills elsewhere
 * would reach all that walks between them. */
static rs_aabb meeting_box(const rs_collider *other, const rs_aabb *system) {
    rs_aabb box = other->box;
    if (other->shape.type != RS_SHAPE_HEIGHTMAP || other->pose.rot.m[8] != 1.0)
        return box;
    rs_vec3 middle = rs_scale(0.5, rs_add(system->min, system->max)), half = rs_sub(system->max, middle);
    rs_vec3 p = rs_transform_inv_point(&other->pose, middle);
    double highest = rs_height_grid_highest(other->shape.grid, p.x, p.y, sqrt(half.x * half.x + half.y * half.y));
    box.max.z = rs_min(box.max.z, other->pose.pos.z + highest + other->reach + other->touch);
    return box;
}

/* Pairs of one placed collider with those of a system: links that stay clear of it are passed over, then balls. */
static rs_status meet_collider(rs_world *world, int64_t index, int32_t other) {
    const rs_tree_colliders *tree = RS_ITEM(world->trees, index);
    rs_collider *colliders = world->data.colliders.items;
    const rs_articulation *a = RS_ITEM(world->data.bodies, tree->body)->articulation;
    const double *reach = tree->reach.items, *span = tree->span.items;
    rs_aabb box = meeting_box(&colliders[other], &RS_ITEM(world->clusters, index)->box);
    for (int64_t k = 0; k < tree->balls.count; k++) {
        const rs_collider_ball *ball = RS_ITEM(tree->balls, k);
        const rs_link_motion *m = &a->motion[ball->link];
        rs_aabb around = link_box(tree, a, ball->link);
        if (!rs_aabb_overlap(&around, &box))
            continue;
        around = rs_aabb_around(rs_add(m->pos, rs_m3_mulv(&m->rot, ball->centre)),
                                ball->radius + (span[ball->link] - reach[ball->link]));
        rs_collider *own = &colliders[ball->collider];
        if (!rs_aabb_overlap(&around, &box) || !rs_colliders_may_meet(own, &colliders[other]))
            continue;
        ensure_placed(world, a, own);
        if (rs_aabb_overlap(&own->box, &box) && add_pair(&world->broad_phase.found, ball->collider, other) != RS_OK)
            return RS_OUT_OF_MEMORY;
    }
    return RS_OK;
}

static rs_status meet_system(rs_world *world, const rs_tree_colliders *tree, int64_t other) {
    rs_collider *colliders = world->data.colliders.items;
    const rs_articulation *a = RS_ITEM(world->data.bodies, tree->body)->articulation;
    const rs_aabb *box = &RS_ITEM(world->clusters, other)->box;
    for (int64_t k = 0; k < tree->balls.count; k++) {
        const rs_collider_ball *ball = RS_ITEM(tree->balls, k);
        rs_aabb around = link_box(tree, a, ball->link);
        if (!rs_aabb_overlap(&around, box))
            continue;
        ensure_placed(world, a, &colliders[ball->collider]);
        if (rs_aabb_overlap(&colliders[ball->collider].box, box) &&
            meet_collider(world, other, ball->collider) != RS_OK)
            return RS_OUT_OF_MEMORY;
    }
    return RS_OK;
}

static rs_status expand_clusters(rs_world *world) {
    RS_ARRAY(rs_pair) *found = &world->broad_phase.found;
    int32_t first = (int32_t)world->data.colliders.count;
    int64_t count = found->count, kept = 0;
    for (int64_t k = 0; k < count; k++) {
        rs_pair pair = found->items[k];
        const rs_tree_colliders *trees = world->trees.items;
        if (pair.b < first)
            found->items[kept++] = pair;
        else if ((pair.a < first ? meet_collider(world, pair.b - first, pair.a)
                                 : meet_system(world, &trees[pair.a - first], pair.b - first)) != RS_OK)
            return RS_OUT_OF_MEMORY;
    }
    if (kept < count && count < found->count) /* close the gap that the clusters left */
        memmove(RS_ITEM(*found, kept), RS_ITEM(*found, count), sizeof(rs_pair) * (size_t)(found->count - count));
    found->count -= count - kept;
    return RS_OK;
}

/* ---- pairs within a system ---- */

/* How far the joints have moved any point since the near pairs were found, at most. */
static double motion_since(const rs_tree_colliders *tree, const double *q) {
    const double *then = tree->q.items, *lever = tree->lever.items;
    double sum = 0.0;
    for (int64_t k = 0; k < tree->q.count; k++)
        sum += lever[k] * fabs(q[k] - then[k]);
    return sum;
}

/* A joint moves what hangs on it, at most by its change times the farthest of these points. */
static void find_levers(rs_tree_colliders *tree, const rs_articulation *a, double skin) {
    double *lever = tree->lever.items, *farthest = tree->farthest.items;
    for (int32_t i = 0; i < a->link_count; i++)
        farthest[i] = rs_max(0.0, tree->reach.items[i]);
    for (int32_t i = a->link_count - 1; i > 0; i--) {
        const rs_link *link = &a->links[i];
        farthest[link->parent] = rs_max(farthest[link->parent], rs_norm(a->motion[i].arm) + farthest[i]);
        double radius = farthest[i] + skin;
        for (int32_t k = 0; k < link->numbers; k++)
            lever[link->q_first + k] = rs_joint_slides(link) ? 1.0 : radius;
        for (int32_t k = link->numbers; link->has_quaternion && k < link->numbers + 4; k++)
            lever[link->q_first + k] = ANGLE_PER_QUATERNION * radius;
    }
    for (int32_t k = 0; !a->fixed_base && k < 7; k++)
        lever[k] = 0.0; /* moves all alike */
}

/* Box of a collider, grown by all that a step and the skin may ask for. */
static rs_aabb wide_box(const rs_collider *collider, double skin) {
    double most = rs_max(RS_FORESIGHT * collider->size, collider->reach);
    return rs_aabb_grown(&collider->box, most - collider->reach + 0.5 * skin);
}

/* The order of the last search is nearly right. */
static void sort_colliders(const rs_collider *colliders, double skin, RS_ARRAY(int32_t) *list) {
    int32_t *sorted = list->items;
    for (int64_t k = 1; k < list->count; k++) {
        int32_t moving = sorted[k];
        double low = wide_box(&colliders[moving], skin).min.x;
        int64_t hole = k;
        for (; hole > 0 && wide_box(&colliders[sorted[hole - 1]], skin).min.x > low; hole--)
            sorted[hole] = sorted[hole - 1];
        sorted[hole] = moving;
    }
}

static rs_status sweep(const rs_collider *colliders, const rs_articulation *a, rs_tree_colliders *tree) {
    const int32_t *sorted = tree->sorted.items;
    tree->near.count = 0;
    for (int64_t i = 0; i < tree->sorted.count; i++) {
        const rs_collider *one = &colliders[sorted[i]];
        rs_aabb box = wide_box(one, tree->skin);
        for (int64_t j = i + 1; j < tree->sorted.count; j++) {
            const rs_collider *other = &colliders[sorted[j]];
            rs_aabb other_box = wide_box(other, tree->skin);
            if (other_box.min.x > box.max.x)
                break;
            if (a->self_contacts[one->link * a->link_count + other->link] > 0 && rs_aabb_overlap(&box, &other_box) &&
                rs_colliders_may_meet(one, other) && add_pair(&tree->near, sorted[i], sorted[j]) != RS_OK)
                return RS_OUT_OF_MEMORY;
        }
    }
    return RS_OK;
}

static rs_status find_near(rs_world *world, rs_tree_colliders *tree, const rs_cluster *cluster, double motion) {
    rs_collider *colliders = world->data.colliders.items;
    const rs_body *body = RS_ITEM(world->data.bodies, tree->body);
    const rs_articulation *a = body->articulation;
    for (int64_t k = 0; k < tree->sorted.count; k++)
        ensure_placed(world, a, &colliders[tree->sorted.items[k]]);
    double extent = rs_norm(rs_sub(cluster->box.max, cluster->box.min)), per_step = motion / rs_max(1.0, (double)tree->age);
    double skin = rs_clamp(SKIN_STEPS * per_step, LEAST_SKIN * extent, MOST_SKIN * extent);
    bool lasts = MIN_STEPS * per_step <= skin && !world->data.contact.swept_ccd_enabled;
    tree->skin = lasts ? skin : 0.0;
    tree->age = 0;
    memcpy(tree->q.items, a->q_stage, sizeof(double) * (size_t)a->q_count);
    find_levers(tree, a, tree->skin);
    sort_colliders(colliders, tree->skin, &tree->sorted);
    return sweep(colliders, a, tree);
}

static rs_status expand_self(rs_world *world, rs_tree_colliders *tree, const rs_cluster *cluster) {
    const rs_body *body = RS_ITEM(world->data.bodies, tree->body);
    rs_collider *colliders = world->data.colliders.items;
    if (tree->sorted.count == 0)
        return RS_OK;
    double motion = tree->skin < 0.0 ? 0.0 : motion_since(tree, body->articulation->q_stage);
    tree->age++;
    if (!(motion <= tree->skin && !world->data.contact.swept_ccd_enabled) &&
        find_near(world, tree, cluster, motion) != RS_OK)
        return RS_OUT_OF_MEMORY;
    for (int64_t k = 0; k < tree->near.count; k++) {
        rs_pair pair = tree->near.items[k];
        ensure_placed(world, body->articulation, &colliders[pair.a]);
        ensure_placed(world, body->articulation, &colliders[pair.b]);
        if (rs_aabb_overlap(&colliders[pair.a].box, &colliders[pair.b].box) &&
            add_pair(&world->broad_phase.found, pair.a, pair.b) != RS_OK)
            return RS_OUT_OF_MEMORY;
    }
    return RS_OK;
}

rs_status rs_tree_colliders_expand(rs_world *world) {
    if (expand_clusters(world) != RS_OK)
        return RS_OUT_OF_MEMORY;
    for (int64_t t = 0; t < world->trees.count; t++) {
        const rs_cluster *cluster = RS_ITEM(world->clusters, t);
        if (cluster->active && expand_self(world, RS_ITEM(world->trees, t), cluster) != RS_OK)
            return RS_OUT_OF_MEMORY;
    }
    return RS_OK;
}
