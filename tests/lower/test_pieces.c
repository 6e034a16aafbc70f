/* Reductions on the emulator: steps read several at once where they are aligned, and groups whose parts are awaited. */
#include "support/emulate.h"
#include "testkit.h"

#include "built/built.h"
#include "eval/eval.h"
#include "graph/shipped.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const atn_device_info CUDA = {.backend = "cuda", .arch = "sm_90", .max_group = 1024, .local_bytes = 200 << 10};

static const struct {
    const char *kernel, *type, *variant;
    int64_t rows, columns, offset, gap; /* offset: elements before the first, gap: between rows */
} RUNS[] = {
    {"l2norm", "SP", "lanes_q0=64,regs_q0=8,pack_q0=4,split_q0=5,reduce=shuffle,finish=look,index=32", 1, 4000, 0, 0},
    {"l2norm", "SP", "lanes_q0=32,regs_q0=4,pack_q0=4,split_q0=3,reduce=shuffle,finish=look", 1, 1001, 1, 0},
    {"l2norm", "DP", "lanes_q0=32,regs_q0=2,split_q0=4,finish=look", 1, 999, 0, 0},
    {"l2norm", "SP", "lanes_q0=32,regs_q0=4,pack_q0=4,split_q0=3,finish=look", 1, 1, 0, 0},
    {"max", "SP", "lanes_q0=64,regs_q0=8,pack_q0=4,split_q0=7,unroll_q0=2,reduce=shuffle,finish=look,index=32", 1, 5003,
     4, 0},
    {"max", "SP", "lanes_q0=128,regs_q0=4,pack_q0=4,split_q0=3,reduce=shuffle,finish=look", 1, 1537, 0, 0},
    {"max", "SP", "lanes_q0=32,split_q0=2,reduce=shuffle,finish=look", 1, 1, 0, 0},
    {"gemv", "SP", "lanes_p0=4,regs_p0=2,lanes_q0=32,regs_q0=8,pack_q0=4,reduce=shuffle", 13, 515, 0, 1},
    {"gemv", "SP", "lanes_p0=2,lanes_q0=32,regs_q0=8,pack_q0=4,reduce=shuffle,index=32", 7, 516, 0, 0},
};

static uint32_t seed = 7;
static double uniform(void) {
    seed = seed * 1664525 + 1013904223;
    return (double)(seed >> 8) / (1 << 23) - 1;
}

KIT_TEST(agrees_with_the_oracle) {
    char *folder = kit_tempdir();
    for (size_t k = 0; k < sizeof RUNS / sizeof *RUNS; ++k) {
        atn_ctx *ctx = kit_ctx();
        const char *text = atn_shipped_find(RUNS[k].kernel);
        atn_define define = {"USED_FLOAT", RUNS[k].type};
        atn_sequence *sequence;
        kit_ok(ctx, atn_sequence_parse(ctx, "pieces.atn", text, strlen(text),
                                       &(atn_parse_options){.defines = &define, .n_defines = 1}, NULL, &sequence));
        const atn_graph *g = sequence->step[0];
        atn_view views[4];
        char *data[4];
        for (int32_t n = 0; n < g->n_objects; ++n) {
            const atn_object *o = &g->objects[n];
            size_t bytes = atn_type_bytes(o->type);
            int64_t columns = !o->written ? RUNS[k].columns : RUNS[k].rows, rows = o->rank == 2 ? RUNS[k].rows : 1;
            int64_t pitch = columns + (o->rank == 2 ? RUNS[k].gap : 0), before = o->written ? 0 : RUNS[k].offset;
            data[n] = aligned_alloc(16, ((size_t)(pitch * rows + before) * bytes + 15) / 16 * 16);
            assert_non_null(data[n]);
            views[n] = (atn_view){.data = data[n] + (size_t)before * bytes,
                                  .type = o->type,
                                  .rank = o->rank,
                                  .size = {columns, rows, 1},
                                  .pitch = pitch};
            for (int64_t i = 0; i < pitch * rows; ++i) {
                double value = uniform();
                if (strcmp(RUNS[k].kernel, "max") == 0) value = floor(8 * value); /* the first of equal ones counts */
                atn_element_store(o->type, (double[2]){o->written || i % pitch >= columns ? NAN : value, 0}, 0,
                                  (char *)views[n].data + (size_t)i * bytes);
            }
        }
        atn_variant v = atn_variant_plain();
        kit_ok(ctx, atn_variant_parse(ctx, &v, RUNS[k].variant));
        atn_status status = emulate_run(ctx, g, &v, views, folder);
        if (status == ATN_ERR_DEVICE) skip();
        kit_ok(ctx, status);
        atn_eval_options options = atn_variant_arithmetic(g, &v, &CUDA);
        atn_bindings frame = {.views = views};
        atn_eval_result *oracle;
        atn_eval_mismatch m = {0};
        kit_ok(ctx, atn_eval_run(ctx, g, &frame, &options, &oracle));
        if (!atn_eval_verify(g, oracle, views, NULL, 0, &m))
            fail_msg("%s %s: %s(%lld): %.9g, wanted %.9g +- %.3g", RUNS[k].kernel, RUNS[k].variant,
                     g->objects[m.object].name, (long long)m.at[0], m.got[0], m.wanted[0], m.bound);
        atn_eval_free(oracle);
        for (int32_t n = 0; n < g->n_objects; ++n) free(data[n]);
        atn_sequence_free(sequence);
        kit_free(ctx);
    }
    kit_remove(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(agrees_with_the_oracle)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
