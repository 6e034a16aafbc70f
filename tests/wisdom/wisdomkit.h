/* What the tests of wisdom share: a key to begin with, rows and winners in one line, and files as bytes. */
#ifndef ATN_WISDOMKIT_H
#define ATN_WISDOMKIT_H

#include "testkit.h"
#include "wisdom/wisdom.h"

/* gemm, 1024 x 1024 x 512, on a device of an invented kind. Its texts are literals. */
atn_wisdom_key wkit_key(void);
atn_wisdom_key wkit_key_of_shape(int64_t a, int64_t b, int64_t c);

void wkit_tell(const atn_ctx *ctx, atn_wisdom *wisdom, const atn_wisdom_key *key, const char *variant, double seconds);
void wkit_crown(const atn_ctx *ctx, atn_wisdom *wisdom, const atn_wisdom_key *key, const char *variant, double seconds);
atn_hit_kind wkit_find(const atn_ctx *ctx, atn_wisdom *wisdom, const atn_wisdom_key *key, const char *variant);

/* Rows of a key, counted. */
typedef struct wkit_count {
    int64_t rows, right, starts;
    double seconds; /* of the last */
} wkit_count;
wkit_count wkit_rows(const atn_ctx *ctx, atn_wisdom *wisdom, const atn_wisdom_key *key);

/* Fails the test with what atn_wisdom_verify says. */
void wkit_sound(const atn_ctx *ctx, atn_wisdom *wisdom);

char *wkit_path(const char *dir, const char *name); /* owned by the caller (free) */
char *wkit_bytes(const char *path, size_t *length); /* of a file; owned by the caller (free) */
void wkit_put(const char *path, const void *bytes, size_t length);
void wkit_unchanged(const char *path, const char *bytes, size_t length);

#endif
