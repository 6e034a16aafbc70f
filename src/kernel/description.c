/* Texts of kernels and programs, and the options that go with them. */
#include "kernel/description.h"

#include "base/file.h"
#include "base/memory.h"
#include "graph/shipped.h"

#include <math.h>
#include <string.h>

enum { MOST_BYTES = 64 << 20 };
static const double BUDGET_S = 60;

/* A text (XML, or the notation with its line ends), a shipped kernel, or a file; the text is kept for the tuner. */
static atn_status find_text(const atn_ctx *ctx, const char *description, atn_description *k) {
    const char *first = description + strspn(description, " \t\r\n");
    if (*first == '<' || strchr(first, '\n')) {
        k->name = "description";
        k->text = atn_arena_strdup(&k->arena, description);
        return k->text ? ATN_OK : ATN_ERR_MEMORY;
    }
    k->name = atn_arena_strdup(&k->arena, description);
    k->text = atn_shipped_find(description);
    if (!k->name) return ATN_ERR_MEMORY;
    if (k->text) return ATN_OK;
    char *text;
    size_t length;
    atn_status status = atn_file_read(ctx, description, MOST_BYTES, &text, &length);
    if (status == ATN_ERR_IO)
        return atn_fail(ctx, status, "%s; there is no shipped kernel of that name either", atn_ctx_message(ctx));
    if (status == ATN_OK && memchr(text, 0, length))
        status = atn_fail(ctx, ATN_ERR_INPUT, "%s: a description is text, without zero bytes", description);
    if (status == ATN_OK && !(k->text = atn_arena_strndup(&k->arena, text, length))) status = ATN_ERR_MEMORY;
    atn_free(ctx, text);
    return status;
}

/* "NAME=VALUE" each, copied, and cut into pairs for the parser. */
static atn_status copy_defines(const atn_ctx *ctx, const char *const *defines, atn_description *k) {
    const char **copies = atn_arena_alloc(&k->arena, (ATN_MOST_DEFINES + 1) * sizeof *copies);
    if (!copies) return ATN_ERR_MEMORY;
    size_t *count = &k->n_pairs;
    for (*count = 0; defines && defines[*count]; ++*count) {
        const char *text = defines[*count], *equals = strchr(text, '=');
        if (*count == ATN_MOST_DEFINES || !equals || equals == text)
            return atn_fail(ctx, ATN_ERR_INPUT, "define '%s': NAME=VALUE is expected, at most %d of them", text,
                            ATN_MOST_DEFINES);
        const char *copy = copies[*count] = atn_arena_strdup(&k->arena, text);
        const char *name = atn_arena_strndup(&k->arena, text, (size_t)(equals - text));
        if (!copy || !name) return ATN_ERR_MEMORY;
        k->pairs[*count] = (atn_define){name, copy + (equals - text) + 1};
    }
    k->options.defines = copies;
    return ATN_OK;
}

/* An effort that is none would tune for hours. */
static atn_status check_options(const atn_ctx *ctx, const atn_kernel_settings *o) {
    if ((int)o->effort < ATN_EFFORT_ESTIMATE || (int)o->effort > ATN_EFFORT_EXHAUSTIVE)
        return atn_fail(ctx, ATN_ERR_INPUT, "there is no effort %d", (int)o->effort);
    if (!(o->tolerance >= 0) || !isfinite(o->tolerance))
        return atn_fail(ctx, ATN_ERR_INPUT, "the tolerance is %g; it is a number from 0", o->tolerance);
    if (!(o->budget_s >= 0))
        return atn_fail(ctx, ATN_ERR_INPUT, "the budget is %g seconds; it is a number from 0", o->budget_s);
    return ATN_OK;
}

atn_status atn_description_open(const atn_ctx *ctx, const char *given, const atn_kernel_settings *options,
                                atn_description *out) {
    *out = (atn_description){.arena = {.ctx = ctx}};
    if (options) out->options = *options;
    atn_status status = check_options(ctx, &out->options);
    if (out->options.budget_s <= 0) out->options.budget_s = BUDGET_S;
    if (status == ATN_OK) status = find_text(ctx, given, out);
    return status == ATN_OK ? copy_defines(ctx, options ? options->defines : NULL, out) : status;
}

void atn_description_close(atn_description *description) { atn_arena_free(&description->arena); }
