/* The pass that says how a block is reduced: accumulators, cuts of the range, what is joined where. */
#include "support/golden.h"

#include "lower/reduction.h"

#include <string.h>

static atn_sequence *parse(const atn_ctx *ctx, const char *text) {
    atn_sequence *sequence;
    kit_ok(ctx, atn_sequence_parse(ctx, "reduce.atn", text, strlen(text), NULL, NULL, &sequence));
    return sequence;
}

static const char NORM[] = "kernel norm(x: vector SP) -> y: vector SP\n    y[0] = sum(i) x[i] * x[i]\n";
static const char PRODUCT[] = "kernel mm(A, B: matrix SP) -> C: matrix SP\n    C[i, j] = sum(k) A[i, k] * B[k, j]\n";
static const char WHOLE[] = "kernel whole(V: volume HP) -> s: vector HP\n    s[0] = sum(z, y, x) V[z, y, x]\n";
static const char NESTED[] = "kernel nested(A: matrix SP) -> y: vector SP\n    for i in rows(A)\n        over k in 3\n"
                             "            y[i] += sum(j) A[i, j] * k\n";

/* What the pass finds for each block of a text with accumulators, printed. */
static void finds(const char *text, const char *backend, const char *knobs, const char *wanted) {
    atn_ctx *ctx = kit_ctx();
    atn_sequence *sequence = parse(ctx, text);
    const atn_graph *g = sequence->step[0];
    atn_variant v = atn_variant_plain();
    atn_target target = golden_target(backend);
    const char *why = "";
    atn_arena arena = {.ctx = ctx};
    atn_text out = {.ctx = ctx};
    lower_needs needs;
    kit_ok(ctx, atn_variant_parse(ctx, &v, knobs));
    if (!atn_variant_fits(g, &v, &target, &why)) fail_msg("%s: %s", knobs, why);
    lower_cuts cuts = lower_cut(g, &v);
    assert_true(lower_find_needs(&arena, g, &needs));
    for (int32_t k = 0; k < g->n_blocks; ++k) {
        uint32_t bound = cuts.points; /* and what is around it */
        for (int32_t b = g->blocks[k].parent; b >= 0; b = g->blocks[b].parent)
            for (int32_t d = 0; d < g->blocks[b].rank; ++d) bound |= 1u << g->blocks[b].dim[d];
        lower_scene scene = {
            .g = g, .v = &v, .cuts = &cuts, .needs = &needs, .host = target.host, .bound = k ? bound : 0};
        if (g->blocks[k].n_accs == 0) continue;
        lower_reduction r = lower_find_reduction(&scene, k);
        lower_print_reduction(g, &r, &out);
    }
    assert_string_equal(atn_text_str(&out), wanted);
    atn_text_free(&out);
    atn_arena_free(&arena);
    atn_sequence_free(sequence);
    kit_free(ctx);
}

KIT_TEST(ranges_are_cut) {
    finds(NORM, "host", "",
          "norm: 1 accumulator of SP, one result\n"
          "  q0: 1 items, 1 registers of 1 lanes\n"
          "  combined: 1 per place\n");
    finds(NORM, "host", "vec_q0=4,regs_q0=3,unroll_q0=2,split_q0=8,accumulate=64",
          "norm: 1 accumulator of DP, one result\n"
          "  q0: 1 items, 3 registers of 4 lanes, unrolled by 2\n"
          "  combined: 13 per place, including the tail; over 8 parts in a second stage\n");
    finds(WHOLE, "cuda", "lanes_q0=8,lanes_q1=2,lanes_q2=4,split_q2=5,finish=last,accumulate=32",
          "whole: 1 accumulator of SP, one result\n"
          "  q2: 4 items, 1 registers of 1 lanes\n"
          "  q1: 2 items, 1 registers of 1 lanes\n"
          "  q0: 8 items, 1 registers of 1 lanes\n"
          "  combined: 1 per place; over 64 items; over 5 parts in the last group\n");
}

KIT_TEST(parts_meet) {
    finds(NORM, "cuda", "lanes_q0=32,split_q0=4,finish=atomic",
          "norm: 1 accumulator of SP, one result\n"
          "  q0: 32 items, 1 registers of 1 lanes\n"
          "  combined: 1 per place; over 32 items; over 4 parts by atomics\n");
    finds(PRODUCT, "cuda", "lanes_p0=8,split_q0=2",
          "k: 1 accumulator of SP, separate for mm.i(0) mm.i(1)\n"
          "  q0: 1 items, 1 registers of 1 lanes\n"
          "  combined: 1 per place; over 2 parts in a second stage\n");
}

/* Accumulators rest on the host only, between tiles of a sequence; nested blocks are not cut. */
KIT_TEST(accumulators_rest) {
    finds(PRODUCT, "host", "vec_p0=4,seq_p1=4,tile_q0=16,stage=1",
          "k: 1 accumulator of SP, separate for mm.i(0) mm.i(1)\n"
          "  q0: 1 items, 1 registers of 1 lanes, tiles of 16\n"
          "  combined: 1 per place; accumulators stored between tiles\n");
    finds(PRODUCT, "cuda", "lanes_p0=8,seq_p1=4,tile_q0=16,stage=1",
          "k: 1 accumulator of SP, separate for mm.i(0) mm.i(1)\n"
          "  q0: 1 items, 1 registers of 1 lanes, tiles of 16\n"
          "  combined: 1 per place\n");
    finds(NESTED, "cuda", "lanes_q0=2",
          "k: 1 accumulator of SP, separate for nested.i(0)\n"
          "  q0: 2 items, 1 registers of 1 lanes\n"
          "  combined: 1 per place; over 2 items\n"
          "j: 1 accumulator of SP, separate for nested.i(0) k.i(0)\n"
          "  q0: 1 items, 1 registers of 1 lanes\n"
          "  combined: 1 per place\n");
}

/* What only ties between parts need is left out where there are none. */
KIT_TEST(idle_accumulators_go) {
    atn_ctx *ctx = kit_ctx();
    atn_sequence *sequence = parse(ctx, "kernel best(x, u: vector SP) -> v, w: vector SP\n    for i in x\n        "
                                        "best, its max= x[i], u[i] from -1, 0\n"
                                        "    v[0] = best\n    w[0] = its\n");
    const atn_graph *g = sequence->step[0];
    atn_arena arena = {.ctx = ctx};
    atn_variant v = atn_variant_plain();
    int32_t all = g->blocks[0].n_accs, plain = lower_without_idle(&arena, g, &v)->blocks[0].n_accs;
    v.q[0].lanes = 4;
    assert_int_equal(lower_without_idle(&arena, g, &v)->blocks[0].n_accs, all);
    assert_true(plain < all);
    assert_int_equal(g->blocks[0].n_accs, all);
    atn_arena_free(&arena);
    atn_sequence_free(sequence);
    kit_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(ranges_are_cut), cmocka_unit_test(parts_meet),
                                       cmocka_unit_test(accumulators_rest), cmocka_unit_test(idle_accumulators_go)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
