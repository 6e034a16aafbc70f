/* The context: what all calls of a program share. Status codes, the message of a failure, logging, cancellation,
 * progress and the allocator. Every other header builds on this one. docs/interface.md: conventions, threads. */
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

/* Structs that may grow begin with `size`, the size they have in the header a program was built with; initialise
 * them with ATN_INIT: atn_cloud_settings settings = ATN_INIT(atn_cloud_settings). Settings: fields left at zero take
 * their defaults, NULL means all defaults. Results and infos are filled up to their size. A struct larger than the
 * library knows is refused. Size 0 means the size it had in 0.2.0, so zeroed structs work. docs/interface.md */
#ifdef __cplusplus
#define ATN_INIT(type)                                                                                                 \
    { sizeof(type) }
#else
#define ATN_INIT(type)                                                                                                 \
    { .size = sizeof(type) }
#endif

/* Status of a call. Anything but ATN_OK comes with a message of one sentence: atn_ctx_message. */
typedef enum atn_status {
    ATN_OK = 0,
    ATN_ERR_INPUT,       /* invalid argument or file */
    ATN_ERR_MEMORY,      /* out of host or device memory; nothing was changed */
    ATN_ERR_IO,          /* a file or directory could not be read or written */
    ATN_ERR_BUILD,       /* generated code did not compile; the message quotes the compiler's first error */
    ATN_ERR_TIMEOUT,     /* a time limit was exceeded */
    ATN_ERR_DEVICE,      /* the device reported an error and stays usable */
    ATN_ERR_LOST,        /* the device is no longer usable; close it */
    ATN_ERR_UNSUPPORTED, /* not supported by this machine, device or build */
    ATN_ERR_CANCELLED,   /* cancelled by the caller */
    ATN_ERR_INTERNAL     /* a bug in attune */
} atn_status;

/* The name of a status, e.g. "input"; never NULL. */
ATN_API const char *atn_status_name(atn_status status);

typedef enum atn_log_level { ATN_LOG_DEBUG, ATN_LOG_INFO, ATN_LOG_WARNING } atn_log_level;

/* May be called from any thread; `line` has no newline and is valid during the call only. */
typedef void (*atn_log_fn)(void *user, atn_log_level level, const char *line);

/* The allocator. bytes == 0 frees `block` and returns NULL; block == NULL allocates; otherwise resizes as realloc
 * does. Must be thread-safe and return memory aligned for any type. */
typedef void *(*atn_resize_fn)(void *user, void *block, size_t bytes);

/* Fields left at zero take their defaults. */
typedef struct atn_ctx_settings {
    size_t size;            /* of this struct: ATN_INIT */
    atn_log_fn log;         /* NULL: silent */
    void *log_user;         /* passed to log */
    atn_log_level log_from; /* lines below this level are not produced; default: debug */
    atn_resize_fn resize;   /* NULL: realloc and free */
    void *resize_user;      /* passed to resize */
    const char *cache_dir;  /* NULL: $XDG_CACHE_HOME/attune, or ~/.cache/attune */
    const char *compiler;   /* NULL: $ATTUNE_CC, else the first found of gcc, clang, cc */
} atn_ctx_settings;

typedef struct atn_ctx atn_ctx;

/* Makes a context, owned by the caller. `settings` may be NULL and is copied. On failure *out is NULL and
 * atn_ctx_message(NULL) says why. */
ATN_API atn_status atn_ctx_create(const atn_ctx_settings *settings, atn_ctx **out);
ATN_API void atn_ctx_free(atn_ctx *ctx); /* NULL is allowed. Free everything created from it first */

/* The message of the calling thread's last failure, if that was in this context (NULL: in a call without one, as a
 * failed atn_ctx_create); otherwise "". Valid until the same thread fails again or ends. There is no limit on threads.
 */
ATN_API const char *atn_ctx_message(const atn_ctx *ctx);

/* Cancels: all calls in progress on this context, in all threads, and all that follow return ATN_ERR_CANCELLED at their
 * next safe point (an iteration, a launch, a frame, a block of a file), usually within some ten milliseconds, until
 * atn_ctx_resume. Handles stay usable; what a cancelled call would have filled is undefined unless its header says
 * otherwise. May be called from any thread, and from a signal handler. */
ATN_API void atn_ctx_cancel(atn_ctx *ctx);

/* Takes back a cancellation, so that calls work again. Wait for cancelled calls to return first: one that has not yet
 * noticed would go on. Nothing happens where nothing was cancelled. */
ATN_API void atn_ctx_resume(atn_ctx *ctx);

/* How far a long call is. Valid during the callback only. */
typedef struct atn_progress {
    const char *doing;   /* what it is doing, for people */
    int64_t done, count; /* steps of it; count 0: not known */
} atn_progress;

/* Called from time to time by the thread that made the call, or, if several devices work on it, by a thread of any of
 * them, one at a time; returning false cancels that call with ATN_ERR_CANCELLED. */
typedef bool (*atn_progress_fn)(void *user, const atn_progress *now);

/* Sets the callback for progress of unwrapping, lattice and needle calls (registrations have `watch` in their
 * settings). NULL: none. Not while a call is in progress. */
ATN_API void atn_ctx_on_progress(atn_ctx *ctx, atn_progress_fn progress, void *user);

/* Host memory allocated through this context, in bytes: now, and the peak. */
ATN_API size_t atn_ctx_bytes(const atn_ctx *ctx);
ATN_API size_t atn_ctx_peak_bytes(const atn_ctx *ctx);

/* The library's version, e.g. "0.2.0". */
ATN_API const char *atn_version(void);

#ifdef __cplusplus
}
#endif
#endif
