/* Any bytes as a point cloud, in every format: read or refused, without leaks, and what was read can be written,
 * merged, moved, given normals and, where it is a mesh, sampled. The first line is the extension, in capitals if
 * invalid points are to be refused; then comes the file. */
#include "cloud/formats.h"
#include "cloud/mesh.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use(const atn_cloud *cloud, size_t size) {
    atn_cloud_info info = atn_cloud_info_of(cloud);
    if (info.points > size) abort(); /* no point takes less than a byte */
    for (int d = 0; d < 3; ++d)
        if (!isfinite(info.low[d]) || !isfinite(info.high[d]) || info.low[d] > info.high[d]) abort();
    for (size_t f = 0; f < info.frames; ++f)
        if (atn_cloud_frame(cloud, f) > atn_cloud_frame(cloud, f + 1)) abort();
    for (const cloud_format *const *each = CLOUD_FORMATS; *each; ++each) {
        const cloud_format *format = *each;
        if (!format->write) continue;
        atn_text text = {.ctx = cloud->ctx};
        atn_status status = format->write(cloud, ' ', &text);
        if (status != ATN_OK && info.points) abort();
        atn_text_free(&text);
    }
}

enum { MOST_NORMALS = 300, SAMPLES = 50 };

static void check_finite(const atn_cloud *cloud) {
    for (size_t k = 0; k < cloud->count; ++k)
        for (int d = 0; d < 3; ++d) {
            if (!isfinite(atn_cloud_positions(cloud, d)[k])) abort();
            if (cloud->roles & ROLE_NORMAL && !isfinite(atn_cloud_normals(cloud, d)[k])) abort();
        }
}

/* What is made of a cloud has as many points, or no more. Weights that are wrong and places that are too far are the
 * only reasons to fail. */
static void make_others(const atn_cloud *cloud) {
    static const double edges[] = {1e-3, 1, 1e30}, moves[16] = {0, -2, 0, 5, 3, 0, 0, 6, 0, 1, 1, 7, 0, 0, 0, 1};
    atn_cloud *made;
    for (int k = 0; k < 3; ++k) {
        atn_status status = atn_cloud_voxels(cloud, edges[k], &made);
        if (status != ATN_OK && status != ATN_ERR_INPUT) abort();
        if (status == ATN_OK && (made->count > cloud->count || !made->count != !cloud->count)) abort();
        if (status == ATN_OK) check_finite(made);
        atn_cloud_free(made);
    }
    if (cloud->count <= MOST_NORMALS) {
        if (atn_cloud_with_normals(cloud, 5, NULL, &made) != ATN_OK || made->count != cloud->count) abort();
        check_finite(made);
        atn_cloud_free(made);
    }
    atn_status status = atn_cloud_moved(cloud, moves, &made);
    if (status != ATN_OK && status != ATN_ERR_INPUT) abort();
    if (status == ATN_OK) check_finite(made);
    atn_cloud_free(made);
}

/* Samples lie between the corners, with normals of length 1. */
static void check_samples(const atn_cloud *samples, const atn_cloud *corners) {
    atn_cloud_info of = atn_cloud_info_of(corners), info = atn_cloud_info_of(samples);
    if (info.points != SAMPLES) abort();
    check_finite(samples);
    for (int d = 0; d < 3; ++d)
        if (info.low[d] < of.low[d] || info.high[d] > of.high[d]) abort();
    for (size_t k = 0; k < SAMPLES; ++k) {
        double x = cloud_get(samples, ROLE_NX, k), y = cloud_get(samples, ROLE_NY, k),
               z = cloud_get(samples, ROLE_NZ, k);
        if (fabs(x * x + y * y + z * z - 1) > 1e-5) abort();
    }
}

static void try_mesh(const atn_ctx *ctx, const char *name, const uint8_t *data, size_t size) {
    source s;
    cloud_mesh mesh = {0};
    atn_cloud *corners = NULL, *samples = NULL;
    atn_status status = source_of_bytes(ctx, name, (const char *)data, size, &s);
    if (status == ATN_OK) status = cloud_mesh_read(&s, &mesh, &corners);
    if (status == ATN_OK && (mesh.triangles > size || !mesh.triangles)) abort();
    for (size_t k = 0; status == ATN_OK && k < 3 * mesh.triangles; ++k)
        if (mesh.corner[k] >= corners->count) abort();
    if (status == ATN_OK) status = cloud_mesh_sample(&mesh, corners, name, SAMPLES, size, &samples);
    if (status == ATN_OK) check_samples(samples, corners);
    if (status != ATN_OK && status != ATN_ERR_INPUT && status != ATN_ERR_UNSUPPORTED) abort();
    source_close(&s);
    cloud_mesh_free(&mesh);
    atn_cloud_free(corners);
    atn_cloud_free(samples);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char name[16];
    size_t ending = 0;
    atn_ctx *ctx;
    atn_cloud *cloud;
    while (ending < size && ending < 8 && data[ending] != '\n') ++ending;
    if (ending == size || data[ending] != '\n' || atn_ctx_create(NULL, &ctx) != ATN_OK) return 0;
    snprintf(name, sizeof name, "a.%.*s", (int)ending, (const char *)data);
    bool strict = data[0] >= 'A' && data[0] <= 'Z';
    atn_cloud_settings options = {.invalid = strict ? ATN_INVALID_REFUSE : ATN_INVALID_DROP};
    data += ending + 1;
    size -= ending + 1;
    atn_status status = atn_cloud_read_bytes(ctx, name, (const char *)data, size, &options, &cloud);
    if (status != ATN_OK && status != ATN_ERR_INPUT && status != ATN_ERR_UNSUPPORTED) abort();
    if (status == ATN_OK) {
        use(cloud, size);
        make_others(cloud);
    }
    atn_cloud_free(cloud);
    try_mesh(ctx, name, data, size);
    if (atn_ctx_bytes(ctx)) abort();
    atn_ctx_free(ctx);
    return 0;
}
