/* Where nothing else has helped: Coulomb's law is reached from afar, along a path that may turn back on its way.
 *
 * All rows are given a compliance, which shrinks along the path. Where it is large, each row minds its own speed alone: there is
 * one solution, and Newton's method finds it. Solutions are bounded, so that the path that begins there cannot end but where
 * the compliance is gone (generically: that is how Lemke's method finds its solutions). It bends wherever a row changes its
 * state, and the compliance may have to grow again for a while. Therefore the path is followed by its length, and behind a bend
 * the sign of the determinant of the matrix tells the direction. */
#include "newton_matrix.h"

#include <math.h>
#include <string.h>

/* Steps of Newton's method for a point of the path. After the first ones, each must take away this much of the error. Where few
 * are needed, the next stretch of the path is longer. */
enum { MAX_STEPS = 9, FREE_STEPS = 2, EASY_STEPS = 3 };
static const double SHRINK = 0.5;
/* A point is found where rows' speeds are off by no more than this share of the largest that there is without impulses, times
 * the compliance; and how exactly friction follows its loads. */
static const double ENOUGH = 1e-6, EXACT_LOADS = 1e-12;
/* Stretches: the first, the longest, by how much one is cut that was too long and grows that was not. Points must lie no farther
 * from the end of the tangent than this share of the stretch, and the compliance must not shrink by more than the last. */
static const double FIRST = 0.1, LONGEST = 1.0, CUT = 0.3, GROWTH = 2.0, ASTRAY = 0.1, MOST_SHRINK = 0.75;
/* Bends are found by bisection. A bend so near, relative to a stretch that was too long, is passed without a look before it. */
enum { BISECTIONS = 30 };
static const double NEAR = 1e-3;
/* A path whose stretches are shorter than this times the compliance is lost. */
static const double SHORTEST = 1e-6;
/* The end is reached where it is missed by no more, relative. */
static const double ROUNDING = 1e-12;

typedef struct {
    rs_newton *newton;
    const rs_rows *rows;
    double *momentum, *kept; /* M * (v - v_free); at the last point */
    double *force;           /* what is missing in it */
    double *drive;           /* what the impulses change by when the compliance grows by `unit` */
    double *change, *way;    /* of velocity: by the force, and by the drive */
    double *tangent;         /* of the path, as a momentum */
    double slope;            /* growth of the compliance along the tangent, in units */
    double unit;             /* compliance at the last point */
    double scale;            /* unit of lengths, squared: sum of squares of the speeds without impulses, by inverse mass */
    double enough;           /* of a speed, squared, at a compliance of one */
    double end;              /* compliance at which the path ends */
    double length;           /* of the next stretch */
    double near;             /* a bend is expected so near; 0: none */
    int used, most;          /* factorisations */
} arc;

static rs_newton_row *row_at(const arc *a, int64_t k) { return RS_ITEM(a->newton->rows, k); }

/* ---- the law ---- */

static double stiffness_of(const arc *a, const rs_law *law) {
    return 1.0 / (a->newton->compliance * law->normal_inverse_mass + law->softness);
}

/* The impulse that the row asks for at its speed; not yet inside its bounds. */
static rs_vec3 asked(const arc *a, const rs_newton_row *row, const rs_law *law) {
    return rs_scale(-stiffness_of(a, law), row->speed);
}

static void take_state(const arc *a, int64_t k) {
    const rs_law *law = rs_rows_law(a->rows, k);
    rs_newton_row *row = row_at(a, k);
    rs_vec3 q = asked(a, row, law);
    rs_newton_take_soft_state(a->newton, row, law, q, stiffness_of(a, law));
    /* when the compliance grows q shrinks, as it does when the speed grows */
    rs_vec3 speed = rs_scale(a->unit * law->normal_inverse_mass, q);
    row->shift = rs_neg(rs_newton_weighted(row, speed));
    if (rs_newton_follows(row))
        row->shift = rs_add(row->shift, rs_newton_following(row, row_at(a, row->bearer)->shift.z));
}

/* ---- points ---- */

/* What is missing at the present velocities and compliance, and what changes with that; both lead to changes of velocity. */
static bool look(arc *a) {
    rs_newton *n = a->newton;
    n->sliding = 0;
    memset(a->drive, 0, (size_t)n->size * sizeof(double));
    for (int32_t i = 0; i < n->size; i++)
        a->force[i] = -a->momentum[i];
    for (int64_t k = 0; k < a->rows->count; k++) {
        rs_newton_row *row = row_at(a, k);
        take_state(a, k);
        n->sliding += rs_newton_follows(row);
        if (!rs_v3_is_zero(row->impulse))
            rs_newton_pull(n, row, row->impulse, a->force);
        if (row->state != RS_ROW_OPEN)
            rs_newton_pull(n, row, row->shift, a->drive);
    }
    a->used++;
    if (!rs_newton_factorise_for_steps(n) || n->sign == 0)
        return false;
    memcpy(a->change, a->force, (size_t)n->size * sizeof(double));
    memcpy(a->way, a->drive, (size_t)n->size * sizeof(double));
    rs_newton_solve_step(n, EXACT_LOADS, a->change);
    rs_newton_solve_step(n, EXACT_LOADS, a->way);
    return true;
}

/* Velocities change by the force, and by a share of the drive, with the compliance. */
static void move(arc *a, double share) {
    rs_newton *n = a->newton;
    for (int32_t i = 0; i < n->size; i++) {
        a->momentum[i] += a->force[i] + share * a->drive[i];
        a->change[i] += share * a->way[i];
    }
    rs_newton_turn_rows(n, a->change, a->momentum);
    n->compliance += share * a->unit;
}

/* The largest change of a row's speed, squared. */
static double error_of(const arc *a) {
    double largest = 0.0;
    for (int64_t k = 0; k < a->rows->count; k++)
        largest = rs_max(largest, rs_norm2(rs_newton_speed(a->newton, row_at(a, k), a->change)));
    return largest;
}

/* What the tangent has in common with the direction in which the compliance grows from the present point. */
static double common(const arc *a) {
    return a->scale * a->slope + rs_newton_dot(a->tangent, a->way, a->newton->size);
}

/* Newton's method for a point: with the present compliance, or at a right angle to the tangent. Returns the steps taken, or 0
 * where it does not converge. */
static int find_point(arc *a, bool same_compliance) {
    const rs_newton *n = a->newton;
    double last = INFINITY;
    for (int k = 1; k <= MAX_STEPS && a->used < a->most && n->compliance > 0.0; k++) {
        if (!look(a))
            return 0;
        double error = error_of(a);
        if (error <= a->enough * n->compliance * n->compliance)
            return k;
        if (!isfinite(error) || (k > FREE_STEPS && error > SHRINK * last))
            return 0;
        last = error;
        move(a, same_compliance ? 0.0 : -rs_newton_dot(a->tangent, a->change, n->size) / common(a));
    }
    return 0;
}

/* ---- the path ---- */

static void keep(arc *a) {
    double growth = a->newton->compliance / a->unit;
    memcpy(a->kept, a->momentum, (size_t)a->newton->size * sizeof(double));
    for (int64_t k = 0; k < a->rows->count; k++)
        row_at(a, k)->kept = row_at(a, k)->speed;
    for (int32_t i = 0; i < a->newton->size; i++) {
        a->drive[i] *= growth;
        a->way[i] *= growth;
    }
    a->unit = a->newton->compliance;
}

/* The direction of the path at the last point. */
static void find_tangent(arc *a) {
    rs_newton *n = a->newton;
    memcpy(a->tangent, a->drive, (size_t)n->size * sizeof(double));
    for (int64_t k = 0; k < a->rows->count; k++) {
        rs_newton_row *row = row_at(a, k);
        row->turn = rs_newton_speed(n, row, a->way);
        if (row->state != RS_ROW_OPEN)
            rs_newton_pull(n, row, rs_newton_response(n, row, row->turn, a->way), a->tangent);
    }
    double motion = rs_max(0.0, rs_newton_dot(a->tangent, a->way, n->size));
    a->slope = -(double)n->sign / sqrt(1.0 + motion / a->scale);
    for (int32_t i = 0; i < n->size; i++)
        a->tangent[i] *= a->slope;
    for (int64_t k = 0; k < a->rows->count; k++)
        row_at(a, k)->turn = rs_scale(a->slope, row_at(a, k)->turn);
}

/* To the place at a distance along the tangent from the last point. */
static void go(arc *a, double distance) {
    for (int32_t i = 0; i < a->newton->size; i++)
        a->momentum[i] = a->kept[i] + distance * a->tangent[i];
    for (int64_t k = 0; k < a->rows->count; k++)
        row_at(a, k)->speed = rs_madd(row_at(a, k)->kept, distance, row_at(a, k)->turn);
    a->newton->compliance = a->unit * (1.0 + distance * a->slope);
}

/* Whether the present point is not the one looked for at a distance: it lies far off, or the path leads back from it, so that it
 * lies on another branch or behind a bend. */
static bool is_astray(const arc *a, double distance) {
    if (a->newton->sign * common(a) > 0.0)
        return true;
    double growth = a->newton->compliance / a->unit - 1.0 - distance * a->slope, sum = a->scale * growth * growth;
    for (int64_t k = 0; k < a->rows->count; k++) {
        const rs_newton_row *row = row_at(a, k);
        sum += rs_norm2(rs_sub(row->speed, rs_madd(row->kept, distance, row->turn))) / rs_rows_law(a->rows, k)->inverse_mass;
    }
    return !(sum <= ASTRAY * ASTRAY * distance * distance * a->scale);
}

/* Whether some row does something else at a distance than at the last point, where `state` must be that of the last point. */
static bool bends_before(arc *a, double distance) {
    go(a, distance);
    for (int64_t k = 0; k < a->rows->count; k++) {
        const rs_law *law = rs_rows_law(a->rows, k);
        if (law->kind != RS_ROW_TURN && rs_newton_soft_state(law, asked(a, row_at(a, k), law)) != row_at(a, k)->state)
            return true;
    }
    return false;
}

/* Where the first bend lies: a stretch that ends before it, and the shortest that leads behind it; infinite where there is none
 * within a distance. */
typedef struct {
    double before, behind;
} bend;

static bend find_bend(arc *a, double distance) {
    bend found = {0.0, distance};
    go(a, 0.0);
    for (int64_t k = 0; k < a->rows->count; k++)
        take_state(a, k);
    if (!bends_before(a, distance))
        return (bend){distance, INFINITY};
    for (int k = 0; k < BISECTIONS; k++) {
        double middle = 0.5 * (found.before + found.behind);
        if (bends_before(a, middle))
            found.behind = middle;
        else
            found.before = middle;
    }
    return found;
}

/* Behind a bend that is near enough; what is missing there is found with the next point. */
static bool pass_bend(arc *a, double within) {
    double behind = find_bend(a, within).behind;
    if (!(behind <= within))
        return false;
    go(a, behind);
    return look(a);
}

/* Finds the point at a distance. Returns the steps of Newton's method, 0 where that is too far. */
static int reach(arc *a, double distance) {
    bool last = a->unit * (1.0 + distance * a->slope) <= a->end * (1.0 + ROUNDING);
    go(a, distance);
    if (last)
        a->newton->compliance = a->end;
    int steps = find_point(a, last);
    return steps > 0 && !is_astray(a, distance) ? steps : 0;
}

/* The length that is tried next; not beyond the end. */
static double next_distance(const arc *a) {
    if (!(a->slope < 0.0))
        return a->length;
    double shrink = rs_min(MOST_SHRINK, 1.0 - a->end / a->unit);
    return rs_min(a->length, -shrink / a->slope);
}

/* On to the next point. False where there is none to be found. */
static bool advance(arc *a) {
    while (a->used < a->most && a->length >= SHORTEST * a->unit) {
        double distance = next_distance(a);
        int steps = reach(a, distance);
        if (steps > 0) {
            a->length = steps <= EASY_STEPS ? rs_min(LONGEST, GROWTH * a->length) : a->length;
            return true;
        }
        if (pass_bend(a, NEAR * distance))
            return true;
        bend next = find_bend(a, distance);
        bool bends = next.behind <= distance;
        if (bends && reach(a, next.before) > 0) {
            a->near = NEAR * distance;
            a->length = rs_max(CUT * distance, next.before);
            return true;
        }
        a->length = CUT * (bends ? next.before : distance);
    }
    return false;
}

static void follow(arc *a) {
    bool found = find_point(a, true) > 0;
    while (found && a->newton->compliance > a->end) {
        double near = a->near;
        a->near = 0.0;
        keep(a);
        find_tangent(a);
        found = (near > 0.0 && pass_bend(a, near)) || advance(a);
    }
    if (!found)
        go(a, 0.0);
}

static arc make_arc(rs_newton *n, const rs_rows *rows) {
    arc a = {.newton = n, .rows = rows, .length = FIRST};
    if (rs_array_resize(&n->vectors, (int64_t)n->size * RS_NEWTON_VECTORS) != RS_OK)
        return a;
    double **vectors[] = {&a.momentum, &a.kept, &a.force, &a.drive, &a.change, &a.way, &a.tangent};
    for (size_t k = 0; k < sizeof vectors / sizeof vectors[0]; k++)
        *vectors[k] = n->vectors.items + (int64_t)k * n->size;
    return a;
}

/* At the present velocities. */
static void begin(arc *a, double compliance) {
    rs_newton *n = a->newton;
    n->compliance = a->unit = compliance;
    memset(a->momentum, 0, (size_t)n->size * sizeof(double));
    memset(a->tangent, 0, (size_t)n->size * sizeof(double));
    for (int64_t k = 0; k < a->rows->count; k++) {
        const rs_law *law = rs_rows_law(a->rows, k);
        rs_newton_row *row = row_at(a, k);
        double speed2 = rs_norm2(law->free_error.xyz);
        row->bearer = law->kind == RS_ROW_TURN ? rs_rows_index(a->rows, law->bearer) : k;
        row->speed = row->kept = rs_madd(law->error.xyz, -law->softness, law->impulse.xyz);
        rs_newton_pull(n, row, law->impulse.xyz, a->momentum);
        a->enough = rs_max(a->enough, ENOUGH * ENOUGH * speed2);
        a->scale += speed2 / law->inverse_mass;
    }
    memcpy(a->kept, a->momentum, (size_t)n->size * sizeof(double));
}

int rs_newton_follow_arc(rs_newton *n, const rs_rows *rows, double compliance, double end, int most) {
    arc a = make_arc(n, rows);
    if (a.momentum == NULL)
        return 0;
    a.end = end;
    a.most = most;
    begin(&a, compliance);
    n->asks_for_sign = true;
    follow(&a);
    n->asks_for_sign = false;
    for (int64_t k = 0; k < rows->count; k++) {
        rs_law *law = rs_rows_law(rows, k);
        take_state(&a, k);
        law->step.xyz = rs_sub(row_at(&a, k)->impulse, law->impulse.xyz);
    }
    return a.used;
}
