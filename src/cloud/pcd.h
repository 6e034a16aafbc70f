/* The header of a PCD file: shared by pcd.c and pcd_header.c. */
#ifndef ATN_CLOUD_PCD_H
#define ATN_CLOUD_PCD_H

#include "cloud/binary.h"
#include "cloud/cloud.h"

enum { PCD_MOST_FIELDS = 128, PCD_MOST_COUNT = 65536 };

typedef struct pcd_field {
    number_type type;
    size_t values;   /* of one point; > 0 */
    size_t at;       /* bytes before it in a point */
    cloud_role role; /* ROLE_NONE: none */
    size_t extra;    /* where it only travels; SIZE_MAX: left out */
} pcd_field;

typedef enum pcd_data { PCD_TEXT, PCD_BINARY, PCD_COMPRESSED } pcd_data;

typedef struct pcd_header {
    pcd_data data;
    size_t fields;
    pcd_field field[PCD_MOST_FIELDS];
    size_t bytes;  /* of a point */
    size_t values; /* of a point, in text */
    size_t points;
    unsigned roles;
} pcd_header;

/* Takes the header, all up to and with DATA. Fields that a cloud does not have are noted as left out. */
atn_status pcd_header_read(source *s, atn_cloud *cloud, pcd_header *out);

atn_status cloud_pcd_write(const atn_cloud *cloud, char separator, atn_text *out);

#endif
