/* Particles pinned to bodies and links: both sides feel the same impulse. */
#include "deformable.h"

/* Share of the distance between a particle and the place that it is pinned to that a substep removes. */
static const double PULL = 0.5;

rs_status rs_deformable_find_ties(rs_deformable *d, const rs_soft_scene *scene, rs_partners *partners) {
    rs_soft_tie *ties = d->ties.items;
    if (rs_array_resize(&d->tied, d->ties.count > 0 ? d->x.count : 0) != RS_OK)
        return RS_OUT_OF_MEMORY;
    for (int64_t i = 0; i < d->tied.count; i++)
        d->tied.items[i] = RS_NONE;
    for (int64_t k = 0; k < d->ties.count; k++) {
        ties[k].partner = rs_partners_find(partners, scene, ties[k].body, ties[k].link);
        if (ties[k].partner == RS_NONE)
            return RS_OUT_OF_MEMORY;
        d->tied.items[ties[k].particle] = ties[k].body;
    }
    return RS_OK;
}

static void act(rs_deformable *d, rs_partner *partner, const rs_soft_tie *tie, rs_vec3 impulse, double h) {
    rs_quad *x = &d->x.items[tie->particle];
    x->xyz = rs_madd(x->xyz, h * d->v.items[tie->particle].rest, impulse);
    rs_partner_push(partner, tie->place, rs_neg(impulse));
}

void rs_deformable_begin_ties(rs_deformable *d, rs_partners *partners, double h) {
    for (int64_t k = 0; k < d->ties.count; k++) {
        rs_soft_tie *tie = &d->ties.items[k];
        rs_partner *partner = &partners->partners.items[tie->partner];
        tie->place = rs_transform_point(&partner->pose, tie->local);
        tie->wanted = rs_scale(PULL / h, rs_sub(tie->place, d->x_start.items[tie->particle].xyz));
        act(d, partner, tie, tie->impulse, h);
    }
}

void rs_deformable_solve_ties(rs_deformable *d, rs_partners *partners, double h) {
    for (int64_t k = 0; k < d->ties.count; k++) {
        rs_soft_tie *tie = &d->ties.items[k];
        rs_partner *partner = &partners->partners.items[tie->partner];
        double w = d->v.items[tie->particle].rest;
        for (int axis = 0; axis < 3; axis++) {
            rs_vec3 way = rs_sub(d->x.items[tie->particle].xyz, d->x_start.items[tie->particle].xyz);
            rs_vec3 relative = rs_sub(rs_scale(1.0 / h, way), rs_partner_velocity(partner, tie->place)), unit = rs_v3_zero();
            rs_v3_set(&unit, axis, 1.0);
            double mobility = w + rs_partner_inverse_mass(partner, tie->place, unit);
            rs_vec3 impulse = rs_scale((rs_v3_get(tie->wanted, axis) - rs_v3_get(relative, axis)) / mobility, unit);
            tie->impulse = rs_add(tie->impulse, impulse);
            act(d, partner, tie, impulse, h);
        }
    }
}
