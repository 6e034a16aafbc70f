/* Blocks turned in registers: the program of a transposition exchanges pieces of vectors, log2(lanes) times for each
 * vector, picks no lane by itself, and writes all blocks of a row before the next row. Its results are held against the
 * oracle by kernel/shipped. */
#include "testkit.h"

#include "base/file.h"
#include "base/memory.h"
#include "graph/graph.h"
#include "lower/lower.h"

#include <stdio.h>
#include <string.h>

/* Occurrences of `word` in the program's text. */
static int count(const char *text, const char *word) {
    int n = 0;
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) ++n;
    return n;
}

static void turns(const char *knobs, const char *type, int exchanges) {
    atn_ctx *ctx = kit_ctx();
    char *xml;
    size_t length;
    atn_sequence *sequence;
    atn_variant variant = atn_variant_plain();
    atn_lowered *program;
    const atn_define define = {"USED_FLOAT", type};
    const atn_target target = {.host = true, .vectors = true, .warp = 1, .max_items = 1, .local_bytes = 1 << 20};
    kit_ok(ctx, atn_file_read(ctx, ATN_SOURCE_DIR "/kernels/transpose.atn", 1 << 20, &xml, &length));
    kit_ok(ctx, atn_sequence_parse(ctx, "transpose", xml, length,
                                   &(atn_parse_options){.defines = &define, .n_defines = 1}, NULL, &sequence));
    kit_ok(ctx, atn_variant_parse(ctx, &variant, knobs));
    kit_ok(ctx, atn_lower(ctx, sequence->step[0], &variant, &target, &program));
    atn_text text = {.ctx = ctx};
    atn_lowered_print(program, &text);
    assert_int_equal(count(atn_text_str(&text), "let turn_"), exchanges);
    assert_int_equal(count(atn_text_str(&text), "lane"), 0);
    /* stores of vectors: those of one row have the same row in their address, one after the other */
    char last[64] = "";
    int rows = 0;
    for (const char *at = strstr(atn_text_str(&text), "store B "); at; at = strstr(at + 1, "store B ")) {
        const char *end = strchr(at, '\n'), *row = strstr(at, "*(");
        if (!strstr(at, "turn_") || strstr(at, "turn_") > end) continue;
        assert_true(row && row < end);
        char here[64];
        snprintf(here, sizeof here, "%.*s", (int)strcspn(row, ","), row);
        rows += strcmp(here, last) != 0;
        strcpy(last, here);
    }
    assert_int_equal(rows, variant.p[1].vec);
    atn_text_free(&text);
    atn_lowered_free(program);
    atn_sequence_free(sequence);
    atn_free(ctx, xml);
    kit_free(ctx);
}

KIT_TEST(transposition_is_exchanges) {
    turns("regs_p0=4,vec_p1=4", "SP", 4 * 2);
    turns("regs_p0=16,vec_p1=4,seq_p1=16", "SP", 16 * 2);
    turns("regs_p0=8,vec_p1=8", "SP", 8 * 3);
    turns("regs_p0=8,vec_p1=2", "DP", 8 * 1);
    turns("regs_p0=16,vec_p1=16,stream=1", "INT32", 16 * 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(transposition_is_exchanges)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
