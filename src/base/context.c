/* The context: one sentence per failing thread, the log, the cancel flag, and the allocation counters.
 * Reporting a failure must not itself fail, so a thread's sentence lies in memory of its own that is always there. */
#include "base/context.h"

#include "base/kept.h"
#include "base/memory.h"
#include "base/sized.h"

#include <attune/version.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ATTACHMENTS = 8 };

typedef struct attachment {
    const void *tag; /* NULL: free */
    void *object;
    void (*release)(void *object);
} attachment;

/* The last failure of this thread, and in which context: numbers are never used again, addresses may be. */
static _Thread_local struct {
    uint64_t context; /* 0: none */
    char text[ATN_MESSAGE_BYTES];
} failure;

/* What this thread has taken since its own watch began, less what it has given back. */
static _Thread_local struct {
    bool on;
    int64_t held, peak;
} own;

struct atn_ctx {
    uint64_t number;          /* from 1, of this one only */
    atn_ctx_settings options; /* as given, strings copied */
    char *cache_dir;          /* owned copy, or NULL */
    char *compiler;           /* owned copy, or NULL */
    atomic_bool cancelled;    /* set by atn_ctx_cancel */
    atn_progress_fn progress; /* or NULL */
    void *progress_user;
    atomic_size_t bytes;   /* allocated now */
    atomic_size_t peak;    /* the most allocated at once */
    atomic_size_t watched; /* the same since a watch began */
    atomic_size_t refused; /* allocations that failed */
    pthread_mutex_t *lock; /* guards what is attached; a pointer, so that a const context can be locked */
    pthread_mutex_t lock_; /* what `lock` points to */
    attachment attached[ATTACHMENTS];
    atn_kept kept; /* where the caller has no allocator */
};

static const char *const STATUS_NAMES[] = {
    [ATN_OK] = "ok",
    [ATN_ERR_INPUT] = "input",
    [ATN_ERR_MEMORY] = "memory",
    [ATN_ERR_IO] = "io",
    [ATN_ERR_BUILD] = "build",
    [ATN_ERR_TIMEOUT] = "timeout",
    [ATN_ERR_DEVICE] = "device",
    [ATN_ERR_LOST] = "lost",
    [ATN_ERR_UNSUPPORTED] = "unsupported",
    [ATN_ERR_CANCELLED] = "cancelled",
    [ATN_ERR_INTERNAL] = "internal",
};

const char *atn_status_name(atn_status status) {
    size_t index = (size_t)status;
    return index < sizeof STATUS_NAMES / sizeof *STATUS_NAMES ? STATUS_NAMES[index] : "unknown";
}

const char *atn_version(void) { return ATN_VERSION; }

/* Large blocks are asked for in large pages: the first touch of small ones costs as much as what is done with them. */
enum { LARGE_PAGE = 1 << 21 };

static void *plain_resize(void *user, void *block, size_t bytes) {
    (void)user;
    if (bytes == 0) {
        free(block);
        return NULL;
    }
    if (block || bytes < LARGE_PAGE) return realloc(block, bytes);
    void *large = bytes <= SIZE_MAX - LARGE_PAGE
                      ? aligned_alloc(LARGE_PAGE, (bytes + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE)
                      : NULL;
#ifdef MADV_HUGEPAGE
    if (large) (void)madvise(large, bytes, MADV_HUGEPAGE);
#endif
    return large;
}

atn_status atn_ctx_create(const atn_ctx_settings *settings, atn_ctx **out) {
    static atomic_uint_fast64_t made;
    atn_ctx_settings given;
    *out = NULL;
    atn_status status = ATN_TAKE(NULL, atn_ctx_settings, settings, &given);
    if (status != ATN_OK) return status;
    if (!given.resize) given.resize = plain_resize;
    atn_ctx *ctx = given.resize(given.resize_user, NULL, sizeof *ctx);
    if (!ctx) return atn_fail_memory(NULL, sizeof *ctx, "a context");
    memset(ctx, 0, sizeof *ctx);
    ctx->number = atomic_fetch_add(&made, 1) + 1;
    ctx->options = given;
    ctx->lock = &ctx->lock_;
    pthread_mutex_init(ctx->lock, NULL);
    atn_kept_begin(&ctx->kept);
    bool copied = (!given.cache_dir || (ctx->cache_dir = atn_strdup(ctx, given.cache_dir))) &&
                  (!given.compiler || (ctx->compiler = atn_strdup(ctx, given.compiler)));
    if (!copied) {
        atn_ctx_free(ctx);
        return atn_fail(NULL, ATN_ERR_MEMORY, "out of memory: a context's settings");
    }
    *out = ctx;
    return ATN_OK;
}

void atn_ctx_free(atn_ctx *ctx) {
    if (!ctx) return;
    for (int k = ATTACHMENTS; k-- > 0;)
        if (ctx->attached[k].tag) ctx->attached[k].release(ctx->attached[k].object);
    atn_free(ctx, ctx->cache_dir);
    atn_free(ctx, ctx->compiler);
    atn_kept_end(&ctx->kept);
    pthread_mutex_destroy(ctx->lock);
    ctx->options.resize(ctx->options.resize_user, ctx, 0);
}

/* One line: a message never holds a line break or a terminal's escape, whatever a compiler or driver put into it. */
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
}

atn_status atn_fail(const atn_ctx *ctx, atn_status status, const char *format, ...) {
    char text[ATN_MESSAGE_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    keep_sentence(ctx, text);
    return status;
}

atn_status atn_fail_memory(const atn_ctx *ctx, size_t bytes, const char *what) {
    return atn_fail(ctx, ATN_ERR_MEMORY, "out of memory: %s needs %zu bytes", what, bytes);
}

atn_status atn_fail_within(const atn_ctx *ctx, atn_status status, const char *format, ...) {
    char prefix[256], text[ATN_MESSAGE_BYTES + 300];
    va_list args;
    va_start(args, format);
    vsnprintf(prefix, sizeof prefix, format, args);
    va_end(args);
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
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    flatten(line);
    ctx->options.log(ctx->options.log_user, level, line);
}

void atn_ctx_cancel(atn_ctx *ctx) { atomic_store(&ctx->cancelled, true); }
void atn_ctx_resume(atn_ctx *ctx) { atomic_store(&ctx->cancelled, false); }

atn_status atn_check_cancel(const atn_ctx *ctx) {
    if (!atomic_load(&ctx->cancelled)) return ATN_OK;
    return atn_fail(ctx, ATN_ERR_CANCELLED, "stopped as asked");
}

void atn_ctx_on_progress(atn_ctx *ctx, atn_progress_fn progress, void *user) {
    ctx->progress = progress;
    ctx->progress_user = user;
}

atn_status atn_tell_progress(const atn_ctx *ctx, const char *doing, int64_t done, int64_t count) {
    const atn_progress now = {.doing = doing, .done = done, .count = count};
    atn_status status = atn_check_cancel(ctx);
    if (status != ATN_OK || !ctx->progress || ctx->progress(ctx->progress_user, &now)) return status;
    return atn_fail(ctx, ATN_ERR_CANCELLED, "stopped as asked");
}

void *atn_ctx_attached(const atn_ctx *ctx, const void *tag) {
    void *object = NULL;
    pthread_mutex_lock(ctx->lock);
    for (int k = 0; k < ATTACHMENTS && !object; ++k)
        if (ctx->attached[k].tag == tag) object = ctx->attached[k].object;
    pthread_mutex_unlock(ctx->lock);
    return object;
}

atn_status atn_ctx_attach(const atn_ctx *ctx, const void *tag, void *object, void (*release)(void *object)) {
    int k = 0;
    pthread_mutex_lock(ctx->lock);
    while (k < ATTACHMENTS && ctx->attached[k].tag) ++k;
    if (k < ATTACHMENTS) ((atn_ctx *)ctx)->attached[k] = (attachment){tag, object, release};
    pthread_mutex_unlock(ctx->lock);
    return k < ATTACHMENTS ? ATN_OK
                           : atn_fail(ctx, ATN_ERR_INTERNAL, "more than %d things attached to a context", ATTACHMENTS);
}

const char *atn_ctx_cache_dir(const atn_ctx *ctx) { return ctx->cache_dir; }
const char *atn_ctx_compiler(const atn_ctx *ctx) { return ctx->compiler; }
size_t atn_ctx_bytes(const atn_ctx *ctx) { return atomic_load(&ctx->bytes); }
size_t atn_ctx_peak_bytes(const atn_ctx *ctx) { return atomic_load(&ctx->peak); }

void atn_ctx_watch_thread(bool on) { own.on = on; }

size_t atn_ctx_watch_peak(const atn_ctx *ctx) {
    own.held = own.peak = 0;
    if (own.on) return 0;
    size_t now = atomic_load(&ctx->bytes);
    atomic_store(&((atn_ctx *)(uintptr_t)ctx)->watched, now);
    return now;
}

size_t atn_ctx_watched_peak(const atn_ctx *ctx) { return own.on ? (size_t)own.peak : atomic_load(&ctx->watched); }

size_t atn_ctx_refused(const atn_ctx *ctx) { return atomic_load(&ctx->refused); }
void atn_ctx_count_refusal(const atn_ctx *ctx) { atomic_fetch_add(&((atn_ctx *)(uintptr_t)ctx)->refused, 1); }

void *atn_ctx_resize(const atn_ctx *ctx, void *block, size_t bytes) {
    atn_kept *kept = &((atn_ctx *)(uintptr_t)ctx)->kept;
    bool plain = ctx->options.resize == plain_resize;
    if (plain && !block && bytes && bytes <= ATN_KEPT_LARGEST) return atn_kept_take(kept, bytes);
    if (plain && block && !bytes) {
        atn_kept_give(kept, block);
        return NULL;
    }
    if (plain && block) return atn_kept_grow(kept, block, bytes);
    return ctx->options.resize(ctx->options.resize_user, block, bytes);
}

void atn_ctx_count(const atn_ctx *ctx, size_t more, size_t less) {
    atn_ctx *c = (atn_ctx *)ctx;
    size_t now = atomic_fetch_add(&c->bytes, more - less) + more - less;
    size_t peak = atomic_load(&c->peak), watched = atomic_load(&c->watched);
    while (now > peak && !atomic_compare_exchange_weak(&c->peak, &peak, now)) {}
    while (now > watched && !atomic_compare_exchange_weak(&c->watched, &watched, now)) {}
    own.held += (int64_t)more - (int64_t)less;
    if (own.held > own.peak) own.peak = own.held;
}
