/* The table of verbs, the options that all of them take, and what the program says of itself. Help, man page
 * and completion are made from these tables. */
#include "cli/cli.h"

#include <string.h>

const atn_cli_verb *const ATN_CLI_VERBS[] = {
    &ATN_VERB_REGISTER,   &ATN_VERB_NEEDLE,
    &ATN_VERB_UNWRAP,     &ATN_VERB_LATTICE,
    &ATN_VERB_CONVERT,    &ATN_VERB_SAMPLE,
    &ATN_VERB_INFO,       &ATN_VERB_DEVICES,
    &ATN_VERB_SELFTEST,   &ATN_VERB_RUN,
    &ATN_VERB_CHECK,      &ATN_VERB_SHOW,
    &ATN_VERB_TUNE,       &ATN_VERB_WISDOM,
    &ATN_VERB_SPACE,      &ATN_VERB_REPLAY,
    &ATN_VERB_WORKER,     &ATN_VERB_BENCH,
    &ATN_VERB_HELP,       &ATN_VERB_MAN,
    &ATN_VERB_COMPLETION, NULL,
};

const atn_cli_option ATN_CLI_GLOBALS[] = {
    {.name = "device", .value = "NAME", .meaning = "the device: an index, a backend, or part of its name"},
    {.name = "json", .meaning = "print one JSON object on standard output and nothing else there"},
    {.name = "verbose", .meaning = "show what the library reports, on standard error"},
    {.name = "help", .letter = 'h', .meaning = "show this help"},
    {0},
};

const atn_cli_option ATN_CLI_FRONT[] = {
    {.name = "version", .meaning = "show the version"},
    {0},
};

const char ATN_CLI_SUMMARY[] = "self-optimizing kernels for point registration and optical metrology";

const char *const ATN_CLI_ABOUT[] = {
    "attune is an engine for point set registration and optical metrology that generates its own device code, measures "
    "which variant is the fastest, and remembers it. It registers point clouds, unwraps phase, tracks needles in OCT "
    "volumes and finds crystal structures in atom probe data, and it runs kernels and programs of your own, on the "
    "CPU, on OpenCL and on CUDA devices.",
    "No GPU is required: OpenCL and CUDA are loaded at run time if they are installed.",
    NULL,
};

const atn_cli_pair ATN_CLI_EXIT_CODES[] = {
    {"0", "success"},
    {"1", "failed; the reason is one line on standard error"},
    {"2", "wrong usage"},
    {0},
};

const atn_cli_pair ATN_CLI_ENVIRONMENT[] = {
    {"ATTUNE_CC", "C compiler for code on the CPU; default: gcc, clang or cc"},
    {"ATTUNE_WISDOM", "database of tuning results; default: wisdom.sqlite in the cache"},
    {"XDG_CACHE_HOME", "location of the cache: attune/ in it; default: ~/.cache"},
    {0},
};

const atn_cli_verb *atn_cli_find_verb(const char *name) {
    for (const atn_cli_verb *const *verb = ATN_CLI_VERBS; *verb; ++verb)
        if (strcmp((*verb)->name, name) == 0) return *verb;
    return NULL;
}
