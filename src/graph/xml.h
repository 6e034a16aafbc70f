/* A description's XML as a small tree of elements with their places. Hostile files are refused early: no DOCTYPE, no
 * entities of their own, limits on everything that grows. */
#ifndef ATN_GRAPH_XML_H
#define ATN_GRAPH_XML_H

#include "graph/reader.h"

typedef struct atn_attribute {
    const char *name;
    const char *given; /* as written, entities resolved */
    const char *value; /* after defines */
    size_t offset;     /* of the value in the file */
    bool taken;        /* some reader knew it */
    bool plain;        /* the file as it is: no entities, no defines */
} atn_attribute;

typedef struct atn_element atn_element;
struct atn_element {
    const char *name;
    atn_place at;
    atn_attribute *attributes;
    int32_t n_attributes, depth;
    atn_element *parent, *child, *last, *next;
    bool text_reported;
};

/* The root, or NULL with the complaint made. */
atn_element *atn_xml_read(atn_reader *reader);

/* The place of value[offset] in the file, through defines and entities. */
atn_place atn_attribute_place(atn_reader *reader, const atn_attribute *attribute, size_t offset);

/* Where value[offset] stands in `given`, through defines. */
size_t atn_attribute_given(const atn_reader *reader, const atn_attribute *attribute, size_t offset);

/* The attribute of that name, marked as taken; NULL when there is none. */
atn_attribute *atn_element_find(atn_element *element, const char *name);

#endif
