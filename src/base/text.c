/* The string builder. */
#include "base/text.h"

#include "base/memory.h"
#include "base/size.h"

#include <stdio.h>
#include <string.h>

static bool reserve(atn_text *text, size_t more) {
    size_t wanted, capacity;
    if (text->failed) return false;
    if (!atn_size_add(text->length, more, &wanted) || !atn_size_add(wanted, 1, &wanted)) {
        (void)atn_fail_memory(text->ctx, more, "a text");
        text->failed = true;
        return false;
    }
    if (wanted <= text->capacity) return true;
    if (!atn_size_mul(text->capacity < 32 ? 32 : text->capacity, 2, &capacity) || capacity < wanted) capacity = wanted;
    char *moved = atn_resize(text->ctx, text->data, capacity);
    if (!moved) {
        text->failed = true;
        return false;
    }
    text->data = moved;
    text->capacity = capacity;
    return true;
}

void atn_text_add_bytes(atn_text *text, const char *bytes, size_t length) {
    if (!reserve(text, length)) return;
    if (length) memcpy(text->data + text->length, bytes, length);
    text->length += length;
    text->data[text->length] = '\0';
}

void atn_text_add(atn_text *text, const char *string) { atn_text_add_bytes(text, string, strlen(string)); }

void atn_text_vprintf(atn_text *text, const char *format, va_list args) {
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (length < 0 || !reserve(text, (size_t)length)) return;
    vsnprintf(text->data + text->length, (size_t)length + 1, format, args);
    text->length += (size_t)length;
}

void atn_text_printf(atn_text *text, const char *format, ...) {
    va_list args;
    va_start(args, format);
    atn_text_vprintf(text, format, args);
    va_end(args);
}

const char *atn_text_str(const atn_text *text) { return text->data && text->length ? text->data : ""; }

atn_status atn_text_status(const atn_text *text) { return text->failed ? ATN_ERR_MEMORY : ATN_OK; }

void atn_text_clear(atn_text *text) {
    text->length = 0;
    text->failed = false;
}

void atn_text_free(atn_text *text) {
    atn_free(text->ctx, text->data);
    *text = (atn_text){.ctx = text->ctx};
}
