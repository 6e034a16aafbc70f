/* The header of a PLY file: shared by ply.c and ply_header.c. */
#ifndef ATN_CLOUD_PLY_H
#define ATN_CLOUD_PLY_H

#include "cloud/binary.h"
#include "cloud/cloud.h"

enum { PLY_MOST_ELEMENTS = 32, PLY_MOST_PROPERTIES = 512, PLY_NAME = 32 };

typedef struct ply_property {
    number_type type;  /* of the value, or of a list's values */
    number_type count; /* of a list's count; NUMBER_NONE: no list */
    cloud_role role;   /* in the element vertex; ROLE_NONE: none */
    size_t extra;      /* of the element vertex, where it only travels; SIZE_MAX: left out */
    bool corners;      /* a list of what a face has as corners */
} ply_property;

typedef struct ply_element {
    char name[PLY_NAME]; /* cut short if it is longer */
    size_t rows;
    size_t first, properties; /* into the header's table */
    size_t bytes;             /* of a row in a binary file; with lists, of a row whose lists are empty */
    bool lists;
    bool vertex;
} ply_element;

typedef struct ply_header {
    bool ascii, big;
    size_t n_elements, n_properties;
    ply_element element[PLY_MOST_ELEMENTS];
    ply_property property[PLY_MOST_PROPERTIES];
    unsigned roles; /* of the vertices */
} ply_header;

/* Takes the header, all up to and with end_header. Properties that a cloud does not have are noted as left out. */
atn_status ply_header_read(source *s, atn_cloud *cloud, ply_header *out);

atn_status cloud_ply_write(const atn_cloud *cloud, char separator, atn_text *out);

#endif
