#include "general_problem.h"
#include "block_start.h"
#include "general_push.h"

#include <string.h>

/* Share of a pin's gap that is closed until the next midpoint: gain per unit of ERP, and its limit. All of it with the
 * default ERP: what a fast linkage gains by moving straight for half a step must not add up. */
static const double PIN_GAIN = 2.0 / 3.0, MAX_PIN_SHARE = 1.0;
/* Fastest closing of a pin's gap [m/s]: a loop that starts open must not be torn shut. */
static const double MAX_PIN_SPEED = 3.0;

/* Softness of contacts and pins relative to the inverse mass of the objects: a mechanism with few degrees of freedom
 * cannot give way along every axis, and impulses there must stay finite. */
static const double SOFTNESS = 1e-7;
/* Contacts that hold an object several times over share its load as they did before: their softness yields to changes of
 * the impulse only. What that recalls of a blow or of an object that is crushed is at most this fast [m/s]. */
static const double MAX_RECALL_SPEED = 1e-6;

/* Where the impulse of a row comes from and goes to. */
typedef struct {
    rs_vec3 *vector; /* of a contact or pin; or NULL: */
    double *impulse; /* of a wire or joint, to which sign * the row's is added; zero before */
    double sign;
} rs_row_source;

rs_general_problem rs_general_problem_new(void) {
    return (rs_general_problem){.rows = rs_array_of(sizeof(rs_general_row)),
                                .sources = rs_array_of(sizeof(rs_row_source)),
                                .numbers = rs_array_of(sizeof(double)),
                                .places = rs_array_of(sizeof(int32_t)),
                                .joints = rs_array_of(sizeof(rs_joint_row)),
                                .matrix = rs_array_of(sizeof(double)),
                                .jump = rs_general_jump_make()};
}

void rs_general_problem_free(rs_general_problem *problem) {
    rs_array_free(&problem->rows);
    rs_array_free(&problem->sources);
    rs_array_free(&problem->numbers);
    rs_array_free(&problem->places);
    rs_array_free(&problem->joints);
    rs_array_free(&problem->matrix);
    rs_general_jump_free(&problem->jump);
}

/* ---- room ---- */

static int64_t velocity_count(const rs_body *body) { return body->articulation != NULL ? body->articulation->u_count : 6; }

static int64_t padded(int64_t count) { return (count + 3) / 4 * 4; }

/* Numbers that one side of a row takes. */
static int64_t side_numbers(int64_t size) { return size * (int64_t)(sizeof(rs_row_entry) / sizeof(double)); }

static bool is_moved_by_impulses(const rs_body *body) { return body->type == RS_BODY_DYNAMIC; }

/* Aligned for four-wide vectors. */
static double *take(rs_general_problem *problem, int64_t count) {
    double *numbers = &RS_ITEMS(double, problem->numbers)[problem->used];
    problem->used += padded(count);
    return numbers;
}

static rs_row_entry *take_entries(rs_general_problem *problem, int64_t count) {
    return (rs_row_entry *)(void *)take(problem, side_numbers(count));
}

/* Most numbers and rows that the island can need; reserved at once, because rows point into the numbers. */
static rs_status reserve(rs_general_problem *problem, const rs_general_input *input, int32_t island) {
    const rs_island *home = &RS_ITEMS(rs_island, input->islands->islands)[island];
    const int32_t *order = RS_ITEMS(int32_t, input->islands->order);
    int64_t numbers = 0, rows = home->row_count;
    for (int64_t k = 0; k < home->row_count; k++) {
        const rs_touch *touch = &input->touches[order[home->first_row + k]];
        numbers += side_numbers(velocity_count(&input->bodies[touch->body_a])) +
                   side_numbers(velocity_count(&input->bodies[touch->body_b]));
    }
    rows += home->wire_count;
    for (int64_t k = 0; k < home->wire_count; k++) {
        const rs_wire *wire = &input->wires[rs_islands_wires(input->islands, home)[k]];
        numbers += side_numbers(velocity_count(&input->bodies[wire->body[0]])) +
                   side_numbers(velocity_count(&input->bodies[wire->body[1]]));
    }
    rs_island_bodies members = rs_islands_bodies(input->islands, home);
    for (int64_t i = 0; i < members.count; i++) {
        const rs_body *body = &input->bodies[members.index[i]];
        int64_t n = velocity_count(body);
        bool tree = body->articulation != NULL;
        int64_t joint_rows = tree ? rs_joint_row_capacity(body->articulation) + body->articulation->pin_count : 0;
        numbers += padded(2 * n) + joint_rows * side_numbers(n);
        rows += joint_rows;
    }
    problem->used = 0;
    problem->rows.count = problem->sources.count = 0;
    if (rs_array_resize(&problem->numbers, numbers) != RS_OK || rs_array_reserve(&problem->rows, rows) != RS_OK ||
        rs_array_reserve(&problem->sources, rows) != RS_OK ||
        rs_array_resize(&problem->places, input->body_count) != RS_OK ||
        rs_array_resize(&problem->matrix, rs_block_start_room(home->wire_count)) != RS_OK)
        return RS_OUT_OF_MEMORY;
    for (int64_t i = 0; i < members.count; i++)
        RS_ITEMS(int32_t, problem->places)[members.index[i]] = RS_NONE;
    return RS_OK;
}

/* Velocity of a single body as the solver changes it, v and w; the six numbers of its push-out motion follow. */
static double *velocity_of(rs_general_problem *problem, const rs_general_input *input, int32_t body) {
    int32_t *place = &RS_ITEMS(int32_t, problem->places)[body];
    if (*place == RS_NONE) {
        *place = (int32_t)problem->used;
        double *velocity = take(problem, 12);
        rs_v3_store(velocity, input->solver_bodies[body].v.xyz);
        rs_v3_store(velocity + 3, input->solver_bodies[body].w.xyz);
        memset(velocity + 6, 0, sizeof(double) * 6);
    }
    return &RS_ITEMS(double, problem->numbers)[*place];
}

static rs_general_row *add_row(rs_general_problem *problem, rs_row_kind kind, rs_row_source source) {
    *(rs_row_source *)rs_array_push(&problem->sources) = source;
    rs_general_row *row = rs_array_push(&problem->rows);
    row->kind = kind;
    return row;
}

/* ---- sides ---- */

/* One end of a row: a point of a body or link, world frame, and the three axes of the row. */
typedef struct {
    int32_t body, link;
    rs_vec3 point, axes[3];
} row_end;

static void fill_body_side(rs_general_problem *problem, const rs_general_input *input, const row_end *end, double sign,
                           rs_row_side *side) {
    const rs_solver_body *inertia = &input->solver_bodies[end->body];
    rs_vec3 arm = rs_sub(end->point, input->bodies[end->body].middle_com);
    double *velocity = velocity_of(problem, input, end->body);
    rs_row_entry *entries = take_entries(problem, 6);
    memset(entries, 0, sizeof *entries * 6);
    for (int axis = 0; axis < 3; axis++) {
        rs_vec3 linear = rs_scale(sign, end->axes[axis]), angular = rs_scale(sign, rs_cross(arm, end->axes[axis]));
        rs_vec3 turned = rs_columns_mul3(&inertia->inverse_inertia, angular);
        for (int k = 0; k < 3; k++) {
            rs_v3_set(&entries[k].jacobian.xyz, axis, rs_v3_get(linear, k));
            rs_v3_set(&entries[k].response.xyz, axis, inertia->inverse_mass * rs_v3_get(linear, k));
            rs_v3_set(&entries[3 + k].jacobian.xyz, axis, rs_v3_get(angular, k));
            rs_v3_set(&entries[3 + k].response.xyz, axis, rs_v3_get(turned, k));
        }
    }
    for (int k = 0; k < 6; k++)
        entries[k].index = k;
    *side = (rs_row_side){velocity, velocity + 6, entries, 6};
}

/* Velocity of a body's material at a point at the beginning of the step, world frame. */
static rs_vec3 point_velocity(const rs_body *body, int32_t link, rs_vec3 point) {
    if (body->articulation != NULL)
        return rs_link_point_velocity(body->articulation, link,
                                      rs_sub(point, body->articulation->motion[link].pos));
    return rs_add(body->velocity, rs_cross(body->omega, rs_sub(point, body->middle_com)));
}

/* Velocity along the row's axes of a body that impulses do not move: the others must reach theirs against it. */
static rs_vec3 given_velocity(const rs_body *body, const row_end *end) {
    rs_vec3 v = point_velocity(body, 0, end->point);
    return rs_v3(rs_dot(v, end->axes[0]), rs_dot(v, end->axes[1]), rs_dot(v, end->axes[2]));
}

/* One or two ends on the same tree. Its velocity without impulses goes to the target: the side holds changes only. */
static void fill_tree_side(rs_general_problem *problem, rs_articulation *tree, const row_end *ends, int count, double sign,
                           rs_general_row *row, rs_row_side *side) {
    rs_row_point points[2];
    for (int s = 0; s < count; s++, sign = -sign) {
        const rs_vec3 *axes = ends[s].axes;
        points[s] = (rs_row_point){ends[s].link, ends[s].point,
                                   {rs_scale(sign, axes[0]), rs_scale(sign, axes[1]), rs_scale(sign, axes[2])}};
        row->target = rs_sub(row->target, rs_free_velocity_along(tree, &points[s]));
    }
    rs_row_entry *entries = take_entries(problem, tree->u_count);
    *side = (rs_row_side){tree->reduced, tree->u_push, entries, rs_point_response(tree, points, count, entries)};
}

static void fill_sides(rs_general_problem *problem, const rs_general_input *input, const row_end ends[2],
                       rs_general_row *row) {
    bool same = ends[0].body == ends[1].body; /* two links of one tree share a side */
    for (int s = 0; s < (same ? 1 : 2); s++) {
        const rs_body *owner = &input->bodies[ends[s].body];
        double sign = s == 0 ? 1.0 : -1.0;
        if (!is_moved_by_impulses(owner))
            row->target = rs_sub(row->target, rs_scale(sign, given_velocity(owner, &ends[s])));
        else if (owner->articulation == NULL)
            fill_body_side(problem, input, &ends[s], sign, &row->sides[s]);
        else
            fill_tree_side(problem, owner->articulation, &ends[s], same ? 2 : 1, sign, row, &row->sides[s]);
    }
}

/* Inverse mass of an object as a whole [1/kg]. */
static double inverse_mass(const rs_general_input *input, int32_t body) {
    const rs_articulation *tree = input->bodies[body].articulation;
    if (!is_moved_by_impulses(&input->bodies[body]))
        return 0.0;
    return tree != NULL ? tree->inverse_mass : input->solver_bodies[body].inverse_mass;
}

/* ---- contacts ---- */

static void add_contact(rs_general_problem *problem, const rs_general_input *input, rs_touch *touch) {
    const rs_collider *a = &input->common.colliders[touch->collider_a], *b = &input->common.colliders[touch->collider_b];
    rs_vec3 relative = rs_sub(point_velocity(&input->bodies[touch->body_a], a->link, touch->position),
                              point_velocity(&input->bodies[touch->body_b], b->link, touch->position));
    rs_contact_law law = rs_contact_law_of(&input->common, touch, relative);
    rs_general_row *row = add_row(problem, RS_ROW_CONTACT, (rs_row_source){.vector = &touch->impulse});
    row->mu = law.mu;
    row->target.z = law.target;
    row->push = law.push;
    row->softness = SOFTNESS * (inverse_mass(input, touch->body_a) +
                                (touch->body_b != touch->body_a ? inverse_mass(input, touch->body_b) : 0.0));
    row->impulse = touch->impulse;
    double recall = row->softness * rs_norm(row->impulse);
    row->target = rs_madd(row->target, row->softness * MAX_RECALL_SPEED / rs_max(recall, MAX_RECALL_SPEED),
                          row->impulse);
    const row_end ends[2] = {{touch->body_a, a->link, touch->position, {touch->t1, touch->t2, touch->n}},
                             {touch->body_b, b->link, touch->position, {touch->t1, touch->t2, touch->n}}};
    fill_sides(problem, input, ends, row);
    rs_general_row_prepare(row);
    touch->g = row->g;
}

/* ---- wires ---- */

static void add_wire(rs_general_problem *problem, const rs_general_input *input, rs_wire *wire) {
    rs_vec3 v[2];
    for (int s = 0; s < 2; s++)
        v[s] = point_velocity(&input->bodies[wire->body[s]], wire->link[s], wire->middle[s]);
    double shortening = rs_dot(rs_sub(v[0], v[1]), wire->normal), sign = rs_wire_sign(wire);
    rs_general_row *row = add_row(problem, RS_ROW_SCALAR, (rs_row_source){NULL, &wire->impulse, sign});
    rs_vec3 axis = rs_scale(sign, wire->normal), none = rs_v3_zero();
    const row_end ends[2] = {{wire->body[0], wire->link[0], wire->middle[0], {none, none, axis}},
                             {wire->body[1], wire->link[1], wire->middle[1], {none, none, axis}}};
    fill_sides(problem, input, ends, row);
    rs_general_row_prepare(row);
    rs_wire_law law = rs_wire_law_of(wire, shortening, row->g.zz, input->common.dt, input->common.settings->erp);
    row->bounds = law.bounds;
    row->target.z += law.target;
    row->softness = law.softness;
    row->impulse.z = law.impulse;
    wire->impulse = 0.0;
    rs_general_row_prepare(row);
}

/* ---- joints ---- */

static void add_joint_row(rs_general_problem *problem, rs_articulation *a, const rs_joint_row *joint) {
    rs_general_row *row = add_row(problem, RS_ROW_SCALAR, (rs_row_source){NULL, joint->impulse, joint->sign});
    rs_row_entry *entries = take_entries(problem, a->u_count);
    int32_t size = rs_torque_response(a, joint->torques, joint->count, entries);
    row->sides[0] = (rs_row_side){a->reduced, a->u_push, entries, size};
    row->bounds = joint->bounds;
    row->softness = joint->softness;
    row->push = joint->push;
    row->target.z = joint->target - rs_joint_row_speed(a, joint);
    row->impulse.z = joint->start;
    rs_general_row_prepare(row);
}

/* What the rows so far lack in speed, as energy: they may give it to joints. */
static double energy_to_give(const rs_general_problem *problem) {
    double energy = 0.0;
    for (int64_t k = 0; k < problem->rows.count; k++) {
        const rs_general_row *row = &RS_ITEMS(rs_general_row, problem->rows)[k];
        energy += 0.5 * rs_norm2(rs_sub(row->target, rs_general_row_velocity(row))) / (row->g.zz + row->softness);
    }
    return energy;
}

/* Rows of limits, friction, motors and couplings. */
static rs_status add_joints(rs_general_problem *problem, rs_articulation *a, double dt, double energy) {
    if (rs_array_resize(&problem->joints, rs_joint_row_capacity(a)) != RS_OK)
        return RS_OUT_OF_MEMORY;
    rs_joint_row *joints = RS_ITEMS(rs_joint_row, problem->joints);
    int32_t count = rs_joint_rows(a, dt, energy, joints);
    for (int32_t k = 0; k < count; k++)
        add_joint_row(problem, a, &joints[k]);
    return RS_OK;
}

/* The two points of each pin move together, and back together when they have come apart. */
static void add_pins(rs_general_problem *problem, const rs_general_input *general, int32_t body) {
    rs_articulation *a = general->bodies[body].articulation;
    const rs_problem_input *input = &general->common;
    double softness = SOFTNESS * inverse_mass(general, body);
    double share = rs_min(PIN_GAIN * input->settings->erp, MAX_PIN_SHARE) / input->dt;
    for (int32_t k = 0; k < a->pin_count; k++) {
        rs_pin *pin = &a->pins[k];
        rs_general_row *row = add_row(problem, RS_ROW_PIN, (rs_row_source){.vector = &pin->impulse});
        rs_vec3 points[2];
        for (int s = 0; s < 2; s++) {
            const rs_link_motion *m = &a->motion[pin->link[s]];
            points[s] = rs_add(m->pos, rs_m3_mulv(&m->rot, pin->point[s]));
        }
        rs_vec3 gap = rs_sub(points[0], points[1]);
        double speed = share * rs_norm(gap);
        row->target = rs_scale(-share * MAX_PIN_SPEED / rs_max(speed, MAX_PIN_SPEED), gap);
        row->impulse = pin->impulse;
        row->softness = softness;
        const row_end ends[2] = {{body, pin->link[0], points[0], {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
                                 {body, pin->link[1], points[1], {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}};
        fill_sides(problem, general, ends, row);
        rs_general_row_prepare(row);
    }
}

/* ---- the island ---- */

static void write_back(const rs_general_problem *problem, const rs_general_input *input, rs_island_bodies members,
                       bool pushed) {
    const rs_general_row *rows = RS_ITEMS(rs_general_row, problem->rows);
    const rs_row_source *sources = RS_ITEMS(rs_row_source, problem->sources);
    for (int64_t k = 0; k < problem->rows.count; k++) {
        if (sources[k].vector != NULL)
            *sources[k].vector = rows[k].impulse;
        else
            *sources[k].impulse += sources[k].sign * rows[k].impulse.z;
    }
    const int32_t *places = RS_ITEMS(int32_t, problem->places);
    for (int64_t i = 0; i < members.count; i++) {
        int32_t body = members.index[i];
        rs_articulation *tree = input->bodies[body].articulation;
        if (tree != NULL && problem->rows.count > 0)
            rs_response_end(tree, pushed);
        if (tree != NULL)
            tree->pushed = pushed;
        input->pushes[body] = (rs_push_body){0};
        if (places[body] == RS_NONE)
            continue;
        const double *velocity = &RS_ITEMS(double, problem->numbers)[places[body]];
        input->solver_bodies[body].v.xyz = rs_v3_load(velocity);
        input->solver_bodies[body].w.xyz = rs_v3_load(velocity + 3);
        input->pushes[body] = (rs_push_body){rs_v3_load(velocity + 6), rs_v3_load(velocity + 9)};
    }
}

/* Rows of everything that may act in the island; `home` names it. */
static rs_status make_rows(rs_general_problem *problem, const rs_general_input *input, const rs_island *home,
                           rs_island_bodies members) {
    const int32_t *order = RS_ITEMS(int32_t, input->islands->order);
    bool touched = home->row_count + home->wire_count > 0;
    for (int64_t i = 0; i < members.count; i++) {
        rs_articulation *tree = input->bodies[members.index[i]].articulation;
        if (tree != NULL && (touched || tree->pin_count > 0))
            rs_response_begin(tree);
    }
    for (int64_t k = 0; k < home->row_count; k++)
        add_contact(problem, input, &input->touches[order[home->first_row + k]]);
    for (int64_t k = 0; k < home->wire_count; k++)
        add_wire(problem, input, &input->wires[rs_islands_wires(input->islands, home)[k]]);
    double energy = energy_to_give(problem);
    for (int64_t i = 0; i < members.count; i++) {
        rs_articulation *tree = input->bodies[members.index[i]].articulation;
        if (tree == NULL)
            continue;
        memset(tree->u_push, 0, sizeof(double) * (size_t)tree->u_count);
        if (add_joints(problem, tree, input->common.dt, energy) != RS_OK)
            return RS_OUT_OF_MEMORY;
        add_pins(problem, input, members.index[i]);
    }
    return RS_OK;
}

rs_status rs_general_island_solve(rs_general_problem *problem, const rs_general_input *input, int32_t island,
                                  rs_solve_result *result, bool *pushed) {
    const rs_island *home = &RS_ITEMS(rs_island, input->islands->islands)[island];
    rs_island_bodies members = rs_islands_bodies(input->islands, home);
    if (reserve(problem, input, island) != RS_OK || make_rows(problem, input, home, members) != RS_OK)
        return RS_OUT_OF_MEMORY;
    rs_general_row *rows = RS_ITEMS(rs_general_row, problem->rows);
    *pushed = rs_general_push_out(rows, problem->rows.count);
    for (int64_t k = 0; k < problem->rows.count; k++)
        rs_general_row_apply(&rows[k], rows[k].impulse);
    rs_block_start(&rows[home->row_count], home->wire_count, RS_ITEMS(double, problem->matrix)); /* they follow contacts */
    *result = rs_general_solve(rows, problem->rows.count, input->common.settings, input->backward,
                               &problem->jump);
    write_back(problem, input, members, *pushed);
    return RS_OK;
}
