/* Running another program without a shell, with captured output and a time limit. */
#ifndef ATN_BASE_PROCESS_H
#define ATN_BASE_PROCESS_H

#include "base/text.h"

#include <spawn.h>

/* Runs argv[0] (a path) with argv (NULL-terminated), no standard input, LC_ALL=C. `dir` is its working directory and
 * its TMPDIR, so that all its files are there; NULL: ours. Standard output and error go to `output` (may be NULL; at
 * most 1 MiB is kept). It is finished when the program itself ends; then, after timeout_s, or when the context is
 * cancelled, the remainder of its process group is killed. *exit_code: as returned by the program, or 128 + the signal
 * that ended it. */
atn_status atn_process_run(const atn_ctx *ctx, const char *const argv[], const char *dir, double timeout_s,
                           atn_text *output, int *exit_code);

/* Starts argv[0] (a path) in a process group of its own, with no signal blocked and with default handling of those that
 * we may ignore; its open files are up to `actions`. Returns 0 or an error number as in errno. */
int atn_process_spawn(const char *const argv[], char **environment, const posix_spawn_file_actions_t *actions,
                      pid_t *child);

/* The absolute path of an executable: of `name` itself when it holds a slash, else the first found along $PATH. NULL,
 * with ATN_OK, when there is none; owned by the caller. */
atn_status atn_process_find(const atn_ctx *ctx, const char *name, char **path);

/* The absolute path, without links, of the library or program that holds `code`, however it was started. NULL where
 * that is not known; owned by the caller, who calls free. */
char *atn_process_file_of(void (*code)(void));

#endif
