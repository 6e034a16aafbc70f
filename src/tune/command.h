/* Tuning a command of the user's own: its parameters come from a space, its time from the clock or from what it prints.
 * Each run is a process of its own, so that one that crashes or hangs does no harm. No shell takes part: values are
 * never read as words. */
#ifndef ATN_TUNE_COMMAND_H
#define ATN_TUNE_COMMAND_H

#include "base/arena.h"
#include "space/space.h"
#include "tune/strategy.h"

/* ---- the command ---- */
/* "BLOCK={b} ./kernel --bx {bx} 'two words'": words at blanks, quotes keep them together, {name} is a parameter's
 * value,
 * {{ and }} are braces. Words NAME=value in front are the environment's. */
typedef struct atn_command {
    const atn_ctx *ctx;
    const atn_space *space;
    atn_arena arena;
    const char **words; /* with their braces; ends with NULL */
    int32_t n_words;
    char *program;    /* found along $PATH: words[0], or env where the environment is set */
    char *time_front; /* the text before the time in the output, and after it; NULL: the clock */
    char *time_behind;
    double unit; /* seconds of what is printed */
} atn_command;

/* `time`: "elapsed {} ms", or NULL. Refused where a name is no parameter, or a parameter is not in the command. On
 * failure too, it goes back with atn_command_close. */
atn_status atn_command_open(const atn_ctx *ctx, const atn_space *space, const char *command, const char *time,
                            atn_command *out);
void atn_command_close(atn_command *command);

/* What became of one run. */
typedef struct atn_command_run {
    atn_outcome outcome; /* right; wrong: exit status not 0, or no time in its output; crash; hang */
    double seconds;      /* INFINITY unless right */
    double clock_s;      /* that it took */
    char detail[200];    /* of a failure: how, and its last line */
} atn_command_run;
/* ATN_OK whatever became of it; else it could not be started, or the context was cancelled. */
atn_status atn_command_try(const atn_command *command, const int32_t *point, double limit_s, atn_command_run *out);

/* ---- the search ---- */
typedef struct atn_command_progress {
    int64_t tried, failed;
    double elapsed_s, left_s; /* left_s < 0: not known */
    double best_s;            /* 0: none yet */
} atn_command_progress;

typedef struct atn_command_options {
    double budget_s;      /* 0: no limit of time */
    int64_t evaluations;  /* points; 0: no limit */
    double timeout_s;     /* of one run; 0: 60. Once a time is known, ten times that and a second */
    const char *strategy; /* NULL: the default */
    uint64_t seed;
    void (*progress)(void *user, const atn_command_progress *now); /* or NULL */
    void *user;
} atn_command_options;

typedef struct atn_command_result {
    const atn_ctx *ctx;
    char *variant, *runner_up; /* "bx=16,by=4"; NULL: none */
    double best_s, low_s, high_s, worst_s;
    double runner_up_ratio;
    bool tie; /* the interval of the ratio holds 1 */
    int64_t tried, failed[ATN_OUTCOME_COUNT];
    char failure[256]; /* the first one: which point, and how */
    double seconds;    /* that all of it took */
    bool stopped;      /* by Ctrl-C */
} atn_command_result;
void atn_command_result_free(atn_command_result *result);

atn_status atn_command_tune(const atn_command *command, const atn_command_options *options, atn_command_result *out);

#endif
