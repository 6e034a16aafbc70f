/* How often structures are classified correctly, over noise and missing atoms, and how many atoms a second. */
#ifndef ATN_BENCH_LATTICE_H
#define ATN_BENCH_LATTICE_H

#include "bench/bench.h"

#include <attune/lattice.h>

typedef struct atn_bench_lattice_options {
    bool quick;    /* few neighbourhoods, one noise */
    uint64_t seed; /* of frames */
    atn_bench_listener to;
} atn_bench_lattice_options;

size_t atn_bench_lattice_steps(const atn_bench_lattice_options *options); /* calls of progress */
size_t atn_bench_lattice_frame_steps(void);
atn_status atn_bench_lattice(atn_ctx *ctx, atn_device *device, const atn_bench_lattice_options *options);

/* Whole frames: do confidences come true? Part of the above, unless it is quick. */
atn_status atn_bench_lattice_frames(atn_ctx *ctx, atn_device *device, const atn_bench_lattice_options *options);

#endif
