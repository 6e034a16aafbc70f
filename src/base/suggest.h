/* "Did you mean": the word closest to what was typed. */
#ifndef ATN_BASE_SUGGEST_H
#define ATN_BASE_SUGGEST_H

#include <stddef.h>

/* A plain value; start it as {.typed = word}, try each candidate, read `best`. */
typedef struct atn_suggest {
    const char *typed;
    const char *best; /* NULL: nothing is close enough */
    size_t distance;
} atn_suggest;
void atn_suggest_try(atn_suggest *suggest, const char *candidate);

enum { ATN_EDIT_LONGEST = 64 }; /* letters of a word that is compared at all */

/* Letters changed, added, left out, or swapped with a neighbour; SIZE_MAX where one of them is too long. */
size_t atn_edit_distance(const char *a, const char *b);

#endif
