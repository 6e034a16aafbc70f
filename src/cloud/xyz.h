/* Points in lines of text: shared by xyz.c, xyz_frames.c and xyz_write.c. */
#ifndef ATN_CLOUD_XYZ_H
#define ATN_CLOUD_XYZ_H

#include "cloud/cloud.h"

enum { XYZ_MOST_COLUMNS = 128 }; /* more may be there, and are left out */

/* What the columns are. */
typedef struct xyz_table {
    source *s;
    atn_cloud *cloud;
    char separator;
    size_t columns; /* of every row; 0: the first row says */
    cloud_role role[XYZ_MOST_COLUMNS];
    struct {
        size_t extra, value; /* of the property that travels; SIZE_MAX: none */
    } kept[XYZ_MOST_COLUMNS];
    unsigned roles; /* 0: not known yet */
} xyz_table;

/* Columns `first`, first + 1 and first + 2 are x, y and z, and nothing else is anything. */
void xyz_set_plain(xyz_table *t, size_t first);

/* A row that was cut into fields, of which there are `columns`: a point. */
atn_status xyz_row(xyz_table *t, char **field, size_t columns);

/* Frames up to the end of the file; the count of the first was taken. */
atn_status xyz_frames(xyz_table *t, size_t count);

atn_status cloud_xyz_write(const atn_cloud *cloud, char separator, atn_text *out);

#endif
