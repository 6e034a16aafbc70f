/* attune completion: the script attune.bash, made from the same tables as the help, and those of other shells
 * (completion_shells.c). The build runs it. The script itself asks `attune completion devices` for what --device may
 * be, and `attune completion kernels` for what is shipped. */
#include "cli/completion.h"

#include "graph/shipped.h"

#include <ctype.h>
#include <string.h>

static const char HEAD[] =
    "# Completion of attune for bash; made by 'attune completion', do not edit.\n"
    "_attune_words() { # the words of $1 that begin with what was typed\n"
    "    mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$cur\")\n"
    "}\n"
    "_attune_files() {\n"
    "    compopt -o filenames 2>/dev/null\n"
    "    mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
    "}\n"
    "_attune_devices() { # names hold blanks, so they are quoted; any case will do\n"
    "    local name\n"
    "    while IFS= read -r name; do\n"
    "        [[ ${name,,} == \"${cur,,}\"* ]] && COMPREPLY+=(\"$(printf %q \"$name\")\")\n"
    "    done < <(\"${COMP_WORDS[0]}\" completion devices 2>/dev/null)\n"
    "}\n"
    "_attune_operand() { # words of $1, kernels that are shipped where $2 says so, and files\n"
    "    local names=$1\n"
    "    [[ ${2:-} == kernels ]] && names+=\" $(\"${COMP_WORDS[0]}\" completion kernels 2>/dev/null)\"\n"
    "    _attune_words \"$names\"\n"
    "    local words=(\"${COMPREPLY[@]}\")\n"
    "    _attune_files\n"
    "    COMPREPLY=(\"${words[@]}\" \"${COMPREPLY[@]}\")\n"
    "}\n"
    "_attune() {\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} verb='' k\n"
    "    COMPREPLY=()\n"
    "    if [[ $cur == '=' ]]; then cur=''; # --name=VALUE comes as three words\n"
    "    elif [[ $prev == '=' ]] && ((COMP_CWORD >= 2)); then prev=${COMP_WORDS[COMP_CWORD - 2]}; fi\n"
    "    for ((k = 1; k < COMP_CWORD; ++k)); do\n"
    "        case ${COMP_WORDS[k]} in\n"
    "        --device) # its value is not a verb\n"
    "            if [[ ${COMP_WORDS[k + 1]} == '=' ]]; then ((k += 2)); else ((k += 1)); fi ;;\n"
    "        -*) ;;\n"
    "        *) verb=${COMP_WORDS[k]}; break ;;\n"
    "        esac\n"
    "    done\n";

static const char TAIL[] = "}\ncomplete -F _attune attune\n";

static void add_option_names(atn_text *to, const atn_cli_option *options) {
    for (const atn_cli_option *o = options; o && o->name; ++o) {
        if (o->letter) atn_text_printf(to, "-%c ", o->letter);
        atn_text_printf(to, "--%s ", o->name);
    }
}

/* What follows an option that takes a value: devices, files, the words of a choice, or nothing we know. */
static void add_value_case(atn_text *to, const char *verb, const atn_cli_option *o) {
    if (!o->value) return;
    atn_text_printf(to, "    %s:--%s", verb, o->name);
    if (o->letter) atn_text_printf(to, " | %s:-%c", verb, o->letter);
    atn_text_add(to, ") ");
    if (strcmp(o->name, "device") == 0) {
        atn_text_add(to, "_attune_devices; return ;;\n");
    } else if (atn_cli_takes_files(o->value)) {
        atn_text_add(to, "_attune_files; return ;;\n");
    } else if (strchr(o->value, '|')) {
        atn_text_add(to, "_attune_words '");
        atn_cli_choice_words(o->value, to);
        atn_text_add(to, "'; return ;;\n");
    } else {
        atn_text_add(to, "return ;;\n");
    }
}

static void add_script(atn_text *to, const atn_cli_verb *const *verbs) {
    atn_text_add(to, HEAD);
    atn_text_add(to, "    case $verb:$prev in\n");
    for (const atn_cli_option *o = ATN_CLI_GLOBALS; o->name; ++o) add_value_case(to, "*", o);
    for (const atn_cli_verb *const *verb = verbs; *verb; ++verb)
        for (const atn_cli_option *o = (*verb)->options; !(*verb)->hidden && o && o->name; ++o)
            add_value_case(to, (*verb)->name, o);
    atn_text_add(to, "    esac\n    case $verb:$cur in\n    :-*) _attune_words '");
    add_option_names(to, ATN_CLI_GLOBALS);
    add_option_names(to, ATN_CLI_FRONT);
    atn_text_add(to, "' ;;\n    :*) _attune_words '");
    atn_cli_verb_names(to, verbs);
    atn_text_add(to, "' ;;\n");
    for (const atn_cli_verb *const *verb = verbs; *verb; ++verb) {
        if ((*verb)->hidden) continue;
        atn_text_printf(to, "    %s:-*) _attune_words '", (*verb)->name);
        add_option_names(to, (*verb)->options);
        add_option_names(to, ATN_CLI_GLOBALS);
        atn_text_add(to, "' ;;\n");
        if ((*verb)->max_operands == 0) {
            atn_text_printf(to, "    %s:*) ;;\n", (*verb)->name);
            continue;
        }
        atn_text words = {.ctx = to->ctx};
        atn_cli_operand_words(verbs, *verb, &words);
        if (words.length || atn_cli_takes_kernels(*verb))
            atn_text_printf(to, "    %s:*) _attune_operand '%s' %s ;;\n", (*verb)->name, atn_text_str(&words),
                            atn_cli_takes_kernels(*verb) ? "kernels" : "");
        if (words.failed) to->failed = true;
        atn_text_free(&words);
    }
    atn_text_add(to, "    *) _attune_files ;;\n    esac\n");
    atn_text_add(to, TAIL);
}

/* What --device may be: backends, indices and names, one per line. Looks, but measures nothing. */
static atn_status add_devices(atn_text *to) {
    atn_devices *devices;
    atn_status status = atn_devices_find((atn_ctx *)to->ctx, &devices);
    if (status) return status;
    int32_t count = atn_devices_count(devices);
    for (int32_t k = 0; k < count; ++k) {
        const atn_device_info *info = atn_devices_info(devices, k);
        if (info->ordinal == 0) atn_text_printf(to, "%s\n", info->backend);
        atn_text_printf(to, "%d\n%s\n", (int)info->index, info->name);
    }
    atn_devices_free(devices);
    return ATN_OK;
}

static atn_status run(atn_cli_call *call) {
    atn_text text = {.ctx = call->ctx};
    atn_status status = ATN_OK;
    const char *what = call->n_operands ? call->operands[0] : "bash";
    if (strcmp(what, "bash") == 0)
        add_script(&text, call->verbs);
    else if (strcmp(what, "zsh") == 0)
        atn_cli_completion_zsh(&text, call->verbs);
    else if (strcmp(what, "fish") == 0)
        atn_cli_completion_fish(&text, call->verbs);
    else if (strcmp(what, "devices") == 0)
        status = add_devices(&text);
    else if (strcmp(what, "kernels") == 0)
        for (const atn_embedded *k = ATN_SHIPPED; k->name; ++k) atn_text_printf(&text, "%s\n", k->name);
    else
        status = atn_cli_misuse(call, "'%s' is not a known shell: bash, zsh or fish", what);
    if (!status) status = atn_cli_print_text(call, "completion", &text);
    atn_text_free(&text);
    return status;
}

const atn_cli_verb ATN_VERB_COMPLETION = {
    .name = "completion",
    .summary = "print the completion for a shell",
    .synopsis = "[bash|zsh|fish]",
    .paragraphs =
        (const char *const[]){
            "Prints a script that completes verbs, options, their values, files, shipped kernels and devices: for bash "
            "unless another shell is named. The install puts all three where the shells look for them; by hand: source "
            "<(attune completion bash), attune completion zsh > a folder of fpath as _attune, attune completion fish > "
            "~/.config/fish/completions/attune.fish.",
            NULL},
    .max_operands = 1,
    .run = run,
};
