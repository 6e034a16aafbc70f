/* All methods on two clouds given by the user, from identity with default settings: time, rmse, overlap. */
#include "bench/register_parts.h"

#include "base/clock.h"

#include <stdio.h>

enum { ROUNDS = 3 };
static const double LONG_S = 10; /* what takes longer runs once */

static const struct {
    const char *name;
    atn_register_method method;
} METHODS[] = {{"em-icp", ATN_REGISTER_EM_ICP}, {"icp", ATN_REGISTER_ICP}, {"icp-plane", ATN_REGISTER_ICP_PLANE},
               {"gicp", ATN_REGISTER_GICP},     {"cpd", ATN_REGISTER_CPD}, {"softassign", ATN_REGISTER_SOFTASSIGN}};

static void emit_rows(bench_session *s, const char *method, const bench_one *one, double seconds) {
    const atn_register_result *r = &one->result;
    const struct {
        const char *what, *unit;
        double value;
    } ROWS[] = {{"time", "s", seconds}, {"rmse", "", r->rmse}, {"overlap", "", r->overlap}};
    for (size_t k = 0; k < sizeof ROWS / sizeof *ROWS; ++k) {
        atn_bench_row row = {.ours = ROWS[k].value, .seconds = seconds};
        snprintf(row.name, sizeof row.name, "%s, %s", method, ROWS[k].what);
        snprintf(row.unit, sizeof row.unit, "%s", ROWS[k].unit);
        snprintf(row.shape, sizeof row.shape, "%zu onto %zu", atn_cloud_info_of(one->pair->source).points,
                 atn_cloud_info_of(one->pair->target).points);
        snprintf(row.note, sizeof row.note, "%d iterations; %s: %s", r->iterations, atn_verdict_name(r->verdict),
                 r->reason);
        bench_emit(s, row);
    }
}

size_t bench_method_count(void) { return sizeof METHODS / sizeof *METHODS; }

atn_status bench_methods(bench_session *s) {
    bench_pair pair = {.source = (atn_cloud *)s->options->source, .target = (atn_cloud *)s->options->target};
    atn_status status = ATN_OK;
    for (size_t k = 0; k < sizeof METHODS / sizeof *METHODS && status == ATN_OK && !s->stopped; ++k) {
        bench_one one = {.session = s, .pair = &pair, .settings = {.method = METHODS[k].method}};
        bench_runner runner = {.run = bench_run_one, .data = &one, .repeats = 1};
        bench_tell(s, "%s", METHODS[k].name);
        double since = atn_clock_seconds();
        status = bench_run_one(&one); /* builds the kernels */
        double seconds = atn_clock_seconds() - since;
        if (status == ATN_OK && seconds < LONG_S) {
            status = bench_turns(s, &runner, 1, s->options->quick ? 1 : ROUNDS);
            seconds = runner.median;
        }
        if (status == ATN_OK) emit_rows(s, METHODS[k].name, &one, seconds);
        if (status == ATN_ERR_UNSUPPORTED || status == ATN_ERR_MEMORY) { /* one that cannot does not stop the others */
            atn_log(s->ctx, ATN_LOG_WARNING, "left out: %s: %s", METHODS[k].name, atn_ctx_message(s->ctx));
            status = ATN_OK;
        }
    }
    return status;
}
