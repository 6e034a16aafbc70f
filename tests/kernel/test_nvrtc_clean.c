/* Generated CUDA compiles with NVRTC without a warning: every shipped kernel, plainly and as a variant that uses much
 * of the generator. Needs no GPU. */
#include "testkit.h"

#include "built/built.h"
#include "device/nvrtc.h"
#include "graph/shipped.h"

#include <string.h>

static const struct {
    const char *kernel, *type, *variant;
} CASES[] = {
    {"above", "SP", "lanes_p0=32,lanes_p1=4"},
    {"above16", "SP", "lanes_p0=32,lanes_p1=4"},
    {"add", "DP", "lanes_p0=32,regs_p0=4,pack_p0=4,groups=3,index=32"},
    {"dot", "SP2", ""},
    {"agree", "SP", "lanes_p0=32,lanes_p1=4"},
    {"estep", "SP", "lanes_p0=128,regs_p0=4,tile_q0=128,stage=1,unroll_q0=4,exp=native"},
    {"estep", "SP",
     "matrix=pair,mix=1,degree=5,lanes_p0=128,regs_p0=2,tile_q0=128,unroll_q0=4,stage=1,split_q0=3,exp=native"},
    {"estep", "HP", "matrix=half,mix=2,degree=3,lanes_p0=256,regs_p0=2,tile_q0=256,stage=2,exp=native,index=32"},
    {"estep", "SP", "matrix=half,mix=4,packed=2,lanes_p0=128,regs_p0=4,tile_q0=128,stage=1,exp=native,resident=5"},
    {"estep_compat", "SP", "matrix=half,lanes_p0=64,tile_q0=64,stage=2,exp=native"},
    {"estep_compat", "SP", "lanes_p0=128,regs_p0=4,tile_q0=128,stage=1,unroll_q0=4,exp=native"},
    {"estep_near", "SP", "lanes_p0=64,regs_p0=2,lanes_p1=2,exp=native,guard=0,index=32"},
    {"gemm", "SP",
     "lanes_p0=32,regs_p0=8,pack_p0=4,lanes_p1=8,regs_p1=16,pack_p1=4,tile_q0=8,unroll_q0=8,stage=2,stage_swap=2,wide="
     "4,pad=4,"
     "index=32"},
    {"gemm", "HP", "matrix=half,lanes_p0=16,regs_p0=8,lanes_p1=16,regs_p1=8,tile_q0=32,stage=4,index=32"},
    {"gemm", "SP", "matrix=pair,lanes_p0=8,regs_p0=8,lanes_p1=16,regs_p1=4,tile_q0=16,stage=3"},
    {"gemm", "DP", "matrix=double,lanes_p0=8,regs_p0=8,lanes_p1=16,regs_p1=4,tile_q0=16,stage=3,split_q0=2"},
    {"gemv", "SP", "lanes_q0=32,lanes_p0=8,reduce=shuffle"},
    {"l2norm", "SP", "lanes_q0=256,regs_q0=4,split_q0=64,reduce=shuffle,finish=last"},
    {"laplace2d", "SP", "lanes_p0=32,lanes_p1=8,regs_p1=2,stage=1,pad=1"},
    {"median_bits", "SP", "lanes_p0=32,lanes_p1=4"},
    {"max", "DP", "lanes_q0=128,split_q0=8,finish=launch"},
    {"move", "SP", "lanes_p0=256,regs_p0=2"},
    {"mstep", "SP", "lanes_q0=128,split_q0=64,reduce=shuffle,finish=last"},
    {"nearest", "SP", "lanes_p0=64,lanes_p1=2,guard=0,index=32"},
    {"redblack", "SP", "lanes_p0=32,lanes_p1=4"},
    {"scale", "SP2", "lanes_p0=64"},
    {"scan", "SP", "lanes_q0=256,regs_q0=4,split_q0=64,reduce=shuffle"},
    {"scan", "SP", "lanes_q0=256,regs_q0=16,pack_q0=4,split_q0=256,reduce=shuffle,finish=look,index=32"},
    {"scan", "SP",
     "lanes_q0=512,regs_q0=24,pack_q0=4,split_q0=64,stage=1,reduce=shuffle,finish=look,index=32,resident=4"},
    {"scan", "DP", "lanes_q0=64,regs_q0=4,pack_q0=4,split_q0=100,stage=1,reduce=shuffle,finish=look"},
    {"segments", "SP", "lanes_q0=128,regs_q0=8,split_q0=128,reduce=shuffle,finish=look"},
    {"reduce_by_key", "DP", "lanes_q0=64,regs_q0=4,pack_q0=2,split_q0=16,reduce=shuffle,finish=look"},
    {"reduce_by_key", "DP", "lanes_q0=64,regs_q0=2,split_q0=8,reduce=shuffle"},
    {"sort_scatter", "SP", "lanes_q0=128,regs_q0=4,reduce=shuffle"},
    {"nearest_all", "SP", "matrix=half,lanes_p0=128,tile_q0=128,unroll_q0=2,stage=1,split_q0=16,index=32"},
    {"spmv", "SP", "lanes_p0=16,lanes_q0=8,reduce=shuffle"},
    {"transpose", "SP", "lanes_p0=32,lanes_p1=8,regs_p1=4,stage=1,pad=1"},
};

KIT_TEST(no_warnings) {
    atn_ctx *ctx = kit_ctx();
    atn_nvrtc nvrtc;
    char why[512];
    if (!atn_nvrtc_load(&nvrtc, 0, why, sizeof why)) {
        print_message("    %s\n", why);
        kit_free(ctx);
        skip();
    }
    atn_target target = {.shuffle = true,
                         .matrix = true,
                         .waits = true,
                         .warp = 32,
                         .max_items = 1024,
                         .local_bytes = 48 << 10,
                         .dynamic_bytes = 100 << 10};
    for (size_t k = 0; k < sizeof CASES / sizeof *CASES; ++k) {
        const char *xml = atn_shipped_find(CASES[k].kernel);
        atn_define define = {"USED_FLOAT", CASES[k].type};
        atn_sequence *sequence;
        kit_ok(ctx, atn_sequence_parse(ctx, CASES[k].kernel, xml, strlen(xml),
                                       &(atn_parse_options){.defines = &define, .n_defines = 1}, NULL, &sequence));
        atn_variant variant = atn_variant_plain();
        kit_ok(ctx, atn_variant_parse(ctx, &variant, CASES[k].variant));
        atn_text source = {.ctx = ctx};
        kit_ok(ctx, atn_built_source(ctx, sequence->step[0], &variant, "cuda", &target, &source));
        atn_nvrtc_output output = {0};
        kit_ok(ctx,
               atn_nvrtc_run(ctx, &nvrtc,
                             &(atn_build){.name = CASES[k].kernel, .source = atn_text_str(&source), .timeout_s = 120},
                             "sm_90", &output));
        if (output.warnings > 0) fail_msg("%s: %d warnings: %s", CASES[k].kernel, output.warnings, output.log);
        atn_nvrtc_output_free(ctx, &output);
        atn_text_free(&source);
        atn_sequence_free(sequence);
    }
    kit_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_warnings)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
