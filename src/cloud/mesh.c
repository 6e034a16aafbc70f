/* The triangles of a mesh: faces become fans; faces with fewer than three corners are skipped. */
#include "cloud/mesh.h"

#include "base/memory.h"
#include "cloud/faces.h"
#include "cloud/formats.h"

void cloud_mesh_free(cloud_mesh *mesh) {
    if (!mesh->ctx) return;
    atn_free(mesh->ctx, mesh->corner);
    *mesh = (cloud_mesh){0};
}

static size_t triangles_of(const cloud_faces *faces, size_t face) {
    size_t corners = cloud_faces_end(faces, face) - faces->start[face];
    return corners < 3 ? 0 : corners - 2;
}

static atn_status cut_fans(const cloud_faces *faces, cloud_mesh *mesh) {
    size_t triangles = 0;
    for (size_t k = 0; k < faces->count; ++k) triangles += triangles_of(faces, k);
    mesh->corner = atn_alloc(mesh->ctx, 3 * triangles * sizeof *mesh->corner);
    if (!mesh->corner) return ATN_ERR_MEMORY;
    for (size_t k = 0; k < faces->count; ++k)
        for (size_t t = 0; t < triangles_of(faces, k); ++t) {
            const uint32_t *face = faces->corner + faces->start[k];
            uint32_t *at = mesh->corner + 3 * mesh->triangles++;
            at[0] = face[0];
            at[1] = face[t + 1];
            at[2] = face[t + 2];
        }
    return ATN_OK;
}

static atn_status read_mesh(source *s, cloud_mesh *mesh, atn_cloud **points) {
    atn_status status = cloud_read_source(s, NULL, KEEP_FACES | KEEP_FACES_NEEDED, points);
    if (status == ATN_OK && (*points)->faces) status = cut_fans((*points)->faces, mesh);
    if (status != ATN_OK || mesh->triangles) return status;
    return atn_fail(s->ctx, ATN_ERR_INPUT, "%s: there are no triangles; expected a file with faces", s->name);
}

atn_status cloud_mesh_read(source *s, cloud_mesh *mesh, atn_cloud **points) {
    *mesh = (cloud_mesh){.ctx = s->ctx};
    atn_status status = read_mesh(s, mesh, points);
    if (status == ATN_OK) return ATN_OK;
    cloud_mesh_free(mesh);
    atn_cloud_free(*points);
    *points = NULL;
    return status;
}

atn_status atn_cloud_sample_mesh(atn_ctx *ctx, const char *path, size_t points, uint64_t seed, atn_cloud **out) {
    source s;
    cloud_mesh mesh = {0};
    atn_cloud *corners = NULL;
    *out = NULL;
    atn_status status = source_open(ctx, path, &s);
    if (status == ATN_OK) status = cloud_mesh_read(&s, &mesh, &corners);
    source_close(&s);
    if (status == ATN_OK) status = cloud_mesh_sample(&mesh, corners, path, points, seed, out);
    cloud_mesh_free(&mesh);
    atn_cloud_free(corners);
    return status;
}
