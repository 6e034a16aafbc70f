/* Any bytes as a description in the notation: parsed or refused, quickly, without leaks; what is right is printed in
 * both forms. Programs likewise. */
#include "graph/graph.h"
#include "graph/routine.h"

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
    const char *text = (const char *)data;
    atn_status status = atn_sequence_parse(ctx, "fuzz.atn", text, size, &options, &diagnostics, &sequence);
    if ((status == ATN_OK) != (sequence != NULL) || (status == ATN_OK) != (diagnostics.count == 0)) abort();
    if (status != ATN_OK && status != ATN_ERR_INPUT) abort();
    for (int32_t k = 0; sequence && k < sequence->count; ++k) atn_graph_print(sequence->step[k], &lines);
    for (int form = ATN_FORM_XML; sequence && form <= ATN_FORM_NOTATION; ++form) {
        status = atn_description_print(ctx, "fuzz.atn", text, size, &options, (atn_form)form, &lines);
        if (status != ATN_OK && status != ATN_ERR_UNSUPPORTED) abort();
    }
    atn_sequence_free(sequence);
    atn_programs *programs;
    status = atn_programs_parse(ctx, "fuzz.atn", text, size, &options, &diagnostics, &programs);
    if ((status == ATN_OK) != (programs != NULL) || (status == ATN_OK) != (diagnostics.count == 0)) abort();
    if (status != ATN_OK && status != ATN_ERR_INPUT) abort();
    atn_programs_free(programs);
    atn_text_free(&lines);
    if (atn_ctx_bytes(ctx)) abort();
    atn_ctx_free(ctx);
    return 0;
}
