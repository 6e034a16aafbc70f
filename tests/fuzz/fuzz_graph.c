/* Any bytes as a kernel description: parsed or refused, quickly, without leaks, and printable. */
#include "graph/affine.h"
#include "graph/graph.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const atn_define defines[] = {{"USED_FLOAT", "SP"}, {"N", "3"}};
    atn_ctx *ctx;
    if (atn_ctx_create(NULL, &ctx) != ATN_OK) return 0;
    atn_parse_options options = {.defines = defines, .n_defines = 2};
    atn_text lines = {.ctx = ctx};
    atn_diagnostics diagnostics = {.lines = &lines};
    atn_sequence *sequence;
    atn_status status =
        atn_sequence_parse(ctx, "fuzz.xml", (const char *)data, size, &options, &diagnostics, &sequence);
    if ((status == ATN_OK) != (sequence != NULL) || (status == ATN_OK) != (diagnostics.count == 0)) abort();
    if (status != ATN_OK && status != ATN_ERR_INPUT) abort();
    for (int32_t k = 0; sequence && k < sequence->count; ++k) {
        const atn_graph *graph = sequence->step[k];
        atn_graph_print(graph, &lines);
        for (int32_t v = 0; v < graph->n_values; ++v) {
            const atn_node *node = &graph->values[v];
            for (int arg = 0; arg < 3; ++arg)
                if (node->arg[arg] >= v || (node->arg[arg] < 0) != (arg >= atn_op_get_info(node->op)->arity)) abort();
            if (node->type == ATN_INDEX) (void)atn_affine_of(graph, v);
        }
    }
    atn_sequence_free(sequence);
    atn_text_free(&lines);
    if (atn_ctx_bytes(ctx)) abort();
    atn_ctx_free(ctx);
    return 0;
}
