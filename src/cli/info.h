/* attune info, by kind of file: between info.c, info_cloud.c, info_ranges.c and info_image.c. */
#ifndef ATN_CLI_INFO_H
#define ATN_CLI_INFO_H

#include "cli/cli.h"

#include <attune/cloud.h>

/* Each reads the file as what its name says, and prints what it is. */
atn_status atn_cli_info_cloud(atn_cli_call *call, const char *path);
atn_status atn_cli_info_ranges(atn_cli_call *call, const char *path);
/* shape: of raw files, rows and columns, or scans, rows and columns; NULL: the file says what it is. */
atn_status atn_cli_info_image(atn_cli_call *call, const char *path, const int64_t *shape);
atn_status atn_cli_info_volume(atn_cli_call *call, const char *path, const int64_t *shape);

#endif
