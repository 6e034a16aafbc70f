/* ICFs: which joins are recognised, their initial values, followers and their order. */
#include "graph/description.h"
#include "graph/recognise.h"

#include <string.h>

typedef struct row {
    const char *dimensions, *attributes, *expected;
} row;

static const char *const shape =
    "<ParallelAlgorithm name=\"P\" dimensions=\"1\"><DataObjects><DataObject name=\"A\" structure=\"matrix\" "
    "elementDataType=\"SP\"/>"
    "<DataObject name=\"out\" structure=\"vector\" elementDataType=\"DP\"/></DataObjects><Children>"
    "<IteratorBlock name=\"I\" dimensions=\"%s\" %s><DataAccessRead name=\"a\" source=\"A\" selFunction=\"v0, v1\"/>"
    "<FunctionBlock name=\"index\" numInVars=\"2\" dataType=\"INDEX\" function=\"%s\"/><FunctionBlock name=\"test\" "
    "dataType=\"B\" function=\"#in(0) > 0\"/></IteratorBlock>"
    "<FunctionBlock name=\"real\" dataType=\"DP\" function=\"#in(0)\"/><DataAccessWrite name=\"w\" destination=\"out\" "
    "selFunction=\"v0\"/></Children><Connections>"
    "<Connection source=\"A.Size(1)\" destination=\"P.Range(0)\"/><Connection source=\"A.Size(0)\" "
    "destination=\"I.Range(0)\"/>%s"
    "<Connection source=\"I.i(0)\" destination=\"a.v(0)\"/><Connection source=\"P.i(0)\" destination=\"a.v(1)\"/>"
    "<Connection source=\"I.i(0)\" destination=\"index.in(0)\"/><Connection source=\"%s\" destination=\"index.in(1)\"/>"
    "<Connection source=\"a.out\" destination=\"test.in(0)\"/>"
    "<Connection source=\"a.out\" destination=\"I.func(0)\"/>%s%s"
    "<Connection source=\"I.out\" destination=\"real.in(0)\"/><Connection source=\"real.out\" destination=\"w.in\"/>"
    "<Connection source=\"P.i(0)\" destination=\"w.v(0)\"/></Connections></ParallelAlgorithm>";

static void describe(const atn_graph *graph, const atn_block *block, atn_text *out) {
    for (int32_t k = 0; k < block->n_accs; ++k) {
        const atn_acc *acc = &block->acc[k];
        const atn_node *init = &graph->values[acc->init];
        atn_text_printf(out, "%s%s%s %s from %g", k ? ", " : "", acc->hidden ? "hidden " : "", atn_type_name(acc->type),
                        atn_join_name(acc->join), init->number[0] != 0 ? init->number[0] : (double)init->integer);
        if (acc->key >= 0) atn_text_printf(out, " by %d, %d", acc->key, acc->order);
        bool stepwise = acc->join == ATN_JOIN_CUSTOM || acc->join == ATN_JOIN_ORDERED;
        assert_int_equal(acc->term < 0, stepwise);
        assert_int_equal(acc->update >= 0, stepwise);
        assert_int_equal(acc->combine >= 0, acc->join == ATN_JOIN_CUSTOM);
    }
}

static void check(const row *rows, size_t count) {
    for (size_t k = 0; k < count; ++k) {
        atn_ctx *ctx = kit_ctx();
        atn_text text = {.ctx = ctx}, lines = {.ctx = ctx}, got = {.ctx = ctx};
        bool flat = !strcmp(rows[k].dimensions, "1");
        bool second = strstr(rows[k].attributes, "#in(1)"), third = strstr(rows[k].attributes, "#in(2)");
        atn_text_printf(&text, shape, rows[k].dimensions, rows[k].attributes, flat ? "#in(0)" : "#in(1) * 3 + #in(0)",
                        flat ? "" : "<Connection source=\"A.Size(0)\" destination=\"I.Range(1)\"/>",
                        flat ? "I.i(0)" : "I.i(1)",
                        second ? "<Connection source=\"index.out\" destination=\"I.func(1)\"/>" : "",
                        third ? "<Connection source=\"test.out\" destination=\"I.func(2)\"/>" : "");
        atn_sequence *sequence;
        if (description_parse(ctx, atn_text_str(&text), NULL, &lines, &sequence) != ATN_OK)
            fail_msg("%s: %s", rows[k].attributes, atn_text_str(&lines));
        describe(sequence->step[0], &sequence->step[0]->blocks[1], &got);
        if (strcmp(atn_text_str(&got), rows[k].expected) != 0)
            fail_msg("%s\n is %s\n not %s", rows[k].attributes, atn_text_str(&got), rows[k].expected);
        atn_sequence_free(sequence);
        atn_text_free(&text);
        atn_text_free(&lines);
        atn_text_free(&got);
        kit_free(ctx);
    }
}

KIT_TEST(joins) {
    static const row rows[] = {
        {"1", "ICF='#acc(0) + #in(0)'", "SP sum from 0"},
        {"1", "ICF='#in(0) + #acc(0)' ICFType='DP'", "DP sum from 0"},
        {"1", "ICF='#acc(0) += #in(0) * #in(0);' ICFInit='5'", "SP sum from 5"},
        {"1", "ICF='#acc(0) + #in(0) - 1'", "SP sum from 0"},
        {"1", "ICF='#acc(0) - #in(0)'", "SP sum from 0"},
        {"1", "ICF='fma(#in(0), #in(0), #acc(0))'", "SP sum from 0"},
        {"1", "ICF='#acc(0) + #in(1) + #in(0) * 0' ICFType='DP'", "DP sum from 0"},
        {"1", "ICF='#acc(0) * #in(0)'", "SP product from 1"},
        {"1", "ICF='fmin(#acc(0), #in(0))'", "SP min from inf"},
        {"1", "ICF='max(#in(0), max(1, #acc(0)))'", "SP max from -inf"},
        {"1", "ICF='#in(0) &lt; #acc(0) ? #in(0) : #acc(0)'", "SP min from inf"},
        {"1", "ICF='#acc(0) &lt;= #in(0) ? #acc(0) : #in(0)'", "SP min from inf"},
        {"1", "ICF='#acc(0) > #in(0) ? #acc(0) : #in(0)'", "SP max from -inf"},
        {"1", "ICF='#acc(0) >= #in(0) ? #in(0) : #acc(0)'", "SP min from inf"},
        {"1", "ICF='if (#in(0) > #acc(0)) #acc(0) = #in(0);'", "SP max from -inf"},
        {"1", "ICF='max(#acc(0), int(#in(0)))' ICFType='INT32'", "INT32 max from -2.14748e+09"},
        {"1", "ICF='#acc(0) &amp;&amp; #in(0) > 0' ICFType='B'", "B and from 1"},
        {"1", "ICF='#acc(0) | #in(0) > 0' ICFType='B'", "B or from 0"},
        {"1",
         "ICF='#acc(0) = #acc(0) + #in(0); #acc(1) = #acc(1) + #in(0) * #in(0); #acc(2) = #acc(2) + 1;' ICFType='SP, "
         "DP, INT32'",
         "SP sum from 0, DP sum from 0, INT32 sum from 0"},
    };
    check(rows, sizeof rows / sizeof *rows);
}

KIT_TEST(followers) {
    static const row rows[] = {
        {"1", "ICF='if (#in(0) > #acc(0)) { #acc(0) = #in(0); #acc(1) = #in(1); }' ICFType='SP, INDEX'",
         "SP argmax from -inf by 0, 1, INDEX argmax from -1 by 0, 1"},
        {"1", "ICF='if (#in(0) &lt; #acc(0)) { #acc(0) = #in(0); #acc(1) = INT32(#in(1)); }' ICFType='SP, INT32'",
         "SP argmin from inf by 0, 1, INT32 argmin from -1 by 0, 1"},
        {"1",
         "ICF='#acc(1) = #in(0) > #acc(0) ? #in(1) : #acc(1); #acc(0) = fmax(#acc(0), #in(0));' ICFType='SP, INDEX' "
         "ICFInit=', 7'",
         "SP argmax from -inf by 0, 1, INDEX argmax from 7 by 0, 1"},
        {"1", "ICF='if (#in(0) > #acc(0)) { #acc(0) = #in(0); #acc(1) = #in(1) * 2; }' ICFType='SP, INDEX'",
         "SP argmax from -inf by 0, 2, INDEX argmax from -1 by 0, 2, hidden INDEX argmax from -1 by 0, 2"},
        {"2", "ICF='if (#in(0) > #acc(0)) { #acc(0) = #in(0); #acc(1) = #in(1); }' ICFType='SP, INDEX'",
         "SP argmax from -inf by 0, 2, INDEX argmax from -1 by 0, 2, hidden INDEX argmax from -1 by 0, 2"},
        {"1", "ICF='if (#in(0) >= #acc(0)) { #acc(0) = #in(0); #acc(1) = #in(1); }' ICFType='SP, INDEX' ICFInit='0'",
         "SP ordered from 0, INDEX ordered from 0"}, /* the last of equals: not ours */
        {"1",
         "ICF='#acc(2) = #acc(2) + #in(0); if (#in(0) > #acc(0)) { #acc(0) = #in(0); #acc(1) = #in(1); }' ICFType='SP, "
         "INDEX, SP'",
         "SP argmax from -inf by 0, 1, INDEX argmax from -1 by 0, 1, SP sum from 0"},
    };
    check(rows, sizeof rows / sizeof *rows);
}

KIT_TEST(others) {
    static const row rows[] = {
        {"1", "ICF='#acc(0) * 2 + #in(0)' ICFInit='1'", "SP ordered from 1"},
        {"1", "ICF='#in(0) - #acc(0)' ICFInit='0'", "SP ordered from 0"},
        {"1", "ICF='#acc(0) + #acc(0) * #in(0)' ICFInit='1'", "SP ordered from 1"},
        {"1", "ICF='#acc(0) = #acc(0) + #in(0); #acc(1) = #acc(0) * #acc(1);' ICFInit='0, 1' ICFType='SP'",
         "SP ordered from 0, SP ordered from 1"},
        {"1", "ICF='#acc(0) = #acc(1); #acc(1) = #acc(0) + #in(0);' ICFInit='0' ICFType='SP'",
         "SP ordered from 0, SP ordered from 0"},
        {"1", "ICF='hypot(#acc(0), #in(0))' ICFCombine='hypot(#a(0), #b(0))' ICFInit='0'", "SP custom from 0"},
        {"1",
         "ICF='#acc(0) = #acc(0) * #in(0); #acc(1) = #acc(1) * #in(0) + 1;' ICFType='SP' ICFInit='1, 0' "
         "ICFCombine='#acc(0) = #a(0) * #b(0); #acc(1) = #a(1) * #b(0) + #b(1);'",
         "SP custom from 1, SP custom from 0"},
    };
    check(rows, sizeof rows / sizeof *rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(joins), cmocka_unit_test(followers), cmocka_unit_test(others)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
