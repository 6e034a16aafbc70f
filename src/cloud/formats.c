/* The formats of point clouds: which one a file has, reading it, writing it. A new format is a row here. */
#include "cloud/formats.h"

#include "base/file.h"
#include "base/memory.h"

#include <stdio.h>
#include <string.h>

const cloud_format CLOUD_FORMATS[] = {
    {"PLY", "ply", cloud_ply_begins, cloud_ply_read, cloud_ply_write},
    {"PCD", "pcd", cloud_pcd_begins, cloud_pcd_read, cloud_pcd_write},
    {"NPY", "npy", cloud_npy_begins, cloud_npy_read, cloud_npy_write},
    {"XYZ", "xyz txt csv asc", NULL, cloud_xyz_read, cloud_xyz_write},
    {"OBJ", "obj", NULL, cloud_obj_read, NULL},
    {"STL", "stl", NULL, cloud_stl_read, NULL},
    {"POS", "pos", NULL, cloud_pos_read, cloud_pos_write},
    {"ePOS", "epos", NULL, cloud_epos_read, NULL},
    {"APT", "apt", cloud_apt_begins, cloud_apt_read, NULL},
    {0},
};

/* What people have and we do not read, by ending, with what to do. */
static const struct {
    const char *ending, *advice;
} NOT_READ[] = {
    {"laz", "LAZ is not read; PDAL converts it: pdal translate IN.laz OUT.ply"},
    {"las", "LAS is not read; PDAL converts it: pdal translate IN.las OUT.ply"},
    {"e57", "E57 is not read; CloudCompare opens it and saves PLY"},
    {"rrng", "ranges of masses, no points; --ranges takes it"},
    {"rng", "ranges of masses, no points; --ranges takes it"},
    {"ply.gz", "packed files are not read; gunzip it first"},
};

enum { HEAD = 16 }; /* bytes that tell a format */

static const cloud_format *by_ending(const char *name) {
    for (const cloud_format *f = CLOUD_FORMATS; f->name; ++f)
        if (source_has_ending(name, f->endings)) return f;
    return NULL;
}

const cloud_format *cloud_format_of(const char *name, const char *head, size_t length) {
    bool marked = length >= 3 && memcmp(head, "\xef\xbb\xbf", 3) == 0;
    for (const cloud_format *f = CLOUD_FORMATS; f->name; ++f)
        if (f->begins && f->begins(head + 3 * marked, length - 3 * (size_t)marked)) return f;
    return by_ending(name);
}

static atn_status not_known(const source *s) {
    for (size_t k = 0; k < sizeof NOT_READ / sizeof *NOT_READ; ++k)
        if (source_has_ending(s->name, NOT_READ[k].ending))
            return atn_fail(s->ctx, ATN_ERR_UNSUPPORTED, "%s: %s", s->name, NOT_READ[k].advice);
    return atn_fail(s->ctx, ATN_ERR_INPUT,
                    "%s: not a kind of file that is read: ply, pcd, npy, xyz, txt, csv, asc, obj, stl, pos, epos, apt",
                    s->name);
}

atn_status cloud_read_source(source *s, const atn_cloud_options *options, cloud_mesh *mesh, atn_cloud **out) {
    *out = NULL;
    const char *head;
    size_t length;
    atn_status status = source_peek(s, HEAD, &head, &length);
    if (status != ATN_OK) return status;
    const cloud_format *format = cloud_format_of(s->name, head, length);
    if (!format) return not_known(s);
    atn_cloud *cloud;
    status = cloud_make(s->ctx, options, &cloud);
    if (status != ATN_OK) return status;
    snprintf(cloud->format, sizeof cloud->format, "%s", format->name);
    cloud->mesh = mesh;
    status = format->read(s, cloud);
    cloud->mesh = NULL;
    if (status == ATN_OK)
        *out = cloud;
    else
        atn_cloud_free(cloud);
    return status;
}

atn_status atn_cloud_read(atn_ctx *ctx, const char *path, const atn_cloud_options *options, atn_cloud **out) {
    source s;
    *out = NULL;
    atn_status status = source_open(ctx, path, &s);
    if (status == ATN_OK) status = cloud_read_source(&s, options, NULL, out);
    source_close(&s);
    return status;
}

atn_status atn_cloud_read_bytes(const atn_ctx *ctx, const char *name, const char *bytes, size_t length,
                                const atn_cloud_options *options, atn_cloud **out) {
    source s;
    *out = NULL;
    atn_status status = source_of_bytes(ctx, name, bytes, length, &s);
    if (status == ATN_OK) status = cloud_read_source(&s, options, NULL, out);
    source_close(&s);
    return status;
}

atn_status atn_cloud_write(const atn_cloud *cloud, const char *path) {
    const cloud_format *format = by_ending(path);
    if (!format || !format->write)
        return atn_fail(cloud->ctx, ATN_ERR_INPUT,
                        "%s: clouds are written as ply, pcd, xyz, txt, csv, asc, npy or pos; %s", path,
                        format ? "this one is only read" : "the ending says which");
    atn_text file = {.ctx = cloud->ctx};
    atn_status status = format->write(cloud, source_has_ending(path, "csv") ? ',' : ' ', &file);
    if (status == ATN_OK) status = atn_text_status(&file);
    if (status == ATN_OK) status = atn_file_write(cloud->ctx, path, file.data, file.length);
    atn_text_free(&file);
    return status;
}
