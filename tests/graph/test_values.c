/* Function texts and the values they become: types, conversions, literals, statements, folding. */
#include "graph/description.h"
#include "graph/type.h"

#include <stdlib.h>
#include <string.h>

/* A value as one expression: reads by their object, constants with their type unless SP. */
static void express(const atn_graph *graph, atn_value value, atn_text *out) {
    const atn_node *node = &graph->values[value];
    const atn_op_info *info = atn_op_get_info(node->op);
    if (node->op == ATN_OP_READ)
        atn_text_add(out, graph->objects[graph->reads[node->index].object].name);
    else if (node->op == ATN_OP_PARAM)
        atn_text_add(out, graph->parameters[node->index].name);
    else if (node->op == ATN_OP_DIM)
        atn_text_add(out, "i");
    else if (node->op == ATN_OP_CONST) {
        if (atn_type_is_integer(node->type))
            atn_text_printf(out, "%lld", (long long)node->integer);
        else if (atn_type_is_complex(node->type))
            atn_text_printf(out, "(%g,%g)", node->number[0], node->number[1]);
        else
            atn_text_printf(out, "%.9g", node->number[0]);
        if (node->type != ATN_SP) atn_text_printf(out, ":%s", atn_type_name(node->type));
    } else {
        bool named = node->op == ATN_OP_CAST || node->op == ATN_OP_COMPLEX;
        atn_text_printf(out, "(%s", named ? atn_type_name(node->type) : info->name);
        for (int32_t k = 0; k < info->arity; ++k) {
            atn_text_add(out, " ");
            express(graph, node->arg[k], out);
        }
        atn_text_add(out, ")");
    }
}

typedef struct row {
    const char *type, *function, *expected;
} row;

/* x: SP, d: DP, n: INT32, u: U8, z: SP2, b: B, h: HP parameters as #in(0) to #in(6); #in(7) is the index. */
static void check(const row *rows, size_t count) {
    static const char *const parameters[] = {"x\" dataType=\"SP", "d\" dataType=\"DP",  "n\" dataType=\"INT32",
                                             "u\" dataType=\"U8", "z\" dataType=\"SP2", "b\" dataType=\"B",
                                             "h\" dataType=\"HP"};
    for (size_t k = 0; k < count; ++k) {
        atn_ctx *ctx = kit_ctx();
        atn_text text = {.ctx = ctx}, lines = {.ctx = ctx}, got = {.ctx = ctx};
        atn_text_printf(&text,
                        "<ParallelAlgorithm name=\"P\" dimensions=\"1\"><DataObjects><DataObject name=\"out\" "
                        "structure=\"vector\" elementDataType=\"%s\"/>",
                        !strcmp(rows[k].type, "INDEX") ? "DP" : rows[k].type);
        for (size_t p = 0; p < 7; ++p) atn_text_printf(&text, "<Parameter name=\"%s\"/>", parameters[p]);
        atn_text_printf(
            &text,
            "</DataObjects><Children><FunctionBlock name=\"f\" numInVars=\"8\" dataType=\"%s\" function=\"%s\"/>",
            rows[k].type, rows[k].function);
        atn_text_add(&text,
                     "<DataAccessWrite name=\"w\" destination=\"out\" selFunction=\"v0\"/></Children><Connections>"
                     "<Connection source=\"out.Size(0)\" destination=\"P.Range(0)\"/><Connection source=\"P.i(0)\" "
                     "destination=\"w.v(0)\"/>"
                     "<Connection source=\"f.out\" destination=\"w.in\"/><Connection source=\"P.i(0)\" "
                     "destination=\"f.in(7)\"/>");
        for (size_t p = 0; p < 7; ++p)
            atn_text_printf(&text, "<Connection source=\"%c.out\" destination=\"f.in(%zu)\"/>", parameters[p][0], p);
        atn_text_add(&text, "</Connections></ParallelAlgorithm>");
        atn_sequence *sequence;
        if (description_parse(ctx, atn_text_str(&text), NULL, &lines, &sequence) != ATN_OK)
            fail_msg("%s: %s", rows[k].function, atn_text_str(&lines));
        express(sequence->step[0], sequence->step[0]->writes[0].value, &got);
        if (strcmp(atn_text_str(&got), rows[k].expected) != 0)
            fail_msg("%s: %s\n is %s\n not %s", rows[k].type, rows[k].function, atn_text_str(&got), rows[k].expected);
        atn_sequence_free(sequence);
        atn_text_free(&text);
        atn_text_free(&lines);
        atn_text_free(&got);
        kit_free(ctx);
    }
}

KIT_TEST(operators) {
    static const row rows[] = {
        {"SP", "#in(0) + #in(0) * #in(0)", "(+ x (* x x))"},
        {"SP", "#in(0) - #in(0) - 2", "(- (- x x) 2)"},
        {"SP", "-(#in(0) / 3)", "(- (/ x 3))"},
        {"B", "#in(0) > 1 and not (#in(0) >= 2 or #in(5))", "(&& (< 1 x) (! (|| (<= 2 x) b)))"},
        {"B", "#in(0) == 1 &amp;&amp; #in(0) != 2 || !#in(5)", "(|| (&& (== x 1) (!= x 2)) (! b))"},
        {"INT32", "(#in(2) &lt;&lt; 2 | #in(2) >> 1) ^ ~#in(2) &amp; 7",
         "(^ (| (<< n 2:INT32) (>> n 1:INT32)) (& (~ n) 7:INT32))"},
        {"INT32", "#in(2) % 3 + #in(2) mod 3", "(+ (% n 3:INT32) (mod n 3:INT32))"},
        {"SP", "#in(5) ? #in(0) : #in(0) > 0 ? 1 : 2.5", "(select b x (select (< 0 x) 1 2.5))"},
        {"SP", "fma(#in(0), 2, fmin(#in(0), fmax(1, #in(0))))", "(fma x 2 (min x (max 1 x)))"},
        {"SP", "pow(#in(0), 2) + rsqrt(#in(0)) + fabs(#in(0)) + atan2(#in(0), 1) + hypot(#in(0), 2)",
         "(+ (+ (+ (+ (pow x 2) (rsqrt x)) (abs x)) (atan2 x 1)) (hypot x 2))"},
        {"INT32", "bits(#in(0))", "(bits x)"},
        {"B", "isnan(#in(0)) || !isfinite(#in(1))", "(|| (isnan x) (! (isfinite d)))"},
        {"B", "#in(5) &amp; #in(5) | true", "1:B"},
    };
    check(rows, sizeof rows / sizeof *rows);
}

KIT_TEST(types) {
    static const row rows[] = {
        {"DP", "#in(0) + #in(1)", "(+ (DP x) d)"},
        {"DP", "0.1 * #in(0)", "(* 0.1:DP (DP x))"},
        {"SP", "0.1 * #in(0)", "(* 0.100000001 x)"},
        {"SP", "#in(2) / 2", "(/ (SP n) 2)"},
        {"INT32", "#in(2) / 2", "(/ n 2:INT32)"},
        {"INT32", "#in(3) + #in(3)", "(+ (INT32 u) (INT32 u))"},
        {"U8", "U8(#in(3) + 1)", "(U8 (+ (INT32 u) 1:INT32))"},
        {"U8", "#in(5) ? #in(3) : 0", "(select b u 0:U8)"},
        {"INT32", "(int)(#in(0) * 0.5)", "(INT32 (* x 0.5))"},
        {"INT32", "INT32(floor(#in(1)))", "(INT32 (floor d))"},
        {"B", "#in(7) == 16777217", "(== i 16777217:INDEX)"},
        {"B", "#in(1) > 0.1", "(< 0.1:DP d)"},
        {"B", "#in(3) == 255", "(== (INT32 u) 255:INT32)"},
        {"SP", "#in(7) * 0.5", "(* (SP i) 0.5)"},
        {"INDEX", "#in(7) * 2 + #in(2)", "(DP (+ (* i 2:INDEX) (INDEX n)))"},
        {"SP", "(float)#in(1) + float(#in(2))", "(+ (SP d) (SP n))"},
        {"SP", "#in(6) * 2", "(* (SP h) 2)"},
        {"HP", "#in(6) * 2", "(* h 2:HP)"},
        {"HP", "half(0.1)", "0.0999755859:HP"},
        {"B", "bool(#in(0))", "(!= x 0)"},
        {"SP", "exp(2)", "(exp 2)"},
        {"SP", "sqrt(#in(2))", "(sqrt (SP n))"},
        {"SP2", "#in(4) * #in(0) + 1", "(+ (* z (SP2 x 0)) (1,0):SP2)"},
        {"SP2", "complex(#in(0), 1) / conj(#in(4))", "(/ (SP2 x 1) (conj z))"},
        {"SP", "real(#in(4)) + imag(#in(4)) + abs(#in(4)) + arg(#in(4))",
         "(+ (+ (+ (real z) (imag z)) (abs z)) (atan2 (imag z) (real z)))"},
        {"DP2", "#in(4) * #in(1)", "(* (DP2 z) (DP2 d 0:DP))"},
        {"B", "#in(4) == 0", "(== z (0,0):SP2)"},
    };
    check(rows, sizeof rows / sizeof *rows);
}

KIT_TEST(statements) {
    static const row rows[] = {
        {"SP", "#out(0) = #in(0);", "x"},
        {"SP", "float t = #in(0), s = t * t; t += s; #out(0) = t - s", "(- (+ x (* x x)) (* x x))"},
        {"SP", "auto t = #in(1) * 2; #out(0) = float(t);", "(SP (* d 2:DP))"},
        {"SP", "const int k = 3; #out(0) = k * #in(0);", "(* 3 x)"},
        {"SP", "if (#in(5)) #out(0) = 1; else #out(0) = #in(0);", "(select b 1 x)"},
        {"SP", "#out(0) = #in(0); if (#in(5)) { #out(0) = 2 * #out(0); }", "(select b (* 2 x) x)"},
        {"SP", "float t; if (#in(5)) { float s = 1; t = s; } else if (#in(0) > 0) t = 2; else t = 3; #out(0) = t;",
         "(select b 1 (select (< 0 x) 2 3))"},
        {"SP", "if (1 > 2) #out(0) = 1; else #out(0) = 2;", "2"},
        {"SP", "float t = 1; for (int k = 0; k &lt; 3; ++k) t *= #in(0); #out(0) = t;", "(* (* x x) x)"},
        {"SP", "float t = 0; for (int k = 3; k > 0; k -= 2) { t = t + k; } #out(0) = t;", "4"},
        {"SP", "float t = 0; for (int k = 0; k &lt; 2; k++) t += #in(k + 2); #out(0) = t;", "(+ (+ 0 (SP n)) (SP u))"},
        {"INT32",
         "int t = 0; for (int k = 0; k &lt; 2; k++) for (int l = 0; l &lt; 2; l++) t += k * l * #in(2); #out(0) = t;",
         "n"},
        {"SP", "/* nothing */ ; float x = #in(0); { float x = 2; x = x; } #out(0) = x;", "x"},
        {"SP", "#in(0) /* in the middle */ * 2", "(* x 2)"},
        {"SP", "float t = M_PI * INFINITY; #out(0) = t;", "inf"},
    };
    check(rows, sizeof rows / sizeof *rows);
}

KIT_TEST(folding) {
    static const row rows[] = {
        {"SP", "1 / 3 * #in(0)", "(* 0.333333343 x)"},
        {"INT32", "7 / 2 + #in(2) * 0", "3:INT32"},
        {"INT32", "int(7) / int(0)", "0:INT32"},
        {"INT32", "int(-7) % int(3) + int(-7) mod int(3)", "1:INT32"},
        {"INT32", "int(2147483647) + int(1)", "-2147483648:INT32"},
        {"U8", "U8(300)", "44:U8"},
        {"U8", "U8(300.7)", "255:U8"},
        {"INT32", "int(NAN)", "0:INT32"},
        {"SP", "#in(0) * 1 + 0", "(+ x 0)"}, /* -0 + 0 is 0 */
        {"SP", "(#in(0) - 0) / 1", "x"},
        {"SP", "#in(0) * 0", "(* x 0)"}, /* NaN */
        {"SP", "- -#in(0)", "x"},
        {"B", "!!#in(5)", "b"},
        {"SP", "#in(5) ? #in(0) : #in(0)", "x"},
        {"SP2", "complex(1, 2) * 1 + conj(complex(0, 1))", "(+ (* (1,2):SP2 (1,0):SP2) (0,-1):SP2)"},
        {"INDEX", "(#in(7) + 5) * 2 - 10", "(DP (* i 2:INDEX))"},
        {"INDEX", "0x10 + 1", "17:DP"},
    };
    check(rows, sizeof rows / sizeof *rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(operators), cmocka_unit_test(types),
                                       cmocka_unit_test(statements), cmocka_unit_test(folding)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
