/* The directory of the cache: XDG's, created private, refused if others could place code into it. */
#include "device/cache_dir.h"

#include "base/environment.h"
#include "base/memory.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *atn_cache_dir_join(const atn_ctx *ctx, const char *dir, const char *name, const char *suffix) {
    atn_text text = {.ctx = ctx};
    atn_text_printf(&text, "%s/%s%s", dir, name, suffix);
    if (atn_text_status(&text) == ATN_OK) return text.data;
    atn_text_free(&text);
    return NULL;
}

/* Absolute, so that a change of the working directory does not move it. */
static char *absolute(const atn_ctx *ctx, const char *dir) {
    char here[PATH_MAX];
    if (dir[0] == '/' || !getcwd(here, sizeof here)) return atn_strdup(ctx, dir);
    return atn_cache_dir_join(ctx, here, dir, "");
}

static char *choose(const atn_ctx *ctx) {
    const char *given = atn_ctx_cache_dir(ctx), *xdg = atn_environment(ATN_ENV_XDG_CACHE_HOME),
               *home = atn_environment(ATN_ENV_HOME);
    if (given && *given) return absolute(ctx, given);
    if (xdg && xdg[0] == '/') return atn_cache_dir_join(ctx, xdg, "attune", ""); /* XDG: a relative one is ignored */
    struct passwd entry, *found = NULL;
    char room[4096];
    if ((!home || home[0] != '/') && getpwuid_r(geteuid(), &entry, room, sizeof room, &found) == 0)
        home = found ? found->pw_dir : NULL;
    return home && home[0] == '/' ? atn_cache_dir_join(ctx, home, ".cache/attune", "") : atn_strdup(ctx, "");
}

atn_status atn_cache_dir_wanted(const atn_ctx *ctx, char **out) {
    *out = choose(ctx);
    if (!*out) return ATN_ERR_MEMORY;
    for (size_t end = strlen(*out); end > 1 && (*out)[end - 1] == '/';)
        (*out)[--end] = '\0'; /* lstat would follow a link */
    return ATN_OK;
}

/* EEXIST is fine. */
static bool make_dirs(char *path) {
    for (char *slash = path + 1; (slash = strchr(slash, '/')); ++slash) {
        *slash = '\0';
        int made = mkdir(path, 0700);
        int error = errno;
        struct stat info;
        bool there = made == 0 || (stat(path, &info) == 0 && S_ISDIR(info.st_mode));
        *slash = '/';
        errno = error == EEXIST ? ENOTDIR : error;
        if (!there) return false;
    }
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

/* Whoever may rename what lies in a directory above could put another one in our place while we look. What a group may
 * write is let pass: with groups of one user, which are usual, that is no other. */
static bool is_below_open(char *dir) {
    bool open_to_all = false;
    for (char *slash = dir + 1; (slash = strchr(slash, '/')) && !open_to_all; ++slash) {
        struct stat info;
        *slash = '\0';
        open_to_all = stat(dir, &info) == 0 && info.st_mode & S_IWOTH && !(info.st_mode & S_ISVTX);
        *slash = '/';
    }
    return open_to_all;
}

const char *atn_cache_dir_objection(char *dir) {
    struct stat info;
    if (!*dir) return "no home directory is known";
    if (!make_dirs(dir)) return strerror(errno);
    if (lstat(dir, &info) != 0) return strerror(errno);
    if (S_ISLNK(info.st_mode)) return "it is a symbolic link, which others may point elsewhere";
    if (!S_ISDIR(info.st_mode)) return "it is not a directory";
    if (info.st_uid != geteuid()) return "it belongs to another user";
    if (info.st_mode & (S_IWGRP | S_IWOTH)) return "others may write to it; delete it, and a safe one will be created";
    if (is_below_open(dir)) return "everyone may write to a directory above it; choose another place";
    if (faccessat(AT_FDCWD, dir, R_OK | W_OK | X_OK, AT_EACCESS) != 0) return strerror(errno);
    return NULL;
}

atn_status atn_cache_dir_temporary(const atn_ctx *ctx, char **out) {
    const char *bases[] = {atn_environment(ATN_ENV_TMPDIR), "/tmp"};
    int error = ENOENT;
    for (size_t k = 0; k < sizeof bases / sizeof *bases; ++k) {
        if (!bases[k] || bases[k][0] != '/') continue;
        *out = atn_cache_dir_join(ctx, bases[k], "attune-XXXXXX", "");
        if (!*out) return ATN_ERR_MEMORY;
        if (mkdtemp(*out)) return ATN_OK;
        error = errno;
        atn_free(ctx, *out);
        *out = NULL;
    }
    return atn_fail(ctx, ATN_ERR_IO, "no temporary directory can be made: %s; set TMPDIR to a writable one",
                    strerror(error));
}

void atn_cache_dir_remove(const char *dir) {
    DIR *open_dir = opendir(dir);
    if (!open_dir) return;
    for (struct dirent *entry; (entry = readdir(open_dir));) {
        struct stat info;
        char below[PATH_MAX];
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        bool is_dir = fstatat(dirfd(open_dir), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(info.st_mode);
        if (!is_dir)
            unlinkat(dirfd(open_dir), entry->d_name, 0);
        else if (snprintf(below, sizeof below, "%s/%s", dir, entry->d_name) < (int)sizeof below)
            atn_cache_dir_remove(below);
    }
    closedir(open_dir);
    rmdir(dir);
}
