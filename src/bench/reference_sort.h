/* References for sorting pairs: qsort of the C library on the host, CUB on a CUDA device. */
#ifndef ATN_BENCH_REFERENCE_SORT_H
#define ATN_BENCH_REFERENCE_SORT_H

#include "bench/parts.h"

typedef struct bench_sort_reference {
    const char *name;
    bench_runner runner; /* run is NULL where there is none */
    const char *why;     /* then: what is missing */
    void (*close)(void *data);
} bench_sort_reference;

/* Keys of 4 or 8 bytes, unsigned, with places as values. `keys` outlives it. */
atn_status bench_sort_reference_open(atn_device *device, const void *keys, size_t bytes, int64_t n,
                                     bench_sort_reference *out);

#endif
