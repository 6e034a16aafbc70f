/* Which words are valid where on a command line, from the tables of verbs and options. */
#include "cli/completion.h"

#include <ctype.h>
#include <string.h>

bool atn_cli_takes_files(const char *value) {
    static const char *const FILES[] = {"FILE", "DIR", "OUT", ".png", "M", "Q"};
    for (size_t k = 0; k < 4; ++k)
        if (strstr(value, FILES[k])) return true;
    return strcmp(value, "M") == 0 || strncmp(value, "Q|", 2) == 0; /* masks and qualities of unwrap */
}

void atn_cli_choice_words(const char *value, atn_text *to) {
    for (const char *word = value; *word; word += strspn(word, "|")) {
        size_t length = strcspn(word, "|");
        if (strchr(value, '|') && (islower((unsigned char)*word) || isdigit((unsigned char)*word)))
            atn_text_printf(to, "%s%.*s", to->length ? " " : "", (int)length, word);
        word += length;
    }
}

void atn_cli_verb_names(atn_text *to, const atn_cli_verb *const *verbs) {
    const char *blank = "";
    for (const atn_cli_verb *const *verb = verbs; *verb; ++verb) {
        if ((*verb)->hidden) continue;
        atn_text_printf(to, "%s%s", blank, (*verb)->name);
        blank = " ";
    }
}

void atn_cli_operand_words(const atn_cli_verb *const *verbs, const atn_cli_verb *verb, atn_text *to) {
    char first[128];
    const char *from = verb->synopsis + strspn(verb->synopsis, "[");
    if (strcmp(verb->name, "help") == 0) {
        atn_cli_verb_names(to, verbs);
        return;
    }
    snprintf(first, sizeof first, "%.*s", (int)strcspn(from, " ]"), from);
    atn_cli_choice_words(first, to);
}

bool atn_cli_takes_kernels(const atn_cli_verb *verb) { return strstr(verb->synopsis, "KERNEL") != NULL; }
