/* What would be left behind if the process ended now: temporary files and folders, and child processes. A table of
 * fixed size that a signal handler can traverse. */
#ifndef ATN_BASE_LEFTOVER_H
#define ATN_BASE_LEFTOVER_H

#include <signal.h>
#include <sys/types.h>

/* Records that `path` is to be removed (a folder with its files), or a process group to be killed. Returns the slot for
 * atn_leftover_forget; -1, which forget accepts, if the table is full or the path too long. */
int atn_leftover_add_file(const char *path);
int atn_leftover_add_folder(const char *path);
int atn_leftover_add_group(pid_t group);
void atn_leftover_forget(int place);

/* Around creating something and recording it: no handler runs in between on this thread, and one on another thread
 * waits. */
void atn_leftover_hold(sigset_t *before);
void atn_leftover_release(const sigset_t *before);

/* Kills and removes everything recorded by this process. Safe in a signal handler; the process ends afterwards. */
void atn_leftover_remove_all(void);

#endif
