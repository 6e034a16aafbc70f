/* What the tests of descriptions share: a right one, ways to make it wrong, and parsing with all lines compared. */
#ifndef ATN_TEST_DESCRIPTION_H
#define ATN_TEST_DESCRIPTION_H

#include "testkit.h"

#include "graph/graph.h"

/* c = s * A b: every kind of object once. Lines are counted in the expectations. */
extern const char *const right_description;

typedef struct change {
    const char *find, *replace; /* find NULL: `replace` is all of the text */
} change;

typedef struct wrong {
    const char *what;
    change changes[4];    /* to the right description, in turn */
    const char *expected; /* lines without the file's name */
} wrong;

/* The description with its changes, to be freed. */
char *description_changed(const change *changes, size_t count);

/* Parses mv.xml; *lines (to be freed with the context's memory) has the diagnostics. */
atn_status description_parse(atn_ctx *ctx, const char *text, const atn_parse_options *options, atn_text *lines,
                             atn_sequence **out);

/* Each row's diagnostics, to the letter. */
void description_check(const wrong *rows, size_t count);

/* The lines of `text` are exactly `expected`, each behind "mv.xml:". */
void description_expect(const char *what, const char *text, const atn_parse_options *options, const char *expected);

#endif
