#include "solve_progress.h"

/* A violation larger than this share of the approach speed is large. */
static const double POOR = 1e-2;

rs_measure rs_rows_measure(rs_rows *rows) {
    rs_measure found = {0.0, 0.0};
    rows->layout->look(rows);
    for (int64_t k = 0; k < rows->count; k++) {
        double residual = rs_law_residual(rs_rows_law(rows, k));
        found.largest = rs_max(found.largest, residual);
        found.merit += residual * residual;
    }
    return found;
}

/* The merit decides, but what obeys the laws well enough in motion is not given up for what does not. */
static void keep_best(rs_progress *at) {
    bool worse = at->best.largest <= at->moving && at->now.largest > at->moving;
    if (worse || !(at->now.merit < at->best.merit))
        return;
    at->best = at->now;
    at->stuck = false;
    for (int64_t k = 0; k < at->rows->count; k++) {
        rs_law *law = rs_rows_law(at->rows, k);
        law->best = law->impulse;
    }
}

void rs_progress_look(rs_progress *at) {
    at->now = rs_rows_measure(at->rows);
    keep_best(at);
}

void rs_rows_forget_changes(rs_rows *rows) {
    for (int64_t k = 0; k < rows->count; k++) {
        rs_law *law = rs_rows_law(rows, k);
        law->former = law->impulse;
    }
}

void rs_rows_start_from_steps(rs_rows *rows) {
    for (int64_t k = 0; k < rows->count; k++) {
        rs_law *law = rs_rows_law(rows, k);
        law->impulse = (rs_quad){0};
    }
    rows->layout->release(rows);
    rows->layout->apply(rows, 1.0);
    rs_rows_forget_changes(rows);
}

void rs_progress_sum_up_best(rs_progress *at) {
    for (int64_t k = 0; k < at->rows->count; k++) {
        rs_law *law = rs_rows_law(at->rows, k);
        law->step = law->best;
    }
    rs_rows_start_from_steps(at->rows);
    at->age = 0;
    at->now = rs_rows_measure(at->rows);
}

void rs_progress_return_to_best(rs_progress *at) {
    if (at->now.merit != at->best.merit || at->now.largest != at->best.largest)
        rs_progress_sum_up_best(at);
}

void rs_progress_forget_momentum(rs_progress *at) {
    at->age = 0;
    rs_rows_forget_changes(at->rows);
}

bool rs_progress_slips(const rs_progress *at) {
    double fall2 = at->input->fall * at->input->fall;
    for (int64_t k = 0; k < at->rows->count; k++) {
        const rs_law *law = rs_rows_law(at->rows, k);
        rs_vec3 slip = law->error.xyz;
        if (law->kind == RS_ROW_CONTACT && slip.x * slip.x + slip.y * slip.y > fall2)
            return true;
    }
    return false;
}

double rs_progress_fair(const rs_progress *at) { return rs_progress_slips(at) ? rs_max(at->good, at->moving) : at->good; }

bool rs_progress_is_poor(const rs_progress *at) {
    return at->now.largest > rs_max(POOR * at->result.approach, rs_progress_fair(at));
}
