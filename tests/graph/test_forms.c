/* Both forms of a description: every shipped kernel printed as XML and in the notation, and read again, has the same
 * canonical hash; and so back. Pairs of examples in the manual say the same. Memory that fails while printing. */
#include "graph/description.h"

#include "base/file.h"
#include "base/memory.h"
#include "graph/shipped.h"

#include <stdio.h>
#include <string.h>

static atn_sequence *parsed(atn_ctx *ctx, const char *what, const char *text, size_t length,
                            const atn_parse_options *options) {
    atn_text lines = {.ctx = ctx};
    atn_diagnostics diagnostics = {.lines = &lines};
    atn_sequence *sequence;
    if (atn_sequence_parse(ctx, what, text, length, options, &diagnostics, &sequence) != ATN_OK)
        fail_msg("%s\n%.*s\n%s", what, (int)length, text, atn_text_str(&lines));
    atn_text_free(&lines);
    return sequence;
}

static void expect_same(const char *what, const atn_sequence *a, const atn_sequence *b) {
    assert_int_equal(a->count, b->count);
    for (int32_t k = 0; k < a->count; ++k) {
        if (memcmp(&a->step[k]->hash, &b->step[k]->hash, sizeof a->step[k]->hash) != 0)
            fail_msg("%s: step %d differs", what, k);
        assert_string_equal(a->step[k]->name, b->step[k]->name);
        assert_int_equal(a->step[k]->n_objects, b->step[k]->n_objects);
        for (int32_t o = 0; o < a->step[k]->n_objects; ++o)
            assert_string_equal(a->step[k]->objects[o].name, b->step[k]->objects[o].name);
    }
}

/* Through both forms, and each of them through both again. */
static void round_trip(atn_ctx *ctx, const char *what, const char *text, size_t length,
                       const atn_parse_options *options) {
    atn_sequence *first = parsed(ctx, what, text, length, options);
    for (int form = ATN_FORM_XML; form <= ATN_FORM_NOTATION; ++form) {
        atn_text once = {.ctx = ctx}, twice = {.ctx = ctx};
        kit_ok(ctx, atn_description_print(ctx, what, text, length, options, (atn_form)form, &once));
        assert_int_equal(atn_text_str(&once)[0] == '<', form == ATN_FORM_XML);
        atn_sequence *again = parsed(ctx, what, atn_text_str(&once), once.length, options);
        expect_same(what, first, again);
        atn_sequence_free(again);
        kit_ok(ctx, atn_description_print(ctx, what, atn_text_str(&once), once.length, options,
                                          (atn_form)(ATN_FORM_XML + ATN_FORM_NOTATION - form), &twice));
        again = parsed(ctx, what, atn_text_str(&twice), twice.length, options);
        expect_same(what, first, again);
        atn_sequence_free(again);
        atn_text_free(&once);
        atn_text_free(&twice);
    }
    atn_sequence_free(first);
}

KIT_TEST(shipped) {
    static const char *const types[] = {"SP", "DP"};
    for (size_t t = 0; t < 2; ++t) {
        atn_ctx *ctx = kit_ctx();
        atn_define define = {"USED_FLOAT", types[t]};
        atn_parse_options options = {.defines = &define, .n_defines = 1};
        for (const atn_embedded *s = ATN_SHIPPED; s->name; ++s)
            round_trip(ctx, s->name, s->text, strlen(s->text), &options);
        kit_free(ctx);
    }
}

/* What is generic stays so: printed with one type, read with another. */
KIT_TEST(generic) {
    static const char text[] = "kernel k(x: vector T) -> y: vector sum(T)\n    a = x[i] * 2\n    y[i] = a + 1\n";
    atn_ctx *ctx = kit_ctx();
    atn_define sp = {"USED_FLOAT", "SP"}, dp = {"USED_FLOAT", "DP"};
    atn_parse_options single = {.defines = &sp, .n_defines = 1}, twice = {.defines = &dp, .n_defines = 1};
    atn_text xml = {.ctx = ctx};
    kit_ok(ctx, atn_description_print(ctx, "k", text, strlen(text), &single, ATN_FORM_XML, &xml));
    kit_contains(atn_text_str(&xml), "<FunctionBlock name=\"a\" dataType=\"USED_FLOAT\" function=\"#in(0) * 2\"/>");
    atn_sequence *first = parsed(ctx, "k", text, strlen(text), &twice),
                 *again = parsed(ctx, "k", atn_text_str(&xml), xml.length, &twice);
    expect_same("generic", first, again);
    atn_sequence_free(first);
    atn_sequence_free(again);
    atn_text_free(&xml);
    kit_free(ctx);
}

static int line_of(const char *text, const char *at) {
    int line = 1;
    for (; text < at; ++text) line += *text == '\n';
    return line;
}

/* docs/language.md: each example in the notation has its XML right behind it. */
KIT_TEST(manual) {
    atn_ctx *ctx = kit_ctx();
    char *text;
    size_t length;
    atn_define sp = {"USED_FLOAT", "SP"};
    atn_parse_options options = {.defines = &sp, .n_defines = 1};
    kit_ok(ctx, atn_file_read(ctx, ATN_SOURCE_DIR "/docs/language.md", 1 << 20, &text, &length));
    int pairs = 0;
    for (const char *at = text; (at = strstr(at, "```atn\n"));) {
        const char *begin = at + 7, *end = strstr(begin, "```"), *xml = strstr(begin, "```xml\n"),
                   *next = strstr(begin, "```atn\n");
        char what[64];
        snprintf(what, sizeof what, "docs/language.md, example at line %d", line_of(text, begin));
        assert_non_null(end);
        atn_sequence *one = parsed(ctx, what, begin, (size_t)(end - begin), &options);
        if (xml && (!next || xml < next)) {
            xml += 7;
            atn_sequence *other = parsed(ctx, what, xml, (size_t)(strstr(xml, "```") - xml), &options);
            expect_same(what, one, other);
            atn_sequence_free(other);
            ++pairs;
        }
        atn_sequence_free(one);
        at = end + 3;
    }
    assert_true(pairs >= 14);
    atn_free(ctx, text);
    kit_free(ctx);
}

/* Every allocation in turn fails, while reading the notation and while printing both forms. */
/* What a kernel says of its use stays where it was in the notation; sizes of arrays are in both forms. */
KIT_TEST(facts_and_sizes) {
    atn_ctx *ctx = kit_ctx();
    atn_define define = {"USED_FLOAT", "SP"};
    atn_parse_options options = {.defines = &define, .n_defines = 1};
    static const char HISTOGRAM[] = "kernel k(image: matrix U8, z: matrix T[2, 3]) -> add count: vector INT32[256]\n"
                                    "    tuned on cpu at  image=64x48   # a comment\n"
                                    "    measured against blas\n"
                                    "    real\n"
                                    "    count[image[y, x]] += z[1, 2] > 0 ? 1 : 0\n";
    round_trip(ctx, "histogram", HISTOGRAM, strlen(HISTOGRAM), &options);
    atn_text printed = {.ctx = ctx};
    kit_ok(ctx, atn_description_print(ctx, "k", HISTOGRAM, strlen(HISTOGRAM), &options, ATN_FORM_NOTATION, &printed));
    kit_contains(
        atn_text_str(&printed),
        "count: vector INT32[256]\n    tuned on cpu at image=64x48\n    measured against blas\n    real\n    for");
    atn_text_clear(&printed);
    kit_ok(ctx, atn_description_print(ctx, "k", HISTOGRAM, strlen(HISTOGRAM), &options, ATN_FORM_XML, &printed));
    kit_contains(atn_text_str(&printed), " size=\"256\"/>");
    kit_contains(atn_text_str(&printed), " size=\"2, 3\"/>");
    atn_text_free(&printed);
    kit_free(ctx);
}

KIT_TEST(memory_that_fails) {
    static const char text[] = "function twice(a: T) -> T = 2 * a\n"
                               "kernel k(x, w: vector T, s: T = 2) -> y: vector T, at: vector INT32\n"
                               "    a: T = { auto d = x[i]; a = twice(d) + s; }\n"
                               "    over j in w\n        m: T, c: INT32 max= x[i + j] * w[j] + twice(a), INT32(j)\n"
                               "    y[i] = m + (sum(j) w[j])  where m > 0\n    at[i] = c\n";
    static const atn_define sp = {"USED_FLOAT", "SP"};
    atn_parse_options options = {.defines = &sp, .n_defines = 1};
    for (int form = 0; form <= ATN_FORM_NOTATION; ++form) {
        long needed = 0;
        for (long fail_at = 0; fail_at <= needed + 1; fail_at += fail_at > 300 ? 7 : 1) {
            kit_faults faults = {0};
            atn_ctx_settings made = kit_fault_options(&faults);
            atn_ctx *ctx;
            assert_int_equal(atn_ctx_create(&made, &ctx), ATN_OK);
            long before = faults.count;
            faults.fail_at = fail_at ? before + fail_at : 0;
            atn_text out = {.ctx = ctx};
            atn_sequence *sequence = NULL;
            atn_status status =
                form ? atn_description_print(ctx, "k", text, strlen(text), &options, (atn_form)form, &out)
                     : atn_sequence_parse(ctx, "k", text, strlen(text), &options, NULL, &sequence);
            if (!fail_at) {
                assert_int_equal(status, ATN_OK);
                needed = faults.count - before;
            } else if (!form && fail_at <= needed) {
                assert_int_equal(status, ATN_ERR_MEMORY);
            } else if (status != ATN_OK && status != ATN_ERR_MEMORY) {
                fail_msg("form %d, allocation %ld: %s", form, fail_at, atn_ctx_message(ctx));
            }
            faults.fail_at = 0;
            atn_sequence_free(sequence);
            atn_text_free(&out);
            assert_int_equal(atn_ctx_bytes(ctx), 0);
            atn_ctx_free(ctx);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(shipped), cmocka_unit_test(generic), cmocka_unit_test(manual),
                                       cmocka_unit_test(facts_and_sizes), cmocka_unit_test(memory_that_fails)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
