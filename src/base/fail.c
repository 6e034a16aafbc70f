/* Failures and the log: one message per failing thread. Reporting a failure must not itself fail, so the message of a
 * thread is kept in memory that is always available. */
#include "base/context_own.h"

#include <stdio.h>
#include <string.h>

#undef atn_fail

/* The last failure of this thread, and its context: numbers are never reused, addresses may be. */
static _Thread_local struct {
    uint64_t context; /* 0: none */
    uint64_t count;   /* of all so far */
    char text[ATN_MESSAGE_BYTES];
} failure;

/* One line: a message never contains a line break or a terminal escape, whatever a compiler or driver put into it. */
static void flatten(char *text) {
    for (; *text; ++text)
        if ((unsigned char)*text < ' ' || *text == 0x7f) *text = ' ';
}

static void keep_sentence(const atn_ctx *ctx, const char *text) {
    size_t length = strnlen(text, sizeof failure.text - 1);
    memmove(failure.text, text, length);
    failure.text[length] = '\0';
    flatten(failure.text);
    failure.context = ctx ? ctx->number : 0;
    ++failure.count;
}

uint64_t atn_fail_count(void) { return failure.count; }

atn_status atn_fail(const atn_ctx *ctx, atn_status status, const char *format, ...) {
    char text[ATN_MESSAGE_BYTES];
    ATN_FORMAT(text, format);
    keep_sentence(ctx, text);
    return status;
}

atn_status atn_fail_memory(const atn_ctx *ctx, size_t bytes, const char *what) {
    return atn_fail(ctx, ATN_ERR_MEMORY, "out of memory: %s needs %zu bytes", what, bytes);
}

atn_status atn_fail_within(const atn_ctx *ctx, atn_status status, const char *format, ...) {
    char prefix[256], text[ATN_MESSAGE_BYTES + 300];
    ATN_FORMAT(prefix, format);
    snprintf(text, sizeof text, "%s: %s", prefix, atn_ctx_message(ctx));
    keep_sentence(ctx, text);
    return status;
}

const char *atn_ctx_message(const atn_ctx *ctx) {
    return failure.context == (ctx ? ctx->number : 0) ? failure.text : "";
}

void atn_log(const atn_ctx *ctx, atn_log_level level, const char *format, ...) {
    if (!ctx->options.log || level < ctx->options.log_from) return;
    char line[ATN_MESSAGE_BYTES];
    ATN_FORMAT(line, format);
    flatten(line);
    ctx->options.log(ctx->options.log_user, level, line);
}
