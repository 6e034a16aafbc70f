/* Did you mean: the nearest of some words to what was typed. */
#ifndef ATN_BASE_SUGGEST_H
#define ATN_BASE_SUGGEST_H

#include <stddef.h>

/* A plain value; start it as {.typed = word}, try each candidate, read `best`. */
typedef struct atn_suggest {
    const char *typed;
    const char *best; /* NULL: nothing is near enough */
    size_t distance;
} atn_suggest;
void atn_suggest_try(atn_suggest *suggest, const char *candidate);

#endif
