/* The table of verbs. Help, man page and completion are made from it. */
#include "cli/cli.h"

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
