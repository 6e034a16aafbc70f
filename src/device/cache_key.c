/* The cache's key: read through one descriptor and checked there; made aside and linked into place, so that it is
 * whole and the first one stays. */
#include "device/cache_key.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

static const char NAME[] = "key", MAGIC[8] = "attkey1";
enum { FILE_BYTES = sizeof MAGIC + ATN_MAC_KEY, MOST_TRIES = 8 };

const char *atn_cache_key_fresh(unsigned char key[ATN_MAC_KEY]) {
    for (size_t done = 0; done < ATN_MAC_KEY;) {
        ssize_t got = getrandom(key + done, ATN_MAC_KEY - done, 0);
        if (got < 0 && errno != EINTR) return strerror(errno);
        if (got > 0) done += (size_t)got;
    }
    return NULL;
}

/* *there stays false if there is none, or a damaged one, which is removed. */
static const char *read_key(int folder, unsigned char key[ATN_MAC_KEY], bool *there) {
    unsigned char bytes[FILE_BYTES + 1];
    struct stat info;
    int fd = openat(folder, NAME, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && errno == ENOENT) return NULL;
    if (fd < 0 && errno == ELOOP) return "its key is a symbolic link, which others may have put there; delete it";
    if (fd < 0) return strerror(errno);
    bool known = fstat(fd, &info) == 0;
    ssize_t got = known && S_ISREG(info.st_mode) ? read(fd, bytes, sizeof bytes) : -1;
    close(fd);
    if (!known || !S_ISREG(info.st_mode) || info.st_uid != geteuid())
        return "its key was put there by another user; delete it";
    if (info.st_mode & 077) return "others may know its key; delete it";
    *there = got == FILE_BYTES && memcmp(bytes, MAGIC, sizeof MAGIC) == 0;
    if (*there)
        memcpy(key, bytes + sizeof MAGIC, ATN_MAC_KEY);
    else
        unlinkat(folder, NAME, 0);
    return NULL;
}

static const char *make_key(int folder) {
    unsigned char bytes[FILE_BYTES];
    char aside[48];
    memcpy(bytes, MAGIC, sizeof MAGIC);
    const char *why = atn_cache_key_fresh(bytes + sizeof MAGIC);
    if (why) return why;
    snprintf(aside, sizeof aside, "%s.%ld", NAME, (long)getpid()); /* one thread of a process opens caches at a time */
    unlinkat(folder, aside, 0);                                    /* left by one that was killed */
    int fd = openat(folder, aside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) return strerror(errno);
    if (write(fd, bytes, sizeof bytes) != (ssize_t)sizeof bytes) why = strerror(errno);
    if (close(fd) != 0 && !why) why = strerror(errno);
    if (!why && linkat(folder, aside, folder, NAME, 0) != 0 && errno != EEXIST &&
        renameat(folder, aside, folder, NAME) != 0) /* a file system without links */
        why = strerror(errno);
    unlinkat(folder, aside, 0);
    return why;
}

const char *atn_cache_key_of(const char *dir, unsigned char key[ATN_MAC_KEY]) {
    int folder = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0) return strerror(errno);
    bool there = false;
    const char *why = read_key(folder, key, &there);
    for (int tries = 0; !why && !there && tries < MOST_TRIES; ++tries) {
        why = make_key(folder);
        if (!why) why = read_key(folder, key, &there); /* whichever process was first */
    }
    close(folder);
    return why || there ? why : "no key can be kept there";
}
