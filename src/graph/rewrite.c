/* A description parsed and printed again, as XML or in the notation, and compared with the original: the canonical
 * hashes must be equal. */
#include "graph/rewrite.h"

#include "base/memory.h"
#include "graph/notation.h"
#include "graph/routine.h"
#include "graph/type.h"
#include "graph/unparse.h"

#include <string.h>

enum { MOST_DEFINES = 64 };

typedef struct job {
    const atn_ctx *ctx;
    const char *file, *text;
    size_t length;
    const atn_parse_options *options;
    bool many; /* a Sequence */
} job;

static atn_reader reader_of(const job *j, atn_text *print) {
    return (atn_reader){.ctx = j->ctx,
                        .arena = {.ctx = j->ctx},
                        .file = j->file ? j->file : "description",
                        .xml = j->text,
                        .length = j->length,
                        .options = j->options,
                        .many = j->many,
                        .print = print};
}

/* The options with USED_FLOAT as `name`; `defines` has room for MOST_DEFINES. */
static atn_parse_options with_type(const job *j, const char *name, atn_define *defines) {
    size_t n = 0;
    for (; n < j->options->n_defines && n < MOST_DEFINES; ++n) defines[n] = j->options->defines[n];
    for (size_t k = 0; k < n; ++k)
        if (!strcmp(defines[k].name, "USED_FLOAT") || !strcmp(defines[k].name, "T")) defines[k].value = name;
    return (atn_parse_options){.defines = defines, .n_defines = n};
}

/* The types of all items with USED_FLOAT as `name`; NULL where it does not parse so. */
static atn_type *types_with(const job *j, atn_arena *arena, const char *name, size_t *count) {
    atn_define defines[MOST_DEFINES];
    atn_parse_options options = with_type(j, name, defines);
    job other = *j;
    other.options = &options;
    atn_text nothing = {.ctx = j->ctx};
    atn_reader reader = reader_of(&other, &nothing);
    atn_sequence *sequence;
    atn_type *types = NULL;
    if (atn_reader_parse(&reader, NULL, &sequence) == ATN_OK) {
        types = atn_arena_alloc(arena, (reader.n_item_types + 1) * sizeof *types);
        if (types && reader.n_item_types) memcpy(types, reader.item_types, reader.n_item_types * sizeof *types);
        *count = reader.n_item_types;
        atn_sequence_free(sequence);
    }
    atn_arena_free(&reader.arena);
    return types;
}

/* Functions without a type of their own: T where theirs follows T, as three readings show. */
static const char *const *find_types(const job *j, atn_arena *arena) {
    static const char *const names[] = {"HP", "SP", "DP"};
    atn_type *types[3];
    size_t count[3] = {0, 0, 0};
    if (!atn_description_needs_float(j->text, j->length)) return NULL;
    for (int k = 0; k < 3; ++k) types[k] = types_with(j, arena, names[k], &count[k]);
    if (!types[1] || !types[2] || count[1] != count[2]) return NULL;
    const char **out = atn_arena_alloc(arena, (count[1] + 1) * sizeof *out);
    for (size_t k = 0; out && k < count[1]; ++k) {
        bool half = types[0] && count[0] == count[1] && types[0][k] == ATN_SP && types[1][k] == ATN_SP;
        bool follows = types[1][k] == ATN_SP && types[2][k] == ATN_DP;
        out[k] = follows ? (half ? "SUM(T)" : "T") : NULL;
    }
    return out;
}

static atn_status print(const job *j, atn_form form, bool plain, const char *const *types, atn_text *out,
                        atn_sequence **sequence) {
    atn_reader reader = reader_of(j, out);
    reader.form = form;
    reader.plain = plain;
    reader.types = types;
    atn_status status = atn_reader_parse(&reader, NULL, sequence);
    atn_arena_free(&reader.arena);
    if (status == ATN_OK && out->failed) {
        atn_sequence_free(*sequence);
        *sequence = NULL;
        return atn_fail_memory(j->ctx, 0, "the description");
    }
    return status;
}

static bool same(const atn_sequence *a, const atn_sequence *b) {
    bool right = a->count == b->count;
    for (int32_t k = 0; right && k < a->count; ++k)
        right = !memcmp(&a->step[k]->hash, &b->step[k]->hash, sizeof a->step[k]->hash);
    return right;
}

/* Do both texts give the same graphs, with T as any type that the first can be read with? */
static atn_status agree(const job *j, const atn_text *text, bool *right) {
    static const char *const names[] = {NULL, "HP", "SP", "DP"};
    size_t count = atn_description_needs_float(j->text, j->length) ? 4 : 1;
    *right = true;
    for (size_t k = 0; k < count && *right; ++k) {
        atn_define defines[MOST_DEFINES];
        atn_parse_options options = names[k] ? with_type(j, names[k], defines) : *j->options;
        atn_sequence *one, *other = NULL;
        atn_status status = atn_sequence_parse(j->ctx, j->file, j->text, j->length, &options, NULL, &one);
        if (status == ATN_ERR_MEMORY) return status;
        if (status) continue;
        status = atn_sequence_parse(j->ctx, j->file, atn_text_str(text), text->length, &options, NULL, &other);
        *right = !status && same(one, other);
        atn_sequence_free(one);
        atn_sequence_free(other);
        if (status == ATN_ERR_MEMORY) return status;
    }
    return ATN_OK;
}

/* XML has no calls: the result is that of all its steps, in the current types. */
static atn_status print_program(const job *j, const atn_graph *whole, atn_form form, atn_text *out) {
    atn_text_clear(out);
    if (form == ATN_FORM_NOTATION) {
        atn_text_add_bytes(out, j->text, j->length);
        return out->failed ? atn_fail_memory(j->ctx, 0, "the description") : ATN_OK;
    }
    atn_text flat = {.ctx = j->ctx};
    bool printed = atn_graph_print_flat(whole, &flat);
    atn_status status = ATN_OK;
    if (flat.failed)
        status = atn_fail_memory(j->ctx, 0, "the description");
    else if (!printed)
        status =
            atn_fail(j->ctx, ATN_ERR_UNSUPPORTED, "%s: what the program's steps come to has no form in XML", j->file);
    else
        status = atn_description_print(j->ctx, j->file, atn_text_str(&flat), flat.length, j->options, form, out);
    atn_text_free(&flat);
    return status;
}

atn_status atn_description_print(const atn_ctx *ctx, const char *file, const char *text, size_t length,
                                 const atn_parse_options *options, atn_form form, atn_text *out) {
    static const atn_parse_options none;
    job j = {ctx, file, text, length, options ? options : &none, false};
    atn_arena arena = {.ctx = ctx};
    atn_sequence *first;
    atn_status status = atn_sequence_parse(ctx, file, text, length, options, NULL, &first);
    if (status) return status;
    if (atn_description_is_program(text, length)) {
        status = print_program(&j, first->step[0], form, out);
        atn_sequence_free(first);
        return status;
    }
    j.many = first->count > 1;
    const char *const *types = find_types(&j, &arena);
    bool right = false;
    for (int plain = 0; plain < 2 && !right && !status; ++plain) {
        atn_text body = {.ctx = ctx};
        atn_sequence *read = NULL;
        status = print(&j, form, plain, types, &body, &read);
        atn_sequence_free(read);
        atn_text_clear(out);
        if (!status && j.many)
            atn_text_printf(out, form == ATN_FORM_XML ? "<Sequence name=\"%s\">\n" : "sequence %s\n\n", first->name);
        atn_text_add(out, atn_text_str(&body));
        if (j.many && form == ATN_FORM_XML) atn_text_add(out, "</Sequence>\n");
        atn_text_free(&body);
        if (!status && out->failed) status = atn_fail_memory(ctx, 0, "the description");
        if (!status) status = agree(&j, out, &right);
    }
    if (!status && !right)
        status = atn_fail(ctx, ATN_ERR_UNSUPPORTED, "%s: what it says could not be put into %s", file,
                          form == ATN_FORM_XML ? "XML" : "the notation");
    atn_sequence_free(first);
    atn_arena_free(&arena);
    return status;
}
