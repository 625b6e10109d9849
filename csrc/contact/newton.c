#include "newton_matrix.h"

#include "coulomb.h"

#include <math.h>
#include <string.h>

/* Loads that friction follows belong to an exact step. */
static const double EXACT_LOADS = 1e-9;
/* Evaluations of the slope along a direction. */
enum { MAX_TRIALS = 12 };
/* Factorisations of a descent. */
enum { MAX_DESCENT = 30 };
/* The slope along a direction has shrunk enough. */
static const double FLAT = 0.1;
/* A descent ends where the error of its impulses, as a velocity, is the root of this share of the violation that it began
 * with. */
static const double DECREMENT = 1e-4;

/* ---- exact steps ---- */

/* What a held row yields per unit impulse along an axis, beside its softness. */
static double yield_of(const rs_newton *n, const rs_law *law, int axis) {
    bool friction = law->kind == RS_ROW_TURN || (law->kind == RS_ROW_CONTACT && axis < 2);
    return n->compliance * law->normal_inverse_mass * (friction ? n->shear : 1.0);
}

static double stiffness_of(const rs_newton *n, const rs_law *law, int axis) {
    return 1.0 / (yield_of(n, law, axis) + law->softness);
}

void rs_newton_clear_weight(rs_newton_row *row) {
    memset(row->weight, 0, sizeof row->weight);
    row->follow[0] = row->follow[1] = row->follow[2] = 0.0;
}

void rs_newton_weigh_turn(rs_newton_row *out, const rs_law *law, rs_vec3 p, double stiffness, double turn) {
    rs_turning turning = out->turning;
    double size = sqrt(p.x * p.x + p.y * p.y), along[2] = {p.x, p.y};
    if (turning.spins)
        out->follow[2] = p.z > 0.0 ? law->spin_mu : -law->spin_mu;
    else
        out->weight[2][2] = stiffness;
    for (int i = 0; i < 2; i++) {
        out->weight[i][i] = turning.rolls ? 0.0 : stiffness;
        if (!turning.rolls || size == 0.0)
            continue;
        out->follow[i] = law->mu * along[i] / size;
        for (int j = 0; j < 2; j++)
            out->weight[i][j] = turn * ((i == j) - along[i] * along[j] / (size * size));
    }
}

void rs_newton_weigh_slide(rs_newton_row *row, double mu, const double direction[2], double turn) {
    double across[2] = {-direction[1], direction[0]};
    for (int i = 0; i < 2; i++) {
        row->follow[i] = mu * direction[i];
        for (int j = 0; j < 2; j++)
            row->weight[i][j] = turn * across[i] * across[j];
    }
}

/* Impulse per velocity of the row in its state, without what makes it unsymmetric. */
static void set_weight(const rs_newton *n, rs_newton_row *out, const rs_law *law, const double direction[2]) {
    rs_newton_clear_weight(out);
    if (out->state == RS_ROW_OPEN)
        return;
    double stiffness = stiffness_of(n, law, 2);
    if (law->kind == RS_ROW_TURN) {
        double speed = sqrt(law->error.xyz.x * law->error.xyz.x + law->error.xyz.y * law->error.xyz.y);
        double load = rs_turn_load(law), limit = law->mu * load;
        rs_vec3 asked = rs_law_asked(law);
        out->turning = rs_turn_state(law, load, asked);
        rs_newton_weigh_turn(out, law, asked, stiffness, limit < stiffness * speed ? limit / speed : stiffness);
        return;
    }
    for (int axis = out->state == RS_ROW_SLIDING ? 2 : out->first_axis; axis < 3; axis++)
        out->weight[axis][axis] = stiffness_of(n, law, axis);
    if (out->state != RS_ROW_SLIDING || law->mu == 0.0)
        return;
    /* Across the slip, friction turns with it. */
    rs_vec3 slip = law->error.xyz;
    double speed = sqrt(slip.x * slip.x + slip.y * slip.y), limit = law->mu * law->impulse.xyz.z;
    rs_newton_weigh_slide(out, law->mu, direction, limit < stiffness * speed ? rs_max(limit, 0.0) / speed : stiffness);
}

bool rs_newton_factorise(rs_newton *n, const rs_rows *rows, double compliance, double shear, double touching) {
    n->sliding = n->changes = 0;
    n->compliance = compliance;
    n->shear = shear;
    for (int64_t k = 0; k < rows->count; k++) {
        const rs_law *law = rs_rows_law(rows, k);
        rs_newton_row *row = RS_ITEM(n->rows, k);
        double direction[2] = {0.0, 0.0};
        rs_row_state before = row->state;
        row->state = rs_law_state(law, touching, direction);
        row->bearer = law->kind == RS_ROW_TURN ? rs_rows_index(rows, law->bearer) : k;
        set_weight(n, row, law, direction);
        n->changes += row->state != before;
        n->sliding += rs_newton_follows(row);
    }
    return rs_newton_factorise_for_steps(n);
}

/* The same of a row that rolls or spins; `held`: if it did not, `turned`: what changes with the direction of rolling. */
static rs_vec3 predicted_turn(const rs_newton_row *row, const rs_law *law, rs_vec3 held, rs_vec3 turned) {
    rs_turning turning = row->turning;
    rs_vec3 limit = rs_newton_following(row, law->bearer->step.xyz.z); /* which is what the bearer is predicted to have */
    return rs_v3(turning.rolls ? limit.x - turned.x : held.x, turning.rolls ? limit.y - turned.y : held.y,
                 turning.spins ? limit.z : held.z);
}

/* The impulse that the row would have if no velocity changed. */
static rs_vec3 predicted(const rs_newton *n, const rs_newton_row *row, const rs_law *law, double kept) {
    rs_vec3 p = law->impulse.xyz;
    if (row->state == RS_ROW_OPEN && law->kind == RS_ROW_AXIS)
        return rs_v3(0.0, 0.0, rs_clamp(p.z - law->error.xyz.z / law->inverse_mass, law->lower, law->upper));
    if (row->state == RS_ROW_OPEN)
        return rs_v3_zero();
    double across = stiffness_of(n, law, 0) * (law->softness + kept * yield_of(n, law, 0));
    double along = stiffness_of(n, law, 2) * (law->softness + kept * yield_of(n, law, 2));
    rs_vec3 turned = rs_newton_weighted(row, law->error.xyz), q = rs_sub(rs_v3(across * p.x, across * p.y, along * p.z), turned);
    if (law->kind == RS_ROW_TURN && row->state == RS_ROW_SLIDING)
        return predicted_turn(row, law, q, turned);
    if (row->state == RS_ROW_SLIDING)
        return rs_v3(row->follow[0] * q.z - turned.x, row->follow[1] * q.z - turned.y, q.z);
    return row->first_axis == 2 ? rs_v3(0.0, 0.0, q.z) : q;
}

/* The row's impulse in `step`, put back to what the law allows; the bearer's step is a change already. */
static rs_vec3 allowed_after_step(const rs_law *law) {
    if (law->kind != RS_ROW_TURN)
        return rs_law_allowed(law, law->step.xyz);
    double load = law->bearer->impulse.xyz.z + law->bearer->step.xyz.z;
    return rs_turn_allowed(law, rs_max(0.0, load), law->step.xyz);
}

void rs_newton_step(rs_newton *n, const rs_rows *rows, double kept) {
    double *x = n->vectors.items;
    const rs_newton_row *list = n->rows.items;
    memset(x, 0, (size_t)n->size * sizeof *x);
    for (int64_t k = 0; k < rows->count; k++) {
        rs_law *law = rs_rows_law(rows, k);
        law->step.xyz = predicted(n, &list[k], law, kept);
        rs_vec3 change = rs_sub(law->step.xyz, law->impulse.xyz);
        if (!rs_v3_is_zero(change))
            rs_newton_pull(n, &list[k], change, x);
    }
    rs_newton_solve_step(n, EXACT_LOADS, x);
    for (int64_t k = 0; k < rows->count; k++) {
        const rs_newton_row *row = &list[k];
        rs_law *law = rs_rows_law(rows, k);
        if (row->state != RS_ROW_OPEN) {
            rs_vec3 speed = rs_newton_speed(n, row, x);
            law->step.xyz = rs_sub(law->step.xyz, rs_newton_weighted(row, speed));
            if (rs_newton_follows(row))
                law->step.xyz = rs_add(law->step.xyz, rs_newton_following(row, rs_newton_change_of_load(n, row, x)));
        }
        law->step.xyz = rs_sub(allowed_after_step(law), law->impulse.xyz);
    }
}

/* ---- descent ---- */

/* The impulse that the smoothed law asks for at a speed; not yet inside its bounds. */
static rs_vec3 smooth_asked(const rs_newton *n, const rs_newton_row *row, const rs_law *law, rs_vec3 speed) {
    double yields = n->compliance * law->normal_inverse_mass;
    return rs_scale(1.0 / (yields + law->softness), rs_sub(rs_scale(yields, row->centre), speed));
}

static rs_vec3 onto_law(const rs_law *law, rs_vec3 p) {
    return law->kind == RS_ROW_CONTACT ? rs_coulomb_project(p, law->mu) : rs_law_allowed(law, p);
}

/* Derivative of the smoothed law's impulse by the speed, negative: symmetric and not negative. */
static void set_smooth_weight(const rs_newton *n, rs_newton_row *row, const rs_law *law) {
    double stiffness = stiffness_of(n, law, 2), mu = law->mu;
    rs_vec3 p = smooth_asked(n, row, law, row->speed);
    double friction = sqrt(p.x * p.x + p.y * p.y);
    rs_newton_clear_weight(row);
    if (law->kind == RS_ROW_TURN) {
        double load = rs_turn_load(law);
        row->turning = rs_turn_state(law, load, p);
        rs_newton_weigh_turn(row, law, p, stiffness, friction > 0.0 ? stiffness * mu * load / friction : 0.0);
        row->state = RS_ROW_SLIDING;
        return;
    }
    bool free = law->kind == RS_ROW_POINT || (law->kind == RS_ROW_CONTACT && mu > 0.0 && friction <= mu * p.z) ||
                (law->kind == RS_ROW_AXIS && p.z > law->lower && p.z < law->upper);
    bool open = law->kind == RS_ROW_AXIS ? !free : law->kind == RS_ROW_CONTACT && p.z + mu * friction <= 0.0;
    bool polar = law->kind == RS_ROW_CONTACT && mu * friction <= -p.z;
    row->state = free ? RS_ROW_HELD : open || polar ? RS_ROW_OPEN : RS_ROW_SLIDING;
    if (free)
        for (int axis = row->first_axis; axis < 3; axis++)
            row->weight[axis][axis] = stiffness;
    if (row->state != RS_ROW_SLIDING)
        return;
    double t[2] = {friction > 0.0 ? p.x / friction : 0.0, friction > 0.0 ? p.y / friction : 0.0};
    double edge[3] = {mu * t[0], mu * t[1], 1.0}, along = stiffness / (1.0 + mu * mu);
    double height = (p.z + mu * friction) / (1.0 + mu * mu);
    double across = friction > 0.0 ? stiffness * mu * height / friction : 0.0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            row->weight[i][j] = along * edge[i] * edge[j];
    row->weight[0][0] += across * t[1] * t[1];
    row->weight[1][1] += across * t[0] * t[0];
    row->weight[0][1] -= across * t[0] * t[1];
    row->weight[1][0] -= across * t[0] * t[1];
}

/* Slope of the objective at a share of the direction: `inertial` is that of the kinetic part at 0, `bend` its growth. */
static double slope_at(const rs_newton *n, const rs_rows *rows, double inertial, double bend, double share) {
    const rs_newton_row *list = n->rows.items;
    double slope = inertial + share * bend;
    for (int64_t k = 0; k < rows->count; k++) {
        const rs_law *law = rs_rows_law(rows, k);
        rs_vec3 speed = rs_madd(list[k].speed, share, list[k].turn);
        slope -= rs_dot(list[k].turn, onto_law(law, smooth_asked(n, &list[k], law, speed)));
    }
    return slope;
}

/* Where the slope along the direction is nearly zero: it grows along the way. */
static double best_share(const rs_newton *n, const rs_rows *rows, double inertial, double bend) {
    double before = slope_at(n, rows, inertial, bend, 0.0), after = slope_at(n, rows, inertial, bend, 1.0);
    if (!(before < 0.0))
        return 0.0;
    if (after <= -FLAT * before)
        return 1.0;
    double low = 0.0, high = 1.0, low_slope = before, high_slope = after, share = 1.0;
    int side = 0;
    for (int k = 0; k < MAX_TRIALS; k++) { /* Illinois' variant of regula falsi */
        share = (low * high_slope - high * low_slope) / (high_slope - low_slope);
        double slope = slope_at(n, rows, inertial, bend, share);
        if (fabs(slope) <= -FLAT * before)
            break;
        if (slope > 0.0) {
            high = share;
            high_slope = slope;
            low_slope *= side == 1 ? 0.5 : 1.0;
            side = 1;
        } else {
            low = share;
            low_slope = slope;
            high_slope *= side == -1 ? 0.5 : 1.0;
            side = -1;
        }
    }
    return share;
}

static void begin_descent(rs_newton *n, const rs_rows *rows, double compliance) {
    n->compliance = compliance;
    n->shear = 1.0;
    for (int64_t k = 0; k < rows->count; k++) {
        const rs_law *law = rs_rows_law(rows, k);
        rs_newton_row *row = RS_ITEM(n->rows, k);
        row->centre = rs_v3_zero();
        row->speed = rs_madd(law->error.xyz, -law->softness, law->impulse.xyz);
        row->state = RS_ROW_OPEN;
    }
}

int rs_newton_descend(rs_newton *n, const rs_rows *rows, double compliance) {
    rs_newton_row *list = n->rows.items;
    begin_descent(n, rows, compliance);
    if (rs_array_resize(&n->vectors, (int64_t)n->size * RS_NEWTON_VECTORS) != RS_OK)
        return 0;
    double *momentum = n->vectors.items, *way = momentum + n->size, *pull = way + n->size;
    memset(momentum, 0, (size_t)n->size * sizeof(double)); /* M * (v - v_free) */
    for (int64_t k = 0; k < rows->count; k++)
        rs_newton_pull(n, &list[k], rs_rows_law(rows, k)->impulse.xyz, momentum);
    double enough = 0.0;
    for (int64_t k = 0; k < rows->count; k++) {
        const rs_law *law = rs_rows_law(rows, k);
        double residual = rs_law_residual(law);
        enough += DECREMENT * compliance * residual * residual / law->inverse_mass;
    }
    int count = 0;
    while (count < MAX_DESCENT) {
        memcpy(way, momentum, (size_t)n->size * sizeof(double)); /* the gradient, negative */
        for (int32_t i = 0; i < n->size; i++)
            way[i] = -way[i];
        for (int64_t k = 0; k < rows->count; k++) {
            const rs_law *law = rs_rows_law(rows, k);
            set_smooth_weight(n, &list[k], law);
            rs_vec3 p = onto_law(law, smooth_asked(n, &list[k], law, list[k].speed));
            if (!rs_v3_is_zero(p))
                rs_newton_pull(n, &list[k], p, way);
        }
        memcpy(pull, way, (size_t)n->size * sizeof(double));
        count++;
        if (!rs_newton_matrix_factorise(n))
            break;
        rs_newton_matrix_solve(n, way);
        if (rs_newton_dot(way, pull, n->size) <= enough)
            break;
        /* M * way = pull - J' * weight * J * way */
        for (int64_t k = 0; k < rows->count; k++) {
            list[k].turn = rs_newton_speed(n, &list[k], way);
            if (list[k].state != RS_ROW_OPEN)
                rs_newton_pull(n, &list[k], rs_neg(rs_newton_weighted(&list[k], list[k].turn)), pull);
        }
        double share = best_share(n, rows, rs_newton_dot(way, momentum, n->size), rs_newton_dot(way, pull, n->size));
        for (int32_t i = 0; i < n->size; i++)
            momentum[i] += share * pull[i];
        for (int64_t k = 0; k < rows->count; k++)
            list[k].speed = rs_madd(list[k].speed, share, list[k].turn);
        if (share == 0.0)
            break;
    }
    for (int64_t k = 0; k < rows->count; k++) {
        rs_law *law = rs_rows_law(rows, k);
        rs_vec3 goal = onto_law(law, smooth_asked(n, &list[k], law, list[k].speed));
        law->step.xyz = rs_sub(goal, law->impulse.xyz);
    }
    return count;
}
