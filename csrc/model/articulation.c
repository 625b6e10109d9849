#include "articulation.h"
#include "../base/limits.h"

#include <string.h>

/* ---- memory: one block, this struct in front, arrays behind it ---- */

enum { BLOCK_ALIGNMENT = 64 };

/* Takes the next array from the block; with base NULL it only counts. */
static void *take(char *base, size_t *offset, size_t bytes) {
    size_t start = (*offset + BLOCK_ALIGNMENT - 1) / BLOCK_ALIGNMENT * BLOCK_ALIGNMENT;
    *offset = start + bytes;
    return base != NULL ? base + start : NULL;
}

/* Points the arrays of `a` into the block at `base` and returns the size of the block. */
static size_t lay_out(rs_articulation *a, char *base) {
    size_t offset = sizeof *a;
    size_t links = (size_t)a->link_count, nq = sizeof(double) * (size_t)a->q_count, nu = sizeof(double) * (size_t)a->u_count;
    a->links = take(base, &offset, links * sizeof *a->links);
    a->order = take(base, &offset, links * sizeof *a->order);
    a->four_at = take(base, &offset, links * sizeof *a->four_at);
    a->fours = take(base, &offset, links / 4 * sizeof *a->fours);
    a->self_contacts = take(base, &offset, links * links);
    a->pins = take(base, &offset, (size_t)a->pin_count * sizeof *a->pins);
    a->couplings = take(base, &offset, (size_t)a->coupling_count * sizeof *a->couplings);
    double **like_u[] = {&a->u_change,     &a->u_change_before, &a->u_ahead,
                         &a->p_gain,       &a->d_gain,       &a->damping,       &a->friction,     &a->rotor_inertia,
                         &a->stiffness,    &a->lower,        &a->upper,         &a->velocity_limit, &a->effort_lower,
                         &a->effort_upper, &a->feed_forward, &a->d_target,      &a->u,            &a->acceleration,
                         &a->applied_force, &a->u_free,      &a->weight,        &a->rhs,          &a->work[0],
                         &a->work[1],      &a->work[2],      &a->work[3],       &a->limit_impulse, &a->friction_impulse,
                         &a->errors[0],    &a->errors[1],    &a->u_push,       &a->reduced,
                         &a->motor_impulse, &a->motor_weight, &a->motor_drive, &a->stiff_below, &a->overruns,
                         &a->carried.u};
    double **like_q[] = {&a->spring_mount, &a->p_target, &a->q, &a->q_stage, &a->q_work[0], &a->q_work[1], &a->carried.q};
    for (size_t k = 0; k < sizeof like_u / sizeof *like_u; k++)
        *like_u[k] = take(base, &offset, nu);
    for (size_t k = 0; k < sizeof like_q / sizeof *like_q; k++)
        *like_q[k] = take(base, &offset, nq);
    a->loads = take(base, &offset, links * sizeof *a->loads);
    a->command = take(base, &offset, links * sizeof *a->command);
    a->applied_wrench = take(base, &offset, links * sizeof *a->applied_wrench);
    a->motion = take(base, &offset, links * sizeof *a->motion);
    a->mass = take(base, &offset, links * sizeof *a->mass);
    a->articulated = take(base, &offset, links * sizeof *a->articulated);
    a->factor = take(base, &offset, links * sizeof *a->factor);
    a->acc = take(base, &offset, links * sizeof *a->acc);
    a->force = take(base, &offset, links * sizeof *a->force);
    a->composite = take(base, &offset, links * sizeof *a->composite);
    a->columns = take(base, &offset, (size_t)a->u_count * sizeof *a->columns);
    a->free_motion = take(base, &offset, links * sizeof *a->free_motion);
    a->reaction = take(base, &offset, links * sizeof *a->reaction);
    return offset;
}

rs_articulation *rs_articulation_clone(const rs_articulation *source) {
    rs_articulation *copy = rs_alloc(source->bytes);
    if (copy == NULL)
        return NULL;
    memcpy(copy, source, source->bytes);
    lay_out(copy, (char *)copy);
    copy->placed_at = NULL;
    return copy;
}

void rs_articulation_free(rs_articulation *a) { rs_free(a); }

/* ---- links ---- */

static int32_t joint_q_count(rs_joint_type type) {
    static const int32_t counts[] = {[RS_JOINT_FIXED] = 0, [RS_JOINT_FLOATING] = 7, [RS_JOINT_REVOLUTE] = 1,
                                     [RS_JOINT_PRISMATIC] = 1, [RS_JOINT_SPHERICAL] = 4};
    return counts[type];
}

static int32_t joint_u_count(rs_joint_type type) {
    static const int32_t counts[] = {[RS_JOINT_FIXED] = 0, [RS_JOINT_FLOATING] = 6, [RS_JOINT_REVOLUTE] = 1,
                                     [RS_JOINT_PRISMATIC] = 1, [RS_JOINT_SPHERICAL] = 3};
    return counts[type];
}

/* Rodrigues' formula, split by its dependence on the angle and with the joint's rotation multiplied in. */
static void split_rotation(rs_link *link) {
    rs_vec3 a = link->axis;
    rs_mat3 along = {{a.x * a.x, a.x * a.y, a.x * a.z, a.y * a.x, a.y * a.y, a.y * a.z, a.z * a.x, a.z * a.y, a.z * a.z}};
    rs_mat3 across = rs_m3_identity(), cross = {{0, -a.z, a.y, a.z, 0, -a.x, -a.y, a.x, 0}};
    for (int k = 0; k < 9; k++)
        across.m[k] -= along.m[k];
    link->turn_fixed = rs_m3_mul(&link->joint_rot, &along);
    link->turn_cos = rs_m3_mul(&link->joint_rot, &across);
    link->turn_sin = rs_m3_mul(&link->joint_rot, &cross);
}

static void update_derived(rs_link *link) {
    static const rs_mat3 identity = {{1, 0, 0, 0, 1, 0, 0, 0, 1}};
    link->joint_rot_identity = memcmp(&link->joint_rot, &identity, sizeof identity) == 0;
    link->axis_in_parent = rs_m3_mulv(&link->joint_rot, link->axis);
    split_rotation(link);
    rs_vec3 c = link->com;
    link->mass_com = rs_scale(link->mass, c);
    const rs_sym3 *i = &link->inertia;
    double m = link->mass;
    link->inertia_origin = (rs_sym3){.xx = i->xx + m * (c.y * c.y + c.z * c.z), .yy = i->yy + m * (c.x * c.x + c.z * c.z),
                                     .zz = i->zz + m * (c.x * c.x + c.y * c.y), .xy = i->xy - m * c.x * c.y,
                                     .xz = i->xz - m * c.x * c.z, .yz = i->yz - m * c.y * c.z};
}

/* ---- checks ---- */

static rs_status bad_link(int32_t index, const rs_link_def *def, const char *what) {
    return rs_fail(RS_INVALID_VALUE, "link %d ('%s'): %s", index, def->name != NULL ? def->name : "", what);
}

/* Nothing, or a number with which a step can calculate. */
static bool is_zero_or_between(double value, double least, double most) {
    return value == 0.0 || (fabs(value) >= least && fabs(value) <= most);
}

static bool moments_are_carried(const double *inertia) {
    bool carried = rs_all_carried(inertia, 6);
    for (int k = 0; k < 3; k++)
        carried = carried && is_zero_or_between(inertia[k], RS_LEAST_MOMENT, RS_GREATEST_MOMENT);
    return carried;
}

/* Singular tensors are fine here: massless links, rods and points carry real robots' frames. Rounding may make them
 * slightly negative, also that of sums of parts moved to a common centre of mass. */
static bool inertia_is_possible(const rs_link_def *d) {
    const double *i = d->inertia;
    rs_sym3 s = {i[0], i[1], i[2], i[3], i[4], i[5]};
    double size = fabs(i[0]) + fabs(i[1]) + fabs(i[2]);
    double tolerance = 1e-9 * size + 1e-14 * d->mass * (1.0 + rs_norm2(rs_v3_load(d->com)));
    double area = tolerance * (size + tolerance), volume = area * (size + tolerance);
    return i[0] >= -tolerance && i[1] >= -tolerance && i[2] >= -tolerance && i[0] * i[1] - i[3] * i[3] >= -area &&
           i[0] * i[2] - i[4] * i[4] >= -area && i[1] * i[2] - i[5] * i[5] >= -area && rs_sym3_det(&s) >= -volume;
}

static bool is_rotation(const double *r) {
    rs_mat3 m;
    memcpy(m.m, r, sizeof m.m);
    rs_mat3 product = rs_m3_tmul(&m, &m);
    static const rs_mat3 identity = {{1, 0, 0, 0, 1, 0, 0, 0, 1}};
    for (int k = 0; k < 9; k++)
        if (!(fabs(product.m[k] - identity.m[k]) <= 1e-9))
            return false;
    rs_vec3 x = rs_m3_col(&m, 0), y = rs_m3_col(&m, 1), z = rs_m3_col(&m, 2);
    return rs_dot(rs_cross(x, y), z) > 0.0;
}

static rs_status check_joint(int32_t index, const rs_link_def *d) {
    if (d->joint_type < RS_JOINT_FIXED || d->joint_type > RS_JOINT_SPHERICAL)
        return bad_link(index, d, "unknown joint type");
    bool root_type = d->joint_type == RS_JOINT_FIXED || d->joint_type == RS_JOINT_FLOATING;
    if (index == 0 && (!root_type || d->parent != -1))
        return bad_link(index, d, "expected parent -1 and a fixed or floating joint for link 0");
    if (index > 0 && root_type)
        return bad_link(index, d, "only link 0 may be fixed or floating");
    if (index > 0 && (d->parent < 0 || d->parent >= index))
        return bad_link(index, d, "expected the parent before the child");
    if (!rs_all_carried(d->joint_position, 3) || !is_rotation(d->joint_rotation))
        return bad_link(index, d, "expected a finite joint position and a rotation matrix");
    rs_vec3 axis = rs_v3_load(d->axis);
    bool has_axis = d->joint_type == RS_JOINT_REVOLUTE || d->joint_type == RS_JOINT_PRISMATIC;
    if (has_axis && !(fabs(rs_norm(axis) - 1.0) <= 1e-6))
        return bad_link(index, d, "expected a joint axis of length 1");
    return RS_OK;
}

rs_status rs_articulation_check_link(int32_t index, const rs_link_def *d) {
    rs_status status = check_joint(index, d);
    if (status != RS_OK)
        return status;
    if (!(isfinite(d->mass) && d->mass >= 0.0) || !rs_all_carried(d->com, 3))
        return bad_link(index, d, "expected a finite centre of mass and a finite mass, at least 0");
    if (!is_zero_or_between(d->mass, RS_LEAST_MASS, RS_GREATEST_MASS) || !moments_are_carried(d->inertia))
        return bad_link(index, d, "expected a mass of 0 or between 1e-40 and 1e40 and moments of inertia of 0 or between "
                                  "1e-60 and 1e50");
    if (!inertia_is_possible(d))
        return bad_link(index, d, "expected an inertia without negative moments");
    const double passive[4] = {d->damping, d->friction, d->rotor_inertia, d->stiffness};
    for (int k = 0; k < 4; k++)
        if (!(passive[k] >= 0.0 && rs_is_carried(passive[k])))
            return bad_link(index, d, "expected damping, friction, rotor inertia and stiffness of at least 0");
    if (!rs_all_carried(d->spring_mount, 4))
        return bad_link(index, d, "expected a finite spring mount");
    if (!(d->lower <= d->upper) || !(d->velocity_limit >= 0.0) || !(d->effort_limit >= 0.0))
        return bad_link(index, d, "expected lower <= upper and limits of at least 0");
    return RS_OK;
}

/* ---- construction ---- */

void rs_articulation_fill_link(rs_link *link, const rs_link_def *d) {
    link->joint_pos = rs_v3_load(d->joint_position);
    memcpy(link->joint_rot.m, d->joint_rotation, sizeof link->joint_rot.m);
    link->axis = rs_normalize_or(rs_v3_load(d->axis), rs_v3(0, 0, 1));
    link->mass = d->mass;
    link->com = rs_v3_load(d->com);
    const double *i = d->inertia;
    link->inertia = (rs_sym3){i[0], i[1], i[2], i[3], i[4], i[5]};
    update_derived(link);
}

/* One number of the definition serves all degrees of freedom of its joint; a floating base has no motor. */
static void fill_parameters(rs_articulation *a, const rs_link *link, const rs_link_def *d) {
    bool joint = link->type != RS_JOINT_FLOATING;
    for (int32_t k = link->u_first; k < link->u_first + link->u_count; k++) {
        a->damping[k] = joint ? d->damping : 0.0;
        a->friction[k] = joint ? d->friction : 0.0;
        a->rotor_inertia[k] = joint ? d->rotor_inertia : 0.0;
        a->stiffness[k] = joint ? d->stiffness : 0.0;
        a->lower[k] = joint ? d->lower : -INFINITY;
        a->upper[k] = joint ? d->upper : INFINITY;
        a->velocity_limit[k] = joint ? d->velocity_limit : INFINITY;
        a->effort_lower[k] = joint ? -d->effort_limit : -INFINITY;
        a->effort_upper[k] = joint ? d->effort_limit : INFINITY;
    }
    double *mount = &a->spring_mount[link->q_first];
    int32_t quaternion = link->type == RS_JOINT_FLOATING ? link->q_first + 3 : link->q_first;
    if (link->u_count == 1)
        mount[0] = d->spring_mount[0];
    if (link->type == RS_JOINT_SPHERICAL)
        rs_quat_store(mount, rs_quat_normalize(rs_quat_load(d->spring_mount)));
    if (link->u_count >= 3) {
        a->q[quaternion] = a->p_target[quaternion] = 1.0;
        if (link->type == RS_JOINT_FLOATING)
            mount[3] = 1.0;
    }
}

static int32_t depth_of(const rs_articulation *a, int32_t link) {
    int32_t depth = 0;
    for (int32_t i = a->links[link].parent; i >= 0; i = a->links[i].parent)
        depth++;
    return depth;
}

/* Stable insertion by depth. */
static void fill_order(rs_articulation *a) {
    int32_t count = 0;
    for (int32_t depth = 1; count < a->link_count - 1; depth++)
        for (int32_t i = 1; i < a->link_count; i++)
            if (depth_of(a, i) == depth)
                a->order[count++] = i;
}

static bool are_four(const rs_articulation *a, int32_t at) {
    if (at + 4 > a->link_count - 1)
        return false;
    for (int32_t k = at; k < at + 4; k++)
        if (a->links[a->order[k]].type != RS_JOINT_REVOLUTE || depth_of(a, a->order[k]) != depth_of(a, a->order[at]))
            return false;
    return true;
}

static void fill_lane(rs_four_links *four, int lane, const rs_link *link) {
    const rs_sym3 *i = &link->inertia_origin;
    const double inertia[6] = {i->xx, i->yy, i->zz, i->xy, i->xz, i->yz};
    for (int k = 0; k < 9; k++) {
        four->turn_fixed[k][lane] = link->turn_fixed.m[k];
        four->turn_cos[k][lane] = link->turn_cos.m[k];
        four->turn_sin[k][lane] = link->turn_sin.m[k];
    }
    for (int k = 0; k < 3; k++) {
        four->axis_in_parent[k][lane] = rs_v3_get(link->axis_in_parent, k);
        four->joint_pos[k][lane] = rs_v3_get(link->joint_pos, k);
        four->mass_com[k][lane] = rs_v3_get(link->mass_com, k);
    }
    for (int k = 0; k < 6; k++)
        four->inertia_origin[k][lane] = inertia[k];
    four->mass[lane] = link->mass;
}

void rs_articulation_fill_fours(rs_articulation *a) {
    a->carried.known = false;
    int32_t count = 0;
    for (int32_t at = 0; at < a->link_count - 1;) {
        bool four = are_four(a, at);
        a->four_at[at] = four ? count : -1;
        for (int lane = 0; lane < 4 && four; lane++) {
            rs_four_links *out = &a->fours[count];
            const rs_link *link = &a->links[a->order[at + lane]];
            out->link[lane] = a->order[at + lane];
            out->one_parent = (lane == 0 || out->one_parent) && link->parent == a->links[a->order[at]].parent;
            fill_lane(out, lane, link);
        }
        count += four;
        at += four ? 4 : 1;
    }
}

static void fill_self_contacts(rs_articulation *a, bool with_parent) {
    for (int32_t i = 0; i < a->link_count; i++)
        for (int32_t j = 0; j < a->link_count; j++) {
            bool related = a->links[i].parent == j || a->links[j].parent == i;
            a->self_contacts[i * a->link_count + j] = i != j && (with_parent || !related);
        }
}

static bool can_be_coupled(const rs_articulation *a, int32_t link) {
    return link >= 0 && link < a->link_count && a->links[link].u_count == 1;
}

static rs_status fill_couplings(rs_articulation *a, const rs_articulation_def *def) {
    for (int32_t k = 0; k < def->coupling_count; k++) {
        const rs_coupling_def *c = &def->couplings[k];
        if (!can_be_coupled(a, c->follower) || !can_be_coupled(a, c->leader) || c->follower == c->leader)
            return rs_fail(RS_INVALID_VALUE, "coupling %d joins the joints of links %d and %d; expected two different ones "
                                             "that are revolute or prismatic", k, c->follower, c->leader);
        if (!isfinite(c->multiplier) || !isfinite(c->offset))
            return rs_fail(RS_INVALID_VALUE, "coupling %d has multiplier %g and offset %g; expected finite numbers", k,
                           c->multiplier, c->offset);
        a->couplings[k] = (rs_coupling){c->follower, c->leader, c->multiplier, c->offset, 0.0};
    }
    return RS_OK;
}

rs_status rs_articulation_make(const rs_articulation_def *def, rs_articulation **out) {
    if (def->link_count < 1 || def->links == NULL)
        return rs_fail(RS_INVALID_VALUE, "link count is %d; expected at least 1", def->link_count);
    if (def->pin_count < 0)
        return rs_fail(RS_INVALID_VALUE, "pin count is %d; expected 0 or more", def->pin_count);
    if (def->coupling_count < 0)
        return rs_fail(RS_INVALID_VALUE, "coupling count is %d; expected 0 or more", def->coupling_count);
    rs_articulation counts = {.link_count = def->link_count, .pin_count = def->pin_count,
                              .coupling_count = def->coupling_count};
    for (int32_t i = 0; i < def->link_count; i++) {
        rs_status status = rs_articulation_check_link(i, &def->links[i]);
        if (status == RS_OK && def->links[i].joint_type == RS_JOINT_SPHERICAL &&
            !(rs_quat_norm(rs_quat_load(def->links[i].spring_mount)) > 1e-6))
            status = bad_link(i, &def->links[i], "expected a quaternion as spring mount");
        if (status != RS_OK)
            return status;
        counts.q_count += joint_q_count((rs_joint_type)def->links[i].joint_type);
        counts.u_count += joint_u_count((rs_joint_type)def->links[i].joint_type);
    }
    size_t bytes = lay_out(&counts, NULL);
    rs_articulation *a = rs_alloc(bytes);
    if (a == NULL)
        return RS_OUT_OF_MEMORY;
    *a = counts;
    a->bytes = bytes;
    lay_out(a, (char *)a);
    a->fixed_base = def->links[0].joint_type == RS_JOINT_FIXED;
    a->base_quaternion = rs_quat_identity();
    a->scheme = RS_SCHEME_TRAPEZOID;
    a->control_mode = RS_CONTROL_FORCE_AND_TORQUE;
    int32_t q_first = 0, u_first = 0;
    for (int32_t i = 0; i < def->link_count; i++) {
        rs_link *link = &a->links[i];
        link->type = (rs_joint_type)def->links[i].joint_type;
        link->parent = def->links[i].parent;
        link->q_first = q_first;
        link->u_first = u_first;
        link->u_count = joint_u_count(link->type);
        rs_articulation_fill_link(link, &def->links[i]);
        fill_parameters(a, link, &def->links[i]);
        q_first += joint_q_count(link->type);
        u_first += link->u_count;
    }
    fill_order(a);
    rs_articulation_fill_fours(a);
    fill_self_contacts(a, def->collide_with_parent != 0);
    rs_status status = fill_couplings(a, def);
    if (status == RS_OK)
        *out = a;
    else
        rs_articulation_free(a);
    return status;
}
