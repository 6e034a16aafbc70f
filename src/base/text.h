/* A string builder. Appending never fails immediately: a failed allocation is recorded and checked once, at the end, so
 * that printing code stays readable. */
#ifndef ATN_BASE_TEXT_H
#define ATN_BASE_TEXT_H

#include "base/context.h"

/* A plain value; start it as {.ctx = ctx}. Owns its bytes. */
typedef struct atn_text {
    const atn_ctx *ctx;
    char *data;      /* zero-terminated once anything was appended; see atn_text_str */
    size_t length;   /* without the zero */
    size_t capacity; /* bytes allocated */
    bool failed;     /* an allocation failed; what is here is cut short */
} atn_text;

void atn_text_add(atn_text *text, const char *string);
void atn_text_add_bytes(atn_text *text, const char *bytes, size_t length);
void atn_text_printf(atn_text *text, const char *format, ...) ATN_PRINTF(2, 3);
void atn_text_vprintf(atn_text *text, const char *format, va_list args);
const char *atn_text_str(const atn_text *text);   /* never NULL */
atn_status atn_text_status(const atn_text *text); /* ATN_ERR_MEMORY when anything was lost */
void atn_text_clear(atn_text *text);              /* empty, memory kept */
void atn_text_free(atn_text *text);

#endif
