/* The shipped kernels at the shapes they are tuned for, against others. */
#include "bench/parts.h"

#include "graph/shipped.h"
#include "tune/sets.h"

#include <stdio.h>
#include <string.h>

static const char *const UNITS[] = {
    [BENCH_COPY] = "B/s", [BENCH_BLAS] = "FLOP/s", [BENCH_CSR] = "B/s", [BENCH_PAIRS] = "pairs/s"};

static bench_against against(const char *kernel) {
    static const char *const NAMES[] = {
        [BENCH_COPY] = "copy", [BENCH_BLAS] = "blas", [BENCH_CSR] = "csr", [BENCH_PAIRS] = "pairs"};
    for (size_t k = 0; k < sizeof NAMES / sizeof *NAMES; ++k)
        if (strcmp(NAMES[k], atn_set_against(kernel)) == 0) return (bench_against)k;
    return BENCH_COPY;
}

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
    atn_frame frame = atn_case_frame(c);
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

static atn_status open_work(atn_device *device, const atn_set *set, bench_work *work) {
    static const char *const DEFINES[] = {"USED_FLOAT=SP", NULL};
    const atn_ctx *ctx = atn_device_ctx(device);
    atn_workload workload = {.name = set->kernel,
                             .xml = atn_shipped_find(set->kernel),
                             .defines = DEFINES,
                             .sizes = set->sizes,
                             .range_length = set->range_length};
    *work = (bench_work){.device = device, .against = against(set->kernel)};
    atn_status status = atn_case_open(ctx, &workload, &work->problem);
    if (status == ATN_OK)
        status =
            atn_stand_open(device, work->problem.graph, (const double(*)[2])work->problem.params, work->problem.views,
                           &(atn_fill_options){.seed = 1, .lengths = work->problem.range_length}, true, &work->stand);
    if (status == ATN_OK) status = atn_stand_prove(&work->stand);
    if (status == ATN_OK) status = amount_of(work);
    return status;
}

static void close_work(bench_work *work) {
    atn_stand_close(&work->stand);
    atn_case_close(&work->problem);
}

/* ---- contestants ---- */

typedef struct contestant {
    bench_work *work;
    atn_choice choice;
    atn_built *built;
} contestant;

static atn_status ready_contestant(void *data) {
    contestant *c = data;
    return atn_stand_reset(&c->work->stand);
}

static atn_status run_contestant(void *data) {
    contestant *c = data;
    return atn_built_run(c->built, NULL, c->work->stand.slots, c->work->stand.params);
}

static bench_runner runner_of(contestant *c) {
    return (bench_runner){
        .run = run_contestant, .data = c, .ready = c->work && c->work->stand.moved ? ready_contestant : NULL};
}

/* As a user gets it, or as anyone would without wisdom. */
static atn_status enter(contestant *c, bench_work *work, bool estimate) {
    const atn_case *p = &work->problem;
    const atn_device_info *info = atn_device_get_info(work->device);
    atn_frame frame = atn_case_frame(p);
    atn_choose_options options = {.indices = work->stand.proven ? ATN_INDICES_CHECKED : ATN_INDICES_UNKNOWN};
    *c = (contestant){.work = work};
    atn_status status = estimate ? atn_choose_estimate(p->ctx, p->graph, info, &frame, &c->choice)
                                 : atn_choose(p->ctx, p->graph, info, &frame, &options, &c->choice);
    if (status == ATN_OK) status = atn_choice_build(work->device, p->graph, &frame, &options, &c->choice, &c->built);
    return status;
}

static void leave(contestant *c) {
    atn_built_free(c->built);
    atn_choice_free(&c->choice);
}

static atn_status find_reference(bench_work *work, const bench_reference *copy, bench_reference *own,
                                 const char **why) {
    static const struct {
        const char *backend;
        atn_status (*find)(bench_work *, bench_reference *, const char **);
    } FINDERS[] = {{"host", bench_host_reference}, {"cuda", bench_cuda_reference}};
    *why = NULL;
    *own = (bench_reference){0};
    if (work->against == BENCH_COPY) {
        *own = *copy;
        own->close = NULL; /* it is the caller's */
        return ATN_OK;
    }
    *why = "no library of its kind is known";
    for (size_t k = 0; k < sizeof FINDERS / sizeof *FINDERS; ++k)
        if (strcmp(FINDERS[k].backend, atn_device_get_info(work->device)->backend) == 0)
            return FINDERS[k].find(work, own, why);
    return ATN_OK;
}

/* ---- a row ---- */

void bench_label(const atn_set *set, atn_kernel_row *row) {
    size_t length = 0, bytes = sizeof row->shape;
    snprintf(row->name, sizeof row->name, "%s SP", set->kernel);
    for (int k = 0; set->sizes[k] && length < bytes; ++k)
        length += (size_t)snprintf(row->shape + length, bytes - length, "%s%s", k ? "," : "", set->sizes[k]);
}

static atn_status measure(bench_work *work, const bench_reference *copy, double seconds, atn_kernel_row *row) {
    enum { OURS, THEIRS, ESTIMATE, ALL };
    contestant ours = {0}, estimate = {0};
    bench_reference reference;
    const char *missing;
    atn_status status = find_reference(work, copy, &reference, &missing);
    if (status == ATN_OK) status = enter(&ours, work, false);
    bool tuned = status == ATN_OK && ours.choice.origin >= ATN_ORIGIN_SHIPPED;
    if (tuned) status = enter(&estimate, work, true);
    bench_runner runners[ALL] = {[OURS] = runner_of(&ours)};
    int32_t n = 1, rounds = 0;
    if (reference.run) runners[n++] = (bench_runner){.run = reference.run, .data = reference.data};
    int32_t second = n;
    if (tuned) runners[n++] = runner_of(&estimate);
    if (status == ATN_OK) status = bench_measure(work->device, runners, n, seconds, &rounds);
    if (status == ATN_OK) {
        atn_text variant = {.ctx = work->problem.ctx};
        double theirs = reference.amount > 0 ? reference.amount : work->amount;
        atn_variant_print(atn_built_variant(ours.built), &variant);
        snprintf(row->unit, sizeof row->unit, "%s", UNITS[work->against]);
        snprintf(row->hit, sizeof row->hit, "%s", atn_origin_name(ours.choice.origin));
        snprintf(row->variant, sizeof row->variant, "%s", atn_text_str(&variant));
        snprintf(row->reference_name, sizeof row->reference_name, "%s", reference.run ? reference.name : "");
        row->seconds = runners[OURS].median;
        row->ours = work->amount / row->seconds;
        if (reference.run) {
            row->reference = theirs / runners[THEIRS].median;
            row->ratio = bench_compare(&runners[OURS], &runners[THEIRS], rounds) * work->amount / theirs;
            if (tuned)
                row->estimate_ratio = bench_compare(&runners[second], &runners[THEIRS], rounds) * work->amount / theirs;
        }
        atn_text_free(&variant);
    }
    leave(&ours);
    leave(&estimate);
    if (reference.close) reference.close(reference.data);
    return status;
}

atn_status bench_row(atn_device *device, const atn_set *set, const bench_reference *copy, double seconds,
                     atn_kernel_row *row) {
    bench_work work;
    bench_label(set, row);
    atn_status status = open_work(device, set, &work);
    if (status == ATN_OK) status = measure(&work, copy, seconds, row);
    close_work(&work);
    return status;
}
