/* Random work in several queues of a device: asynchronous puts and gets, copies, fills and kernels over a few buffers
 * and blocks of host memory, ordered by no more events than it takes, held against a model that does the same work one
 * after the other. For any backend; see queuekit.c. */
#ifndef ATN_TEST_QUEUEKIT_H
#define ATN_TEST_QUEUEKIT_H

#include "testkit.h"

#include "device/device.h"

/* `steps` pieces of work, checks in between and at the end; fails the test where anything differs. */
void queues_at_random(atn_ctx *ctx, atn_device *device, uint64_t seed, int steps);
/* `steps` pieces of work of several queues kept on a tape; nothing is done until it is launched, then all of it every
 * time, in one queue or another. Skips aloud where the device has no tapes. */
void tapes_at_random(atn_ctx *ctx, atn_device *device, uint64_t seed, int steps);
/* Loops on a tape, of as many rounds as a list of flags on the device says; and what they refuse. Skips aloud where
 * tapes have no loops. */
void loops_on_tapes(atn_ctx *ctx, atn_device *device);

#endif
