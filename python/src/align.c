/* register_many(engine, scans, settings of pairs, neighbours, watch): atn_align. */
#include "module.h"

#include <stdlib.h>

static const char *const VERDICTS[] = {"refused", "doubtful", "trusted", NULL};

#define EDGE(kind, name, n)                                                                                            \
    { #name, kind, offsetof(atn_align_edge, name), n, NULL }
static const py_field EDGE[] = {EDGE(PY_SIZE, source, 0),
                                EDGE(PY_SIZE, target, 0),
                                EDGE(PY_BOOL, loop, 0),
                                EDGE(PY_BOOL, used, 0),
                                EDGE(PY_BOOL, likely, 0),
                                {"verdict", PY_WORD, offsetof(atn_align_edge, verdict), 0, VERDICTS},
                                EDGE(PY_TEXT, reason, 0),
                                EDGE(PY_DOUBLE, transform, 16),
                                EDGE(PY_DOUBLE, covariance, 36),
                                EDGE(PY_BOOL, has_covariance, 0),
                                EDGE(PY_DOUBLE, rmse, 0),
                                EDGE(PY_DOUBLE, overlap, 0),
                                EDGE(PY_DOUBLE, residual_deg, 0),
                                EDGE(PY_DOUBLE, residual, 0),
                                EDGE(PY_DOUBLE, chi2, 0),
                                EDGE(PY_DOUBLE, weight, 0),
                                {0}};
#define SCAN(kind, name, n)                                                                                            \
    { #name, kind, offsetof(atn_align_scan, name), n, NULL }
static const py_field SCAN[] = {SCAN(PY_BOOL, placed, 0),        SCAN(PY_DOUBLE, transform, 16),
                                SCAN(PY_DOUBLE, covariance, 36), SCAN(PY_SIZE, edges, 0),
                                SCAN(PY_TEXT, reason, 0),        {0}};
#define RESULT(kind, name)                                                                                             \
    { #name, kind, offsetof(atn_align_result, name), 0, NULL }
static const py_field RESULT[] = {
    RESULT(PY_SIZE, anchor),   RESULT(PY_SIZE, searched),           RESULT(PY_INT32, iterations),
    RESULT(PY_DOUBLE, spread), RESULT(PY_DOUBLE, seconds),          RESULT(PY_SIZE, peak_bytes),
    RESULT(PY_TEXT, device),   RESULT(PY_DOUBLE, building_seconds), {0}};

typedef struct job {
    atn_ctx *ctx;
    atn_device *device;
    size_t count;
    py_cloud *from;
    atn_cloud **clouds;
    atn_register_settings pairs;
    atn_align_settings settings;
    atn_align_result result;
    py_watch watch;
} job;

static PyObject *step_of(const void *user) {
    const atn_align_step *step = user;
    return Py_BuildValue("{ss,sn,sn,sn}", "doing", step->doing, "done", (Py_ssize_t)step->done, "count",
                         (Py_ssize_t)step->count, "joined", (Py_ssize_t)step->joined);
}

static bool watch(void *user, const atn_align_step *step) { return py_watch_tell(user, step_of, step); }

static atn_status work(void *user) {
    job *j = user;
    atn_status status = ATN_OK;
    for (size_t k = 0; k < j->count && status == ATN_OK; ++k)
        status = py_cloud_make(j->ctx, &j->from[k], &j->clouds[k]);
    if (status == ATN_OK)
        status = atn_align(j->device, j->count, (const atn_cloud *const *)j->clouds, &j->settings, &j->result);
    for (size_t k = 0; k < j->count; ++k) atn_cloud_free(j->clouds[k]);
    return status;
}

static PyObject *rows_of(const void *const *from, size_t count, const py_field *fields) {
    PyObject *list = PyList_New(0);
    for (size_t k = 0; k < count && list; ++k) {
        PyObject *row = py_fields_write(from[k], fields);
        if (!row || PyList_Append(list, row) != 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

static PyObject *result_of(const atn_align_result *r) {
    PyObject *out = py_fields_write(r, RESULT);
    PyObject *scans = out ? rows_of((const void *const *)r->scan, r->scans, SCAN) : NULL;
    PyObject *edges = scans ? rows_of((const void *const *)r->edge, r->edges, EDGE) : NULL;
    bool good =
        edges && PyDict_SetItemString(out, "scans", scans) == 0 && PyDict_SetItemString(out, "edges", edges) == 0;
    Py_XDECREF(scans);
    Py_XDECREF(edges);
    if (!good) Py_CLEAR(out);
    return out;
}

static bool read_scans(PyObject *list, bool drop, job *j) {
    for (size_t k = 0; k < j->count; ++k) {
        char name[32];
        snprintf(name, sizeof name, "scans[%zu]", k);
        if (!py_cloud_read(PyList_GetItem(list, (Py_ssize_t)k), name, &j->from[k])) return false;
        j->from[k].drop_invalid = drop;
    }
    return true;
}

static PyObject *register_many(PyObject *module, PyObject *args) {
    PyObject *object, *list, *pairs, *callback, *out = NULL;
    int neighbours, drop;
    (void)module;
    if (!PyArg_ParseTuple(args, "OO!OiOp", &object, &PyList_Type, &list, &pairs, &neighbours, &callback, &drop))
        return NULL;
    py_engine *engine = py_engine_with_device(object);
    job j = {.count = (size_t)PyList_Size(list)};
    if (!engine || (pairs != Py_None && !py_register_settings(pairs, &j.pairs))) return NULL;
    j.ctx = engine->ctx;
    j.device = engine->device;
    j.settings.pairs = pairs != Py_None ? &j.pairs : NULL;
    j.settings.neighbours = neighbours;
    if (callback != Py_None) {
        j.watch.call = callback;
        j.settings.watch = watch;
        j.settings.watch_user = &j.watch;
    }
    j.from = calloc(j.count + 1, sizeof *j.from);
    j.clouds = calloc(j.count + 1, sizeof *j.clouds);
    if (!j.from || !j.clouds) {
        PyErr_NoMemory();
    } else if (read_scans(list, drop, &j)) {
        atn_status status = py_work(engine, work, &j);
        if (!py_watch_raised(&j.watch)) out = status == ATN_OK ? result_of(&j.result) : py_fail(engine->ctx, status);
        atn_align_free(&j.result);
    }
    free(j.from);
    free(j.clouds);
    return out;
}

PyMethodDef PY_ALIGN_FUNCTIONS[] = {{"register_many", register_many, METH_VARARGS, NULL}, {0}};
