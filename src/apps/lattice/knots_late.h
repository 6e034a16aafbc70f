/* Odds of confidences that are found by some ranks while others match: where they are shown, and the wait for them. */
#ifndef ATN_APPS_LATTICE_KNOTS_LATE_H
#define ATN_APPS_LATTICE_KNOTS_LATE_H

#include "apps/lattice/lattice.h"
#include "ranks/ranks.h"

/* What a rank shows of it; what is told of its frames follows. */
typedef struct lattice_board {
    int64_t frames, knots; /* progress of either */
    lattice_knots found[2];
} lattice_board;
enum { LATTICE_NOT_YET, LATTICE_THERE, LATTICE_FAILED };

typedef struct lattice_knots_late {
    atn_ranks *ranks;
    atn_ranks_window window; /* a board on each of the first ranks */
    bool taken;
} lattice_knots_late;

/* Until a rank has shown what is at `flag` of its board; *there false: it has failed, which it says itself. */
atn_status lattice_knots_wait(lattice_knots_late *x, int32_t rank, size_t flag, bool *there);

#endif
