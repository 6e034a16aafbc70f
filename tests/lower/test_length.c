/* Variants that no compiler takes in reasonable time are refused before it is asked; descriptions are not, however
 * long. */
#include "support/kernel.h"

#include "base/memory.h"
#include "base/text.h"
#include "graph/shipped.h"
#include "lower/lower.h"

#include <string.h>

static atn_status lower(atn_ctx *ctx, const atn_graph *graph, const char *knobs, int32_t vector_bytes) {
    const atn_target target = {
        .host = true, .vectors = true, .warp = 1, .max_items = 1, .local_bytes = 1 << 20, .vector_bytes = vector_bytes};
    atn_variant variant = atn_variant_plain();
    atn_lowered *program;
    kit_ok(ctx, atn_variant_parse(ctx, &variant, knobs));
    atn_status status = atn_lower(ctx, graph, &variant, &target, &program);
    atn_lowered_free(program);
    return status;
}

/* What took gcc 70 s where registers have 16 bytes is refused there, and only there. */
KIT_TEST(vectors_of_many_registers) {
    atn_ctx *ctx = kit_ctx();
    const char *text = atn_shipped_find("unwrap_prolongate");
    atn_sequence *sequence;
    const atn_define define = {"USED_FLOAT", "DP"};
    kit_ok(ctx, atn_sequence_parse(ctx, "unwrap_prolongate", text, strlen(text),
                                   &(atn_parse_options){.defines = &define, .n_defines = 1}, NULL, &sequence));
    const atn_graph *g = sequence->step[0];
    kit_fails(ctx, ATN_ERR_UNSUPPORTED, "instructions without a branch", lower(ctx, g, "vec_p0=16,regs_p1=2", 16));
    kit_ok(ctx, lower(ctx, g, "vec_p0=16,regs_p1=2", 64));
    kit_ok(ctx, lower(ctx, g, "vec_p0=16,regs_p1=2", 0)); /* not known */
    kit_ok(ctx, lower(ctx, g, "vec_p0=2,regs_p1=2", 16));
    atn_sequence_free(sequence);
    kit_free(ctx);
}

/* Longer than any variant may be: it is compiled as it is, but not several times over. */
KIT_TEST(a_long_description) {
    atn_ctx *ctx = kit_ctx();
    atn_text children = {.ctx = ctx};
    atn_text_add(&children, READ("read", "x", "v0") WRITE("write", "y", "v0"));
    atn_text_add(&children, "<FunctionBlock name='f' dataType='SP' function='#in(0)");
    for (int k = 2; k < 1200; ++k) atn_text_printf(&children, " + #in(0) * %d.5", k);
    atn_text_add(&children, "'/>");
    kernel k = kernel_make(ctx, 1, "", "x=SP:1 y=SP:1", atn_text_str(&children),
                           "x.Size(0)>K.Range(0) K.i(0)>read.v(0) K.i(0)>write.v(0) read.out>f.in(0) f.out>write.in");
    kit_ok(ctx, lower(ctx, k.graph, "", 16));
    kit_ok(ctx, lower(ctx, k.graph, "seq_p0=4,schedule=dynamic", 16));
    kit_fails(ctx, ATN_ERR_UNSUPPORTED, "instructions without a branch", lower(ctx, k.graph, "regs_p0=2", 16));
    kernel_free(&k);
    atn_text_free(&children);
    kit_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(vectors_of_many_registers),
                                       cmocka_unit_test(a_long_description)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
