/* The triangles of a mesh: faces become fans, (first, last, next); what they name is held against the points there are.
 */
#include "cloud/mesh.h"

#include "base/memory.h"
#include "cloud/formats.h"

#include <math.h>

void cloud_mesh_free(cloud_mesh *mesh) {
    if (!mesh->ctx) return;
    atn_free(mesh->ctx, mesh->corner);
    *mesh = (cloud_mesh){0};
}

void cloud_mesh_begin_face(cloud_mesh *mesh) { mesh->corners = 0; }

static atn_status add_triangle(cloud_mesh *mesh, uint32_t next) {
    void *corner = mesh->corner;
    atn_status status = atn_grow(mesh->ctx, &corner, &mesh->capacity, mesh->triangles, 3 * sizeof *mesh->corner);
    mesh->corner = corner;
    if (status != ATN_OK) return status;
    uint32_t *at = mesh->corner + 3 * mesh->triangles++;
    at[0] = mesh->first;
    at[1] = mesh->last;
    at[2] = next;
    return ATN_OK;
}

atn_status cloud_mesh_add_corner(cloud_mesh *mesh, const source *where, double point) {
    if (!(point >= 0) || point >= UINT32_MAX || floor(point) != point)
        return source_wrong(where, "a face names the vertex %g", point);
    uint32_t index = (uint32_t)point;
    if (index >= mesh->highest) {
        mesh->highest = (size_t)index + 1;
        mesh->item = where->item;
        mesh->line = where->line;
    }
    atn_status status = ATN_OK;
    if (mesh->corners == 0)
        mesh->first = index;
    else if (mesh->corners >= 2)
        status = add_triangle(mesh, index);
    mesh->last = index;
    ++mesh->corners;
    return status;
}

static atn_status check(source *s, const cloud_mesh *mesh, const atn_cloud *points) {
    if (mesh->highest > points->count) {
        s->item = mesh->item;
        s->line = mesh->line;
        return source_wrong(s, "a face names vertex %zu, counted from 0; there are %zu", mesh->highest - 1,
                            points->count);
    }
    if (mesh->triangles) return ATN_OK;
    return atn_fail(s->ctx, ATN_ERR_INPUT, "%s: there are no triangles; a mesh is a PLY or OBJ file with faces, or STL",
                    s->name);
}

atn_status cloud_mesh_read(source *s, cloud_mesh *mesh, atn_cloud **points) {
    *mesh = (cloud_mesh){.ctx = s->ctx};
    atn_status status = cloud_read_source(s, NULL, mesh, points);
    if (status == ATN_OK) status = check(s, mesh, *points);
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
