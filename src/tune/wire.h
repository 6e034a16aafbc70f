/* What a tuner and its workers say to each other: one JSON object per line. */
#ifndef ATN_TUNE_WIRE_H
#define ATN_TUNE_WIRE_H

#include "tune/trial.h"

#include <jansson.h>

/* Each makes a new object, or NULL when memory ran out. */
json_t *atn_wire_open(const atn_device_info *device, const atn_workload *workload, const atn_trial_setup *setup);
json_t *atn_wire_text(const char *text); /* of any origin: what is no ASCII becomes '?' */
json_t *atn_wire_trial(const atn_trial *trial);
json_t *atn_wire_final(const atn_final *final);

/* The other way round; of the device backend, name and ordinal are filled. Texts of the workload are those of `from`,
 * which must outlive it; its lists are owned by the caller (atn_wire_workload_free). */
atn_status atn_wire_read_open(const atn_ctx *ctx, const json_t *from, atn_device_info *device, atn_workload *workload,
                              atn_trial_setup *setup);
void atn_wire_workload_free(const atn_ctx *ctx, atn_workload *workload);
void atn_wire_read_trial(const json_t *from, atn_trial *trial);
void atn_wire_read_final(const json_t *from, atn_final *final);

#endif
