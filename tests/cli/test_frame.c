/* The parts of the program's frame: the parser over a table of its own, near misses, columns, JSON texts. */
#include "testkit.h"

#include "base/memory.h"
#include "cli/cli.h"

#include <string.h>

static const atn_cli_option OPTIONS[] = {
    {.name = "output", .letter = 'o', .value = "FILE", .meaning = "where to"},
    {.name = "bind", .value = "NAME=FILE", .meaning = "an input", .repeats = true},
    {.name = "transform", .value = "rigid|affine", .meaning = "what may move"},
    {.name = "init", .value = "FILE|identity", .meaning = "where to start"},
    {.name = "compat", .meaning = "as before"},
    {0},
};
static const atn_cli_verb VERB = {
    .name = "try", .synopsis = "IN [OUT]", .options = OPTIONS, .min_operands = 1, .max_operands = 2};
static const atn_cli_verb *const VERBS[] = {&VERB, NULL};

/* Parses argv[1..]; the call's memory is freed by done(). */
static atn_status parse(atn_cli_call *call, char **argv) {
    int argc = 0;
    while (argv[argc]) ++argc;
    *call = (atn_cli_call){.ctx = call->ctx};
    return atn_cli_parse(call, VERBS, argc, argv);
}

static void done(atn_cli_call *call) {
    atn_free(call->ctx, call->given);
    atn_free(call->ctx, (void *)call->operands);
}

#define ARGV(...) ((char *[]){(char *)"attune", __VA_ARGS__, NULL})

KIT_TEST(options_take_their_values) {
    atn_cli_call call = {.ctx = kit_ctx()};
    kit_ok(call.ctx, parse(&call, ARGV("--json", "try", "a", "-o", "x", "--bind", "p=1", "--bind=q=2", "--compat",
                                       "--compat", "--init", "-5", "--transform=affine", "b")));
    assert_true(call.json);
    assert_int_equal(call.n_operands, 2);
    assert_string_equal(call.operands[1], "b");
    assert_string_equal(atn_cli_value(&call, "output"), "x");
    assert_string_equal(atn_cli_value(&call, "init"), "-5");
    assert_string_equal(atn_cli_value(&call, "transform"), "affine");
    assert_true(atn_cli_has(&call, "compat"));
    size_t at = 0;
    assert_string_equal(atn_cli_next(&call, "bind", &at), "p=1");
    assert_string_equal(atn_cli_next(&call, "bind", &at), "q=2");
    assert_null(atn_cli_next(&call, "bind", &at));
    assert_null(atn_cli_value(&call, "device"));
    done(&call);
    kit_ok(call.ctx, parse(&call, ARGV("try", "-ofile", "--bind=", "--", "--json", "-")));
    assert_string_equal(atn_cli_value(&call, "output"), "file");
    assert_string_equal(atn_cli_value(&call, "bind"), "");
    assert_false(call.json);
    assert_string_equal(call.operands[0], "--json");
    assert_string_equal(call.operands[1], "-");
    done(&call);
    kit_free(call.ctx);
}

KIT_TEST(wrong_options_are_told) {
    atn_cli_call call = {.ctx = kit_ctx()};
    kit_fails(call.ctx, ATN_ERR_INPUT, "it takes rigid|affine", parse(&call, ARGV("try", "a", "--transform", "odd")));
    assert_true(call.misused);
    done(&call);
    kit_fails(call.ctx, ATN_ERR_INPUT, "did you mean '--transform'", parse(&call, ARGV("try", "--trasnform=odd")));
    done(&call);
    kit_fails(call.ctx, ATN_ERR_INPUT, "--output is given twice", parse(&call, ARGV("try", "-ox", "--output", "y")));
    done(&call);
    kit_fails(call.ctx, ATN_ERR_INPUT, "--output needs a value", parse(&call, ARGV("try", "a", "-o")));
    done(&call);
    kit_fails(call.ctx, ATN_ERR_INPUT, "needs IN [OUT]", parse(&call, ARGV("try")));
    done(&call);
    kit_fails(call.ctx, ATN_ERR_INPUT, "unexpected argument 'c'", parse(&call, ARGV("try", "a", "b", "c")));
    done(&call);
    kit_fails(call.ctx, ATN_ERR_INPUT, "unknown option '--'", parse(&call, ARGV("try", "--=x")));
    done(&call);
    kit_free(call.ctx);
}

KIT_TEST(parsing_survives_no_memory) {
    for (long n = 2; n <= 3; ++n) {
        kit_faults faults = {.fail_at = n}; /* 1 is the context itself */
        atn_ctx_settings options = kit_fault_options(&faults);
        atn_cli_call call = {0};
        assert_int_equal(atn_ctx_create(&options, &call.ctx), ATN_OK);
        kit_fails(call.ctx, ATN_ERR_MEMORY, "out of memory", parse(&call, ARGV("try", "a")));
        done(&call);
        atn_ctx_free(call.ctx);
        assert_int_equal(faults.live, 0);
    }
}

KIT_TEST(near_words_are_found) {
    static const struct {
        const char *typed, *wanted;
    } cases[] = {{"devcies", "devices"},
                 {"device", "devices"},
                 {"regsiter", "register"},
                 {"re", "register"},
                 {"tune", "tune"},
                 {"tnue", "tune"},
                 {"xyz", NULL},
                 {"", NULL},
                 {"d", NULL},
                 {"dvcs", NULL},
                 {"selftests", NULL}};
    static const char *const words[] = {"devices", "register", "tune"};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        atn_suggest suggest = {.typed = cases[k].typed};
        for (size_t w = 0; w < 3; ++w) atn_suggest_try(&suggest, words[w]);
        if (cases[k].wanted)
            assert_string_equal(suggest.best, cases[k].wanted);
        else
            assert_null(suggest.best);
    }
}

KIT_TEST(columns_are_aligned) {
    atn_ctx *ctx = kit_ctx();
    atn_text table = {.ctx = ctx}, page = {.ctx = ctx};
    atn_text_add(&table, "#\tname\tsize\t\n");
    atn_cli_add_cell(&table, "10");
    atn_cli_add_cell(&table, "caf\xc3\xa9\tbar");
    atn_cli_add_cell(&table, "7");
    atn_text_add(&table, "\n1\tx\t\t\n");
    atn_cli_add_table(&page, atn_text_str(&table), "rlr");
    assert_string_equal(atn_text_str(&page), " #  name      size\n10  caf\xc3\xa9 bar     7\n 1  x\n");
    atn_text_clear(&page);
    atn_cli_add_wrapped(&page, "one two three  four", 2, 10);
    assert_string_equal(atn_text_str(&page), "  one two\n  three\n  four\n");
    atn_text_free(&page);
    atn_text_free(&table);
    kit_free(ctx);
}

KIT_TEST(any_text_becomes_json) {
    static const struct {
        const char *from, *to;
    } cases[] = {{"plain", "plain"},
                 {"\xc2\xb5m \xe2\x82\xac \xf0\x9f\x98\x80", "\xc2\xb5m \xe2\x82\xac \xf0\x9f\x98\x80"},
                 {"\xb5m", "?m"},
                 {"cut \xe2\x82", "cut ??"},
                 {"\xc0\x80\xed\xa0\x80\xf4\x90\x80\x80", "?????????"},
                 {"", ""}};
    atn_ctx *ctx = kit_ctx();
    atn_cli_json_begin(ctx);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        json_t *value = atn_cli_json_text(ctx, cases[k].from);
        assert_non_null(value);
        assert_string_equal(json_string_value(value), cases[k].to);
        json_decref(value);
    }
    json_t *none = atn_cli_json_rate(0), *some = atn_cli_json_rate(2.5);
    assert_true(json_is_null(none));
    assert_true(json_is_real(some));
    json_decref(some);
    atn_cli_json_end();
    kit_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_take_their_values),  cmocka_unit_test(wrong_options_are_told),
        cmocka_unit_test(parsing_survives_no_memory), cmocka_unit_test(near_words_are_found),
        cmocka_unit_test(columns_are_aligned),        cmocka_unit_test(any_text_becomes_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
