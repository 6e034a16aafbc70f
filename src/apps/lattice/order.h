/* Structures that differ from others of the same geometry by the species of atoms: B2 of bcc, L1_2 of fcc. */
#ifndef ATN_APPS_LATTICE_ORDER_H
#define ATN_APPS_LATTICE_ORDER_H

#include "apps/lattice/lattice.h"

bool lattice_is_ordered(const atn_lattice *l); /* one of the models is */
/* A sentence where species are needed and there are none; atoms may be NULL: neighbourhoods that come alone. */
atn_status lattice_order_check(const atn_lattice *l, const atn_atoms *atoms);
/* At the end of learning: the tables of what is ordered. The engine is open. */
atn_status lattice_order_learn(atn_lattice *l, const atn_atoms *atoms, double angstrom);
/* Splits the atoms that have the geometry into those that are ordered and those that are not, which are of the plain
 * structure where it is one of the models, else other. */
atn_status lattice_order_tell(const atn_lattice *l, const lattice_cells *cells, const atn_atoms *atoms,
                              atn_lattice_atom *out);

#endif
