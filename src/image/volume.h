/* Internals of volumes: shared by volume.c (whole volumes), volume_reader.c, volume_folder.c and volume_json.c. */
#ifndef ATN_IMAGE_VOLUME_H
#define ATN_IMAGE_VOLUME_H

#include "device/device.h"
#include "image/formats.h"

/* What volume.json says; zeros where it says nothing. */
typedef struct volume_notes {
    double spacing[3];
    int64_t shape[3];
    char unit[16];
} volume_notes;

/* Reads volume.json in the folder `path`, or in the folder of the file `path`. It need not be there. */
atn_status volume_notes_read(const atn_ctx *ctx, const char *path, bool folder, volume_notes *out);

/* The files of a folder that may be scans, as paths, in the order of people. Freed with volume_names_free. */
atn_status volume_names_read(const atn_ctx *ctx, const char *folder, char ***names, size_t *count);
/* The same, but none at all is fine. */
atn_status volume_names_any(const atn_ctx *ctx, const char *folder, char ***names, size_t *count);
void volume_names_free(const atn_ctx *ctx, char **names, size_t count);
int volume_compare_names(const char *a, const char *b); /* numbers count as numbers: 2 is before 10 */

/* What a volume is, wherever it lies. */
typedef struct volume_facts {
    char format[96], unit[16];
    size_t frames, height, width, frame_bytes;
    int32_t bits;
    double spacing[3];
} volume_facts;
atn_volume_info volume_info_of(const volume_facts *facts); /* its texts stay with the facts */

const volume_facts *volume_reader_facts(const atn_volume_reader *reader);
/* The next `count` scans, which must exist, one after the other. */
atn_status volume_reader_take(atn_volume_reader *reader, void *frames, size_t count);

const atn_ctx *volume_ctx(const atn_volume *volume);
atn_status volume_vti_write(const atn_volume *volume, const char *path);   /* VTK XML */
bool volume_is_pinned(const atn_volume *volume, const atn_device *device); /* it copies its scans without waiting */
void *volume_data(atn_volume *volume);                                     /* its scans, for whoever fills them */

/* Three numbers that are positive and finite, or three zeros: not known. */
bool volume_spacing_is_right(const double spacing[3]);

#endif
