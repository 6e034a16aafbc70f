/* Learning by several ranks: all have the same sample and go through the same steps; of a batch that is searched, and
 * of frames that are made to check confidences, each does a part, and all get those of all. What is decided from them
 * is the first rank's, so that none goes another way. */
#ifndef ATN_APPS_LATTICE_SHARED_H
#define ATN_APPS_LATTICE_SHARED_H

#include "apps/lattice/lattice.h"
#include "ranks/ranks.h"

/* atn_lattice_learn by all ranks, from the same atoms. */
atn_status lattice_learn_ranks(atn_lattice *l, atn_ranks *ranks, const atn_atoms *atoms, double angstrom);

/* After it, by all ranks with how it went: some of them go on to calibrate confidences (knots_late.c), while the others
 * match already; results wait for them at the end of a slab. wait: not before all is calibrated. And, when all have
 * agreed that they are done, the end of it. */
atn_status lattice_knots_begin(atn_lattice *l, atn_ranks *ranks, atn_status own, bool wait);
void lattice_knots_end(atn_lattice *l, atn_ranks *ranks);

/* For learning; without ranks nothing is to be done, and all is this process's. */
atn_status lattice_shared_same(atn_lattice *l, void *data, size_t bytes); /* the first rank's */
/* Of `count` things of `bytes` each: those that are this rank's, from *from to *to - 1; and, when all have done theirs,
 * those of all. */
void lattice_shared_cut(const atn_lattice *l, size_t count, size_t *from, size_t *to);
atn_status lattice_shared_join(atn_lattice *l, atn_status own, void *list, size_t count, size_t bytes);
/* lattice_engine_run (lattice.h) is here, too. */

#endif
