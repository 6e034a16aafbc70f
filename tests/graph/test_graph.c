/* Whole descriptions: Listing 2 of the seed as printed, the corpus, the manual's examples, the hash, failing memory. */
#include "graph/description.h"

#include "base/file.h"
#include "base/memory.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const listing_2 =
    "<ParallelAlgorithm name=\"MV\" dimensions=\"1\">\n"
    "  <DataObjects>\n"
    "    <DataObject name=\"A\" structure=\"matrix\" elementDataType=\"USED_FLOAT\"/>\n"
    "    <DataObject name=\"b\" structure=\"vector\" elementDataType=\"USED_FLOAT\"/>\n"
    "    <DataObject name=\"c\" structure=\"vector\" elementDataType=\"USED_FLOAT\"/>\n"
    "  </DataObjects>\n"
    "  <Children>\n"
    "    <IteratorBlock name=\"iter1\" dimensions=\"1\" ICF=\"#acc(0)+#in(0)\"\n"
    "      ICFType=\"USED_FLOAT\">\n"
    "     <DataAccessRead name=\"access_A\" source=\"A\" selfFunction=\"v0, v1\"/>\n"
    "     <DataAccessRead name=\"access_b\" source=\"b\" selfFunction=\"v0\"/>\n"
    "     <FunctionBlock name=\"MulFunc\" numInVars=\"2\" numOutVars=\"1\"\n"
    "       dataType=\"USED_FLOAT\" function=\"#in(0) * #in(1);\"/>\n"
    "   </IteratorBlock>\n"
    "   <DataAccessWrite name=\"access_c\" destination=\"c\" accessFunction=\"v0\"/>\n"
    " </Children>\n"
    " <Connections>\n"
    "   <Connection source=\"A.Size(1)\" destination=\"MV.Range(0)\"/>\n"
    "   <Connection source=\"A.Size(0)\" destination=\"iter1.Range(0)\"/>\n"
    "   <Connection source=\"iter1.i(0)\" destination=\"access_A.v(0)\"/>\n"
    "   <Connection source=\"MV.i(0)\" destination=\"access_A.v(1)\"/>\n"
    "   <Connection source=\"iter1.i(0)\" destination=\"access_b.v(0)\"/>\n"
    "   <Connection source=\"access_A.out\" destination=\"MulFunc.in(0)\"/>\n"
    "   <Connection source=\"access_b.out\" destination=\"MulFunc.in(1)\"/>\n"
    "   <Connection source=\"MulFunc.out(0)\" destination=\"iter1.func(0)\"/>\n"
    "   <Connection source=\"iter1.out\" destination=\"access_c.in\"/>\n"
    "   <Connection source=\"MV.i(0)\" destination=\"access_c.v(0)\"/>\n"
    " </Connections>\n"
    "</ParallelAlgorithm>\n";

static const char *const listing_2_printed = "graph MV\n"
                                             "  object A: matrix of SP, read\n"
                                             "  object b: vector of SP, read\n"
                                             "  object c: vector of SP, written\n"
                                             "  v0 INDEX = 0\n"
                                             "  v1 INDEX = A.Size(1)\n"
                                             "  v2 INDEX = A.Size(0)\n"
                                             "  v3 INDEX = d1  {d1}\n"
                                             "  v4 INDEX = d0  {d0}\n"
                                             "  v5 SP = read A[v3, v4]  {d0 d1}  access_A\n"
                                             "  v6 SP = read b[v3]  {d1}  access_b\n"
                                             "  v7 SP = * v5 v6  {d0 d1}  MulFunc\n"
                                             "  v8 SP = 0\n"
                                             "  v9 SP = iter1.out(0)  {d0}  iter1\n"
                                             "  block MV: d0 from v0 to v1\n"
                                             "  block iter1 in MV: d1 from v0 to v2\n"
                                             "    acc(0) SP sum init v8 term v7\n"
                                             "  write access_c: c[v4] = v9 in MV\n";

static const atn_define used_float[] = {{"USED_FLOAT", "SP"}, {"USED_FLOAT", "DP"}};
static const atn_parse_options single = {.defines = used_float, .n_defines = 1},
                               twice = {.defines = used_float + 1, .n_defines = 1};

static atn_sequence *parsed(atn_ctx *ctx, const char *what, const char *text, size_t length,
                            const atn_parse_options *options) {
    atn_text lines = {.ctx = ctx};
    atn_diagnostics diagnostics = {.lines = &lines};
    atn_sequence *sequence;
    if (atn_sequence_parse(ctx, what, text, length, options, &diagnostics, &sequence) != ATN_OK)
        fail_msg("%s", atn_text_str(&lines));
    atn_text_free(&lines);
    return sequence;
}

KIT_TEST(listing_as_printed) {
    atn_ctx *ctx = kit_ctx();
    atn_sequence *sequence = parsed(ctx, "mv.xml", listing_2, strlen(listing_2), &single);
    assert_int_equal(sequence->count, 1);
    assert_string_equal(sequence->name, "MV");
    assert_string_equal(sequence->step[0]->file, "mv.xml");
    atn_text text = {.ctx = ctx};
    atn_graph_print(sequence->step[0], &text);
    assert_string_equal(atn_text_str(&text), listing_2_printed);
    atn_text_free(&text);
    atn_sequence_free(sequence);
    sequence = parsed(ctx, "mv.xml", listing_2, strlen(listing_2), &twice);
    assert_int_equal(sequence->step[0]->objects[0].type, ATN_DP);
    atn_sequence_free(sequence);
    kit_free(ctx);
}

KIT_TEST(corpus) {
    atn_ctx *ctx = kit_ctx();
    DIR *dir = opendir(ATN_SOURCE_DIR "/tests/fuzz/corpus/graph");
    assert_non_null(dir);
    int count = 0;
    for (const struct dirent *entry; (entry = readdir(dir));) {
        if (!strstr(entry->d_name, ".xml")) continue;
        char path[4096], *text;
        size_t length;
        snprintf(path, sizeof path, ATN_SOURCE_DIR "/tests/fuzz/corpus/graph/%s", entry->d_name);
        kit_ok(ctx, atn_file_read(ctx, path, 1 << 20, &text, &length));
        atn_sequence *sequence = parsed(ctx, entry->d_name, text, length, &single);
        atn_text printed = {.ctx = ctx};
        for (int32_t k = 0; k < sequence->count; ++k) atn_graph_print(sequence->step[k], &printed);
        assert_true(printed.length > 100);
        atn_text_free(&printed);
        atn_sequence_free(sequence);
        atn_free(ctx, text);
        ++count;
    }
    closedir(dir);
    assert_true(count >= 15);
    kit_free(ctx);
}

/* Each ```xml block of the manual is a description that parses. */
KIT_TEST(manual) {
    atn_ctx *ctx = kit_ctx();
    char *text;
    size_t length;
    kit_ok(ctx, atn_file_read(ctx, ATN_SOURCE_DIR "/docs/language.md", 1 << 20, &text, &length));
    int count = 0;
    for (const char *at = text; (at = strstr(at, "```xml\n"));) {
        const char *begin = at + 7, *end = strstr(begin, "```");
        assert_non_null(end);
        char what[64];
        int line = 1;
        for (const char *c = text; c < begin; ++c) line += *c == '\n';
        snprintf(what, sizeof what, "docs/language.md, example at line %d", line);
        atn_sequence_free(parsed(ctx, what, begin, (size_t)(end - begin), &single));
        ++count;
        at = end + 3;
    }
    assert_true(count >= 10);
    atn_free(ctx, text);
    kit_free(ctx);
}

static atn_hash hash_of(atn_ctx *ctx, const char *text, const atn_parse_options *options) {
    atn_sequence *sequence = parsed(ctx, "mv.xml", text, strlen(text), options);
    atn_hash hash = sequence->step[0]->hash;
    atn_sequence_free(sequence);
    return hash;
}

static bool same_hash(atn_hash a, atn_hash b) { return a.high == b.high && a.low == b.low; }

KIT_TEST(hash_without_names) {
    atn_ctx *ctx = kit_ctx();
    atn_hash right = hash_of(ctx, right_description, NULL);
    static const struct {
        change changes[4];
        bool same;
    } rows[] = {
        {{{"name=\"s\"", "name=\"factor\""}, {"s.out", "factor.out"}}, true},
        {{{"name=\"A\"", "name=\"M\""},
          {"source=\"A\"", "source=\"M\""},
          {"A.Size(1)", "M.Size(1)"},
          {"A.Size(0)", "M.Size(0)"}},
         true},
        {{{"function=\"#in(0) * #in(1)\"/>\n    </I", "function=\"#out(0) = #in(0) * #in(1);\"/>\n    </I"}}, true},
        {{{"selFunction=\"v0, v1\"", "selFunction=\"v0 + 1 - 1, v1\""}}, true},
        {{{"<Connection source=\"x.out\" destination=\"mul.in(1)\"/>", ""},
          {"</Connections>", "<Connection source=\"x.out\" destination=\"mul.in(1)\"/></Connections>"}},
         true},
        {{{"<Parameter name=\"s\" dataType=\"SP\"/>", "<Parameter name=\"s\" dataType=\"SP\" default=\"2\"/>"}}, true},
        {{{"function=\"#in(0) * #in(1)\"/>\n    </I", "function=\"#in(0) + #in(1)\"/>\n    </I"}}, false},
        {{{"selFunction=\"v0, v1\"", "selFunction=\"2 * v0, v1\""}}, false},
        {{{"source=\"b\" selFunction=\"v0\"", "source=\"b\" selFunction=\"v0\" boundary=\"clamp\""}}, false},
        {{{"ICF=\"#acc(0) + #in(0)\"", "ICF=\"fmax(#acc(0), #in(0))\""}}, false},
        {{{"name=\"MV\" ", "name=\"MV\" finite=\"true\" "}}, false},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; ++k) {
        char *text = description_changed(rows[k].changes, 4);
        if (same_hash(right, hash_of(ctx, text, NULL)) != rows[k].same) fail_msg("row %zu: %s", k, text);
        free(text);
    }
    assert_false(same_hash(hash_of(ctx, listing_2, &single), hash_of(ctx, listing_2, &twice)));
    kit_free(ctx);
}

KIT_TEST(defines_are_whole_words) {
    atn_define define = {"N", "3"};
    atn_parse_options options = {.defines = &define, .n_defines = 1};
    const change changes[] = {
        {"function=\"#in(0) * #in(1)\"/>\n    <D", "function=\"#in(0) * #in(1) * N * INFINITY\"/>\n    <D"}};
    char *text = description_changed(changes, 1);
    description_expect("define", text, &options, "");
    description_expect("no define", text, NULL, "14:75: 'scale': no variable 'N'");
    free(text);
    const change behind[] = {
        {"function=\"#in(0) * #in(1)\"/>\n    <D", "function=\"N * #in(0) &lt; N @ #in(1)\"/>\n    <D"}};
    text = description_changed(behind, 1); /* the place is that of the file, in spite of what was replaced */
    define.value = "12345";
    description_expect("place", text, &options, "14:75: 'scale': '@' is not understood here");
    free(text);
}

KIT_TEST(memory_that_fails) {
    const change changes[] = {{"destination=\"a.v(1)\"", "destination=\"aa.v(1)\""}};
    char *wrong_one = description_changed(changes, 1);
    const char *const texts[] = {listing_2, wrong_one};
    for (size_t which = 0; which < 2; ++which) {
        long needed = 0;
        for (long fail_at = 0; fail_at <= needed + 1; ++fail_at) {
            kit_faults faults = {0};
            atn_ctx_settings options = kit_fault_options(&faults);
            atn_ctx *ctx;
            assert_int_equal(atn_ctx_create(&options, &ctx), ATN_OK);
            long before = faults.count, live = faults.live;
            faults.fail_at = fail_at ? before + fail_at : 0;
            atn_text lines = {.ctx = ctx};
            atn_diagnostics diagnostics = {.lines = &lines};
            atn_sequence *sequence;
            atn_status status =
                atn_sequence_parse(ctx, "mv.xml", texts[which], strlen(texts[which]), &single, &diagnostics, &sequence);
            bool failed = fail_at && fail_at <= needed;
            atn_status wanted = which ? ATN_ERR_INPUT : ATN_OK;
            if (!failed)
                assert_int_equal(status, wanted);
            else if (!lines.failed)
                assert_int_equal(status, ATN_ERR_MEMORY);
            assert_int_equal(sequence != NULL, status == ATN_OK);
            atn_sequence_free(sequence);
            atn_text_free(&lines);
            assert_int_equal(faults.live, live);
            if (!fail_at) needed = faults.count - before;
            atn_ctx_free(ctx);
        }
        assert_true(needed > 20);
    }
    free(wrong_one);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(listing_as_printed),
        cmocka_unit_test(corpus),
        cmocka_unit_test(manual),
        cmocka_unit_test(hash_without_names),
        cmocka_unit_test(defines_are_whole_words),
        cmocka_unit_test(memory_that_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
