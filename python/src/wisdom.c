/* What was measured before: entries of the wisdom database, for people. */
#include "module.h"

#include "base/text.h"
#include "wisdom/wisdom.h"

#include <string.h>

typedef struct asking {
    atn_ctx *ctx;
    atn_wisdom_settings which;
    const char *import; /* a text to take in, or NULL */
    size_t length;
    bool forget, export;
    char *exported; /* JSON, or NULL */
    atn_text out;   /* a row for each entry, cells separated by tabs */
    atn_wisdom_counts counts;
} asking;

static bool add_entry(void *user, const atn_wisdom_entry *e) {
    asking *a = user;
    atn_text_printf(&a->out, "%s\t%s\t%s\t", e->key.kernel ? e->key.kernel : "", e->key.backend ? e->key.backend : "",
                    e->key.device ? e->key.device : "");
    for (int32_t k = 0; k < e->key.n_shape; ++k)
        atn_text_printf(&a->out, "%s%lld", k ? "," : "", (long long)e->key.shape[k]);
    atn_text_printf(&a->out, "\t%lld\t%lld\t%s\t%.9g\t%.9g\t%s\t%s\n", (long long)e->measured, (long long)e->right,
                    e->has_winner ? e->winner.variant : "", e->has_winner ? e->winner.seconds : 0,
                    e->has_winner ? e->winner.fallback_seconds : 0, e->has_winner ? e->winner.when : "",
                    e->stale ? e->stale : "");
    return !a->out.failed;
}

static atn_status ask(void *user) {
    asking *a = user;
    atn_wisdom *wisdom = NULL;
    if (a->import) return atn_wisdom_import(a->ctx, a->import, a->length, NULL, &a->counts);
    if (a->forget) return atn_wisdom_forget(a->ctx, &a->which, &a->counts);
    if (a->export) return atn_wisdom_export(a->ctx, &a->which, &a->exported, &a->counts);
    atn_wisdom_filter filter = {.kernel = a->which.kernel, .device = a->which.device};
    atn_status status = atn_wisdom_open(a->ctx, NULL, true, &wisdom);
    if (status == ATN_OK && wisdom) status = atn_wisdom_entries(wisdom, &filter, add_entry, a);
    if (status == ATN_OK) status = atn_text_status(&a->out);
    atn_wisdom_close(wisdom);
    return status;
}

/* wisdom(engine, action, kernel or None, device or None, text or None) -> (text, entries, winners, taken) */
static PyObject *wisdom(PyObject *module, PyObject *args) {
    PyObject *object;
    const char *action, *text;
    Py_ssize_t length;
    asking a = {0};
    (void)module;
    if (!PyArg_ParseTuple(args, "Oszzz#", &object, &action, &a.which.kernel, &a.which.device, &text, &length))
        return NULL;
    py_engine *engine = py_engine_of(object);
    if (!engine) return NULL;
    a.out.ctx = a.ctx = engine->ctx;
    a.import = strcmp(action, "import") == 0 ? text : NULL;
    a.length = (size_t)length;
    a.forget = strcmp(action, "forget") == 0;
    a.export = strcmp(action, "export") == 0;
    atn_status status = py_work(engine, ask, &a);
    PyObject *out = status == ATN_OK ? Py_BuildValue("(sLLL)", a.exported ? a.exported : atn_text_str(&a.out),
                                                     (long long)a.counts.entries, (long long)a.counts.winners,
                                                     (long long)a.counts.taken)
                                     : py_fail(engine->ctx, status);
    atn_wisdom_free_text(engine->ctx, a.exported);
    atn_text_free(&a.out);
    return out;
}

PyMethodDef PY_WISDOM_FUNCTIONS[] = {{"wisdom", wisdom, METH_VARARGS, NULL}, {0}};
