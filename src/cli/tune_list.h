/* What attune tune works on, and how its results are printed. */
#ifndef ATN_CLI_TUNE_LIST_H
#define ATN_CLI_TUNE_LIST_H

#include "cli/kernel.h"
#include "tune/tune.h"

typedef struct atn_cli_label {
    const char *kernel;
    char shape[64];
} atn_cli_label;

/* Workloads with their texts. */
typedef struct atn_cli_work {
    const atn_ctx *ctx;
    atn_arena arena; /* the texts */
    atn_workload *work;
    atn_cli_label *labels;
    size_t room, label_room;
    int32_t n;
} atn_cli_work;

/* Operand 0: a file, a shipped kernel, or "all"; with what --define, --param and --size give. On failure too, it goes
 * back with atn_cli_work_free. */
atn_status atn_cli_work_list(atn_cli_call *call, const atn_device_info *info, atn_cli_work *out);
/* A program: one row for its seams, whose workload is none; and once it is planned, one for each of its steps. */
atn_status atn_cli_work_program(const atn_cli_kernel *kernel, const atn_plan_given *given, atn_cli_work *out);
atn_status atn_cli_work_steps(const atn_cli_kernel *kernel, const atn_device_info *info, atn_cli_work *out);
void atn_cli_work_free(atn_cli_work *list);

/* `tune unwrap`: knobs of the unwrapper; budget, evaluations and space count. */
atn_status atn_cli_tune_unwrap(atn_cli_call *call, atn_device *device, const atn_tune_options *options);

/* `tune --command`: parameters of a command; budget, evaluations, strategy and seed count. */
atn_status atn_cli_tune_command(atn_cli_call *call, const atn_tune_options *options);

/* A table for people, or JSON. */
atn_status atn_cli_print_tuned(atn_cli_call *call, const atn_device_info *info, const atn_cli_work *list,
                               const atn_tune_result *results);
/* One HTML page for people. */
atn_status atn_cli_report_tuned(atn_cli_call *call, atn_device *device, const char *path, const char *space_text,
                                const atn_cli_work *list, const atn_tune_result *results);
/* ", 42 %, 13 s left" of the budget, or of the evaluations of workload `index` of `count`; "" where there is no limit.
 */
void atn_cli_print_budget(const atn_tune_options *options, double elapsed_s, int32_t index, int32_t count,
                          int64_t tried, char *text, size_t bytes);
void atn_cli_print_time(double seconds, char *text, size_t bytes); /* "1.23 ms" */

#endif
