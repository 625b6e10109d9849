#include "rows_tree.h"

#include "../dynamics/carrier.h"
#include "coulomb.h"

#include <string.h>

/* Share of a pin's gap that is closed until the next midpoint: gain per unit of ERP, and its limit. All of it with the
 * default ERP: what a fast linkage gains by moving straight for half a step must not add up. */
static const double PIN_GAIN = 2.0 / 3.0, MAX_PIN_SHARE = 1.0;
/* That is part of the motion, up to so many times what the points bend off in a step. The rest of a gap was there before: it
 * is closed like an overlap. */
static const double PIN_MOTION = 2.0;

/* Softness of pins relative to the inverse mass of the object: a mechanism with few degrees of freedom cannot give way along
 * every axis, and impulses there must stay finite. */
static const double PIN_SOFTNESS = 1e-7;
/* Contacts give way at least like this share of their objects' inverse mass: what joints hold together cannot come apart,
 * and contacts there must stay harmless. */
static const double LEAST_INVERSE_MASS = 1e-3;
/* Two links that give way along the normal like less than the first share of the lighter one's inverse mass are held by joints:
 * the load of their contact is an accident of their shapes, and it neither brakes them nor grows. From the second share on
 * they touch like all others. */
static const double HELD_SHARE = 0.01, FREE_SHARE = 0.1;
/* How much softer they are in the motion that removes overlap: links that would have to turn fast to come apart a little
 * keep their overlap. */
static const double PUSH_SOFTNESS = 0.1;

/* Wires whose pull across them matters less than this within a step need no row for it. */
static const double SIDEWAYS_SHARE = 1e-3;

void rs_tree_rows_free(rs_tree_rows *rows) {
    rs_any_array *arrays[] = {&rows->list.any, &rows->sources.any, &rows->numbers.any, &rows->objects.any,
                              &rows->places.any, &rows->joints.any};
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
        rs_any_free(arrays[k]);
}

/* ---- room ---- */

static int64_t padded(int64_t count) { return (count + 3) / 4 * 4; }

/* Numbers that one side of a row takes. */
static int64_t side_numbers(int64_t size) { return size * (int64_t)(sizeof(rs_row_entry) / sizeof(double)); }

/* Velocity of a single body as impulses change it, the same without impulses, and its push-out motion. */
enum { BODY_NUMBERS = 20 };

static bool is_moved_by_impulses(const rs_body *body) { return body->type == RS_BODY_DYNAMIC; }

/* Aligned for four-wide vectors. */
static double *take(rs_tree_rows *problem, int64_t count) {
    double *numbers = RS_ITEM(problem->numbers, problem->used);
    problem->used += padded(count);
    return numbers;
}

static rs_row_entry *take_entries(rs_tree_rows *problem, int64_t count) {
    return (rs_row_entry *)(void *)take(problem, side_numbers(count));
}

/* Most numbers and rows that the island can need; reserved at once, because rows point into the numbers. */
static rs_status reserve(rs_tree_rows *problem, const rs_tree_input *input, const rs_island *home) {
    const int32_t *order = input->islands->order.items;
    int64_t numbers = 0, most_joint_rows = 0;
    int64_t rows = 2 * home->rows.count + 2 * home->wires.count; /* contacts may resist turning */
    for (int64_t k = 0; k < home->rows.count; k++) {
        const rs_touch *touch = &input->touches[order[home->rows.first + k]];
        numbers += 2 * side_numbers(rs_carrier_velocity_count(&input->bodies[touch->body_a])) +
                   2 * side_numbers(rs_carrier_velocity_count(&input->bodies[touch->body_b]));
    }
    for (int64_t k = 0; k < home->wires.count; k++) {
        const rs_wire *wire = &input->wires[rs_islands_wires(input->islands, home)[k]];
        numbers += 2 * side_numbers(rs_carrier_velocity_count(&input->bodies[wire->body[0]])) +
                   2 * side_numbers(rs_carrier_velocity_count(&input->bodies[wire->body[1]]));
    }
    rs_island_bodies members = rs_islands_bodies(input->islands, home);
    for (int64_t i = 0; i < members.count; i++) {
        const rs_body *body = &input->bodies[members.index[i]];
        int64_t n = rs_carrier_velocity_count(body);
        bool tree = body->articulation != NULL;
        int64_t joint_rows = tree ? rs_joint_row_capacity(body->articulation) + body->articulation->pin_count : 0;
        numbers += (tree ? 0 : BODY_NUMBERS) + joint_rows * side_numbers(n);
        rows += joint_rows;
        most_joint_rows = joint_rows > most_joint_rows ? joint_rows : most_joint_rows;
    }
    problem->used = 0;
    problem->list.count = problem->sources.count = 0;
    if (rs_array_resize(&problem->numbers, numbers) != RS_OK || rs_array_reserve(&problem->list, rows) != RS_OK ||
        rs_array_reserve(&problem->sources, rows) != RS_OK ||
        rs_array_resize(&problem->joints, most_joint_rows) != RS_OK ||
        rs_array_resize(&problem->objects, members.count) != RS_OK ||
        rs_array_resize(&problem->places, input->body_count) != RS_OK)
        return RS_OUT_OF_MEMORY;
    return RS_OK;
}

/* Numbers the objects and takes over the velocities without impulses. */
static void list_objects(rs_tree_rows *problem, const rs_tree_input *input, rs_island_bodies members) {
    for (int32_t i = 0; i < members.count; i++) {
        int32_t body = members.index[i];
        rs_tree_object *object = RS_ITEM(problem->objects, i);
        problem->places.items[body] = i;
        *object = (rs_tree_object){input->bodies[body].articulation, body, NULL};
        if (object->tree != NULL) {
            memset(object->tree->reduced, 0, sizeof(double) * (size_t)object->tree->u_count);
            continue;
        }
        object->velocity = take(problem, BODY_NUMBERS);
        for (int part = 0; part < 12; part += 6) { /* now, and without impulses */
            rs_v3_store(object->velocity + part, input->solver_bodies[body].v.xyz);
            rs_v3_store(object->velocity + part + 3, input->solver_bodies[body].w.xyz);
        }
        memset(object->velocity + 12, 0, sizeof(double) * 6);
    }
}

static rs_tree_row *add_row(rs_tree_rows *problem, rs_row_kind kind, rs_row_source source) {
    *(rs_row_source *)rs_array_push(&problem->sources) = source;
    rs_tree_row *row = rs_array_push(&problem->list);
    row->law.kind = kind;
    row->law.lower = kind == RS_ROW_POINT ? -INFINITY : 0.0;
    row->law.upper = INFINITY;
    row->law.beside_wire = problem->wired;
    return row;
}

/* The last one moves nothing. */
static void drop_row(rs_tree_rows *problem) {
    problem->list.count--;
    problem->sources.count--;
}

/* ---- sides ---- */

/* One end of a row: a point of a body or link, world frame, and the three axes of the row. */
typedef struct {
    int32_t body, link;
    rs_vec3 point, axes[3];
    bool turns; /* about the axes, not along them */
} row_end;

static void fill_body_side(rs_tree_rows *problem, const rs_tree_input *input, const row_end *end, double sign,
                           rs_row_side *side) {
    const rs_solver_body *inertia = &input->solver_bodies[end->body];
    rs_vec3 arm = rs_sub(end->point, input->bodies[end->body].middle_com);
    int32_t object = problem->places.items[end->body];
    double *velocity = RS_ITEM(problem->objects, object)->velocity;
    rs_row_entry *entries = take_entries(problem, 6);
    memset(entries, 0, sizeof *entries * 6);
    for (int axis = 0; axis < 3; axis++) {
        rs_vec3 along = rs_scale(sign, end->axes[axis]), linear = end->turns ? rs_v3_zero() : along;
        rs_vec3 angular = end->turns ? along : rs_cross(arm, along);
        rs_vec3 turned = rs_columns_mul3(&inertia->inverse_inertia, angular);
        for (int k = 0; k < 3; k++) {
            rs_v3_set(&entries[k].jacobian.xyz, axis, rs_v3_get(linear, k));
            rs_v3_set(&entries[k].response, axis, inertia->inverse_mass * rs_v3_get(linear, k));
            rs_v3_set(&entries[3 + k].jacobian.xyz, axis, rs_v3_get(angular, k));
            rs_v3_set(&entries[3 + k].response, axis, rs_v3_get(turned, k));
        }
    }
    for (int k = 0; k < 6; k++)
        entries[k].index = k;
    *side = (rs_row_side){velocity, velocity + 12, entries, 6, object};
}

/* Velocity of a body's material, world frame, at a point that it shares with another one (see rs_contact_arm): at the
 * beginning of the step, or that of a kinematic body at its end. */
static rs_vec3 point_velocity(const rs_tree_input *input, const row_end *end, const row_end *other) {
    const rs_body *body = &input->bodies[end->body];
    if (body->type == RS_BODY_STATIC)
        return rs_v3_zero();
    if (body->articulation != NULL)
        return rs_link_point_velocity(body->articulation, end->link,
                                      rs_sub(end->point, body->articulation->motion[end->link].pos));
    rs_vec3 arm = rs_contact_arm(body, &input->bodies[other->body], end->point, input->common.dt);
    const rs_solver_body *given = &input->solver_bodies[end->body];
    bool moved = is_moved_by_impulses(body);
    return rs_add(moved ? body->velocity : given->v.xyz, rs_cross(moved ? body->middle_omega : given->w.xyz, arm));
}

/* The same of its turning. */
static rs_vec3 turning_velocity(const rs_tree_input *input, const row_end *end) {
    const rs_body *body = &input->bodies[end->body];
    if (body->articulation != NULL)
        return body->articulation->motion[end->link].w;
    return is_moved_by_impulses(body) ? body->middle_omega : input->solver_bodies[end->body].w.xyz;
}

static rs_vec3 along_axes(const row_end *end, rs_vec3 v) {
    return rs_v3(rs_dot(v, end->axes[0]), rs_dot(v, end->axes[1]), rs_dot(v, end->axes[2]));
}

/* Velocity along the row's axes of a body that impulses do not move: the others must reach theirs against it. */
static rs_vec3 given_velocity(const rs_tree_input *input, const row_end *end, const row_end *other) {
    return along_axes(end, end->turns ? turning_velocity(input, end) : point_velocity(input, end, other));
}

/* One or two ends on the same tree. Its velocity without impulses is given: the side holds changes only. */
static void fill_tree_side(rs_tree_rows *problem, rs_articulation *tree, const row_end *ends, int count, double sign,
                           rs_tree_row *row, rs_row_side *side) {
    int32_t object = problem->places.items[ends[0].body];
    rs_row_point points[2];
    for (int s = 0; s < count; s++, sign = -sign) {
        const rs_vec3 *axes = ends[s].axes;
        points[s] = (rs_row_point){ends[s].link, ends[s].point,
                                   {rs_scale(sign, axes[0]), rs_scale(sign, axes[1]), rs_scale(sign, axes[2])},
                                   ends[s].turns};
        row->given = rs_add(row->given, rs_free_velocity_along(tree, &points[s]));
    }
    rs_row_entry *entries = take_entries(problem, tree->u_count);
    *side = (rs_row_side){tree->reduced, tree->u_push, entries, rs_point_response(tree, points, count, entries), object};
}

static void fill_sides(rs_tree_rows *problem, const rs_tree_input *input, const row_end ends[2],
                       rs_tree_row *row) {
    bool same = ends[0].body == ends[1].body; /* two links of one tree share a side */
    for (int s = 0; s < (same ? 1 : 2); s++) {
        const rs_body *owner = &input->bodies[ends[s].body];
        double sign = s == 0 ? 1.0 : -1.0;
        if (!is_moved_by_impulses(owner))
            row->given = rs_madd(row->given, sign, given_velocity(input, &ends[s], &ends[row->law.kind == RS_ROW_CONTACT ? 1 - s : s]));
        else if (owner->articulation == NULL)
            fill_body_side(problem, input, &ends[s], sign, &row->sides[s]);
        else
            fill_tree_side(problem, owner->articulation, &ends[s], same ? 2 : 1, sign, row, &row->sides[s]);
    }
}

/* Inverse mass of an object as a whole [1/kg]. */
static double inverse_mass(const rs_tree_input *input, int32_t body) {
    const rs_articulation *tree = input->bodies[body].articulation;
    if (!is_moved_by_impulses(&input->bodies[body]))
        return 0.0;
    return tree != NULL ? tree->inverse_mass : input->solver_bodies[body].inverse_mass;
}

/* Effective inverse mass of the row alone. */
static void prepare_row(rs_tree_row *row) {
    rs_v4 columns[3] = {rs_v4_all(0.0), rs_v4_all(0.0), rs_v4_all(0.0)};
    for (int s = 0; s < 2; s++)
        for (int32_t k = 0; k < row->sides[s].size; k++) {
            const rs_row_entry *entry = &row->sides[s].entries[k];
            rs_v4 jacobian = rs_v4_load(&entry->jacobian);
            columns[0] += jacobian * rs_v4_all(entry->response.x);
            columns[1] += jacobian * rs_v4_all(entry->response.y);
            columns[2] += jacobian * rs_v4_all(entry->response.z);
        }
    double soft = row->law.softness;
    row->g = (rs_sym3){.xx = columns[0][0] + soft, .yy = columns[1][1] + soft, .zz = columns[2][2] + soft,
                       .xy = columns[0][1], .xz = columns[0][2], .yz = columns[1][2]};
    row->law.inverse_mass = rs_max(rs_max(row->g.xx, row->g.yy), row->g.zz);
    bool equal = row->law.kind == RS_ROW_POINT || row->law.kind == RS_ROW_TURN; /* axes */
    row->law.normal_inverse_mass = equal ? row->law.inverse_mass : row->g.zz;
    if (row->law.kind == RS_ROW_AXIS)
        row->law.inverse_mass = row->g.zz;
    else if (row->law.kind != RS_ROW_TURN) /* that may be unable to turn about some axis */
        row->g_inverse = rs_sym3_inverse(&row->g);
}

/* ---- contacts ---- */

/* Rolling and spinning friction of a contact, whose row is the last one and acts on objects with an inverse mass of `both`.
 * Turning counts as the motion at the distance from the axis where a mass turns as easily as it moves: its moments are
 * impulses there, and compare with those of contacts. */
static void add_turning(rs_tree_rows *problem, const rs_tree_input *input, rs_touch *touch, const row_end points[2],
                        const rs_contact_law *law, double both) {
    const rs_tree_row *bearer = &problem->list.items[problem->list.count - 1];
    rs_tree_row *row = add_row(problem, RS_ROW_TURN, (rs_row_source){.vector = &touch->moment, .scale = 1.0});
    row_end ends[2] = {points[0], points[1]};
    ends[0].turns = ends[1].turns = true;
    fill_sides(problem, input, ends, row);
    prepare_row(row);
    if (!(row->law.inverse_mass > 0.0)) {
        touch->moment = rs_v3_zero();
        drop_row(problem);
        return;
    }
    double lever = sqrt(both / row->law.inverse_mass);
    for (int s = 0; s < 2; s++)
        for (int32_t k = 0; k < row->sides[s].size; k++) {
            rs_row_entry *entry = &row->sides[s].entries[k];
            rs_v4_store(&entry->jacobian, rs_v4_all(lever) * rs_v4_load(&entry->jacobian));
            entry->response = rs_scale(lever, entry->response);
        }
    row->given = rs_scale(lever, row->given);
    row->law.start = rs_scale(lever, along_axes(ends, rs_sub(turning_velocity(input, ends), turning_velocity(input, ends + 1))));
    row->law.lower = row->law.upper = 0.0;
    row->law.mu = law->rolling / lever;
    row->law.spin_mu = law->spinning / lever;
    row->law.bearer = &bearer->law;
    row->law.impulse.xyz = rs_scale(1.0 / lever, touch->moment);
    problem->sources.items[problem->sources.count - 1].scale = lever;
    prepare_row(row);
}

/* Overlap of links goes only as far as they do not have to turn fast for it, and as it has worked before. */
static void prepare_self_contact(rs_tree_rows *problem, const rs_tree_input *input, rs_touch *touch, rs_tree_row *row) {
    const rs_link_mass *mass = input->bodies[touch->body_a].articulation->mass;
    const rs_collider *colliders = input->common.colliders;
    double lighter = rs_min(mass[colliders[touch->collider_a].link].mass, mass[colliders[touch->collider_b].link].mass);
    if (lighter > 0.0) {
        row->push_softness = rs_max(row->push_softness, PUSH_SOFTNESS / lighter);
        row->law.mu *= rs_clamp((lighter * row->g.zz - HELD_SHARE) / (FREE_SHARE - HELD_SHARE), 0.0, 1.0);
        row->law.softness = rs_max(0.0, HELD_SHARE / lighter - row->g.zz);
    }
    row->law.push *= touch->trust;
    problem->sources.items[problem->sources.count - 1].self = touch;
}

static void add_contact(rs_tree_rows *problem, const rs_tree_input *input, rs_touch *touch) {
    const rs_collider *a = &input->common.colliders[touch->collider_a], *b = &input->common.colliders[touch->collider_b];
    const row_end ends[2] = {{touch->body_a, a->link, touch->position, {touch->t1, touch->t2, touch->n}, false},
                             {touch->body_b, b->link, touch->position, {touch->t1, touch->t2, touch->n}, false}};
    rs_vec3 relative = rs_sub(point_velocity(input, &ends[0], &ends[1]), point_velocity(input, &ends[1], &ends[0]));
    rs_contact_law law = rs_contact_law_of(&input->common, touch, relative);
    rs_tree_row *row = add_row(problem, RS_ROW_CONTACT, (rs_row_source){.vector = &touch->impulse, .scale = 1.0});
    row->law.mu = law.mu;
    row->law.aim.xyz.z = law.target;
    row->law.push = law.push;
    row->law.impulse.xyz = touch->impulse;
    row->law.start = along_axes(&ends[0], relative);
    fill_sides(problem, input, ends, row);
    prepare_row(row);
    double both = inverse_mass(input, touch->body_a);
    if (touch->body_b != touch->body_a)
        both += inverse_mass(input, touch->body_b);
    row->push_softness = PUSH_SOFTNESS * both;
    if (touch->body_a == touch->body_b)
        prepare_self_contact(problem, input, touch, row);
    row->law.softness = rs_max(row->law.softness, LEAST_INVERSE_MASS * both - row->g.zz);
    if (row->law.softness > 0.0)
        prepare_row(row);
    touch->g = row->g;
    if (law.rolling > 0.0 || law.spinning > 0.0)
        add_turning(problem, input, touch, ends, &law, both);
    else
        touch->moment = rs_v3_zero();
}

/* ---- wires ---- */

/* The wire turns within the step: `relative` is the velocity of its first end against the second. */
static void add_wire_sideways(rs_tree_rows *problem, const rs_tree_input *input, rs_wire *wire, rs_vec3 relative) {
    double softness = rs_wire_sideways_softness(wire, input->common.dt);
    double both = inverse_mass(input, wire->body[0]) + inverse_mass(input, wire->body[1]);
    wire->sideways = rs_v3_zero();
    if (!(both > SIDEWAYS_SHARE * softness))
        return;
    rs_vec3 t1, t2, none = rs_v3_zero();
    rs_tangents(wire->normal, &t1, &t2);
    rs_tree_row *row = add_row(problem, RS_ROW_POINT, (rs_row_source){.vector = &wire->sideways, .scale = 1.0});
    const row_end ends[2] = {{wire->body[0], wire->link[0], wire->middle[0], {t1, t2, none}, false},
                             {wire->body[1], wire->link[1], wire->middle[1], {t1, t2, none}, false}};
    fill_sides(problem, input, ends, row);
    row->law.aim.xyz = rs_v3(rs_dot(relative, t1), rs_dot(relative, t2), 0.0);
    row->law.softness = softness;
    row->law.powered = true;
    prepare_row(row);
}

static void begin_spring(const rs_tree_input *input, rs_wire *wire) {
    rs_spring_end ends[2] = {{NULL}, {NULL}};
    rs_vec3 straight = rs_v3_zero();
    for (int end = 0; end < 2; end++) {
        const rs_body *body = &input->bodies[wire->body[end]];
        const row_end at = {.body = wire->body[end], .link = wire->link[end], .point = wire->middle[end]};
        if (is_moved_by_impulses(body) && body->articulation == NULL)
            ends[end] = (rs_spring_end){body, body->velocity, body->middle_omega};
        else
            straight = rs_madd(straight, end == 0 ? 1.0 : -1.0, point_velocity(input, &at, &at));
    }
    rs_spring_begin(wire, ends, straight, input->common.dt);
}

/* As far as its ends are apart at the beginning of the step a stiff wire is out that is seen for the first time: what parts within
 * the step was not made too short. */
static void find_length_out(const rs_tree_input *input, rs_wire *wire) {
    rs_vec3 at[2];
    for (int end = 0; end < 2; end++) {
        const rs_body *body = &input->bodies[wire->body[end]];
        const row_end where = {.body = wire->body[end], .link = wire->link[end], .point = wire->middle[end]};
        rs_transform frame = rs_carrier_pose(body, wire->link[end]);
        if (body->articulation == NULL)
            at[end] = rs_transform_point(&frame, wire->point[end]);
        else
            at[end] = rs_madd(wire->middle[end], -0.5 * input->common.dt, point_velocity(input, &where, &where));
    }
    wire->out = rs_norm(rs_sub(at[1], at[0]));
}

/* A stiff wire between ends that hardly move gives way a little, as contacts do. */
static void soften_held_wire(const rs_tree_input *input, const rs_wire *wire, rs_tree_row *row) {
    double both = inverse_mass(input, wire->body[0]);
    if (wire->body[1] != wire->body[0])
        both += inverse_mass(input, wire->body[1]);
    if (wire->properties.type != RS_WIRE_STIFF || row->g.zz >= LEAST_INVERSE_MASS * both)
        return;
    row->law.softness = LEAST_INVERSE_MASS * both - row->g.zz;
    row->push_softness = PUSH_SOFTNESS * both;
}

static void add_wire(rs_tree_rows *problem, const rs_tree_input *input, rs_wire *wire) {
    double sign = rs_wire_sign(wire);
    bool is_spring = rs_wire_is_spring(wire);
    if (is_spring && !wire->turned)
        begin_spring(input, wire);
    if (wire->properties.type == RS_WIRE_STIFF && wire->out == 0.0)
        find_length_out(input, wire);
    rs_vec3 axis = rs_scale(sign, wire->normal), across[2];
    rs_tangents(axis, &across[0], &across[1]); /* no impulse acts along them; how fast it goes there is asked for afterwards */
    const row_end ends[2] = {{wire->body[0], wire->link[0], wire->grip[0], {across[0], across[1], axis}, false},
                             {wire->body[1], wire->link[1], wire->grip[1], {across[0], across[1], axis}, false}};
    rs_vec3 relative = rs_sub(point_velocity(input, &ends[0], &ends[0]), point_velocity(input, &ends[1], &ends[1]));
    rs_tree_row *row = add_row(problem, RS_ROW_AXIS, (rs_row_source){.impulse = &wire->impulse, .scale = sign, .wire = wire});
    fill_sides(problem, input, ends, row);
    prepare_row(row);
    rs_wire_law law = rs_wire_law_of(wire, relative, row->g.zz, input->common.dt, input->common.settings->erp);
    row->law.lower = law.bounds.lower;
    row->law.upper = law.bounds.upper;
    row->law.aim.xyz.z = law.target;
    row->law.softness = law.softness;
    row->law.powered = law.softness > 0.0 || law.bounds.lower == law.bounds.upper;
    row->law.rebounds = wire->properties.type == RS_WIRE_STIFF;
    row->law.start.z = is_spring ? rs_dot(relative, axis) : law.start;
    row->law.impulse.xyz.z = law.impulse;
    row->law.push = law.push;
    soften_held_wire(input, wire, row);
    prepare_row(row);
    if (!(row->law.inverse_mass > 0.0))
        drop_row(problem);
    add_wire_sideways(problem, input, wire, relative);
    wire->former = wire->impulse;
    wire->impulse = 0.0;
}

/* ---- joints ---- */

/* `alike`: the row before acts in the same joint the same way, as a motor does where there is friction. */
static void add_joint_row(rs_tree_rows *problem, rs_articulation *a, int32_t object, const rs_joint_row *joint, bool alike) {
    rs_tree_row *row = add_row(problem, RS_ROW_AXIS, (rs_row_source){.impulse = joint->impulse, .scale = joint->sign});
    if (alike) {
        row->sides[0] = row[-1].sides[0];
    } else {
        rs_row_entry *entries = take_entries(problem, a->u_count);
        int32_t size = rs_joint_row_response(a, joint, entries);
        row->sides[0] = (rs_row_side){a->reduced, a->u_push, entries, size, object};
    }
    row->law.lower = joint->bounds.lower;
    row->law.upper = joint->bounds.upper;
    row->law.softness = joint->softness;
    row->law.powered = joint->softness > 0.0; /* motors */
    row->law.push = joint->push;
    row->law.aim.xyz.z = joint->target;
    row->given.z = rs_joint_row_speed(a, joint, a->u_free);
    row->law.start.z = rs_joint_row_speed(a, joint, a->u);
    row->law.impulse.xyz.z = joint->start;
    prepare_row(row);
}

/* Rows of limits, friction, motors and couplings. */
static void add_joints(rs_tree_rows *problem, rs_articulation *a, int32_t object, double dt) {
    rs_joint_row *joints = problem->joints.items;
    int32_t count = rs_joint_rows(a, dt, joints);
    for (int32_t k = 0; k < count; k++)
        add_joint_row(problem, a, object, &joints[k], k > 0 && rs_joint_rows_act_alike(&joints[k - 1], &joints[k]));
}

/* How fast the points of a pin come apart by going straight for a step, where they should bend off: a bound by the speeds of
 * all links against the base. */
static double bending_off(const rs_articulation *a, double dt) {
    double speed = 0.0, turning = 0.0;
    const rs_link_motion *base = &a->motion[0];
    for (int32_t i = 1; i < a->link_count; i++) {
        const rs_link_motion *link = &a->motion[i];
        rs_vec3 carried = rs_add(base->v, rs_cross(base->w, rs_sub(link->pos, base->pos)));
        speed = rs_max(speed, rs_norm(rs_sub(link->v, carried)));
        turning = rs_max(turning, rs_norm(rs_sub(link->w, base->w)));
    }
    return dt * speed * turning;
}

/* The two points of each pin move together, and back together when they have come apart. Where something is `touched`, contacts
 * may be in the way of that: then it counts as work, lest they push against each other for ever. */
static void add_pins(rs_tree_rows *problem, const rs_tree_input *input, int32_t body, bool touched) {
    rs_articulation *a = input->bodies[body].articulation;
    double softness = PIN_SOFTNESS * inverse_mass(input, body);
    double share = rs_min(PIN_GAIN * input->common.settings->erp, MAX_PIN_SHARE) / input->common.dt;
    for (int32_t k = 0; k < a->pin_count; k++) {
        const rs_pin *pin = &a->pins[k];
        rs_tree_row *row = add_row(problem, RS_ROW_POINT, (rs_row_source){.vector = &a->pin_impulse[k], .scale = 1.0});
        rs_vec3 points[2];
        for (int s = 0; s < 2; s++) {
            const rs_link_motion *m = &a->motion[pin->link[s]];
            points[s] = rs_add(m->pos, rs_m3_mulv(&m->rot, pin->point[s]));
        }
        rs_vec3 gap = rs_sub(points[0], points[1]);
        double width = rs_norm(gap), speed = rs_min(share * width, PIN_MOTION * bending_off(a, input->common.dt));
        row->closing = rs_normalize_or(rs_neg(gap), rs_v3_zero());
        row->law.aim.xyz = rs_scale(speed, row->closing);
        row->law.push = width / input->common.dt - speed;
        row->law.impulse.xyz = a->pin_impulse[k];
        row->law.softness = softness;
        row->law.rebounds = touched;
        const row_end ends[2] = {{body, pin->link[0], points[0], {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, false},
                                 {body, pin->link[1], points[1], {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, false}};
        row->law.start = rs_sub(point_velocity(input, &ends[0], &ends[0]), point_velocity(input, &ends[1], &ends[1]));
        fill_sides(problem, input, ends, row);
        prepare_row(row);
    }
}

/* ---- the island ---- */

static bool has_stiff_wire(const rs_tree_input *input, const rs_island *home) {
    bool found = false;
    for (int64_t k = 0; k < home->wires.count; k++)
        found |= input->wires[rs_islands_wires(input->islands, home)[k]].properties.type == RS_WIRE_STIFF;
    return found;
}

rs_status rs_tree_rows_fill(rs_tree_rows *problem, const rs_tree_input *input, const rs_island *home) {
    if (reserve(problem, input, home) != RS_OK)
        return RS_OUT_OF_MEMORY;
    rs_island_bodies members = rs_islands_bodies(input->islands, home);
    list_objects(problem, input, members);
    const int32_t *order = input->islands->order.items;
    bool touched = home->rows.count + home->wires.count > 0;
    problem->wired = has_stiff_wire(input, home);
    for (int64_t i = 0; i < members.count; i++) {
        rs_articulation *tree = input->bodies[members.index[i]].articulation;
        if (tree != NULL && (touched || tree->pin_count > 0))
            rs_response_begin(tree);
    }
    for (int64_t k = 0; k < home->rows.count; k++)
        add_contact(problem, input, &input->touches[order[home->rows.first + k]]);
    for (int64_t k = 0; k < home->wires.count; k++)
        add_wire(problem, input, &input->wires[rs_islands_wires(input->islands, home)[k]]);
    for (int32_t i = 0; i < members.count; i++) {
        rs_articulation *tree = input->bodies[members.index[i]].articulation;
        if (tree == NULL)
            continue;
        memset(tree->u_push, 0, sizeof(double) * (size_t)tree->u_count);
        add_joints(problem, tree, i, input->common.dt);
        add_pins(problem, input, members.index[i], home->rows.count > 0);
    }
    problem->rows = (rs_rows){rs_tree_layout(), problem->list.any.data, sizeof(rs_tree_row), problem->list.count,
                              (int32_t)members.count};
    problem->solver_bodies = input->solver_bodies;
    problem->released = true;
    return RS_OK;
}

static void store_impulses(const rs_tree_rows *problem) {
    const rs_tree_row *rows = problem->list.items;
    const rs_row_source *sources = problem->sources.items;
    for (int64_t k = 0; k < problem->list.count; k++) {
        if (sources[k].vector != NULL)
            *sources[k].vector = rs_scale(sources[k].scale, rows[k].law.impulse.xyz);
        else
            *sources[k].impulse += sources[k].scale * rows[k].law.impulse.xyz.z;
    }
}

bool rs_tree_rows_store(rs_tree_rows *problem, double dt) {
    bool missed = false;
    store_impulses(problem);
    for (int64_t i = 0; i < problem->objects.count && problem->list.count > 0; i++) {
        rs_articulation *tree = RS_ITEM(problem->objects, i)->tree;
        if (tree == NULL)
            continue;
        rs_response_spread(tree, tree->work[2]);
        missed |= rs_joint_rows_missed(tree, tree->work[2], dt);
    }
    return missed;
}

/* What the motion that removes overlap promises to contacts of links with each other. */
static void store_reliefs(const rs_tree_rows *problem, double dt, bool pushed) {
    for (int64_t k = 0; k < problem->list.count; k++) {
        rs_touch *touch = problem->sources.items[k].self;
        const rs_row_side *side = problem->list.items[k].sides;
        if (touch != NULL)
            touch->relief = pushed ? dt * rs_row_side_speed(side, side->push)[2] : 0.0;
    }
}

void rs_tree_rows_write_back(rs_tree_rows *problem, const rs_tree_input *input, bool pushed) {
    store_reliefs(problem, input->common.dt, pushed);
    for (int64_t i = 0; i < problem->objects.count; i++) {
        const rs_tree_object *object = RS_ITEM(problem->objects, i);
        if (object->tree != NULL) {
            size_t limited = (size_t)(object->tree->u_count + object->tree->tendon_count);
            memset(object->tree->overruns, 0, sizeof(double) * limited);
            memset(object->tree->overruns_before, 0, sizeof(double) * (size_t)object->tree->u_count);
            if (problem->list.count > 0)
                rs_response_end(object->tree, pushed);
            object->tree->pushed = pushed;
            input->pushes[object->body] = (rs_push_body){0};
            continue;
        }
        const double *velocity = object->velocity;
        input->solver_bodies[object->body].v.xyz = rs_v3_load(velocity);
        input->solver_bodies[object->body].w.xyz = rs_v3_load(velocity + 3);
        input->pushes[object->body] = (rs_push_body){rs_v3_load(velocity + 12), rs_v3_load(velocity + 15)};
    }
}
