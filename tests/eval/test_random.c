/* Random descriptions parse, validate, pass the check and evaluate; the same seed gives the same. ATTUNE_SEED runs one.
 */
#include "support/random_graph.h"
#include "testkit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CASES = 2000 };

typedef struct tally {
    int blocks, strays, uncertain, empty;
    int64_t cells, doubtful;
    int joins[ATN_JOIN_ORDERED + 1], types[ATN_TYPE_COUNT], ops[ATN_OP_COUNT];
} tally;

static void count(tally *t, const random_graph *g, const atn_eval_result *result) {
    for (int32_t b = 0; b < g->graph->n_blocks; ++b)
        for (int32_t k = 0; k < g->graph->blocks[b].n_accs; ++k) ++t->joins[g->graph->blocks[b].acc[k].join];
    for (int32_t k = 0; k < g->graph->n_objects; ++k) ++t->types[g->graph->objects[k].type];
    for (int32_t k = 0; k < g->graph->n_values; ++k) ++t->ops[g->graph->values[k].op];
    t->blocks += g->graph->n_blocks > 1;
    t->strays += result->bad_accesses > 0;
    t->empty += result->n_cells == 0;
    t->cells += result->n_cells;
    int64_t doubtful = 0;
    for (int64_t k = 0; k < result->n_cells; ++k) doubtful += isinf(result->cells[k].bound);
    t->doubtful += doubtful;
    t->uncertain += doubtful > 0;
}

static void run_seed(atn_ctx *ctx, uint64_t seed, tally *t) {
    random_graph g;
    atn_eval_result *result = NULL;
    atn_status status = seed % 5 == 4 ? random_graph_make_scans(ctx, seed, &g) : random_graph_make(ctx, seed, &g);
    if (status == ATN_ERR_INPUT && strstr(atn_ctx_message(ctx), "does not fit")) { /* literals that fold beyond */
        random_graph_free(&g);
        return;
    }
    if (status == ATN_OK) status = atn_eval_check(ctx, g.graph, &g.frame);
    if (status == ATN_OK) status = atn_eval_run(ctx, g.graph, &g.frame, NULL, &result);
    if (status != ATN_OK) {
        fprintf(stderr, "%s\n", atn_text_str(&g.xml));
        fail_msg("seed %llu: %s", (unsigned long long)seed, atn_ctx_message(ctx));
    }
    if (result) count(t, &g, result);
    atn_eval_free(result);
    random_graph_free(&g);
}

KIT_TEST(random_kernels_evaluate) {
    atn_ctx *ctx = kit_ctx();
    static tally t;
    const char *one = getenv("ATTUNE_SEED");
    if (one) run_seed(ctx, strtoull(one, NULL, 10), &t);
    for (uint64_t seed = 0; seed < CASES && !one; ++seed) run_seed(ctx, seed, &t);
    printf("with iterators %d, gathers out of range %d, nothing written %d, something uncertain %d; elements %lld, "
           "uncertain %lld\n",
           t.blocks, t.strays, t.empty, t.uncertain, (long long)t.cells, (long long)t.doubtful);
    for (int k = 0; k <= ATN_JOIN_ORDERED && !one; ++k)
        if (!t.joins[k]) fail_msg("no ICF of kind %d was drawn", k);
    for (int k = ATN_B; k < ATN_TYPE_COUNT && !one; ++k)
        if (k != ATN_INDEX && !t.types[k]) fail_msg("no object of %s was drawn", atn_type_name((atn_type)k));
    for (int k = 0; k < ATN_OP_COUNT && !one; ++k)
        if (!t.ops[k] && k != ATN_OP_BITS) /* of what was rounded they are anything; sorts of real keys hold them */
            fail_msg("no %s was drawn", atn_op_get_info((atn_op)k)->name);
    kit_free(ctx);
}

KIT_TEST(seeds_repeat) {
    atn_ctx *ctx = kit_ctx();
    for (uint64_t seed = 0; seed < 50; ++seed) {
        random_graph a, b;
        kit_ok(ctx, random_graph_make(ctx, seed, &a));
        kit_ok(ctx, random_graph_make(ctx, seed, &b));
        assert_string_equal(atn_text_str(&a.xml), atn_text_str(&b.xml));
        for (int32_t k = 0; k < a.n_objects; ++k) {
            const atn_view *x = &a.object[k].view, *y = &b.object[k].view;
            for (int64_t row = 0; row < atn_view_rows(x); ++row)
                assert_memory_equal(atn_view_at(x, 0, row), atn_view_at(y, 0, row),
                                    (size_t)x->size[0] * atn_type_bytes(x->type));
        }
        random_graph_free(&a);
        random_graph_free(&b);
    }
    kit_free(ctx);
}

/* What the oracle stores agrees with itself; what is changed does not. */
KIT_TEST(comparison_tells) {
    atn_ctx *ctx = kit_ctx();
    int told = 0;
    for (uint64_t seed = 0; seed < 60; ++seed) {
        random_graph g, copy;
        atn_eval_result *result;
        kit_ok(ctx, random_graph_make(ctx, seed, &g));
        kit_ok(ctx, random_graph_make(ctx, seed, &copy));
        kit_ok(ctx, atn_eval_run(ctx, g.graph, &g.frame, NULL, &result));
        atn_eval_store(g.graph, result, copy.views);
        kit_ok(ctx, random_graph_compare(&g, NULL, copy.views));
        for (int64_t k = 0; k < result->n_cells; ++k) {
            const atn_eval_cell *cell = &result->cells[k];
            if (isinf(cell->bound) || !isfinite(cell->value[0]) || cell->value[0] == 0 || result->blurred[cell->object])
                continue;
            atn_element_store(copy.views[cell->object].type, (double[2]){cell->value[0] * 1.5 + 1, 0}, cell->whole + 1,
                              atn_view_at(&copy.views[cell->object], cell->at[0], cell->at[1]));
            told += random_graph_compare(&g, NULL, copy.views) != ATN_OK;
            kit_contains(atn_ctx_message(ctx), "seed");
            break;
        }
        atn_eval_free(result);
        random_graph_free(&g);
        random_graph_free(&copy);
    }
    assert_true(told > 20);
    kit_free(ctx);
}

KIT_TEST(variants_are_variants) {
    atn_ctx *ctx = kit_ctx();
    random_graph g;
    uint64_t random = 3;
    kit_ok(ctx, random_graph_make(ctx, 1, &g));
    for (int k = 0; k < 500; ++k) { /* each knob within its range: printed and read again, it is the same */
        atn_variant v = random_variant(g.graph, k % 2, &random), again = atn_variant_plain();
        atn_text text = {.ctx = ctx};
        atn_variant_print(&v, &text);
        kit_ok(ctx, atn_variant_parse(ctx, &again, atn_text_str(&text)));
        assert_memory_equal(&v, &again, sizeof v);
        atn_text_free(&text);
    }
    random_graph_free(&g);
    kit_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_kernels_evaluate),
        cmocka_unit_test(seeds_repeat),
        cmocka_unit_test(comparison_tells),
        cmocka_unit_test(variants_are_variants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
