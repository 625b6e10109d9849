#include "soft.h"

#include "../base/limits.h"

/* Speeds below this share of the limit are rounding: they may grow. */
static const double ROUNDING_SHARE = 1e-3;

void rs_soft_free(rs_soft *soft) {
    if (soft == NULL)
        return;
    rs_grains_drop(soft->grains);
    rs_deformable_drop(soft->deformable);
    rs_array_free(&soft->impulses);
    rs_free(soft);
}

rs_soft *rs_soft_new(void) {
    rs_soft *soft = rs_alloc(sizeof *soft);
    if (soft != NULL)
        soft->impulses = rs_array_of(sizeof(rs_soft_impulse));
    return soft;
}

rs_soft *rs_soft_clone(const rs_soft *source) {
    rs_soft *copy = rs_soft_new();
    if (copy == NULL)
        return NULL;
    rs_array impulses = copy->impulses;
    *copy = *source;
    copy->impulses = impulses;
    copy->grains = source->grains != NULL ? rs_grains_clone(source->grains) : NULL;
    copy->deformable = source->deformable != NULL ? rs_deformable_clone(source->deformable) : NULL;
    bool whole = (source->grains == NULL) == (copy->grains == NULL) &&
                 (source->deformable == NULL) == (copy->deformable == NULL);
    if (whole && rs_array_copy(&copy->impulses, &source->impulses) == RS_OK)
        return copy;
    rs_soft_free(copy);
    return NULL;
}

bool rs_soft_is_carried(const rs_soft *soft) {
    for (int64_t k = 0; k < rs_soft_count(soft); k++)
        if (!rs_v3_is_carried(rs_soft_positions(soft)[k].xyz) || !rs_v3_is_carried(rs_soft_velocities(soft)[k].xyz))
            return false;
    return true;
}

void rs_soft_measure(rs_soft *soft) {
    soft->box = soft->grains != NULL ? rs_grains_bounds(soft->grains, &soft->speed)
                                     : rs_deformable_bounds(soft->deformable, &soft->speed);
}

/* What the object did to others in this step. */
static rs_status report(rs_soft *soft, const rs_partners *partners) {
    soft->impulses.count = 0;
    for (int64_t k = 0; k < partners->partners.count; k++) {
        const rs_partner *p = &RS_ITEMS(rs_partner, partners->partners)[k];
        rs_soft_impulse *entry = p->touched ? rs_array_push(&soft->impulses) : NULL;
        if (p->touched && entry == NULL)
            return RS_OUT_OF_MEMORY;
        if (entry != NULL)
            *entry = (rs_soft_impulse){p->body, p->link, p->impulse};
    }
    return RS_OK;
}

rs_status rs_soft_step(rs_soft *soft, const rs_soft_scene *scene, rs_partners *partners) {
    double fall = scene->dt * rs_norm(scene->gravity), reach = 2.0 * scene->dt * (soft->speed + fall);
    rs_aabb box = rs_aabb_grown(&soft->box, reach + soft->margin);
    rs_status status = rs_partners_gather(partners, scene, &box, soft->group, soft->mask, soft->contact_material);
    if (status != RS_OK)
        return status;
    double before = soft->speed;
    status = soft->grains != NULL ? rs_grains_step(soft->grains, scene, partners)
                                  : rs_deformable_step(soft->deformable, scene, partners);
    if (status == RS_OUT_OF_MEMORY)
        return status;
    rs_partners_finish(partners, scene);
    rs_soft_measure(soft);
    soft->slower = soft->speed <= before;
    rs_status told = report(soft, partners);
    return status == RS_OK ? told : status;
}

void rs_soft_count_calm(rs_soft *soft, double still) {
    bool calm = soft->speed <= ROUNDING_SHARE * still || (soft->speed <= still && soft->slower);
    soft->calm_steps = calm ? soft->calm_steps + 1 : 0;
}

void rs_soft_rest(rs_soft *soft) {
    if (soft->grains != NULL)
        rs_grains_rest(soft->grains);
    for (int64_t i = 0; i < rs_soft_count(soft); i++)
        rs_soft_velocities(soft)[i].xyz = rs_v3_zero();
}

rs_soft_sums rs_soft_sum(const rs_soft *soft, rs_vec3 gravity) {
    return soft->grains != NULL ? rs_grains_sum(soft->grains, gravity) : rs_deformable_sum(soft->deformable, gravity);
}

rs_quad *rs_soft_positions(const rs_soft *soft) {
    return RS_ITEMS(rs_quad, *(soft->grains != NULL ? &soft->grains->x : &soft->deformable->x));
}

rs_quad *rs_soft_velocities(const rs_soft *soft) {
    return RS_ITEMS(rs_quad, *(soft->grains != NULL ? &soft->grains->v : &soft->deformable->v));
}

void rs_soft_forget(rs_soft *soft) {
    if (soft->grains != NULL)
        rs_grains_forget(soft->grains);
    else
        soft->deformable->substep = 0.0;
}

int64_t rs_soft_count(const rs_soft *soft) {
    return soft->grains != NULL ? soft->grains->x.count : soft->deformable->x.count;
}

/* FNV-1a. */
static uint64_t hash_array(uint64_t hash, const rs_array *array) {
    const unsigned char *bytes = array->data;
    for (size_t k = 0; k < array->item_size * (size_t)array->count; k++)
        hash = (hash ^ bytes[k]) * 1099511628211ULL;
    return hash;
}

uint64_t rs_soft_hash(const rs_soft *soft, uint64_t hash) {
    const rs_grains *g = soft->grains;
    if (g == NULL) {
        const rs_deformable *d = soft->deformable;
        return hash_array(hash_array(hash_array(hash_array(hash, &d->x), &d->v), &d->struts), &d->hinges);
    }
    hash = hash_array(hash_array(hash_array(hash, &g->x), &g->v), &g->w);
    return hash_array(hash, &g->bonds);
}
