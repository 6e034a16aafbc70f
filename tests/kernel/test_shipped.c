/* The shipped kernels: variants of each, on every device that is here, at sizes that straddle the tiles' edges, held
 * against the oracle. ATTUNE_TEST_ALL=1 takes all sizes and types; else
 * there are few sizes, and fewer on devices other than the host, which share the generator. */
#include "testkit.h"

#include "base/file.h"
#include "base/memory.h"
#include "shipped_arrays.h"
#include "support/held.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct shipped {
    const char *file;
    const char *host[8];  /* variants worth holding: the plain one and the estimate are always held */
    const char *items[8]; /* on devices with work-groups */
} shipped;

static const shipped KERNELS[] = {
    {"add",
     {"vec_p0=8,regs_p0=2,seq_p0=2,stream=1", "regs_p1=3,seq_p0=5,schedule=dynamic,chunk=2,collapse=1"},
     {"lanes_p0=16,lanes_p1=4,regs_p1=2", "lanes_p0=32,regs_p0=4,pack_p0=4,groups=3", "lanes_p0=8,seq_p1=3,index=32"}},
    {"scale", {"vec_p0=4,regs_p1=2"}, {"lanes_p0=64"}},
    {"transpose",
     {"vec_p0=8,regs_p1=4", "vec_p1=4", "regs_p0=16,vec_p1=4,seq_p1=2,stream=1", "regs_p0=8,vec_p1=8,regs_p1=2",
      "regs_p0=16,vec_p1=2,seq_p0=2", "regs_p0=16,vec_p1=16"},
     {"lanes_p0=16,lanes_p1=16", "lanes_p0=8,regs_p1=4,stage=1",
      "lanes_p0=8,lanes_p1=4,regs_p0=2,regs_p1=4,stage=1,wide=2,pad=1"}},
    {"laplace2d",
     {"vec_p0=16,regs_p0=2", "vec_p0=8,regs_p1=3,seq_p1=2", "vec_p0=4,seq_p0=4,stage=1"},
     {"lanes_p0=16,lanes_p1=8,stage=1", "lanes_p0=32,lanes_p1=2,regs_p1=4,stage=1,pad=1", "lanes_p0=64,regs_p0=2"}},
    {"laplace3d",
     {"vec_p0=8,regs_p1=2,regs_p2=2", "vec_p0=4,seq_p0=3,seq_p1=2,seq_p2=2,collapse=1", "vec_p0=4,regs_p2=3,stage=1",
      "vec_p1=4,regs_p0=4,seq_p2=3"},
     {"lanes_p0=16,lanes_p1=4,lanes_p2=2", "lanes_p0=16,lanes_p1=4,regs_p2=4,stage=1,pad=1",
      "lanes_p0=8,lanes_p1=4,lanes_p2=4,regs_p1=2,stage=1,wide=2", "lanes_p0=32,seq_p2=4,stage=1,index=32",
      "lanes_p0=4,lanes_p1=2,lanes_p2=4,regs_p0=2,pack_p0=2,seq_p1=2,stage=1,stage_swap=1"}},
    {"gemm_batch",
     {"vec_p0=8,regs_p1=4,regs_p2=2", "vec_p0=4,regs_p1=3,tile_q0=16,stage=1,stage_swap=2,seq_p0=2,seq_p1=2",
      "vec_p0=4,regs_p0=2,split_q0=3,seq_p2=2", "vec_q0=4,regs_p2=2", "vec_p0=4,regs_p2=2,tile_q0=8,stage=1,seq_p1=2"},
     {"lanes_p0=8,lanes_p1=8,regs_p2=2,tile_q0=8,stage=1", "lanes_p0=8,lanes_p1=4,lanes_p2=2,tile_q0=16,stage=2,pad=1",
      "lanes_p0=16,lanes_p2=4,tile_q0=7,stage=1,stage_swap=2,wide=4",
      "lanes_p0=4,lanes_p1=2,lanes_p2=2,lanes_q0=4,index=32"}},
    {"l2norm",
     {"vec_q0=16,regs_q0=4,split_q0=16", "regs_q0=3,unroll_q0=2", "vec_q0=8,split_q0=5,accumulate=64"},
     {"lanes_q0=64,split_q0=8,finish=last", "lanes_q0=128,regs_q0=2,split_q0=4,finish=launch",
      "lanes_q0=32,split_q0=16,finish=atomic", "lanes_q0=32,reduce=shuffle", "lanes_q0=8,accumulate=64,split_q0=3",
      "lanes_q0=128,regs_q0=2,split_q0=5,reduce=shuffle,finish=last"}},
    {"dot", {"vec_q0=8,regs_q0=2"}, {"lanes_q0=16,regs_q0=2"}},
    {"max",
     {"vec_q0=16,regs_q0=2,split_q0=7", "vec_q0=4", "split_q0=64"},
     {"lanes_q0=64,split_q0=8,finish=last", "lanes_q0=32,regs_q0=4,split_q0=5", "lanes_q0=16,reduce=shuffle",
      "lanes_q0=256,regs_q0=2,split_q0=3,reduce=shuffle,finish=last", "lanes_q0=64,split_q0=3,reduce=shuffle"}},
    {"gemv",
     {"vec_q0=16,regs_p0=4", "vec_p0=8", "vec_q0=8,regs_q0=2,split_q0=3"},
     {"lanes_q0=32,lanes_p0=4", "lanes_q0=8,lanes_p0=8,reduce=shuffle", "lanes_p0=64,tile_q0=32,stage=1",
      "lanes_p0=32,split_q0=4", "lanes_p0=16,tile_q0=16,stage=2",
      "lanes_q0=64,lanes_p0=2,regs_p0=2,regs_q0=2,reduce=shuffle"}},
    {"gemm",
     {"vec_p0=16,regs_p0=2,regs_p1=4,seq_p1=2,tile_q0=32,stage=1,unroll_q0=2",
      "vec_p0=8,regs_p1=3,tile_q0=16,stage=1,stage_swap=2,seq_p0=2,seq_p1=3", "vec_p0=4,regs_p0=2,regs_p1=2,split_q0=3",
      "vec_q0=8,regs_p1=2"},
     {"lanes_p0=8,lanes_p1=8,regs_p0=4,regs_p1=2,pack_p0=4,tile_q0=8,stage=1,stage_swap=2",
      "lanes_p0=16,lanes_p1=8,regs_p0=2,regs_p1=4,tile_q0=16,stage=2,pad=1,unroll_q0=4",
      "lanes_p0=16,lanes_p1=4,tile_q0=7,stage=2", "lanes_p0=8,lanes_p1=4,lanes_q0=4",
      "lanes_p0=16,split_q0=3,tile_q0=8,stage=1",
      "lanes_p0=8,lanes_p1=8,regs_p0=4,regs_p1=4,pack_p0=4,pack_p1=2,tile_q0=8,stage=2,stage_swap=2,wide=4,pad=4,"
      "resident=2",
      "lanes_p0=16,lanes_p1=4,regs_p1=2,tile_q0=12,stage=1,wide=2,index=32"}},
    {"move", {"vec_p0=8,regs_p0=2,stream=1", "seq_p0=5"}, {"lanes_p0=64,regs_p0=2", "lanes_p0=32,index=32"}},
    {"agree", {"vec_p0=8,regs_p1=2", "seq_p0=5,seq_p1=3"}, {"lanes_p0=16,lanes_p1=4", "lanes_p0=8,regs_p1=2,index=32"}},
    {"estep",
     {"vec_p0=8,regs_p0=2,unroll_q0=2,exp=polynomial", "vec_p0=4,seq_p0=3,tile_q0=32,stage=1", "vec_q0=8,regs_p0=3",
      "vec_p0=8,split_q0=3"},
     {"lanes_p0=16,regs_p0=4,tile_q0=32,stage=1,unroll_q0=4,exp=native", "lanes_p0=8,tile_q0=16,stage=2",
      "lanes_p0=8,lanes_q0=8,exp=polynomial", "lanes_p0=32,split_q0=4"}},
    {"estep_compat",
     {"vec_p0=8,regs_p0=2,exp=polynomial", "vec_q0=8,regs_p0=3"},
     {"lanes_p0=16,regs_p0=4,tile_q0=32,stage=1,unroll_q0=4,exp=native", "lanes_p0=8,lanes_q0=8,exp=polynomial"}},
    {"estep_near",
     {"vec_p0=8,regs_p0=2,exp=polynomial", "vec_p0=16,seq_p0=2,seq_p1=3,exp=native,degree=5,guard=0",
      "vec_p0=4,exp=polynomial,fast=1", "regs_p0=3,schedule=dynamic"},
     {"lanes_p0=16,regs_p0=4,exp=native", "lanes_p0=32,lanes_p1=2,regs_p1=2,exp=polynomial,guard=0",
      "lanes_p0=8,lanes_q0=4,exp=native,fast=1,guard=0,index=32"}},
    {"nearest",
     {"vec_p0=8,regs_p0=2", "vec_p0=16,seq_p0=2,seq_p1=3,guard=0", "regs_p0=3,schedule=dynamic", "regs_q0=2"},
     {"lanes_p0=16,regs_p0=4", "lanes_p0=32,lanes_p1=2,regs_p1=2,guard=0", "lanes_p0=8,lanes_q0=4,guard=0,index=32"}},
    {"around",
     {"vec_p0=8,regs_p0=2,exp=polynomial", "vec_p0=16,seq_p1=3,exp=native,degree=5,guard=0", "regs_p0=3"},
     {"lanes_p0=16,regs_p0=2,exp=native", "lanes_p0=32,lanes_p1=2,exp=polynomial,guard=0"}},
    {"spread",
     {"vec_q0=8,regs_q0=2,split_q0=4", "vec_q0=4"},
     {"lanes_q0=64,split_q0=8,finish=last", "lanes_q0=32,reduce=shuffle"}},
    {"mstep",
     {"vec_q0=8,regs_q0=2,split_q0=4", "vec_q0=4"},
     {"lanes_q0=64,split_q0=8,finish=last", "lanes_q0=32,regs_q0=2,split_q0=4", "lanes_q0=32,reduce=shuffle"}},
    {"redblack",
     {"vec_p0=8,seq_p0=2", "regs_p0=2,regs_p1=3,schedule=dynamic", "vec_p0=4,regs_p1=2"},
     {"lanes_p0=16,lanes_p1=4", "lanes_p0=8,lanes_p1=2,regs_p0=2,pack_p0=2,regs_p1=3",
      "lanes_p0=32,seq_p1=4,groups=2,index=32"}},
    {"shift_brute",
     {"vec_q0=8,regs_q0=2", "vec_p0=8,regs_p0=2", "regs_p0=3,seq_p0=2", "vec_q0=4,split_q0=3"},
     {"lanes_q0=64,regs_q0=2", "lanes_p0=16,lanes_q0=8,index=32", "lanes_q0=32,reduce=shuffle",
      "lanes_q0=16,split_q0=3"}},
    {"shift_model",
     {"vec_q0=8,regs_q0=2", "vec_p0=8,regs_p0=2", "split_q0=3"},
     {"lanes_q0=64,regs_q0=2", "lanes_p0=16,lanes_q0=8,index=32", "lanes_q0=32,reduce=shuffle"}},
    {"shift_lookup",
     {"seq_p0=3,guard=0", "split_q0=3,schedule=dynamic", "vec_p0=8,guard=0", "vec_q0=4,regs_q0=2"},
     {"lanes_q0=64", "lanes_p0=16,lanes_q0=8,guard=0,index=32", "lanes_q0=32,reduce=shuffle,guard=0",
      "lanes_q0=16,split_q0=3", "lanes_q0=32,regs_q0=2,guard=0"}},
    {"shift_mark",
     {"seq_p0=3,guard=0", "seq_p1=2,schedule=dynamic"},
     {"lanes_p0=64", "lanes_p0=16,lanes_p1=2,guard=0,index=32", "lanes_p0=32,guard=0"}},
    {"above", {"vec_p0=16", "seq_p0=5,regs_p1=2"}, {"lanes_p0=32", "lanes_p0=8,lanes_p1=2,index=32"}},
    {"above16", {"vec_p0=16"}, {"lanes_p0=32"}},
    {"median_bits", {"vec_p0=8,regs_p1=2", "seq_p0=5,seq_p1=3"}, {"lanes_p0=16,lanes_p1=4", "lanes_p0=32,index=32"}},
    {"shift_sum", {"vec_q0=8,regs_q0=2", "regs_p0=3"}, {"lanes_q0=64", "lanes_q0=32,reduce=shuffle"}},
    {"phase_steps", {"vec_p0=8,regs_p0=2", "seq_p0=3"}, {"lanes_p0=64", "lanes_p0=16,regs_p0=2,index=32"}},
    {"unwrap_load", {"vec_p0=8,regs_p1=2"}, {"lanes_p0=16,lanes_p1=4"}},
    {"unwrap_gather", {"vec_p0=8,regs_p1=2"}, {"lanes_p0=16,lanes_p1=4"}},
    {"unwrap_pair", {"vec_p0=8,regs_p1=2"}, {"lanes_p0=16,lanes_p1=4"}},
    {"unwrap_redblack", {"vec_p0=8,regs_p1=2"}, {"lanes_p0=16,lanes_p1=4"}},
    {"unwrap_lift", {"vec_p0=8,regs_p1=2", "vec_p0=4,regs_p1=2"}, {"lanes_p0=16,lanes_p1=4"}},
    {"unwrap_norm", {"vec_q0=8"}, {"lanes_q0=32"}},
    {"unwrap_residual_w", {"vec_p0=8,regs_p1=2"}, {"lanes_p0=16,lanes_p1=4"}},
    {"unwrap_first", {"vec_p0=8,regs_p1=2"}, {"lanes_p0=16,lanes_p1=4"}},
    {"unwrap_first_w", {"vec_p0=8,regs_p1=2"}, {"lanes_p0=16,lanes_p1=4"}},
    {"unwrap_sweep", {"vec_p0=8,regs_p1=2"}, {"lanes_p0=16,lanes_p1=4"}},
    {"unwrap_sweep_w", {"vec_p0=8,regs_p1=2"}, {"lanes_p0=16,lanes_p1=4"}},
    {"unwrap_restrict", {"vec_p0=8,regs_p1=2"}, {"lanes_p0=16,lanes_p1=4"}},
    {"unwrap_restrict_w", {"vec_p0=8,regs_p1=2"}, {"lanes_p0=16,lanes_p1=4"}},
    {"unwrap_raise", {"vec_p0=16,regs_p1=2", "vec_p0=4,regs_p1=2"}, {"lanes_p0=16,lanes_p1=4"}},
    {"unwrap_raise_w", {"vec_p0=8,regs_p1=2"}, {"lanes_p0=16,lanes_p1=4"}},
    {"unwrap_coarsen", {"vec_p0=8,regs_p1=2"}, {"lanes_p0=16,lanes_p1=4"}},
    {"unwrap_grade", {"vec_p0=8,regs_p1=2"}, {"lanes_p0=16,lanes_p1=4"}},
    {"unwrap_edges", {"vec_p0=8,regs_p1=2"}, {"lanes_p0=16,lanes_p1=4"}},
    {"unwrap_apply", {"vec_p0=8,regs_p1=2"}, {"lanes_p0=16,lanes_p1=4"}},
    {"unwrap_step", {"vec_p0=8"}, {"lanes_p0=32"}},
    {"unwrap_turn", {"vec_p0=8"}, {"lanes_p0=32"}},
    {"unwrap_squares", {"vec_q0=8"}, {"lanes_q0=32"}},
    {"unwrap_survey", {"vec_q0=8"}, {"lanes_q0=32"}},
    {"unwrap_phasor", {"vec_q0=8"}, {"lanes_q0=32"}},
    {"unwrap_report", {"vec_q0=8"}, {"lanes_q0=32"}},
    {"unwrap_finish", {"vec_p0=8,regs_p1=2"}, {"lanes_p0=16,lanes_p1=4"}},
    {"lattice_score",
     {"vec_p0=16,regs_p0=2,guard=0", "vec_p0=8,seq_p1=3", "regs_p0=3,schedule=dynamic"},
     {"lanes_p0=32,guard=0", "lanes_p0=16,lanes_p1=2,guard=0,index=32"}},
    {"lattice_pick",
     {"vec_q0=16,exp=polynomial", "regs_q0=2,seq_p0=3"},
     {"lanes_p0=32,exp=native", "lanes_q0=32,lanes_p0=2"}},
    {"lattice_refine",
     {"vec_p0=8,guard=0", "seq_p1=3,schedule=dynamic"},
     {"lanes_p0=8,lanes_p1=4,guard=0", "lanes_p0=16,guard=0,index=32"}},
    {"spmv",
     {"seq_p0=4,schedule=dynamic", "vec_q0=4,guard=0", "regs_q0=2,unroll_q0=2"},
     {"lanes_p0=16", "lanes_q0=4,lanes_p0=8", "lanes_p0=8,seq_p0=2,guard=0,index=32"}},
};

static atn_ctx *ctx;
static atn_devices *devices;

static atn_sequence *parse(const char *file, const char *type) {
    char path[512], *xml;
    size_t length;
    snprintf(path, sizeof path, "%s/kernels/%s.atn", ATN_SOURCE_DIR, file);
    kit_ok(ctx, atn_file_read(ctx, path, 1 << 20, &xml, &length));
    atn_define define = {"USED_FLOAT", type};
    atn_sequence *sequence;
    kit_ok(ctx, atn_sequence_parse(ctx, file, xml, length, &(atn_parse_options){.defines = &define, .n_defines = 1},
                                   NULL, &sequence));
    atn_free(ctx, xml);
    return sequence;
}

static bool same_arithmetic(const atn_eval_options *a, const atn_eval_options *b) {
    return memcmp(a->unit, b->unit, sizeof a->unit) == 0 && a->exp_error == b->exp_error &&
           a->exp_slope == b->exp_slope && a->fast == b->fast;
}

/* One kernel at one size on one device: all variants, or the estimate and, on the host, the first that it has. */
static void hold(const shipped *s, const atn_graph *g, atn_device *device, const int64_t mnk[3], bool few) {
    shipped_arrays arrays;
    if (!shipped_arrays_make(ctx, s->file, g, mnk, &arrays)) return;
    atn_frame frame = {.views = arrays.views, .params = (const double(*)[2])arrays.params};
    const atn_device_info *info = atn_device_get_info(device);
    const char *const *texts = strcmp(info->backend, "host") == 0 ? s->host : s->items;
    held_case c = {g, arrays.views, (const double(*)[2])arrays.params};
    atn_eval_options asked = {0};
    atn_eval_result *oracle = NULL;
    bool host = strcmp(info->backend, "host") == 0;
    int end = few ? host : 8;
    for (int n = few ? -1 : -2; n < end && n < 8 && (n < 0 || texts[n]); ++n) {
        atn_variant v = n == -1 ? atn_variant_estimate(g, info, NULL) : atn_variant_plain();
        if (n >= 0) kit_ok(ctx, atn_variant_parse(ctx, &v, texts[n]));
        atn_eval_options options = atn_variant_arithmetic(g, &v, info);
        if (!oracle || !same_arithmetic(&options, &asked)) { /* what it says holds for all variants of one arithmetic */
            atn_eval_free(oracle);
            kit_ok(ctx, atn_eval_run(ctx, g, &frame, &options, &oracle));
            asked = options;
        }
        atn_status status = held_run(device, &c, &v, oracle);
        if (status == ATN_ERR_UNSUPPORTED && n >= 0) {
            ++end;
            continue;
        }
        if (status != ATN_OK)
            fail_msg("%s at m=%d n=%d k=%d on %s, variant '%s': %s: %s", s->file, (int)mnk[0], (int)mnk[1], (int)mnk[2],
                     info->backend,
                     n == -2   ? "plain"
                     : n == -1 ? "estimate"
                               : texts[n],
                     atn_status_name(status), atn_ctx_message(ctx));
    }
    atn_eval_free(oracle);
    shipped_arrays_free(&arrays);
}

/* Those have few sizes and variants here: tests of the application hold their results against the truth. */
static bool is_of_application(const char *name) {
    static const char *const BEGINNINGS[] = {"unwrap_", "lattice_", "shift_", "above", "median_bits", "phase_steps"};
    for (size_t k = 0; k < sizeof BEGINNINGS / sizeof *BEGINNINGS; ++k)
        if (strncmp(name, BEGINNINGS[k], strlen(BEGINNINGS[k])) == 0) return true;
    return false;
}

static void all_kernels(void **state) {
    (void)state;
    static const int64_t SIZES[][3] = {{37, 70, 45},  {1, 1, 1}, {0, 0, 0},     {3, 257, 0},
                                       {64, 128, 64}, {5, 0, 3}, {130, 33, 100}};
    const char *all = getenv("ATTUNE_TEST_ALL"), *only = getenv("ATTUNE_TEST_KERNEL");
    static const int64_t SMALL[][3] = {{5, 19, 11}}; /* for simulators, which take their time */
    bool small = getenv("ATTUNE_TEST_SMALL") != NULL;
    size_t sizes = small ? 1 : sizeof SIZES / sizeof *SIZES, tried = 0;
    for (int32_t d = 0; d < atn_devices_count(devices); ++d) {
        atn_device *device;
        if (!kit_wants(atn_devices_info(devices, d)->backend)) continue;
        kit_ok(ctx, atn_device_open(devices, d, &device));
        print_message("    on %s: %s\n", atn_device_get_info(device)->backend, atn_device_get_info(device)->name);
        for (size_t k = 0; k < sizeof KERNELS / sizeof *KERNELS; ++k) {
            if (only && strcmp(only, KERNELS[k].file) != 0) continue;
            static const char *const TYPES[] = {"SP", "DP"};
            for (int t = 0; t < (all ? 2 : 1); ++t) {
                if (t == 1 && !atn_device_get_info(device)->fp64) continue;
                atn_sequence *sequence =
                    parse(KERNELS[k].file, TYPES[(t + (int)k) % 2 && atn_device_get_info(device)->fp64]);
                bool few = !all && !only && is_of_application(KERNELS[k].file);
                if (few && small && k % 2) { /* a simulator takes every other of those a day */
                    atn_sequence_free(sequence);
                    continue;
                }
                bool host = strcmp(atn_device_get_info(device)->backend, "host") == 0;
                size_t most = all || only ? sizes : few ? host ? 2 : 1 : host ? 5 : 2;
                for (size_t n = 0; n < sizes && n < most; ++n, ++tried)
                    hold(&KERNELS[k], sequence->step[0], device, small ? SMALL[n] : SIZES[n], few);
                atn_sequence_free(sequence);
            }
        }
        atn_device_close(device);
    }
    print_message("    %zu cases of kernel, type and size\n", tried);
    assert_true(tried > 0);
}

static int setup(void **state) {
    (void)state;
    ctx = kit_ctx();
    kit_ok(ctx, atn_devices_find(ctx, &devices));
    return 0;
}

static int teardown(void **state) {
    (void)state;
    atn_devices_free(devices);
    kit_free(ctx);
    return 0;
}

/* For kernel/oclgrind: what a checker must find. ATTUNE_TEST_PLANT=race or uninitialized. */
static void planted(void **state) {
    (void)state;
    static const char SOURCE[] = "__kernel void race(__global int *a) { a[0] = (int)get_local_id(0); }\n"
                                 "__kernel void uninitialized(__global int *a) {\n"
                                 "    __local int t[2];\n"
                                 "    t[0] = 1;\n"
                                 "    barrier(CLK_LOCAL_MEM_FENCE);\n"
                                 "    a[get_local_id(0)] = t[get_local_id(0)];\n"
                                 "}\n";
    int32_t zeros[2] = {0};
    for (int32_t d = 0; d < atn_devices_count(devices); ++d) {
        if (strcmp(atn_devices_info(devices, d)->backend, "opencl") != 0) continue;
        atn_device *device;
        atn_module *module;
        atn_function *function;
        atn_buffer *buffer;
        kit_ok(ctx, atn_device_open(devices, d, &device));
        kit_ok(ctx, atn_module_build(device, &(atn_build){.name = "planted", .source = SOURCE}, &module));
        kit_ok(ctx, atn_module_function(module, getenv("ATTUNE_TEST_PLANT"), &function));
        kit_ok(ctx, atn_buffer_create(device, sizeof zeros, &buffer));
        kit_ok(ctx, atn_buffer_put(NULL, buffer, 0, zeros, sizeof zeros));
        atn_arg arg = {.buffer = buffer};
        kit_ok(ctx, atn_function_launch(atn_device_queue(device), function,
                                        &(atn_launch){.groups = {1}, .items = {2}, .args = &arg, .n_args = 1}));
        kit_ok(ctx, atn_buffer_get(NULL, buffer, 0, zeros, sizeof zeros));
        atn_buffer_free(buffer);
        atn_module_free(module);
        atn_device_close(device);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_kernels)}, plants[] = {cmocka_unit_test(planted)};
    if (getenv("ATTUNE_TEST_PLANT")) return cmocka_run_group_tests(plants, setup, teardown);
    return cmocka_run_group_tests(tests, setup, teardown);
}
