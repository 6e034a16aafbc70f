/* Moments: timed batches of runs on a device. On the host a run before each moment wakes the threads and fills the
 * caches; on a GPU all that a moment needs is queued behind other work, so that no launch waits for the host. Cold:
 * each moment is one run, after the caches were filled with something else. */
#ifndef ATN_TUNE_MOMENT_H
#define ATN_TUNE_MOMENT_H

#include "tune/stand.h"

typedef struct atn_moments {
    atn_device *device;
    bool host, cold;
    atn_buffer *plug; /* filled before a moment: other work for a GPU, other contents for caches */
} atn_moments;

atn_status atn_moments_open(atn_device *device, bool cold, atn_moments *out);
void atn_moments_close(atn_moments *m);

/* What is run: a built variant on its arrays. */
typedef struct atn_runnable {
    atn_built *kernel;
    atn_stand *stand;
    int32_t repeats; /* runs in one moment; 1 where a run changes where the next one goes */
    double once_s;   /* about how long one takes; 0: not known */
} atn_runnable;

/* Runs that make a moment long enough for the clock when one takes `once_s`. */
int32_t atn_moment_repeats(const atn_moments *m, double once_s);

atn_status atn_moment_take(const atn_moments *m, const atn_runnable *r, double *seconds); /* of one run */
/* One run on its own, waited for: what a first look costs. */
atn_status atn_moment_once(const atn_moments *m, const atn_runnable *r, double *seconds);

#endif
