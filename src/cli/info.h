/* attune info, by kind of file: between info.c and info_cloud.c. */
#ifndef ATN_CLI_INFO_H
#define ATN_CLI_INFO_H

#include "cli/cli.h"

#include <attune/cloud.h>

/* Reads the file as a point cloud and prints what it is. */
atn_status atn_cli_info_cloud(atn_cli_call *call, const char *path);

#endif
