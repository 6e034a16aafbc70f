/* attune man: the manual page attune.1, made from the same tables as the help. The build runs it. */
#include "cli/cli.h"

#include <string.h>

/* Text as roff wants it: no accidental requests at the start of a line, dashes that stay dashes. */
static void add_text(atn_text *to, const char *text) {
    bool line_start = to->length == 0 || to->data[to->length - 1] == '\n';
    if (line_start && (*text == '.' || *text == '\'')) atn_text_add(to, "\\&");
    for (; *text; ++text) {
        if (*text == '\\')
            atn_text_add(to, "\\e");
        else if (*text == '-')
            atn_text_add(to, "\\-");
        else
            atn_text_add_bytes(to, text, 1);
    }
}

static void add_line(atn_text *to, const char *text) {
    add_text(to, text);
    atn_text_add(to, "\n");
}

static void add_paragraphs(atn_text *to, const char *const *paragraphs) {
    for (; *paragraphs; ++paragraphs) {
        atn_text filled = {.ctx = to->ctx};
        atn_cli_fill(&filled, *paragraphs);
        atn_text_add(to, ".PP\n");
        add_line(to, atn_text_str(&filled));
        to->failed |= filled.failed;
        atn_text_free(&filled);
    }
}

static void add_options(atn_text *to, const atn_cli_option *options) {
    for (const atn_cli_option *o = options; o && o->name; ++o) {
        atn_text_add(to, ".TP\n\\fB");
        if (o->letter) atn_text_printf(to, "\\-%c\\fR, \\fB", o->letter);
        atn_text_add(to, "\\-\\-");
        add_text(to, o->name);
        atn_text_add(to, "\\fR");
        if (o->value) {
            atn_text_add(to, " \\fI");
            add_text(to, o->value);
            atn_text_add(to, "\\fR");
        }
        atn_text_add(to, "\n");
        add_text(to, o->meaning);
        atn_text_add(to, o->repeats ? "; may be repeated.\n" : ".\n");
    }
}

static void add_pairs(atn_text *to, const char *title, const atn_cli_pair *pairs) {
    atn_text_printf(to, ".SH %s\n", title);
    for (; pairs->left; ++pairs) {
        atn_text_add(to, ".TP\n\\fB");
        add_text(to, pairs->left);
        atn_text_add(to, "\\fR\n");
        add_text(to, pairs->right);
        atn_text_add(to, ".\n");
    }
}

static void add_verb(atn_text *to, const atn_cli_verb *verb) {
    atn_text_add(to, ".SS \"attune ");
    add_text(to, verb->name);
    if (*verb->synopsis) {
        atn_text_add(to, " ");
        add_text(to, verb->synopsis);
    }
    atn_text_add(to, "\"\n");
    add_text(to, verb->summary);
    atn_text_add(to, ".\n");
    add_paragraphs(to, verb->paragraphs);
    add_options(to, verb->options);
    for (const atn_cli_pair *example = verb->examples; example && example->left; ++example) {
        atn_text_add(to, ".PP\n");
        add_text(to, example->right);
        atn_text_add(to, ":\n.PP\n.RS 4\n.nf\n");
        add_line(to, example->left);
        atn_text_add(to, ".fi\n.RE\n");
    }
}

static atn_status run(atn_cli_call *call) {
    atn_text page = {.ctx = call->ctx};
    atn_text_add(&page, ".\\\" Made by 'attune man'; do not edit.\n");
    atn_text_printf(&page, ".TH ATTUNE 1 \"\" \"attune %s\" \"User Commands\"\n", atn_version());
    atn_text_printf(&page, ".SH NAME\nattune \\- %s\n", ATN_CLI_SUMMARY);
    atn_text_add(&page, ".SH SYNOPSIS\n\\fBattune\\fR \\fIVERB\\fR [\\fIOPTIONS\\fR]\n.SH DESCRIPTION\n");
    add_paragraphs(&page, ATN_CLI_ABOUT);
    atn_text_add(&page, ".SH OPTIONS\nEvery verb takes these.\n");
    add_options(&page, ATN_CLI_GLOBALS);
    add_options(&page, ATN_CLI_FRONT);
    atn_text_add(&page, ".SH VERBS\n");
    for (const atn_cli_verb *const *verb = call->verbs; *verb; ++verb)
        if (!(*verb)->hidden) add_verb(&page, *verb);
    add_pairs(&page, "EXIT STATUS", ATN_CLI_EXIT_CODES);
    atn_cli_pair environment[ATN_ENV_VARIABLES + 1];
    atn_cli_environment(environment);
    add_pairs(&page, "ENVIRONMENT", environment);
    atn_status status = atn_cli_print_text(call, "man", &page);
    atn_text_free(&page);
    return status;
}

const atn_cli_verb ATN_VERB_MAN = {
    .name = "man",
    .summary = "print the manual page",
    .synopsis = "",
    .paragraphs = (const char *const[]){"Prints attune.1; the build runs it.", NULL},
    .hidden = true,
    .run = run,
};
