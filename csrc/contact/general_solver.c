#include "general_solver.h"
#include "general_jump.h"

/* Jumps to the exact solution per solve; more only help where contacts open and close all the time. */
enum { MAX_JUMPS = 8 };
/* While jumps are left, changes must be this much smaller to stop: slow modes hide behind small changes. */
static const double EXACT_SHARE = 1e-8;

/* Velocities of the axes of one row per unit impulse along each of another's: the part of one degree of freedom. */
RS_INLINE void add_entry(rs_v4 columns[3], const rs_row_entry *of, const rs_row_entry *by) {
    rs_v4 jacobian = rs_v4_load(&of->jacobian);
    rs_vec3 response = by->response.xyz;
    columns[0] += jacobian * rs_v4_all(response.x);
    columns[1] += jacobian * rs_v4_all(response.y);
    columns[2] += jacobian * rs_v4_all(response.z);
}

void rs_general_row_prepare(rs_general_row *row) {
    rs_v4 columns[3] = {rs_v4_all(0.0), rs_v4_all(0.0), rs_v4_all(0.0)};
    for (int s = 0; s < 2; s++) {
        const rs_row_side *side = &row->sides[s];
        for (int32_t k = 0; k < side->size; k++)
            add_entry(columns, &side->entries[k], &side->entries[k]);
    }
    double soft = row->softness;
    if (row->kind == RS_ROW_SCALAR)
        row->g = (rs_sym3){.xx = 1.0, .yy = 1.0, .zz = columns[2][2] + soft};
    else
        row->g = (rs_sym3){.xx = columns[0][0] + soft, .yy = columns[1][1] + soft, .zz = columns[2][2] + soft,
                           .xy = columns[0][1], .xz = columns[0][2], .yz = columns[1][2]};
    row->g_inverse = rs_sym3_inverse(&row->g);
}

/* The impulse that the row's law asks for when everything else stands still: v = g * impulse + c. */
static rs_vec3 solve_row(const rs_general_row *row, rs_vec3 c) {
    switch (row->kind) {
    case RS_ROW_CONTACT:
        return rs_contact_solve_one(&row->g, row->mu, c);
    case RS_ROW_SCALAR:
        return rs_v3(0.0, 0.0, rs_clamp(-c.z / row->g.zz, row->bounds.lower, row->bounds.upper));
    default:
        return rs_neg(rs_sym3_mulv(&row->g_inverse, c));
    }
}

static void relax_row(rs_general_row *row) {
    /* g holds the softness too: the spring gives way by softness * impulse. */
    rs_vec3 v = rs_madd(rs_general_row_velocity(row), row->softness, row->impulse);
    rs_vec3 c = rs_sub(rs_sub(v, rs_sym3_mulv(&row->g, row->impulse)), row->target);
    rs_vec3 solved = solve_row(row, c);
    row->change = rs_sub(solved, row->impulse);
    row->impulse = solved;
    if (rs_norm2(row->change) > 0.0)
        rs_general_row_apply(row, row->change);
}

/* Nonlinear conjugate gradients: the next sweep starts farther along the direction of those before. */
static void extrapolate(rs_general_row *rows, int64_t count, double beta) {
    for (int64_t k = 0; k < count; k++) {
        rs_vec3 step = rs_scale(beta, rows[k].direction);
        rows[k].direction = rs_add(step, rows[k].change);
        rows[k].impulse = rs_add(rows[k].impulse, step);
        if (beta > 0.0)
            rs_general_row_apply(&rows[k], step);
    }
}

/* The entry for a velocity, or NULL. Rows on the same object mostly have it at the same place. */
static const rs_row_entry *find_entry(const rs_row_side *side, int32_t index, int32_t likely) {
    if (likely < side->size && side->entries[likely].index == index)
        return &side->entries[likely];
    for (int32_t k = 0; k < side->size; k++)
        if (side->entries[k].index == index)
            return &side->entries[k];
    return NULL;
}

rs_mat3 rs_general_row_coupling(const rs_general_row *of, const rs_general_row *by) {
    rs_v4 columns[3] = {rs_v4_all(0.0), rs_v4_all(0.0), rs_v4_all(0.0)};
    for (int s = 0; s < 4; s++) {
        const rs_row_side *side = &of->sides[s % 2], *other = &by->sides[s / 2];
        for (int32_t k = 0; k < side->size && side->velocity == other->velocity; k++) {
            const rs_row_entry *entry = find_entry(other, side->entries[k].index, k);
            if (entry != NULL)
                add_entry(columns, &side->entries[k], entry);
        }
    }
    return (rs_mat3){{columns[0][0], columns[1][0], columns[2][0], columns[0][1], columns[1][1], columns[2][1],
                      columns[0][2], columns[1][2], columns[2][2]}};
}

/* Sums over the rows of a sweep. */
typedef struct {
    double change2;  /* squared changes of the impulses */
    double size2;    /* squared impulses */
    double residual; /* squared changes in the metric of the velocities */
} sweep_sums;

static sweep_sums sweep(rs_general_row *rows, int64_t count, bool backward) {
    sweep_sums sums = {0.0, 0.0, 0.0};
    for (int64_t k = 0; k < count; k++) {
        rs_general_row *row = &rows[backward ? count - 1 - k : k];
        relax_row(row);
        sums.change2 += rs_norm2(row->change);
        sums.size2 += rs_norm2(row->impulse);
        sums.residual += rs_dot(row->change, rs_sym3_mulv(&row->g, row->change));
    }
    return sums;
}

/* A start for an island that was free before: every row takes an equal share of what it would do alone. A sweep would
 * begin with the first row, and friction might hold on to what it finds there. False when there is nothing to start. */
static bool start_evenly(rs_general_row *rows, int64_t count) {
    double acting = 0.0;
    for (int64_t k = 0; k < count; k++) {
        if (rs_norm2(rows[k].impulse) > 0.0)
            return false;
        rows[k].change = solve_row(&rows[k], rs_sub(rs_general_row_velocity(&rows[k]), rows[k].target));
        acting += rs_norm2(rows[k].change) > 0.0;
    }
    for (int64_t k = 0; k < count && acting > 0.0; k++) {
        rows[k].impulse = rs_scale(1.0 / acting, rows[k].change);
        rs_general_row_apply(&rows[k], rows[k].impulse);
    }
    return acting > 0.0;
}

static void forget_directions(rs_general_row *rows, int64_t count) {
    for (int64_t k = 0; k < count; k++)
        rows[k].direction = rs_v3_zero();
}

rs_solve_result rs_general_solve(rs_general_row *rows, int64_t count, const rs_solver_settings *settings, bool backward,
                                 rs_general_jump *jump) {
    forget_directions(rows, count);
    rs_solve_result result = {0, 0.0};
    double residual_before = 0.0;
    int jumps = MAX_JUMPS;
    if (count > 1 && start_evenly(rows, count))
        rs_general_jump_take(jump, rows, count);
    while (result.iterations < settings->max_iterations) {
        sweep_sums sums = sweep(rows, count, backward);
        double limit = settings->threshold * sums.size2;
        result.iterations++;
        result.error = sums.size2 > 0.0 && count > 1 ? sums.change2 / sums.size2 : 0.0;
        bool last = result.iterations == settings->max_iterations;
        if (count == 1 || last || sums.change2 <= EXACT_SHARE * limit) /* one row alone is exact at once */
            break;
        double share = jumps > 0 ? rs_general_jump_take(jump, rows, count) : -1.0;
        jumps = share > 0.0 ? jumps - 1 : 0;
        if (share > 0.0) { /* the next sweep is the judge of it */
            forget_directions(rows, count);
            residual_before = 0.0;
            continue;
        }
        if (sums.change2 <= limit)
            break;
        bool shrinks = sums.residual < residual_before;
        extrapolate(rows, count, shrinks ? sums.residual / residual_before : 0.0);
        residual_before = sums.residual;
    }
    return result;
}
