/* Nearness: the very key, else the nearest shape, else a device of the same kind, else what is shipped, else none. */
#include "wisdomkit.h"

#include "base/clock.h"
#include "wisdom/shipped.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static atn_wisdom *fresh(const atn_ctx *ctx) {
    atn_wisdom *wisdom;
    kit_ok(ctx, atn_wisdom_open_memory(ctx, "memory", &wisdom));
    return wisdom;
}

KIT_TEST(exact_counts_all_but_the_space) {
    atn_ctx *ctx = kit_ctx();
    atn_wisdom *wisdom = fresh(ctx);
    atn_wisdom_key key = wkit_key(), other = key;
    other.space.low = 99;
    wkit_crown(ctx, wisdom, &key, "lanes_p0=16", 0.5);
    wkit_crown(ctx, wisdom, &other, "lanes_p0=32", 0.25); /* the faster of two spaces */
    key.space = (atn_hash){0};
    assert_int_equal(wkit_find(ctx, wisdom, &key, "lanes_p0=32"), ATN_HIT_EXACT);
    other = key;
    other.layout = "gaps";
    assert_int_equal(wkit_find(ctx, wisdom, &other, "lanes_p0=32"), ATN_HIT_NEAR_SHAPE);
    other = key;
    other.shape[0] = 2048;
    assert_int_equal(wkit_find(ctx, wisdom, &other, "lanes_p0=32"), ATN_HIT_NEAR_SHAPE);
    other = key;
    other.driver = "560.0";
    assert_int_equal(wkit_find(ctx, wisdom, &other, "lanes_p0=32"), ATN_HIT_NEAR_DEVICE);
    other = key;
    other.compiler = "another";
    assert_int_equal(wkit_find(ctx, wisdom, &other, "lanes_p0=32"), ATN_HIT_NEAR_DEVICE);
    other = key;
    other.threads = "4 threads";
    assert_int_equal(wkit_find(ctx, wisdom, &other, "lanes_p0=32"), ATN_HIT_NEAR_DEVICE);
    other = key;
    other.device = "Sample 9500";
    assert_int_equal(wkit_find(ctx, wisdom, &other, "lanes_p0=32"), ATN_HIT_NEAR_DEVICE);

    atn_wisdom_key strangers[7];
    for (size_t k = 0; k < 7; ++k) strangers[k] = key;
    strangers[0].graph.low = 3;
    strangers[1].generator = "2"; /* stale for ever */
    strangers[2].backend = "opencl";
    strangers[3].arch = "xx_80";
    strangers[4].n_shape = 2;
    strangers[5].reproducible = true; /* what the caller was promised is never traded for speed */
    strangers[6].tolerance = "1e-3";
    for (size_t k = 0; k < 7; ++k) assert_int_equal(wkit_find(ctx, wisdom, &strangers[k], NULL), ATN_HIT_NONE);
    atn_wisdom_close(wisdom);
    kit_free(ctx);
}

KIT_TEST(nearest_shape) {
    atn_ctx *ctx = kit_ctx();
    atn_wisdom *wisdom = fresh(ctx);
    atn_wisdom_key small = wkit_key_of_shape(64, 64, 64), large = wkit_key_of_shape(4096, 4096, 4096);
    atn_wisdom_key flat = wkit_key_of_shape(4096, 1, 0);
    wkit_crown(ctx, wisdom, &small, "lanes_p0=2", 1);
    wkit_crown(ctx, wisdom, &large, "lanes_p0=4", 1);
    wkit_crown(ctx, wisdom, &flat, "lanes_p0=8", 1);
    static const struct {
        int64_t shape[3];
        const char *variant;
        double distance;
    } cases[] = {{{128, 128, 128}, "lanes_p0=2", 1.7320508}, /* one doubling in each of three */
                 {{600, 600, 600}, "lanes_p0=4", 4.7991},    /* nearer by ratio, not by difference */
                 {{4096, 2, 1}, "lanes_p0=8", 1},            /* 0 counts as 1 */
                 {{4096, 4096, 2048}, "lanes_p0=4", 1}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        atn_wisdom_key key = wkit_key_of_shape(cases[k].shape[0], cases[k].shape[1], cases[k].shape[2]);
        atn_hit hit;
        kit_ok(ctx, atn_wisdom_find(ctx, wisdom, &key, &hit));
        assert_int_equal(hit.kind, ATN_HIT_NEAR_SHAPE);
        assert_string_equal(hit.variant, cases[k].variant);
        assert_true(fabs(hit.distance - cases[k].distance) < 1e-3);
        atn_hit_free(&hit);
    }
    atn_wisdom_close(wisdom);
    kit_free(ctx);
}

/* At equal distance: the same layout, then the faster. */
KIT_TEST(ties) {
    atn_ctx *ctx = kit_ctx();
    atn_wisdom *wisdom = fresh(ctx);
    atn_wisdom_key above = wkit_key_of_shape(2048, 1024, 512), below = wkit_key_of_shape(512, 1024, 512);
    atn_wisdom_key key = wkit_key(), gaps = below;
    gaps.layout = "gaps";
    wkit_crown(ctx, wisdom, &above, "lanes_p0=2", 0.5);
    wkit_crown(ctx, wisdom, &below, "lanes_p0=4", 0.25);
    wkit_crown(ctx, wisdom, &gaps, "lanes_p0=8", 0.125);
    assert_int_equal(wkit_find(ctx, wisdom, &key, "lanes_p0=4"), ATN_HIT_NEAR_SHAPE);
    key.layout = "gaps";
    assert_int_equal(wkit_find(ctx, wisdom, &key, "lanes_p0=8"), ATN_HIT_NEAR_SHAPE);
    atn_wisdom_close(wisdom);
    kit_free(ctx);
}

static char last_line[1024];
static void keep_line(void *user, atn_log_level level, const char *line) {
    (void)user, (void)level;
    snprintf(last_line, sizeof last_line, "%s", line);
}

KIT_TEST(near_device) {
    atn_ctx_settings options = {.log = keep_line};
    atn_ctx *ctx;
    assert_int_equal(atn_ctx_create(&options, &ctx), ATN_OK);
    atn_wisdom *wisdom = fresh(ctx);
    atn_wisdom_key key = wkit_key(), cousin = key, far = wkit_key_of_shape(8, 8, 8);
    cousin.device = "Sample 9500";
    far.driver = "540.0";
    wkit_crown(ctx, wisdom, &cousin, "lanes_p0=2", 0.1);
    assert_int_equal(wkit_find(ctx, wisdom, &key, "lanes_p0=2"), ATN_HIT_NEAR_DEVICE);
    kit_contains(last_line, "gemm: measured on Sample 9500");
    wkit_crown(ctx, wisdom, &far, "lanes_p0=4", 9); /* this device with an older driver comes first */
    atn_hit hit;
    kit_ok(ctx, atn_wisdom_find(ctx, wisdom, &key, &hit));
    assert_int_equal(hit.kind, ATN_HIT_NEAR_DEVICE);
    assert_true(hit.stale);
    assert_string_equal(hit.variant, "lanes_p0=4");
    kit_contains(last_line, "with '540.0', which is '550.1' now");
    atn_hit_free(&hit);
    atn_wisdom_close(wisdom);
    atn_ctx_free(ctx);
}

/* ---- shipped ---- */

static char *shipped_text(const atn_ctx *ctx) {
    atn_wisdom *wisdom = fresh(ctx);
    atn_wisdom_key key = wkit_key(), small = wkit_key_of_shape(8, 8, 8);
    key.generator = small.generator = ATN_SHIPPED_GENERATOR;
    atn_wisdom_key cousin = key;
    atn_wisdom_filter all = {0};
    atn_text text = {.ctx = ctx};
    cousin.device = "Sample 9500";
    cousin.arch = "xx_91";
    wkit_crown(ctx, wisdom, &key, "lanes_p0=16", 0.5);
    wkit_crown(ctx, wisdom, &small, "lanes_p0=2", 0.5);
    wkit_crown(ctx, wisdom, &cousin, "lanes_p0=4", 0.1);
    kit_ok(ctx, atn_store_export(ctx, wisdom, &all, &text, NULL));
    char *copy = strdup(atn_text_str(&text));
    atn_text_free(&text);
    atn_wisdom_close(wisdom);
    return copy;
}

KIT_TEST(shipped_is_the_last_resort) {
    atn_ctx_settings options = {.log = keep_line};
    atn_ctx *ctx;
    assert_int_equal(atn_ctx_create(&options, &ctx), ATN_OK);
    char *text = shipped_text(ctx);
    const atn_embedded *before = atn_shipped_wisdom_table;
    const atn_embedded table[] = {{"broken", "{"}, {"sample", text}, {0}};
    atn_shipped_wisdom_table = table;
    atn_wisdom_key key = wkit_key();
    key.driver = "never seen";
    atn_hit hit;
    atn_wisdom_key unknown = key;
    unknown.graph.low ^= 1;
    strcpy(last_line, "nothing");
    assert_int_equal(wkit_find(ctx, NULL, &unknown, NULL), ATN_HIT_NONE);
    assert_string_equal(last_line, "nothing"); /* files that do not mention it are not read, not even broken ones */
    kit_ok(ctx, atn_wisdom_find(ctx, NULL, &key, &hit)); /* without a database */
    assert_int_equal(hit.kind, ATN_HIT_SHIPPED);
    assert_string_equal(hit.variant, "lanes_p0=16");
    assert_string_equal(hit.device, "Sample 9000");
    assert_int_equal(strlen(hit.when), 24);
    assert_string_equal(atn_hit_name(hit.kind), "shipped");
    kit_contains(last_line, "as shipped with attune, measured on Sample 9000 at ");
    atn_hit_free(&hit);
    key.shape[0] = key.shape[1] = key.shape[2] = 10;
    assert_int_equal(wkit_find(ctx, NULL, &key, "lanes_p0=2"), ATN_HIT_SHIPPED);
    key.arch = "xx_91"; /* the name says more than the architecture */
    assert_int_equal(wkit_find(ctx, NULL, &key, "lanes_p0=2"), ATN_HIT_SHIPPED);
    key.device = "Sample 1";
    assert_int_equal(wkit_find(ctx, NULL, &key, "lanes_p0=4"), ATN_HIT_SHIPPED);
    key.arch = "xx_1";
    assert_int_equal(wkit_find(ctx, NULL, &key, NULL), ATN_HIT_NONE);

    atn_wisdom *wisdom = fresh(ctx); /* whatever was measured here comes first */
    key = wkit_key();
    atn_wisdom_key cousin = wkit_key_of_shape(9, 9, 9);
    cousin.device = "Sample 9001";
    wkit_crown(ctx, wisdom, &cousin, "lanes_p0=8", 5);
    assert_int_equal(wkit_find(ctx, wisdom, &key, "lanes_p0=8"), ATN_HIT_NEAR_DEVICE);
    atn_wisdom_close(wisdom);
    atn_ctx_free(ctx);
    atn_shipped_wisdom_table = before;
    free(text);
}

/* What is shipped today can be read. */
KIT_TEST(shipped_files_are_whole) {
    atn_ctx *ctx = kit_ctx();
    atn_wisdom *wisdom = fresh(ctx);
    for (const atn_embedded *s = ATN_SHIPPED_WISDOM; s->name; ++s)
        kit_ok(ctx, atn_store_import(wisdom, s->name, s->text, strlen(s->text), NULL));
    wkit_sound(ctx, wisdom);
    atn_wisdom_close(wisdom);
    kit_free(ctx);
}

/* Two thousand winners, two thousand questions; how long they took is printed. */
KIT_TEST(many) {
    enum { KERNELS = 20, SHAPES = 100 };
    atn_ctx *ctx = kit_ctx();
    atn_wisdom *wisdom = fresh(ctx);
    for (uint64_t k = 0; k < KERNELS; ++k)
        for (int64_t s = 1; s <= SHAPES; ++s) {
            atn_wisdom_key key = wkit_key_of_shape(s, s, s);
            key.graph.low = k;
            wkit_crown(ctx, wisdom, &key, "lanes_p0=2", 1);
        }
    double begin = atn_clock_seconds();
    for (int64_t n = 0; n < 1000; ++n) {
        atn_wisdom_key key = wkit_key_of_shape(n % SHAPES + 1, n % SHAPES + 1, n % SHAPES + 1);
        key.graph.low = (uint64_t)n % KERNELS;
        assert_int_equal(wkit_find(ctx, wisdom, &key, NULL), ATN_HIT_EXACT);
    }
    double middle = atn_clock_seconds();
    for (int64_t n = 0; n < 1000; ++n) {
        atn_wisdom_key key = wkit_key_of_shape(n + 1000, 7, 7);
        key.graph.low = (uint64_t)n % KERNELS;
        key.driver = n % 2 ? "other" : key.driver;
        assert_int_equal(wkit_find(ctx, wisdom, &key, NULL), n % 2 ? ATN_HIT_NEAR_DEVICE : ATN_HIT_NEAR_SHAPE);
    }
    print_message("    exact: %.1f us, near: %.1f us each\n", (middle - begin) * 1e3,
                  (atn_clock_seconds() - middle) * 1e3);
    atn_wisdom_close(wisdom);
    kit_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_counts_all_but_the_space),
        cmocka_unit_test(nearest_shape),
        cmocka_unit_test(ties),
        cmocka_unit_test(near_device),
        cmocka_unit_test(shipped_is_the_last_resort),
        cmocka_unit_test(shipped_files_are_whole),
        cmocka_unit_test(many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
