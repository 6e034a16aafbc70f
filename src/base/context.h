/* What the library itself needs from a context: failing with a message, logging, cancellation. */
#ifndef ATN_BASE_CONTEXT_H
#define ATN_BASE_CONTEXT_H

#include <attune/context.h>

#include <stdarg.h>

#if defined(__GNUC__)
#define ATN_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))
#else
#define ATN_PRINTF(fmt, first)
#endif

/* Prints into `to`, an array, what a variadic function was given after `format`. Of <stdio.h>. */
#define ATN_FORMAT(to, format)                                                                                         \
    do {                                                                                                               \
        va_list args_;                                                                                                 \
        va_start(args_, format);                                                                                       \
        vsnprintf(to, sizeof(to), format, args_);                                                                      \
        va_end(args_);                                                                                                 \
    } while (0)

enum { ATN_MESSAGE_BYTES = 1024 };

/* Stores one sentence (where, what, what would be correct) for the calling thread and returns `status`, so that a
 * failure reads `return atn_fail(ctx, ATN_ERR_INPUT, "...")`. Never allocates. NULL: outside any context. */
atn_status atn_fail(const atn_ctx *ctx, atn_status status, const char *format, ...) ATN_PRINTF(3, 4);

/* The common failure: `what` could not be allocated. */
atn_status atn_fail_memory(const atn_ctx *ctx, size_t bytes, const char *what);

/* Prepends "prefix: " to the message that a callee has just stored; keeps its status. */
atn_status atn_fail_within(const atn_ctx *ctx, atn_status status, const char *format, ...) ATN_PRINTF(3, 4);

void atn_log(const atn_ctx *ctx, atn_log_level level, const char *format, ...) ATN_PRINTF(3, 4);

/* ATN_ERR_CANCELLED with its message after atn_ctx_cancel was called, ATN_OK before. */
atn_status atn_check_cancel(const atn_ctx *ctx);

/* The same; also reports progress to the listener, which may cancel. `done` of `count` parts; 0: unknown. */
atn_status atn_tell_progress(const atn_ctx *ctx, const char *doing, int64_t done, int64_t count);

/* Objects that a context carries for its whole life, one per `tag` (the address of a static object): found again with
 * atn_ctx_attached, freed with `release` when the context is. NULL if nothing is attached. At most 8. */
void *atn_ctx_attached(const atn_ctx *ctx, const void *tag);
atn_status atn_ctx_attach(const atn_ctx *ctx, const void *tag, void *object, void (*release)(void *object));

/* The peak number of bytes held since the watch began; beginning it returns what is held then. There is one watch: a
 * watched call inside another restarts it. */
size_t atn_ctx_watch_peak(const atn_ctx *ctx);
size_t atn_ctx_watched_peak(const atn_ctx *ctx);
/* While it is on, watches of the calling thread count what this thread allocates, in any context, and nothing else: for
 * work that is done by one thread while others run. */
void atn_ctx_watch_thread(bool on);

const char *atn_ctx_cache_dir(const atn_ctx *ctx); /* as given in the options, or NULL */
const char *atn_ctx_compiler(const atn_ctx *ctx);  /* as given in the options, or NULL */

#endif
