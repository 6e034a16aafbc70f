/* The number of parameters of a kernel, from its source: the driver reports each of them, but not their number, and
 * querying one too many is an error for tools that watch the driver (compute-sanitizer). */
#include "device/cuda.h"

#include <ctype.h>
#include <string.h>

static const char ENTRY[] = "__global__";

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

void atn_cuda_heads(const char *source, atn_text *out) {
    for (const char *at = strstr(source, ENTRY); at; at = strstr(at, ENTRY)) {
        size_t length = strcspn(at, "{;");
        atn_text_printf(out, "%.*s;", (int)length, at);
        at += length;
    }
}

/* Parameters in a list that begins behind its bracket. A single word may be a macro for several, and what else is no
 * plain list is not counted either: -1. */
static int count_list(const char *at) {
    int count = 0;
    while (true) {
        size_t words = 0, length = strcspn(at, ",)(#/;");
        for (size_t k = 0; k < length; ++k)
            words += (is_word(at[k]) && (k == 0 || !is_word(at[k - 1]))) || at[k] == '*' || at[k] == '&';
        if (at[length] != ',' && at[length] != ')') return -1;
        if (words == 0 && count == 0 && at[length] == ')') return 0;
        if (words < 2) return -1;
        ++count;
        if (at[length] == ')') return count;
        at += length + 1;
    }
}

int atn_cuda_count_params(const char *heads, const char *name) {
    size_t length = strlen(name);
    for (const char *at = strstr(heads, name); at; at = strstr(at + 1, name)) {
        const char *behind = at + length + strspn(at + length, " \n\t");
        if (at > heads && !is_word(at[-1]) && *behind == '(') return count_list(behind + 1);
    }
    return -1;
}
