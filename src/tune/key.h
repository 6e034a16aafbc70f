/* The key of a measurement: built in the same way by the tuner and by those who look up its results. */
#ifndef ATN_TUNE_KEY_H
#define ATN_TUNE_KEY_H

#include "eval/eval.h"
#include "wisdom/wisdom.h"

#include <attune/device.h>

/* The texts of the key are its own, so that it must not be copied, or those of graph and info, which outlive it. */
typedef struct atn_tune_key {
    atn_wisdom_key key;
    char threads[64], layout[64], tolerance[32];
} atn_tune_key;

/* The generator's version: part of every key; the build makes it from the sources of lowering and rendering. */
extern const char ATN_GENERATOR_VERSION[];

/* What a key says about a device; nothing else is set. On a host, the version of the compiler is the driver. The texts
 * belong to info. */
atn_wisdom_key atn_tune_key_device(const atn_device_info *info);

/* Sizes of a key that are the points': two, three where they have three dimensions; ranges follow. */
int32_t atn_tune_key_points(const atn_graph *graph);

/* Sizes that matter for the speed: points[0], points[1], ..., then the ranges of the outermost reduction (the mean
 * length if it comes from data: elements of the largest object that it walks along, over the points); none is below 1.
 * The space is left zero: it is filled in for storing and not needed for lookups. */
atn_status atn_tune_key_make(const atn_ctx *ctx, const atn_graph *graph, const atn_device_info *info,
                             const atn_bindings *frame, bool reproducible, double tolerance, atn_tune_key *out);

#endif
