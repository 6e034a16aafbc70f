/* The definition of a point format, and the list of formats: one file and one row each. */
#ifndef ATN_CLOUD_FORMATS_H
#define ATN_CLOUD_FORMATS_H

#include "base/text.h"
#include "cloud/cloud.h"

typedef struct cloud_format {
    const char *name;
    const char *endings;                             /* "xyz txt csv" */
    bool (*begins)(const char *head, size_t length); /* is it surely this format? NULL: only the ending tells */
    atn_status (*read)(source *s, atn_cloud *cloud);
    /* Appends the whole file; separator: between the columns of text. NULL: is not written. */
    atn_status (*write)(const atn_cloud *cloud, char separator, atn_text *out);
    unsigned roles; /* that are written; bits */
    /* Is a property that only travels written? NULL: none is. */
    bool (*holds)(const atn_cloud *cloud, const cloud_extra *extra);
    bool faces; /* are written */
    bool whole; /* the beginning of a written file depends on all points: it is not written in stretches (part.h) */
} cloud_format;

/* All formats: each is a `const cloud_format CLOUD_NAME` at the end of its own file, and this row is all that others
 * know of it. In the order in which files are asked whether they begin as one. */
#define CLOUD_EACH_FORMAT(row)                                                                                         \
    row(PLY) row(PCD) row(NPY) row(XYZ) row(LAS) row(VTK) row(OBJ) row(STL) row(POS) row(EPOS) row(APT)
#define CLOUD_DECLARED(NAME) extern const cloud_format CLOUD_##NAME;
CLOUD_EACH_FORMAT(CLOUD_DECLARED)
extern const cloud_format *const CLOUD_FORMATS[]; /* ends with NULL */

/* The extensions of formats that are read, or of those that are written, with commas in between. */
void cloud_format_endings(bool written, atn_text *out);

enum { CLOUD_ALL_ROLES = (1 << ROLE_COUNT) - 1 };

/* The format of a file by its first bytes, else by its name's ending; NULL: none. */
const cloud_format *cloud_format_of(const char *name, const char *head, size_t length);

/* As atn_cloud_read, for bytes in memory; the ending of `name` counts. */
atn_status atn_cloud_read_bytes(const atn_ctx *ctx, const char *name, const char *bytes, size_t length,
                                const atn_cloud_settings *options, atn_cloud **out);

/* The same for a source; keep: bits of cloud_keep. */
atn_status cloud_read_source(source *s, const atn_cloud_settings *options, unsigned keep, atn_cloud **out);
/* The same of part `number` of `of` (part.h); no faces may be kept then. 0: all of it. */
atn_status cloud_read_part(source *s, const atn_cloud_settings *options, unsigned keep, size_t number, size_t of,
                           atn_cloud **out);
unsigned cloud_kept(const atn_cloud_settings *options); /* what is kept by default, or as the options say */

#endif
