/* What the files of Newton's method share: rows with their Jacobians, the matrix M + J' K J in a profile, its factorisation. */
#ifndef RS_CONTACT_NEWTON_MATRIX_H
#define RS_CONTACT_NEWTON_MATRIX_H

#include "newton.h"

struct rs_newton_row {
    int32_t first_axis;  /* 0: three axes; 2: one */
    rs_side_jacobian sides[2]; /* velocities counted from the object's last */
    int32_t low[2];      /* smallest index of each side */
    int32_t between;     /* blocks: that of both sides */
    rs_row_state state;
    double weight[3][3]; /* impulse per velocity, symmetric */
    int64_t bearer;      /* the row whose load its friction follows: itself, but for kind TURN */
    rs_turning turning;  /* kind TURN */
    double follow[3];    /* sliding: friction per unit of that load */
    rs_vec3 centre;      /* descent and path: impulse around which the law is softened */
    rs_vec3 speed, turn; /* descent and path: error without softness at the present velocities; its change along the direction, as of
                          * the interior-point method */
    rs_vec3 kept, shift, impulse; /* path: the speed of its last point, what is wrong with the present impulses, impulse;
                                   * interior-point method: newton_interior.h */
};

/* Factorises the matrix for the weights of the rows, without what follows loads; with that for all steps of `n->sliding` rows,
 * see newton_sliding.c. False when it is not positive definite, or memory is short. */
bool rs_newton_matrix_factorise(rs_newton *newton);
bool rs_newton_factorise_for_steps(rs_newton *newton);
/* For weights that are not symmetric, where the matrix may be. */
bool rs_newton_factorise_skew(rs_newton *newton);
/* newton_order.c, newton_blocks.c: islands of objects with six velocities each. */
enum { RS_BODY_SPAN = 6, RS_BODY_COLUMN = 8 };
/* Finds the order of elimination and the blocks of the factor. Returns the work of a factorisation, negative when memory is short;
 * where it exceeds `most` they are not found. */
double rs_newton_order_blocks(rs_newton *newton, double most);
bool rs_newton_blocks_take_rows(rs_newton *newton);
void rs_newton_blocks_find_places(rs_newton *newton);
bool rs_newton_blocks_factorise(rs_newton *newton);
void rs_newton_blocks_solve(const rs_newton *newton, double *x);
/* The three axes of a side of a row. */
static inline double (*rs_newton_axes(const rs_newton *n, int64_t row, int side))[RS_BODY_COLUMN] {
    return (double(*)[RS_BODY_COLUMN])(void *)(n->axes.items + (2 * row + side) * 3 * RS_BODY_COLUMN);
}

/* newton_cholesky.c: the factor takes the place of the matrix; its diagonal is stored inverted. False when that is not positive. */
bool rs_newton_cholesky(rs_newton *newton);
/* x = (matrix)^-1 * x; the same of so many vectors, one behind the other, where it is symmetric */
void rs_newton_matrix_solve(const rs_newton *newton, double *x);
void rs_newton_matrix_solve_many(const rs_newton *newton, double *x, int32_t count);

/* newton_small.c: the same for islands with few velocities, whose matrix is not kept in a profile, and for some with more where it
 * is not symmetric, which a profile cannot be. */
enum { RS_NEWTON_SMALL = 40, RS_NEWTON_DENSE = 96 };
static inline bool rs_newton_may_be_skew(const rs_newton *newton) { return newton->in_blocks || newton->size <= RS_NEWTON_DENSE; }
static inline bool rs_newton_is_small(const rs_newton *newton) {
    return !newton->in_blocks && (newton->skew || newton->size <= RS_NEWTON_SMALL);
}
/* Room for the matrix, false when memory is short, and the inertia of velocities i and j. */
bool rs_newton_small_begin(rs_newton *newton);
void rs_newton_small_put_inertia(rs_newton *newton, int32_t i, int32_t j, double value);
bool rs_newton_small_factorise(rs_newton *newton);
void rs_newton_small_solve(const rs_newton *newton, double *x);
void rs_newton_small_solve_many(const rs_newton *newton, double *x, int32_t count);

/* Velocity of the row's axes at the velocities x. */
static inline rs_vec3 rs_newton_speed(const rs_newton *n, const rs_newton_row *row, const double *x) {
    rs_v4 v = rs_v4_all(0.0);
    for (int s = 0; s < 2; s++) {
        const rs_side_jacobian *side = &row->sides[s];
        if (side->object < 0)
            continue;
        const double *own = x + n->offset.items[side->object];
        for (int32_t k = 0; k < side->size; k++)
            v += rs_v4_load(&side->columns[k]) * rs_v4_all(own[side->index[k]]);
    }
    return rs_v3(v[0], v[1], v[2]);
}
/* x += J' * impulse */
static inline void rs_newton_pull(const rs_newton *n, const rs_newton_row *row, rs_vec3 impulse, double *x) {
    for (int s = 0; s < 2; s++) {
        const rs_side_jacobian *side = &row->sides[s];
        if (side->object < 0)
            continue;
        double *own = x + n->offset.items[side->object];
        for (int32_t k = 0; k < side->size; k++) {
            rs_vec3 column = side->columns[k].xyz;
            own[side->index[k]] = own[side->index[k]] + column.x * impulse.x + column.y * impulse.y + column.z * impulse.z;
        }
    }
}
/* Impulse that the row loses when its velocity changes by v, without what is not symmetric. */
static inline rs_vec3 rs_newton_weighted(const rs_newton_row *row, rs_vec3 v) {
    return rs_rows3_mulv(row->weight, v);
}

/* Weights of rows, which begin with none. */
void rs_newton_clear_weight(rs_newton_row *row);
/* Of a row of kind TURN that asks for the moments p and turns as `turning` says. Within its limits a moment is that of a
 * spring; at its limit it follows the load, and that of rolling turns with the motion, as `turn` says how fast. */
void rs_newton_weigh_turn(rs_newton_row *row, const rs_law *law, rs_vec3 p, double stiffness, double turn);
/* Friction across a slip in a direction, which turns with it. */
void rs_newton_weigh_slide(rs_newton_row *row, double mu, const double direction[2], double turn);

/* newton_gmres.c: fixed points y = first + T y in a space of one kind of numbers. T leads from y to `out` by way of the
 * velocities x, with one solve. */
typedef void (*rs_newton_image)(const rs_newton *n, const rs_rows *rows, const double *y, double *x, double *out);
/* Room for `count` numbers y, for GMRES, and for velocities x, which come last; NULL when memory is short. */
double *rs_newton_gmres_room(rs_newton *newton, int64_t count);
double *rs_newton_gmres_velocities(const rs_newton *newton, int64_t count);
/* y, which holds `first`, becomes the fixed point; the iterations end when the error has shrunk by the tolerance. */
void rs_newton_gmres(rs_newton *newton, const rs_rows *rows, rs_newton_image image, double tolerance, int64_t count, double *y);

/* newton_sliding.c: rows whose friction follows a load. */
static inline bool rs_newton_follows(const rs_newton_row *row) {
    return row->follow[0] != 0.0 || row->follow[1] != 0.0 || row->follow[2] != 0.0;
}
static inline rs_vec3 rs_newton_following(const rs_newton_row *row, double load) {
    return rs_v3(row->follow[0] * load, row->follow[1] * load, row->follow[2] * load);
}
/* How the load that a row follows changes when velocities change by x. */
static inline double rs_newton_change_of_load(const rs_newton *n, const rs_newton_row *row, const double *x) {
    const rs_newton_row *bearer = &n->rows.items[row->bearer];
    return -bearer->weight[2][2] * rs_newton_speed(n, bearer, x).z;
}
/* The change of the row's impulse when velocities change by x, and its own speed thereby by `turn`. */
static inline rs_vec3 rs_newton_response(const rs_newton *n, const rs_newton_row *row, rs_vec3 turn, const double *x) {
    rs_vec3 impulse = rs_neg(rs_newton_weighted(row, turn));
    return rs_newton_follows(row) ? rs_add(impulse, rs_newton_following(row, rs_newton_change_of_load(n, row, x))) : impulse;
}
/* newton_path.c: the law of a row as that of a spring, which asks for an impulse: what the row does then; and with its impulse and
 * how that changes with its speed. Rows before it have theirs already. */
rs_row_state rs_newton_soft_state(const rs_law *law, rs_vec3 asked);
void rs_newton_take_soft_state(const rs_newton *n, rs_newton_row *row, const rs_law *law, rs_vec3 asked, double stiffness);
/* Velocities change: the speeds of the rows with them, and the momentum by what the impulses of the rows change by. */
void rs_newton_turn_rows(const rs_newton *n, const double *change, double *momentum);

/* After a factorisation; false when memory is short. */
bool rs_newton_prepare_sliding(rs_newton *newton);
/* x = (matrix)^-1 * x after rs_newton_factorise_for_steps(); the loads are found to a relative tolerance. */
void rs_newton_solve_step(rs_newton *newton, double tolerance, double *x);

static inline double rs_newton_dot(const double *a, const double *b, int64_t count) {
    rs_v4 sum0 = rs_v4_all(0.0), sum1 = rs_v4_all(0.0), a0, b0, a1, b1;
    int64_t k = 0;
    for (; k + 8 <= count; k += 8) {
        memcpy(&a0, a + k, sizeof a0);
        memcpy(&b0, b + k, sizeof b0);
        memcpy(&a1, a + k + 4, sizeof a1);
        memcpy(&b1, b + k + 4, sizeof b1);
        sum0 += a0 * b0;
        sum1 += a1 * b1;
    }
    if (k + 4 <= count) {
        memcpy(&a0, a + k, sizeof a0);
        memcpy(&b0, b + k, sizeof b0);
        sum0 += a0 * b0;
        k += 4;
    }
    double sum = rs_v4_sum(sum0 + sum1);
    for (; k < count; k++)
        sum += a[k] * b[k];
    return sum;
}

/* Vectors of velocities that a step, a descent or a path needs. */
enum { RS_NEWTON_VECTORS = 7 };

#endif
