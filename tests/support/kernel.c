/* Kernels for tests. */
#include "support/kernel.h"

#include <string.h>

kernel kernel_parse(atn_ctx *ctx, const char *xml) {
    kernel k = {.ctx = ctx};
    atn_text lines = {.ctx = ctx};
    atn_diagnostics diagnostics = {.lines = &lines};
    atn_status status = atn_sequence_parse(ctx, "test.xml", xml, strlen(xml), NULL, &diagnostics, &k.sequence);
    if (status != ATN_OK) fail_msg("%s\n%s\n%s", atn_ctx_message(ctx), atn_text_str(&lines), xml);
    atn_text_free(&lines);
    k.graph = k.sequence->step[0];
    assert_true(k.graph->n_objects <= KERNEL_OBJECTS && k.graph->n_parameters <= KERNEL_PARAMS);
    return k;
}

/* The next word of a list in blanks; false at its end. */
static bool next_word(const char **list, char *word, size_t room) {
    *list += strspn(*list, " ");
    size_t length = strcspn(*list, " ");
    assert_true(length < room);
    memcpy(word, *list, length);
    word[length] = '\0';
    *list += length;
    return length > 0;
}

kernel kernel_make(atn_ctx *ctx, int dims, const char *attributes, const char *objects, const char *children,
                   const char *connections) {
    atn_text xml = {.ctx = ctx};
    char word[128];
    atn_text_printf(&xml, "<ParallelAlgorithm name='K' dimensions='%d' %s>\n<DataObjects>\n", dims, attributes);
    while (next_word(&objects, word, sizeof word)) {
        char *type = strchr(word, '='), *rank = strchr(word, ':');
        assert_true(type && rank);
        *type++ = *rank++ = '\0';
        atn_text_printf(&xml, "<DataObject name='%s' structure='%s' elementDataType='%s'/>\n", word,
                        atn_rank_name(*rank - '0'), type);
    }
    atn_text_printf(&xml, "</DataObjects>\n<Children>\n%s\n</Children>\n<Connections>\n", children);
    while (next_word(&connections, word, sizeof word)) {
        char *to = strchr(word, '>');
        assert_non_null(to);
        *to++ = '\0';
        atn_text_printf(&xml, "<Connection source='%s' destination='%s'/>\n", word, to);
    }
    atn_text_add(&xml, "</Connections>\n</ParallelAlgorithm>\n");
    kernel k = kernel_parse(ctx, atn_text_str(&xml));
    atn_text_free(&xml);
    return k;
}

void kernel_free(kernel *k) {
    atn_sequence_free(k->sequence);
    *k = (kernel){0};
}

static void bind(kernel *k, const char *name, atn_view view) {
    assert_true(k->n_bindings < KERNEL_OBJECTS);
    k->bindings[k->n_bindings++] = (atn_binding){name, view};
}

void kernel_vector(kernel *k, const char *name, atn_type type, void *data, int64_t size) {
    bind(k, name, (atn_view){.data = data, .type = type, .rank = 1, .size = {size, 1}, .pitch = size});
}

void kernel_matrix(kernel *k, const char *name, atn_type type, void *data, int64_t columns, int64_t rows,
                   int64_t pitch) {
    bind(k, name, (atn_view){.data = data, .type = type, .rank = 2, .size = {columns, rows}, .pitch = pitch});
}

void kernel_param(kernel *k, const char *name, double value) {
    assert_true(k->n_given < KERNEL_PARAMS);
    k->given[k->n_given++] = (atn_param_value){name, {value, 0}};
}

atn_status kernel_bind(kernel *k) {
    k->frame = (atn_bindings){.views = k->views, .params = (const double(*)[2])k->params};
    return atn_eval_bind(k->ctx, k->graph, k->bindings, k->n_bindings, k->given, k->n_given, k->views, k->params);
}

atn_status kernel_eval(kernel *k, int64_t *bad) {
    atn_status status = kernel_bind(k);
    return status == ATN_OK ? atn_eval(k->ctx, k->graph, &k->frame, bad) : status;
}
