#include "tendons.h"

/* Shorter ways have no direction [m]. */
static const double NO_WAY = 1e-15;

double rs_tendon_speed(const rs_articulation *a, const rs_tendon *tendon, const double *u) {
    double sum = 0.0;
    for (int32_t k = tendon->dof_first; k < tendon->dof_first + tendon->dof_count; k++)
        sum += a->arms[k] * u[a->tendon_dofs[k]];
    return sum;
}

void rs_tendon_pull(const rs_articulation *a, const rs_tendon *tendon, double pull, double *force) {
    for (int32_t k = tendon->dof_first; k < tendon->dof_first + tendon->dof_count; k++)
        force[a->tendon_dofs[k]] += a->arms[k] * pull;
}

/* Keeps the arms that were added up per degree of freedom. */
static void keep_arms(rs_articulation *a, const rs_tendon *tendon) {
    for (int32_t k = tendon->dof_first; k < tendon->dof_first + tendon->dof_count; k++) {
        a->arms[k] = a->arm_of[a->tendon_dofs[k]];
        a->arm_of[a->tendon_dofs[k]] = 0.0;
    }
}

/* ---- forces at links, and what they are along the joints ---- */

static rs_vec3 world_point(const rs_articulation *a, int32_t link, rs_vec3 local) {
    return link < 0 ? local : rs_add(a->motion[link].pos, rs_m3_mulv(&a->motion[link].rot, local));
}

static rs_mat3 world_axes(const rs_articulation *a, const rs_route *r) {
    return r->link < 0 ? r->rotation : rs_m3_mul(&a->motion[r->link].rot, &r->rotation);
}

static void add_pull(rs_articulation *a, int32_t link, rs_vec3 point, rs_vec3 force, rs_vec3 torque) {
    if (link < 0)
        return;
    rs_pair6 wrench = rs_shift_force((rs_pair6){force, torque}, rs_sub(point, a->motion[link].pos));
    a->pull[link] = rs_pair6_add(a->pull[link], wrench);
}

/* Carries the pulls at links to the base. */
static void collect_pulls(rs_articulation *a, const rs_tendon *tendon) {
    int32_t dof = tendon->dof_first, dof_end = dof + tendon->dof_count;
    for (int32_t k = tendon->link_first; k < tendon->link_first + tendon->link_count; k++) {
        int32_t i = a->tendon_links[k];
        rs_pair6 f = a->pull[i];
        a->pull[i] = (rs_pair6){0};
        if (dof < dof_end && a->tendon_dofs[dof] == a->links[i].u_first) { /* the others do not change its length */
            rs_joint_project(&a->links[i], &a->motion[i], &f, &a->arm_of[a->links[i].u_first]);
            dof += a->links[i].u_count;
        }
        if (i > 0)
            a->pull[a->links[i].parent] = rs_pair6_add(a->pull[a->links[i].parent], rs_shift_force(f, a->motion[i].arm));
    }
    for (int32_t k = tendon->route_first; k < tendon->route_first + tendon->route_count; k++)
        if (a->routes[k].link >= 0) /* of links that nothing moves against each other */
            a->pull[a->routes[k].link] = (rs_pair6){0};
}

/* ---- kinds of tendons ---- */

static double fixed_length(rs_articulation *a, const rs_tendon *tendon, const double *q) {
    double sum = 0.0;
    for (int32_t k = tendon->term_first; k < tendon->term_first + tendon->term_count; k++) {
        const rs_tendon_term *term = &a->terms[k];
        sum += term->coefficient * q[a->links[term->link].q_first];
        a->arm_of[a->links[term->link].u_first] += term->coefficient;
    }
    return sum;
}

/* A straight part between two points of links, of which a share counts. */
static double straight(rs_articulation *a, int32_t link_a, rs_vec3 from, int32_t link_b, rs_vec3 to, double share) {
    rs_vec3 way = rs_sub(to, from);
    double length = rs_norm(way);
    if (length > NO_WAY) {
        rs_vec3 along = rs_scale(share / length, way);
        add_pull(a, link_b, to, along, rs_v3_zero());
        add_pull(a, link_a, from, rs_neg(along), rs_v3_zero());
    }
    return share * length;
}

/* From point `k` of the route around the round thing behind it to the point after that. */
static double around(rs_articulation *a, int32_t k, double share) {
    const rs_route *first = &a->routes[k], *round = &a->routes[k + 1], *last = &a->routes[k + 2];
    rs_vec3 from = world_point(a, first->link, first->position), to = world_point(a, last->link, last->position);
    rs_vec3 centre = world_point(a, round->link, round->position);
    rs_mat3 axes = world_axes(a, round);
    rs_vec3 side = rs_m3_tmulv(&axes, rs_sub(world_point(a, round->side_link, round->side), centre));
    rs_wrap wrap;
    if (!rs_tendon_wrap(round->kind == RS_ROUTE_SPHERE, round->size, rs_m3_tmulv(&axes, rs_sub(from, centre)),
                        rs_m3_tmulv(&axes, rs_sub(to, centre)), round->has_side ? &side : NULL, &wrap))
        return straight(a, first->link, from, last->link, to, share);
    rs_vec3 on = rs_add(centre, rs_m3_mulv(&axes, wrap.from)), off = rs_add(centre, rs_m3_mulv(&axes, wrap.to));
    return straight(a, first->link, from, round->link, on, share) + share * wrap.length +
           straight(a, round->link, off, last->link, to, share);
}

static double routed_length(rs_articulation *a, const rs_tendon *tendon) {
    double sum = 0.0, share = 1.0;
    int32_t end = tendon->route_first + tendon->route_count;
    for (int32_t k = tendon->route_first; k + 1 < end;) {
        const rs_route *here = &a->routes[k], *next = &a->routes[k + 1];
        if (here->kind == RS_ROUTE_PULLEY || next->kind == RS_ROUTE_PULLEY) {
            share = here->kind == RS_ROUTE_PULLEY ? 1.0 / here->size : share;
            k++;
        } else if (next->kind == RS_ROUTE_POINT) {
            sum += straight(a, here->link, world_point(a, here->link, here->position), next->link,
                            world_point(a, next->link, next->position), share);
            k++;
        } else {
            sum += around(a, k, share);
            k += 2;
        }
    }
    return sum;
}

static double frames_length(rs_articulation *a, const rs_tendon *tendon) {
    const rs_route *own = &a->routes[tendon->route_first], *other = own + 1;
    rs_mat3 axes = world_axes(a, own), reference = world_axes(a, other);
    rs_vec3 at = world_point(a, own->link, own->position), from = world_point(a, other->link, other->position);
    rs_vec3 push = rs_v3_load(tendon->gear), turn = rs_v3_load(tendon->gear + 3);
    rs_vec3 force = rs_m3_mulv(tendon->flags & RS_OWN_PUSH ? &axes : &reference, push);
    rs_vec3 torque = rs_m3_mulv(tendon->flags & RS_OWN_TURN ? &axes : &reference, turn);
    add_pull(a, own->link, at, force, torque);
    add_pull(a, other->link, from, rs_neg(force), rs_neg(torque));
    if (tendon->flags & RS_UNMEASURED)
        return 0.0;
    rs_mat3 turned = rs_m3_tmul(&reference, &axes);
    rs_vec3 angle = rs_rotation_between(rs_quat_identity(), rs_m3_to_quat(&turned));
    return rs_dot(push, rs_m3_tmulv(&reference, rs_sub(at, from))) + rs_dot(turn, angle);
}

static double curve_length(rs_articulation *a, const rs_tendon *tendon) {
    const double *c = tendon->curve;
    double x = a->tendon_places[tendon->of[1]].length - tendon->reference[1];
    double value = c[0] + x * (c[1] + x * (c[2] + x * (c[3] + x * c[4])));
    double slope = c[1] + x * (2.0 * c[2] + x * (3.0 * c[3] + x * 4.0 * c[4]));
    rs_tendon_pull(a, &a->tendons[tendon->of[0]], 1.0, a->arm_of);
    rs_tendon_pull(a, &a->tendons[tendon->of[1]], -slope, a->arm_of);
    return a->tendon_places[tendon->of[0]].length - tendon->reference[0] - value;
}

void rs_tendons_place(rs_articulation *a, const double *q) {
    for (int32_t k = 0; k < a->tendon_count; k++) {
        const rs_tendon *tendon = &a->tendons[k];
        double *length = &a->tendon_places[k].length;
        switch (tendon->kind) {
        case RS_TENDON_FIXED: *length = fixed_length(a, tendon, q); break;
        case RS_TENDON_CURVE: *length = curve_length(a, tendon); break;
        default:
            *length = tendon->kind == RS_TENDON_ROUTED ? routed_length(a, tendon) : frames_length(a, tendon);
            collect_pulls(a, tendon);
        }
        keep_arms(a, tendon);
    }
}
