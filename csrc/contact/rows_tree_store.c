/* Where the solution of an island with articulated systems goes. */
#include "rows_tree.h"

#include <string.h>

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
