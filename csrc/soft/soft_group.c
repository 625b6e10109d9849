#include "soft_group.h"

#include <float.h>

void rs_soft_group_free(rs_soft_group *group) {
    rs_partners_free(&group->partners);
    rs_soft_pairs_free(&group->pairs);
    rs_array_free(&group->members);
    rs_array_free(&group->ids);
    rs_array_free(&group->filters);
    rs_array_free(&group->shares);
    rs_array_free(&group->states);
}

rs_status rs_soft_group_add(rs_soft_group *group, rs_soft *soft, int32_t body) {
    int64_t n = group->members.count + 1;
    if (rs_array_resize(&group->members, n) != RS_OK || rs_array_resize(&group->ids, n) != RS_OK ||
        rs_array_resize(&group->filters, n) != RS_OK || rs_array_resize(&group->states, n) != RS_OK)
        return RS_OUT_OF_MEMORY;
    group->members.items[n - 1] = soft;
    group->ids.items[n - 1] = body;
    group->filters.items[n - 1] = (rs_soft_filter){soft->group, soft->mask, soft->contact_material};
    group->states.items[n - 1] = RS_OK;
    return RS_OK;
}

/* What one step is about. */
typedef struct {
    rs_soft_group *group;
    const rs_soft_scene *scene;
    rs_soft **members;
    const int32_t *ids;
    int32_t count, substeps, iterations;
    double h;
    bool with_grains, with_pairs; /* partners go half a way and half a way; objects touch each other or themselves */
} plan;

static rs_status gather(const plan *p) {
    rs_aabb box = {rs_v3(INFINITY, INFINITY, INFINITY), rs_v3(-INFINITY, -INFINITY, -INFINITY)};
    for (int32_t m = 0; m < p->count; m++) {
        const rs_soft *soft = p->members[m];
        double fall = p->scene->dt * rs_norm(p->scene->gravity), reach = 2.0 * p->scene->dt * (soft->speed + fall);
        rs_aabb own = rs_aabb_grown(&soft->box, reach + soft->margin);
        box.min = rs_v3_min(box.min, own.min);
        box.max = rs_v3_max(box.max, own.max);
    }
    return rs_partners_gather(&p->group->partners, p->scene, &box, p->group->filters.items, p->count);
}

/* ---- who did what to bodies ---- */

static rs_status begin_shares(const plan *p) {
    int64_t count = p->group->partners.partners.count * (p->count + 1);
    if (rs_array_resize(&p->group->shares, count) != RS_OK)
        return RS_OUT_OF_MEMORY;
    for (int64_t k = 0; k < count; k++)
        p->group->shares.items[k] = (rs_pair6){rs_v3_zero(), rs_v3_zero()};
    return RS_OK;
}

/* What partners felt since the last call is the member's. */
static void note_share(const plan *p, int32_t member) {
    int64_t count = p->group->partners.partners.count;
    rs_pair6 *known = p->group->shares.items, *own = &known[count * (member + 1)];
    for (int64_t k = 0; k < count && p->count > 1; k++) {
        const rs_pair6 *now = &p->group->partners.partners.items[k].impulse;
        own[k].lin = rs_add(own[k].lin, rs_sub(now->lin, known[k].lin));
        own[k].ang = rs_add(own[k].ang, rs_sub(now->ang, known[k].ang));
        known[k] = *now;
    }
}

static rs_status make_plan(plan *p) {
    double most = 1.0;
    for (int32_t m = 0; m < p->count; m++) {
        rs_soft *soft = p->members[m];
        double needed = 1.0;
        rs_status status = soft->grains != NULL ? rs_grains_begin_step(soft->grains, p->scene, &needed)
                                                : rs_deformable_begin_step(soft->deformable, p->scene, &needed);
        if (status != RS_OK)
            return status;
        if (soft->grains != NULL && rs_grains_are_too_stiff(soft->grains, needed)) {
            p->group->states.items[m] = RS_DIVERGED;
            p->group->refused_substeps = needed;
            continue;
        }
        most = rs_max(most, needed);
        p->with_grains |= soft->grains != NULL;
        p->with_pairs |= p->count > 1 || rs_soft_pair_allowed(soft, soft);
        if (soft->deformable != NULL && soft->deformable->settings.iterations > p->iterations)
            p->iterations = soft->deformable->settings.iterations;
    }
    p->substeps = (int32_t)most;
    p->h = p->scene->dt / p->substeps;
    for (int32_t m = 0; m < p->count; m++) {
        rs_soft *soft = p->members[m];
        p->group->partners.turn = m;
        rs_status status = soft->grains != NULL ? rs_grains_plan(soft->grains, p->scene, &p->group->partners, p->substeps)
                                                : rs_deformable_plan(soft->deformable, p->scene, &p->group->partners, p->h);
        if (status != RS_OK)
            return status;
    }
    if (begin_shares(p) != RS_OK || rs_partners_keep(&p->group->partners) != RS_OK)
        return RS_OUT_OF_MEMORY;
    return p->with_pairs ? rs_soft_pairs_begin_step(&p->group->pairs, p->members, p->ids, p->count, p->h) : RS_OK;
}

/* ---- substeps ---- */

/* Forces on grains, free motion of the rest, and contacts with bodies. */
static rs_status begin_substep(const plan *p) {
    rs_partners *partners = &p->group->partners;
    for (int32_t m = 0; m < p->count; m++)
        if (p->members[m]->grains != NULL && rs_grains_begin_substep(p->members[m]->grains, p->scene, p->h) != RS_OK)
            return RS_OUT_OF_MEMORY;
    if (p->with_grains)
        rs_partners_drift(partners, 0.5 * p->h);
    rs_partners_kick(partners, p->h);
    for (int32_t m = 0; m < p->count; m++) {
        partners->turn = m;
        if (p->members[m]->grains != NULL && rs_grains_push(p->members[m]->grains, p->scene, partners, p->h) != RS_OK)
            return RS_OUT_OF_MEMORY;
        note_share(p, m);
    }
    for (int32_t m = 0; m < p->count; m++) {
        partners->turn = m;
        if (p->members[m]->deformable != NULL &&
            rs_deformable_begin_substep(p->members[m]->deformable, p->scene, partners, p->h) != RS_OK)
            return RS_OUT_OF_MEMORY;
        note_share(p, m);
    }
    return p->with_pairs ? rs_soft_pairs_begin(&p->group->pairs, p->scene, p->members, p->ids, p->count, p->h) : RS_OK;
}

static void end_substep(const plan *p, bool note) {
    rs_partners *partners = &p->group->partners;
    if (p->with_pairs)
        rs_soft_pairs_end(&p->group->pairs, p->members);
    rs_partners_settle(partners);
    for (int32_t m = 0; m < p->count; m++) {
        rs_soft *soft = p->members[m];
        rs_status *state = &p->group->states.items[m];
        if (soft->deformable != NULL)
            rs_deformable_end_substep(soft->deformable, p->h, !p->with_pairs || p->group->pairs.rows.count == 0);
        else if (rs_grains_end_substep(soft->grains, p->scene, partners, p->h, p->with_pairs, note) != RS_OK)
            *state = RS_DIVERGED;
    }
    double share = rs_soft_group_part(p->group, p->scene, p->with_pairs, p->h);
    for (int32_t m = 0; m < p->count && share > 0.0; m++)
        if (p->members[m]->deformable != NULL) {
            rs_deformable_return_contacts(p->members[m]->deformable, partners, share);
            note_share(p, m);
        }
    if (share > 0.0)
        rs_partners_settle(partners);
    if (p->with_grains)
        rs_partners_drift(partners, 0.5 * p->h);
    else
        rs_partners_advance(partners, p->h);
}

static bool any_stopped(const plan *p) {
    for (int32_t m = 0; m < p->count; m++)
        if (p->group->states.items[m] != RS_OK)
            return true;
    return false;
}

static rs_status make_substeps(const plan *p) {
    for (int32_t k = 0; k < p->substeps && !any_stopped(p); k++) {
        rs_status status = begin_substep(p);
        if (status != RS_OK)
            return status;
        for (int32_t i = 0; i < p->iterations; i++) {
            for (int32_t m = 0; m < p->count; m++)
                if (p->members[m]->deformable != NULL) {
                    p->group->partners.turn = m;
                    rs_deformable_iterate(p->members[m]->deformable, p->scene, &p->group->partners, p->h, !p->with_pairs);
                    note_share(p, m);
                }
            if (p->with_pairs)
                rs_soft_pairs_solve(&p->group->pairs, p->members, p->h);
        }
        end_substep(p, k == 0 || k == p->substeps - 1);
    }
    return RS_OK;
}

/* A step takes it so far that rounding is larger than its reach: what it would meet there is noise. */
static bool is_lost(const rs_soft *soft, double dt) {
    double speed;
    if (soft->grains != NULL)
        rs_grains_bounds(soft->grains, &speed);
    else
        rs_deformable_bounds(soft->deformable, &speed);
    return !(DBL_EPSILON * dt * speed <= soft->margin);
}

/* What diverged is stopped where it was. */
static void stop_diverged(const plan *p) {
    for (int32_t m = 0; m < p->count; m++) {
        rs_soft *soft = p->members[m];
        if (p->group->states.items[m] == RS_OK && rs_soft_is_carried(soft) && !is_lost(soft, p->scene->dt))
            continue;
        if (soft->grains != NULL)
            rs_grains_stop(soft->grains);
        else
            rs_deformable_stop(soft->deformable);
        p->group->states.items[m] = RS_DIVERGED;
    }
    if (any_stopped(p))
        rs_partners_take_back(&p->group->partners);
}

/* What the objects did to others in this step. */
static rs_status report(const plan *p) {
    const rs_partners *partners = &p->group->partners;
    int64_t count = partners->partners.count;
    for (int32_t m = 0; m < p->count; m++) {
        RS_ARRAY(rs_soft_impulse) *impulses = &p->members[m]->impulses;
        const rs_pair6 *own = &p->group->shares.items[count * (m + 1)];
        impulses->count = 0;
        for (int64_t k = 0; k < count; k++) {
            const rs_partner *one = &partners->partners.items[k];
            rs_pair6 impulse = p->count > 1 ? own[k] : one->impulse;
            if (!one->touched || (p->count > 1 && rs_norm2(impulse.lin) + rs_norm2(impulse.ang) <= 0.0))
                continue;
            rs_soft_impulse *entry = rs_array_push(impulses);
            if (entry == NULL)
                return RS_OUT_OF_MEMORY;
            *entry = (rs_soft_impulse){one->body, one->link, impulse};
        }
    }
    return RS_OK;
}

rs_status rs_soft_group_step(rs_soft_group *group, const rs_soft_scene *scene) {
    plan p = {.group = group, .scene = scene, .members = group->members.items, .ids = group->ids.items,
              .count = (int32_t)group->members.count};
    group->refused_substeps = 0.0;
    rs_status status = gather(&p);
    RS_THEN(status, make_plan(&p));
    RS_THEN(status, make_substeps(&p));
    if (status != RS_OK)
        return status;
    stop_diverged(&p);
    rs_partners_finish(&group->partners, scene);
    for (int32_t m = 0; m < p.count; m++) {
        rs_soft *soft = p.members[m];
        double before = soft->speed;
        if (soft->deformable != NULL && rs_deformable_tear(soft->deformable) != RS_OK)
            return RS_OUT_OF_MEMORY;
        rs_soft_measure(soft);
        soft->speed = soft->deformable != NULL ? rs_max(soft->speed, soft->deformable->lift_speed) : soft->speed;
        soft->slower = soft->speed <= before;
    }
    return report(&p);
}
