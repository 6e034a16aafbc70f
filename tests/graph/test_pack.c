/* Graphs as text for other processes: all that are shipped come back as they were, and nothing else is taken. */
#include "testkit.h"

#include "base/text.h"
#include "graph/pack.h"
#include "graph/shipped.h"

#include <string.h>

static void come_back(atn_ctx *ctx, const atn_graph *graph) {
    atn_text packed = {.ctx = ctx}, before = {.ctx = ctx}, after = {.ctx = ctx};
    atn_sequence *again;
    atn_graph_pack(graph, &packed);
    kit_ok(ctx, atn_graph_unpack(ctx, atn_text_str(&packed), &again));
    assert_int_equal(again->count, 1);
    assert_memory_equal(&again->step[0]->hash, &graph->hash, sizeof graph->hash);
    atn_graph_print(graph, &before);
    atn_graph_print(again->step[0], &after);
    assert_string_equal(atn_text_str(&before), atn_text_str(&after));
    atn_text_clear(&after);
    atn_graph_pack(again->step[0], &after); /* labels, tables, places; pointers are others */
    assert_int_equal(after.length, packed.length);
    for (int32_t k = 0; k < graph->n_objects; ++k) {
        const atn_object *a = &graph->objects[k], *b = &again->step[0]->objects[k];
        assert_string_equal(a->name, b->name);
        if (a->table) assert_memory_equal(a->table, b->table, (size_t)atn_table_elements(a) * atn_type_bytes(a->type));
    }
    atn_sequence_free(again);
    atn_text_free(&packed);
    atn_text_free(&before);
    atn_text_free(&after);
}

KIT_TEST(all_come_back) {
    atn_ctx *ctx = kit_ctx();
    atn_define define = {"USED_FLOAT", "SP"};
    for (const atn_embedded *s = ATN_SHIPPED; s->name; ++s) {
        atn_sequence *sequence;
        if (atn_sequence_parse(ctx, s->name, s->text, strlen(s->text),
                               &(atn_parse_options){.defines = &define, .n_defines = 1}, NULL, &sequence) != ATN_OK)
            continue; /* a program that is no kernel */
        for (int32_t k = 0; k < sequence->count; ++k) come_back(ctx, sequence->step[k]);
        atn_sequence_free(sequence);
    }
    kit_free(ctx);
}

KIT_TEST(what_was_changed_is_refused) {
    static const char text[] = "kernel k(x: vector SP) -> y: vector SP\n    y[i] = 2 * x[i]\n";
    atn_ctx *ctx = kit_ctx();
    atn_sequence *sequence, *again;
    atn_text packed = {.ctx = ctx};
    kit_ok(ctx, atn_sequence_parse(ctx, "k", text, strlen(text), NULL, NULL, &sequence));
    atn_graph_pack(sequence->step[0], &packed);
    for (size_t at = 0; at < packed.length; at += 1 + packed.length / 200) {
        char before = packed.data[at];
        packed.data[at] = before == '7' ? '8' : '7';
        kit_fails(ctx, ATN_ERR_INPUT, "not of this version", atn_graph_unpack(ctx, packed.data, &again));
        assert_null(again);
        packed.data[at] = '\0'; /* cut */
        kit_fails(ctx, ATN_ERR_INPUT, "not whole", atn_graph_unpack(ctx, packed.data, &again));
        packed.data[at] = before;
    }
    kit_fails(ctx, ATN_ERR_INPUT, "not whole", atn_graph_unpack(ctx, text, &again));
    atn_sequence_free(sequence);
    atn_text_free(&packed);
    kit_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_come_back), cmocka_unit_test(what_was_changed_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
