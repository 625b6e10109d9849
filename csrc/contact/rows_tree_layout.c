/* How rows of trees act on velocities: sweeps over them, and what Newton's method asks of them. */
#include "coulomb.h"
#include "rows_tree.h"

#include <string.h>

/* Inverse inertia added to that of turning about an axis, relative to the largest. */
static const double LEAST_TURNING = 1e-9;
/* Rows of one robot all act on the velocities of its base, and sweeps find their balance slowly. */
enum { FIRST_SWEEPS = 16 };

static rs_tree_row *row_at(const rs_rows *rows, int64_t k) { return &((rs_tree_row *)(void *)rows->first)[k]; }

/* Minus what is wanted, and what the spring gives way: `v` is the relative velocity, but for what is given. */
static inline rs_vec3 error_at(const rs_tree_row *row, rs_v4 v) {
    rs_vec3 relative = rs_add(rs_v3(v[0], v[1], v[2]), row->given);
    return rs_madd(rs_sub(relative, row->law.aim.xyz), row->law.softness, row->law.impulse.xyz);
}

static inline rs_vec3 error_of(const rs_tree_row *row) {
    return error_at(row, rs_row_side_speed(&row->sides[0], row->sides[0].velocity) +
                             rs_row_side_speed(&row->sides[1], row->sides[1].velocity));
}

/* The same without impulses: only single bodies move. */
static rs_vec3 free_error_of(const rs_tree_rows *self, const rs_tree_row *row) {
    rs_v4 v = rs_v4_all(0.0);
    for (int s = 0; s < 2; s++) {
        const rs_row_side *side = &row->sides[s];
        if (side->size > 0 && self->objects.items[side->object].tree == NULL)
            v += rs_row_side_speed(side, side->velocity);
    }
    return error_at(row, v);
}

static inline void apply_impulse(const rs_tree_row *row, rs_vec3 impulse) {
    rs_row_side_apply(&row->sides[0], impulse, row->sides[0].velocity);
    rs_row_side_apply(&row->sides[1], impulse, row->sides[1].velocity);
}

static void release(rs_rows *rows) {
    rs_tree_rows *self = (rs_tree_rows *)rows;
    self->released = true;
    for (int64_t k = 0; k < self->objects.count; k++) {
        const rs_tree_object *object = RS_ITEM(self->objects, k);
        if (object->tree != NULL)
            memset(object->tree->reduced, 0, sizeof(double) * (size_t)object->tree->u_count);
        else
            memcpy(object->velocity, object->velocity + 6, sizeof(double) * 6);
    }
}

static void look(rs_rows *rows) {
    const rs_tree_rows *self = (const rs_tree_rows *)rows;
    for (int64_t k = 0; k < rows->count; k++) {
        rs_tree_row *row = row_at(rows, k);
        row->law.error.xyz = self->released ? free_error_of(self, row) : error_of(row);
    }
}

static void apply(rs_rows *rows, double share) {
    ((rs_tree_rows *)rows)->released = false;
    for (int64_t k = 0; k < rows->count; k++) {
        rs_tree_row *row = row_at(rows, k);
        rs_vec3 change = rs_scale(share, row->law.step.xyz);
        if (change.x == 0.0 && change.y == 0.0 && change.z == 0.0)
            continue;
        row->law.impulse.xyz = rs_add(row->law.impulse.xyz, change);
        apply_impulse(row, change);
    }
}

/* First spinning, then rolling. Joints may keep a link from turning about some axis. */
static rs_vec3 solve_turn(const rs_tree_row *row, rs_vec3 c) {
    const rs_law *law = &row->law;
    const rs_sym3 *g = &row->g;
    rs_vec3 p = law->impulse.xyz;
    double load = rs_turn_load(law), least = LEAST_TURNING * law->inverse_mass, spin_limit = law->spin_mu * load;
    p.z = rs_clamp(-(c.z + g->xz * p.x + g->yz * p.y) / (g->zz + least), -spin_limit, spin_limit);
    const double a[3] = {g->xx + least, g->yy + least, g->xy}, b[2] = {c.x + g->xz * p.z, c.y + g->yz * p.z};
    rs_disc_solve(a, b, law->mu * load, &p.x, &p.y);
    return p;
}

/* The impulse that the row's law asks for when everything else stands still: error = g * impulse + c. */
static rs_vec3 solve_row(const rs_tree_row *row, rs_vec3 c) {
    switch (row->law.kind) {
    case RS_ROW_CONTACT: return rs_coulomb_solve(&row->g, row->law.mu, c);
    case RS_ROW_AXIS: return rs_v3(0.0, 0.0, rs_clamp(-c.z / row->g.zz, row->law.lower, row->law.upper));
    case RS_ROW_TURN: return solve_turn(row, c);
    default: return rs_neg(rs_sym3_mulv(&row->g_inverse, c));
    }
}

/* Begins with `momentum` times what the sweep before changed. */
static void add_momentum(rs_rows *rows, double momentum) {
    for (int64_t k = 0; k < rows->count; k++) {
        rs_tree_row *row = row_at(rows, k);
        rs_vec3 before = row->law.impulse.xyz;
        row->law.step.xyz = rs_scale(momentum, rs_sub(before, row->law.former.xyz));
        row->law.former.xyz = before;
    }
    if (momentum > 0.0)
        apply(rows, 1.0);
}

static rs_sweep_result sweep(rs_rows *rows, double momentum, bool backward, double quiet) {
    (void)quiet; /* they are few */
    ((rs_tree_rows *)rows)->released = false;
    rs_sweep_result result = {0.0, 0.0};
    add_momentum(rows, momentum);
    for (int64_t k = 0; k < rows->count; k++) {
        rs_tree_row *row = row_at(rows, backward ? rows->count - 1 - k : k);
        rs_vec3 error = error_of(row), c = rs_sub(error, rs_sym3_mulv(&row->g, row->law.impulse.xyz));
        rs_vec3 solved = solve_row(row, c), change = rs_sub(solved, row->law.impulse.xyz);
        result.ascent += rs_dot(error, row->law.step.xyz); /* as far as the rows before have left it */
        row->law.impulse.xyz = solved;
        apply_impulse(row, change);
        result.largest = rs_max(result.largest, row->law.inverse_mass * rs_norm(change));
    }
    return result;
}

static void clear_push(rs_rows *rows) {
    const rs_tree_rows *self = (const rs_tree_rows *)rows;
    for (int64_t k = 0; k < self->objects.count; k++) {
        const rs_tree_object *object = RS_ITEM(self->objects, k);
        if (object->tree != NULL)
            memset(object->tree->u_push, 0, sizeof(double) * (size_t)object->tree->u_count);
        else
            memset(object->velocity + 12, 0, sizeof(double) * 6);
    }
}

/* Brakes, motors, springs and given impulses. */
static bool gives_way(const rs_law *law) { return law->powered || isfinite(law->upper - law->lower); }

/* Pins that are open where their loop can hardly move, as where all its links are in line, close over many steps: at once, joints
 * would turn by radians for millimetres. Share of the mobility. */
static const double PIN_DAMPING = 0.1;

static rs_vec3 close_pin(const rs_tree_row *row, rs_vec3 v) {
    rs_sym3 g = row->g;
    double damping = PIN_DAMPING * (g.xx + g.yy + g.zz);
    g.xx += damping;
    g.yy += damping;
    g.zz += damping;
    rs_sym3 inverse = rs_sym3_inverse(&g);
    return rs_sym3_mulv(&inverse, rs_sub(row->push_aim, v));
}

/* Change of the impulse: contacts push along the normal only. */
static rs_vec3 solve_push(const rs_tree_row *row, rs_vec3 v) {
    const rs_law *law = &row->law;
    if (law->kind == RS_ROW_POINT)
        return close_pin(row, v);
    double stiff = row->g.zz - law->softness + row->push_softness;
    double change = (law->push - v.z - row->push_softness * law->push_impulse) / stiff;
    return rs_v3(0.0, 0.0, rs_clamp(law->push_impulse + change, law->lower, law->upper) - law->push_impulse);
}

static void sweep_push(rs_rows *rows) {
    for (int64_t k = 0; k < rows->count; k++) {
        rs_tree_row *row = row_at(rows, k);
        if (gives_way(&row->law))
            continue;
        rs_v4 v = rs_row_side_speed(&row->sides[0], row->sides[0].push) +
                  rs_row_side_speed(&row->sides[1], row->sides[1].push);
        rs_vec3 change = solve_push(row, rs_v3(v[0], v[1], v[2]));
        if (change.x == 0.0 && change.y == 0.0 && change.z == 0.0) /* most do not overlap */
            continue;
        row->law.push_impulse += change.z;
        rs_row_side_apply(&row->sides[0], change, row->sides[0].push);
        rs_row_side_apply(&row->sides[1], change, row->sides[1].push);
    }
}

static int32_t object_size(const rs_rows *rows, int32_t k) {
    const rs_articulation *tree = ((const rs_tree_rows *)rows)->objects.items[k].tree;
    return tree != NULL ? tree->u_count : 6;
}

static void inertia(const rs_rows *rows, int32_t k, double *out) {
    const rs_tree_rows *self = (const rs_tree_rows *)rows;
    const rs_tree_object *object = RS_ITEM(self->objects, k);
    if (object->tree != NULL)
        rs_response_inertia(object->tree, out);
    else
        rs_solver_body_inertia(&self->solver_bodies[object->body], out);
}

static void jacobian(const rs_rows *rows, int64_t k, rs_side_jacobian sides[2]) {
    const rs_tree_row *row = row_at(rows, k);
    for (int s = 0; s < 2; s++) {
        const rs_row_side *side = &row->sides[s];
        sides[s].object = side->size > 0 ? side->object : RS_NONE;
        sides[s].size = side->size;
        for (int32_t e = 0; e < side->size; e++) {
            sides[s].index[e] = side->entries[e].index;
            sides[s].columns[e] = side->entries[e].jacobian;
        }
    }
}

const rs_row_layout *rs_tree_layout(void) {
    static const rs_row_layout LAYOUT = {release,    look,        apply,   sweep,   clear_push,
                                         sweep_push, object_size, inertia, jacobian, FIRST_SWEEPS, false};
    return &LAYOUT;
}
