/* NPY as a cloud: a row is a point, its first three columns are x, y and z. */
#include "base/memory.h"
#include "base/size.h"
#include "cloud/binary.h"
#include "cloud/formats.h"
#include "cloud/records.h"
#include "graph/type.h"
#include "num/npy_header.h"

#include <stdio.h>
#include <string.h>

static bool begins(const char *head, size_t length) { return atn_npy_begins(head, length); }

static double element(const atn_view *view, size_t at) {
    double number[2];
    int64_t whole;
    atn_element_load(view->type, (const char *)view->data + at * atn_type_bytes(view->type), number, &whole);
    return atn_type_is_integer(view->type) ? (double)whole : number[0];
}

/* Three rows of many numbers are x, y and z of all points. */
static bool is_transposed(const int64_t shape[2]) {
    enum { MANY = 64 }; /* more columns than points have */
    return shape[0] == 3 && (shape[1] < 3 || shape[1] > MANY);
}

static atn_status read_rows(source *s, atn_cloud *cloud, const atn_npy *npy) {
    atn_view view = atn_npy_view(npy);
    if (npy->dims != 2 || npy->shape[1] < 3 || is_transposed(npy->shape))
        return atn_fail(s->ctx, ATN_ERR_INPUT, "%s: %s; a cloud is a matrix with a row for each point: x y z", s->name,
                        npy->dims == 2  ? is_transposed(npy->shape) ? "three rows: transposed"
                                                                    : "a matrix of less than three columns"
                        : npy->dims > 2 ? "a volume"
                                        : "a vector");
    if (atn_type_is_complex(npy->type))
        return atn_fail(s->ctx, ATN_ERR_INPUT, "%s: complex elements; coordinates are real", s->name);
    size_t rows = (size_t)npy->shape[0], columns = (size_t)npy->shape[1], first;
    atn_status status = cloud_add_columns(cloud, 4, columns, NUMBER_F64, &first);
    if (status == ATN_OK) status = cloud_begin(cloud, s, ROLE_POSITION, rows);
    for (size_t k = 0; status == ATN_OK && k < rows; ++k) {
        double value[ROLE_COUNT] = {0};
        for (size_t d = 0; d < 3; ++d) value[d] = element(&view, k * columns + d);
        for (size_t d = 0; d < cloud->extra.count; ++d)
            cloud_extras_put(&cloud->extra, d, 0, element(&view, k * columns + 3 + d));
        s->line = (int64_t)k + 1; /* what is wrong is said by row */
        status = cloud_add(cloud, s, value);
    }
    return status == ATN_OK ? cloud_extras_settle(s->ctx, &cloud->extra, cloud->count) : status;
}

/* ---- rows of numbers that need no more than reading ---- */

static const struct {
    const char *code;
    number_type type;
} TYPES[] = {{"f4", NUMBER_F32}, {"f8", NUMBER_F64}, {"i4", NUMBER_I32}, {"u1", NUMBER_U8}, {"u2", NUMBER_U16}};

static number_type type_of(const char *dtype) {
    for (size_t k = 0; *dtype && k < sizeof TYPES / sizeof *TYPES; ++k)
        if (strcmp(dtype + 1, TYPES[k].code) == 0) return TYPES[k].type;
    return NUMBER_NONE;
}

/* Is it one that is read by all cores? All others, with all that may be wrong with them, are src/num's. */
static bool is_plain(const source *s, const npy_header *h, cloud_records *r) {
    number_type type = type_of(h->dtype);
    if (h->fortran || h->dims != 2 || h->shape[1] < 3 || h->shape[0] < 1 || is_transposed(h->shape) ||
        type == NUMBER_NONE || h->shape[1] > RECORDS_MOST_PARTS)
        return false;
    size_t bytes;
    *r = (cloud_records){.start = h->data_at,
                         .stride = (size_t)h->shape[1] * number_bytes(type),
                         .count = (size_t)h->shape[0],
                         .big = h->dtype[0] == '>',
                         .rows = true,
                         .n_parts = (size_t)h->shape[1]};
    for (size_t k = 0; k < r->n_parts; ++k)
        r->part[k] = (record_part){
            .at = k * number_bytes(type), .type = type, .role = k < 3 ? (cloud_role)k : ROLE_NONE, .extra = SIZE_MAX};
    return atn_size_mul(r->stride, r->count, &bytes) && atn_size_within(r->start, bytes, s->size);
}

static atn_status read_plain(source *s, atn_cloud *cloud, cloud_records *r) {
    size_t first;
    atn_status status = cloud_add_columns(cloud, 4, r->n_parts, r->part[0].type, &first);
    for (size_t k = 3; k < r->n_parts && first != SIZE_MAX; ++k)
        r->part[k].extra = first + k - 3 < cloud->extra.count ? first + k - 3 : SIZE_MAX;
    if (status == ATN_OK) status = cloud_begin(cloud, s, ROLE_POSITION, r->count);
    return status == ATN_OK ? cloud_records_read(s, cloud, r) : status;
}

atn_status source_npy(source *s, atn_npy *out) {
    size_t length = s->size;
    char *bytes = atn_alloc(s->ctx, length);
    if (!bytes) return ATN_ERR_MEMORY;
    atn_status status = source_copy(s, bytes, length);
    if (status == ATN_OK) return atn_npy_take(s->ctx, s->name, bytes, length, out);
    atn_free(s->ctx, bytes);
    return status;
}

/* All of it at once, by src/num. */
static atn_status read_whole(source *s, atn_cloud *cloud) {
    atn_npy npy;
    atn_status status = source_npy(s, &npy);
    if (status != ATN_OK) return status;
    s->text = true;
    status = read_rows(s, cloud, &npy);
    atn_npy_free(&npy);
    return status;
}

static atn_status read(source *s, atn_cloud *cloud) {
    const char *head;
    size_t length;
    npy_header header;
    cloud_records *r = atn_zalloc(s->ctx, sizeof *r);
    if (!r) return ATN_ERR_MEMORY;
    atn_status status = source_peek(s, CLOUD_PIECE, &head, &length);
    bool plain = status == ATN_OK && npy_header_read(s->ctx, s->name, head, length, &header) == ATN_OK &&
                 is_plain(s, &header, r);
    if (status == ATN_OK) status = plain ? read_plain(s, cloud, r) : read_whole(s, cloud);
    atn_free(s->ctx, r);
    return status;
}

/* ---- writing ---- */

/* Columns without names: those that came from such a file. */
static bool holds(const atn_cloud *cloud, const cloud_extra *extra) {
    for (size_t k = 0; k < cloud->extra.count; ++k) {
        char name[64];
        snprintf(name, sizeof name, CLOUD_COLUMN "%zu", k + 4);
        if (cloud->extra.field[k].values != 1 || strcmp(cloud->extra.field[k].name, name) != 0) return false;
    }
    return extra->values == 1;
}

static bool is_single(const atn_cloud *cloud, size_t columns) {
    bool single = cloud_is_single(cloud);
    for (size_t k = 0; k < columns && single; ++k)
        for (size_t point = 0; point < cloud->count && single; ++point) {
            double value = cloud_extras_get(&cloud->extra, k, 0, point);
            single = (double)(float)value == value || value != value;
        }
    return single;
}

static atn_status write(const atn_cloud *cloud, char separator, atn_text *out) {
    (void)separator;
    const cloud_extras *extra = &cloud->extra;
    size_t columns = extra->count && holds(cloud, extra->field) ? extra->count : 0;
    bool single = is_single(cloud, columns);
    number_type type = single ? NUMBER_F32 : NUMBER_F64;
    atn_view view = {
        .type = single ? ATN_SP : ATN_DP, .rank = 2, .size = {3 + (int64_t)columns, (int64_t)cloud_file_points(cloud)}};
    char head[ATN_NPY_HEAD];
    if (cloud_file_begins(cloud)) atn_text_add_bytes(out, head, atn_npy_head(&view, head));
    for (size_t k = 0; k < cloud->count; ++k) {
        for (cloud_role axis = ROLE_X; axis <= ROLE_Z; ++axis) number_add(out, type, cloud_get(cloud, axis, k), false);
        for (size_t c = 0; c < columns; ++c) number_add(out, type, cloud_extras_get(extra, c, 0, k), false);
    }
    return ATN_OK;
}

const cloud_format CLOUD_NPY = {"NPY", "npy", begins, read, write, ROLE_POSITION, holds, false, false};
