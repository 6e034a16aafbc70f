/* The public wisdom interface (attune/wisdom.h): the database is opened, queried and closed in each call. */
#include <attune/wisdom.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/sized.h"
#include "wisdom/wisdom.h"

static const size_t LARGEST = (size_t)1 << 28; /* file that is imported */

/* A call, with what it works on. */
typedef struct exchange {
    atn_ctx *ctx;
    atn_wisdom_settings settings;
    atn_wisdom_filter filter;
    atn_wisdom_counts made;
    const char *name, *from; /* import: the text, and where it is from */
    size_t length;
    atn_text *to; /* export */
} exchange;

/* Takes what the caller gave, opens the database, works on it (NULL: `read_only`, and there is none), and gives the
 * counts. */
static atn_status with_wisdom(exchange *x, const atn_wisdom_settings *given, atn_wisdom_counts *counts, bool read_only,
                              atn_status (*work)(exchange *x, atn_wisdom *wisdom)) {
    atn_wisdom *wisdom = NULL;
    atn_status status = ATN_TAKE(x->ctx, atn_wisdom_settings, given, &x->settings);
    if (status == ATN_OK && counts) status = ATN_CHECK_OUT(x->ctx, atn_wisdom_counts, counts);
    if (status != ATN_OK) return status;
    const atn_wisdom_settings *s = &x->settings;
    x->filter = (atn_wisdom_filter){.kernel = s->kernel, .device = s->device, .winners = s->winners};
    status = atn_wisdom_open(x->ctx, s->path, read_only, &wisdom);
    if (status == ATN_OK) status = work(x, wisdom);
    atn_wisdom_close(wisdom);
    if (counts) ATN_GIVE(x->ctx, atn_wisdom_counts, &x->made, counts);
    return status;
}

static atn_status export_from(exchange *x, atn_wisdom *wisdom) {
    return atn_store_export(x->ctx, wisdom, &x->filter, x->to, &x->made);
}

static atn_status export(atn_ctx *ctx, const atn_wisdom_settings *given, atn_text *text, atn_wisdom_counts *counts) {
    return with_wisdom(&(exchange){.ctx = ctx, .to = text}, given, counts, true, export_from);
}

atn_status atn_wisdom_export(atn_ctx *ctx, const atn_wisdom_settings *settings, char **out, atn_wisdom_counts *counts) {
    atn_text text = {.ctx = ctx};
    *out = NULL;
    atn_status status = export(ctx, settings, &text, counts);
    if (status == ATN_OK && !(*out = atn_strdup(ctx, atn_text_str(&text)))) status = ATN_ERR_MEMORY;
    atn_text_free(&text);
    return status;
}

void atn_wisdom_free_text(atn_ctx *ctx, char *text) { atn_free(ctx, text); }

atn_status atn_wisdom_export_file(atn_ctx *ctx, const char *path, const atn_wisdom_settings *settings,
                                  atn_wisdom_counts *counts) {
    atn_text text = {.ctx = ctx};
    atn_status status = export(ctx, settings, &text, counts);
    if (status == ATN_OK) status = atn_file_write(ctx, path, atn_text_str(&text), text.length);
    atn_text_free(&text);
    return status;
}

static atn_status import_into(exchange *x, atn_wisdom *wisdom) {
    return atn_store_import(wisdom, x->name, x->from, x->length, &x->made);
}

static atn_status import(atn_ctx *ctx, const char *name, const char *text, size_t length,
                         const atn_wisdom_settings *given, atn_wisdom_counts *counts) {
    exchange x = {.ctx = ctx, .name = name, .from = text, .length = length};
    return with_wisdom(&x, given, counts, false, import_into);
}

atn_status atn_wisdom_import(atn_ctx *ctx, const char *text, size_t length, const atn_wisdom_settings *settings,
                             atn_wisdom_counts *counts) {
    return import(ctx, "wisdom", text, length, settings, counts);
}

atn_status atn_wisdom_import_file(atn_ctx *ctx, const char *path, const atn_wisdom_settings *settings,
                                  atn_wisdom_counts *counts) {
    char *text = NULL;
    size_t length;
    atn_status status = atn_file_read(ctx, path, LARGEST, &text, &length);
    if (status == ATN_OK) status = import(ctx, path, text, length, settings, counts);
    atn_free(ctx, text);
    return status;
}

static atn_status forget_in(exchange *x, atn_wisdom *wisdom) {
    atn_wisdom *own = NULL;
    if (!wisdom) return ATN_OK; /* none is made to be emptied */
    atn_status status = atn_wisdom_open(x->ctx, x->settings.path, false, &own);
    if (status == ATN_OK) status = atn_store_forget(own, &x->filter, &x->made);
    atn_wisdom_close(own);
    return status;
}

atn_status atn_wisdom_forget(atn_ctx *ctx, const atn_wisdom_settings *given, atn_wisdom_counts *counts) {
    return with_wisdom(&(exchange){.ctx = ctx}, given, counts, true, forget_in);
}
