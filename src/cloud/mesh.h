/* The triangles of a mesh: its faces as fans, (first, last, next). */
#ifndef ATN_CLOUD_MESH_H
#define ATN_CLOUD_MESH_H

#include "cloud/cloud.h"

/* A plain value; ended with cloud_mesh_free. */
typedef struct cloud_mesh {
    const atn_ctx *ctx;
    uint32_t *corner; /* owned; three points of the cloud for each triangle */
    size_t triangles;
} cloud_mesh;

void cloud_mesh_free(cloud_mesh *mesh);

/* The points of a file, with its triangles; one without any, or whose faces name points that are not there, is refused.
 * Points that are not finite are. */
atn_status cloud_mesh_read(source *s, cloud_mesh *mesh, atn_cloud **points);

/* atn_cloud_sample_mesh, once it is read. */
atn_status cloud_mesh_sample(const cloud_mesh *mesh, const atn_cloud *corners, const char *name, size_t points,
                             uint64_t seed, atn_cloud **out);

#endif
