/* The arena: chunks of growing size; blocks are taken from the newest one. */
#include "base/arena.h"

#include "base/memory.h"
#include "base/size.h"

#include <stdalign.h>
#include <stdio.h>
#include <string.h>

enum { FIRST_CHUNK = 4096, LARGEST_CHUNK = 1 << 20 };

struct atn_arena_chunk {
    atn_arena_chunk *older;
    size_t used, bytes; /* of `data` */
    alignas(max_align_t) unsigned char data[];
};

void *atn_arena_alloc(atn_arena *arena, size_t bytes) {
    size_t rounded;
    if (!atn_size_add(bytes, alignof(max_align_t) - 1, &rounded)) {
        (void)atn_fail_memory(arena->ctx, bytes, "an arena block");
        return NULL;
    }
    rounded -= rounded % alignof(max_align_t);
    atn_arena_chunk *chunk = arena->chunks;
    if (!chunk || chunk->bytes - chunk->used < rounded) {
        size_t size = chunk ? chunk->bytes * 2 : FIRST_CHUNK, total;
        if (size > LARGEST_CHUNK) size = LARGEST_CHUNK;
        if (size < rounded) size = rounded;
        if (!atn_size_add(size, sizeof *chunk, &total)) {
            (void)atn_fail_memory(arena->ctx, bytes, "an arena block");
            return NULL;
        }
        chunk = atn_alloc(arena->ctx, total);
        if (!chunk) return NULL;
        *chunk = (atn_arena_chunk){.older = arena->chunks, .bytes = size};
        arena->chunks = chunk;
    }
    void *block = chunk->data + chunk->used;
    chunk->used += rounded;
    return memset(block, 0, rounded);
}

char *atn_arena_strndup(atn_arena *arena, const char *text, size_t length) {
    char *copy = atn_arena_alloc(arena, length + 1);
    return copy ? memcpy(copy, text, length) : NULL;
}

char *atn_arena_strdup(atn_arena *arena, const char *text) { return atn_arena_strndup(arena, text, strlen(text)); }

char *atn_arena_printf(atn_arena *arena, const char *format, ...) {
    char here[256]; /* mostly a name */
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(here, sizeof here, format, args);
    va_end(args);
    char *text = length < 0 ? NULL : atn_arena_alloc(arena, (size_t)length + 1);
    if (text && (size_t)length < sizeof here)
        memcpy(text, here, (size_t)length + 1);
    else if (text)
        vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

void atn_arena_take(atn_arena *arena, atn_arena *from) {
    atn_arena_chunk **oldest = &arena->chunks;
    while (*oldest) oldest = &(*oldest)->older;
    *oldest = from->chunks;
    from->chunks = NULL;
}

void atn_arena_free(atn_arena *arena) {
    for (atn_arena_chunk *chunk = arena->chunks; chunk;) {
        atn_arena_chunk *older = chunk->older;
        atn_free(arena->ctx, chunk);
        chunk = older;
    }
    arena->chunks = NULL;
}
