/* The faces of a mesh as stored in files, corner by corner: they are passed through with their points. */
#ifndef ATN_CLOUD_FACES_H
#define ATN_CLOUD_FACES_H

#include "cloud/cloud.h"

struct cloud_faces {
    uint32_t *corner; /* owned; points of the cloud, face after face */
    size_t corners, capacity;
    size_t *start; /* owned; the first corner of each face */
    size_t count, start_capacity;
    /* Faces may come before what they name: the highest point named, and where. */
    size_t highest, item; /* one more than it; 0: none yet */
    int64_t line;
    char wrong[96]; /* why they cannot be used, item and line say where; "": nothing is wrong */
};

void cloud_faces_free(const atn_ctx *ctx, cloud_faces *faces); /* NULL is fine */

/* If the cloud keeps faces; otherwise nothing happens. An invalid corner is recorded, and reported by callers who need
 * faces: a cloud is its points. */
atn_status cloud_faces_begin(atn_cloud *cloud);
atn_status cloud_faces_add(atn_cloud *cloud, const source *where, double point);
void cloud_faces_wrong(atn_cloud *cloud, const source *where, const char *format, ...) ATN_PRINTF(3, 4);

/* Once all is read: faces of points that were dropped go, others follow their points. Faces that are wrong are left out
 * and noted; with `needed`, refused. */
atn_status cloud_faces_settle(atn_cloud *cloud, source *s, bool needed);

/* Those of `from` whose points are all kept; becomes[k] is what point k became, UINT32_MAX: nothing. */
atn_status cloud_faces_follow(const atn_cloud *from, const uint32_t *becomes, atn_cloud *to);

/* Faces of `from` added to those of `to`, with `shift` added to their corners. */
atn_status cloud_faces_append(const atn_cloud *from, size_t shift, atn_cloud *to);

size_t cloud_faces_end(const cloud_faces *faces, size_t face); /* behind its last corner */

#endif
