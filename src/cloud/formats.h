/* The table of formats, and the readers and writers that its rows name: one file for each format. */
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
} cloud_format;

extern const cloud_format CLOUD_FORMATS[]; /* ends with a row without name */

/* The format of a file by its first bytes, else by its name's ending; NULL: none. */
const cloud_format *cloud_format_of(const char *name, const char *head, size_t length);

/* As atn_cloud_read, for bytes in memory; the ending of `name` counts. */
atn_status atn_cloud_read_bytes(const atn_ctx *ctx, const char *name, const char *bytes, size_t length,
                                const atn_cloud_settings *options, atn_cloud **out);

/* The same for a source; keep: bits of cloud_keep. */
atn_status cloud_read_source(source *s, const atn_cloud_settings *options, unsigned keep, atn_cloud **out);
unsigned cloud_kept(const atn_cloud_settings *options); /* what is kept by default, or as the options say */

bool cloud_ply_begins(const char *head, size_t length);
bool cloud_pcd_begins(const char *head, size_t length);
bool cloud_npy_begins(const char *head, size_t length);
bool cloud_apt_begins(const char *head, size_t length);
bool cloud_las_begins(const char *head, size_t length);

bool cloud_npy_holds(const atn_cloud *cloud, const cloud_extra *extra);
bool cloud_las_holds(const atn_cloud *cloud, const cloud_extra *extra);

atn_status cloud_ply_read(source *s, atn_cloud *cloud);
atn_status cloud_pcd_read(source *s, atn_cloud *cloud);
atn_status cloud_npy_read(source *s, atn_cloud *cloud);
atn_status cloud_xyz_read(source *s, atn_cloud *cloud);
atn_status cloud_obj_read(source *s, atn_cloud *cloud);
atn_status cloud_stl_read(source *s, atn_cloud *cloud);
atn_status cloud_pos_read(source *s, atn_cloud *cloud);
atn_status cloud_epos_read(source *s, atn_cloud *cloud);
atn_status cloud_apt_read(source *s, atn_cloud *cloud);
atn_status cloud_las_read(source *s, atn_cloud *cloud);

atn_status cloud_ply_write(const atn_cloud *cloud, char separator, atn_text *out);
atn_status cloud_pcd_write(const atn_cloud *cloud, char separator, atn_text *out);
atn_status cloud_npy_write(const atn_cloud *cloud, char separator, atn_text *out);
atn_status cloud_xyz_write(const atn_cloud *cloud, char separator, atn_text *out);
atn_status cloud_pos_write(const atn_cloud *cloud, char separator, atn_text *out);
atn_status cloud_vtp_write(const atn_cloud *cloud, char separator, atn_text *out);
atn_status cloud_las_write(const atn_cloud *cloud, char separator, atn_text *out);

#endif
