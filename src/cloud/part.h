/* A cloud that several ranks share: each has a part of the file's points, and none has all of them. */
#ifndef ATN_CLOUD_PART_H
#define ATN_CLOUD_PART_H

#include "cloud/cloud.h"
#include "ranks/ranks.h"

/* Ended with cloud_part_free. */
typedef struct cloud_part {
    atn_ranks *ranks;
    atn_cloud *cloud;  /* points of this rank; owned */
    size_t total;      /* points of all ranks, without those that were dropped, and how many these are */
    bool faces;        /* the file has faces, which no rank has */
    size_t nan, inf;   /* on all ranks */
    size_t runs, most; /* of this rank's points, which follow each other in the file; runs of the rank with most */
    size_t *start;     /* of each run among the points, and their end; owned */
    size_t *first;     /* of each run: which point of all it begins with, in the order of the file; owned */
} cloud_part;

/* By all ranks. Records of one size are read by each rank where its part is; of other files each rank goes through all
 * of it and keeps its part. A failure of one rank is one of all. Faces are left out; so are properties whose types
 * differ from rank to rank, since text says them by its numbers. */
atn_status cloud_part_read(atn_ctx *ctx, const char *path, const atn_cloud_settings *settings, atn_ranks *ranks,
                           cloud_part *out);
void cloud_part_free(cloud_part *part); /* zeroed ones are fine */

/* Weights are finite and not negative. Of this rank's points alone. */
atn_status cloud_part_check_weights(const cloud_part *part);

/* About `most` of the points of all ranks, chosen by chance, the same for any number of ranks, in the order of the
 * file: positions and weights. All ranks get all of them. */
atn_status cloud_part_sample(const cloud_part *part, size_t most, atn_cloud **out);

/* All points, transformed, as one file: ranks generate it piece by piece, the first one writes it. Refused for formats
 * whose beginning depends on all points. */
bool cloud_part_can_write(const char *path);
atn_status cloud_part_check_output(const atn_ctx *ctx, const char *path);
atn_status cloud_part_write(const cloud_part *part, const double transform[16], const char *path);

#endif
