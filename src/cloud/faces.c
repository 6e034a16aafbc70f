/* Faces: collected while a file is read, checked against the number of points, kept where points are kept. */
#include "cloud/faces.h"

#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void cloud_faces_free(const atn_ctx *ctx, cloud_faces *faces) {
    if (!faces) return;
    atn_free(ctx, faces->corner);
    atn_free(ctx, faces->start);
    atn_free(ctx, faces);
}

static atn_status begin(atn_cloud *cloud) {
    if (!cloud->faces && !(cloud->faces = atn_zalloc(cloud->ctx, sizeof *cloud->faces))) return ATN_ERR_MEMORY;
    cloud_faces *f = cloud->faces;
    void *start = f->start;
    atn_status status = atn_grow(cloud->ctx, &start, &f->start_capacity, f->count, sizeof *f->start);
    f->start = start;
    if (status == ATN_OK) f->start[f->count++] = f->corners;
    return status;
}

static atn_status add(atn_cloud *cloud, uint32_t point) {
    cloud_faces *f = cloud->faces;
    void *corner = f->corner;
    atn_status status = atn_grow(cloud->ctx, &corner, &f->capacity, f->corners, sizeof *f->corner);
    f->corner = corner;
    if (status == ATN_OK) f->corner[f->corners++] = point;
    return status;
}

atn_status cloud_faces_begin(atn_cloud *cloud) { return cloud->keep & KEEP_FACES ? begin(cloud) : ATN_OK; }

void cloud_faces_wrong(atn_cloud *cloud, const source *where, const char *format, ...) {
    cloud_faces *f = cloud->faces;
    if (!(cloud->keep & KEEP_FACES) || *f->wrong) return;
    ATN_FORMAT(f->wrong, format);
    f->item = where->item;
    f->line = where->line;
}

atn_status cloud_faces_add(atn_cloud *cloud, const source *where, double point) {
    if (!(cloud->keep & KEEP_FACES)) return ATN_OK;
    cloud_faces *f = cloud->faces;
    if (*f->wrong) return ATN_OK;
    if (!(point >= 0) || point >= UINT32_MAX || floor(point) != point) {
        cloud_faces_wrong(cloud, where, "a face names the vertex %g", point);
        return ATN_OK;
    }
    if ((size_t)point >= f->highest) {
        f->highest = (size_t)point + 1;
        f->item = where->item;
        f->line = where->line;
    }
    return add(cloud, (uint32_t)point);
}

size_t cloud_faces_end(const cloud_faces *faces, size_t face) {
    return face + 1 < faces->count ? faces->start[face + 1] : faces->corners;
}

atn_status cloud_faces_follow(const atn_cloud *from, const uint32_t *becomes, atn_cloud *to) {
    const cloud_faces *f = from->faces;
    atn_status status = ATN_OK;
    for (size_t k = 0; f && status == ATN_OK && k < f->count; ++k) {
        bool whole = true;
        size_t end = cloud_faces_end(f, k);
        for (size_t c = f->start[k]; c < end; ++c) whole = whole && becomes[f->corner[c]] != UINT32_MAX;
        if (whole) status = begin(to);
        for (size_t c = f->start[k]; whole && status == ATN_OK && c < end; ++c) status = add(to, becomes[f->corner[c]]);
    }
    return status;
}

atn_status cloud_faces_append(const atn_cloud *from, size_t shift, atn_cloud *to) {
    const cloud_faces *f = from->faces;
    atn_status status = ATN_OK;
    for (size_t k = 0; f && status == ATN_OK && k < f->count; ++k) {
        status = begin(to);
        for (size_t c = f->start[k]; status == ATN_OK && c < cloud_faces_end(f, k); ++c)
            status = add(to, (uint32_t)(f->corner[c] + shift));
    }
    return status;
}

/* By the numbers of the file: what each point became, once those that were dropped are gone. */
static atn_status renumber(atn_cloud *cloud) {
    size_t points = cloud->count + cloud->n_dropped, next = 0;
    uint32_t *becomes = atn_alloc(cloud->ctx, (points + 1) * sizeof *becomes);
    if (!becomes) return ATN_ERR_MEMORY;
    for (size_t k = 0, gone = 0; k < points; ++k) {
        bool dropped = gone < cloud->n_dropped && cloud->dropped[gone] == k;
        gone += dropped;
        becomes[k] = dropped ? UINT32_MAX : (uint32_t)next++;
    }
    atn_cloud before = {.faces = cloud->faces};
    cloud->faces = NULL;
    atn_status status = cloud_faces_follow(&before, becomes, cloud);
    cloud_faces_free(cloud->ctx, before.faces);
    atn_free(cloud->ctx, becomes);
    return status;
}

atn_status cloud_faces_settle(atn_cloud *cloud, source *s, bool needed) {
    cloud_faces *f = cloud->faces;
    size_t points = cloud->count + cloud->n_dropped;
    if (!f) return ATN_OK;
    if (!*f->wrong && f->highest > points)
        snprintf(f->wrong, sizeof f->wrong, "a face names vertex %zu, counted from 0; there are %zu", f->highest - 1,
                 points);
    if (!*f->wrong) return cloud->n_dropped ? renumber(cloud) : ATN_OK;
    if (needed) {
        s->item = f->item;
        s->line = f->line;
        return source_wrong(s, "%s", f->wrong);
    }
    cloud_leave_out(cloud, "faces, which name vertices that are not there");
    cloud_faces_free(cloud->ctx, f);
    cloud->faces = NULL;
    return ATN_OK;
}
