#include "tree_model.h"
#include "../base/limits.h"

#include <stddef.h>
#include <string.h>

/* ---- memory: one block, the struct in front, arrays behind it ---- */

/* Points the arrays of `m` into the block at `base` and returns the size of the block. */
static size_t lay_out(rs_tree_model *m, char *base) {
    size_t offset = sizeof *m, links = (size_t)m->link_count;
    m->links = rs_take(base, &offset, links * sizeof *m->links);
    m->order = rs_take(base, &offset, links * sizeof *m->order);
    m->four_at = rs_take(base, &offset, links * sizeof *m->four_at);
    m->fours = rs_take(base, &offset, links / 4 * sizeof *m->fours);
    m->self_contacts = rs_take(base, &offset, links * links);
    m->pins = rs_take(base, &offset, (size_t)m->pin_count * sizeof *m->pins);
    m->couplings = rs_take(base, &offset, (size_t)m->coupling_count * sizeof *m->couplings);
    m->tendons = rs_take(base, &offset, (size_t)m->tendon_count * sizeof *m->tendons);
    m->terms = rs_take(base, &offset, (size_t)m->term_count * sizeof *m->terms);
    m->routes = rs_take(base, &offset, (size_t)m->route_count * sizeof *m->routes);
    m->tendon_dofs = rs_take(base, &offset, (size_t)m->tendon_dof_count * sizeof *m->tendon_dofs);
    m->tendon_links = rs_take(base, &offset, (size_t)m->tendon_link_count * sizeof *m->tendon_links);
    m->drives = rs_take(base, &offset, (size_t)m->drive_count * sizeof *m->drives);
    return offset;
}

rs_tree_model *rs_tree_model_clone(const rs_tree_model *model) {
    rs_tree_model *copy = rs_alloc(model->bytes);
    if (copy == NULL)
        return NULL;
    const size_t counted = offsetof(rs_tree_model, link_count); /* others may let go of the model meanwhile */
    memcpy((char *)copy + counted, (const char *)model + counted, model->bytes - counted);
    atomic_init(&copy->holders, 1);
    lay_out(copy, (char *)copy);
    return copy;
}

rs_tree_model *rs_tree_model_alloc(const rs_tree_model *counts) {
    rs_tree_model sized = *counts;
    sized.bytes = lay_out(&sized, NULL);
    rs_tree_model *m = rs_alloc(sized.bytes);
    if (m == NULL)
        return NULL;
    *m = sized;
    atomic_init(&m->holders, 1);
    lay_out(m, (char *)m);
    return m;
}

void rs_tree_model_hold(rs_tree_model *model) { atomic_fetch_add(&model->holders, 1); }

void rs_tree_model_drop(rs_tree_model *model) {
    if (model != NULL && atomic_fetch_sub(&model->holders, 1) == 1)
        rs_free(model);
}

/* ---- links ---- */

/* What is true of a type of joint wherever it is; see rs_link. */
typedef struct {
    int32_t numbers;
    bool has_quaternion;
    bool root; /* of link 0, and of no other */
} joint_form;

static const joint_form FORMS[] = {[RS_JOINT_FIXED] = {0, false, true}, [RS_JOINT_FLOATING] = {3, true, true},
                                   [RS_JOINT_REVOLUTE] = {1, false, false}, [RS_JOINT_PRISMATIC] = {1, false, false},
                                   [RS_JOINT_SPHERICAL] = {0, true, false}};

static int32_t q_count_of(const joint_form *form) { return form->numbers + (form->has_quaternion ? 4 : 0); }
static int32_t u_count_of(const joint_form *form) { return form->numbers + (form->has_quaternion ? 3 : 0); }

static bool is_joint_type(int32_t type) { return type >= 0 && (size_t)type < sizeof FORMS / sizeof FORMS[0]; }

int32_t rs_joint_velocity_count(int32_t type) { return is_joint_type(type) ? u_count_of(&FORMS[type]) : 0; }

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

static void update_placement(rs_link *link) {
    static const rs_mat3 identity = {{1, 0, 0, 0, 1, 0, 0, 0, 1}};
    link->joint_rot_identity = memcmp(&link->joint_rot, &identity, sizeof identity) == 0;
    link->axis_in_parent = rs_m3_mulv(&link->joint_rot, link->axis);
    split_rotation(link);
}

static void update_mass(rs_link *link) {
    rs_vec3 c = link->com;
    link->mass_com = rs_scale(link->mass, c);
    const rs_sym3 *i = &link->inertia;
    double m = link->mass;
    link->inertia_origin = (rs_sym3){.xx = i->xx + m * (c.y * c.y + c.z * c.z), .yy = i->yy + m * (c.x * c.x + c.z * c.z),
                                     .zz = i->zz + m * (c.x * c.x + c.y * c.y), .xy = i->xy - m * c.x * c.y,
                                     .xz = i->xz - m * c.x * c.z, .yz = i->yz - m * c.y * c.z};
    double trace = i->xx + i->yy + i->zz;
    link->least_moment = trace > 0.0 ? rs_max(0.0, 4.0 * rs_sym3_det(i) / (trace * trace)) : 0.0;
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
    if (!is_joint_type(d->joint_type))
        return bad_link(index, d, "unknown joint type");
    const joint_form *form = &FORMS[d->joint_type];
    if (index == 0 && (!form->root || d->parent != -1))
        return bad_link(index, d, "expected parent -1 and a fixed or floating joint for link 0");
    if (index > 0 && form->root)
        return bad_link(index, d, "only link 0 may be fixed or floating");
    if (index > 0 && (d->parent < 0 || d->parent >= index))
        return bad_link(index, d, "expected the parent before the child");
    if (!rs_all_carried(d->joint_position, 3) || !is_rotation(d->joint_rotation))
        return bad_link(index, d, "expected a finite joint position and a rotation matrix");
    rs_vec3 axis = rs_v3_load(d->axis);
    if (u_count_of(form) == 1 && !(fabs(rs_norm(axis) - 1.0) <= 1e-6))
        return bad_link(index, d, "expected a joint axis of length 1");
    return RS_OK;
}

rs_status rs_tree_model_check_mass(int32_t index, const rs_link_def *d) {
    if (!(isfinite(d->mass) && d->mass >= 0.0) || !rs_all_carried(d->com, 3))
        return bad_link(index, d, "expected a finite centre of mass and a finite mass, at least 0");
    if (!is_zero_or_between(d->mass, RS_LEAST_MASS, RS_GREATEST_MASS) || !moments_are_carried(d->inertia))
        return bad_link(index, d, "expected a mass of 0 or between 1e-40 and 1e40 and moments of inertia of 0 or between "
                                  "1e-60 and 1e50");
    if (!inertia_is_possible(d))
        return bad_link(index, d, "expected an inertia without negative moments");
    return RS_OK;
}

rs_status rs_tree_model_check_link(int32_t index, const rs_link_def *d) {
    rs_status status = check_joint(index, d);
    RS_THEN(status, rs_tree_model_check_mass(index, d));
    if (status != RS_OK)
        return status;
    const double passive[4] = {d->damping, d->friction, d->rotor_inertia, d->stiffness};
    for (int k = 0; k < 4; k++)
        if (!(passive[k] >= 0.0 && rs_is_carried(passive[k])))
            return bad_link(index, d, "expected damping, friction, rotor inertia and stiffness of at least 0");
    if (!rs_all_carried(d->spring_mount, 4))
        return bad_link(index, d, "expected a finite spring mount");
    if (!rs_is_carried(d->lifted_mass) || !rs_all_carried(d->lifted_com, 3))
        return bad_link(index, d, "expected a finite lifted mass at a finite point");
    if (!(d->lower <= d->upper) || !(d->velocity_limit >= 0.0) || !(d->effort_limit >= 0.0))
        return bad_link(index, d, "expected lower <= upper and limits of at least 0");
    return RS_OK;
}

/* ---- construction ---- */

static void fill_mass(rs_link *link, const rs_link_def *d) {
    link->mass = d->mass;
    link->com = rs_v3_load(d->com);
    link->inertia = rs_sym3_load(d->inertia);
    update_mass(link);
}

/* A unit vector stays as it is: a link that is read and set again keeps its bits. */
static rs_vec3 unit_axis(rs_vec3 axis) {
    return fabs(rs_norm(axis) - 1.0) <= 1e-15 ? axis : rs_normalize_or(axis, rs_v3(0, 0, 1));
}

static void fill_link(rs_link *link, const rs_link_def *d) {
    link->joint_pos = rs_v3_load(d->joint_position);
    memcpy(link->joint_rot.m, d->joint_rotation, sizeof link->joint_rot.m);
    link->axis = unit_axis(rs_v3_load(d->axis));
    link->lifted_mass = d->lifted_mass;
    link->lifted_com = rs_v3_load(d->lifted_com);
    update_placement(link);
    fill_mass(link, d);
}

static void fill_depths(rs_tree_model *m) {
    for (int32_t i = 0; i < m->link_count; i++)
        m->links[i].depth = i == 0 ? 0 : m->links[m->links[i].parent].depth + 1;
}

/* Stable insertion by depth. */
static void fill_order(rs_tree_model *m) {
    fill_depths(m);
    int32_t count = 0;
    for (int32_t depth = 1; count < m->link_count - 1; depth++)
        for (int32_t i = depth; i < m->link_count; i++) /* behind all those that it hangs on */
            if (m->links[i].depth == depth)
                m->order[count++] = i;
}

static bool are_four(const rs_tree_model *m, int32_t at) {
    if (at + 4 > m->link_count - 1)
        return false;
    for (int32_t k = at; k < at + 4; k++)
        if (m->links[m->order[k]].type != RS_JOINT_REVOLUTE || m->links[m->order[k]].depth != m->links[m->order[at]].depth)
            return false;
    return true;
}

static void fill_lane_mass(rs_four_links *four, int lane, const rs_link *link) {
    const rs_sym3 *i = &link->inertia_origin;
    const double inertia[6] = {i->xx, i->yy, i->zz, i->xy, i->xz, i->yz};
    for (int k = 0; k < 3; k++)
        four->mass_com[k][lane] = rs_v3_get(link->mass_com, k);
    for (int k = 0; k < 6; k++)
        four->inertia_origin[k][lane] = inertia[k];
    four->mass[lane] = link->mass;
}

static void fill_lane(rs_four_links *four, int lane, const rs_link *link) {
    for (int k = 0; k < 9; k++) {
        four->turn_fixed[k][lane] = link->turn_fixed.m[k];
        four->turn_cos[k][lane] = link->turn_cos.m[k];
        four->turn_sin[k][lane] = link->turn_sin.m[k];
    }
    for (int k = 0; k < 3; k++) {
        four->axis_in_parent[k][lane] = rs_v3_get(link->axis_in_parent, k);
        four->joint_pos[k][lane] = rs_v3_get(link->joint_pos, k);
    }
    fill_lane_mass(four, lane, link);
}

static void fill_fours(rs_tree_model *m) {
    int32_t count = 0;
    for (int32_t at = 0; at < m->link_count - 1;) {
        bool four = are_four(m, at);
        m->four_at[at] = four ? count : -1;
        for (int lane = 0; lane < 4 && four; lane++) {
            rs_four_links *out = &m->fours[count];
            const rs_link *link = &m->links[m->order[at + lane]];
            out->link[lane] = m->order[at + lane];
            out->one_parent = (lane == 0 || out->one_parent) && link->parent == m->links[m->order[at]].parent;
            fill_lane(out, lane, link);
        }
        count += four;
        at += four ? 4 : 1;
    }
}

static void fill_self_contacts(rs_tree_model *m, bool with_parent) {
    for (int32_t i = 0; i < m->link_count; i++)
        for (int32_t j = 0; j < m->link_count; j++) {
            bool related = m->links[i].parent == j || m->links[j].parent == i;
            m->self_contacts[i * m->link_count + j] = i != j && (with_parent || !related);
        }
}

static bool can_be_coupled(const rs_tree_model *m, int32_t link) {
    return link >= 0 && link < m->link_count && m->links[link].u_count == 1;
}

static rs_status fill_couplings(rs_tree_model *m, const rs_articulation_def *def) {
    for (int32_t k = 0; k < def->coupling_count; k++) {
        const rs_coupling_def *c = &def->couplings[k];
        if (!can_be_coupled(m, c->follower) || !can_be_coupled(m, c->leader) || c->follower == c->leader)
            return rs_fail(RS_INVALID_VALUE, "coupling %d joins the joints of links %d and %d; expected two different ones "
                                             "that are revolute or prismatic", k, c->follower, c->leader);
        if (!isfinite(c->multiplier) || !isfinite(c->offset))
            return rs_fail(RS_INVALID_VALUE, "coupling %d has multiplier %g and offset %g; expected finite numbers", k,
                           c->multiplier, c->offset);
        m->couplings[k] = (rs_coupling){c->follower, c->leader, c->multiplier, c->offset};
    }
    return RS_OK;
}

void rs_tree_model_set_link(rs_tree_model *m, int32_t index, const rs_link_def *def) {
    fill_link(&m->links[index], def);
    m->lifted |= def->lifted_mass != 0.0;
    fill_fours(m);
}

void rs_tree_model_set_masses(rs_tree_model *m, int32_t count, const int32_t *links, const rs_link_def *defs) {
    for (int32_t k = 0; k < count; k++)
        fill_mass(&m->links[links[k]], &defs[k]);
    for (int32_t at = 0; at < m->link_count - 1; at += m->four_at[at] >= 0 ? 4 : 1)
        for (int lane = 0; lane < 4 && m->four_at[at] >= 0; lane++)
            fill_lane_mass(&m->fours[m->four_at[at]], lane, &m->links[m->order[at + lane]]);
}

static rs_status check_links(const rs_articulation_def *def) {
    for (int32_t i = 0; i < def->link_count; i++) {
        const rs_link_def *link = &def->links[i];
        rs_status status = rs_tree_model_check_link(i, link);
        if (status != RS_OK)
            return status;
        const joint_form *form = &FORMS[link->joint_type];
        if (form->has_quaternion && !form->root && !(rs_quat_norm(rs_quat_load(link->spring_mount)) > 1e-6))
            return bad_link(i, link, "expected a quaternion as spring mount");
    }
    return RS_OK;
}

/* Where the coordinates of the links begin. */
static void number_coordinates(rs_tree_model *m) {
    m->q_count = m->u_count = 0;
    for (int32_t i = 0; i < m->link_count; i++) {
        rs_link *link = &m->links[i];
        const joint_form *form = &FORMS[link->type];
        link->q_first = m->q_count;
        link->numbers = form->numbers;
        link->has_quaternion = form->has_quaternion;
        link->u_first = m->u_count;
        link->u_count = u_count_of(form);
        m->q_count += q_count_of(form);
        m->u_count += link->u_count;
    }
    m->fixed_base = m->links[0].type == RS_JOINT_FIXED;
}

static void fill_links(rs_tree_model *m, const rs_articulation_def *def) {
    for (int32_t i = 0; i < def->link_count; i++) {
        rs_link *link = &m->links[i];
        link->type = (rs_joint_type)def->links[i].joint_type;
        link->parent = def->links[i].parent;
        fill_link(link, &def->links[i]);
        m->lifted |= link->lifted_mass != 0.0;
    }
    number_coordinates(m);
}

static bool is_link(const rs_tree_model *m, int32_t index) { return index >= 0 && index < m->link_count; }

/* Whether joints are of known kinds and hang on links before them. */
static bool is_tree(const rs_tree_model *m) {
    bool fits = true;
    for (int32_t i = 0; i < m->link_count && fits; i++) {
        const rs_link *link = &m->links[i];
        fits = is_joint_type((int32_t)link->type) && FORMS[link->type].root == (i == 0) &&
               (i == 0 ? link->parent == -1 : link->parent >= 0 && link->parent < i);
        fits = fits && rs_v3_is_carried(link->joint_pos) && rs_all_carried(link->joint_rot.m, 9) && rs_v3_is_carried(link->axis) &&
               link->mass >= 0.0 && rs_is_carried(link->mass) && rs_v3_is_carried(link->com) && rs_all_carried(&link->inertia.xx, 6);
    }
    return fits;
}

static bool are_parts_of_tree(const rs_tree_model *m) {
    for (int32_t k = 0; k < m->pin_count; k++)
        if (!is_link(m, m->pins[k].link[0]) || !is_link(m, m->pins[k].link[1]))
            return false;
    for (int32_t k = 0; k < m->coupling_count; k++)
        if (!can_be_coupled(m, m->couplings[k].follower) || !can_be_coupled(m, m->couplings[k].leader))
            return false;
    return true;
}

rs_status rs_tree_model_complete(rs_tree_model *m) {
    if (!is_tree(m))
        return rs_fail(RS_INVALID_VALUE, "the links of a robot are no tree");
    number_coordinates(m);
    if (!are_parts_of_tree(m))
        return rs_fail(RS_INVALID_VALUE, "a pin or coupling of a robot names a joint that it cannot");
    for (int32_t i = 0; i < m->link_count; i++) {
        update_placement(&m->links[i]);
        update_mass(&m->links[i]);
    }
    fill_order(m);
    fill_fours(m);
    return rs_tendon_model_complete(m);
}

rs_status rs_tree_model_new(const rs_articulation_def *def, rs_tree_model **out) {
    if (def->link_count < 1 || def->links == NULL)
        return rs_fail(RS_INVALID_VALUE, "link count is %d; expected at least 1", def->link_count);
    if (def->pin_count < 0)
        return rs_fail(RS_INVALID_VALUE, "pin count is %d; expected 0 or more", def->pin_count);
    if (def->coupling_count < 0)
        return rs_fail(RS_INVALID_VALUE, "coupling count is %d; expected 0 or more", def->coupling_count);
    rs_tree_model counts = {.holders = 1, .link_count = def->link_count, .pin_count = def->pin_count,
                            .coupling_count = def->coupling_count};
    rs_status status = check_links(def);
    RS_THEN(status, rs_tendon_model_count(&counts, def));
    if (status != RS_OK)
        return status;
    rs_tree_model *m = rs_tree_model_alloc(&counts);
    if (m == NULL)
        return RS_OUT_OF_MEMORY;
    fill_links(m, def);
    fill_order(m);
    fill_fours(m);
    fill_self_contacts(m, def->collide_with_parent != 0);
    status = fill_couplings(m, def);
    RS_THEN(status, rs_tendon_model_fill(m, def));
    if (status == RS_OK)
        *out = m;
    else
        rs_tree_model_drop(m);
    return status;
}
