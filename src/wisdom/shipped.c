/* Shipped wisdom: the embedded files, imported once for each context into a database in memory, so that finding in it
 * is one more question of the same kind. */
#include "wisdom/shipped.h"

#include <pthread.h>
#include <string.h>

const atn_embedded *atn_shipped_wisdom_table = ATN_SHIPPED_WISDOM;

static void release(void *object) { atn_wisdom_close(object); }

static atn_status load(const atn_ctx *ctx, const void *tag, atn_wisdom **out) {
    atn_wisdom *wisdom;
    atn_status status = atn_wisdom_open_memory(ctx, "shipped", &wisdom);
    for (const atn_embedded *s = atn_shipped_wisdom_table; s->name && status == ATN_OK; ++s) {
        status = atn_store_import(wisdom, s->name, s->text, strlen(s->text), NULL);
        if (status != ATN_ERR_INPUT) continue;
        atn_log(ctx, ATN_LOG_WARNING, "shipped wisdom is left out: %s", atn_ctx_message(ctx));
        status = ATN_OK;
    }
    if (status == ATN_OK) status = atn_ctx_attach(ctx, tag, wisdom, release);
    if (status == ATN_OK)
        *out = wisdom;
    else
        atn_wisdom_close(wisdom);
    return status;
}

static bool mentions(atn_hash graph) {
    char text[ATN_HASH_TEXT];
    atn_hash_print(graph, text);
    const atn_embedded *s = atn_shipped_wisdom_table;
    while (s->name && !strstr(s->text, text)) ++s;
    return s->name;
}

atn_status atn_wisdom_shipped(const atn_ctx *ctx, atn_hash graph, atn_wisdom **out) {
    static const char TAG;                                      /* under which the context carries it */
    static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER; /* two threads that ask at once get the same one */
    *out = NULL;
    if (!mentions(graph)) return ATN_OK;
    atn_status status = ATN_OK;
    pthread_mutex_lock(&loading);
    *out = atn_ctx_attached(ctx, &TAG);
    if (!*out) status = load(ctx, &TAG, out);
    pthread_mutex_unlock(&loading);
    return status;
}
