/* Files that the build embeds into the library as tables of texts (cmake/AttuneEmbed.cmake). */
#ifndef ATN_BASE_EMBEDDED_H
#define ATN_BASE_EMBEDDED_H

typedef struct atn_embedded {
    const char *name; /* of the file, without its ending; NULL ends the table */
    const char *text;
} atn_embedded;

const char *atn_embedded_find(const atn_embedded *table, const char *name); /* its text, or NULL */

#endif
