/* attune completion: the script attune.bash, made from the same tables as the help. The build runs it. The
 * script itself asks `attune completion devices` for what --device may be. */
#include "cli/cli.h"

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
    "_attune() {\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} verb='' k\n"
    "    COMPREPLY=()\n"
    "    if [[ $cur == '=' ]]; then cur=''; # --name=VALUE comes as three words\n"
    "    elif [[ $prev == '=' ]] && ((COMP_CWORD >= 2)); then prev=${COMP_WORDS[COMP_CWORD - 2]}; fi\n"
    "    for ((k = 1; k < COMP_CWORD; ++k)); do\n"
    "        case ${COMP_WORDS[k]} in\n"
    "        --device) # its value is no verb\n"
    "            if [[ ${COMP_WORDS[k + 1]} == '=' ]]; then ((k += 2)); else ((k += 1)); fi ;;\n"
    "        -*) ;;\n"
    "        *) verb=${COMP_WORDS[k]}; break ;;\n"
    "        esac\n"
    "    done\n";

static const char TAIL[] = "}\ncomplete -F _attune attune\n";

static bool takes_files(const char *value) { return strstr(value, "FILE") || strstr(value, "DIR"); }

static void add_verb_names(atn_text *to, const atn_cli_verb *const *verbs) {
    const char *blank = "";
    for (const atn_cli_verb *const *verb = verbs; *verb; ++verb) {
        if ((*verb)->hidden) continue;
        atn_text_printf(to, "%s%s", blank, (*verb)->name);
        blank = " ";
    }
}

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
    } else if (takes_files(o->value)) {
        atn_text_add(to, "_attune_files; return ;;\n");
    } else if (strchr(o->value, '|')) {
        atn_text_add(to, "_attune_words '");
        for (const char *word = o->value; *word; word += strspn(word, "|")) {
            size_t length = strcspn(word, "|");
            if (!isupper((unsigned char)*word)) atn_text_printf(to, "%.*s ", (int)length, word);
            word += length;
        }
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
    add_verb_names(to, verbs);
    atn_text_add(to, "' ;;\n    help:[!-]* | help:) _attune_words '");
    add_verb_names(to, verbs);
    atn_text_add(to, "' ;;\n");
    for (const atn_cli_verb *const *verb = verbs; *verb; ++verb) {
        if ((*verb)->hidden) continue;
        atn_text_printf(to, "    %s:-*) _attune_words '", (*verb)->name);
        add_option_names(to, (*verb)->options);
        add_option_names(to, ATN_CLI_GLOBALS);
        atn_text_add(to, "' ;;\n");
        if ((*verb)->max_operands == 0) atn_text_printf(to, "    %s:*) ;;\n", (*verb)->name);
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
    if (call->n_operands == 0)
        add_script(&text, call->verbs);
    else if (strcmp(call->operands[0], "devices") == 0)
        status = add_devices(&text);
    else
        status = atn_cli_misuse(call, "'%s' cannot be listed; it lists devices", call->operands[0]);
    if (!status) status = atn_cli_print_text(call, "completion", &text);
    atn_text_free(&text);
    return status;
}

const atn_cli_verb ATN_VERB_COMPLETION = {
    .name = "completion",
    .summary = "print the completion for bash",
    .synopsis = "[devices]",
    .paragraphs = (const char *const[]){"Prints attune.bash, or what it asks for; the build runs it.", NULL},
    .max_operands = 1,
    .hidden = true,
    .run = run,
};
