/* What contacts and wires of the last solve pull at articulated systems. */
#include "../dynamics/tension.h"
#include "rows_tree.h"

static void pull(const rs_tree_input *input, int32_t body, int32_t link, rs_vec3 point, rs_vec3 impulse) {
    rs_articulation *a = input->bodies[body].articulation;
    if (a != NULL)
        rs_tension_add(a, link, point, rs_scale(1.0 / input->common.dt, impulse));
}

static void pull_by_contact(const rs_tree_input *input, const rs_touch *t) {
    const rs_collider *colliders = input->common.colliders;
    rs_vec3 impulse = rs_madd(rs_madd(rs_scale(t->impulse.x, t->t1), t->impulse.y, t->t2), t->impulse.z, t->n);
    pull(input, t->body_a, colliders[t->collider_a].link, t->position, impulse);
    pull(input, t->body_b, colliders[t->collider_b].link, t->position, rs_neg(impulse));
}

void rs_tree_tension_gather(const rs_tree_input *input, const rs_island *island) {
    const int32_t *order = input->islands->order.items, *wires = rs_islands_wires(input->islands, island);
    rs_island_bodies members = rs_islands_bodies(input->islands, island);
    for (int64_t i = 0; i < members.count; i++)
        if (input->bodies[members.index[i]].articulation != NULL)
            rs_tension_begin(input->bodies[members.index[i]].articulation);
    for (int64_t k = 0; k < island->rows.count; k++)
        pull_by_contact(input, &input->touches[order[island->rows.first + k]]);
    for (int64_t k = 0; k < island->wires.count; k++) {
        const rs_wire *wire = &input->wires[wires[k]];
        rs_vec3 impulse = rs_scale(wire->impulse, wire->normal);
        pull(input, wire->body[0], wire->link[0], wire->middle[0], impulse);
        pull(input, wire->body[1], wire->link[1], wire->middle[1], rs_neg(impulse));
    }
}

bool rs_tree_tension_follow(const rs_tree_input *input, const rs_island *island, rs_vec3 gravity) {
    rs_island_bodies members = rs_islands_bodies(input->islands, island);
    bool changed = false, taut = island->wires.count > 0;
    for (int64_t i = 0; i < members.count; i++) {
        const rs_articulation *a = input->bodies[members.index[i]].articulation;
        taut |= a != NULL && a->taut;
    }
    if (!taut)
        return false;
    rs_tree_tension_gather(input, island);
    for (int64_t i = 0; i < members.count; i++) {
        rs_articulation *a = input->bodies[members.index[i]].articulation;
        if (a == NULL || !(rs_articulated_rule(a, input->common.dt).stiff_dt > 0.0) || !rs_tension_changed(a, input->common.dt))
            continue;
        rs_articulated_free_again(a, gravity, input->common.dt);
        changed = true;
    }
    return changed;
}
