/* The spaces that attune ships, spaces/NAME.lanai, as they were when the library was built. */
#ifndef ATN_SPACE_SHIPPED_H
#define ATN_SPACE_SHIPPED_H

typedef struct atn_shipped_space {
    const char *name; /* "example"; NULL ends the table */
    const char *text; /* LANAI */
} atn_shipped_space;

extern const atn_shipped_space ATN_SHIPPED_SPACES[]; /* by name; made by the build */

const char *atn_space_shipped(const char *name); /* its text, or NULL */

#endif
