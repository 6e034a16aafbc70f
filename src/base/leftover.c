/* What a process that ends immediately must not leave behind. Each slot of the table goes from free to busy to noted
 * and back, by one atomic exchange each, so that a handler that interrupts any step sees complete entries only. */
#include "base/leftover.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PLACES = 32 };
enum { FREE, BUSY, NOTED };
typedef enum leftover_kind { A_FILE, A_FOLDER, A_GROUP } leftover_kind;

static struct {
    atomic_int state;
    leftover_kind kind;
    pid_t owner; /* a copy of this process made by fork removes nothing */
    pid_t group;
    char path[PATH_MAX];
} table[PLACES];

static int add(leftover_kind kind, const char *path, pid_t group) {
    if (path && strlen(path) >= sizeof table->path) return -1;
    for (int k = 0; k < PLACES; ++k) {
        int expected = FREE;
        if (!atomic_compare_exchange_strong(&table[k].state, &expected, BUSY)) continue;
        table[k].kind = kind;
        table[k].owner = getpid();
        table[k].group = group;
        if (path) strcpy(table[k].path, path);
        atomic_store(&table[k].state, NOTED);
        return k;
    }
    return -1;
}

int atn_leftover_add_file(const char *path) { return add(A_FILE, path, 0); }
int atn_leftover_add_folder(const char *path) { return add(A_FOLDER, path, 0); }
int atn_leftover_add_group(pid_t group) { return add(A_GROUP, NULL, group); }

void atn_leftover_forget(int place) {
    int expected = NOTED;
    if (place >= 0) (void)atomic_compare_exchange_strong(&table[place].state, &expected, FREE);
}

/* ---- making and noting as one ---- */

static atomic_int held; /* threads that are creating something at the moment */

void atn_leftover_hold(sigset_t *before) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, before);
    atomic_fetch_add(&held, 1);
}

void atn_leftover_release(const sigset_t *before) {
    atomic_fetch_sub(&held, 1);
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

/* With a time limit: a thread that opens a file on an unreachable server may never return. */
static void wait_for_others(void) {
    for (int k = 0; k < 100 && atomic_load(&held) > 0; ++k) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* ---- removing ---- */

/* As the kernel hands them out; opendir allocates, which a handler must not. */
typedef struct raw_entry {
    uint64_t inode;
    int64_t next;
    unsigned short length;
    unsigned char type;
    char name[];
} raw_entry;

/* The files of a folder, not those of folders in it: nothing that is noted has any. */
static void empty_folder(const char *path) {
    _Alignas(raw_entry) char entries[4096];
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return;
    for (long bytes; (bytes = syscall(SYS_getdents64, fd, entries, sizeof entries)) > 0;)
        for (long at = 0; at < bytes;) {
            const raw_entry *entry = (const raw_entry *)(const void *)(entries + at);
            (void)unlinkat(fd, entry->name, 0); /* . and .. are folders, which this leaves alone */
            at += entry->length;
        }
    close(fd);
}

/* Programs first: they may write into the folders. Then the last ones, which may lie in those before. */
void atn_leftover_remove_all(void) {
    static const leftover_kind ORDER[] = {A_GROUP, A_FILE, A_FOLDER};
    pid_t self = getpid();
    wait_for_others();
    for (size_t n = 0; n < sizeof ORDER / sizeof *ORDER; ++n)
        for (int k = PLACES - 1; k >= 0; --k) {
            int expected = NOTED;
            if (table[k].kind != ORDER[n] || table[k].owner != self ||
                !atomic_compare_exchange_strong(&table[k].state, &expected, BUSY))
                continue;
            if (table[k].kind == A_GROUP) (void)kill(-table[k].group, SIGKILL);
            if (table[k].kind == A_FILE) (void)unlink(table[k].path);
            if (table[k].kind == A_FOLDER) {
                empty_folder(table[k].path);
                (void)rmdir(table[k].path);
            }
        }
}
