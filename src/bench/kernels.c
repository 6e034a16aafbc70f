/* The shipped kernels at the shapes they are tuned for, compared with other implementations. */
#include "bench/parts.h"

#include "device/facts.h"
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
        if (atn_backend_is(FINDERS[k].backend, atn_device_get_info(work->device)->backend))
            return FINDERS[k].find(work, own, why);
    return ATN_OK;
}

/* ---- a row ---- */

void bench_label(const atn_set *set, atn_kernel_row *row) {
    size_t length = 0, bytes = sizeof row->shape;
    snprintf(row->name, sizeof row->name, "%s %s", set->kernel, set->type ? set->type : "SP");
    for (int k = 0; set->sizes[k] && length < bytes; ++k)
        length += (size_t)snprintf(row->shape + length, bytes - length, "%s%s", k ? "," : "", set->sizes[k]);
}

static atn_status measure(bench_work *work, const bench_reference *copy, double seconds, atn_kernel_row *row) {
    enum { OURS, THEIRS, ESTIMATE, ALL };
    bench_contestant ours = {0}, estimate = {0};
    bench_reference reference;
    const char *missing;
    atn_status status = find_reference(work, copy, &reference, &missing);
    if (status == ATN_OK) status = bench_contestant_enter(&ours, work, false);
    bool tuned = status == ATN_OK && ours.choice.origin >= ATN_ORIGIN_SHIPPED;
    if (tuned) status = bench_contestant_enter(&estimate, work, true);
    bench_runner runners[ALL] = {[OURS] = bench_contestant_runner(&ours)};
    int32_t n = 1, rounds = 0;
    if (reference.run) runners[n++] = (bench_runner){.run = reference.run, .data = reference.data};
    int32_t second = n;
    if (tuned) runners[n++] = bench_contestant_runner(&estimate);
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
    bench_contestant_leave(&ours);
    bench_contestant_leave(&estimate);
    if (reference.close) reference.close(reference.data);
    return status;
}

atn_status bench_row(atn_device *device, const atn_set *set, const bench_reference *copy, double seconds,
                     atn_kernel_row *row) {
    bench_work work;
    bench_label(set, row);
    atn_status status = bench_work_open(device, set, atn_shipped_find(set->kernel), against(set->kernel), &work);
    if (status == ATN_OK) status = measure(&work, copy, seconds, row);
    bench_work_close(&work);
    return status;
}
