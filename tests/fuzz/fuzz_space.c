/* Any bytes as a space, LANAI or T1: parsed or refused, without leaks; small ones are counted, and what is drawn is
 * allowed. */
#include "space/space.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 32 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t next_random(void *user) { return *(uint64_t *)user = *(uint64_t *)user * 6364136223846793005u + 1; }

static void ask(const atn_ctx *ctx, const atn_space *space) {
    int32_t n = atn_space_count_parameters(space), levels[MOST];
    double product = 1;
    for (int32_t k = 0; k < n; ++k) product *= atn_space_levels(space, k);
    if (n > MOST || product > 20000) return;
    atn_count count;
    atn_text text = {.ctx = ctx};
    uint64_t seed = 1, rank;
    if (atn_space_count(ctx, space, &count) == ATN_OK && strcmp(count.digits, "0") != 0) {
        if (atn_space_draw(ctx, space, next_random, &seed, levels) != ATN_OK) abort();
        atn_space_print(space, levels, &text);
        bool allowed;
        const char *by; /* a rule may fail where it was not asked before: then there is no verdict */
        if (atn_space_why(ctx, space, levels, &allowed, &by) == ATN_OK) {
            if (!allowed) abort();
            if (atn_space_rank(ctx, space, levels, &rank) != ATN_OK || rank >= count.whole) abort();
        }
    }
    atn_text_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const atn_given GIVEN[] = {{"device", "cores", {.kind = ATN_SETTING_WHOLE, .whole = 4, .number = 4}},
                                      {"device", "name", {.kind = ATN_SETTING_TEXT, .text = "x"}}};
    atn_ctx *ctx;
    if (atn_ctx_create(NULL, &ctx) != ATN_OK) return 0;
    atn_space *space;
    bool json = size > 0 && data[0] == '{';
    atn_status status = json ? atn_space_parse_t1(ctx, "fuzz.json", (const char *)data, size, &space)
                             : atn_space_parse(ctx, "fuzz.lanai", (const char *)data, size, GIVEN, 2, &space);
    if ((status == ATN_OK) != (space != NULL)) abort();
    if (status != ATN_OK && status != ATN_ERR_INPUT) abort();
    if (space) {
        atn_space_use(space, ATN_SPACE_INTERPRETED);
        ask(ctx, space);
    }
    atn_space_free(space);
    if (atn_ctx_bytes(ctx)) abort();
    atn_ctx_free(ctx);
    return 0;
}
