#include "position_correction.h"

/* Overlaps shrink over several steps anyway: a rough solution is enough. */
enum { SWEEPS = 8 };

bool rs_positions_correct(rs_rows *rows) {
    bool overlap = false;
    for (int64_t k = 0; k < rows->count; k++) {
        rs_law *law = rs_rows_law(rows, k);
        law->push_impulse = 0.0;
        overlap |= law->push > 0.0 || (law->push != 0.0 && law->lower < 0.0);
    }
    if (!overlap)
        return false;
    rows->layout->clear_push(rows);
    for (int sweep = 0; sweep < SWEEPS; sweep++)
        rows->layout->sweep_push(rows);
    return true;
}
