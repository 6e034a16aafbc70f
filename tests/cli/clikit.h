/* What the tests of the program share: running it in this process, with all that it printed. */
#ifndef ATN_CLIKIT_H
#define ATN_CLIKIT_H

#include "testkit.h"

#include "cli/cli.h"
#include "num/npy.h"

#include <stdio.h>

extern atn_ctx *cli_ctx; /* what lines run in */
extern char *cli_dir;    /* the directory of the test */

/* Both made and removed, for a group or a test: cmocka's setup and teardown. A test may also set and free its own. */
int cli_begin(void **state);
int cli_end(void **state);

/* The same for what tunes: wisdom of its own in the directory, and workers that are the program as it was built. */
int cli_begin_tuning(void **state);
int cli_end_tuning(void **state);

void cli_put(const char *name, const char *text); /* a file in the directory */
void cli_save(const char *name, atn_type type, int32_t rank, int64_t columns, int64_t rows, void *data); /* NPY there */
atn_npy cli_load(const char *name);                                                                      /* and back */

/* One cache for all tests of a group: what the first built and measured, the others find. */
extern char *cli_cache;
int cli_cache_begin(void **state);
int cli_cache_end(void **state);

/* What a run left behind. */
typedef struct cli_result {
    int code;
    char *out, *err; /* owned: cli_drop */
} cli_result;
void cli_drop(cli_result *result);

/* Runs `attune LINE`, words apart by blanks; @ stands for cli_dir, $ for tests/data. */
cli_result cli_run(const char *line);
/* The same with standard output elsewhere, closed here; result.out is NULL. */
cli_result cli_run_to(const char *line, FILE *out);
/* Runs words as they are, argv[0] included; NULL ends them. */
cli_result cli_run_words(char **argv);

/* Runs; must end well and print `part`, and no error. */
void cli_does(const char *line, const char *part);
/* Runs; must end well and print one JSON object, which is the caller's. */
json_t *cli_object(const char *line);
/* Runs; must end with `code` and one line of error that contains `part`. */
void cli_refuses(const char *line, int code, const char *part);

/* A table of calls that are refused, and print nothing else. */
typedef struct cli_refusal {
    const char *line;
    int code;
    const char *part;
} cli_refusal;
void cli_refuses_all(const cli_refusal *cases, size_t count);

size_t cli_lines(const char *text); /* that end */

#endif
