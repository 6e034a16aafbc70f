/* More effort than a lookup: tuning the steps of a runner at the planned sizes. */
#ifndef ATN_KERNEL_EFFORT_H
#define ATN_KERNEL_EFFORT_H

#include "kernel/sequence.h"

/* What the tuner's worker processes read again: all text, not owned. */
typedef struct atn_effort_options {
    const char *name, *xml;
    const char *const *defines; /* "USED_FLOAT=SP", ended by NULL; or NULL */
    const atn_param_value *given;
    size_t n_given;
    bool exhaustive; /* the whole space, without a time limit; otherwise for budget_s, if there is nothing exact */
    double budget_s;
    atn_choose_options choose;
} atn_effort_options;

/* The runner is planned. What was found is in the wisdom afterwards, for this process and others. */
atn_status atn_runner_tune(const atn_runner *runner, atn_device *device, const atn_effort_options *options);

#endif
