/* A clock that is read at each change of phase. */
#include "apps/lattice/spent.h"

#include "base/clock.h"

const char *lattice_part_name(lattice_part part) {
    static const char *const NAMES[LATTICE_PARTS] = {
        "other",          "distances of pairs", "sizes of phases",  "tables",
        "sample weighed", "frames made",        "powers",           "cells",
        "hints",          "neighbours",         "start of kernels", "kernels",
        "judging",        "waiting atoms",      "other ranks",      "reading slabs",
        "results"};
    return NAMES[part];
}

void lattice_spend_back(lattice_spent *spent, bool matching, lattice_part part) {
    double now = atn_clock_seconds();
    if (spent->since > 0) spent->seconds[matching][spent->now] += now - spent->since;
    spent->since = now;
    spent->now = part;
}

lattice_part lattice_spend(lattice_spent *spent, bool matching, lattice_part part) {
    lattice_part before = spent->now;
    lattice_spend_back(spent, matching, part);
    ++spent->calls[matching][part];
    return before;
}
