/* Grains of the atoms that a report shows. */
#ifndef ATN_CLI_LATTICE_GRAINS_H
#define ATN_CLI_LATTICE_GRAINS_H

#include "cli/lattice.h"

static const double LATTICE_GRAIN_DEG = 5; /* neighbours of one grain differ by less */

typedef struct lattice_grain {
    uint32_t root; /* one of its atoms */
    size_t atoms;  /* of those shown */
    int32_t structure;
    atn_lattice_atom example;
} lattice_grain;

/* A plain value; ended with lattice_grains_free. */
typedef struct lattice_grains {
    lattice_grain *list; /* owned; 20 atoms or more, the largest first */
    int32_t n;
    int32_t *of;          /* owned; of each atom shown: its grain from 1, or 0 */
    size_t atoms, border; /* of a structure; of these, with a neighbour in another grain or structure */
} lattice_grains;

atn_status lattice_find_grains(const atn_ctx *ctx, const lattice_outcome *o, lattice_grains *out);
void lattice_grains_free(const atn_ctx *ctx, lattice_grains *grains);

#endif
