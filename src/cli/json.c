/* JSON on standard output: whole or not at all, every allocation of jansson through the context. */
#include "cli/cli.h"

#include "base/memory.h"
#include "base/utf8.h"

#include <math.h>
#include <stdatomic.h>
#include <unistd.h>

/* jansson's hooks take no user pointer, so the context of the current run is stored here. */
static atn_ctx *current;
static json_malloc_t malloc_before;
static json_free_t free_before;

static atomic_bool starved;

/* jansson's reader goes astray when it gets no memory in the middle of a word. So it never does: what is refused is
 * noted, which fails the run in the end, and asked for once more; where there is none at all the program ends. */
static void *json_alloc(size_t bytes) {
    void *block = atn_alloc(current, bytes);
    if (block) return block;
    atomic_store(&starved, true);
    block = atn_alloc(current, bytes);
    if (block) return block;
    static const char SENTENCE[] = "attune: out of memory\n";
    if (write(STDERR_FILENO, SENTENCE, sizeof SENTENCE - 1) < 0) _exit(1);
    _exit(1);
}
static void json_drop(void *block) { atn_free(current, block); }

void atn_cli_json_begin(atn_ctx *ctx) {
    current = ctx;
    atomic_store(&starved, false);
    json_get_alloc_funcs(&malloc_before, &free_before);
    json_set_alloc_funcs(json_alloc, json_drop);
}

void atn_cli_json_end(void) {
    json_set_alloc_funcs(malloc_before, free_before);
    current = NULL;
}

atn_status atn_cli_json_status(const atn_ctx *ctx) {
    return atomic_load(&starved) ? atn_fail(ctx, ATN_ERR_MEMORY, "out of memory: the JSON object could not be made")
                                 : ATN_OK;
}

json_t *atn_cli_json_text(const atn_ctx *ctx, const char *text) {
    if (atn_utf8_valid(text)) return json_string(text);
    char *copy = atn_strdup(ctx, text); /* drivers and compilers say what they like; jansson wants UTF-8 */
    if (!copy) return NULL;
    atn_utf8_clean(copy);
    json_t *value = json_string(copy);
    atn_free(ctx, copy);
    return value;
}

json_t *atn_cli_json_rate(double rate) { return rate > 0 && isfinite(rate) ? json_real(rate) : json_null(); }

static int append(const char *bytes, size_t length, void *text) {
    atn_text_add_bytes(text, bytes, length);
    return ((atn_text *)text)->failed ? -1 : 0;
}

atn_status atn_cli_json_add(atn_text *to, const json_t *root) {
    bool dumped = root && json_dump_callback(root, append, to, JSON_INDENT(2)) == 0 && !atomic_load(&starved);
    if (dumped) atn_text_add(to, "\n");
    return dumped ? atn_text_status(to)
                  : atn_fail(to->ctx, ATN_ERR_MEMORY, "out of memory: the JSON object could not be made");
}

json_t *atn_cli_json_if(bool whole, json_t *root) {
    if (whole) return root;
    json_decref(root);
    return NULL;
}

atn_status atn_cli_print_json(atn_cli_call *call, json_t *root) {
    atn_text text = {.ctx = call->ctx};
    atn_status status = atn_cli_json_add(&text, root);
    json_decref(root);
    atn_cli_progress_end(call);
    if (!status) fwrite(atn_text_str(&text), 1, text.length, call->out);
    if (!status) call->printed = true;
    atn_text_free(&text);
    return status;
}

atn_status atn_cli_print_text(atn_cli_call *call, const char *key, const atn_text *text) {
    if (atn_text_status(text)) return ATN_ERR_MEMORY;
    if (!call->json) {
        atn_cli_progress_end(call);
        fwrite(atn_text_str(text), 1, text->length, call->out);
        return ATN_OK;
    }
    json_t *root = json_object();
    if (json_object_set_new(root, key, atn_cli_json_text(call->ctx, atn_text_str(text))) != 0) {
        json_decref(root);
        root = NULL;
    }
    return atn_cli_print_json(call, root);
}
