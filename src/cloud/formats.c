/* The formats of point clouds: detecting the format of a file, reading, writing. */
#include "cloud/formats.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/sized.h"
#include "cloud/faces.h"

#include <stdio.h>
#include <string.h>

#define ROW(NAME) &CLOUD_##NAME,
const cloud_format *const CLOUD_FORMATS[] = {CLOUD_EACH_FORMAT(ROW) NULL};

/* What people have and we do not read, by ending, with what to do. */
static const struct {
    const char *ending, *advice;
} NOT_READ[] = {
    {"laz", "LAZ is not read; PDAL converts it: pdal translate IN.laz OUT.las"},
    {"e57", "E57 is not read; CloudCompare opens it and saves PLY or LAS, as does PDAL: pdal translate IN.e57 OUT.las"},
    {"vtp", "VTK files are written, not read; ParaView saves PLY"},
    {"rrng", "ranges of masses, no points; --ranges takes it"},
    {"rng", "ranges of masses, no points; --ranges takes it"},
    {"ply.gz", "packed files are not read; gunzip it first"},
};

enum { HEAD = 16 }; /* bytes that tell a format */

static const cloud_format *by_ending(const char *name) {
    for (const cloud_format *const *f = CLOUD_FORMATS; *f; ++f)
        if (source_has_ending(name, (*f)->endings)) return *f;
    return NULL;
}

const cloud_format *cloud_format_of(const char *name, const char *head, size_t length) {
    bool marked = length >= 3 && memcmp(head, "\xef\xbb\xbf", 3) == 0;
    for (const cloud_format *const *f = CLOUD_FORMATS; *f; ++f)
        if ((*f)->begins && (*f)->begins(head + 3 * marked, length - 3 * (size_t)marked)) return *f;
    return by_ending(name);
}

void cloud_format_endings(bool written, atn_text *out) {
    bool any = false;
    for (const cloud_format *const *f = CLOUD_FORMATS; *f; ++f)
        for (const char *c = (written ? (*f)->write != NULL : (*f)->read != NULL) ? (*f)->endings : ""; *c;
             c += strspn(c, " ")) {
            size_t length = strcspn(c, " ");
            atn_text_printf(out, "%s%.*s", any ? ", " : "", (int)length, c);
            any = true;
            c += length;
        }
}

static atn_status refuse(const atn_ctx *ctx, const char *name, const char *reason, bool written) {
    atn_text endings = {.ctx = ctx};
    cloud_format_endings(written, &endings);
    atn_status status = atn_text_status(&endings);
    if (status == ATN_OK) status = atn_fail(ctx, ATN_ERR_INPUT, "%s: %s %s", name, reason, endings.data);
    atn_text_free(&endings);
    return status;
}

static atn_status not_known(const source *s) {
    for (size_t k = 0; k < sizeof NOT_READ / sizeof *NOT_READ; ++k)
        if (source_has_ending(s->name, NOT_READ[k].ending))
            return atn_fail(s->ctx, ATN_ERR_UNSUPPORTED, "%s: %s", s->name, NOT_READ[k].advice);
    return refuse(s->ctx, s->name, "unknown file format; supported are", false);
}

atn_status cloud_read_part(source *s, const atn_cloud_settings *options, unsigned keep, size_t number, size_t of,
                           atn_cloud **out) {
    *out = NULL;
    const char *head;
    size_t length;
    atn_status status = source_peek(s, HEAD, &head, &length);
    if (status != ATN_OK) return status;
    const cloud_format *format = cloud_format_of(s->name, head, length);
    if (!format || !format->read) return not_known(s);
    atn_cloud *cloud;
    status = cloud_make(s->ctx, options, &cloud);
    if (status != ATN_OK) return status;
    snprintf(cloud->format, sizeof cloud->format, "%s", format->name);
    cloud->keep = keep;
    cloud->part.number = number;
    cloud->part.of = of;
    status = format->read(s, cloud);
    if (status == ATN_OK) status = cloud_faces_settle(cloud, s, keep & KEEP_FACES_NEEDED);
    if (status == ATN_OK)
        *out = cloud;
    else
        atn_cloud_free(cloud);
    return status;
}

atn_status cloud_read_source(source *s, const atn_cloud_settings *options, unsigned keep, atn_cloud **out) {
    return cloud_read_part(s, options, keep, 0, 0, out);
}

unsigned cloud_kept(const atn_cloud_settings *options) {
    return options && options->no_properties ? 0 : KEEP_EXTRAS | KEEP_FACES;
}

atn_status atn_cloud_read(atn_ctx *ctx, const char *path, const atn_cloud_settings *given, atn_cloud **out) {
    atn_cloud_settings settings;
    source s;
    *out = NULL;
    atn_status status = ATN_TAKE(ctx, atn_cloud_settings, given, &settings);
    if (status != ATN_OK) return status;
    status = source_open(ctx, path, &s);
    s.tells = true;
    if (status == ATN_OK) status = cloud_read_source(&s, &settings, cloud_kept(&settings), out);
    source_close(&s);
    return status;
}

atn_status atn_cloud_read_bytes(const atn_ctx *ctx, const char *name, const char *bytes, size_t length,
                                const atn_cloud_settings *options, atn_cloud **out) {
    source s;
    *out = NULL;
    atn_status status = source_of_bytes(ctx, name, bytes, length, &s);
    if (status == ATN_OK) status = cloud_read_source(&s, options, cloud_kept(options), out);
    source_close(&s);
    return status;
}

void atn_cloud_not_written(const atn_cloud *cloud, const char *path, char *names, size_t size) {
    const cloud_format *format = by_ending(path);
    unsigned lost = format ? cloud->roles & ~format->roles : 0;
    if (size == 0) return;
    *names = '\0';
    if (lost & ROLE_NORMAL) cloud_list_name(names, size, "normals");
    for (cloud_role k = ROLE_WEIGHT; k < ROLE_COUNT; ++k)
        if (lost & ROLE_BIT(k)) cloud_list_name(names, size, cloud_role_name(k));
    for (size_t k = 0; format && k < cloud->extra.count; ++k)
        if (!format->holds || !format->holds(cloud, &cloud->extra.field[k]))
            cloud_list_name(names, size, cloud->extra.field[k].name);
    if (format && cloud->faces && !format->faces) cloud_list_name(names, size, "faces");
    if (*cloud->left_out) cloud_list_name(names, size, cloud->left_out);
}

atn_status atn_cloud_write(const atn_cloud *cloud, const char *path) {
    const cloud_format *format = by_ending(path);
    if (!format || !format->write)
        return refuse(cloud->ctx, path,
                      format ? "this format is only read; supported for writing are"
                             : "unknown extension; supported for writing are",
                      true);
    atn_text file = {.ctx = cloud->ctx};
    atn_status status = format->write(cloud, source_has_ending(path, "csv") ? ',' : ' ', &file);
    if (status == ATN_OK) status = atn_text_status(&file);
    if (status == ATN_OK) status = atn_file_write(cloud->ctx, path, file.data, file.length);
    atn_text_free(&file);
    return status;
}
