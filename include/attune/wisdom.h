/* Wisdom: what tuning measured, kept in a database and carried from machine to machine, as in FFTW. Kernels are
 * planned with it (attune/kernel.h: effort); a context in use sees an import with the next kernel it plans.
 * The database is the file that $ATTUNE_WISDOM names, else wisdom.sqlite in the context's cache folder. docs/wisdom.md
 * has the format of exports. */
#ifndef ATTUNE_WISDOM_H
#define ATTUNE_WISDOM_H

#include <attune/context.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Which database, and which of its entries. Fields left at zero take their defaults. */
typedef struct atn_wisdom_settings {
    size_t size;        /* of this struct: ATN_INIT */
    const char *path;   /* of the database; NULL: the usual one */
    const char *kernel; /* entries of the kernel of this name; NULL: of all kernels */
    const char
        *device;  /* entries of a backend ("cuda") or of devices whose name contains this, in any case; NULL: of all */
    bool winners; /* export: the fastest variants only, without the other measurements */
} atn_wisdom_settings;

/* Number of entries exported, imported or removed. A plain value. */
typedef struct atn_wisdom_counts {
    size_t size;                            /* of this struct: ATN_INIT */
    int64_t entries, measurements, winners; /* an entry is a kernel on a device at a size; winners: entries with one */
    int64_t taken; /* import: measurements and winners that were new, faster or newer than existing ones */
} atn_wisdom_counts;

/* As JSON; without a database there are no entries. The text is zero-terminated and owned by the caller; free it with
 * atn_wisdom_free_text and the same context. `counts` may be NULL, here and below. */
ATN_API atn_status atn_wisdom_export(atn_ctx *ctx, const atn_wisdom_settings *settings, char **text,
                                     atn_wisdom_counts *counts);
ATN_API void atn_wisdom_free_text(atn_ctx *ctx, char *text); /* NULL is allowed */
/* The same into a file, which is written to a temporary file, then renamed. */
ATN_API atn_status atn_wisdom_export_file(atn_ctx *ctx, const char *path, const atn_wisdom_settings *settings,
                                          atn_wisdom_counts *counts);

/* Imports all of an export or nothing; existing entries are kept if they are faster (winners) or newer (measurements).
 * The database is created if there is none. Of the settings only `path` is used. */
ATN_API atn_status atn_wisdom_import(atn_ctx *ctx, const char *text, size_t length, const atn_wisdom_settings *settings,
                                     atn_wisdom_counts *counts);
ATN_API atn_status atn_wisdom_import_file(atn_ctx *ctx, const char *path, const atn_wisdom_settings *settings,
                                          atn_wisdom_counts *counts);

/* Removes entries with all their measurements; NULL settings: all entries. Shipped wisdom stays. */
ATN_API atn_status atn_wisdom_forget(atn_ctx *ctx, const atn_wisdom_settings *settings, atn_wisdom_counts *counts);

#ifdef __cplusplus
}
#endif
#endif
