#include "articulation.h"

#include <string.h>

/* ---- memory: one block, the struct in front, arrays behind it: those that are kept, then scratch ---- */

static void take_all(double ***arrays, size_t count, char *base, size_t *offset, size_t bytes) {
    for (size_t k = 0; k < count; k++)
        *arrays[k] = rs_take(base, offset, bytes);
}

#define TAKE_ALL(arrays, bytes) take_all(arrays, sizeof(arrays) / sizeof *(arrays), base, &offset, bytes)

/* Points the kept arrays of `a` into the block at `base`, and returns where they end. */
static size_t lay_out_kept(rs_articulation *a, char *base) {
    size_t offset = sizeof *a, links = (size_t)a->link_count;
    size_t nq = sizeof(double) * (size_t)a->q_count, nu = sizeof(double) * (size_t)a->u_count;
    double **like_u[] = {&a->u, &a->u_change, &a->u_change_before, &a->p_gain, &a->d_gain, &a->damping, &a->friction,
                         &a->rotor_inertia, &a->stiffness, &a->lower, &a->upper, &a->velocity_limit, &a->effort_lower,
                         &a->effort_upper, &a->feed_forward, &a->d_target, &a->limit_impulse, &a->friction_impulse,
                         &a->motor_impulse, &a->acceleration, &a->applied_force, &a->carried.u};
    double **like_q[] = {&a->q, &a->spring_mount, &a->p_target, &a->carried.q};
    TAKE_ALL(like_u, nu);
    TAKE_ALL(like_q, nq);
    a->pin_impulse = rs_take(base, &offset, (size_t)a->pin_count * sizeof *a->pin_impulse);
    a->coupling_impulse = rs_take(base, &offset, (size_t)a->coupling_count * sizeof *a->coupling_impulse);
    a->tendon_impulses = rs_take(base, &offset, (size_t)a->tendon_count * sizeof *a->tendon_impulses);
    double **like_drives[] = {&a->drive_control, &a->activation, &a->drive_impulse};
    TAKE_ALL(like_drives, sizeof(double) * (size_t)a->drive_count);
    a->loads = rs_take(base, &offset, links * sizeof *a->loads);
    a->command = rs_take(base, &offset, links * sizeof *a->command);
    a->applied_wrench = rs_take(base, &offset, links * sizeof *a->applied_wrench);
    a->reaction = rs_take(base, &offset, links * sizeof *a->reaction);
    return offset;
}

/* Points the scratch arrays behind the kept ones, and returns where they end. Without a base they are NULL. */
static size_t lay_out_scratch(rs_articulation *a, char *base, size_t offset) {
    size_t links = (size_t)a->link_count, nq = sizeof(double) * (size_t)a->q_count, nu = sizeof(double) * (size_t)a->u_count;
    double **like_u[] = {&a->u_free, &a->u_push, &a->weight, &a->motor_weight, &a->stiff_below, &a->motor_drive,
                         &a->u_rate, &a->joint_force, &a->u_alone, &a->work[0], &a->work[1], &a->work[2], &a->work[3],
                         &a->to_target, &a->to_rest, &a->u_ahead, &a->reduced, &a->brake, &a->overruns_before, &a->soft_change, &a->soft_shift, &a->arm_of,
                         &a->spare};
    double **like_q[] = {&a->q_stage, &a->q_work[0], &a->q_work[1]};
    TAKE_ALL(like_u, nu);
    TAKE_ALL(like_q, nq);
    a->overruns = rs_take(base, &offset, nu + sizeof(double) * (size_t)a->tendon_count);
    a->motion = rs_take(base, &offset, links * sizeof *a->motion);
    a->mass = rs_take(base, &offset, links * sizeof *a->mass);
    a->articulated = rs_take(base, &offset, links * sizeof *a->articulated);
    a->factor = rs_take(base, &offset, links * sizeof *a->factor);
    a->acc = rs_take(base, &offset, links * sizeof *a->acc);
    a->force = rs_take(base, &offset, links * sizeof *a->force);
    a->tension = rs_take(base, &offset, links * sizeof *a->tension);
    a->row_tension = rs_take(base, &offset, links * sizeof *a->row_tension);
    a->composite = rs_take(base, &offset, links * sizeof *a->composite);
    a->tendon_places = rs_take(base, &offset, (size_t)a->tendon_count * sizeof *a->tendon_places);
    a->arms = rs_take(base, &offset, (size_t)a->model->tendon_dof_count * sizeof *a->arms);
    a->pull = rs_take(base, &offset, links * sizeof *a->pull);
    a->columns = rs_take(base, &offset, (size_t)a->u_count * sizeof *a->columns);
    a->free_motion = rs_take(base, &offset, links * sizeof *a->free_motion);
    return offset;
}

static void look_at_model(rs_articulation *a) {
    const rs_tree_model *m = a->model;
    a->links = m->links;
    a->pins = m->pins;
    a->couplings = m->couplings;
    a->tendons = m->tendons;
    a->terms = m->terms;
    a->routes = m->routes;
    a->tendon_dofs = m->tendon_dofs;
    a->tendon_links = m->tendon_links;
    a->drives = m->drives;
    a->order = m->order;
    a->four_at = m->four_at;
    a->fours = m->fours;
    a->self_contacts = m->self_contacts;
}

/* A copy of what is kept, with room for scratch or without. */
static rs_articulation *copy(const rs_articulation *source, bool scratch) {
    rs_articulation *a = rs_alloc(scratch ? source->bytes : source->kept_bytes);
    if (a == NULL)
        return NULL;
    memcpy(a, source, source->kept_bytes);
    size_t kept = lay_out_kept(a, (char *)a);
    lay_out_scratch(a, scratch ? (char *)a : NULL, kept);
    a->placed_at = NULL;
    rs_tree_model_hold(a->model);
    return a;
}

rs_articulation *rs_articulation_clone(const rs_articulation *source) { return copy(source, true); }

rs_articulation *rs_articulation_pack(const rs_articulation *source) { return copy(source, false); }

void rs_articulation_free(rs_articulation *a) {
    if (a != NULL)
        rs_tree_model_drop(a->model);
    rs_free(a);
}

rs_tree_model *rs_articulation_own_model(rs_articulation *a) {
    if (atomic_load(&a->model->holders) > 1) {
        rs_tree_model *own = rs_tree_model_clone(a->model);
        if (own == NULL)
            return NULL;
        rs_tree_model_drop(a->model);
        a->model = own;
        look_at_model(a);
    }
    return a->model;
}

/* ---- construction ---- */

/* One number of the definition serves all degrees of freedom of its joint; a floating base has no motor. */
static void fill_parameters(rs_articulation *a, const rs_link *link, const rs_link_def *d) {
    bool joint = link->parent >= 0;
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
    if (link->u_count == 1)
        mount[0] = d->spring_mount[0];
    if (link->has_quaternion) {
        int32_t quaternion = link->q_first + link->numbers;
        a->q[quaternion] = a->p_target[quaternion] = 1.0;
        rs_quat_store(&mount[link->numbers],
                      joint ? rs_quat_normalize(rs_quat_load(d->spring_mount)) : (rs_quat){1.0, 0.0, 0.0, 0.0});
    }
}

rs_articulation *rs_articulation_of(rs_tree_model *model) {
    rs_articulation counts = {.model = model, .link_count = model->link_count, .q_count = model->q_count,
                              .u_count = model->u_count, .pin_count = model->pin_count,
                              .coupling_count = model->coupling_count, .tendon_count = model->tendon_count,
                              .drive_count = model->drive_count, .fixed_base = model->fixed_base,
                              .base_quaternion = {1, 0, 0, 0}, .scheme = RS_SCHEME_TRAPEZOID,
                              .control_mode = RS_CONTROL_FORCE_AND_TORQUE};
    counts.kept_bytes = lay_out_kept(&counts, NULL);
    counts.bytes = lay_out_scratch(&counts, NULL, counts.kept_bytes);
    rs_articulation *a = rs_alloc(counts.bytes);
    if (a == NULL)
        return NULL;
    *a = counts;
    lay_out_scratch(a, (char *)a, lay_out_kept(a, (char *)a));
    look_at_model(a);
    rs_tree_model_hold(model);
    return a;
}

rs_status rs_articulation_new(const rs_articulation_def *def, rs_articulation **out) {
    rs_tree_model *model;
    rs_status status = rs_tree_model_new(def, &model);
    if (status != RS_OK)
        return status;
    rs_articulation *a = rs_articulation_of(model);
    rs_tree_model_drop(model);
    if (a == NULL)
        return RS_OUT_OF_MEMORY;
    for (int32_t i = 0; i < a->link_count; i++)
        fill_parameters(a, &a->links[i], &def->links[i]);
    *out = a;
    return RS_OK;
}
