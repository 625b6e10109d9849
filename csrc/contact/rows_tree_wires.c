/* What a solution means for wires: whether they pull as their rows assume, and how far the motion that removes stretch may go. */
#include "rows_tree.h"

/* Halvings of a motion that takes back stretch. */
enum { MAX_SHORTENED = 10 };

/* Whether a side is that of a single body, and holds its velocity. */
static bool is_of_body(const rs_tree_rows *problem, const rs_row_side *side) {
    return side->size > 0 && RS_ITEM(problem->objects, side->object)->tree == NULL;
}

/* True when it must be solved again. */
static bool follow_spring(const rs_tree_rows *problem, const rs_tree_input *input, int64_t k, double share) {
    const rs_tree_row *row = &problem->list.items[k];
    rs_wire *wire = problem->sources.items[k].wire;
    rs_spring_end ends[2] = {{NULL}, {NULL}};
    rs_vec3 t1, t2, axis = rs_scale(rs_wire_sign(wire), wire->normal), straight = row->given;
    double speed = row->given.z;
    for (int side = 0; side < 2; side++) {
        rs_v4 part = rs_row_side_speed(&row->sides[side], row->sides[side].velocity);
        speed += part[2];
        if (is_of_body(problem, &row->sides[side])) {
            const double *velocity = row->sides[side].velocity;
            const rs_body *body = &input->bodies[wire->body[side]];
            ends[side] = (rs_spring_end){body, rs_v3_load(velocity), rs_v3_load(velocity + 3)};
        } else {
            straight = rs_add(straight, rs_v3(part[0], part[1], part[2]));
        }
    }
    rs_tangents(axis, &t1, &t2);
    straight = rs_madd(rs_madd(rs_scale(straight.z, axis), straight.x, t1), straight.y, t2);
    double work = 0.5 * row->law.impulse.xyz.z * (row->law.start.z + speed);
    return rs_spring_follow(wire, ends, straight, work, share, input->common.dt);
}

bool rs_tree_rows_tightened(const rs_tree_input *input, const rs_island *island) {
    bool tightened = false;
    for (int64_t k = 0; k < island->wires.count; k++)
        tightened |= rs_wire_tightened(&input->wires[rs_islands_wires(input->islands, island)[k]]);
    return tightened;
}

bool rs_tree_rows_turn_wires(const rs_tree_rows *problem, const rs_tree_input *input, const rs_island *island, double share) {
    bool turned = false;
    for (int64_t k = 0; k < island->wires.count; k++) {
        rs_wire *wire = &input->wires[rs_islands_wires(input->islands, island)[k]];
        turned |= !rs_wire_is_spring(wire) && rs_wire_turn(wire);
    }
    for (int64_t k = 0; k < problem->list.count; k++) {
        const rs_wire *wire = problem->sources.items[k].wire;
        turned |= wire != NULL && rs_wire_is_spring(wire) && follow_spring(problem, input, k, share);
    }
    return turned;
}

/* Where the motion that removes overlap and stretch takes an end of a wire on a single body; other ends go straight. */
static rs_vec3 pushed_end(const rs_tree_input *input, const rs_wire *wire, int end, const double *push, double time) {
    const rs_body *body = &input->bodies[wire->body[end]];
    rs_mat3 turn = rs_quat_to_m3(rs_quat_exp(rs_scale(time, rs_v3_load(push + 3))));
    rs_vec3 arm = rs_sub(wire->middle[end], body->middle_com);
    return rs_add(rs_madd(body->middle_com, time, rs_v3_load(push)), rs_m3_mulv(&turn, arm));
}

static double stretch_after(const rs_tree_rows *problem, const rs_tree_input *input, int64_t k, double time) {
    const rs_tree_row *row = &problem->list.items[k];
    const rs_wire *wire = problem->sources.items[k].wire;
    rs_vec3 at[2], t1, t2, axis = rs_scale(rs_wire_sign(wire), wire->normal);
    rs_tangents(axis, &t1, &t2);
    for (int end = 0; end < 2; end++) {
        const rs_row_side *side = &row->sides[end];
        at[end] = wire->middle[end];
        if (is_of_body(problem, side)) {
            at[end] = pushed_end(input, wire, end, side->push, time);
        } else if (side->size > 0) {
            rs_v4 v = rs_row_side_speed(side, side->push);
            rs_vec3 along = rs_madd(rs_madd(rs_scale(v[2], axis), v[0], t1), v[1], t2);
            at[end] = rs_madd(at[end], end == 0 ? time : -time, along);
        }
    }
    return rs_wire_excess(wire, rs_norm(rs_sub(at[1], at[0])));
}

static double squared_stretch(const rs_tree_rows *problem, const rs_tree_input *input, double share) {
    double sum = 0.0;
    for (int64_t k = 0; k < problem->list.count; k++) {
        const rs_wire *wire = problem->sources.items[k].wire;
        double stretch = wire != NULL && wire->properties.type == RS_WIRE_STIFF
                             ? stretch_after(problem, input, k, share * input->common.dt)
                             : 0.0;
        sum += stretch * stretch;
    }
    return sum;
}

void rs_tree_rows_shorten_push(const rs_tree_rows *problem, const rs_tree_input *input, const rs_island *island) {
    double share = 1.0, now = island->wires.count > 0 ? squared_stretch(problem, input, share) : 0.0;
    for (int n = 0; n < MAX_SHORTENED && now > 0.0; n++) {
        double half = squared_stretch(problem, input, 0.5 * share);
        if (half >= now)
            break;
        share *= 0.5;
        now = half;
    }
    for (int64_t i = 0; i < problem->objects.count && share < 1.0; i++) {
        const rs_tree_object *object = RS_ITEM(problem->objects, i);
        double *push = object->tree != NULL ? object->tree->u_push : object->velocity + 12;
        for (int32_t e = 0; e < (object->tree != NULL ? object->tree->u_count : 6); e++)
            push[e] *= share;
    }
}
