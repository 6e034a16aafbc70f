/* The triangles of a mesh, as the readers of formats hand them over: faces corner by corner, which become fans of
 * triangles. */
#ifndef ATN_CLOUD_MESH_H
#define ATN_CLOUD_MESH_H

#include "cloud/cloud.h"

/* A plain value, begun with its context only; ended with cloud_mesh_free. */
struct cloud_mesh {
    const atn_ctx *ctx;
    uint32_t *corner; /* owned; three points of the cloud for each triangle */
    size_t triangles, capacity;
    /* The face that is being read. */
    size_t corners;
    uint32_t first, last;
    /* Faces may come before what they name: the highest point named, and where. */
    size_t highest, item; /* one more than it; 0: none yet */
    int64_t line;
};

void cloud_mesh_free(cloud_mesh *mesh);
void cloud_mesh_begin_face(cloud_mesh *mesh); /* one of less than three corners has no triangles */
atn_status cloud_mesh_add_corner(cloud_mesh *mesh, const source *where, double point);

/* The points of a file, with its triangles; one without any, or whose faces name points that are not there, is refused.
 * Points that are not finite are. */
atn_status cloud_mesh_read(source *s, cloud_mesh *mesh, atn_cloud **points);

/* atn_cloud_sample_mesh, once it is read. */
atn_status cloud_mesh_sample(const cloud_mesh *mesh, const atn_cloud *corners, const char *name, size_t points,
                             uint64_t seed, atn_cloud **out);

#endif
