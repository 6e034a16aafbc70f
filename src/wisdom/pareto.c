/* The Pareto front: rows such that no other is both faster and more accurate. */
#include "wisdom/wisdom.h"

#include <math.h>
#include <string.h>

static bool counts(const atn_wisdom_row *row) {
    return row->outcome && strcmp(row->outcome, "right") == 0 && row->seconds > 0 && isfinite(row->seconds);
}

/* From the fastest on: the next is the fastest of those that are more exact than all before. One pass over the rows for
 * each that is found; there are never many. */
size_t atn_wisdom_pareto(const atn_wisdom_row *rows, size_t count, bool *front) {
    size_t found = 0;
    double exact = INFINITY; /* the smallest error so far */
    for (size_t k = 0; k < count; ++k) front[k] = false;
    for (bool first = true;; first = false) {
        const atn_wisdom_row *best = NULL;
        for (size_t k = 0; k < count; ++k) {
            const atn_wisdom_row *row = &rows[k];
            if (!counts(row) || !(first || row->error < exact)) continue;
            if (!best || row->seconds < best->seconds || (row->seconds == best->seconds && row->error < best->error))
                best = row;
        }
        if (!best) return found;
        for (size_t k = 0; k < count; ++k)
            if (counts(&rows[k]) && rows[k].seconds == best->seconds && rows[k].error == best->error) {
                front[k] = true;
                ++found;
            }
        exact = best->error;
    }
}
