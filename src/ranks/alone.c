/* Ranks of a single process: whatever is sent is received by the same process. */
#include "ranks/ranks.h"

#include <attune/version.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int begin(int32_t *rank, int32_t *count, char *words) {
    (void)words;
    *rank = 0;
    *count = 1;
    return 0;
}

static void end(void) {}

static int broadcast(int32_t root, void *data, size_t bytes, char *words) {
    (void)root, (void)data, (void)bytes, (void)words;
    return 0;
}

static int allgather(const void *own, size_t bytes, void *all, char *words) {
    (void)words;
    if (bytes) memcpy(all, own, bytes);
    return 0;
}

static int swap(int32_t to, const void *out, size_t out_bytes, int32_t from, void *in, size_t in_bytes, char *words) {
    (void)to, (void)from, (void)in_bytes, (void)words;
    if (out_bytes) memcpy(in, out, out_bytes);
    return 0;
}

static int nobody(char *words) {
    snprintf(words, ATN_RANKS_WORDS, "there are no other ranks");
    return 1;
}

static int send(int32_t to, const void *data, size_t bytes, char *words) {
    (void)to, (void)data, (void)bytes;
    return nobody(words);
}

static int probe(int32_t *from, size_t *bytes, bool *there, char *words) {
    (void)words;
    *from = 0;
    *bytes = 0;
    *there = false;
    return 0;
}

static int receive(int32_t from, void *data, size_t bytes, char *words) {
    (void)from, (void)data, (void)bytes;
    return nobody(words);
}

static int share(size_t bytes, void **memory, void **window, char *words) {
    *memory = *window = malloc(bytes + 1);
    if (!*memory) snprintf(words, ATN_RANKS_WORDS, "not enough memory to share");
    return !*memory;
}

static int get(void *window, int32_t from, size_t at, void *data, size_t bytes, char *words) {
    (void)from, (void)words;
    if (bytes) memcpy(data, (const char *)window + at, bytes);
    return 0;
}

static int put(void *window, int32_t to, size_t at, const void *data, size_t bytes, char *words) {
    (void)to, (void)words;
    if (bytes) memcpy((char *)window + at, data, bytes);
    return 0;
}

static int finish(void *window, char *words) {
    (void)window, (void)words;
    return 0;
}

static int add(void *window, int32_t of, size_t at, int64_t more, int64_t *before, char *words) {
    int64_t after;
    (void)of, (void)words;
    memcpy(before, (const char *)window + at, sizeof *before);
    after = *before + more;
    memcpy((char *)window + at, &after, sizeof after);
    return 0;
}

static int unshare(void *window, char *words) {
    (void)words;
    free(window);
    return 0;
}

static void serve(void) {}

static void stop(int code) { (void)code; }

const atn_ranks_way ATN_RANKS_ALONE = ATN_RANKS_WAY("alone");
