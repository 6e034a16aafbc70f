/* NPY as a cloud: a row is a point, its first three columns are x, y and z. */
#include "num/npy.h"
#include "base/memory.h"
#include "cloud/binary.h"
#include "cloud/formats.h"
#include "graph/type.h"

#include <stdio.h>
#include <string.h>

bool cloud_npy_begins(const char *head, size_t length) { return atn_npy_begins(head, length); }

static double element(const atn_view *view, size_t at) {
    double number[2];
    int64_t whole;
    atn_element_load(view->type, (const char *)view->data + at * atn_type_bytes(view->type), number, &whole);
    return atn_type_is_integer(view->type) ? (double)whole : number[0];
}

static atn_status read_rows(source *s, atn_cloud *cloud, const atn_npy *npy) {
    atn_view view = atn_npy_view(npy);
    if (npy->dims != 2 || npy->shape[1] < 3)
        return atn_fail(s->ctx, ATN_ERR_INPUT, "%s: %s; a cloud is a matrix with a row for each point: x y z", s->name,
                        npy->dims == 2
                            ? npy->shape[0] == 3 ? "three rows: transposed" : "a matrix of less than three columns"
                        : npy->dims > 2 ? "a volume"
                                        : "a vector");
    if (atn_type_is_complex(npy->type))
        return atn_fail(s->ctx, ATN_ERR_INPUT, "%s: complex elements; coordinates are real", s->name);
    size_t rows = (size_t)npy->shape[0], columns = (size_t)npy->shape[1];
    if (columns > 3) {
        char name[64];
        snprintf(name, sizeof name, columns > 4 ? "columns 4 to %zu" : "column %zu", columns);
        cloud_leave_out(cloud, name);
    }
    atn_status status = cloud_begin(cloud, s, ROLE_POSITION, rows);
    for (size_t k = 0; status == ATN_OK && k < rows; ++k) {
        double value[ROLE_COUNT] = {0};
        for (size_t d = 0; d < 3; ++d) value[d] = element(&view, k * columns + d);
        s->line = (int64_t)k + 1; /* what is wrong is said by row */
        status = cloud_add(cloud, s, value);
    }
    return status;
}

/* All of it at once: NPY is read by src/num. */
atn_status cloud_npy_read(source *s, atn_cloud *cloud) {
    size_t length = s->size;
    char *bytes = atn_alloc(s->ctx, length);
    if (!bytes) return ATN_ERR_MEMORY;
    atn_status status = source_copy(s, bytes, length);
    if (status != ATN_OK) {
        atn_free(s->ctx, bytes);
        return status;
    }
    atn_npy npy;
    status = atn_npy_take(s->ctx, s->name, bytes, length, &npy);
    if (status != ATN_OK) return status;
    s->text = true;
    status = read_rows(s, cloud, &npy);
    atn_npy_free(&npy);
    return status;
}

atn_status cloud_npy_write(const atn_cloud *cloud, char separator, atn_text *out) {
    (void)separator;
    bool single = cloud_is_single(cloud);
    atn_view view = {.type = single ? ATN_SP : ATN_DP, .rank = 2, .size = {3, (int64_t)cloud->count}};
    char head[ATN_NPY_HEAD];
    atn_text_add_bytes(out, head, atn_npy_head(&view, head));
    for (size_t k = 0; k < cloud->count; ++k)
        for (cloud_role axis = ROLE_X; axis <= ROLE_Z; ++axis)
            number_add(out, single ? NUMBER_F32 : NUMBER_F64, cloud_get(cloud, axis, k), false);
    return ATN_OK;
}
