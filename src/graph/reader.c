/* Errors in a description: collected, sorted by position, printed one per line. */
#include "graph/reader.h"

#include "base/size.h"
#include "base/suggest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MOST_COMPLAINTS = 100, LONGEST_QUOTE = 80 };

struct atn_complaint {
    atn_place at;
    size_t number; /* keeps equal places in the order they were found */
    const char *line;
};

void *atn_reader_alloc(atn_reader *reader, size_t bytes) {
    void *block = reader->failed ? NULL : atn_arena_alloc(&reader->arena, bytes);
    if (!block) reader->failed = true;
    return block;
}

bool atn_reader_grow(atn_reader *reader, atn_arena *arena, void **array, size_t *room, size_t count, size_t size) {
    if (reader->failed) return false;
    if (count < *room) return true;
    size_t wanted = *room ? *room * 2 : 16, bytes;
    void *moved = atn_size_mul(wanted, size, &bytes) ? atn_arena_alloc(arena, bytes) : NULL;
    if (!moved) return reader->failed = true, false;
    if (count) memcpy(moved, *array, count * size);
    *array = moved;
    *room = wanted;
    return true;
}

void atn_reader_complain(atn_reader *reader, atn_place at, const char *what, const char *format, ...) {
    if (reader->n_complaints == MOST_COMPLAINTS) {
        ++reader->more;
        return;
    }
    char sentence[768], quote[LONGEST_QUOTE + 8] = "";
    ATN_FORMAT(sentence, format);
    if (what) {
        bool cut = strlen(what) > LONGEST_QUOTE - 6;
        snprintf(quote, sizeof quote, "'%.*s%s': ", LONGEST_QUOTE - 6, what, cut ? "..." : "");
    }
    if (!atn_reader_grow(reader, &reader->arena, (void **)&reader->complaints, &reader->room, reader->n_complaints,
                         sizeof *reader->complaints))
        return;
    char *line = atn_arena_printf(&reader->arena, "%s:%d:%d: %s%s", reader->file, at.line, at.column, quote, sentence);
    if (!line) {
        reader->failed = true;
        return;
    }
    for (char *c = line; *c; ++c)
        if ((unsigned char)*c < ' ') *c = ' '; /* one complaint, one line */
    for (size_t k = 0; k < reader->n_complaints; ++k)
        if (!strcmp(reader->complaints[k].line, line)) return;
    reader->complaints[reader->n_complaints] = (atn_complaint){at, reader->n_complaints, line};
    ++reader->n_complaints;
}

bool atn_reader_step(atn_reader *reader, int64_t steps, atn_place at, const char *what) {
    reader->steps += steps;
    if (reader->steps <= ATN_LIMIT_STEPS) return !reader->failed;
    if (!reader->overrun)
        atn_reader_complain(reader, at, what, "the description unfolds into more than %d steps; use smaller loops",
                            (int)ATN_LIMIT_STEPS);
    reader->overrun = true;
    return false;
}

/* From the place that was asked for before: lines in between, then columns from the beginning of the line. */
atn_place atn_reader_place(atn_reader *reader, size_t offset) {
    if (reader->n_complaints == MOST_COMPLAINTS) return (atn_place){0, 0};
    size_t to = offset < reader->length ? offset : reader->length, begin = to;
    atn_place at = {reader->counted_line + 1, 1};
    for (size_t k = reader->counted; k < to; ++k) at.line += reader->xml[k] == '\n';
    for (size_t k = to; k < reader->counted; ++k) at.line -= reader->xml[k] == '\n';
    while (begin && reader->xml[begin - 1] != '\n') --begin;
    for (size_t k = begin; k < to; ++k) /* not the inside of a UTF-8 sequence */
        at.column += ((unsigned char)reader->xml[k] & 0xc0) != 0x80;
    reader->counted = to;
    reader->counted_line = at.line - 1;
    return at;
}

static int by_place(const void *a, const void *b) {
    const atn_complaint *x = a, *y = b;
    if (x->at.line != y->at.line) return x->at.line < y->at.line ? -1 : 1;
    if (x->at.column != y->at.column) return x->at.column < y->at.column ? -1 : 1;
    return x->number < y->number ? -1 : 1;
}

atn_status atn_reader_finish(atn_reader *reader, atn_diagnostics *diagnostics) {
    if (reader->failed) return atn_fail_memory(reader->ctx, 0, "the description");
    if (!reader->n_complaints) return ATN_OK;
    qsort(reader->complaints, reader->n_complaints, sizeof *reader->complaints, by_place);
    size_t others = reader->n_complaints - 1 + (size_t)reader->more;
    if (diagnostics) {
        diagnostics->count = (int32_t)(others + 1);
        for (size_t k = 0; diagnostics->lines && k < reader->n_complaints; ++k)
            atn_text_printf(diagnostics->lines, "%s\n", reader->complaints[k].line);
        if (diagnostics->lines && reader->more)
            atn_text_printf(diagnostics->lines, "%s: %d more errors are not shown\n", reader->file, reader->more);
    }
    if (!others) return atn_fail(reader->ctx, ATN_ERR_INPUT, "%s", reader->complaints[0].line);
    return atn_fail(reader->ctx, ATN_ERR_INPUT, "%s (and %zu more)", reader->complaints[0].line, others);
}

void atn_suggestion_try(atn_reader *reader, atn_suggestion *suggestion, const char *candidate) {
    if (reader->n_complaints == MOST_COMPLAINTS || ++reader->guesses > ATN_LIMIT_GUESSES) return;
    size_t distance = atn_edit_distance(suggestion->wrong, candidate);
    size_t length = strlen(suggestion->wrong);
    bool near = length > 1 && distance <= (length + 2) / 3;
    if (!near && strcasecmp(suggestion->wrong, candidate) != 0) return;
    if (suggestion->best && suggestion->distance <= distance) return;
    suggestion->best = candidate;
    suggestion->distance = distance;
}

const char *atn_suggestion_text(atn_reader *reader, const atn_suggestion *suggestion) {
    if (!suggestion->best) return "";
    const char *text = atn_arena_printf(&reader->arena, "; did you mean '%s'?", suggestion->best);
    if (!text) reader->failed = true;
    return text ? text : "";
}
