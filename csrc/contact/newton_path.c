/* Where exact steps do not converge: the problem that the present impulses solve is led over into the one that is asked. */
#include "newton_matrix.h"

#include <math.h>
#include <string.h>

/* Steps of Newton's method for a point of the path. After the first ones, each must take away this much of the error. */
enum { MAX_STEPS = 9, FREE_STEPS = 2 };
static const double SHRINK = 0.5;
/* How exactly friction follows its loads in a step. */
static const double ROUGH_LOADS = 1e-5;
/* A point is found where the error of its impulses, as a velocity, is the root of this share of the violation at the start. */
static const double DECREMENT = 1e-3;
/* Stretches of the path: the shortest that is tried, by how much one is cut that was too long, and grows that was not. */
static const double SHORTEST = 0.2, CUT = 0.25, GROWTH = 2.0;

/* The law of a row is softened: it is that of a spring around its `centre`, with the error less a share `rest` of its `shift`.
 * With all of that the present velocities obey it. */
typedef struct {
    rs_newton *newton;
    const rs_rows *rows;
    double *momentum; /* M * (v - v_free) */
    double *gap;      /* what it is more than the impulses of the centres */
    double *kept;     /* the momentum of the last point that was found */
    double *force;    /* what is missing in it */
    double *change;   /* of velocity */
    double enough;    /* of force times change */
    int used;         /* factorisations */
} path;

static rs_newton_row *row_at(const path *p, int64_t k) { return RS_ITEM(p->newton->rows, k); }

static double yield_of(const rs_newton *n, const rs_law *law) { return n->compliance * law->normal_inverse_mass; }

/* The impulse that the softened law asks for at the row's speed; not yet inside its bounds. */
static rs_vec3 asked(const path *p, const rs_newton_row *row, const rs_law *law, double rest) {
    double yields = yield_of(p->newton, law);
    rs_vec3 pull = rs_madd(rs_sub(rs_scale(yields, row->centre), row->speed), rest, row->shift);
    return rs_scale(1.0 / (yields + law->softness), pull);
}

/* The nearest impulse that the law allows, where rows before this one have theirs already. */
static rs_vec3 allowed(const rs_newton *n, const rs_newton_row *row, const rs_law *law, rs_vec3 impulse) {
    if (law->kind != RS_ROW_TURN)
        return rs_law_allowed(law, impulse);
    return rs_turn_allowed(law, rs_max(0.0, RS_ITEM(n->rows, row->bearer)->impulse.z), impulse);
}

rs_row_state rs_newton_soft_state(const rs_law *law, rs_vec3 p) {
    if (law->kind == RS_ROW_POINT)
        return RS_ROW_HELD;
    if (law->kind == RS_ROW_AXIS)
        return p.z > law->lower && p.z < law->upper ? RS_ROW_HELD : RS_ROW_OPEN;
    if (!(p.z > 0.0))
        return RS_ROW_OPEN;
    return p.x * p.x + p.y * p.y <= law->mu * law->mu * p.z * p.z && law->mu > 0.0 ? RS_ROW_HELD : RS_ROW_SLIDING;
}

void rs_newton_take_soft_state(const rs_newton *n, rs_newton_row *row, const rs_law *law, rs_vec3 wanted, double stiffness) {
    double size = sqrt(wanted.x * wanted.x + wanted.y * wanted.y);
    row->impulse = allowed(n, row, law, wanted);
    rs_newton_clear_weight(row);
    if (law->kind == RS_ROW_TURN) {
        double load = rs_max(0.0, RS_ITEM(n->rows, row->bearer)->impulse.z);
        row->state = load > 0.0 ? RS_ROW_SLIDING : RS_ROW_OPEN;
        row->turning = rs_turn_state(law, load, wanted);
        if (load > 0.0)
            rs_newton_weigh_turn(row, law, wanted, stiffness, size > 0.0 ? stiffness * law->mu * load / size : 0.0);
        return;
    }
    row->state = rs_newton_soft_state(law, wanted);
    if (row->state == RS_ROW_SLIDING) {
        double direction[2] = {size > 0.0 ? wanted.x / size : 0.0, size > 0.0 ? wanted.y / size : 0.0};
        row->weight[2][2] = stiffness;
        rs_newton_weigh_slide(row, law->mu, direction, size > 0.0 ? stiffness * law->mu * wanted.z / size : 0.0);
    }
    for (int axis = row->first_axis; axis < 3 && row->state == RS_ROW_HELD; axis++)
        row->weight[axis][axis] = stiffness;
}

void rs_newton_turn_rows(const rs_newton *n, const double *change, double *momentum) {
    for (int64_t k = 0; k < n->rows.count; k++) {
        rs_newton_row *row = RS_ITEM(n->rows, k);
        rs_vec3 turn = rs_newton_speed(n, row, change);
        row->speed = rs_add(row->speed, turn);
        if (row->state != RS_ROW_OPEN)
            rs_newton_pull(n, row, rs_newton_response(n, row, turn, change), momentum);
    }
}

/* What the row does at its speed, its impulse, and how that changes with the speed. */
static void take_state(path *p, int64_t k, double rest) {
    const rs_law *law = rs_rows_law(p->rows, k);
    double stiffness = 1.0 / (yield_of(p->newton, law) + law->softness);
    rs_newton_take_soft_state(p->newton, row_at(p, k), law, asked(p, row_at(p, k), law, rest), stiffness);
}

static void begin(path *p, double compliance) {
    rs_newton *n = p->newton;
    double violation = 0.0;
    n->compliance = compliance;
    memset(p->momentum, 0, 2 * (size_t)n->size * sizeof(double)); /* and the gap */
    for (int64_t k = 0; k < p->rows->count; k++) {
        const rs_law *law = rs_rows_law(p->rows, k);
        rs_newton_row *row = row_at(p, k);
        row->bearer = law->kind == RS_ROW_TURN ? rs_rows_index(p->rows, law->bearer) : k;
        row->impulse = row->centre = allowed(p->newton, row, law, rs_madd(law->impulse.xyz, -1.0 / law->inverse_mass, law->error.xyz));
        rs_vec3 off = rs_sub(law->impulse.xyz, row->centre);
        row->shift = rs_scale(law->inverse_mass, off);
        row->speed = rs_madd(law->error.xyz, -law->softness, law->impulse.xyz);
        violation += law->inverse_mass * rs_norm2(off);
        rs_newton_pull(n, row, law->impulse.xyz, p->momentum);
        rs_newton_pull(n, row, off, p->gap);
    }
    p->enough = DECREMENT * compliance * violation;
}

/* The velocities so far are kept, or returned to. */
static void keep(path *p) {
    memcpy(p->kept, p->momentum, (size_t)p->newton->size * sizeof(double));
    for (int64_t k = 0; k < p->rows->count; k++)
        row_at(p, k)->kept = row_at(p, k)->speed;
}

static void go_back(path *p) {
    memcpy(p->momentum, p->kept, (size_t)p->newton->size * sizeof(double));
    for (int64_t k = 0; k < p->rows->count; k++)
        row_at(p, k)->speed = row_at(p, k)->kept;
}

/* The force that is missing where `rest` of the shifts is left, and the matrix for the states that the rows have there. */
static bool find_force(path *p, double rest) {
    rs_newton *n = p->newton;
    n->sliding = 0;
    for (int32_t i = 0; i < n->size; i++)
        p->force[i] = rest * p->gap[i] - p->momentum[i];
    for (int64_t k = 0; k < p->rows->count; k++) {
        take_state(p, k, rest);
        rs_newton_pull(n, row_at(p, k), row_at(p, k)->impulse, p->force);
        n->sliding += rs_newton_follows(row_at(p, k));
    }
    p->used++;
    return rs_newton_factorise_for_steps(n);
}

/* Velocities change: M * change is the force and what the impulses of the rows change by. */
static void move(path *p) {
    for (int32_t i = 0; i < p->newton->size; i++)
        p->momentum[i] += p->force[i];
    rs_newton_turn_rows(p->newton, p->change, p->momentum);
}

/* The change in the norm of the matrix without what follows loads: an energy. */
static double error_of(const path *p) {
    const rs_newton *n = p->newton;
    double error = rs_newton_dot(p->change, p->force, n->size);
    for (int64_t k = 0; k < p->rows->count; k++) {
        const rs_newton_row *row = row_at(p, k);
        if (rs_newton_follows(row))
            error += rs_dot(rs_newton_following(row, rs_newton_change_of_load(n, row, p->change)),
                            rs_newton_speed(n, row, p->change));
    }
    return error;
}

/* Newton's method for the point of the path where `rest` of the shifts is left. False where it does not converge. */
static bool find_point(path *p, double rest) {
    rs_newton *n = p->newton;
    double last = INFINITY;
    for (int k = 0; k < MAX_STEPS; k++) {
        if (!find_force(p, rest))
            return false;
        memcpy(p->change, p->force, (size_t)n->size * sizeof(double));
        rs_newton_solve_step(n, ROUGH_LOADS, p->change);
        double error = error_of(p);
        if (error <= p->enough)
            return true;
        if (!isfinite(error) || (k >= FREE_STEPS && error > SHRINK * last))
            return false;
        last = error;
        move(p);
    }
    return false;
}

static path make_path(rs_newton *n, const rs_rows *rows) {
    path p = {.newton = n, .rows = rows};
    if (rs_array_resize(&n->vectors, (int64_t)n->size * RS_NEWTON_VECTORS) != RS_OK)
        return p;
    p.momentum = n->vectors.items;
    p.gap = p.momentum + n->size;
    p.kept = p.gap + n->size;
    p.force = p.kept + n->size;
    p.change = p.force + n->size;
    return p;
}

rs_newton_path rs_newton_follow_path(rs_newton *n, const rs_rows *rows, double compliance) {
    path p = make_path(n, rows);
    if (p.momentum == NULL)
        return (rs_newton_path){0};
    double reached = 0.0;
    begin(&p, compliance);
    keep(&p);
    for (double stretch = 1.0; reached < 1.0 && stretch > SHORTEST;) {
        double next = rs_min(1.0, reached + stretch);
        if (find_point(&p, 1.0 - next)) {
            reached = next;
            stretch *= GROWTH;
            keep(&p);
        } else {
            stretch *= CUT;
            go_back(&p);
        }
    }
    for (int64_t k = 0; k < rows->count; k++) {
        rs_law *law = rs_rows_law(rows, k);
        rs_newton_row *row = row_at(&p, k);
        row->impulse = allowed(n, row, law, asked(&p, row, law, 1.0 - reached));
        law->step.xyz = rs_sub(row->impulse, law->impulse.xyz);
    }
    return (rs_newton_path){p.used, reached};
}
