/* Wisdom: what tuning measured, kept in a database and carried from machine to machine, as FFTW does it. Kernels are
 * planned with it (attune/kernel.h: efforts); a context that is in use sees an import with the next kernel it plans.
 * The database is the file that $ATTUNE_WISDOM names, else wisdom.sqlite in the context's cache folder. docs/wisdom.md
 * has the format of exports. */
#ifndef ATTUNE_WISDOM_H
#define ATTUNE_WISDOM_H

#include <attune/context.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Which database, and which of its entries. A field left zero takes its default. */
typedef struct atn_wisdom_settings {
    size_t size;        /* of this struct: ATN_INIT */
    const char *path;   /* of the database; NULL: the usual one */
    const char *kernel; /* entries of the kernel of this name; NULL: of all kernels */
    const char *device; /* of a backend ("cuda") or of devices with this in their name, in any case; NULL: of all */
    bool winners;       /* export: the fastest variants only, without what they were measured against */
} atn_wisdom_settings;

/* How much it was. A plain value. */
typedef struct atn_wisdom_counts {
    size_t size;                            /* of this struct: ATN_INIT */
    int64_t entries, measurements, winners; /* an entry is a kernel on a device at a size; winners: entries with one */
    int64_t taken; /* import: measurements and winners that were new, faster or newer than what was there */
} atn_wisdom_counts;

/* As JSON; no entries where there is no database. The text ends with a zero and is owned by the caller:
 * atn_wisdom_free_text with the same context. `counts` may be NULL, here and below. */
ATN_API atn_status atn_wisdom_export(atn_ctx *ctx, const atn_wisdom_settings *settings, char **text,
                                     atn_wisdom_counts *counts);
ATN_API void atn_wisdom_free_text(atn_ctx *ctx, char *text); /* NULL is fine */
/* The same into a file. Written aside and renamed. */
ATN_API atn_status atn_wisdom_export_file(atn_ctx *ctx, const char *path, const atn_wisdom_settings *settings,
                                          atn_wisdom_counts *counts);

/* Takes all of an export or nothing; what is here stays where it is faster (winners) or newer (measurements). The
 * database is made where there is none. Of the settings only `path` counts. */
ATN_API atn_status atn_wisdom_import(atn_ctx *ctx, const char *text, size_t length, const atn_wisdom_settings *settings,
                                     atn_wisdom_counts *counts);
ATN_API atn_status atn_wisdom_import_file(atn_ctx *ctx, const char *path, const atn_wisdom_settings *settings,
                                          atn_wisdom_counts *counts);

/* Removes entries with all that was measured for them; NULL settings: all entries. Shipped wisdom stays. */
ATN_API atn_status atn_wisdom_forget(atn_ctx *ctx, const atn_wisdom_settings *settings, atn_wisdom_counts *counts);

#ifdef __cplusplus
}
#endif
#endif
