/* The few pieces of device code that are not generated: probes that test a device and measure its peaks, the same
 * work written once in each dialect. */
#ifndef ATN_DEVICE_PROBES_H
#define ATN_DEVICE_PROBES_H

#include "base/embedded.h"
#include "device/device.h"
#include "device/host_abi.h" /* which probe/host.h begins with */

/* Every probe is a function (float *out, const float *in, int64 n, int64 rounds). Called with rounds 0, an
 * arithmetic probe writes to out[0] how many operations one work-item does per round (a multiply-add is two). */
typedef enum atn_probe {
    ATN_PROBE_SAXPY, /* out[i] = 2 * in[i] + out[i] for i < n */
    ATN_PROBE_COPY,  /* out = in, n times 16 bytes, n a multiple of 1024 */
    ATN_PROBE_FP16,  /* chains of multiply-adds on in[0], in[1]; what is left of them goes to out[item] */
    ATN_PROBE_FP32,
    ATN_PROBE_FP64,
    ATN_PROBE_MATRIX64, /* double precision on matrix units, where the dialect can say it */
    ATN_PROBE_COUNT
} atn_probe;

/* Items per group of every probe; groups of the copy probe handle four times as many elements. */
enum { ATN_PROBE_ITEMS = 256 };

typedef struct atn_probe_source {
    const char *function; /* the entry point; NULL where the dialect has no such probe */
    const char *source;
    const char *flags; /* for atn_build */
    size_t items;      /* work-items per group to launch with */
} atn_probe_source;

extern const atn_embedded ATN_PROBES[]; /* src/device/probe, by backend; made by the build */

atn_probe_source atn_probe_get(const atn_device *device, atn_probe probe);

#endif
