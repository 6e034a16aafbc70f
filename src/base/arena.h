/* An arena: many small blocks that are freed together, one arena per compilation. */
#ifndef ATN_BASE_ARENA_H
#define ATN_BASE_ARENA_H

#include "base/context.h"

typedef struct atn_arena_chunk atn_arena_chunk;

/* A plain value; start it as {.ctx = ctx}. Owns its chunks. */
typedef struct atn_arena {
    const atn_ctx *ctx;
    atn_arena_chunk *chunks; /* newest first */
} atn_arena;

void *atn_arena_alloc(atn_arena *arena, size_t bytes); /* zeroed; NULL on failure, with the sentence left */
char *atn_arena_strdup(atn_arena *arena, const char *text);
char *atn_arena_strndup(atn_arena *arena, const char *text, size_t length);
char *atn_arena_printf(atn_arena *arena, const char *format, ...) ATN_PRINTF(2, 3);
void atn_arena_take(atn_arena *arena, atn_arena *from); /* takes over everything the other one owns, which is then empty
                                                         * */
void atn_arena_free(atn_arena *arena);                  /* frees all; the arena may be used again */

#endif
