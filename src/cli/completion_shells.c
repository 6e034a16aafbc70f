/* Completion for zsh and fish, made from the same tables as the help and the completion for bash. Both ask `attune
 * completion devices` and `attune completion kernels` for what changes. */
#include "cli/completion.h"

#include <ctype.h>
#include <string.h>

/* In single quotes of a shell: a quote ends them, stands for itself, and begins them again. */
static void add_quoted(atn_text *to, const char *text, size_t length, bool zsh) {
    for (size_t k = 0; k < length; ++k) {
        if (text[k] == '\'')
            atn_text_add(to, "'\\''");
        else if (zsh && strchr("[]:\\", text[k]))
            atn_text_printf(to, "\\%c", text[k]);
        else
            atn_text_add_bytes(to, text + k, 1);
    }
}

/* ---- fish ---- */

static void add_fish_option(atn_text *to, const char *when, const atn_cli_option *o) {
    atn_text words = {.ctx = to->ctx};
    atn_text_printf(to, "complete -c attune%s -l %s", when, o->name);
    if (o->letter) atn_text_printf(to, " -s %c", o->letter);
    if (o->value) {
        atn_cli_choice_words(o->value, &words);
        if (strcmp(o->name, "device") == 0)
            atn_text_add(to, " -xa '(attune completion devices 2>/dev/null)'");
        else if (atn_cli_takes_files(o->value))
            atn_text_printf(to, words.length ? " -rFa '%s'" : " -rF", atn_text_str(&words));
        else
            atn_text_printf(to, words.length ? " -xa '%s'" : " -x", atn_text_str(&words));
    }
    atn_text_add(to, " -d '");
    add_quoted(to, o->meaning, strlen(o->meaning), false);
    atn_text_add(to, "'\n");
    if (words.failed) to->failed = true;
    atn_text_free(&words);
}

void atn_cli_completion_fish(atn_text *to, const atn_cli_verb *const *verbs) {
    char when[96];
    atn_text_add(
        to, "# Completion of attune for fish; made by 'attune completion fish', do not edit.\ncomplete -c attune -f\n");
    for (const atn_cli_verb *const *verb = verbs; *verb; ++verb) {
        if ((*verb)->hidden) continue;
        atn_text_printf(to, "complete -c attune -n __fish_use_subcommand -a %s -d '", (*verb)->name);
        add_quoted(to, (*verb)->summary, strlen((*verb)->summary), false);
        atn_text_add(to, "'\n");
    }
    for (const atn_cli_option *o = ATN_CLI_GLOBALS; o->name; ++o) add_fish_option(to, "", o);
    for (const atn_cli_option *o = ATN_CLI_FRONT; o->name; ++o) add_fish_option(to, " -n __fish_use_subcommand", o);
    for (const atn_cli_verb *const *verb = verbs; *verb; ++verb) {
        atn_text words = {.ctx = to->ctx};
        if ((*verb)->hidden) continue;
        snprintf(when, sizeof when, " -n '__fish_seen_subcommand_from %s'", (*verb)->name);
        for (const atn_cli_option *o = (*verb)->options; o && o->name; ++o) add_fish_option(to, when, o);
        atn_cli_operand_words(verbs, *verb, &words);
        if (words.length) atn_text_printf(to, "complete -c attune%s -a '%s'\n", when, atn_text_str(&words));
        if (atn_cli_takes_kernels(*verb))
            atn_text_printf(to, "complete -c attune%s -a '(attune completion kernels 2>/dev/null)'\n", when);
        if ((*verb)->max_operands && !words.length) atn_text_printf(to, "complete -c attune%s -F\n", when);
        if (words.failed) to->failed = true;
        atn_text_free(&words);
    }
}

/* ---- zsh ---- */

static void add_zsh_option(atn_text *to, const atn_cli_option *o) {
    atn_text words = {.ctx = to->ctx};
    for (int form = 0; form < (o->letter ? 2 : 1); ++form) {
        if (form)
            atn_text_printf(to, "            '-%c[", o->letter);
        else
            atn_text_printf(to, "            '%s--%s%s[", o->repeats ? "*" : "", o->name,
                            o->value && !o->optional ? "=" : "");
        add_quoted(to, o->meaning, strlen(o->meaning), true);
        atn_text_add(to, "]");
        atn_text_clear(&words);
        if (o->value && !o->optional) {
            atn_cli_choice_words(o->value, &words);
            if (strcmp(o->name, "device") == 0)
                atn_text_add(to, ":device:_attune_devices");
            else if (atn_cli_takes_files(o->value))
                atn_text_add(to, ":file:_files");
            else if (words.length)
                atn_text_printf(to, ":value:(%s)", atn_text_str(&words));
            else
                atn_text_add(to, ":value:");
        }
        atn_text_add(to, "' \\\n");
        if (words.failed) to->failed = true;
    }
    atn_text_free(&words);
}

void atn_cli_completion_zsh(atn_text *to, const atn_cli_verb *const *verbs) {
    atn_text_add(
        to, "#compdef attune\n# Completion of attune for zsh; made by 'attune completion zsh', do not edit.\n"
            "_attune_devices() {\n    local -a names\n    names=(${(f)\"$(attune completion devices 2>/dev/null)\"})\n"
            "    compadd -a names\n}\n"
            "_attune_kernels() {\n    local -a names\n    names=(${(f)\"$(attune completion kernels 2>/dev/null)\"})\n"
            "    compadd -a names\n    _files\n}\n"
            "_attune() {\n    local -a verbs\n    local verb\n    verbs=(\n");
    for (const atn_cli_verb *const *verb = verbs; *verb; ++verb) {
        if ((*verb)->hidden) continue;
        atn_text_printf(to, "        '%s:", (*verb)->name);
        add_quoted(to, (*verb)->summary, strlen((*verb)->summary), true);
        atn_text_add(to, "'\n");
    }
    atn_text_add(to, "    )\n    if ((CURRENT == 2)); then\n        _describe verb verbs\n        return\n    fi\n"
                     "    verb=${words[2]}\n    shift words\n    ((--CURRENT))\n    case $verb in\n");
    for (const atn_cli_verb *const *verb = verbs; *verb; ++verb) {
        atn_text words = {.ctx = to->ctx};
        if ((*verb)->hidden) continue;
        atn_text_printf(to, "    %s)\n        _arguments -S \\\n", (*verb)->name);
        for (const atn_cli_option *o = (*verb)->options; o && o->name; ++o) add_zsh_option(to, o);
        for (const atn_cli_option *o = ATN_CLI_GLOBALS; o->name; ++o) add_zsh_option(to, o);
        atn_cli_operand_words(verbs, *verb, &words);
        if (words.length) atn_text_printf(to, "            '1:what:(%s)' \\\n", atn_text_str(&words));
        if (atn_cli_takes_kernels(*verb) && !words.length)
            atn_text_add(to, "            '1:kernel:_attune_kernels' \\\n");
        atn_text_printf(to, "            %s\n        ;;\n", (*verb)->max_operands ? "'*:file:_files'" : "&& return");
        if (words.failed) to->failed = true;
        atn_text_free(&words);
    }
    atn_text_add(to, "    esac\n}\n_attune \"$@\"\n");
}
