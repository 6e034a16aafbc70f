/* The scans in a folder: files with the extension of an image format, in natural order. */
#include "image/volume.h"

#include "base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static size_t digits(const char *text) {
    size_t length = 0;
    while (is_digit(text[length])) ++length;
    return length;
}

int volume_compare_names(const char *a, const char *b) {
    const char *whole_a = a, *whole_b = b;
    while (*a && *b) {
        if (!is_digit(*a) || !is_digit(*b)) {
            if (*a != *b) return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
            ++a, ++b;
            continue;
        }
        while (*a == '0') ++a; /* 007 is 7 */
        while (*b == '0') ++b;
        size_t length = digits(a), other = digits(b);
        if (length != other) return length < other ? -1 : 1;
        int order = memcmp(a, b, length);
        if (order) return order;
        a += length;
        b += length;
    }
    if (*a || *b) return *a ? 1 : -1;
    return strcmp(whole_a, whole_b); /* 07 and 7: some order, the same each time */
}

static int compare(const void *a, const void *b) { return volume_compare_names(*(char *const *)a, *(char *const *)b); }

/* Hidden files are ignored: copying programs leave some next to the scans. */
static bool may_be_scan(const char *name) {
    for (const image_format *f = IMAGE_FORMATS; f->name && *name != '.'; ++f)
        if (f->endings && source_has_ending(name, f->endings)) return true;
    return false;
}

static atn_status add_name(const atn_ctx *ctx, const char *folder, const char *name, char ***names, size_t *count,
                           size_t *capacity) {
    void *array = *names;
    atn_status status = atn_grow(ctx, &array, capacity, *count, sizeof **names);
    *names = array;
    if (status != ATN_OK) return status;
    size_t bytes = strlen(folder) + strlen(name) + 2;
    char *path = atn_alloc(ctx, bytes);
    if (!path) return ATN_ERR_MEMORY;
    snprintf(path, bytes, "%s%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/", name);
    (*names)[(*count)++] = path;
    return ATN_OK;
}

atn_status volume_names_any(const atn_ctx *ctx, const char *folder, char ***names, size_t *count) {
    *names = NULL;
    *count = 0;
    DIR *dir = opendir(folder);
    if (!dir) return atn_fail(ctx, ATN_ERR_IO, "%s: %s", folder, strerror(errno));
    size_t capacity = 0;
    atn_status status = ATN_OK;
    for (const struct dirent *entry; status == ATN_OK && (entry = readdir(dir));)
        if (may_be_scan(entry->d_name)) status = add_name(ctx, folder, entry->d_name, names, count, &capacity);
    closedir(dir);
    if (status == ATN_OK && *names) qsort(*names, *count, sizeof **names, compare);
    if (status == ATN_OK) return ATN_OK;
    volume_names_free(ctx, *names, *count);
    *names = NULL;
    *count = 0;
    return status;
}

atn_status volume_names_read(const atn_ctx *ctx, const char *folder, char ***names, size_t *count) {
    atn_status status = volume_names_any(ctx, folder, names, count);
    if (status == ATN_OK && !*names)
        status = atn_fail(ctx, ATN_ERR_INPUT, "%s: is a directory without scans: PNG, BMP or TIFF files", folder);
    return status;
}

void volume_names_free(const atn_ctx *ctx, char **names, size_t count) {
    for (size_t k = 0; k < count; ++k) atn_free(ctx, names[k]);
    atn_free(ctx, names);
}
