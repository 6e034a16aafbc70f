/* Crystals in a cube: grains are Voronoi cells around points, each with a lattice in its own orientation, or with a gas
 * or a random packing of hard spheres instead of a lattice. Sites are produced one after the other; only the grains and
 * a cell of each random arrangement are in memory. */
#ifndef ATN_APPS_LATTICE_CRYSTAL_H
#define ATN_APPS_LATTICE_CRYSTAL_H

#include "base/context.h"
#include "base/random.h"

/* The numbers that labels have. */
typedef enum crystal_structure {
    CRYSTAL_OTHER,
    CRYSTAL_BCC,
    CRYSTAL_FCC,
    CRYSTAL_HCP,
    CRYSTAL_SC,
    CRYSTAL_DIAMOND,
    CRYSTAL_PLANES,  /* square grids on planes 2 a apart: other */
    CRYSTAL_GAS,     /* uniformly random; a^3 is the volume of a site */
    CRYSTAL_PACKING, /* random sequential addition of hard spheres of diameter a */
    CRYSTAL_STRUCTURES
} crystal_structure;
enum { CRYSTAL_RANDOM = 512 }; /* sites of a cell of a random arrangement, which repeats */

const char *crystal_name(crystal_structure structure);         /* "bcc" */
double crystal_usual(crystal_structure structure);             /* constant a unless given, in angstrom */
crystal_structure crystal_label(crystal_structure structure);  /* what an atom of it is: other where it is random */
double crystal_density(crystal_structure structure, double a); /* sites in a unit of volume */

/* hcp has a along x and c = sqrt(8/3) a along z of the crystal; cubes have their edges along x, y and z. */
typedef struct crystal_grain {
    crystal_structure structure;
    double a;             /* lattice constant, angstrom */
    double centre[3];     /* of the cell, in units of the cube's side; a site lies at a shift from there */
    double quaternion[4]; /* w x y z, turns the crystal into the frame */
    double turn[9];       /* the same as a matrix, row-major */
    double shift[3];      /* in [0, 1), of the conventional cell */
} crystal_grain;

typedef struct crystal {
    const atn_ctx *ctx;
    crystal_grain *grain;                /* owned by the caller */
    size_t grains;                       /* > 0 */
    double side;                         /* of the cube from 0 to side, angstrom */
    double height;                       /* sites at z < height only */
    double random[2][CRYSTAL_RANDOM][3]; /* sites of the gas's and the packing's cell, in edges */
} crystal;

/* Places and turns of all grains, and random arrangements; structure and a are filled in. Centres keep away from each
 * other. */
void crystal_scatter(crystal *c, atn_random *random);

/* A site in angstrom, its grain, and how far the next grain's cell is (infinite where there is no other). */
typedef atn_status crystal_visit(void *user, const double site[3], size_t grain, double boundary);
atn_status crystal_sites(const crystal *c, crystal_visit *visit, void *user);

#endif
