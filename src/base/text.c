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

/* Has it nothing but %s, %*s, %d and %%? Sources of kernels are printed in hundreds of pieces like that, and a process
 * waits for them before it can look for what it has built. */
static bool is_plain(const char *format) {
    while ((format = strchr(format, '%'))) {
        format += format[1] == '*' && format[2] == 's';
        if (format[1] != 's' && format[1] != 'd' && format[1] != '%') return false;
        format += 2;
    }
    return true;
}

static void add_whole(atn_text *text, int number) {
    char digits[16], *at = digits + sizeof digits;
    unsigned rest = number < 0 ? 0U - (unsigned)number : (unsigned)number;
    do *--at = (char)('0' + rest % 10);
    while (rest /= 10);
    if (number < 0) *--at = '-';
    atn_text_add_bytes(text, at, (size_t)(digits + sizeof digits - at));
}

/* To so many columns, blanks before it, or, where that is negative, behind it. */
static void add_padded(atn_text *text, const char *string, int width) {
    size_t length = strlen(string), wanted = width < 0 ? 0U - (unsigned)width : (unsigned)width;
    for (size_t k = length; k < wanted && width > 0; ++k) atn_text_add_bytes(text, " ", 1);
    atn_text_add_bytes(text, string, length);
    for (size_t k = length; k < wanted && width < 0; ++k) atn_text_add_bytes(text, " ", 1);
}

void atn_text_vprintf(atn_text *text, const char *format, va_list args) {
    if (!is_plain(format)) {
        va_list again;
        va_copy(again, args);
        int length = vsnprintf(NULL, 0, format, again);
        va_end(again);
        if (length < 0 || !reserve(text, (size_t)length)) return;
        vsnprintf(text->data + text->length, (size_t)length + 1, format, args);
        text->length += (size_t)length;
        return;
    }
    for (const char *mark; (mark = strchr(format, '%')); format = mark + 2) {
        atn_text_add_bytes(text, format, (size_t)(mark - format));
        bool padded = mark[1] == '*';
        int width = padded ? va_arg(args, int) : 0;
        mark += padded;
        if (mark[1] == 'd') {
            add_whole(text, va_arg(args, int));
            continue;
        }
        const char *string = mark[1] == 's' ? va_arg(args, const char *) : "%";
        add_padded(text, string ? string : "(null)", width);
    }
    atn_text_add(text, format);
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
