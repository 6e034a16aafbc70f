/* Running another program: posix_spawn into a group of its own, output through a pipe, a deadline. */
#include "base/process.h"

#include "base/clock.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { OUTPUT_LIMIT = 1 << 20, LOOK_MS = 50 };

/* The environment with LC_ALL=C in front: messages are then ones we can read. The caller frees the array only. */
static char **plain_environment(const atn_ctx *ctx) {
    size_t count = 0, kept = 0;
    while (environ && environ[count]) ++count;
    char **copy = atn_alloc(ctx, (count + 2) * sizeof *copy);
    if (!copy) return NULL;
    static char locale[] = "LC_ALL=C";
    copy[kept++] = locale;
    for (size_t k = 0; k < count; ++k)
        if (strncmp(environ[k], "LC_ALL=", 7) != 0) copy[kept++] = environ[k];
    copy[kept] = NULL;
    return copy;
}

static int spawn(const char *const argv[], char **environment, int output, pid_t *child) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    sigemptyset(&none);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output, 1);
    posix_spawn_file_actions_adddup2(&actions, output, 2);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    int error = posix_spawn(child, argv[0], &actions, &attributes, (char *const *)(uintptr_t)argv, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* Reads until the program has closed its output or the deadline is over. */
static atn_status drain(const atn_ctx *ctx, int fd, double deadline, atn_text *output) {
    for (;;) {
        atn_status status = atn_check_cancel(ctx);
        if (status != ATN_OK) return status;
        if (atn_clock_seconds() >= deadline) return ATN_ERR_TIMEOUT;
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        if (poll(&wait, 1, LOOK_MS) <= 0) continue;
        char piece[4096];
        ssize_t got = read(fd, piece, sizeof piece);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return ATN_OK;
        if (output && output->length < OUTPUT_LIMIT) atn_text_add_bytes(output, piece, (size_t)got);
    }
}

/* Waits for the child itself, which may live on after it closed its output. */
static atn_status reap(const atn_ctx *ctx, pid_t child, double deadline, int *wait_status) {
    for (;;) {
        pid_t done = waitpid(child, wait_status, WNOHANG);
        if (done == child || (done < 0 && errno != EINTR)) return ATN_OK;
        atn_status status = atn_check_cancel(ctx);
        if (status != ATN_OK) return status;
        if (atn_clock_seconds() >= deadline) return ATN_ERR_TIMEOUT;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

atn_status atn_process_run(const atn_ctx *ctx, const char *const argv[], double timeout_s, atn_text *output, int *exit_code) {
    *exit_code = -1;
    char **environment = plain_environment(ctx);
    if (!environment) return ATN_ERR_MEMORY;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        atn_free(ctx, environment);
        return atn_fail(ctx, ATN_ERR_IO, "%s: no pipe: %s", argv[0], strerror(errno));
    }
    pid_t child;
    int error = spawn(argv, environment, ends[1], &child), wait_status = 0;
    close(ends[1]);
    atn_free(ctx, environment);
    if (error) {
        close(ends[0]);
        return atn_fail(ctx, ATN_ERR_IO, "%s: cannot be run: %s", argv[0], strerror(error));
    }
    double deadline = atn_clock_seconds() + timeout_s;
    atn_status status = drain(ctx, ends[0], deadline, output);
    if (status == ATN_OK) status = reap(ctx, child, deadline, &wait_status);
    close(ends[0]);
    if (status != ATN_OK) {
        kill(-child, SIGKILL);
        while (waitpid(child, &wait_status, 0) < 0 && errno == EINTR) {}
        if (status == ATN_ERR_TIMEOUT) return atn_fail(ctx, status, "%s: did not finish in %g s and was stopped", argv[0], timeout_s);
        return status;
    }
    *exit_code = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
    return output ? atn_text_status(output) : ATN_OK;
}

static bool is_program(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

atn_status atn_process_find(const atn_ctx *ctx, const char *name, char **path) {
    *path = NULL;
    if (strchr(name, '/')) {
        if (!is_program(name)) return ATN_OK;
        *path = atn_strdup(ctx, name);
        return *path ? ATN_OK : ATN_ERR_MEMORY;
    }
    const char *along = getenv("PATH");
    atn_text candidate = {.ctx = ctx};
    for (const char *at = along ? along : "/usr/bin:/bin"; *at;) {
        size_t length = strcspn(at, ":");
        atn_text_clear(&candidate);
        atn_text_add_bytes(&candidate, length ? at : ".", length ? length : 1);
        atn_text_printf(&candidate, "/%s", name);
        if (atn_text_status(&candidate) != ATN_OK) break;
        if (is_program(candidate.data)) {
            *path = candidate.data;
            return ATN_OK;
        }
        at += length + (at[length] == ':');
    }
    atn_status status = atn_text_status(&candidate);
    atn_text_free(&candidate);
    return status;
}
