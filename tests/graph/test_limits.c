/* Hostile descriptions: too deep, too many, too long; strict mode; steps of a Sequence that do not agree. */
#include "graph/description.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expect_text(const char *what, atn_text *text, const char *expected) {
    assert_int_equal(atn_text_status(text), ATN_OK);
    description_expect(what, atn_text_str(text), NULL, expected);
    atn_text_free(text);
}

KIT_TEST(depth_of_elements) {
    atn_ctx *ctx = kit_ctx();
    atn_text text = {.ctx = ctx};
    for (int k = 0; k < 1000; ++k) atn_text_add(&text, "<Children>");
    expect_text("depth", &text, "1:161: 'Children': elements are nested deeper than 16");
    kit_free(ctx);
}

KIT_TEST(number_of_elements) {
    atn_ctx *ctx = kit_ctx();
    atn_text text = {.ctx = ctx};
    atn_text_add(&text, "<Sequence>\n");
    for (int k = 0; k < 20000; ++k) atn_text_add(&text, "<Order/>\n");
    atn_text_add(&text, "</Sequence>");
    expect_text("elements", &text, "10001:1: 'Order': more than 10000 elements");
    kit_free(ctx);
}

KIT_TEST(long_attributes) {
    atn_ctx *ctx = kit_ctx();
    atn_text text = {.ctx = ctx};
    enum { MB = 1 << 20 };
    char *large = malloc(10 * MB);
    assert_non_null(large);
    memset(large, 'a', 10 * MB);
    for (int mb = 3; mb <= 10; mb += 7) {
        atn_text_add(&text, "<ParallelAlgorithm name=\"");
        atn_text_add_bytes(&text, large, (size_t)mb * MB);
        atn_text_add(&text, "\"/>");
        char expected[128] = "1:1: 'ParallelAlgorithm': the attributes of the file are longer than 1048576 bytes";
        if (mb > 4)
            snprintf(expected, sizeof expected, "1:1: the description has %zu bytes; at most 4194304 are read",
                     text.length);
        expect_text("a long attribute", &text, expected);
    }
    free(large);
    kit_free(ctx);
}

KIT_TEST(defines_that_grow) {
    char *bomb = malloc(100001);
    assert_non_null(bomb);
    memset(bomb, 'x', 100000);
    bomb[100000] = '\0';
    atn_define define = {"N", bomb};
    atn_parse_options options = {.defines = &define, .n_defines = 1};
    description_expect("define", "<ParallelAlgorithm name=\"N N N N N N N N N N N\"/>", &options,
                       "1:1: 'ParallelAlgorithm': the attributes of the file are longer than 1048576 bytes");
    free(bomb);
}

/* The description with `function` as the text of its second function. */
static void expect_function(const char *what, const char *function, const char *expected) {
    const change changes[] = {{"function=\"#in(0) * #in(1)\"/>\n    <DataAccessWrite", NULL}};
    size_t room = strlen(function) + 128;
    char *replace = malloc(room);
    assert_non_null(replace);
    snprintf(replace, room, "function=\"%s\"/>\n    <DataAccessWrite", function);
    change filled = {changes[0].find, replace};
    char *text = description_changed(&filled, 1);
    description_expect(what, text, NULL, expected);
    free(text);
    free(replace);
}

static char *repeated(const char *begin, const char *part, int count, const char *end) {
    char *text = malloc(strlen(begin) + strlen(part) * (size_t)count + strlen(end) + 1), *at = text;
    assert_non_null(text);
    at = stpcpy(at, begin);
    for (int k = 0; k < count; ++k) at = stpcpy(at, part);
    stpcpy(at, end);
    return text;
}

KIT_TEST(depth_of_functions) {
    static const struct {
        const char *what, *begin, *part, *end, *expected;
    } rows[] = {
        {"parentheses", "", "(", "#in(0)", "14:156: 'scale': nested deeper than 200"},
        {"signs", "", "- ", "#in(0)", "14:453: 'scale': nested deeper than 200"},
        {"branches", "", "if (#in(0) > 0) ", "#out(0) = #in(1);", "14:3201: 'scale': nested deeper than 200"},
        {"blocks", "#out(0) = #in(0) * #in(1); ", "{", "}", "14:284: 'scale': nested deeper than 200"},
        {"a long chain", "#in(1)", " + #in(0)", "", "14:18046: 'scale': more than 2000 operations in one expression"},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; ++k) {
        char *text = repeated(rows[k].begin, rows[k].part, 5000, rows[k].end);
        expect_function(rows[k].what, text, rows[k].expected);
        free(text);
    }
}

KIT_TEST(loops_that_explode) {
    expect_function("nested loops",
                    "float t = 0; for (int i = 0; i &lt; 4000; ++i) for (int j = 0; j &lt; 4000; ++j) t = sin(t + "
                    "#in(0)); #out(0) = t * #in(1);",
                    "1:1: 'MV': the description unfolds into more than 50000 values; use smaller loops");
    expect_function("idle loops",
                    "float t = 0; for (int i = 0; i &lt; 4000; ++i) for (int j = 0; j &lt; 4000; ++j) t = 0; #out(0) = "
                    "t + #in(0) * #in(1);",
                    "14:5: 'scale': the description unfolds into more than 500000 steps; use smaller loops");
    char *text = repeated("", "float t = #in(0); ", 300, "#out(0) = t * #in(1);");
    expect_function("variables", text, "14:4671: 'scale': more than 256 variables");
    free(text);
    expect_function("ports", "#in(100) * #in(1)", "14:5: 'scale': the text uses more than 64 variables");
}

KIT_TEST(many_dimensions) {
    atn_ctx *ctx = kit_ctx();
    atn_text text = {.ctx = ctx};
    atn_text_add(&text, "<ParallelAlgorithm name=\"P\" dimensions=\"1\">\n<DataObjects><DataObject name=\"x\" "
                        "structure=\"vector\" elementDataType=\"SP\"/></DataObjects>\n<Children>\n");
    for (int k = 0; k < 16; ++k) atn_text_printf(&text, "<IteratorBlock name=\"i%d\" dimensions=\"1\"/>\n", k);
    atn_text_add(&text, "<FunctionBlock name=\"f\" dataType=\"SP\" function=\"1\"/><DataAccessWrite name=\"w\" "
                        "destination=\"x\" selFunction=\"v0\"/></Children>\n<Connections>");
    for (int k = 0; k < 16; ++k)
        atn_text_printf(&text, "<Connection source=\"x.Size(0)\" destination=\"i%d.Range(0)\"/>", k);
    atn_text_add(&text, "<Connection source=\"x.Size(0)\" destination=\"P.Range(0)\"/><Connection source=\"P.i(0)\" "
                        "destination=\"w.v(0)\"/><Connection source=\"f.out\" "
                        "destination=\"w.in\"/></Connections></ParallelAlgorithm>");
    expect_text("dimensions", &text, "19:1: 'i15': more than 16 dimensions in one algorithm");
    kit_free(ctx);
}

KIT_TEST(many_errors) {
    atn_ctx *ctx = kit_ctx();
    atn_text text = {.ctx = ctx}, lines = {.ctx = ctx};
    atn_text_add(&text, "<ParallelAlgorithm name=\"P\" dimensions=\"0\"><Connections>");
    for (int k = 0; k < 300; ++k) atn_text_printf(&text, "<Connection source=\"a%d.out\" destination=\"b.in\"/>", k);
    atn_text_add(&text, "</Connections></ParallelAlgorithm>");
    atn_sequence *sequence;
    assert_int_equal(description_parse(ctx, atn_text_str(&text), NULL, &lines, &sequence), ATN_ERR_INPUT);
    kit_contains(atn_text_str(&lines), "more errors are not shown\n");
    kit_contains(atn_ctx_message(ctx), "more)");
    atn_text_free(&text);
    atn_text_free(&lines);
    kit_free(ctx);
}

KIT_TEST(strict_mode) {
    const change changes[] = {
        {"<DataAccessRead name=\"x\"", "<IteratorBlock name=\"inner\" dimensions=\"1\"/><DataAccessRead name=\"x\""},
        {"<Connection source=\"iter.out\"",
         "<Connection source=\"b.Size(0)\" destination=\"inner.Range(0)\"/><Connection source=\"iter.out\""}};
    char *text = description_changed(changes, 2);
    description_expect("loose", text, NULL, "");
    description_expect("strict", text, &(atn_parse_options){.strict = true},
                       "11:7: 'inner': an IteratorBlock inside another is not allowed (strict)");
    free(text);
}

#define STEP(name, type, parameter)                                                                                    \
    "<ParallelAlgorithm name=\"" name                                                                                  \
    "\" dimensions=\"1\">\n<DataObjects>\n<DataObject name=\"x\" structure=\"vector\" elementDataType=\"" type         \
    "\"/>\n"                                                                                                           \
    "<Parameter name=\"s\" dataType=\"" parameter "\"/></DataObjects>\n"                                               \
    "<Children><DataAccessWrite name=\"w\" destination=\"x\" selFunction=\"v0\"/></Children>\n"                        \
    "<Connections><Connection source=\"x.Size(0)\" destination=\"" name ".Range(0)\"/><Connection source=\"" name      \
    ".i(0)\" destination=\"w.v(0)\"/>"                                                                                 \
    "<Connection source=\"s.out\" destination=\"w.in\"/></Connections></ParallelAlgorithm>\n"

KIT_TEST(sequences) {
    description_expect("agree", "<Sequence name=\"S\">\n" STEP("a", "SP", "SP") STEP("b", "SP", "SP") "</Sequence>",
                       NULL, "");
    description_expect("types", "<Sequence name=\"S\">\n" STEP("a", "SP", "SP") STEP("b", "DP", "SP") "</Sequence>",
                       NULL,
                       "10:1: 'x': is a vector of DP here and a vector of SP in line 4; objects of a Sequence with one "
                       "name are one object");
    description_expect(
        "parameters", "<Sequence name=\"S\">\n" STEP("a", "SP", "SP") STEP("b", "SP", "HP") "</Sequence>", NULL,
        "8:1: 's': is HP here and SP in an earlier step; parameters of a Sequence with one name are one parameter");
    description_expect("names", "<Sequence name=\"S\">\n" STEP("a", "SP", "SP") STEP("a", "SP", "SP") "</Sequence>",
                       NULL, "8:1: 'a': an earlier step has this name");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(depth_of_elements), cmocka_unit_test(number_of_elements), cmocka_unit_test(long_attributes),
        cmocka_unit_test(defines_that_grow), cmocka_unit_test(depth_of_functions), cmocka_unit_test(loops_that_explode),
        cmocka_unit_test(many_dimensions),   cmocka_unit_test(many_errors),        cmocka_unit_test(strict_mode),
        cmocka_unit_test(sequences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
