/* Shared by verbs with --stream: the options, printing a line of JSON immediately, errors of threads, and the final
 * summary of frames, rate and latency. */
#ifndef ATN_CLI_LIVE_H
#define ATN_CLI_LIVE_H

#include "cli/cli.h"
#include "cli/stream.h"

/* --frames, --idle and --patience. */
atn_status atn_live_options(atn_cli_call *call, atn_stream_options *out);

/* Output is flushed: someone may be waiting for it. A stream whose output cannot be delivered, on a full disk or in a
 * closed pipe, ends. */
atn_status atn_live_flush(const atn_cli_call *call);
/* An object in one line, flushed: someone may be waiting for it. Drops the reference; NULL, or a value that could not
 * be allocated, is reported as such. */
atn_status atn_live_line(atn_cli_call *call, json_t *root);

/* What a thread could not do, until the one that began it may say so. */
typedef struct atn_live_fault {
    atn_status status;
    char message[ATN_MESSAGE_BYTES];
} atn_live_fault;
void atn_live_keep(const atn_ctx *ctx, atn_live_fault *fault, atn_status status); /* with the context's sentence */
/* The fault as ours, unless `status` is one already. */
atn_status atn_live_raise(const atn_ctx *ctx, atn_status status, const atn_live_fault *fault);

/* Start it with its context, end it with atn_tally_free. */
typedef struct atn_tally {
    const atn_ctx *ctx;
    double *latency; /* of each answer, seconds; owned; sorted when it is reported */
    size_t answered, room;
    int64_t dropped;
    double start_s; /* when the first frame came, by atn_clock_seconds; 0: none did */
    double seconds; /* from then to the last answer */
} atn_tally;
atn_status atn_tally_add(atn_tally *tally, double latency_s);
/* frames, dropped, fps, seconds, latency_s and reason become members; false: no memory. */
bool atn_tally_json(atn_tally *tally, const char *reason, json_t *root);
void atn_tally_text(atn_tally *tally, const char *reason, FILE *out); /* one line */
void atn_tally_free(atn_tally *tally);

#endif
