/* Shared by the files of attune completion: which words are valid where, from the tables of verbs and options. */
#ifndef ATN_CLI_COMPLETION_H
#define ATN_CLI_COMPLETION_H

#include "cli/cli.h"

/* ---- completion_words.c ---- */
void atn_cli_verb_names(atn_text *to, const atn_cli_verb *const *verbs); /* with blanks between them */
bool atn_cli_takes_files(const char *value);
/* The words of "rigid|affine|FILE" that are none in capitals, with blanks between them. */
void atn_cli_choice_words(const char *value, atn_text *to);
/* What the first operand may be, by the synopsis: "scans needle"; of help all verbs. Empty: no words. */
void atn_cli_operand_words(const atn_cli_verb *const *verbs, const atn_cli_verb *verb, atn_text *to);
bool atn_cli_takes_kernels(const atn_cli_verb *verb); /* the first operand may be a shipped kernel */

/* ---- completion_shells.c ---- */
void atn_cli_completion_zsh(atn_text *to, const atn_cli_verb *const *verbs);
void atn_cli_completion_fish(atn_text *to, const atn_cli_verb *const *verbs);

#endif
