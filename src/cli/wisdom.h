/* Shared by the actions of attune wisdom: the database, and the properties of this machine and version. */
#ifndef ATN_CLI_WISDOM_H
#define ATN_CLI_WISDOM_H

#include "cli/cli.h"
#include "wisdom/wisdom.h"

typedef struct atn_cli_wisdom {
    atn_cli_call *call;
    atn_wisdom *wisdom;       /* owned; NULL: there is none yet */
    atn_devices *devices;     /* owned; of this machine, to tell what is stale */
    atn_wisdom_key *now;      /* owned; their names and drivers, as keys have them */
    atn_wisdom_filter filter; /* of --kernel, --device and --stale */
} atn_cli_wisdom;

/* A kernel's entries and rows (wisdom_list.c). */
atn_status atn_cli_wisdom_list(atn_cli_wisdom *self);
atn_status atn_cli_wisdom_show(atn_cli_wisdom *self);

#endif
