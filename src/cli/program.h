/* Programs on the command line: --param and --size, their plan, and the output of `show --plan`. */
#ifndef ATN_CLI_PROGRAM_H
#define ATN_CLI_PROGRAM_H

#include "cli/kernel.h"

/* --param and --size by name of the head of k->programs; the memory is k's. A parameter without a value is refused. */
atn_status atn_cli_program_give(atn_cli_kernel *k, atn_plan_given *out);
/* Without arrays, all that comes in has a size; else what to say. */
atn_status atn_cli_program_check(const atn_cli_kernel *k, const atn_plan_given *given);
/* All passes for these sizes, and for a device (NULL: any host): k->planned and k->runner. */
atn_status atn_cli_program_plan(atn_cli_kernel *k, const atn_plan_given *given, const atn_device_info *info);
/* The first pass alone: what the oracle interprets. */
atn_status atn_cli_program_expand(atn_cli_kernel *k, const atn_plan_given *given);
/* show --plan, with --passes behind every pass. */
atn_status atn_cli_program_show(atn_cli_kernel *k, const atn_plan_given *given, const atn_device_info *info);

#endif
