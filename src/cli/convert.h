/* Shared by convert.c (points) and convert_volume.c. */
#ifndef ATN_CLI_CONVERT_H
#define ATN_CLI_CONVERT_H

#include "cli/cli.h"

/* OUT, the last operand, ends with vti. */
atn_status atn_cli_convert_volume(atn_cli_call *call);

#endif
