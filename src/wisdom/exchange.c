/* Wisdom for programs (attune/wisdom.h): the database is opened, asked and closed again in each call. */
#include <attune/wisdom.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/sized.h"
#include "wisdom/wisdom.h"

static const size_t LARGEST = (size_t)1 << 28; /* file that is imported */

/* What the caller gave, and room for what he gets. */
static atn_status take(const atn_ctx *ctx, const atn_wisdom_settings *given, const atn_wisdom_counts *counts,
                       atn_wisdom_settings *settings, atn_wisdom_filter *filter) {
    atn_status status = ATN_TAKE(ctx, atn_wisdom_settings, given, settings);
    if (status == ATN_OK && counts) status = ATN_CHECK_OUT(ctx, atn_wisdom_counts, counts);
    *filter = (atn_wisdom_filter){.kernel = settings->kernel, .device = settings->device, .winners = settings->winners};
    return status;
}

static atn_status give(const atn_ctx *ctx, atn_status status, const atn_wisdom_counts *made,
                       atn_wisdom_counts *counts) {
    if (counts) ATN_GIVE(ctx, atn_wisdom_counts, made, counts);
    return status;
}

static atn_status export(atn_ctx *ctx, const atn_wisdom_settings *given, atn_text *text, atn_wisdom_counts *counts) {
    atn_wisdom_settings settings;
    atn_wisdom_filter filter;
    atn_wisdom_counts made = {0};
    atn_wisdom *wisdom = NULL;
    atn_status status = take(ctx, given, counts, &settings, &filter);
    if (status != ATN_OK) return status;
    status = atn_wisdom_open(ctx, settings.path, true, &wisdom);
    if (status == ATN_OK) status = atn_store_export(ctx, wisdom, &filter, text, &made);
    atn_wisdom_close(wisdom);
    return give(ctx, status, &made, counts);
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

static atn_status import(atn_ctx *ctx, const char *name, const char *text, size_t length,
                         const atn_wisdom_settings *given, atn_wisdom_counts *counts) {
    atn_wisdom_settings settings;
    atn_wisdom_filter filter;
    atn_wisdom_counts made = {0};
    atn_wisdom *wisdom = NULL;
    atn_status status = take(ctx, given, counts, &settings, &filter);
    if (status != ATN_OK) return status;
    status = atn_wisdom_open(ctx, settings.path, false, &wisdom);
    if (status == ATN_OK) status = atn_store_import(wisdom, name, text, length, &made);
    atn_wisdom_close(wisdom);
    return give(ctx, status, &made, counts);
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

atn_status atn_wisdom_forget(atn_ctx *ctx, const atn_wisdom_settings *given, atn_wisdom_counts *counts) {
    atn_wisdom_settings settings;
    atn_wisdom_filter filter;
    atn_wisdom_counts made = {0};
    atn_wisdom *wisdom = NULL;
    atn_status status = take(ctx, given, counts, &settings, &filter);
    if (status != ATN_OK) return status;
    status = atn_wisdom_open(ctx, settings.path, true, &wisdom);
    if (status == ATN_OK && wisdom) { /* none is made to be emptied */
        atn_wisdom_close(wisdom);
        status = atn_wisdom_open(ctx, settings.path, false, &wisdom);
        if (status == ATN_OK) status = atn_store_forget(wisdom, &filter, &made);
    }
    atn_wisdom_close(wisdom);
    return give(ctx, status, &made, counts);
}
