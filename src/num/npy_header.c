/* The header of an NPY file: magic, version, length, and a Python dictionary with descr, fortran_order and shape:
 * {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), } # unit=m
 * The comment is for the unit of the elements: NumPy takes no other names, and reads over comments. */
#include "num/npy_header.h"

#include "base/size.h"

#include <string.h>

static const char MAGIC[] = "\x93NUMPY";
enum { MAGIC_BYTES = 6, MOST_HEADER = 1 << 20 };

/* The dictionary while it is read. */
typedef struct reader {
    const atn_ctx *ctx;
    const char *name;
    const char *start, *at, *end; /* the whole file's start: offsets are said from there */
    bool has_descr, has_order, has_shape;
    npy_header *out;
} reader;

bool atn_npy_begins(const char *bytes, size_t length) {
    return length >= MAGIC_BYTES && memcmp(bytes, MAGIC, MAGIC_BYTES) == 0;
}

static atn_status wrong(const reader *r, const char *what) {
    return atn_fail(r->ctx, ATN_ERR_INPUT, "%s: byte %zu: %s", r->name, (size_t)(r->at - r->start), what);
}

static void skip_blanks(reader *r) {
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r')) ++r->at;
}

static bool take(reader *r, char wanted) {
    skip_blanks(r);
    if (r->at >= r->end || *r->at != wanted) return false;
    ++r->at;
    return true;
}

static bool take_word(reader *r, const char *word) {
    skip_blanks(r);
    size_t length = strlen(word);
    if ((size_t)(r->end - r->at) < length || memcmp(r->at, word, length) != 0) return false;
    r->at += length;
    return true;
}

/* A string in quotes of at most `room` - 1 bytes, without escapes. */
static bool take_string(reader *r, char *out, size_t room) {
    skip_blanks(r);
    if (r->at >= r->end || (*r->at != '\'' && *r->at != '"')) return false;
    const char *from = r->at + 1, *to = memchr(from, *r->at, (size_t)(r->end - from));
    if (!to || (size_t)(to - from) >= room || memchr(from, '\\', (size_t)(to - from)) ||
        memchr(from, 0, (size_t)(to - from)))
        return false;
    memcpy(out, from, (size_t)(to - from));
    out[to - from] = '\0';
    r->at = to + 1;
    return true;
}

static atn_status read_extent(reader *r, int64_t *out) {
    *out = 0;
    if (*r->at < '0' || *r->at > '9') return wrong(r, "a shape is a tuple of numbers that are not negative");
    for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; ++r->at)
        if (!atn_i64_mul(*out, 10, out) || !atn_i64_add(*out, *r->at - '0', out))
            return wrong(r, "the shape is larger than any memory");
    if (r->at < r->end && *r->at == 'L') ++r->at; /* Python 2 */
    return ATN_OK;
}

static atn_status read_shape(reader *r) {
    if (!take(r, '(')) return wrong(r, "a shape is a tuple: (rows, columns)");
    for (;;) {
        if (take(r, ')')) return ATN_OK;
        int64_t extent;
        if (r->at >= r->end) return wrong(r, "the shape does not end");
        atn_status status = read_extent(r, &extent);
        if (status != ATN_OK) return status;
        if (r->out->dims == ATN_MAX_RANK)
            return wrong(r, "the shape has more than three dimensions; vectors, matrices and volumes are read");
        r->out->shape[r->out->dims++] = extent;
        if (take(r, ',')) continue;
        skip_blanks(r);
        if (r->at >= r->end || *r->at != ')') return wrong(r, "the shape does not end");
    }
}

static atn_status read_entry(reader *r) {
    char key[24];
    if (!take_string(r, key, sizeof key) || !take(r, ':'))
        return wrong(r, "the header is not a dictionary of names and values");
    bool *seen = strcmp(key, "descr") == 0           ? &r->has_descr
                 : strcmp(key, "fortran_order") == 0 ? &r->has_order
                 : strcmp(key, "shape") == 0         ? &r->has_shape
                                                     : NULL;
    if (!seen)
        return atn_fail(r->ctx, ATN_ERR_INPUT, "%s: the header has '%s'; it has descr, fortran_order and shape",
                        r->name, key);
    if (*seen) return atn_fail(r->ctx, ATN_ERR_INPUT, "%s: the header has '%s' twice", r->name, key);
    *seen = true;
    if (seen == &r->has_shape) return read_shape(r);
    if (seen == &r->has_descr) {
        if (take_string(r, r->out->dtype, sizeof r->out->dtype)) return ATN_OK;
        return wrong(r, "descr is not a simple type such as '<f4'; structured arrays are not read");
    }
    r->out->fortran = take_word(r, "True");
    return r->out->fortran || take_word(r, "False") ? ATN_OK : wrong(r, "fortran_order is True or False");
}

/* To the end of the line. */
static void read_comment(reader *r) {
    if (!take(r, '#')) return;
    if (take_word(r, "unit=")) {
        size_t n = 0, room = sizeof r->out->unit - 1;
        while (n < (size_t)(r->end - r->at) && r->at[n] > ' ') ++n;
        if (n <= room) memcpy(r->out->unit, r->at, n); /* a longer one is none that is known */
    }
    while (r->at < r->end && *r->at != '\n') ++r->at;
}

static atn_status read_dictionary(reader *r) {
    if (!take(r, '{')) return wrong(r, "the header is not a dictionary");
    while (!take(r, '}')) {
        atn_status status = read_entry(r);
        if (status != ATN_OK) return status;
        if (take(r, ',')) continue;
        if (!take(r, '}')) return wrong(r, "the header's dictionary does not end");
        break;
    }
    read_comment(r);
    skip_blanks(r);
    if (r->at < r->end) return wrong(r, "unexpected text after the header's dictionary");
    if (r->has_descr && r->has_order && r->has_shape) return ATN_OK;
    return atn_fail(r->ctx, ATN_ERR_INPUT, "%s: the header lacks '%s'", r->name,
                    !r->has_descr   ? "descr"
                    : !r->has_order ? "fortran_order"
                                    : "shape");
}

static atn_status no_magic(const atn_ctx *ctx, const char *name, const char *bytes, size_t length) {
    if (length == 0) return atn_fail(ctx, ATN_ERR_INPUT, "%s: the file is empty; an NPY file is needed", name);
    if (length > 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0)
        return atn_fail(ctx, ATN_ERR_INPUT, "%s: begins with a byte-order mark, as text does; an NPY file is binary",
                        name);
    return atn_fail(ctx, ATN_ERR_INPUT, "%s: byte 0: no NPY file; those begin with \\x93NUMPY", name);
}

atn_status npy_header_read(const atn_ctx *ctx, const char *name, const char *bytes, size_t length, npy_header *out) {
    *out = (npy_header){0};
    if (!atn_npy_begins(bytes, length)) return no_magic(ctx, name, bytes, length);
    const unsigned char *b = (const unsigned char *)bytes;
    size_t fixed = length > 6 && b[6] == 1 ? 10 : 12;
    if (length < fixed)
        return atn_fail(ctx, ATN_ERR_INPUT, "%s: ends at byte %zu, inside the first %zu", name, length, fixed);
    if (b[6] < 1 || b[6] > 3)
        return atn_fail(ctx, ATN_ERR_INPUT, "%s: byte 6: version %d of NPY; 1 to 3 are read", name, b[6]);
    size_t bytes_of_header = (size_t)b[8] | (size_t)b[9] << 8;
    if (fixed == 12) bytes_of_header |= (size_t)b[10] << 16 | (size_t)b[11] << 24;
    if (!atn_size_within(fixed, bytes_of_header, length))
        return atn_fail(ctx, ATN_ERR_INPUT, "%s: byte 8: a header of %zu bytes in a file of %zu", name, bytes_of_header,
                        length);
    if (bytes_of_header > MOST_HEADER)
        return atn_fail(ctx, ATN_ERR_INPUT, "%s: byte 8: a header of %zu bytes; at most %d are read", name,
                        bytes_of_header, MOST_HEADER);
    out->data_at = fixed + bytes_of_header;
    reader r = {.ctx = ctx, .name = name, .start = bytes, .at = bytes + fixed, .end = bytes + out->data_at, .out = out};
    return read_dictionary(&r);
}
