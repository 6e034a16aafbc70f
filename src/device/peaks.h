/* The measured peaks as cached, and when they are measured again. A peak is the best rate seen so far: measuring again
 * may raise it, never lower it. */
#ifndef ATN_DEVICE_PEAKS_H
#define ATN_DEVICE_PEAKS_H

#include "base/hash.h"
#include "device/device.h"

enum { ATN_PEAK_FP16, ATN_PEAK_FP32, ATN_PEAK_FP64, ATN_PEAK_BANDWIDTH, ATN_PEAK_COUNT };

typedef struct atn_peaks_kept {
    atn_peaks peaks;
    atn_peaks reached; /* by something else of ours, above the peak; 0: nothing. Measured again for it once */
    uint32_t busy;     /* bit 1 << ATN_PEAK_...: other processes had the cores meanwhile; a CPU's only */
    uint32_t unused;   /* 0: every byte of what is kept is written */
    int64_t when;      /* of the last measurement, seconds since 1970 */
} atn_peaks_kept;

/* What is known, for a test or a report: as atn_device_peaks, which measures what is not known and, a minute later at
 * the earliest, what was measured on a busy machine. */
atn_status atn_device_peaks_kept(atn_device *device, atn_peaks_kept *out);

/* Records what other code has reached (0: unknown) and returns the peaks: those that were exceeded are measured again.
 * A rate of data that stayed in the caches says nothing about memory and must not be passed. */
atn_status atn_device_peaks_reached(atn_device *device, const atn_peaks *reached, atn_peaks *out);

/* Under which the cache keeps them: device, driver, and the text of the probes; suffix ".peaks". */
atn_hash atn_device_peaks_key(const atn_device *device);

#endif
