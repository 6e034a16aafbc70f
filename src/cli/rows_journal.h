/* Answers of rows as bytes, between ranks and in a journal: what was done stays, whatever ends the run. */
#ifndef ATN_CLI_ROWS_JOURNAL_H
#define ATN_CLI_ROWS_JOURNAL_H

#include "cli/rows.h"

atn_status rows_answer_pack(const atn_cli_rows_answer *answer, atn_text *out);
/* Into an empty answer; refused if the bytes are not valid for that many rows. */
atn_status rows_answer_unpack(const atn_ctx *ctx, const char *data, size_t bytes, size_t rows,
                              atn_cli_rows_answer *out);

typedef struct rows_journal rows_journal;
typedef atn_status rows_journal_known(void *user, const char *data, size_t bytes);
/* Hands over what the file has (`known`), then adds behind it; what a killed run left half written is cut off. A
 * journal with another key is refused. Owned by the caller. */
atn_status rows_journal_open(const atn_ctx *ctx, const char *path, const char *key, rows_journal_known *known,
                             void *user, rows_journal **out);
atn_status rows_journal_add(rows_journal *journal, const atn_cli_rows_answer *answer);
void rows_journal_close(rows_journal *journal); /* NULL is fine */

#endif
