/* Internals of a wisdom database: the connection, its statements, its transactions, and SQLite's error codes as
 * messages. */
#ifndef ATN_WISDOM_STORE_H
#define ATN_WISDOM_STORE_H

#include "wisdom/fields.h"
#include "wisdom/wisdom.h"

#include <pthread.h>
#include <sqlite3.h>

enum {
    ATN_WISDOM_APPLICATION = 0x61746e77, /* "atnw", in the header of the file */
    ATN_WISDOM_SCHEMA = 1                /* raised when the tables change */
};

/* How long a lock of another process is waited for; tests shorten it before they open. */
extern double atn_wisdom_patience_s;

/* Statements that are used often: prepared when first needed, kept until the end. Their text is in statements.c. */
typedef enum atn_statement {
    ATN_SQL_KEY,         /* the key's number */
    ATN_SQL_ADD_KERNEL,  /* the rows that a new key needs ... */
    ATN_SQL_ADD_DEVICE,  /* ... */
    ATN_SQL_ADD_KEY,     /* ... and its own, which is returned */
    ATN_SQL_BEGIN_ROW,   /* counts one start */
    ATN_SQL_TELL_ROW,    /* replaces what is known */
    ATN_SQL_MERGE_ROW,   /* of an import: keeps what is newer */
    ATN_SQL_CROWN,       /* replaces the winner */
    ATN_SQL_MERGE_CROWN, /* of an import: keeps the faster */
    ATN_SQL_ROWS,        /* of a key */
    ATN_SQL_ROWS_OF,     /* of a key's number */
    ATN_SQL_EXACT,       /* winners for a key ... */
    ATN_SQL_NEAR_SHAPE,
    ATN_SQL_NEAR_DEVICE,
    ATN_SQL_SHIPPED,
    ATN_SQL_ENTRIES,        /* all keys with their winners */
    ATN_SQL_FORGET,         /* an entry ... */
    ATN_SQL_FORGET_KERNELS, /* ... and what nobody needs any more */
    ATN_SQL_FORGET_DEVICES,
    ATN_SQL_COUNT
} atn_statement;
extern const char *const ATN_SQL[ATN_SQL_COUNT];
extern const char ATN_SQL_SCHEMA[]; /* makes the tables, and writes both numbers into the header */

struct atn_wisdom {
    const atn_ctx *ctx;
    sqlite3 *db;
    char *path;           /* for messages; owned */
    pthread_mutex_t lock; /* held during every call; recursive, for those who ask while they visit */
    bool read_only;       /* nothing may be written */
    bool in_memory;       /* no file: private to this process */
    double waiting_since; /* of the monotonic clock: when the wait for a lock began */
    sqlite3_stmt *kept[ATN_SQL_COUNT];
};

/* The place of the database: `path`, else $ATTUNE_WISDOM, else in the cache folder, which is made unless read_only.
 * *out is owned by the caller. */
atn_status atn_wisdom_place(const atn_ctx *ctx, const char *path, bool read_only, char **out);

typedef enum atn_wisdom_file { ATN_WISDOM_ABSENT, ATN_WISDOM_EMPTY, ATN_WISDOM_THERE } atn_wisdom_file;
/* Looks at the first bytes of the file without SQLite, which would touch what it opens. */
atn_status atn_wisdom_look(const atn_ctx *ctx, const char *path, atn_wisdom_file *out);
/* May files be made and changed there? Else SQLite cannot lock, and is to be opened otherwise. */
bool atn_wisdom_writable(const char *path);
/* "file:...?immutable=1"; owned by the caller, NULL without memory. */
char *atn_wisdom_immutable_name(const atn_ctx *ctx, const char *path);
bool atn_wisdom_has_log(const atn_ctx *ctx, const char *path); /* a non-empty WAL next to it */

/* The sentence and the status for a code of SQLite. */
atn_status atn_store_fail(const atn_wisdom *wisdom, int code);

/* The statement, free to be bound; NULL on failure. */
atn_status atn_store_prepare(atn_wisdom *wisdom, atn_statement which, sqlite3_stmt **out);
/* The same with the key bound to it. */
atn_status atn_store_prepare_key(atn_wisdom *wisdom, atn_statement which, const atn_wisdom_key *key,
                                 sqlite3_stmt **out);
/* Steps. *row: there is one; without one, and on failure, the statement is reset. */
atn_status atn_store_step(atn_wisdom *wisdom, sqlite3_stmt *statement, bool *row);
/* Binds nothing; steps once, takes column 0 of its row if it has one (else *value stays), and resets. */
atn_status atn_store_finish(atn_wisdom *wisdom, sqlite3_stmt *statement, int64_t *value);
void atn_store_reset(sqlite3_stmt *statement); /* drops what is bound, too */

/* Around writes. end commits when `status` is ATN_OK, else takes all back; it returns what came of it. */
atn_status atn_store_begin(atn_wisdom *wisdom);
atn_status atn_store_end(atn_wisdom *wisdom, atn_status status);

/* Around several reads that must agree; nothing is done where a transaction is open already. */
atn_status atn_store_begin_reading(atn_wisdom *wisdom, bool *begun);
void atn_store_end_reading(atn_wisdom *wisdom, bool begun);

/* The key's number; 0: not there. With `make` it is made; a transaction must be open. */
atn_status atn_store_key(atn_wisdom *wisdom, const atn_wisdom_key *key, bool make, int64_t *number);

/* Writes one row or winner of the key; a transaction must be open. */
atn_status atn_store_put(atn_wisdom *wisdom, atn_statement which, int64_t key, const atn_wisdom_field *fields,
                         const void *from);
/* Hands out the rows of a statement whose columns are ATN_ROW_COLUMNS, and resets it. */
atn_status atn_store_visit_rows(atn_wisdom *wisdom, sqlite3_stmt *statement,
                                bool (*visit)(void *user, const atn_wisdom_row *row), void *user);

bool atn_store_selects(const atn_wisdom_filter *filter, const atn_wisdom_entry *entry);

enum { ATN_WHEN_BYTES = 32 };
void atn_store_now(char when[ATN_WHEN_BYTES]);

#endif
