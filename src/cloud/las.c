/* Reads LAS: integer coordinates with a scale and an offset for each axis, and the other data of the sensor. LAZ, which
 * is compressed LAS, is refused with the command that converts it. */
#include "cloud/las.h"

#include "base/memory.h"
#include "base/size.h"
#include "cloud/formats.h"
#include "cloud/records.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct las_header {
    int minor;
    int format;
    size_t points_at, bytes, count;
    double scale[3], offset[3];
} las_header;

static bool begins(const char *head, size_t length) { return length >= 4 && memcmp(head, "LASF", 4) == 0; }

static size_t whole(const char *header, size_t at, number_type type) {
    return (size_t)number_load(type, header + at, false);
}

static atn_status check_packing(const source *s, int format) {
    if (!(format & 0xc0)) return ATN_OK;
    return atn_fail(s->ctx, ATN_ERR_UNSUPPORTED,
                    "%s: LAZ, which is LAS compressed, is not read; PDAL converts it: pdal translate IN.laz OUT.las",
                    s->name);
}

static atn_status read_header(source *s, atn_cloud *cloud, las_header *out) {
    const char *h;
    s->item = 0;
    if (s->size < LAS_OLD_HEADER) return source_wrong(s, "%zu bytes; a header of LAS has %d", s->size, LAS_OLD_HEADER);
    atn_status status = source_take(s, LAS_OLD_HEADER, &h);
    if (status != ATN_OK) return status;
    int major = (unsigned char)h[LAS_VERSION], format = (unsigned char)h[LAS_FORMAT];
    *out = (las_header){.minor = (unsigned char)h[LAS_VERSION + 1],
                        .format = format & 0x3f,
                        .points_at = whole(h, LAS_POINTS_AT, NUMBER_U32),
                        .bytes = whole(h, LAS_POINT_BYTES, NUMBER_U16),
                        .count = whole(h, LAS_COUNT, NUMBER_U32)};
    size_t header = whole(h, LAS_HEADER_BYTES, NUMBER_U16), records = whole(h, LAS_RECORDS, NUMBER_U32);
    if (major != 1 || out->minor > 4)
        return source_wrong(s, "version %d.%d of LAS; 1.0 to 1.4 are read", major, out->minor);
    status = check_packing(s, format);
    if (status != ATN_OK) return status;
    if (out->format >= LAS_FORMATS) return source_wrong(s, "point format %d; 0 to 10 are read", out->format);
    if (out->bytes < LAS_BYTES[out->format])
        return source_wrong(s, "points of %zu bytes; format %d needs %d", out->bytes, out->format,
                            LAS_BYTES[out->format]);
    for (size_t d = 0; d < 3; ++d) {
        out->scale[d] = number_load(NUMBER_F64, h + LAS_SCALE + 8 * d, false);
        out->offset[d] = number_load(NUMBER_F64, h + LAS_OFFSET + 8 * d, false);
        if (!isfinite(out->scale[d]) || out->scale[d] == 0 || !isfinite(out->offset[d]))
            return source_wrong(s, "%c has the scale %g and the offset %g", "xyz"[d], out -> scale[d],
                                out -> offset[d]);
    }
    if (records) cloud_leave_out(cloud, "records of variable length, as the coordinate system");
    bool waves = out->format == 4 || out->format == 5 || out->format >= 9;
    if (waves) cloud_leave_out(cloud, "waveforms");
    if (out->bytes > LAS_BYTES[out->format]) cloud_leave_out(cloud, "extra bytes");
    size_t least = out->minor == 4 ? LAS_NEW_HEADER : LAS_OLD_HEADER;
    if (header < least || out->points_at < header || out->points_at > s->size)
        return source_wrong(s, "a header of %zu bytes, points from byte %zu on, in a file of %zu", header,
                            out->points_at, s->size);
    return ATN_OK;
}

/* In 1.4 the long count follows; the short one is 0 if it does not fit. */
static atn_status read_count(source *s, las_header *h) {
    const char *more;
    if (h->minor == 4 && h->points_at >= LAS_NEW_HEADER) {
        atn_status status = source_take(s, LAS_NEW_HEADER - LAS_OLD_HEADER, &more);
        if (status != ATN_OK) return status;
        double count = number_load(NUMBER_U64, more + LAS_LONG_COUNT - LAS_OLD_HEADER, false);
        if (count > (double)s->size) return source_wrong(s, "%.0f points in a file of %zu bytes", count, s->size);
        if (count > 0) h->count = (size_t)count;
    }
    s->item = LAS_COUNT;
    if (h->bytes == 0 || h->count > (s->size - h->points_at) / h->bytes)
        return source_wrong(s, "%zu points of %zu bytes; only %zu bytes are left", h->count, h->bytes,
                            s->size - h->points_at);
    return ATN_OK;
}

/* Classes of the old formats have five bits; what else is in the byte are flags. */
static void mask_classes(atn_cloud *cloud, size_t extra) {
    if (extra == SIZE_MAX) return;
    const cloud_extras *e = &cloud->extra;
    for (size_t k = 0; k < cloud->count; ++k) e->data[k * e->bytes + e->field[extra].at] &= 31;
}

static atn_status read_points(source *s, atn_cloud *cloud, const las_header *h, cloud_records *r) {
    atn_status status = ATN_OK;
    size_t classes = SIZE_MAX;
    *r = (cloud_records){.start = h->points_at, .stride = h->bytes, .count = h->count};
    for (size_t d = 0; d < 3; ++d)
        r->part[r->n_parts++] = (record_part){.at = 4 * d,
                                              .type = NUMBER_I32,
                                              .role = (cloud_role)d,
                                              .extra = SIZE_MAX,
                                              .scale = h->scale[d],
                                              .shift = h->offset[d]};
    for (const las_field *f = LAS_FIELDS; f->name && status == ATN_OK; ++f) {
        size_t extra;
        if (f->at[h->format] < 0) continue;
        status = cloud_add_extra(cloud, f->name, f->type, 1, &extra);
        if (strcmp(f->name, "classification") == 0) classes = extra;
        r->part[r->n_parts++] =
            (record_part){.at = (size_t)f->at[h->format], .type = f->type, .role = ROLE_NONE, .extra = extra};
    }
    if (status == ATN_OK) status = cloud_begin(cloud, s, ROLE_POSITION, h->count);
    if (status == ATN_OK) status = cloud_records_read(s, cloud, r);
    if (status == ATN_OK && h->format < 6) mask_classes(cloud, classes);
    return status;
}

static atn_status read(source *s, atn_cloud *cloud) {
    las_header h = {0};
    s->text = false;
    atn_status status = read_header(s, cloud, &h);
    if (status == ATN_OK) status = read_count(s, &h);
    if (status != ATN_OK) return status;
    snprintf(cloud->format, sizeof cloud->format, "LAS 1.%d, point format %d", h.minor, h.format);
    cloud_records *r = atn_zalloc(s->ctx, sizeof *r);
    if (!r) return ATN_ERR_MEMORY;
    status = read_points(s, cloud, &h, r);
    atn_free(s->ctx, r);
    return status;
}

const cloud_format CLOUD_LAS = {"LAS",         "las",           begins, read, cloud_las_write,
                                ROLE_POSITION, cloud_las_holds, false,  true};
