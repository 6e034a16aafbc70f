/* The one parser of command lines, driven by the tables of options: --name VALUE, --name=VALUE, -o VALUE,
 * -oVALUE, -h, and -- before operands that begin with a dash. */
#include "cli/cli.h"

#include "base/memory.h"
#include "base/number.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const atn_cli_option NONE[] = {{0}};

/* The tables that hold at this place: the verb's own (or those in front of a verb), then everyone's. */
static const atn_cli_option *table_at(const atn_cli_call *call, int which) {
    if (which == 1) return ATN_CLI_GLOBALS;
    if (!call->verb) return ATN_CLI_FRONT;
    return call->verb->options ? call->verb->options : NONE;
}

static const atn_cli_option *find_long(const atn_cli_call *call, const char *name, size_t length) {
    for (int which = 0; which < 2; ++which)
        for (const atn_cli_option *o = table_at(call, which); o->name; ++o)
            if (strlen(o->name) == length && memcmp(o->name, name, length) == 0) return o;
    return NULL;
}

static const atn_cli_option *find_letter(const atn_cli_call *call, char letter) {
    for (int which = 0; which < 2; ++which)
        for (const atn_cli_option *o = table_at(call, which); o->name; ++o)
            if (o->letter && o->letter == letter) return o;
    return NULL;
}

/* Options by the name that they had in the release before. */
static const struct { const char *before, *now; } RENAMED[] = {{"strangers", "background"}, {"stranger", "distractor"}};

static atn_status unknown_option(atn_cli_call *call, const char *argument, size_t length) {
    char typed[64] = "";
    if (length > 2 && length - 2 < sizeof typed) memcpy(typed, argument + 2, length - 2);
    for (size_t k = 0; k < sizeof RENAMED / sizeof *RENAMED; ++k)
        if (strcmp(typed, RENAMED[k].before) == 0 && find_long(call, RENAMED[k].now, strlen(RENAMED[k].now)))
            return atn_cli_misuse(call, "--%s was renamed --%s", typed, RENAMED[k].now);
    atn_suggest suggest = {.typed = typed};
    for (int which = 0; which < 2; ++which)
        for (const atn_cli_option *o = table_at(call, which); o->name; ++o) atn_suggest_try(&suggest, o->name);
    if (suggest.best)
        return atn_cli_misuse(call, "unknown option '%.*s'; did you mean '--%s'?", (int)length, argument, suggest.best);
    return atn_cli_misuse(call, "unknown option '%.*s'", (int)length, argument);
}

bool atn_cli_choice_allows(const char *choices, const char *value) {
    size_t length = strlen(value);
    for (const char *word = choices;; ++word) {
        size_t n = strcspn(word, "|");
        if (n == length && memcmp(word, value, n) == 0) return true;
        const char *colon = memchr(word, ':', n);
        size_t front = colon ? (size_t)(colon + 1 - word) : 0;
        if (colon && length > front && memcmp(word, value, front) == 0) return true;
        if (isupper((unsigned char)*word)) return true;
        word += n;
        if (!*word) return false;
    }
}

static atn_status keep(atn_cli_call *call, const atn_cli_option *option, const char *value) {
    if (option->value && !option->repeats && atn_cli_has(call, option->name))
        return atn_cli_misuse(call, "--%s is given twice; it takes one %s", option->name, option->value);
    if (value && !atn_cli_choice_allows(option->value, value))
        return atn_cli_misuse(call, "--%s cannot be '%s'; it takes %s", option->name, value, option->value);
    call->given[call->n_given++] = (atn_cli_given){option, value};
    return ATN_OK;
}

/* The value of `option`: the text after '=' or after the letter (`attached`), or else the next argument. */
static atn_status take(atn_cli_call *call, const atn_cli_option *option, const char *attached, char **argv, int *at) {
    if (!option->value) {
        if (attached) return atn_cli_misuse(call, "--%s takes no value, but got '%s'", option->name, attached);
        return keep(call, option, NULL);
    }
    if (attached) return keep(call, option, attached);
    const char *next = argv[*at + 1];
    if (option->optional && !(next && *next && !next[strspn(next, "0123456789")])) return keep(call, option, NULL);
    if (!next || strncmp(next, "--", 2) == 0)
        return atn_cli_misuse(call, "--%s needs a value: --%s %s", option->name, option->name, option->value);
    ++*at;
    return keep(call, option, next);
}

static atn_status parse_long(atn_cli_call *call, char **argv, int *at) {
    const char *argument = argv[*at], *name = argument + 2, *equals = strchr(name, '=');
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    const atn_cli_option *option = find_long(call, name, length);
    if (!option) return unknown_option(call, argument, length + 2);
    return take(call, option, equals ? equals + 1 : NULL, argv, at);
}

static atn_status parse_short(atn_cli_call *call, char **argv, int *at) {
    const char *argument = argv[*at];
    const atn_cli_option *option = find_letter(call, argument[1]);
    if (!option) {
        /* -json: one dash too few */
        const atn_cli_option *meant = find_long(call, argument + 1, strcspn(argument + 1, "="));
        if (!meant) return atn_cli_misuse(call, "unknown option '%s'", argument);
        return atn_cli_misuse(call, "unknown option '%s'; did you mean '--%s'?", argument, meant->name);
    }
    const char *rest = argument + 2;
    return take(call, option, *rest ? rest : NULL, argv, at);
}

static atn_status parse_verb(atn_cli_call *call, const atn_cli_verb *const *verbs, const char *name) {
    atn_suggest suggest = {.typed = name};
    for (; *verbs; ++verbs) {
        if (strcmp((*verbs)->name, name) == 0) {
            call->verb = *verbs;
            return ATN_OK;
        }
        if (!(*verbs)->hidden) atn_suggest_try(&suggest, (*verbs)->name);
    }
    if (suggest.best) return atn_cli_misuse(call, "there is no verb '%s'; did you mean '%s'?", name, suggest.best);
    return atn_cli_misuse(call, "there is no verb '%s'", name);
}

/* Is `word` one of "trust, covariance" or of "list|show [KEY]"? */
static bool is_among(const char *words, const char *word) {
    for (size_t n; *words; words += n, words += strspn(words, ", |")) {
        n = strcspn(words, ", |");
        if (n == strlen(word) && memcmp(words, word, n) == 0) return true;
    }
    return false;
}

/* What means nothing here is refused: who gives it thinks that it does something. */
static atn_status check_meaning(atn_cli_call *call) {
    const char *subject = call->n_operands ? call->operands[0] : "";
    for (size_t k = 0; k < call->n_given && !atn_cli_has(call, "help"); ++k) {
        const atn_cli_option *o = call->given[k].option;
        if (o->only && is_among(call->verb->synopsis, subject) && !is_among(o->only, subject))
            return atn_cli_misuse(call, "--%s does not apply to %s, only to %s", o->name, subject, o->only);
        if (o->with && !atn_cli_has(call, o->with)) return atn_cli_misuse(call, "--%s needs --%s", o->name, o->with);
    }
    return ATN_OK;
}

static atn_status check_operands(atn_cli_call *call) {
    const atn_cli_verb *verb = call->verb;
    if (!verb || atn_cli_has(call, "help")) return ATN_OK;
    if (call->n_operands > verb->max_operands)
        return atn_cli_misuse(call, "unexpected argument '%s'; it takes %s", call->operands[verb->max_operands],
                              *verb->synopsis ? verb->synopsis : "options only");
    if (call->n_operands < verb->min_operands) return atn_cli_misuse(call, "needs %s", verb->synopsis);
    return check_meaning(call);
}

static atn_status parse_all(atn_cli_call *call, const atn_cli_verb *const *verbs, int argc, char **argv) {
    bool options_ended = false;
    for (int at = 1; at < argc; ++at) {
        const char *argument = argv[at];
        atn_status status = ATN_OK;
        if (!options_ended && strcmp(argument, "--") == 0)
            options_ended = true;
        else if (!options_ended && strncmp(argument, "--", 2) == 0)
            status = parse_long(call, argv, &at);
        else if (!options_ended && argument[0] == '-' && argument[1])
            status = parse_short(call, argv, &at);
        else if (!call->verb)
            status = parse_verb(call, verbs, argument);
        else
            call->operands[call->n_operands++] = argument;
        if (status) return status;
    }
    return check_operands(call);
}

atn_status atn_cli_parse(atn_cli_call *call, const atn_cli_verb *const *verbs, int argc, char **argv) {
    size_t most = argc > 0 ? (size_t)argc : 1;
    call->given = atn_zalloc(call->ctx, most * sizeof *call->given);
    call->operands = atn_zalloc(call->ctx, most * sizeof *call->operands);
    if (!call->given || !call->operands) return ATN_ERR_MEMORY;
    atn_status status = parse_all(call, verbs, argc, argv);
    call->json = atn_cli_has(call, "json");
    return status;
}

bool atn_cli_has(const atn_cli_call *call, const char *name) {
    for (size_t k = 0; k < call->n_given; ++k)
        if (strcmp(call->given[k].option->name, name) == 0) return true;
    return false;
}

const char *atn_cli_value(const atn_cli_call *call, const char *name) {
    const char *value = NULL, *each;
    for (size_t at = 0; (each = atn_cli_next(call, name, &at));) value = each;
    return value;
}

atn_hash atn_cli_hash_options(const atn_cli_call *call, atn_hash hash, const char *const *except, size_t count) {
    const atn_cli_option *const tables[] = {call->verb->options, ATN_CLI_GLOBALS};
    for (size_t t = 0; t < sizeof tables / sizeof *tables; ++t)
        for (const atn_cli_option *o = tables[t]; o->name; ++o) {
            bool counts = true;
            for (size_t m = 0; m < count; ++m) counts = counts && strcmp(o->name, except[m]) != 0;
            for (size_t k = 0; k < call->n_given && counts; ++k)
                if (call->given[k].option == o)
                    hash = atn_hash_add_text(atn_hash_add_text(hash, o->name), call->given[k].value);
        }
    return hash;
}

const char *atn_cli_next(const atn_cli_call *call, const char *name, size_t *at) {
    assert(find_long(call, name, strlen(name)));
    while (*at < call->n_given) {
        const atn_cli_given *given = &call->given[(*at)++];
        if (strcmp(given->option->name, name) == 0) return given->value;
    }
    return NULL;
}

atn_status atn_cli_read_whole(atn_cli_call *call, const char *name, double least, double fallback, double *out) {
    const char *text = atn_cli_value(call, name);
    char *end;
    *out = fallback;
    if (!text) return ATN_OK;
    *out = atn_number_read(text, &end);
    if (end == text || *end || !(*out >= least && *out <= 0x1p53) || *out != floor(*out))
        return atn_cli_misuse(call, "--%s cannot be '%s'; it takes a whole number from %.0f", name, text, least);
    return ATN_OK;
}

atn_status atn_cli_read_number(atn_cli_call *call, const char *name, double least, double most, double fallback,
                               double *out) {
    const char *text = atn_cli_value(call, name);
    char *end;
    *out = fallback;
    if (!text) return ATN_OK;
    *out = atn_number_read(text, &end);
    if (end != text && !*end && *out >= least && *out <= most) return ATN_OK;
    char limit[48] = "";
    if (isfinite(most)) snprintf(limit, sizeof limit, " to %g", most);
    if (*limit && atn_number_read(limit + 4, &end) > most) snprintf(limit, sizeof limit, " to below %g", most);
    return atn_cli_misuse(call, "--%s cannot be '%s'; it takes a number from %g%s", name, text, least, limit);
}

atn_status atn_cli_read_length(atn_cli_call *call, const char *name, double least, double most, double fallback,
                               double *out) {
    static const struct {
        const char *unit;
        double metres;
    } UNITS[] = {{"", 1},      {"m", 1},     {"cm", 1e-2},        {"mm", 1e-3},
                 {"um", 1e-6}, {"µm", 1e-6}, {"\xce\xbcm", 1e-6}, {"nm", 1e-9},
                 {"pm", 1e-12}}; /* both signs for micro */
    const char *text = atn_cli_value(call, name);
    char *end;
    *out = fallback;
    if (!text) return ATN_OK;
    double number = atn_number_read(text, &end);
    const char *unit = end + strspn(end, " ");
    for (size_t k = 0; end != text && k < sizeof UNITS / sizeof *UNITS; ++k) {
        *out = number * UNITS[k].metres;
        if (strcmp(unit, UNITS[k].unit) == 0 && *out >= least && *out <= most) return ATN_OK;
    }
    return atn_cli_misuse(call, "--%s cannot be '%s'; it takes a length from %g to %g m: 632.8nm, 5um, 1.1e-5", name,
                          text, least, most);
}

atn_status atn_cli_read_bytes(atn_cli_call *call, const char *name, size_t *out) {
    static const char UNITS[] = "kMGT";
    const char *text = atn_cli_value(call, name), *unit;
    char *end;
    if (!text) return ATN_OK;
    double bytes = atn_number_read(text, &end);
    bool good = end != text;
    if (good && *end && (unit = strchr(UNITS, *end))) {
        bytes *= pow(1000, (double)(unit - UNITS + 1));
        ++end;
    }
    if (!good || *end || !(bytes >= 1 && bytes < 0x1p62))
        return atn_cli_misuse(call, "--%s cannot be '%s'; it takes bytes, such as 500M or 4G", name, text);
    *out = (size_t)bytes;
    return ATN_OK;
}

bool atn_cli_read_duration(const char *text, double *seconds) {
    char *end;
    *seconds = atn_number_read(text, &end);
    double unit = strcmp(end, "m") == 0 || strcmp(end, "min") == 0 ? 60 : strcmp(end, "h") == 0 ? 3600 : 1;
    bool known = *end == '\0' || strcmp(end, "s") == 0 || unit > 1;
    *seconds *= unit;
    return end != text && known && *seconds > 0 && isfinite(*seconds);
}

int atn_cli_read_shape(const char *text, int64_t shape[3]) {
    int count = 0;
    for (char *end;; text = end + 1) {
        if (*text < '1' || *text > '9' || count == 3) return 0;
        shape[count++] = strtoll(text, &end, 10);
        if (*end == '\0') return count > 1 ? count : 0;
        if (*end != 'x') return 0;
    }
}

atn_status atn_cli_misuse(atn_cli_call *call, const char *format, ...) {
    char sentence[ATN_MESSAGE_BYTES];
    ATN_FORMAT(sentence, format);
    call->misused = true;
    return atn_fail(call->ctx, ATN_ERR_INPUT, "%s (see 'attune help%s%s')", sentence, call->verb ? " " : "",
                    call->verb ? call->verb->name : "");
}
