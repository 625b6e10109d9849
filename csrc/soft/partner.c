#include "partner.h"

#include "../dynamics/carrier.h"

#include <string.h>

/* Contacts of the step before are expected to go on as long as they did no more than hold against what else acted, and
 * were no blow: their share of that. */
static const double HOLDING = 2.0;

void rs_partners_free(rs_partners *partners) {
    rs_array_free(&partners->partners);
    rs_array_free(&partners->shapes);
    rs_array_free(&partners->frictions);
    rs_array_free(&partners->trees_before);
}

/* ---- what moves, and how ---- */

static rs_vec3 held_part(rs_vec3 contact, rs_vec3 others) {
    return rs_norm2(contact) <= HOLDING * HOLDING * rs_norm2(others) ? contact : rs_v3_zero();
}

static void fill_body(rs_partner *p, const rs_soft_scene *scene) {
    const rs_body *body = &scene->bodies[p->body];
    const rs_solver_body *solver = &scene->solver_bodies[p->body];
    p->pose = rs_transform_make(body->position, body->quaternion);
    p->centre = rs_rigid_body_com_position(body);
    if (body->type == RS_BODY_STATIC || body->asleep)
        return;
    p->v = body->velocity;
    p->w = body->omega;
    if (body->type == RS_BODY_KINEMATIC)
        return;
    double rate = 1.0 / scene->dt;
    rs_vec3 forces = rs_sub(solver->v.xyz, body->velocity), free_turn = rs_sub(body->middle_omega, body->omega);
    rs_vec3 torques = rs_add(rs_sub(solver->w.xyz, body->omega), free_turn); /* what it does by itself to the midpoint, it does again */
    rs_vec3 held = held_part(body->contact_velocity, rs_add(forces, body->former_soft_velocity));
    rs_vec3 held_turn = held_part(body->contact_omega, rs_add(torques, body->former_soft_omega));
    p->mobile = true;
    p->a = rs_scale(rate, rs_add(forces, held));
    p->alpha = rs_scale(rate, rs_add(torques, held_turn));
    p->inverse_mass = solver->inverse_mass;
    p->inverse_inertia = rs_sym3_of_quads(&solver->inverse_inertia);
}

/* Generalised velocities that impulses and moments on links, given by their negatives in a->force, bring about. */
static double *respond(rs_articulation *a) {
    double *none = a->work[2], *change = a->work[3]; /* stages of Runge and Kutta come later in the step */
    memset(none, 0, sizeof *none * (size_t)a->u_count);
    rs_aba_solve_loaded(a, none, change);
    return change;
}

static void clear_wrenches(rs_articulation *a) { memset(a->force, 0, sizeof *a->force * (size_t)a->link_count); }

static void fill_link(rs_partner *p, const rs_soft_scene *scene) {
    const rs_body *body = &scene->bodies[p->body];
    rs_articulation *a = p->tree;
    const rs_link_motion *motion = &a->motion[p->link];
    p->pose = (rs_transform){motion->rot, motion->pos};
    p->centre = motion->pos;
    if (body->asleep || (a->fixed_base && p->link == 0))
        return;
    rs_pair6 before = rs_link_twist(a, p->link, a->u), after = rs_link_twist(a, p->link, a->u_free);
    p->mobile = true;
    p->a = rs_scale(1.0 / scene->dt, rs_sub(after.lin, before.lin));
    p->alpha = rs_scale(1.0 / scene->dt, rs_sub(after.ang, before.ang));
    for (int k = 0; k < 6; k++) {
        clear_wrenches(a);
        rs_vec3 *row = k < 3 ? &a->force[p->link].lin : &a->force[p->link].ang;
        rs_v3_set(row, k % 3, -1.0);
        rs_pair6 motion_of_unit = rs_link_twist(a, p->link, respond(a));
        for (int r = 0; r < 3; r++) {
            p->response[6 * r + k] = rs_v3_get(motion_of_unit.lin, r);
            p->response[6 * (r + 3) + k] = rs_v3_get(motion_of_unit.ang, r);
        }
    }
    /* The links are placed at the midpoint of the step. */
    p->v = before.lin;
    p->w = before.ang;
    rs_way back = {p->centre, rs_scale(-0.5 * scene->dt, p->v), rs_scale(-0.5 * scene->dt, p->w)};
    p->pose = rs_way_pose(&back, 1.0, &p->pose);
    p->centre = p->pose.pos;
}

static int32_t partner_of(rs_partners *partners, const rs_soft_scene *scene, int32_t body, int32_t link) {
    const rs_partner *all = partners->partners.items;
    for (int64_t k = partners->partners.count - 1; k >= 0; k--) /* colliders of a body often follow each other */
        if (all[k].body == body && all[k].link == link)
            return (int32_t)k;
    rs_partner *p = rs_array_push(&partners->partners);
    if (p == NULL)
        return RS_NONE;
    p->body = body;
    p->link = link;
    p->tree = scene->bodies[body].articulation;
    if (p->tree != NULL)
        fill_link(p, scene);
    else
        fill_body(p, scene);
    return (int32_t)(partners->partners.count - 1);
}

int32_t rs_partners_find(rs_partners *partners, const rs_soft_scene *scene, int32_t body, int32_t link) {
    return partner_of(partners, scene, body, link);
}

/* ---- what is near ---- */

/* Where the collider is at the midpoint of the step, and how fast any of its points is. */
static rs_transform place(const rs_soft_scene *scene, const rs_collider *collider, double *speed) {
    const rs_body *body = &scene->bodies[collider->body];
    rs_transform pose = rs_carrier_pose(body, collider->link);
    rs_pair6 twist = rs_carrier_twist(body, collider->link);
    bool still = body->type == RS_BODY_STATIC || body->asleep;
    *speed = still ? 0.0 : rs_norm(twist.lin) + rs_norm(rs_scale(scene->dt, scene->gravity));
    if (!still && isfinite(collider->radius))
        *speed += rs_norm(twist.ang) * collider->radius;
    return rs_transform_mul(&pose, &collider->local);
}

static bool accepts(const rs_soft_filter *filter, const rs_collider *collider) {
    return (collider->group & filter->mask) != 0 && (collider->mask & filter->group) != 0;
}

static bool any_accepts(const rs_soft_filter *filters, int64_t count, const rs_collider *collider) {
    bool any = false;
    for (int64_t k = 0; k < count; k++)
        any = any || accepts(&filters[k], collider);
    return any;
}

static rs_status fill_frictions(rs_partners *partners, const rs_soft_scene *scene, const rs_soft_filter *filters, int64_t count) {
    if (rs_array_resize(&partners->frictions, count * partners->shapes.count) != RS_OK)
        return RS_OUT_OF_MEMORY;
    double *out = partners->frictions.items;
    for (int64_t k = 0; k < count; k++)
        for (int64_t s = 0; s < partners->shapes.count; s++) {
            const rs_collider *collider = &scene->colliders[partners->shapes.items[s].collider];
            *out++ = accepts(&filters[k], collider)
                         ? rs_materials_find(scene->materials, filters[k].material, collider->material)->friction
                         : -1.0;
        }
    return RS_OK;
}

rs_status rs_partners_gather(rs_partners *partners, const rs_soft_scene *scene, const rs_aabb *box,
                             const rs_soft_filter *filters, int64_t count) {
    partners->partners.count = partners->shapes.count = partners->turn = 0;
    partners->rate = 1.0 / scene->dt;
    for (int64_t c = 0; c < scene->collider_count; c++) {
        const rs_collider *collider = &scene->colliders[c];
        if (!collider->alive || !any_accepts(filters, count, collider))
            continue;
        double speed;
        rs_transform pose = place(scene, collider, &speed);
        rs_aabb bounds = rs_shape_outer_aabb(&collider->shape, &pose);
        bounds = rs_aabb_grown(&bounds, 2.0 * speed * scene->dt);
        if (!rs_aabb_overlap(&bounds, box))
            continue;
        int32_t partner = partner_of(partners, scene, collider->body, collider->link);
        rs_near_shape *near = partner == RS_NONE ? NULL : rs_array_push(&partners->shapes);
        if (near == NULL)
            return RS_OUT_OF_MEMORY;
        *near = (rs_near_shape){.shape = &collider->shape, .local = collider->local, .box = bounds,
                                .partner = partner, .collider = (int32_t)c, .speed = speed};
    }
    rs_partners_drift(partners, 0.0);
    return fill_frictions(partners, scene, filters, count);
}

/* ---- motion within the step ---- */

/* The first of the links of its robot that impulses move. */
static bool leads_tree(const rs_partner *all, int64_t k) {
    if (all[k].tree == NULL || !all[k].mobile)
        return false;
    for (int64_t other = 0; other < k; other++)
        if (all[other].tree == all[k].tree && all[other].mobile)
            return false;
    return true;
}

/* Any link of the robot was pushed in this substep. */
static bool tree_is_pushed(const rs_partners *partners, const rs_articulation *tree) {
    const rs_partner *all = partners->partners.items;
    for (int64_t k = 0; k < partners->partners.count; k++)
        if (all[k].tree == tree && all[k].pushed)
            return true;
    return false;
}

/* Copies what impulses change in robots to the list, or back from it; returns how many numbers that are. */
static int64_t copy_trees(rs_partners *partners, double *list, bool back) {
    const rs_partner *all = partners->partners.items;
    int64_t at = 0;
    for (int64_t k = 0; k < partners->partners.count; k++) {
        if (!leads_tree(all, k))
            continue;
        rs_articulation *a = all[k].tree;
        double *const parts[] = {a->u_free, a->soft_change, a->soft_shift};
        for (int part = 0; part < 3; part++, at += a->u_count)
            if (list != NULL)
                memcpy(back ? parts[part] : &list[at], back ? &list[at] : parts[part], sizeof(double) * (size_t)a->u_count);
    }
    return at;
}

rs_status rs_partners_keep(rs_partners *partners) {
    if (rs_array_resize(&partners->trees_before, copy_trees(partners, NULL, false)) != RS_OK)
        return RS_OUT_OF_MEMORY;
    copy_trees(partners, partners->trees_before.items, false);
    return RS_OK;
}

void rs_partners_take_back(rs_partners *partners) {
    copy_trees(partners, partners->trees_before.items, true);
    for (int64_t k = 0; k < partners->partners.count; k++) {
        rs_partner *p = &partners->partners.items[k];
        p->touched = false;
        p->impulse = (rs_pair6){rs_v3_zero(), rs_v3_zero()};
        p->shift = p->turn = rs_v3_zero();
    }
}

/* Moves one of them by its velocity, from which `back` times what forces change in a second is taken, and notes how far
 * impulses moved it: `back` of the forces, too, where it was held. */
static void move(rs_partners *partners, int64_t k, double time, double back) {
    rs_partner *all = partners->partners.items, *p = &all[k];
    bool held = p->tree == NULL ? p->pushed : tree_is_pushed(partners, p->tree);
    double less = held ? 0.0 : back, more = held ? back : 0.0;
    rs_way way = {p->centre, rs_scale(time, rs_madd(p->v, -less, p->a)), rs_scale(time, rs_madd(p->w, -less, p->alpha))};
    p->pose = rs_way_pose(&way, 1.0, &p->pose);
    p->centre = rs_add(p->centre, way.shift);
    if (p->tree == NULL) {
        p->shift = rs_madd(rs_madd(p->shift, time * p->inverse_mass, p->impulse.lin), time * more, p->a);
        p->turn = rs_madd(rs_madd(p->turn, time, rs_sym3_mulv(&p->inverse_inertia, p->impulse.ang)), time * more, p->alpha);
    } else if (leads_tree(all, k)) {
        rs_articulation *a = p->tree;
        for (int32_t u = 0; u < a->u_count; u++)
            a->soft_shift[u] += time * (a->soft_change[u] + more * partners->rate * (a->u_free[u] - a->soft_change[u] - a->u[u]));
    }
}

static void move_all(rs_partners *partners, double time, double back) {
    rs_near_shape *shapes = partners->shapes.items;
    for (int64_t k = 0; k < partners->partners.count && time > 0.0; k++)
        move(partners, k, time, back);
    for (int64_t k = 0; k < partners->shapes.count; k++)
        shapes[k].pose = rs_transform_mul(&partners->partners.items[shapes[k].partner].pose, &shapes[k].local);
}

void rs_partners_drift(rs_partners *partners, double time) { move_all(partners, time, 0.0); }

void rs_partners_advance(rs_partners *partners, double time) { move_all(partners, time, 0.5 * time); }

void rs_partners_kick(rs_partners *partners, double time) {
    rs_partner *all = partners->partners.items;
    for (int64_t k = 0; k < partners->partners.count; k++) {
        rs_partner *p = &all[k];
        p->contacts = 0;
        p->pushed = false;
        if (!p->mobile)
            continue;
        p->v = rs_madd(p->v, time, p->a);
        p->w = rs_madd(p->w, time, p->alpha);
    }
    rs_partners_settled(partners);
}

void rs_partners_settled(rs_partners *partners) {
    for (int64_t k = 0; k < partners->partners.count; k++) {
        rs_partner *p = &partners->partners.items[k];
        p->v_start = p->v;
        p->w_start = p->w;
        p->substep = (rs_pair6){rs_v3_zero(), rs_v3_zero()};
    }
}

/* All touched links of one robot at once; they follow `first` in the list. */
static void settle_tree(rs_partner *all, int64_t count, int64_t first) {
    rs_articulation *a = all[first].tree;
    clear_wrenches(a);
    for (int64_t k = first; k < count; k++)
        if (all[k].tree == a)
            a->force[all[k].link] = (rs_pair6){rs_neg(all[k].substep.lin), rs_neg(all[k].substep.ang)};
    const double *change = respond(a);
    for (int32_t k = 0; k < a->u_count; k++) {
        a->u_free[k] += change[k];
        a->soft_change[k] += change[k];
    }
    for (int64_t k = first; k < count; k++)
        if (all[k].tree == a && all[k].mobile) {
            rs_pair6 motion = rs_link_twist(a, all[k].link, change);
            all[k].v = rs_add(all[k].v_start, motion.lin);
            all[k].w = rs_add(all[k].w_start, motion.ang);
        }
}

static bool has_impulse(const rs_partner *p) { return rs_norm2(p->substep.lin) + rs_norm2(p->substep.ang) > 0.0; }

void rs_partners_settle(rs_partners *partners) {
    rs_partner *all = partners->partners.items;
    int64_t count = partners->partners.count;
    for (int64_t k = 0; k < count; k++) {
        if (!leads_tree(all, k))
            continue;
        bool acted = false;
        for (int64_t other = k; other < count; other++)
            acted |= all[other].tree == all[k].tree && has_impulse(&all[other]);
        if (acted)
            settle_tree(all, count, k);
    }
}

/* Forces made a body faster for the length of a substep before impulses held it, and then it went all the way with the velocity
 * that was left. */
static double held_of(const rs_partner *p, double h) {
    if (p->tree != NULL || !p->pushed || !p->mobile)
        return 0.0;
    rs_sym3 inertia = rs_sym3_inverse(&p->inverse_inertia);
    double forces = rs_norm2(p->a) / p->inverse_mass + rs_dot(p->alpha, rs_sym3_mulv(&inertia, p->alpha));
    return -h * (rs_dot(p->a, p->substep.lin) + rs_dot(p->alpha, p->substep.ang)) - 0.5 * h * h * forces;
}

double rs_partners_work(const rs_partners *partners, double h, double *held) {
    double sum = 0.0;
    *held = 0.0;
    for (int64_t k = 0; k < partners->partners.count; k++) {
        const rs_partner *p = &partners->partners.items[k];
        sum += 0.5 * (rs_dot(p->substep.lin, rs_add(p->v_start, p->v)) + rs_dot(p->substep.ang, rs_add(p->w_start, p->w)));
        *held += held_of(p, h);
    }
    return sum;
}

void rs_partners_finish(rs_partners *partners, const rs_soft_scene *scene) {
    for (int64_t k = 0; k < partners->partners.count; k++) {
        const rs_partner *p = &partners->partners.items[k];
        rs_body *body = &scene->bodies[p->body];
        body->soft_held |= p->touched;
        if (!p->mobile || p->tree != NULL)
            continue;
        rs_solver_body *solver = &scene->solver_bodies[p->body];
        rs_vec3 dv = rs_scale(p->inverse_mass, p->impulse.lin), dw = rs_sym3_mulv(&p->inverse_inertia, p->impulse.ang);
        solver->v.xyz = rs_add(solver->v.xyz, dv);
        solver->w.xyz = rs_add(solver->w.xyz, dw);
        body->soft_velocity = rs_add(body->soft_velocity, dv);
        body->soft_omega = rs_add(body->soft_omega, dw);
        body->soft_shift = rs_add(body->soft_shift, rs_madd(p->shift, -0.5 * scene->dt, dv));
        body->soft_turn = rs_add(body->soft_turn, rs_madd(p->turn, -0.5 * scene->dt, dw));
    }
}

/* ---- impulses ---- */

static void add_wrench(rs_partner *p, rs_vec3 impulse, rs_vec3 moment) {
    p->touched = p->pushed = true;
    p->impulse.lin = rs_add(p->impulse.lin, impulse);
    p->impulse.ang = rs_add(p->impulse.ang, moment);
    p->substep.lin = rs_add(p->substep.lin, impulse);
    p->substep.ang = rs_add(p->substep.ang, moment);
    if (!p->mobile)
        return;
    if (p->tree == NULL) {
        p->v = rs_madd(p->v, p->inverse_mass, impulse);
        p->w = rs_add(p->w, rs_sym3_mulv(&p->inverse_inertia, moment));
        return;
    }
    const double six[6] = {impulse.x, impulse.y, impulse.z, moment.x, moment.y, moment.z};
    double change[6] = {0};
    for (int r = 0; r < 6; r++)
        for (int k = 0; k < 6; k++)
            change[r] += p->response[6 * r + k] * six[k];
    p->v = rs_add(p->v, rs_v3_load(change));
    p->w = rs_add(p->w, rs_v3_load(change + 3));
}

void rs_partner_push(rs_partner *partner, rs_vec3 point, rs_vec3 impulse) {
    add_wrench(partner, impulse, rs_cross(rs_sub(point, partner->centre), impulse));
}

void rs_partner_turn(rs_partner *partner, rs_vec3 moment) { add_wrench(partner, rs_v3_zero(), moment); }

double rs_partner_inverse_mass(const rs_partner *partner, rs_vec3 point, rs_vec3 direction) {
    if (!partner->mobile)
        return 0.0;
    rs_vec3 moment = rs_cross(rs_sub(point, partner->centre), direction);
    if (partner->tree == NULL)
        return partner->inverse_mass + rs_dot(moment, rs_sym3_mulv(&partner->inverse_inertia, moment));
    const double six[6] = {direction.x, direction.y, direction.z, moment.x, moment.y, moment.z};
    double sum = 0.0;
    for (int r = 0; r < 6; r++)
        for (int k = 0; k < 6; k++)
            sum += six[r] * partner->response[6 * r + k] * six[k];
    return sum;
}
