/* Child processes with line-based communication: posix_spawn, two pipes, poll. */
#include "tune/child.h"

#include "base/clock.h"
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { LOOK_MS = 50 };
enum { GRACE_MS = 400 };   /* for a worker to clean up; it takes a few */
enum { ENDING_MS = 1000 }; /* a process that ends closes its files a moment before it is to be reaped */

static int spawn(const char *const argv[], int in, int out, bool quiet, pid_t *pid) {
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (error) return error;
    error = posix_spawn_file_actions_adddup2(&actions, in, 0);
    if (!error) error = posix_spawn_file_actions_adddup2(&actions, out, 1);
    if (!error && quiet) error = posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    if (!error) error = atn_process_spawn(argv, environ, &actions, pid);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

atn_status atn_child_start(const atn_ctx *ctx, const char *const argv[], bool quiet, atn_child *out) {
    *out = (atn_child){.ctx = ctx, .to = -1, .from = -1, .heard = {.ctx = ctx}};
    int in[2], back[2];
    if (pipe2(in, O_CLOEXEC) != 0) return atn_fail(ctx, ATN_ERR_IO, "%s: no pipe: %s", argv[0], strerror(errno));
    if (pipe2(back, O_CLOEXEC) != 0) {
        atn_status status = atn_fail(ctx, ATN_ERR_IO, "%s: no pipe: %s", argv[0], strerror(errno));
        close(in[0]);
        close(in[1]);
        return status;
    }
    int error = spawn(argv, in[0], back[1], quiet, &out->pid);
    close(in[0]);
    close(back[1]);
    if (error) {
        close(in[1]);
        close(back[0]);
        out->pid = 0;
        return atn_fail(ctx, ATN_ERR_IO, "%s: cannot be run: %s", argv[0], strerror(error));
    }
    out->to = in[1];
    out->from = back[0];
    (void)fcntl(out->from, F_SETFL, O_NONBLOCK);
    (void)fcntl(out->to, F_SETFL, O_NONBLOCK);
    return ATN_OK;
}

/* Has it ended, or does it before a moment is over? */
static bool ends_soon(pid_t pid, int milliseconds) {
    for (int waited = 0; waited <= milliseconds; waited += 5) {
        siginfo_t info = {0};
        if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ? errno != EINTR : info.si_pid == pid)
            return true;
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    return false;
}

void atn_child_kill(atn_child *child) {
    if (!child->pid || child->killed) return;
    kill(child->pid, SIGTERM); /* it takes along the compiler that it runs, whose group is its own */
    (void)ends_soon(child->pid, GRACE_MS);
    kill(-child->pid, SIGKILL);
    kill(child->pid, SIGKILL); /* its group may not have been made yet */
    child->killed = true;
}

/* Waits for its end and notes how it came. */
static void reap(atn_child *child) {
    int status = 0;
    if (!child->pid) return;
    while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR) {}
    child->pid = 0;
    if (WIFSIGNALED(status)) {
        child->signal_number = WTERMSIG(status);
        const char *name = sigabbrev_np(child->signal_number);
        snprintf(child->how, sizeof child->how, "SIG%s", name ? name : "?");
    } else {
        snprintf(child->how, sizeof child->how, "exit %d", WEXITSTATUS(status));
    }
    if (child->to >= 0) close(child->to);
    if (child->from >= 0) close(child->from);
    child->to = child->from = -1;
}

void atn_child_end(atn_child *child) {
    atn_child_kill(child);
    reap(child);
    if (child->ctx) atn_text_free(&child->heard);
}

/* Waits until it reads on, within the deadline. */
static atn_status await_reader(const atn_child *child, double deadline) {
    double left = deadline - atn_clock_seconds();
    if (left <= 0) return atn_fail(child->ctx, ATN_ERR_TIMEOUT, "a worker does not read its input");
    struct pollfd wait = {.fd = child->to, .events = POLLOUT};
    (void)poll(&wait, 1, LOOK_MS);
    return atn_check_cancel(child->ctx);
}

atn_status atn_child_say(atn_child *child, const char *line, double deadline) {
    size_t length = strlen(line), done = 0;
    atn_status status = ATN_OK;
    if (child->to < 0) return atn_fail(child->ctx, ATN_ERR_IO, "a worker is gone");
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    sigemptyset(&ignore.sa_mask);
    sigaction(SIGPIPE, &ignore, &before); /* a worker that is gone shows as a failed write */
    while (done <= length && status == ATN_OK) {
        ssize_t wrote = done < length ? write(child->to, line + done, length - done) : write(child->to, "\n", 1);
        if (wrote >= 0)
            done += (size_t)wrote;
        else if (errno == EAGAIN)
            status = await_reader(child, deadline);
        else if (errno != EINTR)
            status = atn_fail(child->ctx, ATN_ERR_IO, "a worker is gone: %s", strerror(errno));
    }
    sigaction(SIGPIPE, &before, NULL);
    return status;
}

/* Takes what is in the pipe, as far as there is room for it; false: its end. */
static bool take(atn_child *child) {
    char piece[4096];
    while (child->heard.length - child->taken <= ATN_CHILD_MOST_LINE) {
        if (child->heard.failed) return false;
        ssize_t got = read(child->from, piece, sizeof piece);
        if (got > 0)
            atn_text_add_bytes(&child->heard, piece, (size_t)got);
        else if (got == 0)
            return false;
        else if (errno != EINTR)
            return errno == EAGAIN;
    }
    return true;
}

/* Ends it for what it did: talked without end, or closed its output and went on. */
static void punish(atn_child *child, const char *why) {
    atn_child_kill(child);
    reap(child);
    child->signal_number = 0;
    snprintf(child->how, sizeof child->how, "%s", why);
}

/* A whole line of what came, or NULL. What was given out before is let go. */
static const char *whole_line(atn_child *child) {
    if (child->taken > 0) {
        memmove(child->heard.data, child->heard.data + child->taken, child->heard.length - child->taken + 1);
        child->heard.length -= child->taken;
        child->taken = 0;
    }
    char *end = child->heard.length ? memchr(child->heard.data, '\n', child->heard.length) : NULL;
    if (!end) return NULL;
    *end = '\0';
    child->taken = (size_t)(end - child->heard.data) + 1;
    return child->heard.data;
}

const char *atn_child_peek(atn_child *child, bool *ended) {
    bool open = child->from >= 0 && take(child);
    const char *line = whole_line(child);
    *ended = !line && (!open || child->heard.length > ATN_CHILD_MOST_LINE);
    if (*ended && open) punish(child, "it printed a line that is too long");
    if (*ended && child->pid && !ends_soon(child->pid, ENDING_MS)) punish(child, "it closed its output");
    if (*ended) reap(child);
    return line;
}

atn_status atn_child_hear(atn_child *child, double deadline, const char **line) {
    for (;;) {
        bool ended;
        *line = atn_child_peek(child, &ended);
        if (*line) return ATN_OK;
        if (ended) return atn_fail(child->ctx, ATN_ERR_IO, "a worker ended: %s", child->how);
        atn_status status = atn_check_cancel(child->ctx);
        if (status != ATN_OK) return status;
        double left = deadline - atn_clock_seconds();
        if (left <= 0) return atn_fail(child->ctx, ATN_ERR_TIMEOUT, "a worker did not answer in time");
        struct pollfd wait = {.fd = child->from, .events = POLLIN};
        (void)poll(&wait, 1, left * 1000 < LOOK_MS ? (int)(left * 1000) + 1 : LOOK_MS);
    }
}
