/* Articulated systems in the world: creation, vectors of state and parameters, options, loads. */
#include "world.h"

#include <string.h>

void rs_default_link_def(rs_link_def *def) {
    *def = (rs_link_def){.parent = -1, .joint_rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}, .axis = {0, 0, 1},
                         .spring_mount = {0}, .lower = -INFINITY, .upper = INFINITY, .velocity_limit = INFINITY,
                         .effort_limit = INFINITY};
}

rs_articulation *rs_world_articulation(rs_world *world, rs_object_id id, rs_body **body) {
    *body = rs_world_body(world, id);
    if (*body == NULL || (*body)->articulation != NULL)
        return *body != NULL ? (*body)->articulation : NULL;
    rs_fail(RS_WRONG_TYPE, "object %u is a single body; expected an articulated system", (uint32_t)(id >> 32));
    return NULL;
}

void rs_world_mirror_base(rs_body *body) {
    const rs_articulation *a = body->articulation;
    bool floating = !a->fixed_base;
    body->position = floating ? rs_v3_load(a->q) : a->base_position;
    body->quaternion = floating ? rs_quat_load(a->q + 3) : a->base_quaternion;
    body->velocity = floating ? rs_v3_load(a->u) : rs_v3_zero();
    body->omega = floating ? rs_v3_load(a->u + 3) : rs_v3_zero();
}

static void lift_links(rs_articulation *a, rs_vec3 gravity) {
    for (int32_t i = 0; i < a->link_count; i++)
        if (a->links[i].lifted_mass != 0.0)
            rs_link_load_force(&a->loads[i], a->links[i].lifted_com, rs_scale(-a->links[i].lifted_mass, gravity));
    a->loaded = true;
}

void rs_world_load_links(rs_body *body, rs_vec3 gravity) {
    rs_articulation *a = body->articulation;
    if (a->model->lifted)
        lift_links(a, gravity);
    if (!a->commanded)
        return;
    a->commanded = false;
    for (int32_t i = 0; i < a->link_count; i++) {
        rs_vec3 force = a->command[i].lin, torque = a->command[i].ang;
        a->applied_wrench[i] = a->command[i];
        if (rs_norm2(force) + rs_norm2(torque) == 0.0)
            continue;
        rs_link_load_force(&a->loads[i], a->links[i].com, force);
        a->loads[i].torque = rs_add(a->loads[i].torque, torque);
        a->loaded = a->commanded = true;
    }
    body->applied_force = a->applied_wrench[0].lin;
    body->applied_torque = a->applied_wrench[0].ang;
}

/* ---- creation ---- */

/* Massless links may carry frames, but every joint needs something to accelerate. Looked at in a generic
 * configuration: special ones (a wrist in line) may be singular for robots that are not. */
static rs_status check_regular(rs_articulation *a, const rs_articulation_def *def) {
    int32_t joint = 0;
    for (int32_t k = 0; k < a->u_count; k++)
        a->work[0][k] = 0.5 + 0.1 * (double)(k % 5);
    rs_kinematics_advance(a, a->q, a->work[0], 1.0, a->q_work[0]);
    rs_kinematics_place(a, a->q_work[0], a->u);
    if (rs_aba_factor(a, a->rotor_inertia, &joint))
        return RS_OK;
    const char *name = def->links[joint].name;
    return rs_fail(RS_INVALID_VALUE, "link %d ('%s'): no inertia moves with its joint; expected mass and inertia on it or "
                                     "behind it, or rotor inertia", joint, name != NULL ? name : "");
}

static rs_status make_colliders(rs_world *world, const rs_articulation_def *def, rs_collider *out) {
    for (int32_t k = 0; k < def->shape_count; k++) {
        const rs_link_shape_def *shape = &def->shapes[k];
        if (shape->link < 0 || shape->link >= def->link_count)
            return rs_fail(RS_INVALID_VALUE, "shape %d: link is %d; expected 0 to %d", k, shape->link,
                           def->link_count - 1);
        rs_status status = rs_world_make_collider(world, &shape->shape, true, &out[k]);
        if (status != RS_OK)
            return status;
        out[k].link = shape->link;
        out[k].group = shape->collision_group;
        out[k].mask = shape->collision_mask;
    }
    return RS_OK;
}

/* Finds the point of the second link of each pin at its nominal configuration. */
static rs_status place_pins(rs_articulation *a, const rs_articulation_def *def) {
    for (int32_t k = 0; k < def->pin_count; k++) {
        const rs_pin_def *pin = &def->pins[k];
        rs_status status = rs_check_finite("pin anchor", pin->anchor, 3);
        if (status == RS_OK && pin->nominal != NULL)
            status = rs_check_finite("nominal configuration", pin->nominal, a->q_count);
        if (status != RS_OK)
            return status;
        if (pin->link_a < 0 || pin->link_b < 0 || pin->link_a >= a->link_count || pin->link_b >= a->link_count ||
            pin->link_a == pin->link_b)
            return rs_fail(RS_INVALID_VALUE, "pin %d joins links %d and %d; expected two different ones from 0 to %d", k,
                           pin->link_a, pin->link_b, a->link_count - 1);
        memcpy(a->q_work[0], pin->nominal != NULL ? pin->nominal : a->q, sizeof(double) * (size_t)a->q_count);
        rs_kinematics_place(a, a->q_work[0], a->u);
        const rs_link_motion *one = &a->motion[pin->link_a], *other = &a->motion[pin->link_b];
        rs_transform first = {one->rot, one->pos}, second = {other->rot, other->pos};
        rs_vec3 anchor = rs_v3_load(pin->anchor), point = rs_transform_point(&first, anchor);
        a->model->pins[k] = (rs_pin){{pin->link_a, pin->link_b}, {anchor, rs_transform_inv_point(&second, point)}};
    }
    return RS_OK;
}

rs_status rs_articulation_create(rs_world *world, const rs_articulation_def *def, rs_object_id *out) {
    rs_body body = {.type = RS_BODY_DYNAMIC, .quaternion = {1, 0, 0, 0}};
    rs_status status = rs_articulation_new(def, &body.articulation);
    if (status != RS_OK)
        return status;
    static const rs_sym3 unit = {.xx = 1, .yy = 1, .zz = 1};
    double total = 0.0;
    for (int32_t i = 0; i < def->link_count; i++)
        total += def->links[i].mass;
    rs_rigid_body_set_mass(&body, total, rs_v3_zero(), &unit);
    rs_collider *colliders = rs_alloc(sizeof(rs_collider) * (size_t)(def->shape_count + 1));
    rs_world_enter(world);
    status = colliders == NULL ? RS_OUT_OF_MEMORY : rs_world_check_not_half_way(world);
    RS_THEN(status, place_pins(body.articulation, def));
    RS_THEN(status, check_regular(body.articulation, def));
    RS_THEN(status, make_colliders(world, def, colliders));
    RS_THEN(status, rs_world_insert_body(world, def->object_type, &body, def->shape_count, colliders, out));
    if (status != RS_OK)
        rs_articulation_free(body.articulation);
    rs_free(colliders);
    return rs_world_leave(world, status);
}

/* ---- vectors ---- */

typedef enum { ANY_FINITE, NOT_NEGATIVE, ANY_BOUND, READ_ONLY } field_rule;

typedef struct {
    const char *name;
    double *values;
    bool like_q;
    field_rule rule;
} field_info;

static field_info field_of(const rs_articulation *a, int32_t field) {
    switch (field) {
    case RS_FIELD_COORDINATE: return (field_info){"generalized coordinate", a->q, true, ANY_FINITE};
    case RS_FIELD_VELOCITY: return (field_info){"generalized velocity", a->u, false, ANY_FINITE};
    case RS_FIELD_ACCELERATION: return (field_info){"generalized acceleration", a->acceleration, false, READ_ONLY};
    case RS_FIELD_APPLIED_FORCE: return (field_info){"applied force", a->applied_force, false, READ_ONLY};
    case RS_FIELD_FEED_FORWARD: return (field_info){"generalized force", a->feed_forward, false, ANY_FINITE};
    case RS_FIELD_P_TARGET: return (field_info){"position target", a->p_target, true, ANY_FINITE};
    case RS_FIELD_D_TARGET: return (field_info){"velocity target", a->d_target, false, ANY_FINITE};
    case RS_FIELD_P_GAIN: return (field_info){"p gain", a->p_gain, false, NOT_NEGATIVE};
    case RS_FIELD_D_GAIN: return (field_info){"d gain", a->d_gain, false, NOT_NEGATIVE};
    case RS_FIELD_DAMPING: return (field_info){"joint damping", a->damping, false, NOT_NEGATIVE};
    case RS_FIELD_FRICTION: return (field_info){"joint friction", a->friction, false, NOT_NEGATIVE};
    case RS_FIELD_ROTOR_INERTIA: return (field_info){"rotor inertia", a->rotor_inertia, false, NOT_NEGATIVE};
    case RS_FIELD_STIFFNESS: return (field_info){"spring stiffness", a->stiffness, false, NOT_NEGATIVE};
    case RS_FIELD_SPRING_MOUNT: return (field_info){"spring mount", a->spring_mount, true, ANY_FINITE};
    case RS_FIELD_LOWER: return (field_info){"lower joint limit", a->lower, false, ANY_BOUND};
    case RS_FIELD_UPPER: return (field_info){"upper joint limit", a->upper, false, ANY_BOUND};
    case RS_FIELD_VELOCITY_LIMIT: return (field_info){"joint velocity limit", a->velocity_limit, false, ANY_BOUND};
    case RS_FIELD_EFFORT_LOWER: return (field_info){"lower effort limit", a->effort_lower, false, ANY_BOUND};
    case RS_FIELD_LIMIT_IMPULSE: return (field_info){"limit impulse", a->limit_impulse, false, READ_ONLY};
    case RS_FIELD_EFFORT_UPPER: return (field_info){"upper effort limit", a->effort_upper, false, ANY_BOUND};
    default: return (field_info){0};
    }
}

static rs_status check_field(const rs_articulation *a, const field_info *info, int32_t field, int32_t count) {
    if (info->name == NULL)
        return rs_fail(RS_INVALID_VALUE, "field %d is unknown", field);
    int32_t expected = info->like_q ? a->q_count : a->u_count;
    if (count != expected)
        return rs_fail(RS_INVALID_VALUE, "%s has %d numbers; expected %d", info->name, count, expected);
    return RS_OK;
}

rs_status rs_articulation_read(rs_world *world, rs_object_id id, int32_t field, double *out, int32_t count) {
    rs_body *body;
    rs_world_enter_to_read(world);
    const rs_articulation *a = rs_world_articulation(world, id, &body);
    if (a == NULL)
        return rs_world_leave(world, RS_UNKNOWN_OBJECT);
    field_info info = field_of(a, field);
    rs_status status = check_field(a, &info, field, count);
    if (status == RS_OK)
        memcpy(out, info.values, sizeof(double) * (size_t)count);
    return rs_world_leave(world, status);
}

/* Copies the values, normalising quaternions; what is not accepted is named. */
static rs_status accept_values(const rs_articulation *a, const field_info *info, const double *values, int32_t count,
                               double *out) {
    if (info->rule == READ_ONLY)
        return rs_fail(RS_INVALID_VALUE, "%s can only be read", info->name);
    for (int32_t k = 0; k < count; k++) {
        bool fine = info->rule == ANY_BOUND ? !isnan(values[k]) : rs_is_carried(values[k]);
        if (!fine || (info->rule == NOT_NEGATIVE && values[k] < 0.0))
            return rs_fail(RS_INVALID_VALUE, "%s[%d] is %g; expected %s", info->name, k, values[k],
                           info->rule == NOT_NEGATIVE ? "a finite number, at least 0"
                           : fine                     ? "another number"
                                                      : "a finite number");
    }
    memcpy(out, values, sizeof(double) * (size_t)count);
    for (int32_t i = 0; i < a->link_count && info->like_q; i++) {
        const rs_link *link = &a->links[i];
        if (!link->has_quaternion)
            continue;
        int32_t at = link->q_first + link->numbers;
        rs_quat q;
        rs_status status = rs_load_quaternion(&values[at], &q);
        if (status != RS_OK)
            return status;
        rs_quat_store(&out[at], q);
    }
    return RS_OK;
}

rs_status rs_articulation_read_two(rs_world *world, rs_object_id id, int32_t field_a, double *a, int32_t count_a,
                                   int32_t field_b, double *b, int32_t count_b) {
    rs_world_enter_to_read(world);
    rs_status status = rs_articulation_read(world, id, field_a, a, count_a);
    RS_THEN(status, rs_articulation_read(world, id, field_b, b, count_b));
    return rs_world_leave(world, status);
}

typedef struct {
    int32_t field, count;
    const double *values;
} vector_write;

/* Checks values and keeps them in scratch memory: number 0 or 1 of it. */
static rs_status check_values(const rs_articulation *a, const vector_write *write, int number, double **checked) {
    field_info info = field_of(a, write->field);
    *checked = info.like_q ? a->q_work[number] : a->work[number];
    rs_status status = check_field(a, &info, write->field, write->count);
    return status == RS_OK ? accept_values(a, &info, write->values, write->count, *checked) : status;
}

static void take_over(rs_world *world, rs_body *body, int32_t field, const double *checked, int32_t count) {
    rs_articulation *a = body->articulation;
    field_info info = field_of(a, field);
    memcpy(info.values, checked, sizeof(double) * (size_t)count);
    bool gain = field == RS_FIELD_P_GAIN || field == RS_FIELD_D_GAIN;
    for (int32_t k = 0; k < 6 && gain && !a->fixed_base; k++)
        info.values[k] = 0.0;
    rs_world_rouse(world, body);
    if (field == RS_FIELD_COORDINATE || field == RS_FIELD_VELOCITY) {
        a->placed_at = NULL;
        memset(a->u_change, 0, sizeof(double) * (size_t)a->u_count);
        memset(a->u_change_before, 0, sizeof(double) * (size_t)a->u_count);
        a->guided = a->carried.known = false;
        rs_world_mirror_base(body);
        rs_world_touch_body(world, body);
    }
    if (field == RS_FIELD_COORDINATE) /* elsewhere it touches other things */
        rs_world_forget_touches(world, (int32_t)(body - world->data.bodies.items));
}

static rs_status write_vectors(rs_world *world, rs_object_id id, int count, const vector_write *writes) {
    rs_body *body;
    double *checked[2];
    rs_world_enter(world);
    const rs_articulation *a = rs_world_articulation(world, id, &body);
    rs_status status = a != NULL ? RS_OK : RS_UNKNOWN_OBJECT;
    for (int k = 0; k < count && status == RS_OK; k++)
        status = check_values(a, &writes[k], k, &checked[k]);
    for (int k = 0; k < count && status == RS_OK; k++)
        take_over(world, body, writes[k].field, checked[k], writes[k].count);
    return rs_world_leave(world, status);
}

rs_status rs_articulation_write(rs_world *world, rs_object_id id, int32_t field, const double *values, int32_t count) {
    const vector_write write = {field, count, values};
    return write_vectors(world, id, 1, &write);
}

rs_status rs_articulation_write_two(rs_world *world, rs_object_id id, int32_t field_a, const double *a, int32_t count_a,
                                    int32_t field_b, const double *b, int32_t count_b) {
    const vector_write writes[2] = {{field_a, count_a, a}, {field_b, count_b, b}};
    return write_vectors(world, id, 2, writes);
}

rs_status rs_articulation_actuate(rs_world *world, rs_object_id id, int32_t count, const rs_actuator *actuators,
                                  const double *control) {
    rs_body *body;
    rs_world_enter(world);
    rs_articulation *a = rs_world_articulation(world, id, &body);
    rs_status status = a != NULL ? RS_OK : RS_UNKNOWN_OBJECT;
    for (int32_t k = 0; k < count && status == RS_OK; k++)
        if (!rs_is_carried(control[k]))
            status = rs_fail(RS_INVALID_VALUE, "control[%d] is %g; expected a finite number", k, control[k]);
        else if (actuators[k].drive >= a->drive_count || actuators[k].dof >= a->u_count ||
                 (actuators[k].dof < 0) == (actuators[k].drive < 0))
            status = rs_fail(RS_INVALID_VALUE, "actuator %d moves degree of freedom %d or drive %d; expected one below %d or %d",
                             k, actuators[k].dof, actuators[k].drive, a->u_count, a->drive_count);
    if (status != RS_OK)
        return rs_world_leave(world, status);
    memset(a->feed_forward, 0, sizeof(double) * (size_t)a->u_count);
    for (int32_t k = 0; k < count; k++) {
        const rs_actuator *m = &actuators[k];
        if (m->drive >= 0) {
            a->drive_control[m->drive] = control[k];
            continue;
        }
        double force = m->gain * rs_clamp(control[k], m->control_range[0], m->control_range[1]) + m->bias;
        a->feed_forward[m->dof] += m->gear * rs_clamp(force, m->force_range[0], m->force_range[1]);
    }
    rs_world_rouse(world, body);
    return rs_world_leave(world, RS_OK);
}

/* ---- options ---- */

rs_status rs_articulation_get_options(rs_world *world, rs_object_id id, rs_articulation_options *out) {
    rs_body *body;
    rs_world_enter_to_read(world);
    const rs_articulation *a = rs_world_articulation(world, id, &body);
    if (a != NULL) {
        *out = (rs_articulation_options){.scheme = (int32_t)a->scheme, .control_mode = (int32_t)a->control_mode,
                                         .inverse_dynamics = a->inverse_dynamics};
        rs_v3_store(out->base_position, a->base_position);
        rs_quat_store(out->base_quaternion, a->base_quaternion);
    }
    return rs_world_leave(world, a != NULL ? RS_OK : RS_UNKNOWN_OBJECT);
}

rs_status rs_articulation_set_options(rs_world *world, rs_object_id id, const rs_articulation_options *options) {
    rs_body *body;
    rs_quat q;
    rs_world_enter(world);
    rs_articulation *a = rs_world_articulation(world, id, &body);
    rs_status status = a != NULL ? rs_check_finite("base position", options->base_position, 3) : RS_UNKNOWN_OBJECT;
    RS_THEN(status, rs_load_quaternion(options->base_quaternion, &q));
    if (status == RS_OK && (options->scheme < RS_SCHEME_TRAPEZOID || options->scheme > RS_SCHEME_MIDPOINT))
        status = rs_fail(RS_INVALID_VALUE, "integration scheme %d is unknown", options->scheme);
    if (status == RS_OK && options->control_mode != RS_CONTROL_FORCE_AND_TORQUE &&
        options->control_mode != RS_CONTROL_PD_PLUS_FEEDFORWARD_TORQUE)
        status = rs_fail(RS_INVALID_VALUE, "control mode %d is unknown", options->control_mode);
    if (status == RS_OK) {
        a->scheme = (rs_integration_scheme)options->scheme;
        a->control_mode = (rs_control_mode)options->control_mode;
        a->inverse_dynamics = options->inverse_dynamics != 0;
        a->base_position = rs_v3_load(options->base_position);
        a->base_quaternion = q;
        a->placed_at = NULL;
        rs_world_mirror_base(body);
        rs_world_touch_body(world, body);
    }
    return rs_world_leave(world, status);
}

/* ---- self-collision ---- */

static rs_status check_pair(const rs_articulation *a, int32_t i, int32_t j) {
    if (a == NULL)
        return RS_UNKNOWN_OBJECT;
    if (i < 0 || i >= a->link_count || j < 0 || j >= a->link_count || i == j)
        return rs_fail(RS_INVALID_VALUE, "links are %d and %d; expected two different ones from 0 to %d", i, j,
                       a->link_count - 1);
    return RS_OK;
}

rs_status rs_articulation_set_self_contacts(rs_world *world, rs_object_id id, int32_t link_a, int32_t link_b,
                                            int32_t count) {
    if (count < 0 || count > RS_MAX_MANIFOLD)
        return rs_fail(RS_INVALID_VALUE, "%d contacts; expected 0 to %d", count, RS_MAX_MANIFOLD);
    rs_body *body;
    rs_world_enter(world);
    rs_articulation *a = rs_world_articulation(world, id, &body);
    rs_status status = check_pair(a, link_a, link_b);
    rs_tree_model *model = status == RS_OK ? rs_articulation_own_model(a) : NULL;
    if (status == RS_OK && model == NULL)
        status = RS_OUT_OF_MEMORY;
    if (status == RS_OK) {
        model->self_contacts[link_a * a->link_count + link_b] = (uint8_t)count;
        model->self_contacts[link_b * a->link_count + link_a] = (uint8_t)count;
        world->colliders_changed = true;
        rs_world_touch_body(world, body);
    }
    return rs_world_leave(world, status);
}

rs_status rs_articulation_get_self_contacts(rs_world *world, rs_object_id id, int32_t link_a, int32_t link_b,
                                        int32_t *count) {
    rs_body *body;
    rs_world_enter_to_read(world);
    const rs_articulation *a = rs_world_articulation(world, id, &body);
    rs_status status = check_pair(a, link_a, link_b);
    if (status == RS_OK)
        *count = a->self_contacts[link_a * a->link_count + link_b];
    return rs_world_leave(world, status);
}

/* ---- loads ---- */

/* The system, awake, one of whose links is about to be pushed; NULL with the status set when there is no such link. */
static rs_articulation *pushed(rs_world *world, rs_object_id id, int32_t link, rs_status *status) {
    rs_body *body;
    rs_articulation *a = rs_world_articulation(world, id, &body);
    *status = a == NULL ? RS_UNKNOWN_OBJECT : RS_OK;
    if (a != NULL && (link < 0 || link >= a->link_count))
        *status = rs_fail(RS_INVALID_VALUE, "link is %d; expected 0 to %d", link, a->link_count - 1);
    if (*status != RS_OK)
        return NULL;
    rs_world_rouse(world, body);
    return a;
}

static rs_link_load *load_of(rs_world *world, rs_object_id id, int32_t link, rs_status *status) {
    rs_articulation *a = pushed(world, id, link, status);
    if (a == NULL)
        return NULL;
    a->loaded = true;
    return &a->loads[link];
}

rs_status rs_articulation_add_force(rs_world *world, rs_object_id id, int32_t link, const double point[3],
                                    const double force[3]) {
    rs_status status = rs_check_finite_pair("force", force, "point", point);
    if (status != RS_OK)
        return status;
    rs_world_enter(world);
    rs_link_load *load = load_of(world, id, link, &status);
    if (load != NULL)
        rs_link_load_force(load, rs_v3_load(point), rs_v3_load(force));
    return rs_world_leave(world, status);
}

rs_status rs_articulation_add_torque(rs_world *world, rs_object_id id, int32_t link, const double torque[3],
                                     int32_t in_link_frame) {
    rs_status status = rs_check_finite("torque", torque, 3);
    if (status != RS_OK)
        return status;
    rs_world_enter(world);
    rs_link_load *load = load_of(world, id, link, &status);
    if (load != NULL) {
        rs_vec3 *sum = in_link_frame ? &load->local_torque : &load->torque;
        *sum = rs_add(*sum, rs_v3_load(torque));
    }
    return rs_world_leave(world, status);
}
