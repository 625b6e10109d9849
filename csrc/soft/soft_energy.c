/* Neither contacts nor springs of deformable objects bring energy.
 *
 * Sweeps end before contacts and springs agree to the last digit, and what overlaps is parted; both may bring energy. What
 * the contacts of a substep did is known: impulse times mean velocity; and so is what all became, with the bodies that they
 * touch. A piece that overlaps bodies leaves them as a whole,
 * which bends no springs; height is given. What overlaps still parts only as far as the contacts of the substep lost energy.
 * What is too much then is taken from the motion within each piece: momentum stays. Where that is not enough, contacts with
 * bodies take back a share of what they did to both sides. */
#include "soft_group.h"

static int64_t count_of(const rs_soft_group *group) { return group->members.count; }

static rs_deformable *deformable_of(const rs_soft_group *group, int64_t m) { return group->members.items[m]->deformable; }

static double work_of_contacts(const rs_soft_group *group, bool with_pairs) {
    double work = with_pairs ? rs_soft_pairs_work(&group->pairs, group->members.items) : 0.0;
    for (int64_t m = 0; m < count_of(group); m++)
        work += deformable_of(group, m) != NULL ? rs_deformable_contact_work(deformable_of(group, m), &group->partners) : 0.0;
    return work;
}

static double gain_of_springs(const rs_soft_group *group) {
    double gain = 0.0;
    for (int64_t m = 0; m < count_of(group); m++)
        gain += rs_deformable_gain_of_springs(deformable_of(group, m));
    return gain;
}

static void forget_springs(const rs_soft_group *group) {
    for (int64_t m = 0; m < count_of(group); m++)
        if (deformable_of(group, m) != NULL)
            deformable_of(group, m)->elastic = NAN;
}

/* Velocities stand half a substep beside the places: how much more energy particles got than that motion tells, since what
 * gravity added to their velocities did not move what was held [J]. Else whatever rests could tighten its springs by so much in
 * every substep. */
static double held_particles(const rs_soft_group *group) {
    double sum = 0.0;
    for (int64_t m = 0; m < count_of(group); m++)
        sum += deformable_of(group, m) != NULL ? rs_deformable_held(deformable_of(group, m)) : 0.0;
    return sum;
}

/* What springs, contacts and pins brought to all; and how much more bodies got, since forces did not move what was held.
 * Implicit substeps lose energy, but sweeps that end early may bring some, which would grow from substep to substep. To look
 * at all springs of cloth takes as long as a sweep: where sweeps came to an end, only if what moves got faster. Grains do what
 * they do to bodies by themselves: there, only contacts count. */
static double gain_of_all(const rs_soft_group *group, double h, double lag, double *held) {
    double motion = rs_partners_work(&group->partners, h, held) + lag;
    bool surely = true;
    for (int64_t m = 0; m < count_of(group); m++) {
        const rs_deformable *d = deformable_of(group, m);
        if (d == NULL)
            return -INFINITY;
        motion += rs_deformable_gain_of_motion(d);
        surely &= d->settled && d->tetrahedra.count == 0;
    }
    if (!surely || motion + rs_max(*held, 0.0) > 0.0)
        return motion + gain_of_springs(group);
    forget_springs(group);
    return motion;
}

static double stored_energy(const rs_soft_group *group, const rs_soft_scene *scene) {
    double sum = 0.0;
    for (int64_t m = 0; m < count_of(group); m++)
        sum += deformable_of(group, m) != NULL ? rs_deformable_stored_energy(deformable_of(group, m), scene->gravity) : 0.0;
    return sum;
}

static bool overlaps(const rs_soft_group *group, bool with_pairs) {
    for (int64_t m = 0; m < count_of(group); m++) {
        const rs_deformable *d = deformable_of(group, m);
        for (int64_t k = 0; d != NULL && k < d->rows.count; k++)
            if (d->rows.items[k].lift > 0.0)
                return true;
    }
    for (int64_t k = 0; with_pairs && k < group->pairs.rows.count; k++)
        if (group->pairs.rows.items[k].lift > 0.0)
            return true;
    return false;
}

/* Before particles are moved without their velocity. */
static void keep_places(const rs_soft_group *group) {
    forget_springs(group);
    for (int64_t m = 0; m < count_of(group); m++) {
        rs_deformable *d = deformable_of(group, m);
        if (d != NULL)
            memcpy(d->x_swept.items, d->x.items, sizeof(rs_quad) * (size_t)d->x.count);
    }
}

static void lift(const rs_soft_group *group, bool with_pairs) {
    keep_places(group);
    if (with_pairs)
        rs_soft_pairs_lift(&group->pairs, group->members.items);
    for (int64_t m = 0; m < count_of(group); m++)
        if (deformable_of(group, m) != NULL)
            rs_deformable_lift_rows(deformable_of(group, m));
}

/* Takes back all of the lift but a share. */
static void lower(const rs_soft_group *group, double share) {
    for (int64_t m = 0; m < count_of(group); m++) {
        rs_deformable *d = deformable_of(group, m);
        for (int64_t i = 0; d != NULL && i < d->x.count; i++) {
            rs_vec3 *x = &d->x.items[i].xyz, before = d->x_swept.items[i].xyz;
            *x = rs_madd(before, share, rs_sub(*x, before));
        }
    }
}

/* Lifts as far as so much energy pays for it; what it took [J]. */
static double lift_for(const rs_soft_group *group, const rs_soft_scene *scene, bool with_pairs, double most) {
    double before = stored_energy(group, scene);
    lift(group, with_pairs);
    double paid = stored_energy(group, scene) - before;
    if (paid > most) {
        lower(group, most / paid);
        paid = stored_energy(group, scene) - before;
    }
    return paid;
}

/* What moves within pieces loses so much energy, or all; what is left of that [J]. */
static double slow_inner(const rs_soft_group *group, double energy, bool keep_spin) {
    double motion = 0.0;
    for (int64_t m = 0; m < count_of(group); m++)
        motion += deformable_of(group, m) != NULL ? rs_deformable_inner_motion(deformable_of(group, m), keep_spin) : 0.0;
    double scale = motion > 2.0 * energy ? sqrt(1.0 - 2.0 * energy / motion) : 0.0;
    for (int64_t m = 0; m < count_of(group); m++)
        if (deformable_of(group, m) != NULL)
            rs_deformable_scale_inner_motion(deformable_of(group, m), scale);
    return energy - 0.5 * motion;
}

/* Pieces keep that much of how the substep moved their particles against them; x_swept is where these are now. */
static void go_back(const rs_soft_group *group, double share) {
    for (int64_t m = 0; m < count_of(group); m++)
        if (deformable_of(group, m) != NULL)
            rs_deformable_go_back(deformable_of(group, m), share);
}

/* Springs that sweeps left too tight lose so much energy, or all that the substep gave them; what is left of that [J]. */
static double slacken(const rs_soft_group *group, const rs_soft_scene *scene, double energy) {
    double tight = stored_energy(group, scene);
    keep_places(group);
    go_back(group, 0.0);
    double given = tight - stored_energy(group, scene);
    go_back(group, given > energy ? 1.0 - energy / given : given > 0.0 ? 0.0 : 1.0);
    return energy - (tight - stored_energy(group, scene));
}

static double power_of_contacts(const rs_soft_group *group) {
    double sum = 0.0;
    for (int64_t m = 0; m < count_of(group); m++)
        sum += deformable_of(group, m) != NULL ? rs_deformable_contact_power(deformable_of(group, m), &group->partners) : 0.0;
    return sum;
}

static void return_contacts(rs_soft_group *group, double share) {
    for (int64_t m = 0; m < count_of(group); m++)
        if (deformable_of(group, m) != NULL)
            rs_deformable_return_contacts(deformable_of(group, m), &group->partners, share);
}

/* The share s of the contacts with bodies that takes so much energy, or as much as they can take: without s of its impulses
 * p the motion loses s p v - s^2 p D / 2, where v is the velocity of both sides against each other, and D what p changed. */
static double share_that_takes(rs_soft_group *group, double energy) {
    double now = power_of_contacts(group);
    if (now <= 0.0)
        return 0.0;
    rs_partners_settled(&group->partners);
    return_contacts(group, 1.0);
    double bend = now - power_of_contacts(group);
    return_contacts(group, -1.0);
    double most = bend > now ? now / bend : 1.0, square = now * now - 2.0 * bend * energy;
    return square > 0.0 ? rs_min(most, 2.0 * energy / (now + sqrt(square))) : most;
}

/* Where the substep before left off, the next one does not begin: what bears a load between light particles is found slowly, and
 * given up as slowly, as a spring would be that nothing pays for. */
static void forget_pushes(const rs_soft_group *group) {
    for (int64_t m = 0; m < count_of(group); m++) {
        rs_soft *soft = group->members.items[m];
        for (int64_t k = 0; k < soft->meetings.count; k++) {
            rs_soft_meeting *meeting = &soft->meetings.items[k];
            meeting->push = 0.0;
            meeting->slide = rs_v3_zero();
        }
        for (int64_t k = 0; soft->deformable != NULL && k < soft->deformable->candidates.count; k++) {
            rs_soft_candidate *candidate = &soft->deformable->candidates.items[k];
            candidate->push = 0.0;
            candidate->slide = rs_v3_zero();
        }
    }
}

double rs_soft_group_part(rs_soft_group *group, const rs_soft_scene *scene, bool with_pairs, double h) {
    double lag = held_particles(group), work = work_of_contacts(group, with_pairs) + lag;
    double held, all = gain_of_all(group, h, lag, &held);
    for (int64_t m = 0; m < count_of(group); m++)
        if (deformable_of(group, m) != NULL)
            rs_deformable_lift_pieces(deformable_of(group, m), h);
    double paid = overlaps(group, with_pairs) ? lift_for(group, scene, with_pairs, rs_max(0.0, -rs_max(work, all))) : 0.0;
    double gain = (isinf(all) ? work : all) + paid, more = isinf(all) ? 0.0 : rs_max(0.0, held - paid);
    if (gain + more <= 0.0)
        return 0.0;
    double left = slow_inner(group, gain + more, true);
    if (left > 0.0) /* sweeps that ended early may turn what touches something */
        left = slow_inner(group, left, false);
    left -= more; /* by so little, springs and contacts need not agree: they would never find their rest */
    if (left > 0.0)
        left = slacken(group, scene, left) - rs_max(0.0, lag);
    if (left <= 0.0)
        return 0.0;
    forget_pushes(group);
    return share_that_takes(group, left);
}
