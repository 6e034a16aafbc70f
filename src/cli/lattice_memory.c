/* The memory of a run over a frame, estimated before it begins: what docs/lattice.md says of it, with the largest slab
 * that there is. It does not grow with the frame beyond what is held of it before temporary files begin, and the atoms
 * around a slab; --memory makes slabs smaller. */
#include "apps/lattice/lattice.h"
#include "cli/lattice.h"

#include <math.h>

enum { HELD = 1 << 28 };                              /* bytes of a frame, and of its results, in memory */
static const double BUFFERS = 50e6, WRITTEN = 11.5e6; /* tables and buffers; those of results */
static const double NEAR = 2312, SCORES = 3700;       /* of an atom of a batch: neighbours; of each model, results */
static const double ATOM = 40, SLAB = 167, RESULT = 44, ROW = 52; /* bytes an atom: copied, of a slab, with -o */
static const double KEPT = 44; /* of a slab with --resume: what is kept of it is put together before it is written */

/* More goes to a temporary file, whose buffers are among BUFFERS and WRITTEN. */
static double held(const lattice_job *j, double bytes) { return bytes > (double)j->held ? 0 : bytes; }

/* What does not depend on slabs. */
static double fixed(const lattice_job *j) {
    const atn_device_info *device = j->o->device_info;
    double atoms = (double)j->about.atoms / (j->ranks ? j->ranks->count : 1); /* that are read here */
    double device_part = device->cpu ? 1 : 0.1,
           bytes = (double)frame_atom_bytes(j->frame) * atoms; /* scores stay there */
    atn_lattice_info info = atn_lattice_info_of(j->lattice);
    double models = info.models > 0 ? info.models : 3;
    double sum = BUFFERS + (j->ranks ? bytes : held(j, bytes)) +
                 lattice_batch_for(device) * (NEAR + device_part * SCORES * models);
    if (j->output && j->ranks) return sum + ROW * atoms + WRITTEN;
    return j->output ? sum + held(j, ROW * atoms) + WRITTEN + 1e-3 * ROW * atoms : sum;
}

/* Of an atom of a slab; each of several devices has a slab of its own, and its results. */
static double each_atom(const lattice_job *j) {
    double copies = j->devices > 1 ? (ATOM + RESULT) * j->devices : 0;
    if (j->ranks) copies += (double)frame_atom_bytes(j->frame); /* as they came from other ranks */
    return SLAB + copies + (j->output ? RESULT : 0) + (j->resume ? KEPT : 0);
}

size_t lattice_foresee(const lattice_job *j, size_t most) { return (size_t)(fixed(j) + each_atom(j) * (double)most); }

/* The smallest limit that slabs of that many bytes fit into: a larger one holds more before temporary files are used.
 * */
static double least_limit(lattice_job *j, double slab) {
    double limit = 0;
    for (int round = 0; round < 8; ++round) {
        j->held = (size_t)fmin(limit / 4, HELD);
        limit = fmax(limit, fixed(j) + slab);
    }
    return 1.005 * limit; /* it is printed with three digits */
}

atn_status lattice_plan_memory(lattice_job *j, double reach, size_t *atoms) {
    enum { LEAST = 4096, MOST = 1 << 20 };
    size_t bytes = 0;
    double length = 0;
    j->held = HELD;
    atn_status status = atn_cli_read_bytes(j->call, "memory", &bytes);
    if (status || !bytes) return status;
    if (bytes / 4 < HELD) j->held = bytes / 4;
    for (int axis = 0; axis < 3; ++axis) /* slabs lie along the longest */
        length = fmax(length, (j->about.high[axis] - j->about.low[axis]) * j->about.angstrom);
    double all = (double)j->about.atoms, around = length > 2 * reach ? 2 * reach / length * all : all;
    double each = each_atom(j), room = ((double)bytes - fixed(j)) / (1.2 * each) - around;
    double least = fmin(LEAST, all);
    if (room < least)
        return atn_fail(j->call->ctx, ATN_ERR_INPUT, "--memory: this frame needs %.3g MB or more, %.3g MB may be used",
                        1e-6 * least_limit(j, 1.2 * each * (around + least)), 1e-6 * (double)bytes);
    *atoms = (size_t)fmin(room, MOST);
    return ATN_OK;
}
