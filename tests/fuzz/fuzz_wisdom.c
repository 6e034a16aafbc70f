/* Any bytes as exported wisdom: imported or refused as a whole, and what was imported can be exported and imported. */
#include "wisdom/store.h"

#include <stdlib.h>
#include <string.h>

static int64_t count_rows(atn_wisdom *wisdom) {
    atn_wisdom_counts counts;
    atn_wisdom_filter all = {0};
    atn_text text = {.ctx = wisdom->ctx};
    if (atn_store_export(wisdom->ctx, wisdom, &all, &text, &counts) != ATN_OK) abort();
    atn_wisdom *copy;
    if (atn_wisdom_open_memory(wisdom->ctx, "copy", &copy) != ATN_OK) abort();
    if (atn_store_import(copy, "exported", atn_text_str(&text), text.length, NULL) != ATN_OK) abort();
    atn_wisdom_close(copy);
    atn_text_free(&text);
    return counts.entries + counts.measurements + counts.winners;
}

static void ignore(void *user, const char *line) {
    (void)user;
    if (!*line) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    atn_ctx *ctx;
    atn_wisdom *wisdom;
    if (atn_ctx_create(NULL, &ctx) != ATN_OK) return 0;
    if (atn_wisdom_open_memory(ctx, "memory", &wisdom) != ATN_OK) abort();
    atn_status status = atn_store_import(wisdom, "fuzz.json", (const char *)data, size, NULL);
    if (status != ATN_OK && status != ATN_ERR_INPUT) abort();
    if (status != ATN_OK && !*atn_ctx_message(ctx)) abort();
    int64_t rows = count_rows(wisdom);
    if (status != ATN_OK && rows != 0) abort();
    if (atn_wisdom_verify(wisdom, NULL, ignore, NULL) != ATN_OK) abort();
    atn_wisdom_close(wisdom);
    if (atn_ctx_bytes(ctx)) abort();
    atn_ctx_free(ctx);
    return 0;
}
