/* What the verbs on kernels and programs share: the description (a file, or one that is shipped), --define, --param and
 * --size. */
#ifndef ATN_CLI_KERNEL_H
#define ATN_CLI_KERNEL_H

#include "cli/cli.h"
#include "plan/run.h"

/* Rows of a verb's table of options. */
#define ATN_CLI_KERNEL_OPTIONS                                                                                         \
    {.name = "define",                                                                                                 \
     .value = "NAME=VALUE",                                                                                            \
     .meaning = "replace NAME in the description; default: USED_FLOAT=SP",                                             \
     .repeats = true},                                                                                                 \
        {.name = "param",                                                                                              \
         .value = "NAME=NUMBER",                                                                                       \
         .meaning = "give a parameter its value; complex: 1.5-2i",                                                     \
         .repeats = true},                                                                                             \
    {                                                                                                                  \
        .name = "size", .value = "NAME=ROWSxCOLUMNS",                                                                  \
        .meaning = "give an object its size; a vector: NAME=LENGTH, a volume: NAME=PLANESxROWSxCOLUMNS",               \
        .repeats = true                                                                                                \
    }

typedef struct atn_cli_kernel {
    atn_cli_call *call;
    atn_arena arena;        /* pieces of the options */
    const char *name;       /* as it was given: the file, or the shipped kernel */
    atn_form form;          /* show --as: what it is printed as; 0: not */
    atn_text printed;       /* that */
    const char *assumed;    /* a define that the description needs and that was not given: "USED_FLOAT=SP"; NULL: none
                             * */
    atn_sequence *sequence; /* owned; NULL: a program */
    atn_programs *programs; /* owned; NULL: a kernel or a Sequence, and no --plan */
    atn_planned *planned;   /* owned; of a program, once it is planned */
    atn_runner *runner;     /* the planned program's, or owned; NULL until atn_cli_kernel_bind, atn_cli_program_plan */
} atn_cli_kernel;

/* "USED_FLOAT=SP", what kernels are made in where --define does not say; NULL where it does. */
const char *atn_cli_default_define(const atn_cli_call *call);

/* Reads and parses operand 0; with --plan, kernels are programs too. On failure too, it goes back with
 * atn_cli_kernel_close. */
atn_status atn_cli_kernel_open(atn_cli_call *call, bool strict, atn_diagnostics *diagnostics, atn_cli_kernel *out);
void atn_cli_kernel_close(atn_cli_kernel *kernel);

/* Makes the runner and gives it --param and --size. */
atn_status atn_cli_kernel_bind(atn_cli_kernel *kernel);
/* Plans it without arrays: objects that --size does not name take what is reached, as in attune tune. */
atn_status atn_cli_kernel_plan(atn_cli_kernel *kernel);

/* What runs: the kernels described, or the steps of a planned program. */
int32_t atn_cli_kernel_steps(const atn_cli_kernel *kernel);
const atn_graph *atn_cli_kernel_step(const atn_cli_kernel *kernel, int32_t number);

/* "w=2.5" of --param, "A=3x4" of --size for an array of this rank (Size(0) first). */
atn_status atn_cli_kernel_param(atn_cli_kernel *kernel, const char *given, const char **name, double value[2]);
atn_status atn_cli_kernel_extent(atn_cli_kernel *kernel, const char *given, int32_t rank, int64_t size[ATN_MAX_RANK]);

/* "NAME=VALUE" of an option in two; *value is NULL on failure. */
atn_status atn_cli_kernel_split(atn_cli_kernel *kernel, const char *option, const char *given, const char **name,
                                const char **value);

/* The device that --device names, or the best. *devices is owned by the caller. */
/* All devices, or the one of --device: `count` of them from `first` on. The list is the caller's, where it fails too.
 */
atn_status atn_cli_find_devices(atn_cli_call *call, atn_devices **devices, int32_t *first, int32_t *count);
atn_status atn_cli_pick_device(atn_cli_call *call, atn_devices **devices, int32_t *index);
/* All that --device lists, open; those before a failure are open, too: the caller closes *count of them. */
atn_status atn_cli_open_devices(atn_cli_call *call, atn_device *out[ATN_MOST_DEVICES], int32_t *count);

/* A variant as text: "plain", or what differs from it. */
void atn_cli_add_variant(atn_text *to, const atn_variant *variant);

/* (rows, columns) or (length) as a JSON array. */
json_t *atn_cli_json_shape(const atn_view *view);

#endif
