/* Tables and choices of the tuner: seeds, sets of shapes, shipped spaces, covering sets. */
#include "testkit.h"

#include "graph/shipped.h"
#include "space/shipped.h"
#include "tune/cover.h"
#include "tune/facts.h"
#include "tune/field.h"
#include "tune/seeds.h"
#include "tune/sets.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const SP[] = {"USED_FLOAT=SP", NULL};

static const atn_device_info DEVICES[] = {
    {.backend = "host",
     .name = "a CPU",
     .cores = 8,
     .simd = 16,
     .max_group = 1,
     .local_bytes = 32 << 10,
     .cache_bytes = 32 << 20,
     .memory_bytes = 1ll << 34,
     .cpu = true,
     .fp64 = true,
     .fp16 = true,
     .bf16 = 2},
    {.backend = "opencl",
     .arch = "sm_90",
     .name = "a GPU",
     .cores = 64,
     .simd = 32,
     .max_group = 256,
     .local_bytes = 64 << 10,
     .cache_bytes = 4 << 20,
     .memory_bytes = 1ll << 34},
    {.backend = "cuda",
     .arch = "sm_90",
     .name = "a large GPU",
     .cores = 132,
     .simd = 32,
     .max_group = 1024,
     .local_bytes = 48 << 10,
     .cache_bytes = 50 << 20,
     .memory_bytes = 1ll << 36,
     .fp64 = true},
};

/* Whatever its arrays are: there is little to choose. */
static bool has_one_point(const atn_graph *g) {
    for (int32_t d = 0; d < g->n_dims; ++d)
        if (g->values[g->dims[d].end].op != ATN_OP_CONST || g->values[g->dims[d].end].integer != 1) return false;
    return true;
}

/* Every shipped kernel has, on every kind of device, a space of some size; all of its seeds fit and are in it. */
static void holds_its_seeds(atn_ctx *ctx, size_t d, const atn_embedded *s, const char *type) {
    char define[32];
    snprintf(define, sizeof define, "USED_FLOAT=%s", type);
    const atn_set *set = atn_set_next(ATN_SETS, s->name, &DEVICES[d], NULL);
    if (!set) fail_msg("no shape for %s on %s", s->name, DEVICES[d].backend);
    if (!set) return;
    atn_workload w = {
        .name = s->name, .xml = s->text, .defines = (const char *const[]){define, NULL}, .sizes = set->sizes};
    w.range_length = set->range_length;
    const char *text = atn_space_shipped(DEVICES[d].backend);
    atn_case c;
    atn_given facts[ATN_MOST_FACTS];
    size_t n;
    atn_space *space;
    atn_field field;
    kit_ok(ctx, atn_case_open(ctx, &w, &c));
    kit_ok(ctx, atn_facts(&DEVICES[d], &c, facts, &n));
    assert_true(n <= ATN_MOST_FACTS);
    kit_ok(ctx, atn_space_parse(ctx, DEVICES[d].backend, text, strlen(text), facts, n, &space));
    kit_ok(ctx, atn_field_open(ctx, c.graph, &DEVICES[d], space, false, &field));
    print_message("%-7s %-10s %.0f points\n", DEVICES[d].backend, s->name, field.domain.size);
    assert_true(field.domain.size >= (has_one_point(c.graph) ? 1 : 50) && field.domain.size < 1e9);
    for (const atn_seed *seed = NULL; (seed = atn_seed_next(s->name, type, DEVICES[d].backend, seed));) {
        if (strcmp(type, "SP") != 0 && (!seed->type || strcmp(seed->type, type) != 0)) continue;
        atn_variant v = atn_variant_plain(), back;
        int32_t point[64];
        const char *why = "";
        kit_ok(ctx, atn_variant_parse(ctx, &v, seed->variant));
        if (!atn_field_fits(&field, &v, &why)) fail_msg("%s: %s: %s", s->name, seed->variant, why);
        if (!atn_field_point(&field, &v, point))
            fail_msg("%s %s: '%s' is not in the space", DEVICES[d].backend, s->name, seed->variant);
        kit_ok(ctx, atn_field_variant(&field, point, &back));
        assert_memory_equal(&v, &back, sizeof v);
        if (!atn_space_allows(space, point, &why))
            fail_msg("%s %s: '%s' is ruled out by %s", DEVICES[d].backend, s->name, seed->variant, why);
    }
    atn_field_close(&field);
    atn_space_free(space);
    atn_case_close(&c);
}

static bool has_seeds(const char *kernel, const char *type, const char *backend) {
    for (const atn_seed *seed = NULL; (seed = atn_seed_next(kernel, type, backend, seed));)
        if (seed->type && strcmp(seed->type, type) == 0) return true;
    return false;
}

KIT_TEST(spaces_hold_their_seeds) {
    atn_ctx *ctx = kit_ctx();
    for (size_t d = 0; d < sizeof DEVICES / sizeof *DEVICES; ++d)
        for (const atn_embedded *s = ATN_SHIPPED; s->name; ++s) {
            holds_its_seeds(ctx, d, s, "SP");
            if (has_seeds(s->name, "HP", DEVICES[d].backend)) holds_its_seeds(ctx, d, s, "HP");
            if (has_seeds(s->name, "DP", DEVICES[d].backend)) holds_its_seeds(ctx, d, s, "DP");
        }
    kit_free(ctx);
}

KIT_TEST(few_variants_cover_many_shapes) {
    bool chosen[3];
    int32_t pick[4];
    const double seconds[] = {/* shapes: */ 1.0,
                              1.0,
                              2.0,
                              4.0, /* of variant 0 */
                              1.04,
                              1.04,
                              1.0,
                              1.0, /* 1: near everywhere */
                              1.5,
                              0.99,
                              1.5,
                              INFINITY};
    assert_int_equal(atn_cover_choose(seconds, 3, 4, 0.05, chosen, pick), 2);
    assert_true(chosen[1]);
    assert_int_equal(pick[2], 1);
    assert_int_equal(pick[3], 1);
    assert_int_equal(atn_cover_choose(seconds, 3, 4, 0.06, chosen, pick), 1);
    assert_true(chosen[1] && !chosen[0] && !chosen[2]);
    assert_int_equal(atn_cover_choose(seconds, 3, 4, 0, chosen, pick), 3); /* each its own */
    assert_int_equal(pick[0], 0);
    assert_int_equal(pick[1], 2);
    const double none[] = {INFINITY, 1};
    assert_int_equal(atn_cover_choose(none, 1, 2, 0.05, chosen, pick), 1);
    assert_int_equal(pick[0], -1);
    assert_int_equal(pick[1], 0);
}

/* Variants that differ only in what does not count have one code. */
KIT_TEST(equal_code_is_seen) {
    atn_ctx *ctx = kit_ctx();
    atn_workload w = {.name = "add", .xml = atn_shipped_find("add"), .defines = SP};
    w.sizes = (const char *const[]){"A=64x64", NULL};
    const char text[] = "vec_p0 = (1, 2)\n";
    atn_case c;
    atn_space *space;
    atn_field field;
    kit_ok(ctx, atn_case_open(ctx, &w, &c));
    kit_ok(ctx, atn_space_parse(ctx, "x", text, strlen(text), NULL, 0, &space));
    kit_ok(ctx, atn_field_open(ctx, c.graph, &DEVICES[0], space, false, &field));
    atn_hash a, b, other;
    atn_variant v = atn_variant_plain();
    kit_ok(ctx, atn_field_code(&field, &v, &a));
    v.exp = ATN_EXP_POLYNOMIAL; /* there is no exponential */
    kit_ok(ctx, atn_field_code(&field, &v, &b));
    v.threads = 1; /* the same text, another launch */
    kit_ok(ctx, atn_field_code(&field, &v, &other));
    assert_true(a.high == b.high && a.low == b.low);
    assert_false(a.high == other.high && a.low == other.low);
    atn_field_close(&field);
    atn_space_free(space);
    const char wrong[] = "tiles = (1, 2)\n";
    kit_ok(ctx, atn_space_parse(ctx, "x", wrong, strlen(wrong), NULL, 0, &space));
    kit_fails(ctx, ATN_ERR_INPUT, "unknown knob 'tiles'",
              atn_field_open(ctx, c.graph, &DEVICES[0], space, false, &field));
    atn_field_close(&field);
    atn_space_free(space);
    atn_case_close(&c);
    kit_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spaces_hold_their_seeds),
        cmocka_unit_test(few_variants_cover_many_shapes),
        cmocka_unit_test(equal_code_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
