/* A list of pairs to register: a CSV file, source,target[,init[,aligned[,matrix]]], and the clouds that it names, each
 * once. */
#ifndef ATN_CLI_REGISTER_LIST_H
#define ATN_CLI_REGISTER_LIST_H

#include "cli/cli.h"

#include <attune/cloud.h>

#include <sys/types.h>

/* A file of points, however many rows name it. */
typedef struct atn_cli_list_cloud {
    char *path; /* owned */
    bool known; /* to the file system, by the next two */
    dev_t device;
    ino_t inode;
    int64_t bytes, changed[2]; /* its length; when it was changed, in seconds and nanoseconds */
    atn_cloud *cloud;          /* owned; NULL: it could not be read, or is needed no more */
    atn_cloud *thin;           /* owned; what is registered instead, or NULL */
    bool tried;                /* it was read, or could not be */
    bool aligned;              /* some row writes it, moved */
    size_t last;               /* row that needs it */
    char message[200];         /* why not */
} atn_cli_list_cloud;

typedef struct atn_cli_list_row {
    char *source, *target; /* as written in the list; owned */
    char *aligned;         /* path to write the moved source to, or NULL; owned */
    char *matrix;          /* path to write the transform to, or NULL; owned */
    size_t clouds[2];      /* of source and target, in the list's clouds */
    double start[16];
    bool has_start;
    bool searched;     /* whatever the settings say; without either as they say */
    int line;          /* of the list */
    char message[200]; /* what is wrong with the row; "" for nothing */
} atn_cli_list_row;

/* Owned: atn_cli_list_free, after a failure too. */
typedef struct atn_cli_list {
    const atn_ctx *ctx;
    atn_cli_list_row *rows;
    size_t n_rows, row_capacity;
    atn_cli_list_cloud *clouds;
    size_t n_clouds, cloud_capacity;
    size_t *place; /* clouds by what file they are, counted from 1; 0: free */
    size_t places; /* a power of two */
} atn_cli_list;

/* Reads the list, without clouds. What is wrong with one row is said there; fails where the list itself is wrong, or
 * where rows would write what others read or write: results would depend on which comes first. */
atn_status atn_cli_list_read(atn_cli_call *call, const char *path, atn_cli_list *out);
/* Reads the clouds of rows from `first` on, up to *end, or fewer, which it says: as many as are worth it, so that
 * memory is bounded however long the list is. What is wrong with one cloud is said there. edge: all are thinned by it;
 * that of the first cloud of all where it is 0; NULL: they are not. */
atn_status atn_cli_list_take(atn_cli_call *call, const atn_cloud_settings *reading, double *edge, atn_cli_list *list,
                             size_t first, size_t *end);
/* Frees clouds of rows before `end` that no later row needs. */
void atn_cli_list_drop(atn_cli_list *list, size_t first, size_t end);
void atn_cli_list_drop_all(atn_cli_list *list); /* all; rows that need them read them again */
void atn_cli_list_free(atn_cli_list *list);

/* Adds what rows read, as it is now: lengths and dates of clouds, and poses. */
atn_hash atn_cli_list_hash(const atn_cli_list *list, atn_hash before);

/* Why a row cannot be worked on; "" where it can. */
const char *atn_cli_list_objection(const atn_cli_list *list, const atn_cli_list_row *row);

#endif
