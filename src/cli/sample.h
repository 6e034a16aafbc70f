/* Subjects of attune sample, one file each: sample_SUBJECT.c. */
#ifndef ATN_CLI_SAMPLE_H
#define ATN_CLI_SAMPLE_H

#include "cli/cli.h"

/* A subject reads its options, calls atn_cli_sample_begin, writes its files, and fills `truth`, an object, with what is
 * true of them; sample.c writes it to truth.json, last of all. */
typedef struct atn_cli_sample {
    atn_cli_call *call;
    const char *folder; /* --output */
    uint64_t seed;
    json_t *truth;
} atn_cli_sample;

/* Makes the folder, once nothing is wrong with what was asked for. */
atn_status atn_cli_sample_begin(const atn_cli_sample *sample);
/* "FOLDER/NAME"; NULL: no memory. Owned by the caller (atn_free). */
char *atn_cli_sample_path(const atn_cli_sample *sample, const char *name);

/* The subjects. */
atn_status atn_cli_sample_scans(atn_cli_sample *sample);
atn_status atn_cli_sample_atoms(atn_cli_sample *sample);

#endif
