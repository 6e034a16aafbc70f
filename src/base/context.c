/* The context: creating and freeing it, the objects attached to it, the cancel flag, progress. Its failures are in
 * fail.c, its memory in held.c. */
#include "base/context_own.h"

#include "base/memory.h"
#include "base/sized.h"

#include <attune/version.h>

#include <string.h>

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

/* A callback may make calls that report as well. */
static void init_recursive(pthread_mutex_t *lock) {
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(lock, &kind);
    pthread_mutexattr_destroy(&kind);
}

atn_status atn_ctx_create(const atn_ctx_settings *settings, atn_ctx **out) {
    static atomic_uint_fast64_t made;
    atn_ctx_settings given;
    *out = NULL;
    atn_status status = ATN_TAKE(NULL, atn_ctx_settings, settings, &given);
    if (status != ATN_OK) return status;
    if (!given.resize) given.resize = atn_ctx_plain_resize;
    atn_ctx *ctx = given.resize(given.resize_user, NULL, sizeof *ctx);
    if (!ctx) return atn_fail_memory(NULL, sizeof *ctx, "a context");
    memset(ctx, 0, sizeof *ctx);
    ctx->number = atomic_fetch_add(&made, 1) + 1;
    ctx->options = given;
    ctx->lock = &ctx->lock_;
    pthread_mutex_init(ctx->lock, NULL);
    ctx->progress_lock = &ctx->progress_lock_;
    init_recursive(ctx->progress_lock);
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
    for (int k = ATN_CTX_ATTACHMENTS; k-- > 0;)
        if (ctx->attached[k].tag) ctx->attached[k].release(ctx->attached[k].object);
    atn_free(ctx, ctx->cache_dir);
    atn_free(ctx, ctx->compiler);
    atn_kept_end(&ctx->kept);
    pthread_mutex_destroy(ctx->lock);
    pthread_mutex_destroy(ctx->progress_lock);
    ctx->options.resize(ctx->options.resize_user, ctx, 0);
}

void atn_ctx_cancel(atn_ctx *ctx) { atomic_store(&ctx->cancelled, true); }
void atn_ctx_resume(atn_ctx *ctx) { atomic_store(&ctx->cancelled, false); }

atn_status atn_check_cancel(const atn_ctx *ctx) {
    if (!atomic_load(&ctx->cancelled)) return ATN_OK;
    return atn_fail(ctx, ATN_ERR_CANCELLED, "stopped on request");
}

void atn_ctx_on_progress(atn_ctx *ctx, atn_progress_fn progress, void *user) {
    ctx->progress = progress;
    ctx->progress_user = user;
}

atn_status atn_tell_progress(const atn_ctx *ctx, const char *doing, int64_t done, int64_t count) {
    const atn_progress now = {.doing = doing, .done = done, .count = count};
    atn_status status = atn_check_cancel(ctx);
    if (status != ATN_OK || !ctx->progress) return status;
    pthread_mutex_lock(ctx->progress_lock);
    bool go_on = ctx->progress(ctx->progress_user, &now);
    pthread_mutex_unlock(ctx->progress_lock);
    return go_on ? ATN_OK : atn_fail(ctx, ATN_ERR_CANCELLED, "stopped on request");
}

void *atn_ctx_attached(const atn_ctx *ctx, const void *tag) {
    void *object = NULL;
    pthread_mutex_lock(ctx->lock);
    for (int k = 0; k < ATN_CTX_ATTACHMENTS && !object; ++k)
        if (ctx->attached[k].tag == tag) object = ctx->attached[k].object;
    pthread_mutex_unlock(ctx->lock);
    return object;
}

atn_status atn_ctx_attach(const atn_ctx *ctx, const void *tag, void *object, void (*release)(void *object)) {
    int k = 0;
    pthread_mutex_lock(ctx->lock);
    while (k < ATN_CTX_ATTACHMENTS && ctx->attached[k].tag) ++k;
    if (k < ATN_CTX_ATTACHMENTS) ((atn_ctx *)ctx)->attached[k] = (atn_attachment){tag, object, release};
    pthread_mutex_unlock(ctx->lock);
    return k < ATN_CTX_ATTACHMENTS
               ? ATN_OK
               : atn_fail(ctx, ATN_ERR_INTERNAL, "more than %d objects attached to a context", ATN_CTX_ATTACHMENTS);
}

const char *atn_ctx_cache_dir(const atn_ctx *ctx) { return ctx->cache_dir; }
const char *atn_ctx_compiler(const atn_ctx *ctx) { return ctx->compiler; }
