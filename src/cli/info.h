/* attune info, by kind of file: between info.c, info_cloud.c, info_ranges.c and info_image.c. */
#ifndef ATN_CLI_INFO_H
#define ATN_CLI_INFO_H

#include "cli/cli.h"

#include <attune/frame.h>
#include <attune/ranges.h>

/* Each reads the file as what its name says, and prints what it is. */
atn_status atn_cli_info_cloud(atn_cli_call *call, const char *path);
atn_status atn_cli_info_ranges(atn_cli_call *call, const char *path);
/* shape: of raw files, rows and columns, or scans, rows and columns; NULL: the file says what it is. */
atn_status atn_cli_info_image(atn_cli_call *call, const char *path, const int64_t *shape);
atn_status atn_cli_info_volume(atn_cli_call *call, const char *path, const int64_t *shape);

/* The mass spectrum of a frame: peaks, and with --ranges the composition. Owned by the caller. */
typedef struct atn_cli_masses atn_cli_masses;
atn_status atn_cli_masses_read(atn_cli_call *call, atn_frame *frame, atn_cli_masses **out);
void atn_cli_masses_free(atn_cli_masses *masses); /* NULL is fine */
void atn_cli_masses_text(const atn_cli_masses *masses, atn_text *page);
bool atn_cli_masses_json(const atn_cli_masses *masses, json_t *root); /* false: no memory */

#endif
