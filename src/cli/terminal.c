/* What goes to standard error while a verb works: the library's log lines and one line of progress. */
#include "cli/cli.h"

#include <stdatomic.h>
#include <unistd.h>

static atomic_bool show_all;        /* --verbose */
static atomic_bool progress_stands; /* a progress line is on the terminal, without its line break */

static void erase_progress(FILE *err) {
    if (atomic_exchange(&progress_stands, false)) fputs("\r\033[K", err);
}

void atn_cli_log_verbose(bool verbose) { atomic_store(&show_all, verbose); }

void atn_cli_log(void *user, atn_log_level level, const char *line) {
    FILE *err = user;
    if (level < ATN_LOG_WARNING && !atomic_load(&show_all)) return;
    flockfile(err);
    erase_progress(err);
    fprintf(err, "attune: %s\n", line);
    funlockfile(err);
}

void atn_cli_progress(const atn_cli_call *call, const char *format, ...) {
    int descriptor = fileno(call->err);
    if (descriptor < 0 || !isatty(descriptor)) return;
    va_list args;
    va_start(args, format);
    flockfile(call->err);
    erase_progress(call->err);
    vfprintf(call->err, format, args);
    fflush(call->err);
    atomic_store(&progress_stands, true);
    funlockfile(call->err);
    va_end(args);
}

void atn_cli_progress_end(const atn_cli_call *call) { erase_progress(call->err); }
