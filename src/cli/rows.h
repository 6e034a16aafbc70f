/* Rows of a list that ranks work on in pieces, a queue of them on the first rank, which prints the results in the
 * order of rows; and a journal of what is done, from which a later run goes on. */
#ifndef ATN_CLI_ROWS_H
#define ATN_CLI_ROWS_H

#include "cli/cli.h"

/* What came out of rows from ... to - 1. Texts are those of the context that they were begun with. */
typedef struct atn_cli_rows_answer {
    size_t from, to;
    size_t failed;         /* of these rows, */
    atn_text first_failed; /* the first of them in words */
    atn_text printed;      /* for standard output */
    atn_text report;       /* rows of it */
} atn_cli_rows_answer;

typedef struct atn_cli_rows {
    atn_cli_call *call;
    size_t count, most;  /* rows; of a piece at most */
    const char *journal; /* path, or NULL: what is done is not kept */
    char key[40];        /* of this list with these options: a journal of another one is refused */
    /* Works on rows; adds to texts that are empty. A failure ends all. */
    atn_status (*work)(void *user, atn_cli_rows_answer *answer);
    /* On the first rank, in the order of rows; never two at a time. */
    atn_status (*tell)(void *user, const atn_cli_rows_answer *answer);
    void *user;
} atn_cli_rows;

/* By all ranks. */
atn_status atn_cli_rows_run(const atn_cli_rows *rows);

#endif
