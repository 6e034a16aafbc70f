/* Where accesses go: selectors as affine forms; which in-place updates and writes are safe. */
#include "graph/description.h"

#include "graph/affine.h"

#include <string.h>

/* One read of u and one write of u over a plane; v0, v1: the point; v2: an INT32 parameter; v3: u.Size(0). */
static const char *const shape =
    "<ParallelAlgorithm name=\"P\" dimensions=\"2\"><DataObjects><DataObject name=\"u\" structure=\"matrix\" "
    "elementDataType=\"SP\"/>"
    "<DataObject name=\"%s\" structure=\"matrix\" elementDataType=\"SP\"/><Parameter name=\"c\" "
    "dataType=\"INT32\"/></DataObjects><Children>"
    "<DataAccessRead name=\"r\" source=\"u\" selFunction=\"%s\" boundary=\"%s\"/>"
    "<FunctionBlock name=\"when\" numInVars=\"3\" dataType=\"B\" function=\"%s\"/>"
    "<DataAccessWrite name=\"w\" destination=\"%s\" selFunction=\"%s\"/></Children><Connections>"
    "<Connection source=\"u.Size(0)\" destination=\"P.Range(0)\"/><Connection source=\"u.Size(1)\" "
    "destination=\"P.Range(1)\"/>"
    "<Connection source=\"P.i(0)\" destination=\"when.in(0)\"/><Connection source=\"P.i(1)\" "
    "destination=\"when.in(1)\"/><Connection source=\"c.out\" destination=\"when.in(2)\"/>"
    "<Connection source=\"r.out\" destination=\"w.in\"/><Connection source=\"when.out\" destination=\"w.enable\"/>";

static const char *const sources[] = {"P.i(0)", "P.i(1)", "c.out", "u.Size(0)"};

static void make(atn_text *text, const char *read, const char *boundary, const char *when, const char *write,
                 const char *to) {
    atn_text_printf(text, shape, "other", read, boundary, when, to, write);
    for (int side = 0; side < 2; ++side)
        for (int k = 0; k < 4; ++k) {
            char name[8] = {'v', (char)('0' + k)};
            if (!strstr(side ? write : read, name)) continue;
            atn_text_printf(text, "<Connection source=\"%s\" destination=\"%c.v(%d)\"/>", sources[k], side ? 'w' : 'r',
                            k);
        }
    atn_text_add(text, "</Connections></ParallelAlgorithm>");
}

KIT_TEST(in_place) {
    static const struct {
        const char *read, *boundary, *when, *write;
        bool right;
    } rows[] = {
        {"v0, v1", "none", "true", "v0, v1", true},
        {"v0 + 1, v1", "none", "true", "v0, v1", false},
        {"v0 + 1 - 1, v1", "none", "true", "v0, v1", true},
        {"v1, v0", "none", "true", "v0, v1", false},
        {"2 * v0 + 1, v1", "none", "true", "2 * v0, v1", true},
        {"2 * v0 + 2, v1", "none", "true", "2 * v0, v1", false},
        {"2 * v0 + 1, v1", "clamp", "true", "2 * v0, v1", false}, /* the clamped one may be written */
        {"v0, 2 * v1 + v2", "none", "true", "v0, 2 * v1 + v2", true},
        {"v0, v1 + v2", "none", "true", "v0, v1", false},
        {"v0 + 1000, v1", "none", "true", "v0, v1", false},
        {"3 * v0 + 1000, v1", "none", "true", "3 * v0, v1", true},
        {"v0 - 1, v1", "clamp", "(#in(0) + #in(1)) mod 2 == 0", "v0, v1", true},
        {"v0 - 1, v1", "zero", "(#in(0) + #in(1) + #in(2)) mod 2 == 1", "v0, v1", true},
        {"v0 - 1, v1 + 1", "clamp", "(#in(0) + #in(1)) mod 2 == 0", "v0, v1", false},
        {"v0 - 1, v1", "wrap", "(#in(0) + #in(1)) mod 2 == 0", "v0, v1", false}, /* odd widths */
        {"v0 - 2, v1", "zero", "(#in(0) + #in(1)) mod 2 == 0", "v0, v1", false},
        {"v0 - 1, v1", "zero", "#in(0) mod 3 == 1", "v0, v1", true},
        {"v0 - 3, v1", "zero", "#in(0) mod 3 == 1", "v0, v1", false},
        {"2 * v0 + (v1 + v2) mod 2 + 1, v1", "none", "true", "2 * v0 + (v1 + v2) mod 2, v1", true},
        {"2 * v0 + (v1 + v2) mod 2, v1 - 1", "zero", "true", "2 * v0 + (v1 + v2) mod 2, v1", true},
        {"2 * v0 + (v1 + v2) mod 2 + 1, v1 - 1", "none", "true", "2 * v0 + (v1 + v2) mod 2, v1", false},
        {"0, v1", "none", "true", "v0, v1", false},
        {"0, v1", "none", "#in(0) > 0", "v0, v1", true},
        {"v0 - 1, v1", "zero", "#in(0) > 0", "v0, v1", false},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; ++k) {
        atn_ctx *ctx = kit_ctx();
        atn_text text = {.ctx = ctx}, lines = {.ctx = ctx};
        make(&text, rows[k].read, rows[k].boundary, rows[k].when, rows[k].write, "u");
        atn_sequence *sequence;
        atn_status status = description_parse(ctx, atn_text_str(&text), NULL, &lines, &sequence);
        if ((status == ATN_OK) != rows[k].right)
            fail_msg("row %zu: u[%s] = u[%s]: %s", k, rows[k].write, rows[k].read, atn_text_str(&lines));
        if (status != ATN_OK)
            kit_contains(atn_text_str(&lines),
                         "'r': a point may read what another point writes to 'u' (by 'w'); write to another object");
        atn_sequence_free(sequence);
        atn_text_free(&text);
        atn_text_free(&lines);
        kit_free(ctx);
    }
}

KIT_TEST(one_to_one) {
    static const struct {
        const char *when, *write, *complaint; /* NULL: right */
    } rows[] = {
        {"true", "v1, v0", NULL},
        {"true", "v0 + v1, v0 - v1", NULL},
        {"true", "v0 + v1, 2 * v0 + 2 * v1", "two points write"},
        {"true", "v0, 0", "every step of P.i(1)"},
        {"true", "(v0 + 1) mod v3, v1", NULL},
        {"true", "(v0 + 1) mod 4, v1", "two points write"},
        {"true", "2 * v0 + (v1 + v2) mod 2, v1", NULL},
        {"true", "v0 + (v1 + v2) mod 2, v1", NULL},
        {"true", "v0 + v1 * v3, 0", NULL}, /* rows one after the other: v3 is the length of a row */
        {"true", "v0 + v1 * 100, 0", "cannot be shown"},
        {"#in(1) == 0", "v0, 0", NULL},
        {"#in(1) mod 2 == 0", "v0, v1 / 2", NULL},
        {"true", "v0, v1 / 2", "two points write"},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; ++k) {
        atn_ctx *ctx = kit_ctx();
        atn_text text = {.ctx = ctx}, lines = {.ctx = ctx};
        make(&text, "v0, v1", "none", rows[k].when, rows[k].write, "other");
        atn_sequence *sequence;
        atn_status status = description_parse(ctx, atn_text_str(&text), NULL, &lines, &sequence);
        if ((status == ATN_OK) != !rows[k].complaint)
            fail_msg("row %zu: other[%s]: %s", k, rows[k].write, atn_text_str(&lines));
        if (rows[k].complaint) kit_contains(atn_text_str(&lines), rows[k].complaint);
        atn_sequence_free(sequence);
        atn_text_free(&text);
        atn_text_free(&lines);
        kit_free(ctx);
    }
}

KIT_TEST(affine_forms) {
    static const struct {
        const char *selector;
        bool affine, rest, modulus;
        int64_t c0, c1, constant;
    } rows[] = {
        {"v0", true, false, false, 1, 0, 0},
        {"7", true, false, false, 0, 0, 7},
        {"3 * (v0 - 2 * v1) + 4 - v1", true, false, false, 3, -7, 4},
        {"v0 + v2 - 1", true, true, false, 1, 0, -1},
        {"v3 - 1 - v0", true, true, false, -1, 0, -1},
        {"v0 + v3 - 2 * v2 + v1", true, true, false, 1, 1, 0},
        {"(v0 + v3) - v3", true, false, false, 1, 0, 0},
        {"(v0 - 1) mod v3", true, false, true, 1, 0, -1},
        {"(v0 + 2 * v1 + v2) % 4", true, true, true, 1, 2, 0},
        {"v0 * v1", false, false, false, 0, 0, 0},
        {"v0 * v3", false, false, false, 0, 0, 0},
        {"v0 / 2", false, false, false, 0, 0, 0},
        {"v0 mod 2 + 1", false, false, false, 0, 0, 0},
        {"min(v0, 3)", false, false, false, 0, 0, 0},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; ++k) {
        atn_ctx *ctx = kit_ctx();
        atn_text text = {.ctx = ctx}, lines = {.ctx = ctx}, both = {.ctx = ctx};
        atn_text_printf(&both, "%s, v1", rows[k].selector);
        make(&text, atn_text_str(&both), "clamp", "true", "v0, v1", "other");
        atn_sequence *sequence;
        if (description_parse(ctx, atn_text_str(&text), NULL, &lines, &sequence) != ATN_OK)
            fail_msg("%s: %s", rows[k].selector, atn_text_str(&lines));
        const atn_graph *graph = sequence->step[0];
        atn_affine form = atn_affine_of(graph, graph->reads[0].select[0]);
        if (form.is_affine != rows[k].affine) fail_msg("%s", rows[k].selector);
        if (form.is_affine) {
            assert_int_equal(form.rest >= 0, rows[k].rest);
            assert_int_equal(form.modulus >= 0, rows[k].modulus);
            assert_int_equal(form.coefficient[0], rows[k].c0);
            assert_int_equal(form.coefficient[1], rows[k].c1);
            assert_int_equal(form.constant, rows[k].constant);
        }
        atn_sequence_free(sequence);
        atn_text_free(&text);
        atn_text_free(&lines);
        atn_text_free(&both);
        kit_free(ctx);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_place), cmocka_unit_test(one_to_one),
                                       cmocka_unit_test(affine_forms)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
