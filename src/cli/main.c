/* The process: its context, its signals, its standard files. All else is atn_cli_run's. */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static atn_ctx *process_ctx;

/* The first Ctrl-C asks politely, so that what was measured is kept; SA_RESETHAND lets the second one end it. */
static void ask_to_stop(int number) {
    (void)number;
    atn_ctx_cancel(process_ctx);
}

static void set_signals(void) {
    struct sigaction stop = {.sa_handler = ask_to_stop, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&stop.sa_mask);
    sigaction(SIGINT, &stop, NULL);
    sigaction(SIGTERM, &stop, NULL);
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigemptyset(&ignore.sa_mask);
    sigaction(SIGPIPE, &ignore, NULL); /* a closed pipe shows as a failed write */
}

/* Called with standard files closed, the next file opened would take their numbers, and a cache file would get
 * what was meant for the terminal. Opened the wrong way round, writing to them fails as it should. */
static void hold_standard_files(void) {
    for (int descriptor = 0; descriptor < 3; ++descriptor) {
        if (fcntl(descriptor, F_GETFD) != -1 || errno != EBADF) continue;
        if (open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY) != descriptor) exit(1);
    }
}

int main(int argc, char **argv) {
    hold_standard_files();
    atn_options options = {.log = atn_cli_log, .log_user = stderr};
    atn_status status = atn_ctx_create(&options, &process_ctx);
    if (status) {
        fprintf(stderr, "attune: could not start: %s\n", atn_status_name(status));
        return 1;
    }
    set_signals();
    int code = atn_cli_run(process_ctx, argc, argv, stdout, stderr);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    atn_ctx_free(process_ctx);
    return code;
}
