/* The program's frame: verbs and options as rows of tables, one call of a verb, and how it prints and fails.
 * A verb is one file with one const atn_cli_verb in it, and one row in verbs.c. */
#ifndef ATN_CLI_CLI_H
#define ATN_CLI_CLI_H

#include "base/context.h"
#include "base/environment.h"
#include "base/hash.h"
#include "base/suggest.h"
#include "base/text.h"
#include "plot/page.h"
#include "ranks/ranks.h"

#include <attune/device.h>

#include <jansson.h>
#include <stdio.h>

/* An option. A table of them ends with a row whose name is NULL. */
typedef struct atn_cli_option {
    const char *name;    /* long form, without its dashes */
    char letter;         /* short form, or 0 */
    const char *value;   /* what its value is: "FILE", "NAME", or words to choose from: "rigid|affine"; NULL: a flag */
    const char *meaning; /* one line, no full stop */
    bool repeats;        /* may be given more than once */
    bool optional;       /* its value, a whole number, may be left out */
    const char *only;    /* first operands that it is for: "trust, covariance"; NULL: any */
    const char *with;    /* an option without which it means nothing; or NULL */
} atn_cli_option;

/* Rows of a table of options: with a value, and without; further fields may follow. */
#define ATN_OPTION(named, valued, means, ...)                                                                          \
    { .name = named, .value = valued, .meaning = means, __VA_ARGS__ }
#define ATN_FLAG(named, means, ...)                                                                                    \
    { .name = named, .meaning = means, __VA_ARGS__ }

typedef struct atn_cli_call atn_cli_call;

/* A line that explains another: an example and what it does, a variable and what it sets. */
typedef struct atn_cli_pair {
    const char *left, *right; /* a table of pairs ends with left NULL */
} atn_cli_pair;

typedef struct atn_cli_verb {
    const char *name;
    const char *summary;           /* one line, no full stop */
    const char *synopsis;          /* what follows "attune NAME", options left out: "SOURCE TARGET"; may be "" */
    const char *const *paragraphs; /* ends with NULL; each is one line, however long */
    const atn_cli_option *options; /* its own, beside those that every verb takes */
    const atn_cli_pair *examples;
    size_t min_operands, max_operands;
    bool ranks;  /* several ranks share its work, under mpirun and srun */
    bool hidden; /* for the build, not for people: left out of help, man page and completion */
    /* Does the work. What it returns becomes the exit status: ATN_OK 0, else 1 with the context's sentence. */
    atn_status (*run)(atn_cli_call *call);
} atn_cli_verb;

/* An option as it was given. */
typedef struct atn_cli_given {
    const atn_cli_option *option;
    const char *value; /* NULL for a flag */
} atn_cli_given;

/* One call of the program. */
struct atn_cli_call {
    atn_ctx *ctx;
    int argc; /* the command line, as main got it */
    char **argv;
    FILE *out, *err;
    const atn_cli_verb *const *verbs; /* that there are; ends with NULL */
    const atn_cli_verb *verb;         /* NULL: none was named */
    const char **operands;            /* what is no option, behind the verb */
    size_t n_operands;
    atn_cli_given *given; /* options in the order they came */
    size_t n_given;
    struct {            /* what the library reports of long work, as it is shown */
        char doing[48]; /* the part that is under way */
        double since_s; /* when it began */
        double shown_s; /* when it was shown last */
        void (*listener)(void *user, const atn_progress *now, double share); /* share of all: 0 to 1; or NULL */
        void *listener_user;
    } watch;
    atn_ranks *ranks; /* of a verb whose work ranks share: who they are; NULL: of another */
    FILE *nowhere;    /* what `out` and `err` are on ranks that do not speak, or NULL; owned */
    bool json;        /* print one JSON object and nothing else */
    bool printed;     /* an object has been printed */
    bool misused;     /* the failure is one of usage: exit 2 */
};

/* Runs the program once: what main does, without touching the process. 0 done, 1 could not, 2 wrong usage. `verbs` is
 * ATN_CLI_VERBS: only who knows all verbs names the table, so that no verb depends on the others. */
int atn_cli_run(atn_ctx *ctx, const atn_cli_verb *const *verbs, int argc, char **argv, FILE *out, FILE *err);

/* ---- the tables (verbs.c; about.c) ---- */
extern const atn_cli_verb *const ATN_CLI_VERBS[]; /* ends with NULL */
extern const atn_cli_option ATN_CLI_GLOBALS[];    /* options of every verb */
extern const atn_cli_option ATN_CLI_FRONT[];      /* options that stand where a verb would */
extern const char *const ATN_CLI_ABOUT[];         /* what attune is; ends with NULL */
extern const char ATN_CLI_SUMMARY[];              /* the same in one line */
extern const atn_cli_pair ATN_CLI_EXIT_CODES[];
void atn_cli_environment(atn_cli_pair out[ATN_ENV_VARIABLES + 1]); /* the variables that attune reads */
const atn_cli_verb *atn_cli_find_verb(const atn_cli_verb *const *verbs, const char *name); /* NULL: there is none */

/* ---- options (options.c) ---- */
/* Fills verb, operands, given and json. All memory is call->given's and call->operands'; both are freed by the
 * caller, after a failure too. `verbs` ends with NULL. */
atn_status atn_cli_parse(atn_cli_call *call, const atn_cli_verb *const *verbs, int argc, char **argv);
bool atn_cli_has(const atn_cli_call *call, const char *name);
const char *atn_cli_value(const atn_cli_call *call, const char *name); /* the last one given, or NULL */
/* Each value of an option that repeats: start *at with 0; NULL after the last. */
const char *atn_cli_next(const atn_cli_call *call, const char *name, size_t *at);
/* A number of an option, in [least, most]; `fallback` where it is not given; else wrong usage. */
atn_status atn_cli_read_number(atn_cli_call *call, const char *name, double least, double most, double fallback,
                               double *out);
/* A whole number up to 2^53 of an option; `fallback` where it is not given; else wrong usage. */
atn_status atn_cli_read_whole(atn_cli_call *call, const char *name, double least, double fallback, double *out);
/* A length of an option in metres: a number, or one with pm, nm, um, µm, mm, cm or m behind it; in [least, most]. */
atn_status atn_cli_read_length(atn_cli_call *call, const char *name, double least, double most, double fallback,
                               double *out);
/* Bytes of an option, 500M, 4G or 2e9; *out stays where it is not given. */
atn_status atn_cli_read_bytes(atn_cli_call *call, const char *name, size_t *out);
/* "60", "60s", "1.5m", "2h": above 0, or false. */
bool atn_cli_read_duration(const char *text, double *seconds);
/* "512x1024" or "128x512x1024": how many numbers, each above 0. 0: it is no shape. */
int atn_cli_read_shape(const char *text, int64_t shape[3]);
/* Options as they were given, in any order, but for some, added to a hash: does a journal belong to this call? */
atn_hash atn_cli_hash_options(const atn_cli_call *call, atn_hash before, const char *const *except, size_t count);
/* Does one of the words of "rigid|similarity|FILE" match? A word in capitals stands for anything,
 * and so do capitals behind a colon: "zernike:N". */
bool atn_cli_choice_allows(const char *choices, const char *value);

/* ---- files.c ---- */
/* Options that name files which are written at the end, each another one: can they be? */
atn_status atn_cli_check_files(atn_cli_call *call, const char *const *names, size_t count);
atn_status atn_cli_check_report(atn_cli_call *call);           /* --report alone */
char *atn_cli_folder_of(const atn_ctx *ctx, const char *path); /* that a file is in; owned by the caller */

/* ---- ranks (ranks.c) ---- */
/* By all ranks, each of which has a command line: refused where they were asked for different things. */
atn_status atn_cli_same_options(atn_cli_call *call);
/* By all ranks; refused where they would choose other variants of kernels. */
atn_status atn_cli_same_wisdom(atn_cli_call *call);

/* ---- failing and telling (options.c, terminal.c) ---- */
/* Leaves the sentence and makes the exit status 2. */
atn_status atn_cli_misuse(atn_cli_call *call, const char *format, ...) ATN_PRINTF(2, 3);
/* The context's log: warnings as one line each, the rest when --verbose is given. `user` is the FILE to print to. */
void atn_cli_log(void *user, atn_log_level level, const char *line);
void atn_cli_log_verbose(bool verbose);
/* One line that is overwritten by the next, on a terminal only. */
void atn_cli_progress(const atn_cli_call *call, const char *format, ...) ATN_PRINTF(2, 3);
void atn_cli_progress_end(const atn_cli_call *call);
/* "42 %, 13 s left": a share (0 to 1) that took so long so far. */
void atn_cli_print_share(double elapsed_s, double share, char *text, size_t bytes);
/* "matching: 42 %, 13 s left": for atn_ctx_on_progress, with a call. */
bool atn_cli_show_progress(void *call, const atn_progress *now);
void atn_cli_show_share(atn_cli_call *call, const char *doing, double share); /* the same; share: 0 to 1 */

/* ---- JSON (json.c) ---- */
/* Sends jansson's allocations through a context until the matching end; both around a whole run. */
void atn_cli_json_begin(atn_ctx *ctx);
void atn_cli_json_end(void);
atn_status atn_cli_json_status(const atn_ctx *ctx);              /* ATN_ERR_MEMORY once jansson was refused any */
json_t *atn_cli_json_text(const atn_ctx *ctx, const char *text); /* text of any origin; NULL: out of memory */
json_t *atn_cli_json_rate(double rate);                          /* null where there is none */
json_t *atn_cli_json_if(bool whole, json_t *root); /* root; NULL where it is not whole, and the reference is dropped */
/* Appends `root`, laid out for people, and a line break; NULL means that it could not be made. */
atn_status atn_cli_json_add(atn_text *to, const json_t *root);
/* Prints `root` and drops the reference; NULL means that it could not be made. */
atn_status atn_cli_print_json(atn_cli_call *call, json_t *root);
/* Prints a text, or with --json an object with the text under `key`. */
atn_status atn_cli_print_text(atn_cli_call *call, const char *key, const atn_text *text);

/* ---- layout (table.c) ---- */
/* A cell of a table and the tab behind it; tabs and line breaks inside become blanks. End a row with '\n'. */
void atn_cli_add_cell(atn_text *table, const char *cell);
/* Appends rows of cells as aligned columns; align has 'l' or 'r' per column. */
void atn_cli_add_table(atn_text *to, const char *table, const char *align);
/* A paragraph of a verb's help; @READ@ and @WRITTEN@ in it stand for the extensions of point formats. */
void atn_cli_fill(atn_text *to, const char *paragraph);
void atn_cli_add_wrapped(atn_text *to, const char *paragraph, size_t indent, size_t width);

/* ---- reports (origin.c) ---- */
typedef struct atn_cli_origin {
    atn_text command, machine;
    atn_page_origin page; /* both, for a page */
} atn_cli_origin;
void atn_cli_origin_make(const atn_cli_call *call, atn_cli_origin *out); /* ended with atn_cli_origin_free */
void atn_cli_origin_free(atn_cli_origin *origin);
/* Ends a page with where it comes from and writes it. */
atn_status atn_cli_page_write(const atn_cli_call *call, atn_text *page, const char *path);

/* ---- help (help.c) ---- */
void atn_cli_help_verb(atn_text *to, const atn_cli_verb *verb);
void atn_cli_help_all(atn_text *to, const atn_cli_verb *const *verbs);
atn_status atn_cli_print_help(atn_cli_call *call, const atn_cli_verb *verb); /* NULL: of the whole program */
/* "-o, --output FILE" */
void atn_cli_add_option_name(atn_text *to, const atn_cli_option *option);

/* ---- the verbs ---- */
extern const atn_cli_verb ATN_VERB_BENCH, ATN_VERB_CHECK, ATN_VERB_SHOW, ATN_VERB_RUN, ATN_VERB_INFO, ATN_VERB_WISDOM,
    ATN_VERB_SPACE, ATN_VERB_TUNE, ATN_VERB_WORKER, ATN_VERB_REPLAY, ATN_VERB_SAMPLE, ATN_VERB_REGISTER,
    ATN_VERB_NEEDLE, ATN_VERB_UNWRAP, ATN_VERB_LATTICE, ATN_VERB_CONVERT;
extern const atn_cli_verb ATN_VERB_DEVICES, ATN_VERB_SELFTEST, ATN_VERB_HELP, ATN_VERB_MAN, ATN_VERB_COMPLETION;

#endif
