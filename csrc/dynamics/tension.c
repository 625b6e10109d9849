#include "tension.h"
#include "inertia6.h"

#include <string.h>

/* Of its own inertia, about its centre of mass, dt^2 / 4 times a link's resistance may be this share: with less than all of it no
 * motion of the links is unstable, whatever they hang on. */
static const double SOFT_SHARE = 0.25;
/* Neighbours that turn to and fro faster than the step can follow are braked as if one looked at their line in the middle of the
 * next step: dt times the resistance, which is dt^2 / 4 times here. */
static const double BRAKING = 4.0;
/* Share by which that inertia may change without another solve. */
static const double TIGHTENED = 0.1;

void rs_tension_begin(rs_articulation *a) {
    if (a->pulled)
        memset(a->row_tension, 0, sizeof *a->row_tension * (size_t)a->link_count);
    a->pulled = false;
}

/* Resistance of a link that turns about its origin to a force that keeps its direction, at a point r away: the part that is
 * not negative of (r . F) - sym(r F'), and no more than the force and the distance allow about the axis across both. */
static void add_resistance(rs_sym3 *sum, rs_vec3 r, rs_vec3 force) {
    double product = sqrt(rs_norm2(r) * rs_norm2(force)), most = 0.5 * (rs_dot(r, force) + product);
    if (!(most > 1e-12 * product))
        return;
    double shape = sqrt(rs_norm2(force) / rs_norm2(r));
    rs_vec3 along = rs_scale(0.5, rs_madd(rs_scale(sqrt(shape), r), 1.0 / sqrt(shape), force));
    sum->xx += most - along.x * along.x;
    sum->yy += most - along.y * along.y;
    sum->zz += most - along.z * along.z;
    sum->xy -= along.x * along.y;
    sum->xz -= along.x * along.z;
    sum->yz -= along.y * along.z;
}

void rs_tension_add(rs_articulation *a, int32_t link, rs_vec3 point, rs_vec3 force) {
    rs_row_tension *tension = &a->row_tension[link];
    tension->force = rs_add(tension->force, force);
    add_resistance(&tension->resistance, rs_sub(point, a->motion[link].pos), force);
    a->pulled = true;
}

/* What pulls at the links by themselves: weight and loads, with velocity products what a->force says; and of a system that is free
 * only what does not accelerate it as a whole. */
static void find_own_forces(rs_articulation *a, rs_vec3 gravity, bool products) {
    rs_vec3 sum = rs_v3_zero();
    double mass = 0.0;
    for (int32_t i = 0; i < a->link_count; i++) {
        rs_vec3 load = a->loaded ? a->loads[i].force : rs_v3_zero();
        a->tension[i].own = products ? rs_neg(a->force[i].lin) : rs_madd(load, a->mass[i].mass, gravity);
        mass += a->mass[i].mass;
        sum = rs_add(sum, a->tension[i].own);
    }
    for (int32_t i = 0; i < a->link_count && !a->fixed_base; i++)
        a->tension[i].own = rs_madd(a->tension[i].own, -a->mass[i].mass / mass, sum);
}

static rs_sym3 inertia_about_com(const rs_link_mass *mass) {
    rs_vec3 h = mass->mass_com;
    double s = mass->mass > 0.0 ? 1.0 / mass->mass : 0.0, h2 = rs_norm2(h);
    const rs_sym3 *i = &mass->inertia;
    return (rs_sym3){i->xx - s * (h2 - h.x * h.x), i->yy - s * (h2 - h.y * h.y), i->zz - s * (h2 - h.z * h.z),
                     i->xy + s * h.x * h.y, i->xz + s * h.x * h.z, i->yz + s * h.y * h.z};
}

/* A lower bound of the smaller of the moments of inertia about the axes that a resistance is about. */
static double least_moment(const rs_sym3 *inertia, const rs_sym3 *resistance, double size) {
    rs_vec3 rows[3] = {{resistance->xx, resistance->xy, resistance->xz}, {resistance->xy, resistance->yy, resistance->yz},
                       {resistance->xz, resistance->yz, resistance->zz}};
    rs_mat3 resists = {{rows[0].x, rows[0].y, rows[0].z, rows[1].x, rows[1].y, rows[1].z, rows[2].x, rows[2].y, rows[2].z}};
    rs_sym3 m = rs_sym3_rotate(&resists, inertia);
    double sum = m.xx + m.yy + m.zz;
    double minors = m.xx * m.yy - m.xy * m.xy + m.xx * m.zz - m.xz * m.xz + m.yy * m.zz - m.yz * m.yz;
    return sum > 0.0 ? minors / (sum * size * size) : 0.0;
}

/* From the resistance of a link, dt^2 / 4 times, to the inertia that it needs beside its own. */
static void settle(const rs_link_mass *mass, rs_link_tension *tension) {
    rs_sym3 own = inertia_about_com(mass), *wanted = &tension->wanted;
    double size = 0.5 * (wanted->xx + wanted->yy + wanted->zz), least = size > 0.0 ? least_moment(&own, wanted, size) : 0.0;
    tension->size = rs_max(0.0, size - SOFT_SHARE * least);
    tension->unresolved = rs_max(0.0, size - least);
    *wanted = tension->size > 0.0 ? rs_sym3_scale(tension->size / size, wanted) : (rs_sym3){0};
}

/* What the links need, from the forces on them by themselves and from rows. */
static void find_wanted(rs_articulation *a, double dt) {
    rs_link_tension *tension = a->tension;
    double share = 0.25 * dt * dt;
    for (int32_t i = 0; i < a->link_count; i++) {
        tension[i].force = rs_scale(share, rs_add(tension[i].own, a->row_tension[i].force));
        tension[i].wanted = rs_sym3_scale(share, &a->row_tension[i].resistance);
    }
    for (int32_t i = a->link_count - 1; i >= 0; i--) {
        settle(&a->mass[i], &tension[i]);
        if (i > 0) {
            rs_link_tension *parent = &tension[a->links[i].parent];
            parent->force = rs_add(parent->force, tension[i].force);
            add_resistance(&parent->wanted, a->motion[i].arm, tension[i].force);
        }
    }
}

/* No length is larger. */
static double bound_of(rs_vec3 v) { return fabs(v.x) + fabs(v.y) + fabs(v.z); }

/* A quick look: whether forces that all pulled in the worst direction would be too much for some link. */
static bool may_be_taut(rs_articulation *a, double dt) {
    rs_link_tension *tension = a->tension;
    double share = 0.25 * dt * dt / SOFT_SHARE;
    for (int32_t i = 0; i < a->link_count; i++) {
        const rs_row_tension *rows = &a->row_tension[i];
        tension[i].size = bound_of(a->force[i].lin) + bound_of(rows->force);
        tension[i].unresolved = 0.5 * (rows->resistance.xx + rows->resistance.yy + rows->resistance.zz);
    }
    for (int32_t i = a->link_count - 1; i > 0; i--) {
        rs_link_tension *parent = &tension[a->links[i].parent];
        if (share * tension[i].unresolved > a->links[i].least_moment)
            return true;
        parent->size += tension[i].size;
        parent->unresolved += tension[i].size * bound_of(a->motion[i].arm);
    }
    return !a->fixed_base && share * tension[0].unresolved > a->links[0].least_moment;
}

/* Both neighbours must be too light: what one does against a heavy one is slow, or its swing. */
static void find_brakes(rs_articulation *a) {
    memset(a->brake, 0, sizeof(double) * (size_t)a->u_count);
    for (int32_t i = 1; i < a->link_count; i++) {
        const rs_link *link = &a->links[i];
        if (rs_joint_slides(link) || (link->parent == 0 && a->fixed_base))
            continue;
        for (int32_t k = link->u_first; k < link->u_first + link->u_count; k++)
            a->brake[k] = BRAKING * rs_min(a->tension[i].unresolved, a->tension[link->parent].unresolved);
    }
}

/* What only turning as a whole makes taut oscillates no faster than it turns: it is not braked. */
void rs_tension_find(rs_articulation *a, rs_vec3 gravity, double dt) {
    a->taut = may_be_taut(a, dt);
    if (!a->taut)
        return;
    find_own_forces(a, gravity, true);
    find_wanted(a, dt);
    a->taut = false;
    for (int32_t i = 0; i < a->link_count; i++) {
        a->tension[i].inertia = a->tension[i].wanted;
        a->tension[i].former = a->tension[i].size;
        a->taut |= a->tension[i].size > 0.0;
    }
    if (!a->taut)
        return;
    find_own_forces(a, gravity, false);
    find_wanted(a, dt);
    find_brakes(a);
    find_own_forces(a, gravity, true);
}

bool rs_tension_changed(rs_articulation *a, double dt) {
    double change = 0.0, sum = 0.0;
    for (int32_t i = 0; i < a->link_count && !a->taut; i++) {
        a->tension[i].own = rs_v3_zero(); /* is little beside what makes a slack chain taut */
        a->tension[i].former = 0.0;
    }
    find_wanted(a, dt);
    for (int32_t i = 0; i < a->link_count; i++) {
        sum += rs_max(a->tension[i].size, a->tension[i].former);
        change += fabs(a->tension[i].size - a->tension[i].former);
    }
    return change > TIGHTENED * sum;
}
