/* TIFF through libtiff: shared by tiff.c (files, pages, messages of libtiff) and tiff_pixels.c. */
#ifndef ATN_IMAGE_TIFF_H
#define ATN_IMAGE_TIFF_H

#include "image/formats.h"

#ifdef ATN_HAVE_TIFF
#include <tiffio.h>
#if TIFFLIB_VERSION >= 20221213 /* 4.5: the first whose messages can be kept apart by file */
#define IMAGE_TIFF 1
#endif
#endif

#ifdef IMAGE_TIFF
struct tiff_pages {
    source *s;       /* its bytes are read from anywhere; not owned */
    TIFF *tiff;      /* owned */
    uint64_t at;     /* where libtiff is */
    int64_t count;   /* pages of the file */
    int64_t next;    /* the page that comes next */
    size_t unpacked; /* bytes of all pages so far */
    bool failed;     /* libtiff said so since it was last asked */
    char said[200];  /* the first of it */
};

/* ATN_ERR_INPUT with what libtiff said, or with `what` where it said nothing. */
atn_status tiff_wrong(const tiff_pages *pages, const char *what);

/* The pixels of libtiff's current directory. */
atn_status tiff_pixels(tiff_pages *pages, raster *out);
#endif

#endif
