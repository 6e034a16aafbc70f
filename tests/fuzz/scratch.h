/* A private directory for targets whose readers take paths; removed when the process ends. */
#ifndef ATN_FUZZ_SCRATCH_H
#define ATN_FUZZ_SCRATCH_H

#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char scratch_dir[4096];
static pid_t scratch_owner;

static inline void scratch_empty(void) {
    DIR *dir = opendir(scratch_dir);
    for (struct dirent *entry; dir && (entry = readdir(dir));) (void)unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir) closedir(dir);
}

static inline void scratch_end(void) {
    if (scratch_owner != getpid()) return;
    scratch_empty();
    rmdir(scratch_dir);
}

static inline void scratch_begin(void) {
    const char *base = getenv("TMPDIR");
    if (scratch_owner == getpid()) return;
    snprintf(scratch_dir, sizeof scratch_dir, "%s/attune-fuzz-XXXXXX", base && *base ? base : "/tmp");
    if (!mkdtemp(scratch_dir)) abort();
    scratch_owner = getpid();
    atexit(scratch_end);
}

/* dir/name with these bytes, mode 0600; the path is static. */
static inline const char *scratch_write(const char *name, const void *data, size_t size) {
    static char path[4096 + 256];
    snprintf(path, sizeof path, "%s/%s", scratch_dir, name);
    unlink(path);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size) abort();
    close(fd);
    return path;
}

#endif
