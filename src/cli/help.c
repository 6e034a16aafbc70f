/* attune help: the tables of verbs.c as text for a terminal, or as JSON for other programs. */
#include "cli/cli.h"

enum { WIDTH = 80 };

void atn_cli_add_option_name(atn_text *to, const atn_cli_option *option) {
    if (option->letter) atn_text_printf(to, "-%c, ", option->letter);
    atn_text_printf(to, "--%s", option->name);
    if (option->value) atn_text_printf(to, " %s", option->value);
}

static void add_option_rows(atn_text *table, const atn_cli_option *options) {
    for (const atn_cli_option *o = options; o && o->name; ++o) {
        atn_text name = {.ctx = table->ctx};
        atn_cli_add_option_name(&name, o);
        table->failed |= name.failed;
        atn_cli_add_cell(table, "");
        atn_cli_add_cell(table, atn_text_str(&name));
        atn_cli_add_cell(table, o->meaning);
        if (o->repeats) table->length -= 1, atn_text_add(table, "; may be repeated\t");
        atn_text_add(table, "\n");
        atn_text_free(&name);
    }
}

static void add_options(atn_text *to, const char *title, const atn_cli_option *first, const atn_cli_option *second) {
    atn_text table = {.ctx = to->ctx};
    add_option_rows(&table, first);
    add_option_rows(&table, second);
    atn_text_printf(to, "\n%s\n", title);
    atn_cli_add_table(to, atn_text_str(&table), "lll");
    to->failed |= table.failed;
    atn_text_free(&table);
}

static void add_pairs(atn_text *to, const char *title, const atn_cli_pair *pairs) {
    atn_text table = {.ctx = to->ctx};
    for (const atn_cli_pair *pair = pairs; pair->left; ++pair) {
        atn_cli_add_cell(&table, "");
        atn_cli_add_cell(&table, pair->left);
        atn_cli_add_cell(&table, pair->right);
        atn_text_add(&table, "\n");
    }
    atn_text_printf(to, "\n%s\n", title);
    atn_cli_add_table(to, atn_text_str(&table), "lll");
    to->failed |= table.failed;
    atn_text_free(&table);
}

static void add_paragraphs(atn_text *to, const char *const *paragraphs) {
    for (; *paragraphs; ++paragraphs) {
        atn_text filled = {.ctx = to->ctx};
        atn_cli_fill(&filled, *paragraphs);
        atn_text_add(to, "\n");
        atn_cli_add_wrapped(to, atn_text_str(&filled), 0, WIDTH);
        to->failed |= filled.failed;
        atn_text_free(&filled);
    }
}

void atn_cli_help_verb(atn_text *to, const atn_cli_verb *verb) {
    atn_text_printf(to, "attune %s: %s\n\n", verb->name, verb->summary);
    atn_text_printf(to, "Usage: attune %s%s%s [OPTIONS]\n", verb->name, *verb->synopsis ? " " : "", verb->synopsis);
    add_paragraphs(to, verb->paragraphs);
    add_options(to, "Options:", verb->options, ATN_CLI_GLOBALS);
    if (verb->examples) add_pairs(to, "Examples:", verb->examples);
}

void atn_cli_help_all(atn_text *to, const atn_cli_verb *const *verbs) {
    atn_text_printf(to, "attune %s: %s\n\nUsage: attune VERB [OPTIONS]\n", atn_version(), ATN_CLI_SUMMARY);
    add_paragraphs(to, ATN_CLI_ABOUT);
    atn_text table = {.ctx = to->ctx};
    for (const atn_cli_verb *const *verb = verbs; *verb; ++verb) {
        if ((*verb)->hidden) continue;
        atn_cli_add_cell(&table, "");
        atn_cli_add_cell(&table, (*verb)->name);
        atn_cli_add_cell(&table, (*verb)->summary);
        atn_text_add(&table, "\n");
    }
    atn_text_add(to, "\nVerbs:\n");
    atn_cli_add_table(to, atn_text_str(&table), "lll");
    to->failed |= table.failed;
    atn_text_free(&table);
    add_options(to, "Options:", ATN_CLI_GLOBALS, ATN_CLI_FRONT);
    add_pairs(to, "Exit status:", ATN_CLI_EXIT_CODES);
    atn_cli_pair environment[ATN_ENV_VARIABLES + 1];
    atn_cli_environment(environment);
    add_pairs(to, "Environment:", environment);
    atn_text_add(to, "\n'attune help VERB' describes a verb.\n");
}

/* ---- the same as JSON; NULL when memory runs out ---- */

static json_t *keep_if(bool whole, json_t *value) { return atn_cli_json_if(whole, value); }

static json_t *options_json(const atn_cli_option *options) {
    json_t *list = json_array();
    bool whole = list != NULL;
    for (const atn_cli_option *o = options; whole && o && o->name; ++o) {
        json_t *row = json_object();
        char letter[2] = {o->letter, '\0'};
        whole = json_object_set_new(row, "name", json_string(o->name)) == 0 &&
                json_object_set_new(row, "letter", o->letter ? json_string(letter) : json_null()) == 0 &&
                json_object_set_new(row, "value", o->value ? json_string(o->value) : json_null()) == 0 &&
                json_object_set_new(row, "repeats", json_boolean(o->repeats)) == 0 &&
                json_object_set_new(row, "meaning", json_string(o->meaning)) == 0;
        row = keep_if(whole, row);
        whole = json_array_append_new(list, row) == 0;
    }
    return keep_if(whole, list);
}

static json_t *verb_json(const atn_cli_verb *verb) {
    json_t *row = json_object();
    bool whole = json_object_set_new(row, "name", json_string(verb->name)) == 0 &&
                 json_object_set_new(row, "summary", json_string(verb->summary)) == 0 &&
                 json_object_set_new(row, "synopsis", json_string(verb->synopsis)) == 0 &&
                 json_object_set_new(row, "options", options_json(verb->options)) == 0;
    return keep_if(whole, row);
}

static json_t *all_json(const atn_cli_verb *const *verbs) {
    json_t *root = json_object(), *rows = json_array();
    bool whole = rows != NULL;
    for (const atn_cli_verb *const *verb = verbs; whole && *verb; ++verb)
        if (!(*verb)->hidden) whole = json_array_append_new(rows, verb_json(*verb)) == 0;
    rows = keep_if(whole, rows);
    whole = json_object_set_new(root, "version", json_string(atn_version())) == 0;
    whole = json_object_set_new(root, "options", options_json(ATN_CLI_GLOBALS)) == 0 && whole;
    whole = json_object_set_new(root, "verbs", rows) == 0 && whole;
    return keep_if(whole, root);
}

atn_status atn_cli_print_help(atn_cli_call *call, const atn_cli_verb *verb) {
    if (call->json) return atn_cli_print_json(call, verb ? verb_json(verb) : all_json(call->verbs));
    atn_text text = {.ctx = call->ctx};
    if (verb)
        atn_cli_help_verb(&text, verb);
    else
        atn_cli_help_all(&text, call->verbs);
    atn_status status = atn_cli_print_text(call, "help", &text);
    atn_text_free(&text);
    return status;
}

static atn_status run(atn_cli_call *call) {
    if (call->n_operands == 0) return atn_cli_print_help(call, NULL);
    const char *name = call->operands[0];
    const atn_cli_verb *verb = atn_cli_find_verb(call->verbs, name);
    if (verb) return atn_cli_print_help(call, verb);
    atn_suggest suggest = {.typed = name};
    for (const atn_cli_verb *const *each = call->verbs; *each; ++each)
        if (!(*each)->hidden) atn_suggest_try(&suggest, (*each)->name);
    if (suggest.best) return atn_cli_misuse(call, "there is no verb '%s'; did you mean '%s'?", name, suggest.best);
    return atn_cli_misuse(call, "there is no verb '%s'", name);
}

const atn_cli_verb ATN_VERB_HELP = {
    .name = "help",
    .summary = "help on the program or on a verb",
    .synopsis = "[VERB]",
    .paragraphs = (const char *const[]){"Without VERB, lists the verbs. With it, shows its usage, options and "
                                        "examples; 'attune VERB --help' does the same.",
                                        NULL},
    .max_operands = 1,
    .run = run,
};
