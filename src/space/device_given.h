/* What `import device` provides: the properties of a device as values for a space. */
#ifndef ATN_SPACE_DEVICE_GIVEN_H
#define ATN_SPACE_DEVICE_GIVEN_H

#include "space/space.h"

#include <attune/device.h>

enum { ATN_DEVICE_GIVEN = 11 };
/* max_threads, local_memory, simd_width, cores, warp, memory, fp64, fp16, name, backend, arch. Texts are the info's. */
void atn_device_given(const atn_device_info *info, atn_given out[ATN_DEVICE_GIVEN]);

/* The host, without looking for other devices or a compiler. */
void atn_device_host_info(atn_device_info *out);

#endif
