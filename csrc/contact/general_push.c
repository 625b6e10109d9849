#include "general_push.h"

/* Overlaps shrink over several steps anyway: a rough solution is enough. */
enum { SWEEPS = 8 };
/* How much softer contacts are than in the solve of velocities. Links that their joints hold together cannot come
 * apart, or would have to turn fast to come apart a little: they keep their overlap. */
static const double SOFTENING = 1e6;

static bool any_overlap(const rs_general_row *rows, int64_t count) {
    for (int64_t k = 0; k < count; k++)
        if (rows[k].push != 0.0)
            return true;
    return false;
}

static rs_vec3 push_velocity(const rs_general_row *row) {
    rs_v4 v = rs_row_side_speed(&row->sides[0], row->sides[0].push) + rs_row_side_speed(&row->sides[1], row->sides[1].push);
    return rs_v3(v[0], v[1], v[2]);
}

static void apply(const rs_general_row *row, rs_vec3 p) {
    rs_row_side_apply(&row->sides[0], p, row->sides[0].push);
    rs_row_side_apply(&row->sides[1], p, row->sides[1].push);
}

/* Change of the impulse: contacts push along the normal only; joint friction and motors, which are bounded, give way. */
static rs_vec3 solve_row(const rs_general_row *row, rs_vec3 v) {
    double impulse = row->push_impulse.z, softness = (SOFTENING - 1.0) * row->softness;
    switch (row->kind) {
    case RS_ROW_CONTACT: {
        double missing = row->push - v.z - SOFTENING * row->softness * impulse;
        return rs_v3(0.0, 0.0, rs_max(-impulse, missing / (row->g.zz + softness)));
    }
    case RS_ROW_SCALAR: {
        double wanted = impulse + (row->push - v.z) / row->g.zz;
        bool gives_way = isfinite(row->bounds.upper - row->bounds.lower);
        return rs_v3(0.0, 0.0, gives_way ? 0.0 : rs_clamp(wanted, row->bounds.lower, row->bounds.upper) - impulse);
    }
    default:
        return rs_neg(rs_sym3_mulv(&row->g_inverse, v));
    }
}

bool rs_general_push_out(rs_general_row *rows, int64_t count) {
    if (!any_overlap(rows, count))
        return false;
    for (int sweep = 0; sweep < SWEEPS; sweep++)
        for (int64_t k = 0; k < count; k++) {
            rs_vec3 change = solve_row(&rows[k], push_velocity(&rows[k]));
            rows[k].push_impulse = rs_add(rows[k].push_impulse, change);
            apply(&rows[k], change);
        }
    return true;
}
