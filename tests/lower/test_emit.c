/* The pass that makes the program: its stages, their arguments, and what a group covers. Whole texts are in golden/. */
#include "support/golden.h"

#include <string.h>

typedef struct emitted {
    atn_ctx *ctx;
    atn_sequence *sequence;
    atn_lowered *program;
    atn_text text;
} emitted;

static emitted emit(const char *text, const char *backend, const char *knobs) {
    emitted e = {.ctx = kit_ctx()};
    atn_variant v = atn_variant_plain();
    atn_target target = golden_target(backend);
    kit_ok(e.ctx, atn_sequence_parse(e.ctx, "emit.atn", text, strlen(text), NULL, NULL, &e.sequence));
    kit_ok(e.ctx, atn_variant_parse(e.ctx, &v, knobs));
    kit_ok(e.ctx, atn_lower(e.ctx, e.sequence->step[0], &v, &target, &e.program));
    e.text.ctx = e.ctx;
    atn_lowered_print(e.program, &e.text);
    return e;
}

static void emitted_free(emitted *e) {
    atn_text_free(&e->text);
    atn_lowered_free(e->program);
    atn_sequence_free(e->sequence);
    kit_free(e->ctx);
}

static bool says(const emitted *e, const char *words) { return strstr(atn_text_str(&e->text), words) != NULL; }

static const char COPY[] = "kernel copy(A: volume SP) -> B: volume SP\n    B[z, y, x] = A[z, y, x]\n";
static const char NORM[] = "kernel norm(x: vector SP) -> y: vector SP\n    y[0] = sum(i) x[i] * x[i]\n";

/* Arguments of every stage: per object data, offset, pitch where it has rows, its sizes. */
KIT_TEST(arguments_follow_the_objects) {
    static const ir_argument_kind OF_VOLUME[] = {IR_ARG_DATA,  IR_ARG_OFFSET, IR_ARG_PITCH,
                                                 IR_ARG_SIZE0, IR_ARG_SIZE1,  IR_ARG_SIZE2};
    emitted e = emit(COPY, "cuda", "");
    assert_int_equal(e.program->n_arguments, 12);
    for (int32_t k = 0; k < 12; ++k) {
        assert_int_equal(e.program->arguments[k].kind, OF_VOLUME[k % 6]);
        assert_int_equal(e.program->arguments[k].id, k / 6);
    }
    emitted_free(&e);
    e = emit(NORM, "cuda", "lanes_q0=32,split_q0=4,finish=last");
    assert_int_equal(e.program->arguments[e.program->n_arguments - 1].kind, IR_ARG_SCRATCH);
    emitted_free(&e);
}

KIT_TEST(groups_cover_the_points) {
    emitted e = emit(COPY, "cuda", "lanes_p0=16,regs_p1=2,lanes_p2=4,seq_p2=3");
    assert_int_equal(e.program->n_stages, 1);
    assert_int_equal(e.program->stage[0].items, 64);
    assert_int_equal(e.program->stage[0].span[0], 16);
    assert_int_equal(e.program->stage[0].span[1], 2);
    assert_int_equal(e.program->stage[0].span[2], 12);
    assert_true(says(&e, "stage 0 attune: groups of 64 items, 16 by 2 by 12 points each\n"));
    atn_extent extent = {.points = {17, 5, 24}};
    assert_int_equal(atn_lowered_groups(e.program, 0, &extent), 2 * 3 * 2);
    emitted_free(&e);
    e = emit(COPY, "host", "collapse=1");
    assert_true(says(&e, "parallel row_")); /* of tiles; each thread goes along its own */
    emitted_free(&e);
}

/* A split range ends in a second stage, or in the group that is last. */
KIT_TEST(splits_have_an_end) {
    static const struct {
        const char *backend, *knobs;
        int32_t stages;
        bool counter;
    } cases[] = {{"cuda", "lanes_q0=32", 1, false},
                 {"cuda", "lanes_q0=32,split_q0=4", 2, false},
                 {"cuda", "lanes_q0=32,split_q0=4,finish=last", 1, true},
                 {"cuda", "lanes_q0=32,split_q0=4,finish=atomic", 1, true},
                 {"host", "split_q0=4,finish=last", 2, false}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        emitted e = emit(NORM, cases[k].backend, cases[k].knobs);
        assert_int_equal(e.program->n_stages, cases[k].stages);
        assert_int_equal(e.program->scratch_counter, cases[k].counter);
        assert_int_equal(e.program->scratch_slots, strstr(cases[k].knobs, "split") ? 1 : 0);
        assert_int_equal(says(&e, "attune_end"), cases[k].stages == 2);
        assert_int_equal(says(&e, "partial atomic"), strstr(cases[k].knobs, "atomic") != NULL);
        emitted_free(&e);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(arguments_follow_the_objects),
                                       cmocka_unit_test(groups_cover_the_points), cmocka_unit_test(splits_have_an_end)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
