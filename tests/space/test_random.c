/* Random spaces: counting agrees with trying every combination, interpreted and native alike; ranks, lists, draws,
 * neighbours, reasons and the prune report agree with each other. Seeds are 1, 2, 3, ... */
#include "spacekit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *cache; /* one for all, so that equal code is built once */

static int cache_begin(void **state) {
    (void)state;
    cache = kit_tempdir();
    return 0;
}

static int cache_end(void **state) {
    (void)state;
    kit_remove(cache);
    return 0;
}

static atn_ctx *begin(void) {
    atn_ctx_settings options = {.cache_dir = cache};
    atn_ctx *ctx;
    assert_int_equal(atn_ctx_create(&options, &ctx), ATN_OK);
    return ctx;
}

/* A random space; NULL where the text is refused, which must be for a reason in its values. */
static atn_space *random_space(atn_ctx *ctx, uint64_t seed, atn_text *text) {
    atn_space *space = NULL;
    atn_text_clear(text);
    space_random(seed, text);
    atn_status status = atn_space_parse(ctx, "t.lanai", atn_text_str(text), text->length, NULL, 0, &space);
    if (status != ATN_OK && status != ATN_ERR_INPUT) fail_msg("seed %llu: %s", (unsigned long long)seed, text->data);
    return space;
}

KIT_TEST(counts) {
    atn_ctx *ctx = begin();
    size_t bytes = atn_ctx_bytes(ctx);
    atn_text text = {.ctx = ctx};
    int compared = 0, refused = 0;
    for (uint64_t seed = 1; seed <= 1500; ++seed) {
        atn_space *space = random_space(ctx, seed, &text);
        if (!space) {
            ++refused;
            continue;
        }
        int64_t wanted = space_brute(ctx, space);
        atn_count count;
        atn_space_use(space, ATN_SPACE_INTERPRETED);
        atn_status status = atn_space_count(ctx, space, &count);
        /* where a rule cannot be computed somewhere, counting and trying may or may not get there */
        if (status) kit_contains(atn_ctx_message(ctx), " in the ");
        if (!status && wanted >= 0 && (int64_t)count.whole != wanted)
            fail_msg("seed %llu: %s, not %lld\n%s", (unsigned long long)seed, count.digits, (long long)wanted,
                     text.data);
        compared += !status && wanted >= 0;
        atn_space_free(space);
    }
    print_message("    %d spaces counted, %d refused\n", compared, refused);
    assert_true(compared > 700);
    atn_text_free(&text);
    assert_int_equal(atn_ctx_bytes(ctx), bytes);
    atn_ctx_free(ctx);
}

/* Each builds its own code: with ATTUNE_TEST_ALL set there are many more of them. */
KIT_TEST(native) {
    atn_ctx *ctx = begin();
    atn_text text = {.ctx = ctx};
    char *flags = kit_getenv("ATTUNE_HOST_FLAGS");
    kit_setenv("ATTUNE_HOST_FLAGS", strdup("-O1"));
    int built = 0;
    uint64_t last = getenv("ATTUNE_TEST_ALL") ? 1500 : 60;
    for (uint64_t seed = 1; seed <= last; ++seed) {
        atn_space *one = random_space(ctx, seed, &text), *two = random_space(ctx, seed, &text);
        if (!one) continue;
        atn_count interpreted, compiled;
        char why[1024] = "";
        atn_space_use(one, ATN_SPACE_INTERPRETED);
        atn_space_use(two, ATN_SPACE_NATIVE);
        atn_status first = atn_space_count(ctx, one, &interpreted);
        if (first) snprintf(why, sizeof why, "%s", atn_ctx_message(ctx));
        atn_status second = atn_space_count(ctx, two, &compiled);
        if ((first == ATN_OK) != (second == ATN_OK) || strcmp(interpreted.digits, compiled.digits) != 0)
            fail_msg("seed %llu: interpreted %s %s, native %s %s\n%s", (unsigned long long)seed, interpreted.digits,
                     why, compiled.digits, second ? atn_ctx_message(ctx) : "", text.data);
        built += atn_space_count_native(two);
        atn_space_free(one);
        atn_space_free(two);
    }
    print_message("    %d groups in native code\n", built);
    assert_true(built >= 10);
    kit_setenv("ATTUNE_HOST_FLAGS", flags);
    atn_text_free(&text);
    atn_ctx_free(ctx);
}

typedef struct visited {
    const atn_space *space;
    atn_ctx *ctx;
    uint64_t count;
} visited;

static bool visit_rank(void *user, const int32_t *levels) {
    visited *v = user;
    int32_t back[SPACE_MOST];
    uint64_t rank;
    const char *by;
    size_t bytes = (size_t)atn_space_count_parameters(v->space) * sizeof *back;
    assert_true(atn_space_allows(v->space, levels, &by));
    assert_null(by);
    kit_ok(v->ctx, atn_space_rank(v->ctx, v->space, levels, &rank));
    assert_true(rank == v->count); /* listed in the order of ranks */
    kit_ok(v->ctx, atn_space_unrank(v->ctx, v->space, rank, back));
    assert_memory_equal(levels, back, bytes);
    ++v->count;
    return true;
}

KIT_TEST(ranks) {
    atn_ctx *ctx = begin();
    atn_text text = {.ctx = ctx};
    int walked = 0;
    for (uint64_t seed = 1; seed <= 400; ++seed) {
        atn_space *space = random_space(ctx, seed, &text);
        atn_count count;
        if (space && space_brute(ctx, space) >= 0 && atn_space_count(ctx, space, &count) == ATN_OK) {
            visited v = {.space = space, .ctx = ctx};
            int32_t levels[SPACE_MOST];
            kit_ok(ctx, atn_space_list(ctx, space, visit_rank, &v));
            assert_true(v.count == count.whole);
            kit_fails(ctx, ATN_ERR_INPUT, count.whole ? "there is no point" : "the space is empty",
                      atn_space_unrank(ctx, space, count.whole, levels));
            walked += v.count > 1;
        }
        atn_space_free(space);
    }
    assert_true(walked > 100);
    atn_text_free(&text);
    atn_ctx_free(ctx);
}

typedef struct met {
    const atn_space *space;
    const int32_t *from;
    int count;
} met;

static bool visit_neighbour(void *user, const int32_t *levels) {
    met *m = user;
    int differ = 0;
    for (int32_t k = 0; k < atn_space_count_parameters(m->space); ++k) differ += levels[k] != m->from[k];
    assert_int_equal(differ, 1);
    assert_true(atn_space_allows(m->space, levels, NULL));
    ++m->count;
    return true;
}

KIT_TEST(neighbours) {
    atn_ctx *ctx = begin();
    atn_text text = {.ctx = ctx};
    for (uint64_t seed = 1; seed <= 200; ++seed) {
        atn_space *space = random_space(ctx, seed, &text);
        int32_t levels[SPACE_MOST], other[SPACE_MOST];
        atn_count count;
        if (space && space_brute(ctx, space) > 0 && atn_space_count(ctx, space, &count) == ATN_OK) {
            kit_ok(ctx, atn_space_unrank(ctx, space, count.whole / 2, levels));
            int wanted = 0, near = 0;
            for (int32_t k = 0; k < atn_space_count_parameters(space); ++k)
                for (int32_t level = 0; level < atn_space_levels(space, k); ++level) {
                    memcpy(other, levels, sizeof other);
                    other[k] = level;
                    bool counts_too = level != levels[k] && atn_space_allows(space, other, NULL);
                    wanted += counts_too;
                    near += counts_too && abs(level - levels[k]) == 1;
                }
            met all = {.space = space, .from = levels}, close = all;
            kit_ok(ctx, atn_space_neighbours(ctx, space, levels, false, visit_neighbour, &all));
            kit_ok(ctx, atn_space_neighbours(ctx, space, levels, true, visit_neighbour, &close));
            assert_int_equal(all.count, wanted);
            assert_int_equal(close.count, near);
        }
        atn_space_free(space);
    }
    atn_text_free(&text);
    atn_ctx_free(ctx);
}

/* Each of the three numbers by trying all combinations that iterators allow; and together they make up what is missing.
 */
KIT_TEST(prunes) {
    atn_ctx *ctx = begin();
    atn_text text = {.ctx = ctx};
    for (uint64_t seed = 1; seed <= 200; ++seed) {
        atn_space *space = random_space(ctx, seed, &text);
        atn_prune rows[4];
        atn_count count, product;
        if (space && space_brute(ctx, space) >= 0 && atn_space_prune_report(ctx, space, rows) == ATN_OK) {
            kit_ok(ctx, atn_space_count(ctx, space, &count));
            kit_ok(ctx, atn_space_product(ctx, space, &product));
            uint64_t together = 0;
            for (int32_t k = 0; k < atn_space_count_constraints(space); ++k) {
                together += rows[k].together.whole;
                assert_true(rows[k].only.whole <= rows[k].together.whole);
                assert_true(rows[k].together.whole <= rows[k].alone.whole);
                assert_string_equal(rows[k].constraint, atn_space_constraint(space, k));
            }
            assert_true(together == product.whole - count.whole);
        }
        atn_space_free(space);
    }
    atn_text_free(&text);
    atn_ctx_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts),     cmocka_unit_test(native), cmocka_unit_test(ranks),
        cmocka_unit_test(neighbours), cmocka_unit_test(prunes),
    };
    return cmocka_run_group_tests(tests, cache_begin, cache_end);
}
