/* Running another program: posix_spawn into its own process group, output through a pipe, a deadline. */
#include "base/process.h"

#include "base/clock.h"
#include "base/environment.h"
#include "base/leftover.h"
#include "base/memory.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { OUTPUT_LIMIT = 1 << 20, LOOK_MS = 50, PIECES = 64 };

static bool begins(const char *text, const char *with) { return strncmp(text, with, strlen(with)) == 0; }

/* The environment with LC_ALL=C prepended, so that messages are in a known language, and with TMPDIR=dir. One block,
 * freed as such. */
static char **plain_environment(const atn_ctx *ctx, const char *dir) {
    static char locale[] = "LC_ALL=C";
    size_t count = 0, kept = 0, bytes = dir ? strlen(dir) + sizeof "TMPDIR=" : 0;
    while (environ && environ[count]) ++count;
    char **copy = atn_alloc(ctx, (count + 3) * sizeof *copy + bytes);
    if (!copy) return NULL;
    copy[kept++] = locale;
    if (dir) {
        copy[kept] = (char *)(copy + count + 3);
        snprintf(copy[kept++], bytes, "TMPDIR=%s", dir);
    }
    for (size_t k = 0; k < count; ++k)
        if (!begins(environ[k], "LC_ALL=") && !(dir && begins(environ[k], "TMPDIR="))) copy[kept++] = environ[k];
    copy[kept] = NULL;
    return copy;
}

static int prepare(posix_spawnattr_t *attributes) {
    sigset_t none, usual;
    sigemptyset(&none);
    sigemptyset(&usual); /* signals that we may ignore but other programs rely on */
    sigaddset(&usual, SIGCHLD);
    sigaddset(&usual, SIGPIPE);
    sigaddset(&usual, SIGXFSZ);
    int error = posix_spawnattr_setpgroup(attributes, 0);
    if (!error) error = posix_spawnattr_setsigmask(attributes, &none);
    if (!error) error = posix_spawnattr_setsigdefault(attributes, &usual);
    if (!error)
        error = posix_spawnattr_setflags(attributes,
                                         POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    return error;
}

int atn_process_spawn(const char *const argv[], char **environment, const posix_spawn_file_actions_t *actions,
                      pid_t *child) {
    posix_spawnattr_t attributes;
    int error = posix_spawnattr_init(&attributes);
    if (error) return error;
    error = prepare(&attributes);
    if (!error) error = posix_spawn(child, argv[0], actions, &attributes, (char *const *)(uintptr_t)argv, environment);
    posix_spawnattr_destroy(&attributes);
    return error;
}

static int spawn(const char *const argv[], char **environment, const char *dir, int output, pid_t *child) {
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (error) return error;
    error = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    if (!error) error = posix_spawn_file_actions_adddup2(&actions, output, 1);
    if (!error) error = posix_spawn_file_actions_adddup2(&actions, output, 2);
    if (!error && dir) error = posix_spawn_file_actions_addchdir_np(&actions, dir);
    if (!error) error = atn_process_spawn(argv, environment, &actions, child);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* Reads what is in the pipe, a bounded amount since there may be no end to it. false: the pipe is closed. */
static bool take(int fd, atn_text *output) {
    char piece[4096];
    for (int k = 0; k < PIECES; ++k) {
        ssize_t got = read(fd, piece, sizeof piece);
        if (got < 0) return errno == EINTR || errno == EAGAIN;
        if (got == 0) return false;
        size_t room = output && output->length < OUTPUT_LIMIT ? OUTPUT_LIMIT - output->length : 0;
        if (room) atn_text_add_bytes(output, piece, (size_t)got < room ? (size_t)got : room);
    }
    return true;
}

/* Has the child ended? It has not been reaped yet: until then, its process and group numbers are not reused. */
static bool has_ended(pid_t child) {
    siginfo_t info = {0};
    if (waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) == 0) return info.si_pid == child;
    return errno != EINTR;
}

/* Reads until the child has ended, even if others hold the pipe open; it may close its output long before. */
static atn_status follow(const atn_ctx *ctx, pid_t child, int fd, double deadline, atn_text *output) {
    for (bool open = true;;) {
        bool over = has_ended(child); /* checked first: everything it wrote is in the pipe by now */
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        if (!open && !over)
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        else if (open && poll(&wait, 1, over ? 0 : LOOK_MS) > 0)
            open = take(fd, output);
        if (over) return ATN_OK;
        atn_status status = atn_check_cancel(ctx);
        if (status != ATN_OK) return status;
        if (atn_clock_seconds() >= deadline) return ATN_ERR_TIMEOUT;
    }
}

/* place: the slot where its group is recorded. Waits until the program ends or its time is up, kills what is left of
 * its group, and collects its exit status. */
static atn_status conclude(const atn_ctx *ctx, const char *name, pid_t child, int place, int fd, double timeout_s,
                           atn_text *output, int *exit_code) {
    atn_status status = follow(ctx, child, fd, atn_clock_seconds() + timeout_s, output);
    kill(-child, SIGKILL);
    atn_leftover_forget(place); /* before it is reaped and the number is reused */
    int wait_status = 0;
    pid_t reaped;
    while ((reaped = waitpid(child, &wait_status, 0)) < 0 && errno == EINTR) {}
    if (status == ATN_ERR_TIMEOUT)
        return atn_fail(ctx, status, "%s: did not finish in %g s and was stopped", name, timeout_s);
    if (status != ATN_OK) return status;
    if (reaped != child)
        return atn_fail(ctx, ATN_ERR_IO,
                        "%s: how it ended is not known: this process ignores SIGCHLD or waits for children "
                        "that are not its own",
                        name);
    *exit_code = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
    return output ? atn_text_status(output) : ATN_OK;
}

atn_status atn_process_run(const atn_ctx *ctx, const char *const argv[], const char *dir, double timeout_s,
                           atn_text *output, int *exit_code) {
    *exit_code = -1;
    int ends[2];
    pid_t child;
    atn_status status = atn_check_cancel(ctx);
    if (status != ATN_OK) return status;
    char **environment = plain_environment(ctx, dir);
    if (!environment) return ATN_ERR_MEMORY;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        status = atn_fail(ctx, ATN_ERR_IO, "%s: no pipe: %s", argv[0], strerror(errno));
        atn_free(ctx, environment);
        return status;
    }
    (void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
    sigset_t before;
    atn_leftover_hold(&before);
    int error = spawn(argv, environment, dir, ends[1], &child), place = error ? -1 : atn_leftover_add_group(child);
    atn_leftover_release(&before);
    close(ends[1]);
    atn_free(ctx, environment);
    if (error)
        status = atn_fail(ctx, ATN_ERR_IO, "%s: cannot be run: %s", argv[0], strerror(error));
    else
        status = conclude(ctx, argv[0], child, place, ends[0], timeout_s, output, exit_code);
    close(ends[0]);
    return status;
}

static bool is_program(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

atn_status atn_process_find(const atn_ctx *ctx, const char *name, char **path) {
    *path = NULL;
    bool is_path = strchr(name, '/') != NULL;
    const char *along = is_path ? name : atn_environment(ATN_ENV_PATH);
    char here[PATH_MAX];
    if (!getcwd(here, sizeof here)) strcpy(here, "."); /* it was removed */
    atn_text candidate = {.ctx = ctx};
    for (const char *at = along ? along : "/usr/bin:/bin"; *at;) {
        size_t length = is_path ? strlen(name) : strcspn(at, ":");
        atn_text_clear(&candidate);
        if (at[0] != '/') atn_text_printf(&candidate, "%s/", here);
        atn_text_add_bytes(&candidate, at, length);
        if (!is_path) atn_text_printf(&candidate, "/%s", name);
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

char *atn_process_file_of(void (*code)(void)) {
    void *address;
    Dl_info library;
    struct link_map *map = NULL;
    memcpy(&address, &code, sizeof address);
    if (!dladdr1(address, &library, (void **)&map, RTLD_DL_LINKMAP)) return NULL;
    /* the program itself has no name there, and its argv[0], found along $PATH, is no path */
    return realpath(map && *map->l_name ? map->l_name : "/proc/self/exe", NULL);
}
