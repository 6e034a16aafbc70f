/* Which variant runs: what was tuned at this size, near it, on a device of the same kind; else the estimate. Whatever
 * is wrong with wisdom, kernels run. */
#include "testkit.h"

#include "base/file.h"
#include "graph/shipped.h"
#include "kernel/choose.h"
#include "tune/key.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const atn_device_info HOST = {.backend = "host",
                                     .name = "a CPU",
                                     .arch = "x86_64",
                                     .driver = "gcc 12",
                                     .cores = 8,
                                     .simd = 8,
                                     .max_group = 1,
                                     .fp64 = true};

static kit_log said;
static char *dir;
static atn_ctx *ctx;
static atn_sequence *sequence;
static const atn_graph *graph;

static void open_ctx(void) {
    said = (kit_log){0};
    kit_ok(ctx, atn_ctx_create(
                    &(atn_ctx_settings){
                        .cache_dir = dir, .log = kit_log_line, .log_user = &said, .log_from = ATN_LOG_WARNING},
                    &ctx));
}

static void parse(const char *name) {
    const char *text = atn_shipped_find(name);
    atn_define define = {"USED_FLOAT", "SP"};
    atn_sequence_free(sequence);
    kit_ok(ctx, atn_sequence_parse(ctx, name, text, strlen(text),
                                   &(atn_parse_options){.defines = &define, .n_defines = 1}, NULL, &sequence));
    graph = sequence->step[0];
}

static int setup(void **state) {
    (void)state;
    dir = kit_tempdir();
    open_ctx();
    parse("scale");
    return 0;
}

static int teardown(void **state) {
    (void)state;
    atn_sequence_free(sequence);
    sequence = NULL;
    atn_ctx_free(ctx);
    kit_remove(dir);
    return 0;
}

/* scale: A and B of n rows and columns */
static atn_view views[2];
static const double PARAMS[1][2] = {{2, 0}};

static atn_bindings square(int64_t n) {
    for (int k = 0; k < 2; ++k) views[k] = (atn_view){.type = ATN_SP, .rank = 2, .size = {n, n}, .pitch = n};
    return (atn_bindings){.views = views, .params = PARAMS};
}

static void crown_within(double tolerance, const atn_device_info *info, int64_t n, const char *variant) {
    atn_wisdom *wisdom;
    atn_tune_key key;
    atn_bindings frame = square(n);
    kit_ok(ctx, atn_wisdom_open(ctx, NULL, false, &wisdom));
    kit_ok(ctx, atn_tune_key_make(ctx, graph, info, &frame, false, tolerance, &key));
    atn_wisdom_winner winner = {.variant = variant, .seconds = 0.0123, .low = 0.012, .high = 0.013, .tried = 7};
    winner.fraction_of_peak = 0.71;
    kit_ok(ctx, atn_wisdom_crown(wisdom, &key.key, &winner));
    atn_wisdom_close(wisdom);
}

static void crown(const atn_device_info *info, int64_t n, const char *variant) { crown_within(0, info, n, variant); }

static atn_choice choose(int64_t n) {
    atn_choice choice;
    atn_bindings frame = square(n);
    kit_ok(ctx, atn_choose(ctx, graph, &HOST, &frame, NULL, &choice));
    return choice;
}

/* The origin, and what it is explained with. */
static void expect(int64_t n, atn_origin origin, const char *const *parts) {
    atn_choice choice = choose(n);
    atn_text text = {.ctx = ctx};
    assert_string_equal(atn_origin_name(choice.origin), atn_origin_name(origin));
    atn_choice_explain(&choice, graph, &HOST, &text);
    for (; *parts; ++parts) kit_contains(atn_text_str(&text), *parts);
    atn_text_free(&text);
    atn_choice_free(&choice);
}
#define EXPECT(n, origin, ...) expect(n, origin, (const char *const[]){__VA_ARGS__, NULL})

KIT_TEST(nothing_known_is_an_estimate) {
    EXPECT(100, ATN_ORIGIN_ESTIMATE, "scale at 100 x 100 on host (a CPU): variant ", "an estimate");
    EXPECT(200, ATN_ORIGIN_ESTIMATE, "an estimate"); /* nothing is known at any size, which is not asked again */
    crown(&HOST, 100, "vec_p0=4"); /* it is seen from now on; what another process writes, within a second */
    EXPECT(100, ATN_ORIGIN_EXACT, "vec_p0=4, from wisdom, measured on 20", "at exactly this size; 12.3 ms then, 71 %");
    atn_choice choice;
    kit_ok(ctx, atn_choose(ctx, graph, &HOST, NULL, NULL, &choice)); /* no sizes */
    assert_int_equal(choice.origin, ATN_ORIGIN_ESTIMATE);
    atn_choice_free(&choice);
    assert_int_equal(atomic_load(&said.warnings), 0);
}

/* Of any size and nothing known: the choice stays, with the sizes of now, until something is tuned. */
KIT_TEST(a_choice_for_other_sizes) {
    static const atn_choose_options ANY = {.any_size = true};
    atn_choice first, next, tuned;
    atn_bindings frame = square(100);
    kit_ok(ctx, atn_choose(ctx, graph, &HOST, &frame, &ANY, &first));
    frame = square(300);
    kit_ok(ctx, atn_choose_again(ctx, graph, &HOST, &frame, &ANY, &first, &next));
    assert_int_equal(next.origin, ATN_ORIGIN_ESTIMATE);
    assert_int_equal(next.shape[0], 300);
    assert_memory_equal(&next.variant, &first.variant, sizeof first.variant);
    crown(&HOST, 300, "vec_p0=4");
    kit_ok(ctx, atn_choose_again(ctx, graph, &HOST, &frame, &ANY, &next, &tuned));
    assert_int_equal(tuned.origin, ATN_ORIGIN_EXACT);
    atn_choice_free(&first);
    atn_choice_free(&next);
    frame = square(100000); /* what was tuned is not kept for sizes that are far from its own */
    kit_ok(ctx, atn_choose_again(ctx, graph, &HOST, &frame, &ANY, &tuned, &next));
    assert_int_equal(next.origin, ATN_ORIGIN_ESTIMATE);
    assert_true(next.passed);
    atn_choice_free(&tuned);
    atn_choice_free(&next);
}

KIT_TEST(a_second_process_knows) {
    crown(&HOST, 100, "vec_p0=4");
    atn_sequence_free(sequence);
    sequence = NULL;
    atn_ctx_free(ctx);
    open_ctx();
    parse("scale");
    EXPECT(100, ATN_ORIGIN_EXACT, "vec_p0=4");
}

KIT_TEST(the_nearest_size_counts) {
    crown(&HOST, 64, "vec_p0=4");
    crown(&HOST, 1024, "vec_p0=8");
    EXPECT(128, ATN_ORIGIN_NEAR_SHAPE, "vec_p0=4", "at another size, 64 x 64, 1.4 doublings from this one");
    EXPECT(600, ATN_ORIGIN_NEAR_SHAPE, "vec_p0=8", "1024 x 1024");
    EXPECT(1 << 20, ATN_ORIGIN_ESTIMATE, "is not used: it was measured at a size that is far from this one");
}

/* The width of vectors that is chosen says whose winner it is. */
static int32_t width_within(double tolerance, int64_t n) {
    atn_choice choice;
    atn_bindings frame = square(n);
    kit_ok(ctx, atn_choose(ctx, graph, &HOST, &frame, &(atn_choose_options){.tolerance = tolerance}, &choice));
    int32_t width = choice.origin > ATN_ORIGIN_ESTIMATE ? choice.variant.p[0].vec : 0;
    atn_choice_free(&choice);
    return width;
}

/* What is right only within a tolerance is for who accepts it; who does takes what is exact where there is nothing
 * else, or nothing near. */
KIT_TEST(a_tolerance_is_kept) {
    crown_within(1e-3, &HOST, 100, "vec_p0=2");
    assert_int_equal(width_within(0, 100), 0);
    assert_int_equal(width_within(1e-5, 100), 0);
    assert_int_equal(width_within(1e-3, 100), 2);
    crown(&HOST, 100, "vec_p0=4");
    crown(&HOST, 1 << 20, "vec_p0=8");
    assert_int_equal(width_within(0, 100), 4);
    assert_int_equal(width_within(1e-5, 100), 4);
    assert_int_equal(width_within(1e-3, 100), 2);
    assert_int_equal(width_within(1e-3, 1 << 20), 8);
}

KIT_TEST(a_device_of_the_same_kind_counts) {
    atn_device_info other = HOST;
    snprintf(other.name, sizeof other.name, "another CPU");
    crown(&other, 100, "vec_p0=4");
    EXPECT(100, ATN_ORIGIN_NEAR_DEVICE, "another device of the same kind (another CPU)");
    snprintf(other.arch, sizeof other.arch, "aarch64");
    crown(&other, 101, "vec_p0=8");
    EXPECT(101, ATN_ORIGIN_NEAR_DEVICE, "vec_p0=4"); /* not of another architecture */
    other = HOST;
    snprintf(other.driver, sizeof other.driver, "gcc 11");
    crown(&other, 100, "vec_p0=16");
    EXPECT(100, ATN_ORIGIN_NEAR_DEVICE, "");
}

KIT_TEST(what_does_not_fit_is_passed_over) {
    crown(&HOST, 100, "lanes_p0=32");
    EXPECT(100, ATN_ORIGIN_ESTIMATE, "The tuned variant (exact, lanes_p0=32) is not used: the host has no lanes");
    crown(&HOST, 100, "no_such_knob=3");
    EXPECT(100, ATN_ORIGIN_ESTIMATE, "no_such_knob");
}

KIT_TEST(gathers_stay_guarded) {
    crown(&HOST, 100, "guard=0,vec_p0=4,index=32");
    atn_choice choice = choose(100);
    assert_int_equal(choice.origin, ATN_ORIGIN_EXACT);
    assert_int_equal(choice.variant.guard, 1);
    assert_int_equal(choice.variant.index, 32);
    atn_choice_free(&choice);
    atn_bindings frame = square(100);
    kit_ok(ctx, atn_choose(ctx, graph, &HOST, &frame, &(atn_choose_options){.indices = ATN_INDICES_CHECKED}, &choice));
    assert_int_equal(choice.variant.guard, 0);
    atn_choice_free(&choice);
    /* far into its buffer: 32-bit addresses do not reach it */
    kit_ok(ctx, atn_choose(ctx, graph, &HOST, &frame, &(atn_choose_options){.offset = 1 << 30}, &choice));
    assert_int_equal(choice.variant.index, 64);
    atn_choice_free(&choice);
}

KIT_TEST(wisdom_that_is_spoiled_is_told_once) {
    char file[512];
    crown(&HOST, 100, "vec_p0=4");
    snprintf(file, sizeof file, "%s/wisdom.sqlite", dir);
    char garbage[8192];
    memset(garbage, 'x', sizeof garbage);
    kit_ok(ctx, atn_file_write(ctx, file, garbage, sizeof garbage));
    EXPECT(100, ATN_ORIGIN_ESTIMATE, "an estimate");
    EXPECT(100, ATN_ORIGIN_ESTIMATE, "an estimate");
    assert_int_equal(atomic_load(&said.warnings), 1);
    kit_contains(said.last, "wisdom is not used: ");
}

KIT_TEST(what_does_not_build_is_passed_over) {
    atn_devices *devices;
    atn_device *device;
    atn_built *built;
    atn_choice choice;
    kit_ok(ctx, atn_devices_find(ctx, &devices));
    kit_ok(ctx, atn_device_open(devices, 0, &device));
    crown(atn_device_get_info(device), 100, "vec_p0=4");
    atn_bindings frame = square(100);
    kit_ok(ctx, atn_choose(ctx, graph, atn_device_get_info(device), &frame, NULL, &choice));
    if (choice.origin == ATN_ORIGIN_COMPILED_IN) print_message("    skipped: there is no compiler\n"), skip();
    choice.variant.p[0].lanes = 7; /* as if only the build could tell */
    kit_ok(ctx, atn_choice_build(device, graph, &frame, NULL, &choice, &built));
    assert_int_equal(choice.origin, ATN_ORIGIN_ESTIMATE);
    assert_true(choice.passed);
    atn_built_free(built);
    atn_choice_free(&choice);
    atn_device_close(device);
    atn_devices_free(devices);
}

KIT_TEST(reproducible_estimates_keep_their_order) {
    parse("l2norm");
    atn_view line[2] = {{.type = ATN_SP, .rank = 1, .size = {1000, 1}, .pitch = 1000},
                        {.type = ATN_SP, .rank = 1, .size = {1, 1}, .pitch = 1}};
    atn_bindings frame = {.views = line};
    atn_choice choice;
    kit_ok(ctx, atn_choose(ctx, graph, &HOST, &frame, NULL, &choice));
    assert_true(choice.variant.q[0].vec > 1);
    atn_choice_free(&choice);
    kit_ok(ctx, atn_choose(ctx, graph, &HOST, &frame, &(atn_choose_options){.reproducible = true}, &choice));
    assert_int_equal(choice.variant.q[0].vec, 1);
    assert_int_equal(choice.variant.q[0].split, 1);
    atn_choice_free(&choice);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(nothing_known_is_an_estimate),
        TEST(a_choice_for_other_sizes),
        TEST(a_second_process_knows),
        TEST(the_nearest_size_counts),
        TEST(a_tolerance_is_kept),
        TEST(a_device_of_the_same_kind_counts),
        TEST(what_does_not_fit_is_passed_over),
        TEST(gathers_stay_guarded),
        TEST(wisdom_that_is_spoiled_is_told_once),
        TEST(what_does_not_build_is_passed_over),
        TEST(reproducible_estimates_keep_their_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
