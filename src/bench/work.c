/* A kernel at one shape, its arrays, and its variants as the candidates of a benchmark. */
#include "bench/parts.h"

#include <string.h>

/* ---- the work ---- */

const atn_slot *bench_slot(const bench_work *work, const char *object) {
    for (int32_t o = 0; o < work->problem.graph->n_objects; ++o)
        if (strcmp(work->problem.graph->objects[o].name, object) == 0) return &work->stand.slots[o];
    return NULL;
}

int64_t bench_size(const bench_work *work, const char *object, int axis) {
    return bench_slot(work, object)->view.size[axis];
}

static atn_status amount_of(bench_work *work) {
    const atn_case *c = &work->problem;
    atn_bindings frame = atn_case_frame(c);
    atn_amount amount;
    atn_steps steps;
    atn_status status = atn_amount_of(c->ctx, c->graph, &frame, c->range_length, &amount);
    if (status == ATN_OK) status = atn_steps_of(c->ctx, c->graph, &frame, c->range_length, &steps);
    if (status != ATN_OK) return status;
    work->amount = work->against == BENCH_BLAS    ? amount.flops
                   : work->against == BENCH_PAIRS ? atn_steps_in(&steps, (1u << c->graph->n_dims) - 1)
                                                  : amount.bytes;
    return ATN_OK;
}

atn_workload bench_workload(const atn_set *set, const char *text) {
    return (atn_workload){.name = set->kernel,
                          .xml = text,
                          .defines = atn_set_defines(set),
                          .sizes = set->sizes,
                          .range_length = set->range_length};
}

atn_status bench_work_open(atn_device *device, const atn_set *set, const char *text, bench_against against,
                           bench_work *work) {
    const atn_ctx *ctx = atn_device_ctx(device);
    atn_workload workload = bench_workload(set, text);
    *work = (bench_work){.device = device, .against = against};
    atn_status status = atn_case_open(ctx, &workload, &work->problem);
    if (status == ATN_OK)
        status =
            atn_stand_open(device, work->problem.graph, (const double(*)[2])work->problem.params, work->problem.views,
                           &(atn_fill_options){.seed = 1, .lengths = work->problem.range_length}, true, &work->stand);
    if (status == ATN_OK) status = atn_stand_prove(&work->stand);
    if (status == ATN_OK) status = amount_of(work);
    return status;
}

void bench_work_close(bench_work *work) {
    atn_stand_close(&work->stand);
    atn_case_close(&work->problem);
}

/* ---- contestants ---- */

static atn_status ready_contestant(void *data) {
    bench_contestant *c = data;
    return atn_stand_reset(&c->work->stand);
}

static atn_status run_contestant(void *data) {
    bench_contestant *c = data;
    return atn_built_run(c->built, NULL, c->work->stand.slots, c->work->stand.params);
}

bench_runner bench_contestant_runner(bench_contestant *c) {
    return (bench_runner){
        .run = run_contestant, .data = c, .ready = c->work && c->work->stand.moved ? ready_contestant : NULL};
}

atn_status bench_contestant_enter(bench_contestant *c, bench_work *work, bool estimate) {
    const atn_case *p = &work->problem;
    const atn_device_info *info = atn_device_get_info(work->device);
    atn_bindings frame = atn_case_frame(p);
    atn_choose_options options = {.indices = work->stand.proven ? ATN_INDICES_CHECKED : ATN_INDICES_UNKNOWN};
    *c = (bench_contestant){.work = work};
    atn_status status = estimate ? atn_choose_estimate(p->ctx, p->graph, info, &frame, &c->choice)
                                 : atn_choose(p->ctx, p->graph, info, &frame, &options, &c->choice);
    if (estimate && work->stand.proven) c->choice.variant.guard = 0; /* earned here, as for what was tuned */
    if (status == ATN_OK) status = atn_choice_build(work->device, p->graph, &frame, &options, &c->choice, &c->built);
    return status;
}

void bench_contestant_leave(bench_contestant *c) {
    atn_built_free(c->built);
    atn_choice_free(&c->choice);
}
