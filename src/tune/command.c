/* A command with placeholders: parsed once, filled in and run for each point. */
#include "tune/command.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/process.h"

#include <ctype.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { MOST_WORDS = 1024, MOST_BYTES = 1 << 16, SIGNALLED = 128 };

/* ---- words ---- */

/* The next word into `word`, without its quotes; false: there is none left. */
static atn_status next_word(const atn_ctx *ctx, const char **at, atn_text *word, bool *any) {
    *at += strspn(*at, " \t\r\n");
    *any = **at != '\0';
    while (**at && !isspace((unsigned char)**at)) {
        if (**at != '\'' && **at != '"') {
            atn_text_add_bytes(word, (*at)++, 1);
            continue;
        }
        const char *end = strchr(*at + 1, **at);
        if (!end) return atn_fail(ctx, ATN_ERR_INPUT, "the command: a quote %c is not closed", **at);
        atn_text_add_bytes(word, *at + 1, (size_t)(end - *at - 1));
        *at = end + 1;
    }
    return atn_text_status(word);
}

static atn_status cut_words(atn_command *c, const char *command) {
    atn_text word = {.ctx = c->ctx};
    atn_status status = ATN_OK;
    bool any = true;
    c->words = atn_arena_alloc(&c->arena, (MOST_WORDS + 1) * sizeof *c->words);
    if (!c->words) return ATN_ERR_MEMORY;
    if (strlen(command) > MOST_BYTES)
        return atn_fail(c->ctx, ATN_ERR_INPUT, "the command is longer than %d bytes", MOST_BYTES);
    while (status == ATN_OK && any && c->n_words < MOST_WORDS) {
        atn_text_clear(&word);
        status = next_word(c->ctx, &command, &word, &any);
        if (status == ATN_OK && any && !(c->words[c->n_words++] = atn_arena_strdup(&c->arena, atn_text_str(&word))))
            status = ATN_ERR_MEMORY;
    }
    atn_text_free(&word);
    if (status == ATN_OK && any)
        status = atn_fail(c->ctx, ATN_ERR_INPUT, "the command has more than %d words", MOST_WORDS);
    if (status == ATN_OK && c->n_words == 0) status = atn_fail(c->ctx, ATN_ERR_INPUT, "the command is empty");
    return status;
}

static int32_t find_parameter(const atn_space *space, const char *name, size_t length) {
    for (int32_t k = 0; k < atn_space_count_parameters(space); ++k) {
        const char *known = atn_space_parameter(space, k);
        if (strlen(known) == length && memcmp(known, name, length) == 0) return k;
    }
    return -1;
}

/* A word with values in its places; point NULL: only looks which parameters it has. */
static atn_status fill_word(const atn_command *c, const char *word, const int32_t *point, bool *used, atn_text *out) {
    for (const char *at = word; *at;) {
        size_t plain = strcspn(at, "{}");
        atn_text_add_bytes(out, at, plain);
        at += plain;
        if (!*at) break;
        if (at[1] == *at) { /* {{ or }} */
            atn_text_add_bytes(out, at, 1);
            at += 2;
            continue;
        }
        const char *end = *at == '{' ? strchr(at, '}') : NULL;
        if (!end)
            return atn_fail(c->ctx, ATN_ERR_INPUT, "the command: an unmatched brace in '%s'; write {{ for a brace",
                            word);
        int32_t k = find_parameter(c->space, at + 1, (size_t)(end - at - 1));
        if (k < 0)
            return atn_fail(c->ctx, ATN_ERR_INPUT, "the command: the space has no parameter '%.*s'",
                            (int)(end - at - 1), at + 1);
        if (used) used[k] = true;
        if (point) atn_setting_print(atn_space_setting(c->space, k, point[k]), out);
        at = end + 1;
    }
    return atn_text_status(out);
}

static atn_status check_places(const atn_command *c) {
    int32_t n = atn_space_count_parameters(c->space);
    bool *used = atn_zalloc(c->ctx, (size_t)n + 1);
    atn_text out = {.ctx = c->ctx};
    atn_status status = used ? ATN_OK : ATN_ERR_MEMORY;
    for (int32_t k = 0; k < c->n_words && status == ATN_OK; ++k) status = fill_word(c, c->words[k], NULL, used, &out);
    for (int32_t k = 0; k < n && status == ATN_OK; ++k)
        if (!used[k] && atn_space_levels(c->space, k) > 1)
            status =
                atn_fail(c->ctx, ATN_ERR_INPUT, "the command: {%s} is not in it, so that '%s' would change nothing",
                         atn_space_parameter(c->space, k), atn_space_parameter(c->space, k));
    atn_text_free(&out);
    atn_free(c->ctx, used);
    return status;
}

/* NAME=value, as a shell has them in front of a command. */
static bool sets_environment(const char *word) {
    size_t n = strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789");
    return n > 0 && word[n] == '=' && !isdigit((unsigned char)*word);
}

static atn_status find_program(atn_command *c) {
    const char *wanted = sets_environment(c->words[0]) ? "env" : c->words[0];
    atn_status status = atn_process_find(c->ctx, wanted, &c->program);
    if (status == ATN_OK && !c->program)
        status = atn_fail(c->ctx, ATN_ERR_INPUT, "the command: there is no program '%s' here", wanted);
    return status;
}

static atn_status read_time(atn_command *c, const char *time) {
    static const struct {
        const char *name;
        double seconds;
    } UNITS[] = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
    c->unit = 1;
    if (!time) return ATN_OK;
    const char *place = strstr(time, "{}");
    if (!place) return atn_fail(c->ctx, ATN_ERR_INPUT, "the time '%s': {} marks the number, as in 'time: {} ms'", time);
    c->time_front = atn_arena_strndup(&c->arena, time, (size_t)(place - time));
    c->time_behind = atn_arena_strdup(&c->arena, place + 2);
    if (!c->time_front || !c->time_behind) return ATN_ERR_MEMORY;
    const char *unit = c->time_behind + strspn(c->time_behind, " ");
    size_t letters = strspn(unit, "abcdefghijklmnopqrstuvwxyz");
    for (size_t k = 0; k < sizeof UNITS / sizeof *UNITS; ++k)
        if (strlen(UNITS[k].name) == letters && memcmp(UNITS[k].name, unit, letters) == 0) c->unit = UNITS[k].seconds;
    return ATN_OK;
}

atn_status atn_command_open(const atn_ctx *ctx, const atn_space *space, const char *command, const char *time,
                            atn_command *out) {
    *out = (atn_command){.ctx = ctx, .space = space, .arena = {.ctx = ctx}};
    atn_status status = cut_words(out, command);
    if (status == ATN_OK) status = check_places(out);
    if (status == ATN_OK) status = read_time(out, time);
    return status == ATN_OK ? find_program(out) : status;
}

void atn_command_close(atn_command *c) {
    if (!c->ctx) return;
    atn_free(c->ctx, c->program);
    atn_arena_free(&c->arena);
    *c = (atn_command){0};
}

/* ---- one run ---- */

static atn_status fill_words(const atn_command *c, const int32_t *point, atn_arena *arena, const char ***out) {
    const char **argv = atn_arena_alloc(arena, ((size_t)c->n_words + 2) * sizeof *argv);
    atn_text word = {.ctx = c->ctx};
    atn_status status = argv ? ATN_OK : ATN_ERR_MEMORY;
    int32_t n = 0;
    if (argv && sets_environment(c->words[0])) argv[n++] = c->program; /* env takes the rest */
    for (int32_t k = 0; k < c->n_words && status == ATN_OK; ++k) {
        atn_text_clear(&word);
        status = fill_word(c, c->words[k], point, NULL, &word);
        if (status == ATN_OK && !(argv[n++] = atn_arena_strdup(arena, atn_text_str(&word)))) status = ATN_ERR_MEMORY;
    }
    atn_text_free(&word);
    if (status != ATN_OK) return status;
    if (!sets_environment(c->words[0])) argv[0] = c->program;
    argv[n] = NULL;
    *out = argv;
    return ATN_OK;
}

/* The last time that was printed, in seconds; NAN: none. */
static double printed_time(const atn_command *c, const char *output) {
    double found = NAN;
    for (const char *at = output; (at = *c->time_front ? strstr(at, c->time_front) : at) && *at; ++at) {
        const char *number = at + strlen(c->time_front);
        char *end;
        if (!*c->time_front && at > output && (isalnum((unsigned char)at[-1]) || strchr(".+-_", at[-1])))
            continue; /* in the middle of a number */
        number += strspn(number, " \t");
        double value = atn_number_read(number, &end);
        if (end != number && strncmp(end, c->time_behind, strlen(c->time_behind)) == 0) found = value * c->unit;
    }
    return found;
}

static void last_line(const char *output, char *text, size_t bytes) {
    size_t length = strlen(output);
    while (length && isspace((unsigned char)output[length - 1])) --length;
    size_t from = length;
    while (from && output[from - 1] != '\n') --from;
    snprintf(text, bytes, "%.*s", (int)(length - from < bytes ? length - from : bytes - 1), output + from);
}

static void judge(const atn_command *c, int code, const atn_text *output, atn_command_run *out) {
    char line[120];
    const char *text = atn_text_str(output);
    last_line(text, line, sizeof line);
    out->outcome = ATN_OUTCOME_WRONG;
    if (code > SIGNALLED && code < SIGNALLED + 64) {
        const char *name = sigabbrev_np(code - SIGNALLED);
        out->outcome = ATN_OUTCOME_CRASH;
        snprintf(out->detail, sizeof out->detail, "SIG%s: %s", name ? name : "?", line);
    } else if (code != 0) {
        snprintf(out->detail, sizeof out->detail, "exit %d: %s", code, line);
    } else {
        out->seconds = c->time_front ? printed_time(c, text) : out->clock_s;
        if (out->seconds > 0 && isfinite(out->seconds))
            out->outcome = ATN_OUTCOME_RIGHT;
        else
            snprintf(out->detail, sizeof out->detail, "no time '%s{}%s' in what it printed: %s", c->time_front,
                     c->time_behind, line);
    }
    if (out->outcome != ATN_OUTCOME_RIGHT) out->seconds = INFINITY;
}

atn_status atn_command_try(const atn_command *c, const int32_t *point, double limit_s, atn_command_run *out) {
    atn_arena arena = {.ctx = c->ctx};
    atn_text output = {.ctx = c->ctx};
    const char **argv = NULL;
    int code = 0;
    *out = (atn_command_run){.seconds = INFINITY};
    atn_status status = fill_words(c, point, &arena, &argv);
    double from = atn_clock_seconds();
    if (status == ATN_OK) status = atn_process_run(c->ctx, argv, NULL, limit_s, &output, &code);
    out->clock_s = atn_clock_seconds() - from;
    if (status == ATN_ERR_TIMEOUT) {
        out->outcome = ATN_OUTCOME_HANG;
        snprintf(out->detail, sizeof out->detail, "not finished after %.3g s", limit_s);
        status = ATN_OK;
    } else if (status == ATN_OK) {
        judge(c, code, &output, out);
    }
    atn_text_free(&output);
    atn_arena_free(&arena);
    return status;
}
