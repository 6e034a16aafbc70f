/* A live page on the loopback address, for verbs with --serve [PORT]: the newest frame as bytes, and events as lines of
 * JSON. Nothing listens unless asked for; the address has a random token in it. Work goes on whether anybody looks or
 * not: frames are made only when a page waits for one. */
#ifndef ATN_CLI_SERVE_H
#define ATN_CLI_SERVE_H

#include "cli/cli.h"

typedef struct atn_serve atn_serve;

/* The row of --serve in a table of options. */
#define ATN_SERVE_OPTION                                                                                               \
    { .name = "serve", .value = "PORT", .optional = true, .meaning = "a live page on 127.0.0.1; default: a free port" }

/* *out is NULL where --serve was not given. `kind` is what the page shows: surface, needle, tune, register, lattice.
 * Says on standard error where the page is. Owned by the caller. */
atn_status atn_serve_open(const atn_cli_call *call, const char *kind, const char *title, atn_serve **out);
/* The same whether asked for or not, and without a word; port 0: a free one. */
atn_status atn_serve_start(const atn_cli_call *call, unsigned port, const char *kind, const char *title,
                           atn_serve **out);
const char *atn_serve_address(const atn_serve *serve); /* "127.0.0.1:PORT/TOKEN" */
/* Ends it at once. NULL is fine, here and below. */
void atn_serve_close(atn_serve *serve);

/* Does a page wait for a frame? True at most 30 times a second. *side: how many pixels the largest of the waiting pages
 * draws along the larger side, so that no more need be sent; 0: all of them. */
bool atn_serve_wants(atn_serve *serve, int64_t *side);
/* A frame: room for its bytes, to be filled (NULL: no memory), and then an object that describes it, in at most 1024
 * characters, whose reference is dropped. By one thread. */
void *atn_serve_room(atn_serve *serve, size_t length);
void atn_serve_show(atn_serve *serve, json_t *about);
/* Adds to what happened; a page that is opened later gets all of it. Drops the reference. At most 20,000 are kept. */
void atn_serve_event(atn_serve *serve, json_t *event);
/* The work has ended: pages say so. Waits while a page is open, until Ctrl-C; if no page has been opened yet, on a
 * terminal, for a minute. Drops the reference. */
void atn_serve_end(atn_serve *serve, json_t *summary);

#endif
