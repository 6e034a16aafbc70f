/* The options that all verbs accept, and the program's description of itself. Help, man page and completion show
 * them. */
#include "cli/cli.h"

#include "cloud/formats.h"

#include <string.h>

const atn_cli_option ATN_CLI_GLOBALS[] = {
    ATN_OPTION("device", "NAME", "the device: an index, a backend, or part of its name"),
    ATN_FLAG("json", "print one JSON object on standard output and nothing else there"),
    ATN_FLAG("verbose", "show what the library reports, on standard error"),
    ATN_FLAG("help", "show this help", .letter = 'h'),
    {0},
};

const atn_cli_option ATN_CLI_FRONT[] = {
    ATN_FLAG("version", "show the version"),
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

void atn_cli_fill(atn_text *to, const char *paragraph) {
    static const char *const WORDS[] = {"@READ@", "@WRITTEN@"};
    for (const char *at = paragraph; *at;) {
        size_t bytes = strcspn(at, "@");
        atn_text_add_bytes(to, at, bytes);
        at += bytes;
        int word = 0;
        while (word < 2 && strncmp(at, WORDS[word], strlen(WORDS[word])) != 0) ++word;
        if (word < 2)
            cloud_format_endings(word == 1, to);
        else
            atn_text_add_bytes(to, at, *at != '\0');
        at += word < 2 ? strlen(WORDS[word]) : *at != '\0';
    }
}

void atn_cli_environment(atn_cli_pair out[ATN_ENV_VARIABLES + 1]) {
    for (int k = 0; k <= ATN_ENV_VARIABLES; ++k)
        out[k] = (atn_cli_pair){ATN_ENVIRONMENT[k].name, ATN_ENVIRONMENT[k].meaning};
}

const atn_cli_verb *atn_cli_find_verb(const atn_cli_verb *const *verbs, const char *name) {
    for (; *verbs; ++verbs)
        if (strcmp((*verbs)->name, name) == 0) return *verbs;
    return NULL;
}
