/* The context: everything a run of attune shares. Status codes, the one sentence that explains a
 * failure, the log callback and the allocator hook. Every other header builds on this one. */
#ifndef ATTUNE_CONTEXT_H
#define ATTUNE_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define ATN_API __attribute__((visibility("default")))
#else
#define ATN_API
#endif

/* What became of a call. Anything but ATN_OK leaves one sentence in the context. */
typedef enum atn_status {
    ATN_OK = 0,
    ATN_ERR_INPUT,       /* what the caller gave is wrong: a file, a size, a name */
    ATN_ERR_MEMORY,      /* host or device memory ran out; nothing was changed */
    ATN_ERR_IO,          /* a file or directory could not be read or written */
    ATN_ERR_BUILD,       /* generated code did not compile; the message has the compiler's first error */
    ATN_ERR_TIMEOUT,     /* something took longer than its limit and was stopped */
    ATN_ERR_DEVICE,      /* the device refused; it stays usable */
    ATN_ERR_LOST,        /* the device is not usable any more; close it */
    ATN_ERR_UNSUPPORTED, /* this machine, device or build cannot do it */
    ATN_ERR_CANCELLED,   /* the caller asked to stop */
    ATN_ERR_INTERNAL     /* a defect of attune itself */
} atn_status;

/* The name of a status, e.g. "input"; never NULL. */
ATN_API const char *atn_status_name(atn_status status);

typedef enum atn_log_level { ATN_LOG_DEBUG, ATN_LOG_INFO, ATN_LOG_WARNING } atn_log_level;

/* Called from any thread; `line` has no newline and is valid during the call only. */
typedef void (*atn_log_fn)(void *user, atn_log_level level, const char *line);

/* The one allocator hook. bytes == 0 frees `block` and returns NULL; block == NULL allocates; otherwise
 * resizes as realloc does. Must be thread-safe and return memory aligned for any type. */
typedef void *(*atn_resize_fn)(void *user, void *block, size_t bytes);

/* Settings of a context; a field left zero takes its default. */
typedef struct atn_ctx_settings {
    atn_log_fn log;         /* NULL: silent */
    void *log_user;         /* handed to log */
    atn_log_level log_from; /* lines below this level are not made; default: debug */
    atn_resize_fn resize;   /* NULL: realloc and free */
    void *resize_user;      /* handed to resize */
    const char *cache_dir;  /* NULL: $XDG_CACHE_HOME/attune, or ~/.cache/attune */
    const char *compiler;   /* NULL: $ATTUNE_CC, else the first of gcc, clang, cc found */
} atn_ctx_settings;

typedef struct atn_ctx atn_ctx;

/* Makes a context, owned by the caller. `settings` may be NULL and is copied. On failure *out is NULL and
 * there is no context to ask: the status says it all. */
ATN_API atn_status atn_ctx_create(const atn_ctx_settings *settings, atn_ctx **out);
ATN_API void atn_ctx_free(atn_ctx *ctx); /* NULL is fine; all else made from ctx is freed before it */

/* The sentence left by the calling thread's last failure in this context; "" when there was none. Valid
 * until the same thread fails again. */
ATN_API const char *atn_ctx_message(const atn_ctx *ctx);

/* Asks long work to stop at the next safe point with ATN_ERR_CANCELLED. Safe in a signal handler. */
ATN_API void atn_ctx_cancel(atn_ctx *ctx);

/* Forgets that a stop was asked for, so that new work may begin. Not while work is under way. */
ATN_API void atn_ctx_resume(atn_ctx *ctx);

/* Where long work is. `doing` lives during the call only. */
typedef struct atn_progress {
    const char *doing;
    int64_t done, count; /* parts of it; count 0: not known */
} atn_progress;

/* Called now and then by the thread that works; false stops the work with ATN_ERR_CANCELLED. */
typedef bool (*atn_progress_fn)(void *user, const atn_progress *now);

/* Lets unwrapping, lattices and needles report where they are (registrations have a watch of their own). NULL: nobody
 * listens. Not while work is under way. */
ATN_API void atn_ctx_on_progress(atn_ctx *ctx, atn_progress_fn progress, void *user);

/* Bytes of host memory held through this context now, and the most there ever was. */
ATN_API size_t atn_ctx_bytes(const atn_ctx *ctx);
ATN_API size_t atn_ctx_peak_bytes(const atn_ctx *ctx);

/* The library's version, e.g. "0.1.0". */
ATN_API const char *atn_version(void);

#ifdef __cplusplus
}
#endif
#endif
