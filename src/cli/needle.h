/* Between the files of attune needle. */
#ifndef ATN_CLI_NEEDLE_H
#define ATN_CLI_NEEDLE_H

#include "cli/cli.h"

#include <attune/needle.h>

json_t *atn_cli_needle_json(atn_cli_call *call, const atn_needle_result *result); /* NULL: no memory */
atn_status atn_cli_needle_text(atn_cli_call *call, const atn_needle_result *result);

#endif
