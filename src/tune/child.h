/* A child process with line-based communication: lines are written to its standard input and read from its standard
 * output. It has its own process group, so that Ctrl-C in a terminal only reaches us. */
#ifndef ATN_TUNE_CHILD_H
#define ATN_TUNE_CHILD_H

#include "base/text.h"

#include <sys/types.h>

enum { ATN_CHILD_MOST_LINE = 1 << 16 }; /* and at most twice that is held */

typedef struct atn_child {
    const atn_ctx *ctx;
    pid_t pid; /* 0: none */
    int to, from;
    atn_text heard;    /* bytes that came */
    size_t taken;      /* of them, in lines that were given out */
    bool killed;       /* by us */
    char how[64];      /* how it ended, once it did: "SIGSEGV", "exit 1" */
    int signal_number; /* that ended it; 0: none */
} atn_child;

/* argv[0] is a path. `quiet`: its standard error goes nowhere. */
atn_status atn_child_start(const atn_ctx *ctx, const char *const argv[], bool quiet, atn_child *out);
/* Kills it where it still runs, and waits for it. A child that was never started is fine. */
void atn_child_end(atn_child *child);
/* Ends it, with a moment to clean up; it is reaped by the next read. */
void atn_child_kill(atn_child *child);

/* A line, '\n' added. ATN_ERR_IO: it is gone; ATN_ERR_TIMEOUT: it did not read until `deadline`; ATN_ERR_CANCELLED. */
atn_status atn_child_say(atn_child *child, const char *line, double deadline);

/* The next line, without its end, valid until the next call; waits until the moment `deadline` of the clock.
 * ATN_ERR_TIMEOUT: none came; ATN_ERR_IO: it ended, and child->how says how; ATN_ERR_CANCELLED. */
atn_status atn_child_hear(atn_child *child, double deadline, const char **line);
/* A line that is here already, or NULL. Never waits. *ended: no more will come. Who says a line of more than
 * ATN_CHILD_MOST_LINE bytes is killed, and child->how says so. */
const char *atn_child_peek(atn_child *child, bool *ended);

#endif
