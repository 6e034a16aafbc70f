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
    "attune is an engine for point set registration and optical metrology that makes its own device code, measures "
    "which variant of it is the fastest, and remembers. This version aligns point clouds, and runs kernels that are "
    "described in XML, on the CPU, on OpenCL devices and on CUDA devices.",
    "Nothing needs a GPU: OpenCL and CUDA are loaded at run time when they are there.",
    NULL,
};

const atn_cli_pair ATN_CLI_EXIT_CODES[] = {
    {"0", "done"},
    {"1", "could not; the reason stands on one line on standard error"},
    {"2", "wrong usage"},
    {0},
};

const atn_cli_pair ATN_CLI_ENVIRONMENT[] = {
    {"ATTUNE_CC", "C compiler for code on the CPU; else gcc, clang or cc"},
    {"ATTUNE_WISDOM", "database of what was measured; else wisdom.sqlite in the cache"},
    {"XDG_CACHE_HOME", "what was built and measured is kept in attune/ there"},
    {0},
};

const atn_cli_verb *atn_cli_find_verb(const char *name) {
    for (const atn_cli_verb *const *verb = ATN_CLI_VERBS; *verb; ++verb)
        if (strcmp((*verb)->name, name) == 0) return *verb;
    return NULL;
}
