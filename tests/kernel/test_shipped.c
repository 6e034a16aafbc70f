/* The shipped kernels: variants of each, on every device that is here, at sizes that straddle the tiles' edges, held
 * against the oracle. ATTUNE_TEST_ALL=1 takes all kernels, sizes and types; else there are few sizes, and every kernel
 * has its turn within some days. */
#include "support/shared.h"

#include "base/compare.h"
#include "bench/estimate.h"
#include "shipped_arrays.h"
#include "support/held.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Variants worth holding, of all kinds of kernels: one is held at those that fit it, the plain one and the estimate
 * always. Kernels begin at different places, so that all of them have their turn. */
static const char *const HOST[] = {
    "vec_p0=8,regs_p0=2,seq_p0=2,stream=1",
    "regs_p1=3,seq_p0=5,schedule=dynamic,chunk=2,collapse=1",
    "vec_p0=4,regs_p1=2",
    "vec_p0=8,regs_p1=4",
    "vec_p1=4",
    "regs_p0=16,vec_p1=4,seq_p1=2,stream=1",
    "regs_p0=8,vec_p1=8,regs_p1=2",
    "regs_p0=16,vec_p1=2,seq_p0=2",
    "regs_p0=16,vec_p1=16",
    "vec_p0=16,regs_p0=2",
    "vec_p0=8,regs_p1=3,seq_p1=2",
    "vec_p0=4,seq_p0=4,stage=1",
    "vec_q0=16,regs_q0=4,split_q0=16",
    "regs_q0=3,unroll_q0=2",
    "vec_q0=8,split_q0=5,accumulate=64",
    "vec_q0=8,regs_q0=2",
    "vec_q0=16,regs_q0=2,split_q0=7",
    "vec_q0=4",
    "split_q0=64",
    "vec_q0=16,regs_p0=4",
    "vec_p0=8",
    "vec_q0=8,regs_q0=2,split_q0=3",
    "vec_p0=16,regs_p0=2,regs_p1=4,seq_p1=2,tile_q0=32,stage=1,unroll_q0=2",
    "vec_p0=8,regs_p1=3,tile_q0=16,stage=1,stage_swap=2,seq_p0=2,seq_p1=3",
    "vec_p0=4,regs_p0=2,regs_p1=2,split_q0=3",
    "vec_q0=8,regs_p1=2",
    "vec_p0=8,regs_p0=2,stream=1",
    "seq_p0=5",
    "vec_p0=8,regs_p1=2",
    "seq_p0=5,seq_p1=3",
    "vec_p0=8,regs_p0=2,unroll_q0=2,exp=polynomial",
    "vec_p0=4,seq_p0=3,tile_q0=32,stage=1",
    "vec_q0=8,regs_p0=3",
    "vec_p0=8,split_q0=3",
    "vec_p0=8,regs_p0=2,exp=polynomial",
    "vec_p0=16,seq_p0=2,seq_p1=3,exp=native,degree=5,guard=0",
    "vec_p0=4,exp=polynomial,fast=1",
    "regs_p0=3,schedule=dynamic",
    "vec_p0=8,regs_p0=2",
    "vec_p0=16,seq_p0=2,seq_p1=3,guard=0",
    "regs_q0=2",
    "vec_p0=16,seq_p1=3,exp=native,degree=5,guard=0",
    "regs_p0=3",
    "vec_q0=8,regs_q0=2,split_q0=4",
    "vec_p0=8,seq_p0=2",
    "regs_p0=2,regs_p1=3,schedule=dynamic",
    "regs_p0=3,seq_p0=2",
    "vec_q0=4,split_q0=3",
    "split_q0=3",
    "seq_p0=3,guard=0",
    "split_q0=3,schedule=dynamic",
    "vec_p0=8,guard=0",
    "vec_q0=4,regs_q0=2",
    "seq_p1=2,schedule=dynamic",
    "vec_p0=16",
    "seq_p0=5,regs_p1=2",
    "seq_p0=3",
    "vec_q0=8",
    "vec_p0=16,regs_p1=2",
    "vec_p0=16,regs_p0=2,guard=0",
    "vec_p0=8,seq_p1=3",
    "vec_q0=16,exp=polynomial",
    "regs_q0=2,seq_p0=3",
    "seq_p1=3,schedule=dynamic",
    "seq_p0=4,schedule=dynamic",
    "vec_q0=4,guard=0",
    "regs_q0=2,unroll_q0=2",
    /* panels that are turned by fours, by twos, one by one */
    "vec_p0=4,regs_p0=3,seq_p0=2,regs_p1=8,seq_p1=2,tile_q0=16,stage=1,stage_swap=2,wide=4",
    "vec_p0=2,regs_p0=2,seq_p0=3,regs_p1=6,seq_p1=2,tile_q0=7,stage=1,stage_swap=2",
    "vec_p0=8,seq_p0=2,regs_p1=3,seq_p1=3,tile_q0=5,stage=1,stage_swap=3",
};
/* On devices with work-groups. */
static const char *const ITEMS[] = {
    "lanes_p0=16,lanes_p1=4,regs_p1=2",
    "lanes_p0=32,regs_p0=4,pack_p0=4,groups=3",
    "lanes_p0=8,seq_p1=3,index=32",
    "lanes_p0=64",
    "lanes_p0=16,lanes_p1=16",
    "lanes_p0=8,regs_p1=4,stage=1",
    "lanes_p0=8,lanes_p1=4,regs_p0=2,regs_p1=4,stage=1,wide=2,pad=1",
    "lanes_p0=16,lanes_p1=8,stage=1",
    "lanes_p0=32,lanes_p1=2,regs_p1=4,stage=1,pad=1",
    "lanes_p0=64,regs_p0=2",
    "lanes_q0=64,split_q0=8,finish=last",
    "lanes_q0=128,regs_q0=2,split_q0=4,finish=launch",
    "lanes_q0=32,split_q0=16,finish=atomic",
    "lanes_q0=32,reduce=shuffle",
    "lanes_q0=8,accumulate=64,split_q0=3",
    "lanes_q0=128,regs_q0=2,split_q0=5,reduce=shuffle,finish=last",
    "lanes_q0=16,regs_q0=2",
    "lanes_q0=32,regs_q0=4,split_q0=5",
    "lanes_q0=16,reduce=shuffle",
    "lanes_q0=256,regs_q0=2,split_q0=3,reduce=shuffle,finish=last",
    "lanes_q0=64,split_q0=3,reduce=shuffle",
    "lanes_q0=16,regs_q0=4,pack_q0=2,split_q0=3",
    "lanes_q0=64,regs_q0=8,pack_q0=4,split_q0=3,stage=1,reduce=shuffle,finish=look",
    "lanes_q0=32,regs_q0=8,pack_q0=4,split_q0=3,reduce=shuffle,finish=look",
    "lanes_q0=16,regs_q0=8,pack_q0=4,split_q0=3,finish=last",
    "lanes_q0=16,lanes_p0=4,regs_p0=2,regs_q0=4,pack_q0=4",
    "lanes_q0=32,lanes_p0=4",
    "lanes_q0=8,lanes_p0=8,reduce=shuffle",
    "lanes_p0=64,tile_q0=32,stage=1",
    "lanes_p0=32,split_q0=4",
    "lanes_p0=16,tile_q0=16,stage=2",
    "lanes_q0=64,lanes_p0=2,regs_p0=2,regs_q0=2,reduce=shuffle",
    "lanes_p0=8,lanes_p1=8,regs_p0=4,regs_p1=2,pack_p0=4,tile_q0=8,stage=1,stage_swap=2",
    "lanes_p0=16,lanes_p1=8,regs_p0=2,regs_p1=4,tile_q0=16,stage=2,pad=1,unroll_q0=4",
    "lanes_p0=16,lanes_p1=4,tile_q0=7,stage=2",
    "lanes_p0=8,lanes_p1=4,lanes_q0=4",
    "lanes_p0=16,split_q0=3,tile_q0=8,stage=1",
    ("lanes_p0=8,lanes_p1=8,regs_p0=4,regs_p1=4,pack_p0=4,pack_p1=2,tile_q0=8,stage=2,stage_swap=2,wide=4,pad=4,"
     "resident=2"),
    "lanes_p0=16,lanes_p1=4,regs_p1=2,tile_q0=12,stage=1,wide=2,index=32",
    "lanes_p0=32,index=32",
    "lanes_p0=16,lanes_p1=4",
    "lanes_p0=8,regs_p1=2,index=32",
    "lanes_p0=16,regs_p0=4,tile_q0=32,stage=1,unroll_q0=4,exp=native",
    "lanes_p0=8,tile_q0=16,stage=2",
    "lanes_p0=8,lanes_q0=8,exp=polynomial",
    "lanes_p0=16,regs_p0=4,exp=native",
    "lanes_p0=32,lanes_p1=2,regs_p1=2,exp=polynomial,guard=0",
    "lanes_p0=8,lanes_q0=4,exp=native,fast=1,guard=0,index=32",
    "lanes_p0=16,regs_p0=4",
    "lanes_p0=32,lanes_p1=2,regs_p1=2,guard=0",
    "lanes_p0=8,lanes_q0=4,guard=0,index=32",
    "lanes_p0=16,regs_p0=2,exp=native",
    "lanes_p0=32,lanes_p1=2,exp=polynomial,guard=0",
    "lanes_q0=32,regs_q0=2,split_q0=4",
    "lanes_p0=8,lanes_p1=2,regs_p0=2,pack_p0=2,regs_p1=3",
    "lanes_p0=32,seq_p1=4,groups=2,index=32",
    "lanes_q0=64,regs_q0=2",
    "lanes_p0=16,lanes_q0=8,index=32",
    "lanes_q0=16,split_q0=3",
    "lanes_q0=64",
    "lanes_p0=16,lanes_q0=8,guard=0,index=32",
    "lanes_q0=32,reduce=shuffle,guard=0",
    "lanes_q0=32,regs_q0=2,guard=0",
    "lanes_p0=16,lanes_p1=2,guard=0,index=32",
    "lanes_p0=32,guard=0",
    "lanes_p0=32",
    "lanes_p0=8,lanes_p1=2,index=32",
    "lanes_p0=16,regs_p0=2,index=32",
    "lanes_q0=32",
    "lanes_p0=32,exp=native",
    "lanes_q0=32,lanes_p0=2",
    "lanes_p0=8,lanes_p1=4,guard=0",
    "lanes_p0=16,guard=0,index=32",
    "lanes_p0=16",
    "lanes_q0=4,lanes_p0=8",
    "lanes_p0=8,seq_p0=2,guard=0,index=32",
};
enum { N_HOST = sizeof HOST / sizeof *HOST, N_ITEMS = sizeof ITEMS / sizeof *ITEMS, USUAL = 2 };

SHARED_DEVICES;

static atn_sequence *parse(const atn_embedded *kernel, const char *type) {
    atn_define define = {"USED_FLOAT", type};
    atn_sequence *sequence;
    kit_ok(ctx, atn_sequence_parse(ctx, kernel->name, kernel->text, strlen(kernel->text),
                                   &(atn_parse_options){.defines = &define, .n_defines = 1}, NULL, &sequence));
    return sequence;
}

static bool same_arithmetic(const atn_eval_options *a, const atn_eval_options *b) {
    return atn_same_bits(a->unit, b->unit, sizeof a->unit) && a->exp_error == b->exp_error &&
           a->exp_slope == b->exp_slope && a->fast == b->fast;
}

/* The first `most` variants that fit, from the one numbered `from` on, as indices; how many. */
static int choose(const atn_graph *g, const atn_device_info *info, size_t from, int most, size_t *chosen) {
    bool host = strcmp(info->backend, "host") == 0;
    const char *const *texts = host ? HOST : ITEMS;
    size_t count = host ? N_HOST : N_ITEMS;
    atn_target target = atn_target_of(info);
    int n = 0;
    for (size_t k = 0; k < count && n < most; ++k) {
        atn_variant v = atn_variant_plain();
        kit_ok(ctx, atn_variant_parse(ctx, &v, texts[(from + k) % count]));
        bool allowed = !v.fast || g->finite; /* NaN and infinities are among what others may make */
        if (allowed && atn_variant_fits(g, &v, &target, NULL)) chosen[n++] = (from + k) % count;
    }
    return n;
}

/* Distinct elements, which made up numbers do not give. */
static bool promises(const atn_graph *g) {
    for (int32_t k = 0; k < g->n_writes; ++k)
        if (g->writes[k].distinct) return true;
    return false;
}

/* One kernel at one size on one device: the estimate, on the host or where there are several the plain variant, and
 * those that are chosen. False: it has no such size. */
static bool hold(const atn_embedded *s, const atn_graph *g, atn_device *device, const int64_t mnk[3], bool few,
                 const size_t *chosen, int n_chosen) {
    shipped_arrays arrays;
    if (!shipped_arrays_make(ctx, s->name, g, mnk, &arrays)) return false;
    atn_bindings frame = {.views = arrays.views, .params = (const double(*)[2])arrays.params};
    const atn_device_info *info = atn_device_get_info(device);
    const char *const *texts = strcmp(info->backend, "host") == 0 ? HOST : ITEMS;
    held_case c = {g, arrays.views, (const double(*)[2])arrays.params};
    atn_eval_options asked = {0};
    atn_eval_result *oracle = NULL;
    for (int n = few ? -1 : -2; n < n_chosen; ++n) {
        atn_variant v = n == -1 ? atn_variant_estimate(g, info, NULL) : atn_variant_plain();
        if (n >= 0) kit_ok(ctx, atn_variant_parse(ctx, &v, texts[chosen[n]]));
        /* Oclgrind takes partial results of points for values that nobody wrote; they are right on every device.
         * Numbers that are made up do not keep a promise of distinct elements; test_sort does, under Oclgrind as well.
         */
        bool simulated = getenv("ATTUNE_TEST_SMALL") != NULL;
        if (simulated && promises(g)) continue;
        if (simulated && g->blocks[0].rank > 0 && !g->blocks[0].n_accs && atn_variant_splits(&v) > 1) continue;
        atn_eval_options options = atn_variant_arithmetic(g, &v, info);
        if (!oracle || !same_arithmetic(&options, &asked)) { /* what it says holds for all variants of one arithmetic */
            atn_eval_free(oracle);
            kit_ok(ctx, atn_eval_run(ctx, g, &frame, &options, &oracle));
            asked = options;
        }
        atn_status status = held_run(device, &c, &v, oracle);
        if (status == ATN_ERR_UNSUPPORTED && n >= 0) continue;
        /* Oclgrind takes the local memory of both kernels together. */
        bool both = simulated && n >= 0 && atn_variant_splits(&v) > 1 && status == ATN_ERR_MEMORY;
        if (both && strstr(atn_ctx_message(ctx), "CL_OUT_OF_RESOURCES")) continue;
        if (status != ATN_OK)
            fail_msg("%s at m=%d n=%d k=%d on %s, variant '%s': %s: %s", s->name, (int)mnk[0], (int)mnk[1], (int)mnk[2],
                     info->backend,
                     n == -2   ? "plain"
                     : n == -1 ? "estimate"
                               : texts[chosen[n]],
                     atn_status_name(status), atn_ctx_message(ctx));
    }
    atn_eval_free(oracle);
    shipped_arrays_free(&arrays);
    return true;
}

/* Those, and kernels of the benchmark, have few sizes and variants here: tests of the application hold their results
 * against the truth. */
static bool is_of_application(const char *name) {
    static const char *const BEGINNINGS[] = {"unwrap_", "lattice_", "shift_", "above", "median_bits", "phase_steps"};
    for (size_t k = 0; k < sizeof BEGINNINGS / sizeof *BEGINNINGS; ++k)
        if (strncmp(name, BEGINNINGS[k], strlen(BEGINNINGS[k])) == 0) return true;
    return false;
}

static const int64_t SIZES[][3] = {{37, 70, 45},  {1, 1, 1}, {0, 0, 0},     {3, 257, 0},
                                   {64, 128, 64}, {5, 0, 3}, {130, 33, 100}};
static const int64_t SMALL[][3] = {{5, 19, 11}}; /* for simulators, which take their time */

/* One kernel on one device; how many cases. */
static size_t hold_kernel(const atn_embedded *s, size_t number, bool shipped, atn_device *device) {
    static const char *const TYPES[] = {"SP", "DP"};
    const char *all = getenv("ATTUNE_TEST_ALL"), *only = getenv("ATTUNE_TEST_KERNEL");
    bool small = getenv("ATTUNE_TEST_SMALL") != NULL, few = !all && !only && (!shipped || is_of_application(s->name));
    const atn_device_info *info = atn_device_get_info(device);
    bool host = strcmp(info->backend, "host") == 0;
    size_t sizes = small ? 1 : sizeof SIZES / sizeof *SIZES, most = all || only ? sizes
                                                                    : few       ? host ? 2 : 1
                                                                    : host      ? 3
                                                                                : 2;
    size_t tried = 0, chosen[N_HOST > N_ITEMS ? N_HOST : N_ITEMS];
    if (!only && !kit_turn(number, (few ? 8u : 3u) * (host ? 1u : 2u))) return 0;
    number += (size_t)kit_day();
    for (int t = 0; t < (all ? 2 : 1); ++t) {
        if (t == 1 && !info->fp64) continue;
        atn_sequence *sequence = parse(s, TYPES[(t + (int)number) % 2 && info->fp64]);
        const atn_graph *g = sequence->step[0];
        int n_chosen = choose(g, info, number * 5, all || only ? N_HOST + N_ITEMS : few ? host : USUAL, chosen);
        for (size_t n = 0; n < sizes && n < most; ++n)
            tried +=
                hold(s, g, device, small ? SMALL[n] : SIZES[(n + (size_t)kit_day()) % sizes], few, chosen, n_chosen);
        atn_sequence_free(sequence);
    }
    if (tried == 0)
        print_message("    %s: its sizes do not follow from a shape; tests of its program hold it\n", s->name);
    return tried;
}

/* Those that are shipped, and those that estimates are measured with. */
KIT_TEST(all_kernels) {
    const char *only = getenv("ATTUNE_TEST_KERNEL");
    static const atn_embedded *const LISTS[] = {ATN_SHIPPED, ATN_BENCH_KERNELS};
    size_t tried = 0;
    for (int32_t d = 0; d < atn_devices_count(devices); ++d) {
        atn_device *device;
        size_t number = 0;
        if (!kit_wants(atn_devices_info(devices, d)->backend)) continue;
        kit_ok(ctx, atn_device_open(devices, d, &device));
        print_message("    on %s: %s\n", atn_device_get_info(device)->backend, atn_device_get_info(device)->name);
        for (size_t list = 0; list < 2; ++list)
            for (const atn_embedded *s = LISTS[list]; s->name; ++s, ++number)
                if (!only || strcmp(only, s->name) == 0) tried += hold_kernel(s, number, list == 0, device);
        atn_device_close(device);
    }
    print_message("    %zu cases of kernel, type and size\n", tried);
    assert_true(tried > 0);
}

/* Products whose operands a thread packs, in one tile, in several, and where there is nothing to add up. */
KIT_TEST(packed_products) {
    static const char *const TYPES[] = {"SP", "DP"};
    static const size_t PACKED[] = {N_HOST - 3, N_HOST - 2, N_HOST - 1};
    static const int64_t PRODUCTS[][3] = {{16, 24, 0},  {17, 25, 1},  {16, 24, 3},  {40, 49, 16},
                                          {37, 30, 17}, {33, 50, 39}, {48, 48, 64}, {7, 70, 5}};
    atn_device *device;
    kit_ok(ctx, atn_device_open(devices, 0, &device));
    const atn_embedded *gemm = ATN_SHIPPED;
    while (strcmp(gemm->name, "gemm") != 0) ++gemm;
    for (size_t t = 0; t < sizeof TYPES / sizeof *TYPES; ++t) {
        atn_sequence *sequence = parse(gemm, TYPES[t]);
        for (size_t n = 0; n < sizeof PRODUCTS / sizeof *PRODUCTS; ++n)
            assert_true(
                hold(gemm, sequence->step[0], device, PRODUCTS[n], true, PACKED, sizeof PACKED / sizeof *PACKED));
        atn_sequence_free(sequence);
    }
    atn_device_close(device);
}

/* For kernel/oclgrind: what a checker must find. ATTUNE_TEST_PLANT=race or uninitialized. */
KIT_TEST(planted) {
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_kernels), cmocka_unit_test(packed_products)},
                            plants[] = {cmocka_unit_test(planted)};
    if (getenv("ATTUNE_TEST_PLANT")) return cmocka_run_group_tests(plants, setup, teardown);
    return cmocka_run_group_tests(tests, setup, teardown);
}
