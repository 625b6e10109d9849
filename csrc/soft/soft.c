#include "soft.h"

#include "../base/limits.h"

/* Speeds below this share of the limit are rounding: they may grow. */
static const double ROUNDING_SHARE = 1e-3;

void rs_soft_free(rs_soft *soft) {
    if (soft == NULL)
        return;
    rs_grains_free(soft->grains);
    rs_deformable_free(soft->deformable);
    rs_array_free(&soft->impulses);
    rs_array_free(&soft->meetings);
    rs_array_free(&soft->meetings_before);
    rs_free(soft);
}

rs_soft *rs_soft_new(void) { return rs_alloc(sizeof(rs_soft)); }

rs_soft *rs_soft_clone(const rs_soft *source) {
    rs_soft *copy = rs_soft_new();
    if (copy == NULL)
        return NULL;
    *copy = *source;
    copy->impulses.any = copy->meetings.any = copy->meetings_before.any = (rs_any_array){0};
    copy->grains = source->grains != NULL ? rs_grains_clone(source->grains) : NULL;
    copy->deformable = source->deformable != NULL ? rs_deformable_clone(source->deformable) : NULL;
    bool whole = (source->grains == NULL) == (copy->grains == NULL) &&
                 (source->deformable == NULL) == (copy->deformable == NULL);
    if (whole && rs_array_copy(&copy->impulses, &source->impulses) == RS_OK &&
        rs_array_copy(&copy->meetings, &source->meetings) == RS_OK)
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
    return soft->grains != NULL ? soft->grains->x.items : soft->deformable->x.items;
}

rs_quad *rs_soft_velocities(const rs_soft *soft) {
    return soft->grains != NULL ? soft->grains->v.items : soft->deformable->v.items;
}

void rs_soft_forget(rs_soft *soft) {
    soft->meetings.count = 0;
    if (soft->grains != NULL)
        rs_grains_forget(soft->grains);
    else
        soft->deformable->substep = 0.0;
}

int64_t rs_soft_count(const rs_soft *soft) {
    return soft->grains != NULL ? soft->grains->x.count : soft->deformable->x.count;
}

/* FNV-1a. */
static uint64_t hash_array(uint64_t hash, const rs_any_array *array) {
    const unsigned char *bytes = array->data;
    for (size_t k = 0; k < array->item_size * (size_t)array->count; k++)
        hash = (hash ^ bytes[k]) * 1099511628211ULL;
    return hash;
}

uint64_t rs_soft_hash(const rs_soft *soft, uint64_t hash) {
    const rs_grains *g = soft->grains;
    if (g == NULL) {
        const rs_deformable *d = soft->deformable;
        hash = hash_array(hash_array(hash, &d->x.any), &d->v.any);
        return hash_array(hash_array(hash_array(hash, &d->struts.any), &d->hinges.any), &d->tetrahedra.any);
    }
    hash = hash_array(hash_array(hash_array(hash, &g->x.any), &g->v.any), &g->w.any);
    return hash_array(hash, &g->bonds.any);
}
