/* What the tests of point clouds share: files as bytes in the source, and clouds held against each other. */
#ifndef ATN_TESTS_CLOUDKIT_H
#define ATN_TESTS_CLOUDKIT_H

#include "testkit.h"

#include "cloud/formats.h"

/* A file; its name's ending may tell its format. */
typedef struct kit_file {
    const char *name;
    const char *bytes;
    size_t length;
} kit_file;
#define KIT_FILE(name, text)                                                                                           \
    { name, text, sizeof(text) - 1 }

/* One small file of every format and way of storing it, good as it is; ends with a row without name. All have the
 * points 1 2 3 and 4 5 6.5, those of STL -1 0 0.5 as well. */
extern const kit_file KIT_FILES[];

/* Reads the bytes; must go well. */
atn_cloud *cloud_of(atn_ctx *ctx, const kit_file *file, atn_cloud_invalid invalid);

/* The same points and everything of the roles in both. */
void cloud_same(const atn_cloud *a, const atn_cloud *b, unsigned roles);

/* Does the work with the n-th allocation failing, for every n until it goes well; nothing may stay behind. */
void cloud_walk(atn_status (*work)(atn_ctx *ctx, const void *given), const void *given);

#endif
