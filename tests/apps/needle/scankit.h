/* Volumes to find a needle in: samples, what is made of them, and how far a result is from their truth. */
#ifndef ATN_TESTS_SCANKIT_H
#define ATN_TESTS_SCANKIT_H

#include "needlekit.h"

#include "sample/needle.h"

/* 64 scans of 512 x 256: a second each. */
atn_needle_sample_settings scan_settings(uint64_t seed);
atn_needle_sample scan_sample(atn_ctx *ctx, const atn_needle_sample_settings *settings);
/* The model as people give it: the mesh in a file, sampled. All samples of one gauge and bevel have the same. */
atn_cloud *scan_model(atn_ctx *ctx, const atn_needle_sample *sample);

/* Scans first to first + count - 1 of a sample, and all of its columns from `column` on. */
atn_volume *scan_cut(atn_ctx *ctx, const atn_needle_sample *sample, int64_t first, int64_t count, int64_t column);
/* The brighter pixel of two. */
atn_volume *scan_both(atn_ctx *ctx, const atn_needle_sample *a, const atn_needle_sample *b);

double scan_tip_error(const needle_truth *truth, const atn_needle_result *result);
double scan_roll_error(const needle_truth *truth, const atn_needle_result *result); /* degrees */

#endif
