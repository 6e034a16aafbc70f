/* Between the files of attune needle. */
#ifndef ATN_CLI_NEEDLE_H
#define ATN_CLI_NEEDLE_H

#include "cli/cli.h"

#include <attune/needle.h>

/* What holds for all frames of a call. */
typedef struct needle_job {
    atn_cli_call *call;
    atn_device *device;
    atn_needle_settings options;
    atn_needle *needle;         /* NULL until it is prepared */
    atn_volume_settings volume; /* how SCAN is read, */
    atn_needle_view view;       /* how it is looked at, */
    atn_needle_match_settings settings;
    char unit[24]; /* of lengths, with a space before it: " mm"; "": not known */
} needle_job;

/* What is reported for a frame of a stream in addition to its pose. */
typedef struct needle_frame_facts {
    int64_t number;
    const char *name;
    bool tracked;             /* found from the last pose */
    double read_s, latency_s; /* reading it; from when it was there to its pose */
} needle_frame_facts;

/* ---- needle_model.c: reads MODEL, which takes a while ---- */
atn_status atn_cli_needle_prepare(needle_job *job);

/* ---- needle_print.c; NULL: no memory ---- */
json_t *atn_cli_needle_json(atn_cli_call *call, const atn_needle_result *result);
json_t *atn_cli_needle_frame_json(atn_cli_call *call, const needle_frame_facts *facts, const atn_needle_result *result);
atn_status atn_cli_needle_text(const needle_job *job, const atn_needle_result *result);

/* ---- needle_stream.c: SCAN is a folder that is being filled, or - ---- */
atn_status atn_cli_needle_stream(needle_job *job);

/* ---- needle_report.c ---- */
/* SCAN is a volume or a cloud; the other is NULL. */
atn_status atn_cli_needle_report(const needle_job *job, const atn_volume *volume, const atn_cloud *scan,
                                 const atn_needle_result *result, const char *path);

#endif
