/* Points that a file has as records of one size, one after the other: read in pieces by all cores. */
#ifndef ATN_CLOUD_RECORDS_H
#define ATN_CLOUD_RECORDS_H

#include "cloud/cloud.h"

enum { RECORDS_MOST_PARTS = 640 };

/* A number of a record, or several. */
typedef struct record_part {
    size_t at; /* bytes before it in the record */
    number_type type;
    cloud_role role;     /* ROLE_NONE: a property that travels */
    size_t extra;        /* which one, all its values; SIZE_MAX: left out */
    double scale, shift; /* of a coordinate: scale * number + shift; scale 0: the number itself */
} record_part;

typedef struct cloud_records {
    size_t start;  /* byte of the first record in the file */
    size_t stride; /* bytes from one to the next; at most CLOUD_PIECE */
    size_t count;
    bool big;  /* the first byte counts most */
    bool rows; /* what is wrong is said by row instead of by byte */
    size_t n_parts;
    record_part part[RECORDS_MOST_PARTS];
} cloud_records;

/* cloud_begin was called with room for all of them, and the file has so many bytes. Leaves the source behind the last
 * record. */
atn_status cloud_records_read(source *s, atn_cloud *cloud, const cloud_records *records);

#endif
