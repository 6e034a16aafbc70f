/* attune wisdom: lists, shows, exports, imports, forgets and checks stored measurements. */
#include "cli/wisdom.h"

#include "base/file.h"
#include "base/memory.h"
#include "tune/key.h"

#include <ctype.h>
#include <string.h>

enum { MOST_FILES = 64 };
static const size_t LARGEST = (size_t)1 << 28; /* file that is imported */

/* ---- opening ---- */

/* What keys of the devices that are here would say. */
static atn_status read_now(atn_cli_wisdom *self) {
    atn_status status = atn_devices_find(self->call->ctx, &self->devices);
    if (status) return status;
    size_t count = (size_t)atn_devices_count(self->devices);
    self->now = atn_zalloc(self->call->ctx, count * sizeof *self->now);
    if (!self->now) return ATN_ERR_MEMORY;
    for (size_t k = 0; k < count; ++k) self->now[k] = atn_tune_key_device(atn_devices_info(self->devices, (int32_t)k));
    self->filter.now = (atn_wisdom_now){ATN_GENERATOR_VERSION, self->now, count};
    return ATN_OK;
}

/* --device: an index is one of the devices that are here; the rest may be of devices elsewhere. */
static atn_status read_filter(atn_cli_wisdom *self) {
    atn_cli_call *call = self->call;
    const char *device = atn_cli_value(call, "device");
    self->filter.kernel = atn_cli_value(call, "kernel");
    self->filter.stale = atn_cli_has(call, "stale");
    self->filter.winners = atn_cli_has(call, "winners");
    self->filter.device = device;
    if (!device || !isdigit((unsigned char)*device) || device[strspn(device, "0123456789")]) return ATN_OK;
    int32_t index;
    atn_status status = atn_devices_pick(self->devices, device, &index);
    if (!status) self->filter.device = atn_devices_info(self->devices, index)->name;
    return status;
}

/* ---- export ---- */

static atn_status print_counts(atn_cli_call *call, const atn_wisdom_counts *counts, const char *verb, bool taken) {
    if (!call->json) {
        atn_text page = {.ctx = call->ctx};
        atn_text_printf(&page, "%lld entr%s with %lld measurement%s %s", (long long)counts->entries,
                        counts->entries == 1 ? "y" : "ies", (long long)counts->measurements,
                        counts->measurements == 1 ? "" : "s", verb);
        if (taken) atn_text_printf(&page, "; %lld new or better", (long long)counts->taken);
        atn_text_add(&page, "\n");
        atn_status status = atn_cli_print_text(call, "wisdom", &page);
        atn_text_free(&page);
        return status;
    }
    json_t *root = json_object();
    if (json_object_set_new(root, "entries", json_integer(counts->entries)) != 0 ||
        json_object_set_new(root, "measurements", json_integer(counts->measurements)) != 0 ||
        json_object_set_new(root, "winners", json_integer(counts->winners)) != 0 ||
        (taken && json_object_set_new(root, "taken", json_integer(counts->taken)) != 0)) {
        json_decref(root);
        root = NULL;
    }
    return atn_cli_print_json(call, root);
}

static atn_status export(atn_cli_wisdom *self) {
    atn_cli_call *call = self->call;
    const char *file = atn_cli_value(call, "output");
    atn_text text = {.ctx = call->ctx};
    atn_wisdom_counts counts;
    atn_status status = atn_store_export(call->ctx, self->wisdom, &self->filter, &text, &counts);
    if (!status && !file) fwrite(atn_text_str(&text), 1, text.length, call->out); /* one JSON object, --json or not */
    if (!status && file) status = atn_file_write(call->ctx, file, atn_text_str(&text), text.length);
    if (!status && file) status = print_counts(call, &counts, "written", false);
    atn_text_free(&text);
    return status;
}

/* ---- import ---- */

static atn_status import(atn_cli_wisdom *self) {
    atn_cli_call *call = self->call;
    atn_wisdom_source sources[MOST_FILES] = {{0}};
    atn_wisdom_counts counts;
    size_t count = 0;
    atn_status status = ATN_OK;
    for (size_t k = 1; k < call->n_operands && !status; ++k) {
        char *bytes;
        status = atn_file_read(call->ctx, call->operands[k], LARGEST, &bytes, &sources[count].length);
        if (status) break;
        sources[count].name = call->operands[k];
        sources[count++].text = bytes;
    }
    if (!status) status = atn_wisdom_open(call->ctx, NULL, false, &self->wisdom);
    if (!status) status = atn_store_import_all(self->wisdom, sources, count, &counts);
    for (size_t k = 0; k < count; ++k) atn_free(call->ctx, (void *)(uintptr_t)sources[k].text);
    return status ? status : print_counts(call, &counts, "read", true);
}

/* ---- forget ---- */

static atn_status forget(atn_cli_wisdom *self) {
    atn_cli_call *call = self->call;
    bool some = self->filter.kernel || self->filter.device || self->filter.stale, all = atn_cli_has(call, "all");
    if (some == all)
        return atn_cli_misuse(call, all ? "--all forgets everything; it takes no other option"
                                        : "what to forget is missing: --kernel, --device, --stale or --all");
    atn_wisdom_counts counts = {0};
    atn_status status = atn_wisdom_open(call->ctx, NULL, true, &self->wisdom);
    if (!status && self->wisdom) { /* there is something: none is made to be emptied */
        atn_wisdom_close(self->wisdom);
        status = atn_wisdom_open(call->ctx, NULL, false, &self->wisdom);
        if (!status) status = atn_store_forget(self->wisdom, &self->filter, &counts);
    }
    return status ? status : print_counts(call, &counts, "forgotten", false);
}

/* ---- verify ---- */

typedef struct problems {
    const atn_ctx *ctx;
    atn_text lines;
    json_t *list; /* with --json */
    int count;
    bool whole;
} problems;

static void add_problem(void *user, const char *line) {
    problems *p = user;
    ++p->count;
    atn_text_printf(&p->lines, "%s\n", line);
    if (p->list) p->whole = json_array_append_new(p->list, atn_cli_json_text(p->ctx, line)) == 0 && p->whole;
}

static atn_status print_problems(atn_cli_call *call, problems *p) {
    if (!call->json) {
        if (p->count == 0) atn_text_add(&p->lines, "ok\n");
        return atn_cli_print_text(call, "wisdom", &p->lines);
    }
    json_t *root = json_object();
    bool whole = json_object_set_new(root, "ok", json_boolean(p->count == 0)) == 0 && p->whole;
    whole = json_object_set_new(root, "problems", p->list) == 0 && whole;
    p->list = NULL;
    if (!whole) json_decref(root);
    return atn_cli_print_json(call, whole ? root : NULL);
}

/* Takes over what opening the database came to: damage is an answer to be printed here. */
static atn_status verify_opened(atn_cli_wisdom *self, atn_status opened) {
    atn_cli_call *call = self->call;
    problems p = {
        .ctx = call->ctx, .lines = {.ctx = call->ctx}, .list = call->json ? json_array() : NULL, .whole = true};
    atn_status status = opened, printed = ATN_OK;
    if (!status && self->wisdom) status = atn_wisdom_verify(self->wisdom, &self->filter.now, add_problem, &p);
    if (status == ATN_ERR_INPUT) {
        char sentence[ATN_MESSAGE_BYTES];
        snprintf(sentence, sizeof sentence, "%s", atn_ctx_message(call->ctx));
        add_problem(&p, sentence);
    }
    if (!status || status == ATN_ERR_INPUT) printed = print_problems(call, &p);
    if (printed)
        status = printed;
    else if (p.count > 0)
        status = atn_fail(call->ctx, ATN_ERR_INPUT, "%d problem%s", p.count, p.count == 1 ? "" : "s");
    json_decref(p.list);
    atn_text_free(&p.lines);
    return status;
}

static atn_status verify(atn_cli_wisdom *self) {
    return verify_opened(self, atn_wisdom_open(self->call->ctx, NULL, true, &self->wisdom));
}

/* ---- the verb ---- */

static const struct action {
    const char *name, *wants; /* operands behind it */
    size_t least, most;       /* of them */
    bool reads;               /* is handed the database to read it; others open it themselves, when all else is right */
    atn_status (*run)(atn_cli_wisdom *self);
} ACTIONS[] = {
    {"list", "nothing else", 0, 0, true, atn_cli_wisdom_list},
    {"show", "KERNEL", 1, 1, true, atn_cli_wisdom_show},
    {"export", "nothing else", 0, 0, true, export},
    {"import", "FILE...", 1, MOST_FILES, false, import},
    {"forget", "options only", 0, 0, false, forget},
    {"verify", "nothing else", 0, 0, false, verify},
};
enum { N_ACTIONS = sizeof ACTIONS / sizeof *ACTIONS };

static const struct action *find_action(atn_cli_call *call) {
    atn_suggest suggest = {.typed = call->operands[0]};
    for (size_t k = 0; k < N_ACTIONS; ++k) {
        if (strcmp(ACTIONS[k].name, call->operands[0]) == 0) return &ACTIONS[k];
        atn_suggest_try(&suggest, ACTIONS[k].name);
    }
    if (suggest.best)
        (void)atn_cli_misuse(call, "'%s' is not known; did you mean '%s'?", call->operands[0], suggest.best);
    else
        (void)atn_cli_misuse(call, "'%s' is not known; it is one of list, show, export, import, forget and verify",
                             call->operands[0]);
    return NULL;
}

static atn_status run(atn_cli_call *call) {
    const struct action *action = find_action(call);
    size_t operands = call->n_operands - 1;
    if (!action) return ATN_ERR_INPUT;
    if (operands < action->least || operands > action->most)
        return atn_cli_misuse(call, "%s takes %s", action->name, action->wants);
    atn_cli_wisdom self = {.call = call};
    atn_status status = read_now(&self);
    if (!status) status = read_filter(&self);
    if (!status && action->reads) status = atn_wisdom_open(call->ctx, NULL, true, &self.wisdom);
    if (!status) status = action->run(&self);
    atn_wisdom_close(self.wisdom);
    atn_free(call->ctx, self.now);
    atn_devices_free(self.devices);
    return status;
}

const atn_cli_verb ATN_VERB_WISDOM = {
    .name = "wisdom",
    .summary = "tuning results: list, show, export, import, forget, verify",
    .synopsis = "list|show|export|import|forget|verify [KERNEL|FILE...]",
    .paragraphs =
        (const char *const[]){
            "All measurements of the tuner are kept in one database: wisdom.sqlite in the cache, or the file named by "
            "ATTUNE_WISDOM. list shows the fastest variant for each kernel, device and shape; show KERNEL the variants "
            "on the Pareto front of time and error, and failed ones with the reason, with --all every one.",
            "export writes entries as JSON, to standard output or with -o to a file; import reads such files, all or "
            "nothing, and keeps existing entries that are faster or newer. forget needs --kernel, --device, --stale or "
            "--all and prints how much was removed. verify looks for corruption and inconsistent entries.",
            "Results of another version of the code generator, or measured with another driver or compiler, are stale: "
            "they never count as exact. --device takes a backend or part of a name, also of devices of other machines; "
            "an index is one of this machine.",
            "JSON: list: entries (kernel, graph, generator, backend, arch, device, driver, compiler, threads, shape, "
            "space, layout, reproducible, tolerance, variant, runner_up, seconds, low, high, runner_up_ratio, tie, "
            "fallback_seconds, fraction_of_peak, tried, when, measured, right, stale, stale_reason). show: the same "
            "entries with pareto, failures and, with --all, measurements. import, forget and export -o: entries, "
            "measurements, winners; import also taken. verify: ok, problems.",
            NULL},
    .options =
        (const atn_cli_option[]){
            ATN_OPTION("kernel", "NAME", "entries of this kernel only"),
            ATN_FLAG("stale", "stale entries only"),
            ATN_FLAG("all", "show: every measurement; forget: every entry", .only = "show, forget"),
            ATN_FLAG("winners", "export: the fastest variants only", .only = "export"),
            ATN_OPTION("output", "FILE", "export: write to this file", .only = "export", .letter = 'o'),
            {0}},
    .examples = (const atn_cli_pair[]){{"attune wisdom list --kernel gemm", "the fastest variants, and by how much"},
                                       {"attune wisdom show gemm --device cuda", "what was tried, and what failed"},
                                       {"attune wisdom export -o lab.json", "for another machine"},
                                       {"attune wisdom import lab.json", "and there"},
                                       {"attune wisdom forget --stale", "remove what a new driver made obsolete"},
                                       {0}},
    .min_operands = 1,
    .max_operands = MOST_FILES + 1,
    .run = run,
};
