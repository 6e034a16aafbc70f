/* Running a described file: one kernel or several, one after the other on shared objects. Objects are bound by name
 * once, for all steps; what is not bound takes the size that the first step which writes it reaches, and is owned here.
 * The order of calls: create, bind and give, plan, then build and run (a device), or eval (the oracle). */
#ifndef ATN_KERNEL_SEQUENCE_H
#define ATN_KERNEL_SEQUENCE_H

#include "kernel/choose.h"

typedef struct atn_runner atn_runner;

/* An object of the steps; equal names are one. */
typedef struct atn_shared_object {
    const char *name;
    bool read_first; /* its elements matter before any step has written it */
    bool written;
    bool is_bound;     /* elements were given */
    atn_slot slot;     /* its view has a size once it is bound, or planned; view.data for the oracle only */
    atn_buffer *owned; /* what run uses where no elements were given */
    void *memory;      /* and what eval does */
} atn_shared_object;

/* The sequence must outlive the runner, which is owned by the caller. */
atn_status atn_runner_create(const atn_ctx *ctx, const atn_sequence *sequence, atn_runner **out);
void atn_runner_free(atn_runner *runner); /* NULL is fine; before the device is closed */

int32_t atn_runner_steps(const atn_runner *runner);
const atn_graph *atn_runner_graph(const atn_runner *runner, int32_t step);
int32_t atn_runner_count(const atn_runner *runner); /* of objects, constant tables left out */
const atn_shared_object *atn_runner_object(const atn_runner *runner, int32_t object);
int32_t atn_runner_find(const atn_runner *runner, const char *name); /* -1, with a sentence that says what there is */

/* Elements: a buffer, or view.data for the oracle. Neither: its size alone (view.size). */
void atn_runner_bind(atn_runner *runner, int32_t object, const atn_slot *slot);
void atn_runner_size(atn_runner *runner, int32_t object, const int64_t size[ATN_MAX_RANK]);
/* Parameters of all steps by name. May change between runs: what is built stays. */
atn_status atn_runner_give(atn_runner *runner, const atn_param_value *given, size_t n_given);

/* Sizes of all that is not bound; then all that atn_eval_check says of every step. Nothing was launched yet. */
atn_status atn_runner_plan(atn_runner *runner);

/* Builds every step as `variant`, guarded unless the options say otherwise; NULL: each as it is chosen for its sizes.
 * `options` may be NULL. */
atn_status atn_runner_build(atn_runner *runner, atn_device *device, const atn_variant *variant,
                            const atn_choose_options *options);
/* Before it is built: what another runner of the same sequence has built on the same device serves here too, where the
 * same is chosen again. */
atn_status atn_runner_inherit(atn_runner *runner, const atn_runner *from);
/* Has nothing been tuned since it was built? */
bool atn_runner_is_current(const atn_runner *runner);
/* Before it is built: on a host without a compiler, what is not compiled in is interpreted, slowly. */
void atn_runner_interpret(atn_runner *runner);
bool atn_runner_interprets(const atn_runner *runner, int32_t step); /* once built */
/* What a step runs, once it is built. */
const atn_choice *atn_runner_choice(const atn_runner *runner, int32_t step);
atn_bindings atn_runner_frame(const atn_runner *runner, int32_t step); /* once planned */
/* What it would run, once planned, on a device that need not be open. Owned by the caller. */
atn_status atn_runner_choose(const atn_runner *runner, int32_t step, const atn_device_info *info,
                             const atn_choose_options *options, atn_choice *out);
/* Another array of the same type, sizes and pitch, for runs after this one; what is built stays. */
void atn_runner_rebind(atn_runner *runner, int32_t object, const atn_slot *slot);
/* Asynchronous. What no one gave starts as zero. On devices other than the host, computed accesses out of range show
 * when reports are looked at (atn_built_launch); run_step waits for them. */
atn_status atn_runner_run(atn_runner *runner);
atn_status atn_runner_launch_step(atn_runner *runner, int32_t step);
atn_status atn_runner_run_step(atn_runner *runner, int32_t step, atn_queue *queue); /* NULL: the device's own first */

/* Interprets every step; bad_accesses: computed accesses that were out of range. */
atn_status atn_runner_eval(atn_runner *runner, int64_t *bad_accesses);
/* One of them, on objects that all have view.data; adds to bad_accesses. */
atn_status atn_runner_eval_step(atn_runner *runner, int32_t step, int64_t *bad_accesses);

#endif
