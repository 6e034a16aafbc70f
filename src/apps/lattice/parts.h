/* What lattice.c and estimate.c share: settings that hold, and batches of neighbourhoods. */
#ifndef ATN_APPS_LATTICE_PARTS_H
#define ATN_APPS_LATTICE_PARTS_H

#include "apps/lattice/lattice.h"

void lattice_even_shares(atn_lattice *l, double other);       /* the classes are as likely as each other */
void lattice_take_noise(atn_lattice *l, double noise);        /* where none was given */
void lattice_take_density(atn_lattice *l, double neighbours); /* mean number inside the cut-off */
void lattice_add_atom(atn_lattice *l, const lattice_cells *cells, size_t atom); /* to the batch, which is not full */
bool lattice_batch_is_full(const atn_lattice *l);
/* The batch, into out[which[i]]; it is empty then. */
atn_status lattice_run_batch(atn_lattice *l, const size_t *which, atn_lattice_atom *out);

#endif
