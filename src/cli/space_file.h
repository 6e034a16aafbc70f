/* Spaces on the command line: LANAI, T1 JSON, or a shipped one, and --given. */
#ifndef ATN_CLI_SPACE_FILE_H
#define ATN_CLI_SPACE_FILE_H

#include "cli/cli.h"
#include "space/space.h"

/* Rows of a verb's table of options. */
#define ATN_CLI_SPACE_OPTIONS                                                                                          \
    {                                                                                                                  \
        .name = "given", .value = "MODULE.NAME=VALUE", .meaning = "what an import brings, e.g. kernel.points=2",       \
        .repeats = true                                                                                                \
    }

/* Reads and parses `file`. `import device` brings the caps of --device, or of the host; --given adds and overrules.
 * *out is owned by the caller. */
atn_status atn_cli_space_open(atn_cli_call *call, const char *file, atn_space **out);

/* A count as JSON: an integer, or its digits as a string where it is beyond 2^63. */
json_t *atn_cli_json_count(const atn_count *count);

#endif
