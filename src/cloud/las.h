/* LAS, a laser scanning format: shared by las.c and las_write.c. Versions 1.0 to 1.4, point formats 0 to 10,
 * little-endian. */
#ifndef ATN_CLOUD_LAS_H
#define ATN_CLOUD_LAS_H

#include "cloud/cloud.h"

/* Where things are in the header. */
enum {
    LAS_VERSION = 24,
    LAS_HEADER_BYTES = 94,
    LAS_POINTS_AT = 96,
    LAS_RECORDS = 100, /* of variable length */
    LAS_FORMAT = 104,
    LAS_POINT_BYTES = 105,
    LAS_COUNT = 107, /* 32 bits, then five by return */
    LAS_SCALE = 131,
    LAS_OFFSET = 155,
    LAS_BOUNDS = 179, /* highest and lowest of each axis */
    LAS_OLD_HEADER = 227,
    LAS_LONG_COUNT = 247, /* of 1.4: 64 bits, then 15 by return */
    LAS_NEW_HEADER = 375,
    LAS_FORMATS = 11
};

/* A number of a point that travels under its name. */
typedef struct las_field {
    const char *name;
    number_type type;
    short at[LAS_FORMATS]; /* byte in a point of each format; -1: it has none */
} las_field;

extern const las_field LAS_FIELDS[]; /* ends with a row without name */
extern const unsigned char LAS_BYTES[LAS_FORMATS];

atn_status cloud_las_write(const atn_cloud *cloud, char separator, atn_text *out);
bool cloud_las_holds(const atn_cloud *cloud, const cloud_extra *extra);

#endif
