/* TIFF files and their pages, through libtiff: reading, and handling of libtiff's messages. */
#include "image/tiff.h"

#include "base/memory.h"

#include <string.h>

bool image_tiff_begins(const char *head, size_t length) {
    static const char *const begins[] = {"II*\0", "MM\0*", "II+\0", "MM\0+"};
    for (size_t k = 0; k < sizeof begins / sizeof *begins; ++k)
        if (length >= 4 && memcmp(head, begins[k], 4) == 0) return true;
    return false;
}

#ifndef IMAGE_TIFF

static atn_status missing(const source *s) {
    return atn_fail(s->ctx, ATN_ERR_UNSUPPORTED,
                    "%s: TIFF needs libtiff 4.5, which this attune was built without; save it as PNG or NPY", s->name);
}

atn_status image_tiff_open(source *s, tiff_pages **out) {
    *out = NULL;
    return missing(s);
}

int64_t image_tiff_count(const tiff_pages *pages) {
    (void)pages;
    return 0;
}

atn_status image_tiff_page(tiff_pages *pages, raster *out) {
    (void)pages, (void)out;
    return ATN_ERR_UNSUPPORTED; /* none was opened */
}

void image_tiff_close(tiff_pages *pages) { (void)pages; }

atn_status image_tiff_read(source *s, const atn_image_settings *options, raster *out) {
    (void)options, (void)out;
    return missing(s);
}

#else

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

/* ---- what libtiff reads: the file anywhere, or bytes ---- */

static tmsize_t read_part(thandle_t handle, void *to, tmsize_t wanted) {
    tiff_pages *pages = handle;
    const source *s = pages->s;
    if (wanted <= 0 || pages->at >= s->size) return 0;
    size_t bytes = (size_t)wanted < s->size - pages->at ? (size_t)wanted : s->size - (size_t)pages->at, done = 0;
    if (s->fd < 0) {
        memcpy(to, s->bytes + pages->at, bytes);
        done = bytes;
    }
    while (done < bytes) {
        ssize_t got = pread(s->fd, (char *)to + done, bytes - done, (off_t)(pages->at + done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break; /* libtiff says that it read less */
        done += (size_t)got;
    }
    pages->at += done;
    return (tmsize_t)done;
}

static tmsize_t write_part(thandle_t handle, void *from, tmsize_t bytes) {
    (void)handle, (void)from, (void)bytes;
    return 0;
}

static toff_t seek(thandle_t handle, toff_t offset, int whence) {
    tiff_pages *pages = handle;
    pages->at = whence == SEEK_SET ? offset : whence == SEEK_CUR ? pages->at + offset : pages->s->size + offset;
    return pages->at;
}

static int close_nothing(thandle_t handle) {
    (void)handle;
    return 0;
}

static toff_t size_of(thandle_t handle) { return ((const tiff_pages *)handle)->s->size; }

/* ---- what libtiff says ---- */

static void put_line(char *to, size_t room, const char *format, va_list args) {
    vsnprintf(to, room, format, args);
    for (char *c = to; *c; ++c)
        if (*c < ' ' || *c > '~') *c = '?'; /* bytes of the file may be quoted there */
}

static int on_error(TIFF *tiff, void *user, const char *module, const char *format, va_list args) {
    (void)tiff, (void)module;
    tiff_pages *pages = user;
    if (!pages->failed) put_line(pages->said, sizeof pages->said, format, args);
    pages->failed = true;
    return 1; /* it is done: no other handler is asked */
}

/* libtiff goes on where a tag lies outside the file, and takes a palette without its colours for grey: we do not. */
static int on_warning(TIFF *tiff, void *user, const char *module, const char *format, va_list args) {
    (void)tiff, (void)module;
    tiff_pages *pages = user;
    char line[sizeof pages->said];
    put_line(line, sizeof line, format, args);
    if (!pages->failed && (strstr(line, "IO error") || strstr(line, "ColorMap"))) {
        pages->failed = true;
        memcpy(pages->said, line, sizeof line);
    }
    atn_log(pages->s->ctx, ATN_LOG_INFO, "%s: libtiff says: %s", pages->s->name, line);
    return 1;
}

/* ---- pages ---- */

static atn_status open_handle(tiff_pages *pages) {
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (!options) return atn_fail_memory(pages->s->ctx, 1, "libtiff");
    TIFFOpenOptionsSetErrorHandlerExtR(options, on_error, pages);
    TIFFOpenOptionsSetWarningHandlerExtR(options, on_warning, pages);
    /* What libtiff may allocate at once: tables and packed strips, which are in the file. */
    size_t most = pages->s->size < PTRDIFF_MAX / 32 ? pages->s->size * 16 + (1 << 20) : PTRDIFF_MAX;
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, (tmsize_t)most);
    pages->tiff = TIFFClientOpenExt(pages->s->name, "rm", pages, read_part, write_part, seek, close_nothing, size_of,
                                    NULL, NULL, options);
    TIFFOpenOptionsFree(options);
    if (!pages->tiff) return tiff_wrong(pages, "it cannot be opened");
    pages->count = TIFFNumberOfDirectories(pages->tiff);
    return pages->failed || pages->count < 1 ? tiff_wrong(pages, "its pages cannot be counted") : ATN_OK;
}

atn_status image_tiff_open(source *s, tiff_pages **out) {
    *out = NULL;
    tiff_pages *pages = atn_zalloc(s->ctx, sizeof *pages);
    if (!pages) return ATN_ERR_MEMORY;
    pages->s = s;
    atn_status status = open_handle(pages);
    if (status == ATN_OK)
        *out = pages;
    else
        image_tiff_close(pages);
    return status;
}

int64_t image_tiff_count(const tiff_pages *pages) { return pages->count; }

atn_status image_tiff_page(tiff_pages *pages, raster *out) {
    bool there = pages->next == 0 || TIFFReadDirectory(pages->tiff);
    ++pages->next;
    return there ? tiff_pixels(pages, out) : tiff_wrong(pages, "a page is missing");
}

void image_tiff_close(tiff_pages *pages) {
    if (!pages) return;
    if (pages->tiff) TIFFClose(pages->tiff);
    atn_free(pages->s->ctx, pages);
}

atn_status image_tiff_read(source *s, const atn_image_settings *options, raster *out) {
    tiff_pages *pages;
    atn_status status = image_tiff_open(s, &pages);
    if (status != ATN_OK) return status;
    int64_t page = options->page;
    if (page >= pages->count)
        status = atn_fail(s->ctx, ATN_ERR_INPUT, "%s: page %lld of a file of %lld; pages are counted from 0", s->name,
                          (long long)page, (long long)pages->count);
    else if (page && !TIFFSetDirectory(pages->tiff, (tdir_t)page))
        status = tiff_wrong(pages, "the page cannot be found");
    else
        status = tiff_pixels(pages, out);
    out->pages = pages->count;
    image_tiff_close(pages);
    return status;
}

#endif
