/* Soft objects in the step: when they sleep, and what they do between forces and contacts. */
#include "tree_colliders.h"
#include "world.h"

/* Particles rest below this share of the speed below which bodies may sleep. */
static const double STILL_SHARE = 5e-4;

static bool accepts(const rs_soft *soft, uint64_t group, uint64_t mask) {
    return (group & soft->mask) != 0 && (mask & soft->group) != 0;
}

/* Something that moves, or was just placed, is near. */
static bool has_company(const rs_world *world, const rs_soft *soft) {
    const rs_collider *colliders = world->data.colliders.items;
    const rs_cluster *clusters = world->clusters.items;
    rs_aabb box = rs_aabb_grown(&soft->box, soft->margin);
    for (int64_t c = 0; c < world->data.colliders.count; c++)
        if (colliders[c].alive && colliders[c].active && !colliders[c].clustered &&
            accepts(soft, colliders[c].group, colliders[c].mask) && rs_aabb_overlap(&box, &colliders[c].box))
            return true;
    for (int64_t k = 0; k < world->clusters.count; k++)
        if (clusters[k].active && accepts(soft, clusters[k].group, clusters[k].mask) &&
            rs_aabb_overlap(&box, &clusters[k].box))
            return true;
    return false;
}

/* Whether two soft objects may touch in this step. */
static bool may_meet(const rs_world *world, const rs_soft *a, const rs_soft *b) {
    double fall = world->data.dt * rs_norm(world->data.gravity);
    rs_aabb first = rs_aabb_grown(&a->box, a->margin + 2.0 * world->data.dt * (a->speed + fall));
    rs_aabb second = rs_aabb_grown(&b->box, b->margin + 2.0 * world->data.dt * (b->speed + fall));
    return rs_soft_pair_allowed(a, b) && rs_aabb_overlap(&first, &second);
}

/* A soft object that is not at rest is near. */
static bool has_soft_company(const rs_world *world, const rs_soft *soft, int32_t calm_steps) {
    for (int64_t i = 0; i < world->data.bodies.count; i++) {
        const rs_body *other = &world->data.bodies.items[i];
        if (other->alive && other->soft != NULL && other->soft != soft && !other->asleep && other->soft->calm_steps < calm_steps &&
            may_meet(world, soft, other->soft))
            return true;
    }
    return false;
}

static void disturb(rs_world *world, rs_body *body) {
    body->soft_restless = true;
    if (body->asleep)
        rs_world_rouse(world, body);
}

/* What is near something that moves must not sleep. */
static void disturb_near(rs_world *world, const rs_soft *soft) {
    rs_body *bodies = world->data.bodies.items;
    const rs_collider *colliders = world->data.colliders.items;
    const rs_cluster *clusters = world->clusters.items;
    rs_aabb box = rs_aabb_grown(&soft->box, soft->margin + 2.0 * world->data.dt * soft->speed);
    for (int64_t c = 0; c < world->data.colliders.count; c++)
        if (colliders[c].alive && colliders[c].dynamic && !colliders[c].clustered &&
            accepts(soft, colliders[c].group, colliders[c].mask) && rs_aabb_overlap(&box, &colliders[c].box))
            disturb(world, &bodies[colliders[c].body]);
    for (int64_t k = 0; k < world->clusters.count; k++)
        if (accepts(soft, clusters[k].group, clusters[k].mask) && rs_aabb_overlap(&box, &clusters[k].box))
            disturb(world, &bodies[world->trees.items[k].body]);
}

/* Bodies that an object is pinned to and the object rest together or not at all. */
static void wake_tied(rs_world *world, rs_body *own) {
    const rs_deformable *d = own->soft->deformable;
    for (int64_t k = 0; d != NULL && k < d->ties.count; k++) {
        rs_body *other = RS_ITEM(world->data.bodies, d->ties.items[k].body);
        if (other->type == RS_BODY_STATIC)
            continue;
        if (own->asleep && !other->asleep)
            rs_world_rouse(world, own);
        if (!own->asleep && own->soft->calm_steps < world->data.sleep.quiet_steps)
            disturb(world, other);
    }
}

void rs_world_wake_soft(rs_world *world) {
    rs_world_data *data = &world->data;
    if (data->soft_count == 0)
        return;
    rs_body *bodies = data->bodies.items;
    for (int64_t i = 0; i < data->bodies.count; i++)
        bodies[i].soft_restless = false;
    for (int64_t i = 0; i < data->bodies.count; i++) {
        rs_soft *soft = bodies[i].alive ? bodies[i].soft : NULL;
        if (soft == NULL)
            continue;
        if (bodies[i].asleep && (has_company(world, soft) || has_soft_company(world, soft, data->sleep.quiet_steps)))
            rs_wake_body(&bodies[i]);
        wake_tied(world, &bodies[i]);
        if (!bodies[i].asleep && soft->calm_steps < data->sleep.quiet_steps)
            disturb_near(world, soft);
    }
}

static rs_soft_scene soft_scene(rs_world *world) {
    rs_world_data *data = &world->data;
    return (rs_soft_scene){.bodies = data->bodies.items,
                           .solver_bodies = world->solver_bodies.items,
                           .colliders = data->colliders.items,
                           .collider_count = data->colliders.count,
                           .materials = &data->materials,
                           .settings = &data->contact,
                           .gravity = data->gravity,
                           .dt = data->dt,
                           .pool = world->pool};
}

/* What has lost all its particles does nothing. */
static bool steps(const rs_body *body) {
    return body->alive && body->soft != NULL && !body->asleep && rs_soft_count(body->soft) > 0;
}

/* Soft objects that may touch are one group, named by its first body. */
static rs_status group_soft(rs_world *world) {
    const rs_body *bodies = world->data.bodies.items;
    int64_t count = world->data.bodies.count;
    if (rs_array_resize(&world->soft_leaders, count) != RS_OK)
        return RS_OUT_OF_MEMORY;
    int32_t *leader = world->soft_leaders.items;
    for (int32_t i = 0; i < count; i++) {
        leader[i] = steps(&bodies[i]) ? i : RS_NONE;
        for (int32_t k = 0; k < i && leader[i] != RS_NONE; k++) {
            if (leader[k] == RS_NONE || leader[k] == leader[i] || !may_meet(world, bodies[i].soft, bodies[k].soft))
                continue;
            int32_t low = leader[k] < leader[i] ? leader[k] : leader[i], high = leader[k] < leader[i] ? leader[i] : leader[k];
            for (int32_t m = 0; m <= i; m++)
                leader[m] = leader[m] == high ? low : leader[m];
        }
    }
    return RS_OK;
}

static rs_status step_group(rs_world *world, int32_t first) {
    rs_body *bodies = world->data.bodies.items;
    rs_soft_group *group = &world->soft_group;
    group->members.count = group->ids.count = group->filters.count = group->states.count = 0;
    for (int32_t i = first; i < world->data.bodies.count; i++)
        if (world->soft_leaders.items[i] == first && rs_soft_group_add(group, bodies[i].soft, i) != RS_OK)
            return RS_OUT_OF_MEMORY;
    rs_soft_scene scene = soft_scene(world);
    rs_status status = rs_soft_group_step(group, &scene);
    for (int64_t m = 0; m < group->members.count && status == RS_OK; m++) {
        rs_body *body = &bodies[group->ids.items[m]];
        if (group->states.items[m] == RS_DIVERGED) {
            body->asleep = true;
            if (world->diverged_slot == RS_NONE) {
                world->diverged_slot = body->slot;
                world->refused_substeps = group->refused_substeps;
            }
        }
        body->position = rs_soft_sum(body->soft, rs_v3_zero()).centre;
    }
    return status;
}

rs_status rs_world_step_soft(rs_world *world) {
    rs_world_data *data = &world->data;
    if (data->soft_count == 0)
        return RS_OK;
    rs_body *bodies = data->bodies.items;
    for (int64_t i = 0; i < data->bodies.count; i++) {
        bodies[i].soft_held = false;
        bodies[i].former_soft_velocity = bodies[i].soft_velocity;
        bodies[i].former_soft_omega = bodies[i].soft_omega;
        bodies[i].soft_velocity = bodies[i].soft_omega = bodies[i].soft_shift = bodies[i].soft_turn = rs_v3_zero();
        rs_articulation *tree = bodies[i].alive ? bodies[i].articulation : NULL;
        for (int32_t k = 0; tree != NULL && k < tree->u_count; k++)
            tree->soft_change[k] = tree->soft_shift[k] = 0.0;
    }
    if (group_soft(world) != RS_OK)
        return RS_OUT_OF_MEMORY;
    for (int64_t i = 0; i < data->bodies.count; i++)
        if (world->soft_leaders.items[i] == i && step_group(world, (int32_t)i) != RS_OK)
            return RS_OUT_OF_MEMORY;
    rs_solver_body *before = world->before.items;
    const rs_solver_body *solver = world->solver_bodies.items;
    for (int64_t i = 0; i < data->bodies.count; i++) {
        before[i].v_free = solver[i].v;
        before[i].w_free = solver[i].w;
    }
    return RS_OK;
}

/* Within a step soft objects push at any time; the step itself moves a robot as if they had pushed in its middle. */
static void shift_tree(rs_articulation *a, double dt) {
    bool shifts = false;
    for (int32_t k = 0; k < a->u_count; k++)
        shifts |= a->soft_change[k] != 0.0;
    if (!shifts)
        return;
    for (int32_t k = 0; k < a->u_count; k++)
        a->u_push[k] = (a->pushed ? a->u_push[k] : 0.0) + a->soft_shift[k] / dt - 0.5 * a->soft_change[k];
    a->pushed = true;
}

void rs_world_note_contacts(rs_world *world) {
    rs_world_data *data = &world->data;
    const rs_solver_body *before = world->before.items;
    const rs_solver_body *solver = world->solver_bodies.items;
    for (int64_t i = 0; i < data->bodies.count && data->soft_count > 0; i++) {
        rs_body *body = &data->bodies.items[i];
        body->contact_velocity = rs_sub(solver[i].v.xyz, before[i].v_free.xyz);
        body->contact_omega = rs_sub(solver[i].w.xyz, before[i].w_free.xyz);
        if (body->alive && body->articulation != NULL && !body->asleep)
            shift_tree(body->articulation, data->dt);
    }
}

void rs_world_sleep_soft(rs_world *world) {
    rs_world_data *data = &world->data;
    rs_body *bodies = data->bodies.items;
    for (int64_t i = 0; i < data->bodies.count && data->soft_count > 0 && data->sleep.enabled; i++) {
        rs_soft *soft = bodies[i].alive && !bodies[i].asleep ? bodies[i].soft : NULL;
        if (soft == NULL)
            continue;
        rs_soft_count_calm(soft, STILL_SHARE * data->sleep.linear_threshold);
        if (soft->calm_steps < data->sleep.quiet_steps || has_company(world, soft) ||
            has_soft_company(world, soft, data->sleep.quiet_steps))
            continue;
        bodies[i].asleep = true;
        rs_soft_rest(soft);
    }
}
