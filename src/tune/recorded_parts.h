/* Internals of a recorded space, for the files that create, read and write one. */
#ifndef ATN_TUNE_RECORDED_PARTS_H
#define ATN_TUNE_RECORDED_PARTS_H

#include "base/arena.h"
#include "tune/points.h"
#include "tune/recorded.h"

typedef struct atn_recorded_result {
    double seconds; /* INFINITY where it is not right */
    atn_outcome outcome;
} atn_recorded_result;

struct atn_recorded {
    const atn_ctx *ctx;
    atn_arena arena; /* all that is not named below */
    int32_t n_parameters;
    const char **names;
    int32_t *levels;             /* per parameter, how many */
    atn_recorded_value **values; /* per parameter and level */
    const double **number;       /* as atn_domain has it */
    bool *ordered;
    atn_points points;
    atn_recorded_result *results; /* per point */
};

/* A form of file: how it is known, and read. */
typedef struct atn_recorded_form {
    const char *mark; /* the key of the outermost object that only this form has */
    atn_status (*read)(const atn_ctx *ctx, const char *name, atn_scan *scan, atn_recording *recording);
} atn_recorded_form;

#endif
