/* Output on standard error while a verb works: the library's log lines and one line of progress. */
#include "cli/cli.h"

#include "base/clock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
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

/* How long the rest takes where so much of a part was done in so long; "" where that says nothing yet. */
static void print_left(double elapsed_s, double share, char *text, size_t bytes) {
    double left = share > 0 ? elapsed_s * (1 - share) / share : 0;
    *text = '\0';
    if (elapsed_s < 0.5 || !(share > 0) || share >= 1) return;
    if (left >= 90)
        snprintf(text, bytes, ", %.0f min left", left / 60);
    else
        snprintf(text, bytes, ", %.0f s left", left);
}

void atn_cli_print_share(double elapsed_s, double share, char *text, size_t bytes) {
    char left[32];
    double part = share < 0 ? 0 : share > 1 ? 1 : share;
    print_left(elapsed_s, part, left, sizeof left);
    snprintf(text, bytes, "%.0f %%%s", 100 * part, left);
}

static bool show_progress(atn_cli_call *call, const atn_progress *now) {
    static const double EVERY_S = 0.1;
    double clock = atn_clock_seconds(), share = now->count > 0 ? (double)now->done / (double)now->count : 0;
    char so_far[48];
    if (strncmp(call->watch.doing, now->doing, sizeof call->watch.doing - 1) != 0) {
        snprintf(call->watch.doing, sizeof call->watch.doing, "%s", now->doing);
        call->watch.since_s = clock;
        call->watch.shown_s = 0;
    }
    if (clock - call->watch.shown_s < EVERY_S) return true;
    call->watch.shown_s = clock;
    if (call->watch.listener) call->watch.listener(call->watch.listener_user, now, share);
    atn_cli_print_share(clock - call->watch.since_s, share, so_far, sizeof so_far);
    if (now->count > 0)
        atn_cli_progress(call, "%s: %s", now->doing, so_far);
    else
        atn_cli_progress(call, "%s ...", now->doing);
    return true;
}

/* Threads that read say so, too. */
bool atn_cli_show_progress(void *call, const atn_progress *now) {
    static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&one);
    bool goes_on = show_progress(call, now);
    pthread_mutex_unlock(&one);
    return goes_on;
}

void atn_cli_show_share(atn_cli_call *call, const char *doing, double share) {
    enum { FINE = 10000 };
    atn_cli_show_progress(call, &(atn_progress){.doing = doing, .done = (int64_t)(share * FINE), .count = FINE});
}

void atn_cli_progress_end(const atn_cli_call *call) { erase_progress(call->err); }
