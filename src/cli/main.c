/* The process: its context, signals, stack and standard files. Everything else is done by atn_cli_run. */
#include "cli/cli.h"

#include "base/leftover.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

/* ---- signals ---- */

/* From being asked to stop to being ended: what a kernel or a foreign library may take. */
static const struct itimerval GRACE = {.it_value = {.tv_usec = 700000}}, NONE = {.it_value = {0}};

static atn_ctx *process_ctx;
static atomic_bool asked;  /* handlers may run on several threads at once */
static char farewell[128]; /* what a verb that is ended says, made beforehand: handlers cannot print */

/* The first Ctrl-C requests cancellation, so that measurements are kept. The second one, or another signal, ends the
 * process as it would without this handler, except that nothing is left behind. */
static void ask_to_stop(int number) {
    if (!atomic_exchange(&asked, true)) {
        atn_ctx_cancel(process_ctx);
        setitimer(ITIMER_REAL, &GRACE, NULL); /* a plain system call, as alarm is */
        return;
    }
    atn_leftover_remove_all();
    signal(number, SIG_DFL);
    raise(number);
}

/* Nothing of ours takes this long to notice; a launch of a kernel may. It ends as if it had noticed. */
static void end_now(int number) {
    (void)number;
    atn_leftover_remove_all();
    ssize_t put = isatty(STDERR_FILENO) ? write(STDERR_FILENO, "\r\033[K", 4) : 0; /* the progress */
    put += write(STDERR_FILENO, farewell, strlen(farewell));
    (void)put;
    _exit(1);
}

static void handle(int number, void (*handler)(int)) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = (int)SA_NODEFER};
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

static void set_signals(const char *verb) {
    struct sigaction before;
    snprintf(farewell, sizeof farewell, "attune %.64s: stopped on request\n", verb);
    handle(SIGALRM, end_now);
    handle(SIGINT, ask_to_stop);
    handle(SIGTERM, ask_to_stop);
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN) handle(SIGHUP, ask_to_stop); /* nohup */
    handle(SIGPIPE, SIG_IGN); /* a closed pipe shows as a failed write, */
    handle(SIGXFSZ, SIG_IGN); /* and so does a file that is as large as files may be */
}

/* Too late to stop anything: what follows is freeing. */
static void reset_signals(void) {
    setitimer(ITIMER_REAL, &NONE, NULL);
    static const int NUMBERS[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t k = 0; k < sizeof NUMBERS / sizeof *NUMBERS; ++k) handle(NUMBERS[k], SIG_DFL);
}

/* ---- the stack ---- */

enum { STACK = 8 << 20, SMALL = 1 << 20 };

typedef struct run {
    int argc, code;
    char **argv;
} run;

static void *run_verb(void *user) {
    run *r = user;
    r->code = atn_cli_run(process_ctx, ATN_CLI_VERBS, r->argc, r->argv, stdout, stderr);
    return NULL;
}

/* On a thread with a stack of its own size, as all threads made later have, whatever the limit (ulimit -s) is. */
static bool run_aside(run *r, size_t bytes) {
    pthread_attr_t attributes;
    pthread_t thread;
    if (pthread_attr_init(&attributes) != 0) return false;
    bool good = pthread_attr_setstacksize(&attributes, bytes) == 0 && pthread_setattr_default_np(&attributes) == 0 &&
                pthread_create(&thread, &attributes, run_verb, r) == 0;
    pthread_attr_destroy(&attributes);
    if (good) pthread_join(thread, NULL);
    return good;
}

static void run_anyhow(run *r) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= SMALL)
        run_verb(r);
    else if (!run_aside(r, STACK) && !run_aside(r, SMALL))
        fprintf(stderr,
                "attune: could not start: the stack is limited to %llu kB and there is no memory for another; 'ulimit "
                "-s 1024' would do\n",
                (unsigned long long)limit.rlim_cur / 1024);
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
    atn_ctx_settings options = {.log = atn_cli_log, .log_user = stderr};
    atn_status status = atn_ctx_create(&options, &process_ctx);
    if (status) {
        fprintf(stderr, "attune: could not start: %s\n", atn_status_name(status));
        return 1;
    }
    run r = {.argc = argc, .code = 1, .argv = argv};
    set_signals(argc > 1 ? argv[1] : "");
    run_anyhow(&r);
    reset_signals();
    atn_ctx_free(process_ctx);
    return r.code;
}
