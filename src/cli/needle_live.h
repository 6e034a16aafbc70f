/* The live view of attune needle --stream. */
#ifndef ATN_CLI_NEEDLE_LIVE_H
#define ATN_CLI_NEEDLE_LIVE_H

#include "cli/live.h"
#include "cli/needle.h"
#include "cli/serve.h"

typedef struct needle_live needle_live;

atn_status needle_live_open(const needle_job *job, needle_live **out); /* NULL: --serve was not given */
void needle_live_show(needle_live *live, const atn_volume *volume, const atn_needle_result *result,
                      const atn_tally *tally, double latency_s); /* NULL is fine, here and below */
void needle_live_end(needle_live *live, json_t *summary);        /* frees it; drops the reference */

#endif
