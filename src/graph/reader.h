/* What all of a parse shares: the file's text, memory that is given back at the end, and what was found wrong. Running
 * out of memory is remembered (`failed`) and asked for once, so that the readers stay readable. */
#ifndef ATN_GRAPH_READER_H
#define ATN_GRAPH_READER_H

#include "base/limits.h"
#include "graph/graph.h"

typedef struct atn_place {
    int32_t line, column; /* from 1 */
} atn_place;

typedef struct atn_complaint atn_complaint;

typedef struct atn_reader {
    const atn_ctx *ctx;
    atn_arena arena; /* everything but the graphs */
    const char *file;
    const char *xml;
    size_t length;
    bool notation;                    /* in contrast to XML: complaints use its words */
    const atn_parse_options *options; /* never NULL */
    bool failed;                      /* memory ran out */
    atn_complaint *complaints;
    size_t n_complaints, room;
    int32_t more;    /* complaints beyond those kept */
    int64_t steps;   /* work done so far; see atn_reader_step */
    bool overrun;    /* that limit was reported */
    int32_t guesses; /* names compared for suggestions */
    size_t counted;  /* the last offset whose place was asked for, and the lines before it: the next is near, mostly */
    int32_t counted_line;
    /* atn_description_print: what is printed of every algorithm, and the types of its items */
    struct atn_text *print;
    atn_form form;
    bool plain, many;     /* without shortcuts; a Sequence */
    atn_type *item_types; /* of all items of the file, one after the other */
    size_t n_item_types, item_types_room;
    const char *const *types; /* the same as they are written; NULL: not known */
} atn_reader;

void *atn_reader_alloc(atn_reader *reader, size_t bytes); /* zeroed; NULL after remembering the failure */

/* Room for element `count` of an array in `arena`; false after remembering the failure. */
bool atn_reader_grow(atn_reader *reader, atn_arena *arena, void **array, size_t *room, size_t count, size_t size);

/* `file:line:column: 'what': sentence`; `what` may be NULL. */
void atn_reader_complain(atn_reader *reader, atn_place at, const char *what, const char *format, ...) ATN_PRINTF(4, 5);

/* Counts work; false once a description asks for more than any honest one would (reported once). */
bool atn_reader_step(atn_reader *reader, int64_t steps, atn_place at, const char *what);

atn_place atn_reader_place(atn_reader *reader, size_t offset); /* {0, 0} when no more complaints are kept */

/* Sorts what was found by place, hands it to `diagnostics` and to the context; ATN_OK when there was nothing. */
atn_status atn_reader_finish(atn_reader *reader, atn_diagnostics *diagnostics);

/* The nearest of several names to a wrong one. Start with {.wrong = name}. */
typedef struct atn_suggestion {
    const char *wrong, *best;
    size_t distance;
} atn_suggestion;
void atn_suggestion_try(atn_reader *reader, atn_suggestion *suggestion, const char *candidate);
const char *atn_suggestion_text(atn_reader *reader, const atn_suggestion *suggestion); /* "; did you mean 'x'?" or "" */

#endif
