/* Keys, rows and winners as tables of fields: each field is said once, and binding it to a statement, reading it from
 * a column, writing it to JSON and reading it from there follow. */
#ifndef ATN_WISDOM_FIELDS_H
#define ATN_WISDOM_FIELDS_H

#include "wisdom/wisdom.h"

#include <jansson.h>
#include <sqlite3.h>

typedef struct atn_field_kind atn_field_kind;

/* A member of a struct; a table of them ends with name NULL. Order is that of columns in statements. */
typedef struct atn_wisdom_field {
    const char *name; /* in JSON */
    const atn_field_kind *kind;
    size_t offset;
} atn_wisdom_field;

extern const atn_wisdom_field ATN_FIELDS_KERNEL[], ATN_FIELDS_DEVICE[], ATN_FIELDS_USE[]; /* of atn_wisdom_key */
extern const atn_wisdom_field ATN_FIELDS_ROW[], ATN_FIELDS_WINNER[]; /* of the structs of that name */

/* The parameters ?1 to ?20 of a statement are always the key's, in this order: kernel, graph, generator; backend, arch,
 * name, driver, compiler, threads; space, layout, reproducible, tolerance; n_shape, s0 to s5. Others begin at ?21. */
enum { ATN_KEY_PARAMETERS = 20, ATN_FIRST_OTHER = ATN_KEY_PARAMETERS + 1 };
#define ATN_KEY_COLUMNS                                                                                                \
    "k.name,k.graph,k.generator,d.backend,d.arch,d.name,d.driver,d.compiler,d.threads,q.space,q.layout,"               \
    "q.reproducible,q.tolerance,q.n_shape,q.s0,q.s1,q.s2,q.s3,q.s4,q.s5"
#define ATN_ROW_COLUMNS                                                                                                \
    "m.variant,m.outcome,m.detail,m.seconds,m.low,m.high,m.error,m.samples,m.dropped,m.starts,m.code,m.at"
#define ATN_WINNER_COLUMNS                                                                                             \
    "w.variant,w.runner_up,w.seconds,w.low,w.high,w.runner_up_ratio,w.tie,w.fallback_seconds,w.fraction_of_peak,"      \
    "w.tried,w.at"
enum { ATN_ROW_WIDTH = 12, ATN_WINNER_WIDTH = 11 };

/* Binds from parameter `first` on; those that the statement does not have are left out. SQLite's code. The texts must
 * live until the statement is reset. */
int atn_fields_bind(sqlite3_stmt *statement, int first, const atn_wisdom_field *fields, const void *from);
int atn_key_bind(sqlite3_stmt *statement, const atn_wisdom_key *key);

/* Reads columns from `first` on. Texts are SQLite's until the next step; never NULL. Returns the column behind. */
int atn_fields_column(sqlite3_stmt *statement, int first, const atn_wisdom_field *fields, void *to);
int atn_key_column(sqlite3_stmt *statement, int first, atn_wisdom_key *key);

/* Adds members to an object; false: out of memory. */
bool atn_fields_to_json(const atn_ctx *ctx, json_t *object, const atn_wisdom_field *fields, const void *from);
json_t *atn_shape_to_json(const atn_wisdom_key *key); /* a new array of the key's sizes; NULL: out of memory */
/* Takes members from an object and checks them; texts are the object's. A failure says which member and what would be
 * right. */
atn_status atn_fields_from_json(const atn_ctx *ctx, const json_t *object, const atn_wisdom_field *fields, void *to);

/* Is it one of the outcomes of a row? */
bool atn_outcome_known(const char *outcome);

#endif
