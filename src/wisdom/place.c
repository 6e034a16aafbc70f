/* The location of the database, and a first check of it. A file that is newer, or not a database of attune, is
 * recognised here, before SQLite could modify it. */
#include "wisdom/store.h"

#include "base/environment.h"
#include "base/memory.h"
#include "device/cache_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The database in the cache folder, and SQLite's files next to it, must be ours: others may have put theirs there while
 * the folder was open to them. NULL: it is, or does not exist. A file named by ATTUNE_WISDOM is the caller's choice. */
static const char *foreign(const char *path) {
    static const char *const BESIDE[] = {"", "-wal", "-shm", "-journal"};
    for (size_t k = 0; k < sizeof BESIDE / sizeof *BESIDE; ++k) {
        char name[PATH_MAX];
        struct stat info;
        if (snprintf(name, sizeof name, "%s%s", path, BESIDE[k]) >= (int)sizeof name) return strerror(ENAMETOOLONG);
        if (lstat(name, &info) != 0) continue;
        if (S_ISLNK(info.st_mode)) return "it is a symbolic link; delete the folder";
        if (info.st_uid != geteuid()) return "its contents belong to another user; delete the folder";
        if (info.st_mode & (S_IWGRP | S_IWOTH)) return "others may write to its contents; delete it";
    }
    return NULL;
}

static atn_status in_cache_folder(const atn_ctx *ctx, bool read_only, char **out) {
    char *folder;
    atn_status status = atn_cache_dir_wanted(ctx, &folder);
    if (status != ATN_OK) return status;
    const char *why = read_only ? NULL : atn_cache_dir_objection(folder);
    *out = atn_cache_dir_join(ctx, folder, "wisdom", ".sqlite");
    if (*out && !why) why = foreign(*out);
    if (!*out) {
        status = ATN_ERR_MEMORY;
    } else if (why) {
        status =
            atn_fail(ctx, ATN_ERR_IO,
                     "no wisdom database in the folder '%s': %s; set ATTUNE_WISDOM to a file elsewhere", folder, why);
        atn_free(ctx, *out);
        *out = NULL;
    }
    atn_free(ctx, folder);
    return status;
}

atn_status atn_wisdom_place(const atn_ctx *ctx, const char *path, bool read_only, char **out) {
    *out = NULL;
    if (!path || !*path) path = atn_environment(ATN_ENV_WISDOM);
    if (!path || !*path) return in_cache_folder(ctx, read_only, out);
    *out = atn_strdup(ctx, path);
    return *out ? ATN_OK : ATN_ERR_MEMORY;
}

/* ---- the first bytes: https://www.sqlite.org/fileformat2.html#the_database_header ---- */

enum { HEADER_BYTES = 100, AT_USER_VERSION = 60, AT_APPLICATION = 68 };

static uint32_t big_endian(const unsigned char *at) {
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static atn_status judge(const atn_ctx *ctx, const char *path, const unsigned char *header, ssize_t got) {
    static const char magic[16] = "SQLite format 3";
    if (got < HEADER_BYTES || memcmp(header, magic, sizeof magic) != 0)
        return atn_fail(ctx, ATN_ERR_INPUT,
                        "the wisdom database %s is damaged or no database at all; move it away or set ATTUNE_WISDOM "
                        "to another file",
                        path);
    uint32_t application = big_endian(header + AT_APPLICATION), version = big_endian(header + AT_USER_VERSION);
    if (application != 0 && application != ATN_WISDOM_APPLICATION)
        return atn_fail(ctx, ATN_ERR_INPUT, "%s is a database of another program; set ATTUNE_WISDOM to another file",
                        path);
    if (application != 0 && version > ATN_WISDOM_SCHEMA)
        return atn_fail(ctx, ATN_ERR_INPUT,
                        "the wisdom database %s is of a newer attune (version %u, this one knows %d); update attune "
                        "or set ATTUNE_WISDOM to another file",
                        path, version, ATN_WISDOM_SCHEMA);
    return ATN_OK;
}

atn_status atn_wisdom_look(const atn_ctx *ctx, const char *path, atn_wisdom_file *out) {
    *out = ATN_WISDOM_ABSENT;
    struct stat info;
    unsigned char header[HEADER_BYTES];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && errno == ENOENT) return ATN_OK;
    if (fd < 0 || fstat(fd, &info) != 0) {
        atn_status status =
            atn_fail(ctx, ATN_ERR_IO, "the wisdom database %s cannot be opened: %s", path, strerror(errno));
        if (fd >= 0) close(fd);
        return status;
    }
    ssize_t got = S_ISREG(info.st_mode) ? pread(fd, header, sizeof header, 0) : 0;
    int error = errno;
    close(fd);
    if (!S_ISREG(info.st_mode))
        return atn_fail(ctx, ATN_ERR_INPUT, "the wisdom database %s is %s; a file is needed", path,
                        S_ISDIR(info.st_mode) ? "a directory" : "not a regular file");
    if (got < 0) return atn_fail(ctx, ATN_ERR_IO, "the wisdom database %s cannot be read: %s", path, strerror(error));
    *out = got ? ATN_WISDOM_THERE : ATN_WISDOM_EMPTY;
    return got ? judge(ctx, path, header, got) : ATN_OK;
}

bool atn_wisdom_writable(const char *path) {
    char copy[PATH_MAX];
    if (snprintf(copy, sizeof copy, "%s", path) >= (int)sizeof copy) return false;
    bool file = faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0 || errno == ENOENT;
    return file && faccessat(AT_FDCWD, dirname(copy), W_OK | X_OK, AT_EACCESS) == 0;
}

char *atn_wisdom_immutable_name(const atn_ctx *ctx, const char *path) {
    atn_text name = {.ctx = ctx};
    atn_text_add(&name, "file:");
    for (const char *c = path; *c; ++c)
        if (strchr("?#%", *c))
            atn_text_printf(&name, "%%%02X", (unsigned)(unsigned char)*c);
        else
            atn_text_add_bytes(&name, c, 1);
    atn_text_add(&name, "?immutable=1");
    if (atn_text_status(&name) == ATN_OK) return name.data;
    atn_text_free(&name);
    return NULL;
}

bool atn_wisdom_has_log(const atn_ctx *ctx, const char *path) {
    atn_text name = {.ctx = ctx};
    struct stat info;
    atn_text_printf(&name, "%s-wal", path);
    bool there = name.failed || (stat(atn_text_str(&name), &info) == 0 && info.st_size > 0);
    atn_text_free(&name);
    return there;
}
