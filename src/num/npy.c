/* NPY files: elements converted to the host's byte order and row-major layout, and back. */
#include "num/npy_header.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/size.h"
#include "graph/type.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *code; /* without its byte order */
    atn_type type;
} TYPES[] = {
    {"f2", ATN_HP},    {"f4", ATN_SP}, {"f8", ATN_DP},  {"c8", ATN_SP2}, {"c16", ATN_DP2},
    {"i4", ATN_INT32}, {"u1", ATN_U8}, {"u2", ATN_U16}, {"b1", ATN_B},
};
enum { N_TYPES = sizeof TYPES / sizeof *TYPES };

static atn_status find_type(const atn_ctx *ctx, const char *name, const char *dtype, atn_type *type, bool *swap) {
    if (dtype[0] && strchr("<>=|", dtype[0]))
        for (size_t k = 0; k < N_TYPES; ++k)
            if (strcmp(dtype + 1, TYPES[k].code) == 0) {
                *type = TYPES[k].type;
                *swap = dtype[0] == '>';
                return ATN_OK;
            }
    bool wide = dtype[0] && (strcmp(dtype + 1, "i8") == 0 || strcmp(dtype + 1, "u8") == 0);
    return atn_fail(ctx, ATN_ERR_INPUT, "%s: elements are '%s'; %sf2, f4, f8, c8, c16, i4, u1, u2 and b1 are read",
                    name, dtype, wide ? "64-bit integers are not read, save them as int32: " : "");
}

static void swap_bytes(char *data, size_t bytes, size_t element) {
    for (size_t at = 0; at + element <= bytes; at += element)
        for (size_t k = 0; k < element / 2; ++k) {
            char byte = data[at + k];
            data[at + k] = data[at + element - 1 - k];
            data[at + element - 1 - k] = byte;
        }
}

/* From the first index the fastest to the last one. */
static atn_status transpose(atn_npy *npy, size_t bytes) {
    size_t element = atn_type_bytes(npy->type), planes = npy->dims > 2 ? (size_t)npy->shape[0] : 1,
           rows = (size_t)npy->shape[npy->dims - 2], columns = (size_t)npy->shape[npy->dims - 1];
    char *turned = atn_alloc(npy->ctx, bytes);
    if (!turned) return ATN_ERR_MEMORY;
    for (size_t plane = 0; plane < planes; ++plane)
        for (size_t row = 0; row < rows; ++row)
            for (size_t column = 0; column < columns; ++column)
                memcpy(turned + ((plane * rows + row) * columns + column) * element,
                       (const char *)npy->data + ((column * rows + row) * planes + plane) * element, element);
    atn_free(npy->ctx, npy->data);
    npy->data = turned;
    return ATN_OK;
}

static atn_status too_large(const atn_ctx *ctx, const char *name, const npy_header *header) {
    char shape[96] = "";
    for (int32_t d = 0, at = 0; d < header->dims; ++d)
        at += snprintf(shape + at, sizeof shape - (size_t)at, "%s%lld", d ? " x " : "", (long long)header->shape[d]);
    return atn_fail(ctx, ATN_ERR_INPUT, "%s: a shape of %s is larger than any memory", name, shape);
}

static atn_status read_elements(atn_npy *npy, const char *name, size_t length, const npy_header *header) {
    bool swap = false;
    atn_status status = find_type(npy->ctx, name, header->dtype, &npy->type, &swap);
    if (status != ATN_OK) return status;
    size_t element = atn_type_bytes(npy->type), bytes = element;
    for (int32_t d = 0; d < header->dims; ++d) {
        npy->shape[d] = header->shape[d];
        if (!atn_size_mul(bytes, (size_t)header->shape[d], &bytes)) return too_large(npy->ctx, name, header);
    }
    if (!atn_size_within(header->data_at, bytes, length))
        return atn_fail(npy->ctx, ATN_ERR_INPUT, "%s: byte %zu: %zu bytes of elements are missing, the shape needs %zu",
                        name, length, bytes - (length - header->data_at), bytes);
    memcpy(npy->dtype, header->dtype, sizeof npy->dtype);
    memcpy(npy->unit, header->unit, sizeof npy->unit);
    npy->fortran = header->fortran;
    npy->dims = header->dims;
    unsigned char *data = npy->data;
    memmove(data, data + header->data_at, bytes); /* to the front, where it is aligned */
    if (swap) swap_bytes(npy->data, bytes, atn_type_bytes(atn_type_get_info(npy->type)->part));
    for (size_t k = 0; k < bytes && npy->type == ATN_B; ++k) data[k] = data[k] != 0;
    int32_t longer = 0; /* axes with more than one element */
    for (int32_t d = 0; d < npy->dims; ++d) longer += npy->shape[d] > 1;
    return npy->fortran && longer > 1 && bytes > 0 ? transpose(npy, bytes) : ATN_OK;
}

atn_status atn_npy_take(const atn_ctx *ctx, const char *name, char *bytes, size_t length, atn_npy *out) {
    npy_header header;
    *out = (atn_npy){.ctx = ctx, .data = bytes};
    atn_status status = npy_header_read(ctx, name, bytes, length, &header);
    if (status == ATN_OK) status = read_elements(out, name, length, &header);
    if (status != ATN_OK) atn_npy_free(out);
    return status;
}

atn_status atn_npy_read(const atn_ctx *ctx, const char *path, atn_npy *out) {
    char *bytes;
    size_t length;
    *out = (atn_npy){0};
    atn_status status = atn_file_read(ctx, path, SIZE_MAX / 2, &bytes, &length);
    return status == ATN_OK ? atn_npy_take(ctx, path, bytes, length, out) : status;
}

void atn_npy_free(atn_npy *npy) {
    if (npy->ctx) atn_free(npy->ctx, npy->data);
    *npy = (atn_npy){0};
}

atn_view atn_npy_view(const atn_npy *npy) {
    atn_view view = {.data = npy->data, .type = npy->type, .rank = npy->dims > 0 ? npy->dims : 1};
    for (int32_t axis = 0; axis < ATN_MAX_RANK; ++axis)
        view.size[axis] = axis < npy->dims ? npy->shape[npy->dims - 1 - axis] : 1;
    view.pitch = view.size[0];
    return view;
}

/* ---- writing ---- */

static const char *code_of(atn_type type) {
    for (size_t k = 0; k < N_TYPES; ++k)
        if (TYPES[k].type == type) return TYPES[k].code;
    return "?";
}

static size_t head_of(const atn_view *view, const char *unit, char head[ATN_NPY_HEAD]) {
    enum { FIXED = 10, ALIGN = 64 };
    char shape[96] = "";
    for (int32_t axis = view->rank, at = 0; axis-- > 0;)
        at += snprintf(shape + at, sizeof shape - (size_t)at, "%lld%s", (long long)view->size[axis], axis ? ", " : "");
    int length = snprintf(head, ATN_NPY_HEAD,
                          "\x93NUMPY\x01%c%c%c{'descr': '%c%s', 'fortran_order': False, 'shape': (%s%s), }%s%.7s", 0, 0,
                          0, atn_type_bytes(view->type) == 1 ? '|' : '<', code_of(view->type), shape,
                          view->rank > 1 ? "" : ",", *unit ? " # unit=" : "", unit);
    size_t data_at = atn_size_round_up((size_t)length + 1, ALIGN);
    memset(head + length, ' ', data_at - (size_t)length - 1);
    head[data_at - 1] = '\n';
    head[8] = (char)((data_at - FIXED) & 0xff);
    head[9] = (char)((data_at - FIXED) >> 8);
    return data_at;
}

size_t atn_npy_head(const atn_view *view, char head[ATN_NPY_HEAD]) { return head_of(view, "", head); }

atn_status atn_npy_write(const atn_ctx *ctx, const char *path, const atn_view *view) {
    return atn_npy_write_unit(ctx, path, view, "");
}

atn_status atn_npy_write_unit(const atn_ctx *ctx, const char *path, const atn_view *view, const char *unit) {
    char head[ATN_NPY_HEAD];
    size_t element = atn_type_bytes(view->type), row = (size_t)view->size[0] * element;
    size_t rows = (size_t)atn_view_rows(view), bytes, data_at = head_of(view, unit, head);
    if (!atn_size_mul(row, rows, &bytes) || !atn_size_add(bytes, data_at, &bytes))
        return atn_fail(ctx, ATN_ERR_INPUT, "%s: the array is larger than any memory", path);
    char *file = atn_alloc(ctx, bytes);
    if (!file) return ATN_ERR_MEMORY;
    memcpy(file, head, data_at);
    for (size_t k = 0; k < rows && row; ++k)
        memcpy(file + data_at + k * row, (const char *)view->data + k * (size_t)view->pitch * element, row);
    atn_status status = atn_file_write(ctx, path, file, bytes);
    atn_free(ctx, file);
    return status;
}
