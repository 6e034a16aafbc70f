/* What a tuner and its workers say to each other: one JSON object per line. The worker begins with a hello that has the
 * protocol's version, its own, and the generator's; so has what opens a workload: a worker of another build would
 * measure other code than ours. Jobs are numbered, and answers carry the number. Whatever comes is checked and bounded:
 * generated code runs in a worker, and may have written over all that it says. */
#ifndef ATN_TUNE_WIRE_H
#define ATN_TUNE_WIRE_H

#include "tune/trial.h"

#include <jansson.h>

/* Raise the version when either side would misunderstand the other. Nothing that is right comes near the limits. */
enum { ATN_WIRE_VERSION = 4, ATN_WIRE_MOST_LINES = 1000, ATN_WIRE_MOST_JOB = 64 << 20 };
static const double ATN_WIRE_OPEN_S = 120;   /* until a job names its first stage */
static const double ATN_WIRE_STAGE_S = 3600; /* a stage that asks for more gets this */

/* One line of a worker. */
typedef struct atn_said {
    enum { ATN_SAID_HELLO, ATN_SAID_STAGE, ATN_SAID_FAILED, ATN_SAID_DONE } kind;
    int64_t version;                 /* hello: its protocol, */
    char attune[32], generator[32];  /* and which attune it is; "": it does not say */
    char stage[16];                  /* one of build, run, oracle, time */
    double limit_s;                  /* 0 .. ATN_WIRE_STAGE_S */
    atn_status status;               /* failed: why, not ATN_OK */
    char message[ATN_MESSAGE_BYTES]; /* printable */
    int64_t job;                     /* done: which */
    json_t *done;                    /* owned by the caller, json_decref */
} atn_said;
bool atn_wire_hear(const char *line, atn_said *out); /* false: it makes no sense */

/* Each makes a new object, or NULL when memory ran out. */
json_t *atn_wire_hello(void);
json_t *atn_wire_open(const atn_device_info *device, const atn_workload *workload, const atn_trial_setup *setup);
json_t *atn_wire_text(const char *text); /* of any origin: what is no ASCII becomes '?' */
json_t *atn_wire_trial(const atn_trial *trial);
json_t *atn_wire_final(const atn_final *final);

/* The other way round; of the device backend, name and ordinal are filled. Texts of the workload are those of `from`,
 * which must outlive it; its lists are owned by the caller (atn_wire_workload_free). */
atn_status atn_wire_read_open(const atn_ctx *ctx, const json_t *from, atn_device_info *device, atn_workload *workload,
                              atn_trial_setup *setup);
void atn_wire_workload_free(const atn_ctx *ctx, atn_workload *workload);
/* false: a field is missing, of another type or out of its range; then *trial or *final is not to be used. `n`: how
 * many were raced. */
bool atn_wire_read_trial(const json_t *from, atn_trial *trial);
bool atn_wire_read_final(const json_t *from, int32_t n, atn_final *final);
bool atn_wire_read_seconds(const json_t *from, double *seconds); /* of a sentinel */

#endif
