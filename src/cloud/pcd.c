/* PCD, of the Point Cloud Library: text, binary (little-endian, point after point), and compressed (LZF, field after
 * field). */
#include "cloud/pcd.h"

#include "base/memory.h"
#include "base/size.h"
#include "cloud/fields.h"
#include "cloud/formats.h"
#include "cloud/records.h"

#include <string.h>

#ifdef ATN_HAVE_LZF
#include <lzf.h>
#endif

static bool begins(const char *head, size_t length) {
    return (length >= 6 && memcmp(head, "# .PCD", 6) == 0) || (length >= 8 && memcmp(head, "VERSION ", 8) == 0);
}

static atn_status text_point(source *s, const pcd_header *h, atn_cloud *cloud, double *value) {
    char *line;
    do {
        atn_status status = source_line(s, &line);
        if (status != ATN_OK) return status;
        if (!line) return source_wrong(s, "the file ends before its last point");
    } while (line[strspn(line, " \t\r")] == '\0');
    for (size_t k = 0; k < h->fields; ++k)
        for (size_t v = 0; v < h->field[k].values; ++v) {
            const char *field = fields_next(&line);
            double number;
            if (!field) return source_wrong(s, "a value is missing; a point has %zu", h->values);
            if (!field_number(field, &number)) return source_wrong(s, "'%.40s' is not a number", field);
            if (v == 0) value[h->field[k].role] = number;
            if (h->field[k].extra != SIZE_MAX) cloud_extras_put(&cloud->extra, h->field[k].extra, v, number);
        }
    return fields_next(&line) ? source_wrong(s, "more values than a point has: %zu", h->values) : ATN_OK;
}

static atn_status read_text(source *s, const pcd_header *h, atn_cloud *cloud) {
    atn_status status = ATN_OK;
    for (size_t k = 0; status == ATN_OK && k < h->points; ++k) {
        double value[ROLE_COUNT + 1] = {0}; /* and one for all that has no role */
        status = text_point(s, h, cloud, value);
        if (status == ATN_OK) status = cloud_add(cloud, s, value);
    }
    return status;
}

static atn_status read_binary(source *s, const pcd_header *h, atn_cloud *cloud) {
    cloud_records *r = atn_zalloc(s->ctx, sizeof *r);
    if (!r) return ATN_ERR_MEMORY;
    r->start = s->size - source_left(s);
    r->stride = h->bytes;
    r->count = h->points;
    r->n_parts = h->fields;
    for (size_t k = 0; k < h->fields; ++k)
        r->part[k] = (record_part){h->field[k].at, h->field[k].type, h->field[k].role, h->field[k].extra, 0, 0};
    atn_status status = h->points ? cloud_records_read(s, cloud, r) : ATN_OK;
    atn_free(s->ctx, r);
    return status;
}

#ifdef ATN_HAVE_LZF
/* Unpacked there are all values of the first field, then all of the second, and so on. */
static atn_status add_columns(source *s, const pcd_header *h, const char *bytes, atn_cloud *cloud) {
    atn_status status = ATN_OK;
    for (size_t k = 0; status == ATN_OK && k < h->points; ++k) {
        double value[ROLE_COUNT + 1] = {0};
        for (size_t f = 0; f < h->fields; ++f) {
            const pcd_field *field = &h->field[f];
            size_t stride = number_bytes(field->type) * field->values;
            const char *at = bytes + field->at * h->points + k * stride;
            value[field->role] = number_load(field->type, at, false);
            if (field->extra == SIZE_MAX) continue;
            memcpy(cloud->extra.next + cloud->extra.field[field->extra].at, at, stride);
        }
        status = cloud_add(cloud, s, value);
    }
    return status;
}

static atn_status unpack(source *s, const pcd_header *h, size_t packed, size_t length, atn_cloud *cloud) {
    char *from = atn_alloc(s->ctx, packed), *to = from ? atn_alloc(s->ctx, length) : NULL;
    atn_status status = to ? source_copy(s, from, packed) : ATN_ERR_MEMORY;
    if (status == ATN_OK && lzf_decompress(from, (unsigned)packed, to, (unsigned)length) != length)
        status = source_wrong(s, "%zu bytes of LZF do not unpack to %zu", packed, length);
    if (status == ATN_OK) status = cloud_begin(cloud, s, h->roles, h->points);
    if (status == ATN_OK) status = add_columns(s, h, to, cloud);
    atn_free(s->ctx, from);
    atn_free(s->ctx, to);
    return status;
}

static atn_status read_compressed(source *s, const pcd_header *h, atn_cloud *cloud) {
    enum { MOST_RATIO = 88 }; /* three bytes of LZF make at most 264 */
    const char *sizes;
    atn_status status = source_take(s, 8, &sizes);
    if (status != ATN_OK) return status;
    size_t packed = number_load_u32(sizes, false), length = number_load_u32(sizes + 4, false), needed;
    if (!atn_size_mul(h->points, h->bytes, &needed) || needed != length)
        return source_wrong(s, "unpacked it has %zu bytes; %zu points of %zu bytes do not", length, h->points,
                            h->bytes);
    if (packed > source_left(s)) return source_wrong(s, "%zu bytes of LZF, %zu bytes are left", packed, source_left(s));
    if (length / MOST_RATIO > packed) return source_wrong(s, "%zu bytes of LZF cannot unpack to %zu", packed, length);
    return length ? unpack(s, h, packed, length, cloud) : cloud_begin(cloud, s, h->roles, 0);
}
#else
static atn_status read_compressed(source *s, const pcd_header *h, atn_cloud *cloud) {
    (void)h, (void)cloud;
    return atn_fail(s->ctx, ATN_ERR_UNSUPPORTED,
                    "%s: binary_compressed needs liblzf, which this attune was built without; save it as binary",
                    s->name);
}
#endif

static atn_status read(source *s, atn_cloud *cloud) {
    pcd_header *h = atn_zalloc(s->ctx, sizeof *h);
    if (!h) return ATN_ERR_MEMORY;
    atn_status status = pcd_header_read(s, cloud, h);
    if (status == ATN_OK && h->data != PCD_TEXT) {
        s->text = false;
        s->item = s->size - source_left(s);
    }
    if (status == ATN_OK && h->data == PCD_COMPRESSED)
        status = read_compressed(s, h, cloud);
    else if (status == ATN_OK) {
        bool text = h->data == PCD_TEXT;
        size_t least = text ? 2 * h->values : h->bytes;
        if (least && h->points > (source_left(s) + text) / least)
            status = source_wrong(s, "%zu points need at least %zu bytes each; %zu bytes are left", h->points, least,
                                  source_left(s));
        if (status == ATN_OK) status = cloud_begin(cloud, s, h->roles, h->points);
        if (status == ATN_OK) status = (text ? read_text : read_binary)(s, h, cloud);
    }
    atn_free(s->ctx, h);
    return status;
}

const cloud_format CLOUD_PCD = {"PCD",           "pcd",           begins, read, cloud_pcd_write,
                                CLOUD_ALL_ROLES, cloud_holds_all, false,  false};
