/* How much memory a run over a frame takes, before it begins: what docs/lattice.md says of it, with the largest slab
 * that there is. It does not grow with the frame beyond what is held of it before temporary files begin. */
#include "cli/lattice.h"

#include <math.h>

enum { HELD = 1 << 28 };                              /* bytes of a frame, and of its results, in memory */
static const double BUFFERS = 50e6, WRITTEN = 11.5e6; /* tables and buffers; those of results */
static const double NEAR = 2300, SCORES = 3700;       /* of an atom of a batch: neighbours; of each model, results */
static const double ATOM = 40, SLAB = 119, RESULT = 44, ROW = 52; /* bytes an atom: of the frame, of a slab, with -o */

/* Atoms that the kernels get at once (apps/lattice/engine.c). */
static double batch_of(const atn_device_info *device) {
    if (!device->cpu) return 65536;
    return fmin(fmax(256.0 * device->cores, 1024), 8192);
}

/* More goes to a temporary file, whose buffers are among BUFFERS and WRITTEN. */
static double held(double bytes) { return bytes > HELD ? 0 : bytes; }

size_t lattice_foresee(const lattice_job *j, size_t most) {
    const atn_device_info *device = j->o->device_info;
    double atoms = (double)j->about.atoms, slab = (double)most, models = 3;
    double device_part = device->cpu ? 1 : 0.1; /* scores stay there */
    double sum = BUFFERS + held(ATOM * atoms) + SLAB * slab;
    atn_lattice_info info = atn_lattice_info_of(j->lattice);
    if (info.models > 0) models = info.models;
    sum += batch_of(device) * (NEAR + device_part * SCORES * models);
    if (j->column) sum += RESULT * slab + held(ROW * atoms) + WRITTEN + 1e-3 * ROW * atoms;
    return (size_t)sum;
}
